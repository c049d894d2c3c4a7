package apply

import (
	"strings"

	"github.com/agent-airlock/airlock/internal/markdown"
)

// minRoom keeps split moving whatever room it is given.
const minRoom = 256

// split divides Markdown into parts of at most room UTF-16 code units, in
// order and without losing text: between blocks where that keeps at least half
// of a part, else between lines, else within a line. A code fence that a cut
// goes through is closed before it and opened again after it.
func split(s string, room int) []string {
	room = max(room, minRoom)
	var parts []string
	reopen := ""
	for {
		s = reopen + s
		if prefixLen(s, room) == len(s) {
			return append(parts, s)
		}
		at := splitPoint(s, room-minRoom/4)
		head := strings.TrimRight(s[:at], " \n")
		closing := markdown.CloseOpen(head)
		if len(closing) > minRoom/4 { // an absurdly long fence: leave it to the sanitizer
			closing = ""
		}
		parts = append(parts, head+closing)
		reopen = fenceIn(closing)
		s = strings.TrimLeft(s[at:], "\n")
	}
}

// fenceIn returns the line that opens again the code fence that closing ends, or
// "" where it ends something else.
func fenceIn(closing string) string {
	line, _, _ := strings.Cut(strings.TrimPrefix(closing, "\n"), "\n")
	if strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") {
		return line + "\n"
	}
	return ""
}

// splitPoint returns where to cut s so that the head has at most room units.
func splitPoint(s string, room int) int {
	end := prefixLen(s, room)
	head := s[:end]
	if i := strings.LastIndex(head, "\n\n"); i >= end/2 {
		return i + 2
	}
	if i := strings.LastIndexByte(head, '\n'); i >= end/2 {
		return i + 1
	}
	if i := strings.LastIndexByte(head, ' '); i >= end/2 {
		return i + 1
	}
	return end
}

// prefixLen returns the length in bytes of the longest prefix of whole
// characters with at most units UTF-16 code units.
func prefixLen(s string, units int) int {
	if len(s) <= units {
		return len(s)
	}
	for i, r := range s {
		units--
		if r >= 0x10000 {
			units--
		}
		if units < 0 {
			return i
		}
	}
	return len(s)
}
