package apply

import (
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/markdown"
)

// closed returns text with what it leaves open closed: a code fence, and the
// elements that would swallow the text after it. What follows then stands on
// its own. It only ever appends. A tag too many does no harm: readers drop it.
func closed(text string) string {
	text = strings.TrimRight(text, " \t\r\n")
	text += markdown.CloseOpen(text)
	open := openElements(text)
	if len(open) == 0 {
		return text
	}
	slices.Reverse(open)
	for _, name := range open {
		text += "\n</" + name + ">"
	}
	return text
}

// swallowing are the elements of which GitHub shows what they hold in another way.
func swallowing(name string) bool {
	switch name {
	case "pre", "details", "table", "div", "blockquote", "ul", "ol":
		return true
	}
	return false
}

// openElements returns those swallowing elements that text opens and does not
// close, outside fenced code and code spans, the outermost first.
func openElements(text string) []string {
	if !strings.Contains(text, "<") {
		return nil
	}
	var open []string
	fence := ""
	for line := range strings.Lines(text) {
		if f := fenceOf(line); f != "" {
			switch {
			case fence == "":
				fence = f
			case strings.HasPrefix(f, fence) && strings.TrimSpace(line) == f:
				fence = ""
			}
			continue
		}
		if fence != "" {
			continue
		}
		for rest := line; ; {
			at := strings.IndexAny(rest, "<`")
			if at < 0 {
				break
			}
			if rest[at] == '`' {
				rest = afterSpan(rest[at:])
				continue
			}
			name, end := tagName(rest[at:])
			rest = rest[at+1:]
			if !swallowing(name) {
				continue
			}
			if !end {
				open = append(open, name)
			} else if i := lastIndex(open, name); i >= 0 {
				open = open[:i]
			}
		}
	}
	return open
}

// fenceOf returns the run of backticks or tildes that makes line a code fence.
func fenceOf(line string) string {
	t := strings.TrimLeft(line, " ")
	if t == "" || t[0] != '`' && t[0] != '~' {
		return ""
	}
	run := t[:len(t)-len(strings.TrimLeft(t, t[:1]))]
	if len(run) < 3 || t[0] == '`' && strings.Contains(t[len(run):], "`") {
		return ""
	}
	return run
}

// afterSpan returns what follows the code span that s begins with, or what
// follows its backticks where there is no such span.
func afterSpan(s string) string {
	rest := strings.TrimLeft(s, "`")
	run := s[:len(s)-len(rest)]
	if i := strings.Index(rest, run); i >= 0 {
		return strings.TrimLeft(rest[i:], "`")
	}
	return rest
}

// tagName returns the lower-case name of the tag that s begins with, and whether
// it is an end tag.
func tagName(s string) (name string, end bool) {
	s = s[1:]
	if strings.HasPrefix(s, "/") {
		s, end = s[1:], true
	}
	n := 0
	for n < len(s) && n < 16 && ('a' <= s[n]|0x20 && s[n]|0x20 <= 'z') {
		n++
	}
	return strings.ToLower(s[:n]), end
}

func lastIndex(list []string, s string) int {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i] == s {
			return i
		}
	}
	return -1
}
