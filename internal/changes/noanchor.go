package changes

import (
	"fmt"
	"strings"
)

// Reason says, for programs, why a comment has no anchor.
type Reason string

// The reasons.
const (
	NoFile     Reason = "file-not-in-diff"
	NoDiff     Reason = "no-diff-of-file" // binary, too large, renamed only
	NoLine     Reason = "line-not-in-diff"
	NoOneHunk  Reason = "range-over-two-hunks"
	BadRange   Reason = "bad-range"
	OldPath    Reason = "renamed-file"
	UnreadDiff Reason = "unreadable-diff"
)

// NoAnchor is why a comment cannot be attached to its lines. Its Error is one
// sentence for people.
type NoAnchor struct {
	Reason Reason
	// LineAlone reports that the range's last line by itself can carry the comment.
	LineAlone bool
	text      string
}

// Error implements error.
func (e *NoAnchor) Error() string { return e.text }

// noHunks explains a file without any hunk.
func (f *anchored) noHunks() error {
	e := &NoAnchor{Reason: NoDiff}
	switch {
	case f.err != nil:
		e.Reason = UnreadDiff
		e.text = fmt.Sprintf("the diff of %s cannot be read: %v", f.file.Path, f.err)
	case f.file.Binary:
		e.text = fmt.Sprintf("%s is a binary file: it has no lines in the diff", f.file.Path)
	case f.file.PatchMissing:
		e.text = fmt.Sprintf("the diff of %s is too large to be shown: none of its lines can carry a comment", f.file.Path)
	case f.file.PreviousPath != "":
		e.text = fmt.Sprintf("%s is only renamed from %s: it has no lines in the diff", f.file.Path, f.file.PreviousPath)
	default:
		e.text = fmt.Sprintf("%s has no changed lines", f.file.Path)
	}
	return e
}

// unread adds to a reason that the file's patch was not read to its end.
func (f *anchored) unread(e *NoAnchor) error {
	if f.err != nil {
		e.text += fmt.Sprintf(" (the rest of its diff cannot be read: %v)", f.err)
	}
	return e
}

func onSide(side Side) string {
	if side == Left {
		return " on the LEFT side (the old file)"
	}
	return ""
}

// commentable lists the spans nearest to the line.
func (f *anchored) commentable(side Side, line int) string {
	const most = 6
	spans := f.spans(side)
	switch {
	case len(spans) == 0 && side == Right:
		return "the diff shows no line of the new file: use LEFT for removed lines"
	case len(spans) == 0:
		return "the diff shows no line of the old file: use RIGHT for added lines"
	}
	from, to := nearest(spans, line, most)
	var b strings.Builder
	b.WriteString("commentable lines are ")
	for i, s := range spans[from:to] {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(s.String())
	}
	if rest := len(spans) - (to - from); rest > 0 {
		fmt.Fprintf(&b, " and %d more ranges", rest)
	}
	return b.String()
}

// nearest returns a window of at most most spans around the one closest to line.
func nearest(spans []Span, line, most int) (from, to int) {
	if len(spans) <= most {
		return 0, len(spans)
	}
	at := after(spans, line)
	from = min(max(at-most/2, 0), len(spans)-most)
	return from, from + most
}
