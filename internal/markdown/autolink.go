package markdown

import (
	"bytes"
	"sort"
	"strings"
	"unicode/utf8"
)

// angleLink records the autolink in angle brackets at p.pos, of which n bytes
// follow the <. The caller emits its node.
func (p *inlineParser) angleLink(kind LinkKind, n int) (InlineKind, int32) {
	link := p.addAutolink(kind, p.c.spanOf(p.pos, p.pos+1+n), p.c.spanOf(p.pos+1, p.pos+n))
	p.pos += 1 + n
	return Autolink, link
}

// addAutolink adds an autolink to the document's links and returns its index there.
func (p *inlineParser) addAutolink(kind LinkKind, span, address Span) int32 {
	d := p.s.doc
	d.Links = append(p.grownLinks(span.Start), Link{
		Span: span, Kind: kind, Block: p.block, Text: address, Dest: address, Definition: -1,
	})
	return int32(len(d.Links) - 1)
}

// maxScheme is the length of the longest scheme: 32 characters in CommonMark and cmark-gfm, one
// more in goldmark. A link of any of them has to be judged.
const maxScheme = 33

// scanAngleURL returns the length of scheme:address> at the start of s, or 0.
func scanAngleURL(s string) int {
	if s == "" || !isAlpha(s[0]) {
		return 0
	}
	i := 1
	for i < len(s) && i <= maxScheme && (isAlnum(s[i]) || s[i] == '.' || s[i] == '+' || s[i] == '-') {
		i++
	}
	if i < 2 || i > maxScheme || i == len(s) || s[i] != ':' {
		return 0
	}
	for i++; i < len(s) && s[i] > ' ' && s[i] != '<'; i++ {
		if s[i] == '>' {
			return i + 1
		}
	}
	return 0
}

const maxHostLabel = 63

// scanAngleEmail returns the length of user@host> at the start of s, or 0.
func scanAngleEmail(s string) int {
	i := 0
	for i < len(s) && IsEmailByte(s[i]) {
		i++
	}
	if i == 0 || i == len(s) || s[i] != '@' {
		return 0
	}
	for {
		i++
		label := i
		for i < len(s) && (isAlnum(s[i]) || s[i] == '-') {
			i++
		}
		if i == label || i-label > maxHostLabel || s[label] == '-' || s[i-1] == '-' || i == len(s) {
			return 0
		}
		switch s[i] {
		case '>':
			return i + 1
		case '.':
		default:
			return 0
		}
	}
}

// IsEmailByte reports whether c may stand before the @ of an e-mail address.
func IsEmailByte(c byte) bool { return emailBytes[c] }

var emailBytes = byteSet("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.!#$%&'*+/=?^_`{|}~-")

// domainRun is a run of characters that may form a host name. It is remembered,
// so that each run is read only once.
type domainRun struct {
	start, end             int
	lastUnderscore         int
	lastDot, secondLastDot int
}

// bareURL returns where in p.text the bare address whose : or w is at p.pos begins and ends.
func (p *inlineParser) bareURL() (begin, end int, ok bool) {
	text, pos := p.text, p.pos
	if p.brackets.blocksBare() || len(text)-pos < 4 {
		return 0, 0, false
	}
	begin = pos
	if text[pos] == 'w' {
		if pos > 0 && !isSpace(text[pos-1]) && strings.IndexByte("*_~(", text[pos-1]) < 0 {
			return 0, 0, false
		}
		end, ok = p.domain(pos, false)
	} else {
		for begin > 0 && isAlpha(text[begin-1]) {
			begin--
		}
		switch strings.ToLower(text[begin:pos]) {
		case "http", "https", "ftp":
		default:
			return 0, 0, false
		}
		if !isHostChar(text[pos+3:]) {
			return 0, 0, false
		}
		end, ok = p.domain(pos+3, true)
	}
	if !ok {
		return 0, 0, false
	}
	for end < len(text) && !isSpace(text[end]) && text[end] != '<' {
		end++
	}
	return begin, trimBareURL(text, pos, end), true
}

// domain returns the end of the host name at offset base. Its last two labels
// must not contain an underscore, and it must contain a dot unless short is set. Like
// cmark, domain ignores the name's first character and the last character of p.text.
func (p *inlineParser) domain(base int, short bool) (end int, ok bool) {
	r := &p.domains
	if base+1 < r.start || base+1 > r.end {
		p.readDomain(base + 1)
	}
	bottom := base
	if r.lastDot > base && r.secondLastDot > base {
		bottom = r.secondLastDot
	}
	if r.lastUnderscore > bottom || !short && r.lastDot <= base {
		return 0, false
	}
	return r.end, true
}

// readDomain reads the run of host characters at an offset into p.domains.
func (p *inlineParser) readDomain(start int) {
	r := domainRun{start: start, lastUnderscore: -1, lastDot: -1, secondLastDot: -1}
	i := start
	for ; i < len(p.text)-1; i++ {
		c := p.text[i]
		if c == '_' {
			r.lastUnderscore = i
		} else if c == '.' {
			r.secondLastDot, r.lastDot = r.lastDot, i
		} else if c != '-' && !isHostChar(p.text[i:]) {
			break
		}
	}
	r.end = i
	p.domains = r
}

// isHostChar reports whether s starts with a character that is neither white
// space nor punctuation.
func isHostChar(s string) bool {
	if s == "" {
		return false
	}
	if c := s[0]; c < utf8.RuneSelf {
		return !isPunct(c) && !isSpace(c) && c != '\f'
	}
	r, n := utf8.DecodeRuneInString(s)
	return (r != utf8.RuneError || n > 1) && !isUnicodeSpace(r) && !isUnicodePunct(r)
}

// trimBareURL returns the end of the bare address text[start:end] without what
// does not belong to it: closing punctuation, an unbalanced ), and an entity.
func trimBareURL(text string, start, end int) int {
	surplus, counted := 0, false // closing parentheses over opening ones
	for end > start {
		switch c := text[end-1]; {
		case strings.IndexByte("?!.,:*_~'\"", c) >= 0:
			end--
		case c == ';':
			i := end - 2
			for i > start && isAlpha(text[i]) {
				i--
			}
			if i >= start && i < end-2 && text[i] == '&' {
				end = i
			} else {
				end--
			}
		case c == ')':
			if !counted {
				counted = true
				surplus = strings.Count(text[start:end], ")") - strings.Count(text[start:end], "(")
			}
			if surplus <= 0 {
				return end
			}
			surplus--
			end--
		default:
			return end
		}
	}
	return end
}

// emitBare emits the bare address.
func (p *inlineParser) emitBare(kind LinkKind, begin, end int) {
	span := p.c.spanOf(begin, end)
	p.appendInline(Inline{Span: span, Kind: Autolink, Data: p.addAutolink(kind, span, span)})
}

// maxEmailTries is how many @ of one text cmark examines.
const maxEmailTries = 1001

// emailRun is decoded text without structure, which knows the nodes it is from.
type emailRun struct {
	text   []byte
	starts []int // offset in text of each node
	first  int   // index of the first node
}

// linkEmails turns the bare e-mail addresses in the leaf's text into Autolink
// nodes. cmark looks for them after everything else, in decoded text.
func (p *inlineParser) linkEmails() {
	d := p.s.doc
	first := int(d.Blocks[p.block].FirstInline)
	nodes := d.Inlines[first:]
	out := p.s.buffers.nodes[:0] // the new nodes; empty until an address is found
	done := 0                    // how many of the old nodes the new ones replace
	inLink := false
	run := &p.s.buffers.mail
	run.text, run.starts = run.text[:0], run.starts[:0]
	for i := 0; i <= len(nodes); i++ {
		if i < len(nodes) && !inLink {
			if text, ok := p.nodeText(nodes[i]); ok {
				if len(run.starts) == 0 {
					run.first = i
				}
				run.starts = append(run.starts, len(run.text))
				run.text = append(run.text, text...)
				continue
			}
		}
		if len(run.starts) > 0 {
			out, done = p.linkRun(run, nodes, out, done)
			run.text, run.starts = run.text[:0], run.starts[:0]
		}
		if i == len(nodes) {
			break
		}
		switch nodes[i].Kind {
		case LinkOpen:
			inLink = inLink || !d.Links[nodes[i].Data].Image
		case LinkClose:
			inLink = inLink && d.Links[nodes[i].Data].Image
		case Autolink: // to cmark, the end of an autolink also ends the link around it
			inLink = false
		}
	}
	if len(out) > 0 {
		out = append(out, nodes[done:]...)
		d.Inlines = append(d.Inlines[:first], out...)
	}
	p.s.buffers.nodes = out[:0]
}

// nodeText returns the text of a node that is literal text.
func (p *inlineParser) nodeText(n Inline) (string, bool) {
	src := p.s.src[n.Start:n.End]
	switch n.Kind {
	case Text:
		return src, n.Data != usedMark
	case Backticks:
		return src, true
	case Escape:
		return src[len(src)-1:], true
	case Entity:
		text, _ := DecodeEntity(src)
		return text, true
	}
	return "", false
}

// linkRun links the addresses in one run. out contains the new nodes for nodes[:done];
// both are returned as they are after the last address.
func (p *inlineParser) linkRun(r *emailRun, nodes, out []Inline, done int) ([]Inline, int) {
	from, last := 0, 0 // where to search next, where the last address ended
	for range maxEmailTries {
		n := bytes.IndexByte(r.text[from:], '@')
		if n < 0 {
			break
		}
		at := from + n
		begin, end, ok := emailAt(r.text[last:], from-last, at-last)
		if !ok {
			from = at + 1
			continue
		}
		begin, end = begin+last, end+last
		from, last = end, end
		startNode, startSrc := r.locate(nodes, begin)
		endNode, endSrc := r.locate(nodes, end)
		if done <= startNode {
			out = append(out, nodes[done:startNode]...)
			if startSrc > nodes[startNode].Start {
				head := nodes[startNode]
				head.End = startSrc
				out = append(out, head)
			}
		} else if rest := &out[len(out)-1]; startSrc < nodes[startNode].End {
			// The previous address added the rest of the node: cut it.
			if startSrc > rest.Start {
				rest.End = startSrc
			} else {
				out = out[:len(out)-1]
			}
		}
		span := Span{startSrc, endSrc}
		if endNode < len(nodes) && endSrc == nodes[endNode].Start {
			span.End = nodes[endNode-1].End // between them may be the backslash of a pipe in a table
		}
		out = append(out, Inline{Span: span, Kind: Autolink, Data: p.addAutolink(BareEmail, span, span)})
		done = endNode
		if done < len(nodes) && endSrc > nodes[done].Start {
			if endSrc < nodes[done].End {
				tail := nodes[done]
				tail.Start = endSrc
				out = append(out, tail)
			}
			done++
		}
	}
	return out, done
}

// locate returns the node that contains offset i of the run's text, and the source
// offset there. At the end of the text it is the node after the run.
func (r *emailRun) locate(nodes []Inline, i int) (node, src int) {
	if i == len(r.text) {
		node = r.first + len(r.starts)
		return node, nodes[node-1].End
	}
	// Of several nodes at one offset, only the last one is not empty.
	k := sort.SearchInts(r.starts, i+1) - 1
	n := nodes[r.first+k]
	if n.Kind == Text || n.Kind == Backticks {
		return r.first + k, n.Start + i - r.starts[k]
	}
	return r.first + k, n.Start
}

// emailAt returns the address around the @ at offset sign, which does not start before
// offset least.
func emailAt(text []byte, least, sign int) (begin, end int, ok bool) {
	begin = sign
	xmpp := false
	for ; begin > least; begin-- {
		c := text[begin-1]
		if isAlnum(c) || strings.IndexByte(".+-_", c) >= 0 {
			continue
		}
		if c == ':' && endsWithWord(text[:begin], "xmpp:") {
			xmpp = true
			continue
		}
		if c != ':' || !endsWithWord(text[:begin], "mailto:") {
			break
		}
	}
	if begin == sign {
		return 0, 0, false
	}
	dots := 0
	for end = sign + 1; end < len(text); end++ {
		c := text[end]
		if c == '.' && end+1 < len(text) && isAlnum(text[end+1]) {
			dots++
		} else if !isAlnum(c) && c != '-' && c != '_' && (c != '/' || !xmpp) {
			break
		}
	}
	if end < len(text) && text[end] == '@' || end-sign < 2 || dots == 0 || !isAlpha(text[end-1]) {
		return 0, 0, false
	}
	return begin, end, true
}

// endsWithWord reports whether text ends with word, without a letter or digit
// before it.
func endsWithWord(text []byte, word string) bool {
	before, ok := bytes.CutSuffix(text, []byte(word))
	return ok && (len(before) == 0 || !isAlnum(before[len(before)-1]))
}
