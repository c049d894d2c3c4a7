package apply

import (
	"strings"

	"github.com/agent-airlock/airlock/internal/markdown"
	"github.com/agent-airlock/airlock/internal/policy"
)

// maxBody is how many UTF-16 code units a body has at most, footer and marker
// included: GitHub refuses bodies over 65,536 characters.
const maxBody = 65000

// cutNote stands where a body was cut.
const cutNote = "*The rest was cut: the text is longer than GitHub allows.*"

// body composes the text of an object: the agent's text, the footer, and the
// marker as the last line. The text and the footer are cleaned once more as a
// whole. cut reports whether the text had to be shortened, which it then says
// itself.
func (c Config) body(text, footer, key string) (body string, cut bool) {
	marker := markdown.Marker(key)
	limit := maxBody - markdown.UTF16Len(marker) - 2
	text = strings.TrimRight(markdown.StripMarkers(text), " \t\r\n")
	text = text[:prefixLen(text, maxBody+1)]
	tail := ""
	if footer = strings.TrimSpace(footer); footer != "" {
		tail = "\n\n" + footer
	}
	for room := limit - markdown.UTF16Len(tail); ; {
		head, short := markdown.Cut(text, max(room, minRoom), cutNote)
		whole, _ := c.Sanitizer.Body(closed(head) + tail)
		whole = strings.TrimSpace(whole)
		over := markdown.UTF16Len(whole) - limit
		if over <= 0 || room < minRoom {
			if over > 0 { // a footer of the owner's that fills everything
				whole, _ = markdown.Cut(whole, limit, cutNote)
			}
			return strings.TrimLeft(whole+"\n\n"+marker, "\n"), short || over > 0
		}
		room -= max(over, room/8)
	}
}

// closed returns text with what it leaves open closed, so that what follows
// stands on its own.
func closed(text string) string {
	text = strings.TrimRight(text, " \t\r\n")
	return text + markdown.CloseOpen(text)
}

// title cleans a title once more, after a prefix was put before it.
func (c Config) title(s string) string {
	t, _ := c.Sanitizer.Title(s)
	return t
}

// footer returns the Markdown that stands below an item's body.
func (c Config) footer(f *policy.Footer) string {
	switch {
	case f == nil:
		return c.builtinFooter()
	case f.None:
		return ""
	case f.Text != "":
		return f.Text
	}
	return c.builtinFooter()
}

// ownFooter is footer for what Airlock itself says.
func (c Config) ownFooter(f *policy.Footer) string {
	if f == nil || *f == (policy.Footer{}) {
		job := "" // tells the comments of two jobs apart
		if c.Run.Job != "" {
			job = " of the job " + markdown.CodeSpan(c.Run.Job)
		}
		return "> Found by the checks" + job + c.whence() + "; posted by Airlock."
	}
	return c.footer(f)
}

// builtinFooter says where a text comes from, since the account that posts it is
// often shared by everything that runs in a repository.
func (c Config) builtinFooter() string {
	return "> Asked for by an agent" + c.whence() + "; checked and posted by Airlock."
}

// whence names the workflow and links the workflow run, as far as they are known.
func (c Config) whence() string {
	name := c.Workflow
	if name == "" {
		name = c.Run.WorkflowPath
	}
	// A link over http, of a host without certificate, would not be let through.
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
