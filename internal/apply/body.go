package apply

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/agent-airlock/airlock/internal/markdown"
	"github.com/agent-airlock/airlock/internal/policy"
)

// maxBody is the largest size of a body in UTF-16 code units, footer and marker included:
// GitHub refuses bodies over 65,536 characters.
const maxBody = 65000

// cutNote ends a body that was cut.
const cutNote = "*The rest was cut: the text is longer than GitHub allows.*"

// body composes the text of an object: the agent's text, the footer, the marker of the run's claim
// if there is one, and the marker of the key as the last line. A text that does not fit is cut and
// ends with a note.
func (c Config) body(text, footer, key string) (body string, cut bool) {
	marker := markdown.Marker(key)
	if c.Run.Claim != "" {
		marker = markdown.MarkerOf(markdown.Claimed, c.Run.Claim) + "\n" + marker
	}
	composed, cut := c.compose(text, footer, maxBody-markdown.UTF16Len(marker)-2)
	return strings.TrimLeft(composed+"\n\n"+marker, "\n"), cut
}

// compose returns the agent's text with the footer below it, in at most limit UTF-16 code
// units. Both are cleaned again, together.
func (c Config) compose(text, footer string, limit int) (composed string, cut bool) {
	text = strings.TrimRight(markdown.StripMarkers(text), " \t\r\n")
	text = markdown.UTF16Prefix(text, 2*maxBody) // the rest would be cut in any case
	if footer = strings.TrimSpace(footer); footer != "" {
		footer = "\n\n" + footer
	}
	// Cleaning can lengthen what was cut to fit: then the text is cut to less.
	room := max(limit-markdown.UTF16Len(footer), minRoom)
	for {
		head, isCut := markdown.Cut(text, room, cutNote)
		if head = closed(head); markdown.RefersBack(head, footer) {
			head = apart(head)
		}
		composed, _ = c.Sanitizer.Body(head + footer)
		composed = strings.TrimSpace(composed)
		excess := markdown.UTF16Len(composed) - limit
		switch {
		case excess <= 0:
			return composed, isCut
		case room == minRoom: // the owner's footer leaves no room for the text
			composed, _ = markdown.Cut(composed, limit, cutNote)
			return composed, true
		}
		room = max(room-max(excess, room/8), minRoom)
	}
}

// cutText is the note, in the plan and the results, about a text that did not fit.
const cutText = "the text is longer than GitHub allows and is cut, with a note where it ends"

// noteCut records that a text did not fit.
func (op *Operation) noteCut(cut bool) {
	if cut {
		op.Notes = append(op.Notes, cutText)
	}
}

// sameText reports whether two bodies are equal apart from what GitHub may change when it
// stores one: white space around it and line ends.
func sameText(a, b string) bool {
	norm := func(s string) string { return strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")) }
	return norm(a) == norm(b)
}

// sameButMarker reports whether two bodies differ in nothing but their markers.
func sameButMarker(a, b string) bool {
	return sameText(markdown.StripMarkers(a), markdown.StripMarkers(b))
}

// closed closes what a text leaves open, such as a code fence, so that it does not affect
// what follows.
func closed(text string) string {
	text = strings.TrimRight(text, " \t\r\n")
	return text + markdown.CloseOpen(text)
}

// apart does what closed does, for a text that shares a body with texts of others. The text's
// definitions and footnotes get labels of their own, so that a "[docs]" in another text does not
// become one of its links.
func apart(text string) string {
	sum := sha256.Sum256([]byte(text))
	return closed(markdown.RenameLabels(text, hex.EncodeToString(sum[:4])))
}

// title cleans a title again, now with the owner's prefix.
func (c Config) title(s string) string {
	t, _ := c.Sanitizer.Title(s)
	return t
}

// footer returns the Markdown below an item's body. The built-in one names where the text
// comes from, because the account that posts it is often shared by everything that runs in
// a repository.
func (c Config) footer(f *policy.Footer) string {
	return footerOr(f, "> Asked for by an agent"+c.origin()+"; checked and posted by Airlock.")
}

// ownFooter is footer for Airlock's own items.
func (c Config) ownFooter(f *policy.Footer) string {
	job := "" // distinguishes the comments of two jobs
	if c.Run.Identity() != "" {
		job = " of the job " + markdown.CodeSpan(c.Run.Identity())
	}
	return footerOr(f, "> Found by the checks"+job+c.origin()+"; posted by Airlock.")
}

// footerOr returns the owner's footer, otherwise the built-in one.
func footerOr(f *policy.Footer, builtin string) string {
	switch {
	case f == nil:
		return builtin
	case f.None:
		return ""
	}
	return cmp.Or(f.Text, builtin)
}

// origin names the workflow and links the workflow run, as far as they are known.
func (c Config) origin() string {
	name := cmp.Or(c.Workflow, c.Run.WorkflowPath)
	// The sanitizer would not keep a link over http, to a host without a certificate.
	linked := strings.HasPrefix(c.Run.URL, "https://")
	switch {
	case name != "" && linked:
		return " in the workflow [" + markdown.EscapeText(name) + "](" + c.Run.URL + ")"
	case name != "":
		return " in the workflow " + markdown.EscapeText(name)
	case linked:
		return " in [a workflow run](" + c.Run.URL + ")"
	}
	return ""
}

// minRoom is the smallest limit that split applies to a part, and compose to a text.
const minRoom = 256

// split divides Markdown into parts of at most room UTF-16 code units, in order and without losing
// text. It cuts between blocks if the part is then at least half full, otherwise between lines, or
// else within a line. A code fence that contains a cut is closed before it and opened again after
// it.
func split(s string, room int) []string {
	room = max(room, minRoom)
	var parts []string
	reopen := ""
	for {
		s = reopen + s
		if len(markdown.UTF16Prefix(s, room)) == len(s) {
			return append(parts, s)
		}
		end := splitPoint(s, room-minRoom/4)
		head := strings.TrimRight(s[:end], " \n")
		closing := markdown.CloseOpen(head)
		if len(closing) > minRoom/4 { // an absurdly long fence: leave it to the sanitizer
			closing = ""
		}
		parts = append(parts, head+closing)
		reopen = fenceIn(closing)
		s = strings.TrimLeft(s[end:], "\n")
	}
}

// fenceIn returns the line that reopens the code fence that closing ends; "" where it ends
// something else.
func fenceIn(closing string) string {
	line, _, _ := strings.Cut(strings.TrimPrefix(closing, "\n"), "\n")
	if strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") {
		return line + "\n"
	}
	return ""
}

// splitPoint returns where to cut s so that its head has at most room units.
func splitPoint(s string, room int) int {
	head := markdown.UTF16Prefix(s, room)
	end := len(head)
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
