package markdown

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// domainRun is a run of characters that may form a host name, with what a
// search for one needs to know of it, so that each run is read once.
type domainRun struct {
	start, end             int
	lastUnderscore         int
	lastDot, secondLastDot int
}

// bareURL reads the bare address whose : or w is at p.pos and returns its
// content span.
func (p *inlineParser) bareURL() (begin, end int, ok bool) {
	text := p.text
	pos := p.pos
	if p.brackets.blocksBare() || len(text)-pos < 4 {
		return 0, 0, false
	}
	if text[pos] == 'w' {
		if pos > 0 && !isSpace(text[pos-1]) && strings.IndexByte("*_~(", text[pos-1]) < 0 {
			return 0, 0, false
		}
		begin = pos
		if end, ok = p.domain(pos, false); !ok {
			return 0, 0, false
		}
	} else {
		begin = pos
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
		if end, ok = p.domain(pos+3, true); !ok {
			return 0, 0, false
		}
	}
	for end < len(text) && !isSpace(text[end]) && text[end] != '<' {
		end++
	}
	return begin, trimBareURL(text, pos, end), true
}

// domain returns the end of the host name at offset base. Its last two labels
// must have no underscore, and unless short is allowed it must have a dot. The
// first character and the last of the leaf are not looked at; that is cmark's
// way.
func (p *inlineParser) domain(base int, short bool) (end int, ok bool) {
	r := &p.domains
	if base+1 < r.start || base+1 > r.end || r.end == 0 {
		p.readDomain(base + 1)
	}
	bottom := base
	if r.lastDot > base && r.secondLastDot > base {
		bottom = r.secondLastDot
	}
	if r.lastUnderscore > bottom || !short && r.lastDot <= base {
		return 0, false
	}
	return max(r.end, base+1), true
}

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
		return !isPunct(c) && c != ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f'
	}
	r, n := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError && n <= 1 {
		return false
	}
	return !unicode.Is(unicode.Zs, r) && !unicode.IsPunct(r)
}

// trimBareURL cuts what does not belong to the bare address text[start:end] from
// its end: closing punctuation, an unbalanced ), and a trailing entity.
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
	d := p.s.doc
	d.Inlines = append(grown(d.Inlines), Inline{Span: span, Kind: Autolink, Data: int32(len(d.Links))})
	d.Links = append(grown(d.Links), Link{Span: span, Kind: kind, Block: p.block, Text: span, Dest: span, Definition: -1})
}
