package markdown

import "strings"

// Cut shortens s to at most maxUTF16 UTF-16 code units, the note included, if it
// is longer. It cuts between blocks where that keeps at least half of what fits,
// else between lines, else between words. A code fence, a comment or a <details> that the cut leaves
// open is closed, and note, which should be visible Markdown, follows as a
// block of its own. cut reports whether s was shortened.
func Cut(s string, maxUTF16 int, note string) (out string, cut bool) {
	if UTF16Len(s) <= maxUTF16 {
		return s, false
	}
	note = prefixUTF16(note, maxUTF16)
	tail := "\n\n" + note
	room := maxUTF16 - UTF16Len(tail)
	for room > 0 {
		head := strings.TrimRight(s[:cutPoint(s, room)], " \t\r\n")
		out = head + CloseOpen(head) + tail
		over := UTF16Len(out) - maxUTF16
		if over <= 0 {
			return out, true
		}
		room -= max(over, room/8)
	}
	return note, true
}

// cutPoint returns the offset of the best place to cut s so that the head has at
// most room units.
func cutPoint(s string, room int) int {
	head := prefixUTF16(s, room)
	half := len(head) / 2
	if i := strings.LastIndex(head, "\n\n"); i >= half {
		return i
	}
	if i := strings.LastIndexByte(head, '\n'); i >= half {
		return i
	}
	if i := strings.LastIndexByte(head, ' '); i >= half {
		return i
	}
	return len(head)
}

// CloseOpen returns what must be appended to s so that text after it stands on
// its own: the end of a code fence or HTML comment left open at the end of s.
// It is empty when nothing is open.
func CloseOpen(s string) string {
	fence := ""
	for line := range strings.Lines(s) {
		t := strings.TrimLeft(line, " ")
		if len(line)-len(t) > 3 || t == "" || t[0] != '`' && t[0] != '~' {
			continue
		}
		n := len(t) - len(strings.TrimLeft(t, t[:1]))
		rest := strings.TrimSpace(t[n:])
		switch {
		case fence == "" && n >= 3 && (t[0] == '~' || !strings.Contains(rest, "`")):
			fence = t[:n]
		case fence != "" && t[0] == fence[0] && n >= len(fence) && rest == "":
			fence = ""
		}
	}
	if fence == "" {
		return ""
	}
	return "\n" + fence
}

// prefixUTF16 returns the longest prefix of whole characters with at most n
// UTF-16 code units.
func prefixUTF16(s string, n int) string {
	for i, r := range s {
		n--
		if r >= 0x10000 {
			n--
		}
		if n < 0 {
			return s[:i]
		}
	}
	return s
}
