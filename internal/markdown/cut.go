package markdown

import "strings"

// maxCutTries limits how often Cut looks for a place where the closing lines fit
// too. Each try scales the head down, so that two are typical.
const maxCutTries = 12

// Cut shortens s to at most maxUTF16 UTF-16 code units, including the note, if it
// is longer. It cuts between top-level blocks, else between lines, else between
// words, each if that keeps at least half of what fits, else anywhere. A code fence,
// HTML block or <details> that the cut leaves open is closed (see CloseOpen), and
// note, which should be visible Markdown, follows as a block of its own. cut
// reports whether s was shortened.
//
// If nothing of s fits, the result is the note, shortened if necessary.
func Cut(s string, maxUTF16 int, note string) (out string, cut bool) {
	if UTF16Len(s) <= maxUTF16 {
		return s, false
	}
	tail := "\n\n" + note
	fits := maxUTF16 - UTF16Len(tail)
	room := fits
	for range maxCutTries {
		if room <= 0 {
			break
		}
		prefix := UTF16Prefix(s, room)
		head := strings.TrimRight(prefix[:cutPoint(prefix)], " \t\r\n")
		if head == "" {
			break
		}
		head += CloseOpen(head)
		total := UTF16Len(head)
		if total <= fits {
			return head + tail, true
		}
		room = min(room-1, int(int64(room)*int64(fits)/int64(total)))
	}
	return UTF16Prefix(note, maxUTF16), true
}

// cutPoint returns the offset of the best place to end prefix, which is the
// beginning of a longer text.
func cutPoint(prefix string) int {
	half := len(prefix) / 2
	doc := Scan(prefix)
	for i := len(doc.Blocks) - 1; i >= 0; i-- {
		b := &doc.Blocks[i]
		if b.Parent >= 0 {
			continue
		}
		if start := strings.LastIndexAny(prefix[:b.Start], "\r\n") + 1; start >= half && start > 0 {
			return start
		}
		break
	}
	for _, separator := range []byte("\n ") {
		if i := strings.LastIndexByte(prefix, separator); i >= half {
			return i
		}
	}
	return len(prefix)
}
