package markdown

import "strings"

// maxCutTries limits how often Cut looks for a place where the closing lines fit
// too. Each try scales the head down, so that two are typical.
const maxCutTries = 12

// Cut shortens s to at most maxUTF16 UTF-16 code units, including the note, if it
// is longer. It cuts between top-level blocks if that keeps at least half of
// what fits, otherwise between lines, otherwise between words. A code fence,
// HTML block or <details> that the cut leaves open is closed (see CloseOpen), and
// note, which should be visible Markdown, follows as a block of its own. cut
// reports whether s was shortened.
//
// If nothing of s fits, the result is the note, shortened if necessary.
func Cut(s string, maxUTF16 int, note string) (out string, cut bool) {
	if len(s) <= maxUTF16 || UTF16Len(s) <= maxUTF16 {
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

// CloseOpen returns what has to be appended to s so that text after it and an
// empty line is visible and on its own: the end of a code fence or HTML block (a
// comment, a <pre>) that s leaves open, and every missing </details>. It is empty
// if nothing is open. What is open inside a list item or quote ends with it.
func CloseOpen(s string) string {
	doc := Scan(s)
	var b strings.Builder
	if n := len(doc.Blocks); n > 0 {
		b.WriteString(doc.closing(&doc.Blocks[n-1]))
	}
	for range doc.openDetails() {
		b.WriteString("\n\n</details>")
	}
	return b.String()
}

// closing returns what closes the last block, if it is open.
func (d *Document) closing(b *Block) string {
	if b.Closed || b.Depth > 0 {
		return ""
	}
	text := d.Source[b.Start:b.End]
	switch b.Kind {
	case FencedCodeBlock:
		return "\n" + text[:leadingRun(text, text[0])]
	case HTMLBlock:
		text = strings.TrimLeft(text, " ")
		switch b.Data {
		case 1:
			return "\n</" + strings.ToLower(text[1:1+tagName(text[1:])]) + ">"
		case 2:
			return "\n-->"
		case 3:
			return "\n?>"
		case 4:
			return "\n>"
		case 5:
			return "\n]]>"
		}
	}
	return ""
}

// openDetails returns how many <details> have no end.
func (d *Document) openDetails() int {
	open := 0
	for i := range d.Blocks {
		b := &d.Blocks[i]
		if b.Kind == HTMLBlock && (b.Data == 1 || b.Data >= 6) {
			for _, p := range d.PiecesOf(b) {
				open = countDetails(d.Source[p.Start:p.End], open)
			}
		}
		for _, n := range d.InlinesOf(b) {
			if n.Kind == HTMLNode {
				open = countDetails(d.Source[n.Start:n.End], open)
			}
		}
	}
	return open
}

// countDetails adds the <details> in raw HTML to open and subtracts their end
// tags. An end tag without a start tag does not count.
func countDetails(html string, open int) int {
	for {
		i := strings.IndexByte(html, '<')
		if i < 0 {
			return open
		}
		html = html[i+1:]
		switch {
		case hasPrefixFold(html, "details") && tagName(html) == len("details"):
			open++
		case hasPrefixFold(html, "/details") && tagName(html[1:]) == len("details"):
			open = max(0, open-1)
		}
	}
}
