package reviewer

import (
	"strings"

	"github.com/agent-airlock/airlock/internal/lazyregexp"
)

// rubyName returns where a Ruby name really ends: empty? and save! have one sign more
// than the names of other languages, and globals such as $' have only a sign.
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

// percentLiteral reads a literal such as %w[a b], %(a #{b}) and %x(ls #{dir}).
func (s *scanner) percentLiteral() bool {
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
	in := inString{quote: quote{open: s.text[s.at:at], close: string(end), lines: true, hole: "#{"}, nest: nest}
	if strings.IndexByte("QWIx", kind) >= 0 {
		s.openString(in, at)
		return true
	}
	to, after := s.textEnd(in, at)
	s.addText(at, to, after)
	return true
}

// heredoc is a here-document whose text follows.
type heredoc struct {
	end   string // the line after its text
	token int    // the index of the token that announced it
}

// heredoc reads what announces a here-document: <<~SQL, <<-'SQL'.
func (s *scanner) heredoc() bool {
	rest := s.text[s.at:]
	if len(rest) < 5 || rest[1] != '<' || rest[2] != '~' && rest[2] != '-' && !('A' <= rest[2] && rest[2] <= 'Z') {
		return false
	}
	n := 2
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
	if n == from || len(s.heredocs) == deepestString || len(s.strings) > 0 {
		return false
	}
	end := rest[from:n]
	if quoted && n < len(rest) {
		n++
	}
	s.addText(s.at+from, s.at+from, s.at+n)
	s.heredocs = append(s.heredocs, heredoc{end, len(s.tokens) - 1})
	return true
}

// heredocText reads the lines of a here-document up to its end, and makes them the
// content of the token that announced it.
func (s *scanner) heredocText(h heredoc) {
	from, to := s.at, len(s.text)
	for line := range strings.Lines(s.text[s.at:]) {
		if strings.TrimSpace(line) == h.end {
			to = s.at
			s.at += len(line)
			break
		}
		s.at += len(line)
	}
	s.tokens[h.token].from, s.tokens[h.token].to = int32(from), int32(to)
}

// opensShell reports whether the token at index i begins a literal that a shell runs.
func (s *source) opensShell(i int) bool {
	return s.lang.ruby && (s.written(i) == "`" || strings.HasPrefix(s.written(i), "%x"))
}

// fillHoles replaces each expression in a here-document: the name of a constant, a time or a number
// by the name alone, every other expression by a hole. It reports whether there is a hole.
func fillHoles(text string) (filled string, changing bool) {
	filled = rubyHole.ReplaceAllStringFunc(text, func(place string) string {
		if name := strings.TrimSpace(strings.TrimSuffix(place[len("#{"):], "}")); isConstantName(name) || namesMoment(name) || numericNames[name] {
			return name
		}
		changing = true
		return hole
	})
	return filled, changing
}

var rubyHole = lazyregexp.New(`#\{[^}]*(?:\}|$)`)
