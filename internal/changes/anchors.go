package changes

import (
	"fmt"
	"slices"
	"sort"
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
		e.Reason = NoOneHunk
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
