package reviewer

import "strings"

// rubyName returns where a Ruby name ends that seems to end there: empty? and save!
// have a sign more, and globals such as $' have only a sign.
func (s *scanner) rubyName(end int) int {
	if end >= len(s.text) {
		return end
	}
	switch c := s.text[end]; {
	case end == s.at+1 && s.text[s.at] == '$' && c > ' ' && c != ')' && c != '}':
		return end + 1
	case c != '?' && c != '!':
	case end+1 == len(s.text) || s.text[end+1] != '=' || strings.HasPrefix(s.text[end+1:], "=="):
		return end + 1
	}
	return end
}

// percent reads a literal such as %w[a b], %(a #{b}) and %x(ls #{dir}).
func (s *scanner) percent() bool {
	at := s.at + 1
	kind := byte('Q')
	if at < len(s.text) && strings.IndexByte("qQwWiIxrs", s.text[at]) >= 0 {
		kind = s.text[at]
		at++
	}
	if at >= len(s.text) || strings.IndexByte("([{<|!/", s.text[at]) < 0 || kind == 'Q' && at == s.at+1 && s.text[at] == '/' {
		return false
	}
	begin, end := s.text[at], s.text[at]
	nest := byte(0)
	if i := strings.IndexByte("([{<", begin); i >= 0 {
		nest, end = begin, ")]}>"[i]
	}
	at++
	if strings.IndexByte("QWIx", kind) >= 0 {
		q := quote{open: s.text[s.at:at], close: string(end), lines: true, hole: "#{"}
		s.strings = append(s.strings, inString{quote: q, base: len(s.opens), nest: nest})
		s.open(at)
		s.moreText()
		return true
	}
	depth := 0
	for i := at; i < len(s.text); i++ {
		switch c := s.text[i]; {
		case c == '\\':
			i++
		case c == nest && nest != 0:
			depth++
		case c == end && depth > 0:
			depth--
		case c == end:
			s.addText(at, i, i+1)
			return true
		}
	}
	s.addText(at, len(s.text), len(s.text))
	return true
}

// hereBegin reads what announces a here-document: <<~SQL, <<-'SQL'.
func (s *scanner) hereBegin() bool {
	rest := s.text[s.at:]
	n := 2
	if len(rest) < 5 || rest[1] != '<' || rest[2] != '~' && rest[2] != '-' && !('A' <= rest[2] && rest[2] <= 'Z') {
		return false
	}
	if rest[2] == '~' || rest[2] == '-' {
		n++
	}
	quoted := rest[n] == '\'' || rest[n] == '"'
	if quoted {
		n++
	}
	from := n
	for n < len(rest) && wordByte(rest[n]) {
		n++
	}
	if n == from || len(s.heredoc) == deepest || len(s.strings) > 0 {
		return false
	}
	s.heredoc = append(s.heredoc, rest[from:n])
	if quoted && n < len(rest) {
		n++
	}
	s.addText(s.at+from, s.at+from, s.at+n)
	return true
}

// hereText takes the lines of a here-document as content of what announced it,
// which is near: nothing but its line stands in between.
func (s *scanner) hereText(end string) {
	from := s.at
	for s.at < len(s.text) {
		stop := strings.IndexByte(s.text[s.at:], '\n') + s.at + 1
		if stop == s.at {
			stop = len(s.text)
		}
		line := s.text[s.at:stop]
		begin := s.at
		s.at = stop
		if strings.TrimSpace(line) == end {
			s.fillHere(end, from, begin)
			return
		}
	}
	s.fillHere(end, from, len(s.text))
}

func (s *scanner) fillHere(end string, from, to int) {
	for i := len(s.tokens) - 1; i >= 0 && i > len(s.tokens)-4*deepest; i-- {
		t := &s.tokens[i]
		if t.kind == stringText && t.from == t.to && strings.Contains(s.written(i), "<<") && strings.Contains(s.written(i), end) {
			t.from, t.to = int32(from), int32(to)
			return
		}
	}
}

// runs reports whether the token at index i begins a literal that a shell runs.
func (s *source) runs(i int) bool {
	w := s.written(i)
	return s.lang.ruby && (w == "`" || strings.HasPrefix(w, "%x"))
}

// fillHoles puts holes in place of the expressions in a here-document, save for
// constants, and reports whether there is one.
func fillHoles(said string) (filled string, changes bool) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(said, "#{")
		b.WriteString(before)
		if !found {
			return b.String(), changes
		}
		inside, after, _ := strings.Cut(rest, "}")
		if inside = strings.TrimSpace(inside); constantName(inside) {
			b.WriteString(inside)
		} else {
			b.WriteString(hole)
			changes = true
		}
		said = after
	}
}
