package apply

import (
	"fmt"
	"strings"

	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/markdown"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// addition is a text of the agent's that stands in an issue's body next to what is there
// already, of which no byte changes. What is appended or prepended ends with the item's
// marker. An island stands between two markers of the job's, and a later workflow run
// replaces it. Only Airlock writes markers: composing removes them from every text.
type addition struct {
	operation string
	key       string // the item's, or for an island the job's, without its history
	marker    string // the key with its history
	run       event.Run
	text      string // clean and closed, with the footer
}

// addition returns what an item puts into a body, and whether its text had to be cut.
func (p *planner) addition(e *entry, it *safeoutput.UpdateIssue) (a *addition, cut bool) {
	a = &addition{operation: it.Operation, key: e.key, marker: e.marker(p.cfg.Run), run: p.cfg.Run}
	text, cut := p.cfg.compose(p.incompleteNote()+*it.Body, p.cfg.footer(e.settings.Footer), maxBody)
	a.text = closed(text)
	return a, cut
}

// concerns returns those of the edits by others that the addition would undo. What is
// appended or prepended undoes none, because it goes into the newest text.
func (a *addition) concerns(edits []githubapi.Edit) []githubapi.Edit {
	if a == nil || a.operation == safeoutput.OperationReplaceIsland {
		return edits
	}
	var rest []githubapi.Edit
	for _, ed := range edits {
		if ed.Field != githubapi.EditBody {
			rest = append(rest, ed)
		}
	}
	return rest
}

// bodyError is why an addition has no place in a body.
type bodyError struct{ code, message string }

func (e *bodyError) Error() string { return e.message }

// hardLimit is GitHub's limit for a body, in characters; here it counts UTF-16 code units,
// which are never fewer.
const hardLimit = 65_536

// in returns a body with the addition in it: the same body where it is there already. ours
// is set for the body of an issue that Airlock itself created: its last line stays last,
// because that is where a later attempt looks for its marker. The error is a *bodyError.
func (a *addition) in(body string, ours bool) (string, error) {
	text, last := body, ""
	if ours {
		if key, ok := markdown.LastLineMarker(body); ok {
			last = markdown.Marker(key)
			text = strings.TrimRight(body[:strings.LastIndex(body, last)], "\r\n")
		}
	}
	var with string
	switch a.operation {
	case safeoutput.OperationReplaceIsland:
		there, err := a.island(text)
		switch {
		case err != nil:
			return "", err
		case there == island{}:
			with = join(text, a.between(), last)
		case there.later(a.run) || sameText(there.content, a.text):
			return body, nil
		default:
			with = body[:there.start] + a.between() + body[there.end:]
		}
	case safeoutput.OperationPrepend:
		if a.within(body) {
			return body, nil
		}
		with = a.text + "\n\n" + markdown.Marker(a.key)
		if strings.TrimSpace(body) != "" {
			with += "\n\n" + body
		}
	default:
		if a.within(body) {
			return body, nil
		}
		with = join(text, a.text+"\n\n"+markdown.Marker(a.key), last)
	}
	if n := markdown.UTF16Len(with); n > hardLimit {
		return "", &bodyError{CodeTooLong, fmt.Sprintf("the issue's text has %d characters, and with what is to be added it would have %d, more than GitHub's %d; shorten the text there, or ask for a comment",
			markdown.UTF16Len(body), n, hardLimit)}
	}
	return with, nil
}

// join puts a section below a text, and the line last below it. What the text leaves open,
// such as a code fence, is closed in between.
func join(text, section, last string) string {
	if strings.TrimSpace(text) != "" {
		text += markdown.CloseOpen(text) + "\n\n"
	}
	text += section
	if last != "" {
		text += "\n\n" + last
	}
	return text
}

// within reports whether a line of the body is the addition's marker.
func (a *addition) within(body string) bool {
	for line := range strings.Lines(body) {
		if kind, key, ok := markdown.LineMarker(line); ok && kind == markdown.MarksText && key == a.key {
			return true
		}
	}
	return false
}

// between returns the island with its markers.
func (a *addition) between() string {
	return markdown.MarkerOf(markdown.IslandStart, a.marker) + "\n\n" + a.text + "\n\n" + markdown.MarkerOf(markdown.IslandEnd, a.key)
}

// island is a job's island in a body: the bytes from start to end, with both markers.
type island struct {
	start, end int
	content    string
	history
}

// island finds the job's island in a text; the zero island if there is none. It is an error
// if its markers are not one pair: somebody has copied or removed one, and nobody knows
// what may be replaced.
func (a *addition) island(text string) (island, error) {
	var found island
	var starts, ends, pos, begin int
	for line := range strings.Lines(text) {
		kind, marker, _ := markdown.LineMarker(line)
		key, known := readMarker(marker, "")
		switch {
		case key != a.key:
		case kind == markdown.IslandStart:
			starts++
			found.start, begin = pos, pos+len(line)
			if known != nil {
				found.history = known.history
			}
		case kind == markdown.IslandEnd:
			ends++
			found.end = pos + len(strings.TrimRight(line, " \t\r\n"))
			if starts == 1 && ends == 1 {
				found.content = text[begin:pos]
			}
		}
		pos += len(line)
	}
	switch {
	case starts == 0 && ends == 0:
		return island{}, nil
	case starts != 1 || ends != 1 || found.end < begin:
		return island{}, &bodyError{CodeIsland, fmt.Sprintf("the issue's text has %d lines that begin the part to be replaced and %d that end it, instead of one each in this order; remove those lines there (%s… and %s…), and a new part is added",
			starts, ends, cutMarker(markdown.IslandStart, a.key), cutMarker(markdown.IslandEnd, a.key))}
	}
	return found, nil
}

// cutMarker returns enough of a marker to search a text for it.
func cutMarker(kind markdown.MarkerKind, key string) string {
	marker := markdown.MarkerOf(kind, key)
	return marker[:strings.IndexByte(marker, '=')+9]
}
