package changes

import (
	"fmt"
	"slices"
	"sort"
	"strings"
)

// Side is a side of the diff: Left is the old file, Right the new one.
type Side string

// The two sides, in the words of GitHub's API.
const (
	Left  Side = "LEFT"
	Right Side = "RIGHT"
)

// Anchors knows which lines of a diff can carry a review comment.
type Anchors struct {
	files   map[string]*anchored
	renamed map[string]string // old path -> new path
}

type anchored struct {
	file        ChangedFile
	left, right []Span // one a hunk that shows lines of that side, in order
	err         error  // why the patch is not read to its end
}

// NewAnchors reads the patches of the files. A patch that cannot be read leaves
// its file with the lines before the fault, and the fault in the reason.
func NewAnchors(files []ChangedFile) *Anchors {
	a := &Anchors{files: make(map[string]*anchored, len(files)), renamed: map[string]string{}}
	for _, f := range files {
		hunks, err := ParsePatch(f.Patch)
		at := &anchored{file: f, err: err}
		for _, h := range hunks {
			at.left, at.right = appendSpan(at.left, h.Old), appendSpan(at.right, h.New)
		}
		a.files[f.Path] = at
		if f.Status == Renamed && f.PreviousPath != "" {
			a.renamed[f.PreviousPath] = f.Path
		}
	}
	return a
}

// Check reports whether a review comment on lines start to line of one side of
// path can be attached to the diff: nil, or a *NoAnchor. A start of 0 stands
// for a comment on one line. GitHub's rule: all lines are shown by one and the
// same hunk, as changed or context lines, and the path is the new one.
func (a *Anchors) Check(path string, side Side, start, line int) error {
	if start == 0 {
		start = line
	}
	f, reason := a.find(path)
	if reason != nil {
		return reason
	}
	if side != Left && side != Right {
		return &NoAnchor{Reason: BadRange, text: fmt.Sprintf("the side %q is not LEFT or RIGHT", side)}
	}
	if start < 1 || line < start {
		return &NoAnchor{Reason: BadRange, text: fmt.Sprintf("lines %d to %d of %s are not a range: the first must be 1 or more and not after the last", start, line, path)}
	}
	if len(f.left)+len(f.right) == 0 {
		return f.noHunks()
	}
	last := f.spanWith(side, line)
	if last >= 0 && f.spans(side)[last].Contains(start) {
		return nil
	}
	e := &NoAnchor{Reason: NoLine, LineAlone: last >= 0 && start != line}
	at := fmt.Sprintf("line %d", line)
	first := f.spanWith(side, start)
	switch {
	case start == line:
	case first >= 0 && last >= 0:
		e.Reason = TwoHunks
		e.text = fmt.Sprintf("lines %d to %d of %s lie in different hunks of the diff; %s", start, line, path, f.commentable(side, line))
		return f.unread(e)
	case last >= 0:
		at = fmt.Sprintf("line %d", start)
	case first < 0:
		at = fmt.Sprintf("lines %d to %d", start, line)
	}
	verb := "is"
	if start != line && first < 0 && last < 0 {
		verb = "are"
	}
	e.text = fmt.Sprintf("%s of %s %s not in the diff%s; %s", at, path, verb, onSide(side), f.commentable(side, line))
	return f.unread(e)
}

// Spans returns the lines of one side of path that can carry a comment, one
// span a hunk, in order; nil when the path is not in the diff.
func (a *Anchors) Spans(path string, side Side) []Span {
	f := a.files[path]
	if f == nil {
		return nil
	}
	return slices.Clone(f.spans(side))
}

func (a *Anchors) find(path string) (*anchored, error) {
	if f := a.files[path]; f != nil {
		return f, nil
	}
	if now, ok := a.renamed[path]; ok {
		return nil, &NoAnchor{Reason: OldPath, text: fmt.Sprintf("%s was renamed: its lines are those of %s", path, now)}
	}
	return nil, &NoAnchor{Reason: NoFile, text: fmt.Sprintf("%s is not among the changed files", path)}
}

// spanWith returns the index of the side's span that holds the line, or -1.
func (f *anchored) spanWith(side Side, line int) int {
	spans := f.spans(side)
	i := after(spans, line)
	if i < len(spans) && spans[i].Contains(line) {
		return i
	}
	return -1
}

func (f *anchored) spans(side Side) []Span {
	if side == Left {
		return f.left
	}
	return f.right
}

// appendSpan adds a span, unless it holds no line. ParsePatch promises order.
func appendSpan(spans []Span, s Span) []Span {
	if s.Empty() {
		return spans
	}
	return append(spans, s)
}

// after returns the index of the first span that ends at the line or after it.
func after(spans []Span, line int) int {
	return sort.Search(len(spans), func(i int) bool { return spans[i].Last >= line })
}

// Reason says, for programs, why a comment has no anchor.
type Reason string

// The reasons.
const (
	NoFile     Reason = "file-not-in-diff"
	NoDiff     Reason = "no-diff-of-file" // binary, too large, renamed only
	NoLine     Reason = "line-not-in-diff"
	TwoHunks   Reason = "range-over-two-hunks"
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
