package toolreport

import (
	"bytes"
	"regexp"
	"strings"
	"unicode/utf8"
)

const (
	maxLine    = 4 << 20 // bytes; what a longer line has more is left out
	maxText    = 8 << 10 // bytes of a line that is matched as text
	maxMessage = 2_000   // bytes of a finding's or a failure's message
	maxName    = 500     // bytes of a test's or a rule's name
)

// lines splits a stream into lines and hands on each without its ending, colours
// and other control sequences.
type lines struct {
	to   func(line string)
	part []byte
}

func (l *lines) write(p []byte) {
	for {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			l.keep(p)
			return
		}
		if len(l.part) == 0 {
			l.to(plain(p[:min(i, maxLine)]))
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

// end hands on a last line that has no ending.
func (l *lines) end() {
	if len(l.part) > 0 {
		l.to(plain(l.part))
		l.part = l.part[:0]
	}
}

// plain returns a line as valid UTF-8 without terminal control sequences, and
// of a line that overwrites itself what a terminal would show in the end.
func plain(b []byte) string {
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

func isControl(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }

// stripEscapes leaves out escape sequences: those of colours and cursors (CSI),
// those with a text of their own (OSC and the like), and the short ones.
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

// clip cuts a text to at most n bytes, at a rune's start, and marks the cut.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	n -= len("…")
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// find matches a pattern against a line that has a text in it, so that most lines
// cost no more than looking for the text.
func find(pattern *regexp.Regexp, has, line string) []string {
	if !strings.Contains(line, has) {
		return nil
	}
	return pattern.FindStringSubmatch(line)
}

// findAt matches a pattern against a line that begins with a text.
func findAt(pattern *regexp.Regexp, beginning, line string) []string {
	if !strings.HasPrefix(line, beginning) {
		return nil
	}
	return pattern.FindStringSubmatch(line)
}
