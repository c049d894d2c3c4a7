package apply

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/markdown"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/text"
)

// addition is a text of the agent's that is added to an issue's body; the rest of the body stays.
// An addition that is appended or prepended ends with the item's marker. Any other addition is an
// island: it stands between two markers of the job, and a later workflow run replaces it. Only
// Airlock writes markers: composing removes them from every text.
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
	text, cut := p.cfg.compose(apart(p.leadText()+*it.Body), p.cfg.footer(e.settings.Footer), maxBody)
	a.text = apart(text)
	return a, cut
}

// undone returns those of the edits that an update with this addition may undo. A text that is
// appended or prepended undoes no edit of the body, because it is added to the newest version. An
// island may replace edited text. Without an addition (a is nil) the entire body is replaced.
func (a *addition) undone(edits []githubapi.Edit) []githubapi.Edit {
	if a == nil || a.operation == safeoutput.OperationReplaceIsland {
		return edits
	}
	return slices.DeleteFunc(slices.Clone(edits), func(ed githubapi.Edit) bool { return ed.Field == githubapi.EditBody })
}

// bodyError is the reason why an addition cannot be made to a body.
type bodyError struct{ code, message string }

func (e *bodyError) Error() string { return e.message }

// hardLimit is GitHub's limit for a body, in characters. Airlock compares it with the number of
// UTF-16 code units, which is never lower.
const hardLimit = 65_536

// addTo returns a body with the addition in it. A body that contains the addition already, or the
// island of a later workflow run, is returned unchanged. ours is set if Airlock itself created the
// issue: the last line of the body is then the marker by which a later attempt finds the issue, and
// stays last. The error is a *bodyError.
func (a *addition) addTo(body string, ours bool) (string, error) {
	text, last := body, ""
	if ours {
		if key, ok := markdown.LastLineMarker(body); ok {
			last = markdown.Marker(key)
			text = strings.TrimRight(body[:strings.LastIndex(body, last)], "\r\n")
		}
	}
	if a.operation != safeoutput.OperationReplaceIsland && hasMarker(body, a.key) {
		return body, nil
	}
	var combined string
	switch a.operation {
	case safeoutput.OperationReplaceIsland:
		current, err := a.island(text)
		switch {
		case err != nil:
			return "", err
		case current == island{}:
			combined = join(text, a.withMarkers(), last)
		case current.later(a.run) || sameText(current.content, a.text):
			return body, nil
		default:
			combined = body[:current.start] + a.withMarkers() + body[current.end:]
		}
	case safeoutput.OperationPrepend:
		combined = a.text + "\n\n" + markdown.Marker(a.key)
		if strings.TrimSpace(body) != "" {
			combined += "\n\n" + body
		}
	default:
		combined = join(text, a.text+"\n\n"+markdown.Marker(a.key), last)
	}
	if n := markdown.UTF16Len(combined); n > hardLimit {
		return "", &bodyError{CodeTooLong, fmt.Sprintf("the issue's text has %d characters, and with what is to be added it would have %d, more than GitHub's %d; shorten the text there, or ask for a comment",
			markdown.UTF16Len(body), n, hardLimit)}
	}
	return combined, nil
}

// join returns a text with a section below it. If lastLine is not "", it ends the result. If the
// text leaves a code fence, for example, open, join closes it before the section.
func join(text, section, lastLine string) string {
	if strings.TrimSpace(text) != "" {
		text += markdown.CloseOpen(text) + "\n\n"
	}
	text += section
	if lastLine != "" {
		text += "\n\n" + lastLine
	}
	return text
}

// hasMarker reports whether a line of the body is the marker of an item. If so, the item has been
// applied to the body already.
func hasMarker(body, key string) bool {
	for line := range strings.Lines(body) {
		if kind, found, ok := markdown.LineMarker(line); ok && kind == markdown.MarksText && found == key {
			return true
		}
	}
	return false
}

// withMarkers returns the text of an island between its two markers.
func (a *addition) withMarkers() string {
	return markdown.MarkerOf(markdown.IslandStart, a.marker) + "\n\n" + a.text + "\n\n" + markdown.MarkerOf(markdown.IslandEnd, a.key)
}

// island is a job's island in a body: the bytes from start to end, with both markers.
type island struct {
	start, end int
	content    string
	history
}

// island finds the job's island in a text. It returns the zero island if there is none, and an
// error if the markers are not exactly one pair: somebody has copied or removed a marker, so it is
// not known which part may be replaced.
func (a *addition) island(body string) (island, error) {
	var found island
	var starts, ends, pos, begin int
	for line := range strings.Lines(body) {
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
				found.content = body[begin:pos]
			}
		}
		pos += len(line)
	}
	switch {
	case starts == 0 && ends == 0:
		return island{}, nil
	case starts != 1 || ends != 1 || found.end < begin:
		return island{}, &bodyError{CodeIsland, fmt.Sprintf("the issue's text has %s for the beginning of the part to be replaced and %d for its end, instead of one each in this order; remove those lines there (%s… and %s…), and a new part is added",
			text.Count(starts, "line"), ends, cutMarker(markdown.IslandStart, a.key), cutMarker(markdown.IslandEnd, a.key))}
	}
	return found, nil
}

// cutMarker returns enough of a marker to search a text for it.
func cutMarker(kind markdown.MarkerKind, key string) string {
	marker := markdown.MarkerOf(kind, key)
	return marker[:strings.IndexByte(marker, '=')+9]
}
