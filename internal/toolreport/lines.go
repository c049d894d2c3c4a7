package toolreport

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

const (
	maxLine    = 4 << 20 // bytes; the rest of a longer line is left out
	maxText    = 8 << 10 // bytes of a line that is matched as text
	maxMessage = 2_000   // bytes of a finding's or a failure's message
	maxName    = 500     // bytes of a test's or a rule's name
)

// lines splits a stream into lines and passes on each without its ending, colours
// and other control sequences.
type lines struct {
	to   func(line string)
	part []byte // the beginning of a line whose end was not written yet
}

func (l *lines) write(p []byte) {
	for {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			l.keep(p)
			return
		}
		if len(l.part) == 0 {
			l.to(printable(p[:min(i, maxLine)]))
		} else {
			l.keep(p[:i])
			l.end()
		}
		p = p[i+1:]
	}
}

func (l *lines) keep(p []byte) {
	l.part = append(l.part, p[:min(len(p), maxLine-len(l.part))]...)
}

// end passes on a last line that has no ending.
func (l *lines) end() {
	if len(l.part) > 0 {
		l.to(printable(l.part))
		l.part = l.part[:0]
	}
}

// lastLines keeps the last of the lines that are added to it.
type lastLines struct {
	ring []string
	next int // index in ring of its oldest line, once it is full
}

// add adds a line. If there are already as many lines as the limit, it drops the oldest one. Every
// call must pass the same limit.
func (l *lastLines) add(line string, limit int) {
	if len(l.ring) < limit {
		l.ring = append(l.ring, line)
		return
	}
	l.ring[l.next] = line
	l.next = (l.next + 1) % limit
}

// inOrder returns the lines, the oldest first.
func (l *lastLines) inOrder() []string { return slices.Concat(l.ring[l.next:], l.ring[:l.next]) }

// printable returns a line as valid UTF-8 without control characters and terminal control
// sequences. Of a line that overwrites itself, it returns what follows the last carriage return.
func printable(b []byte) string {
	b = bytes.TrimRight(b, "\r")
	if bytes.IndexByte(b, 0x1b) >= 0 {
		b = stripEscapes(b)
	}
	if i := bytes.LastIndexByte(b, '\r'); i >= 0 {
		b = b[i+1:]
	}
	s := string(b)
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	if strings.IndexFunc(s, isControl) >= 0 {
		s = strings.Map(func(r rune) rune {
			if isControl(r) {
				return -1
			}
			return r
		}, s)
	}
	return s
}

// withoutEscapes returns a text of a document without escape sequences, which the document may have
// written as \u001b.
func withoutEscapes(s string) string {
	if strings.IndexByte(s, 0x1b) < 0 {
		return s
	}
	return string(stripEscapes([]byte(s)))
}

func isControl(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }

// stripEscapes removes escape sequences: those of colours and cursors (CSI), those that
// contain a text (OSC and the like), and the short ones.
func stripEscapes(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		if b[i] != 0x1b {
			out = append(out, b[i])
			continue
		}
		i++
		if i == len(b) {
			break
		}
		switch b[i] {
		case '[':
			for i++; i < len(b) && (b[i] < 0x40 || b[i] > 0x7e); i++ {
			}
		case ']', 'P', 'X', '^', '_':
			for i++; i < len(b) && b[i] != 0x07; i++ {
				if b[i] == 0x1b && i+1 < len(b) && b[i+1] == '\\' {
					i++
					break
				}
			}
		default:
			for ; i < len(b) && b[i] >= 0x20 && b[i] <= 0x2f; i++ {
			}
		}
	}
	return out
}

// pattern is a regular expression for lines, compiled when it is first needed. The zero pattern
// matches no line.
type pattern struct {
	literal  string // every matching line contains it; "" for none
	atStart  bool   // every matching line begins with the literal
	compiled func() *regexp.Regexp
}

// containing makes a pattern of an expression. Every match of the expression must contain the
// literal: lines without it are not matched against the expression.
func containing(literal, expr string) pattern {
	return pattern{literal, false, sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })}
}

// starting makes a pattern of an expression. Every line that the expression matches must begin with
// the literal.
func starting(literal, expr string) pattern {
	p := containing(literal, expr)
	p.atStart = true
	return p
}

// match returns the groups of a line that matches, otherwise nil.
func (p pattern) match(line string) []string {
	if p.compiled == nil || p.atStart && !strings.HasPrefix(line, p.literal) || !p.atStart && !strings.Contains(line, p.literal) {
		return nil
	}
	return p.compiled().FindStringSubmatch(line)
}
