package changes

import (
	"errors"
	"fmt"
	"sort"
	"strings"

	"github.com/agent-airlock/airlock/internal/text"
)

// Side is a side of the diff: Left is the old file, Right the new one.
type Side string

// The two sides, in the words of GitHub's API.
const (
	Left  Side = "LEFT"
	Right Side = "RIGHT"
)

// Anchors are the lines of a diff that can carry a review comment.
type Anchors struct {
	files   map[string]*anchored
	renamed map[string]string // old path -> new path
}

type anchored struct {
	file  ChangedFile
	spans map[Side][]Span // one span for each hunk that shows lines of that side, in order
	err   error           // why the patch could not be read to its end
}

// NewAnchors reads the patches of the files. Where a patch cannot be read to its end,
// the lines before the fault count, and Check reports the fault.
func NewAnchors(files []ChangedFile) *Anchors {
	a := &Anchors{files: make(map[string]*anchored, len(files)), renamed: map[string]string{}}
	for _, f := range files {
		hunks, err := ParsePatch(f.Patch)
		file := &anchored{file: f, spans: map[Side][]Span{}, err: err}
		for _, h := range hunks {
			file.addSpan(Left, h.Old)
			file.addSpan(Right, h.New)
		}
		a.files[f.Path] = file
		if f.Status == Renamed && f.PreviousPath != "" {
			a.renamed[f.PreviousPath] = f.Path
		}
	}
	return a
}

// Check returns nil if a review comment can be attached to the diff, and otherwise the reason, in
// one sentence for people. The comment is on the lines from start to line of one side of the file
// at path; if start is 0, it is on one line. GitHub's rule is that a single hunk shows all these
// lines, as changed or context lines, and that path is the new path.
func (a *Anchors) Check(path string, side Side, start, line int) error {
	if start == 0 {
		start = line
	}
	f, err := a.find(path)
	if err != nil {
		return err
	}
	if side != Left && side != Right {
		return fmt.Errorf("the side %q is not LEFT or RIGHT", side)
	}
	if start < 1 || line < start {
		return fmt.Errorf("lines %d to %d of %s are not a range: the first must be 1 or more and not after the last", start, line, path)
	}
	if len(f.spans) == 0 {
		return f.noHunks()
	}
	startSpan, lineSpan := f.spanWith(side, start), f.spanWith(side, line)
	if lineSpan >= 0 && f.spans[side][lineSpan].Contains(start) {
		return nil
	}
	commentable := f.commentable(side, line)
	var why string
	switch {
	case startSpan >= 0 && lineSpan >= 0:
		why = fmt.Sprintf("lines %d to %d of %s lie in different hunks of the diff; %s", start, line, path, commentable)
	case start != line && startSpan < 0 && lineSpan < 0:
		why = fmt.Sprintf("lines %d to %d of %s are not in the diff%s; %s", start, line, path, onSide(side), commentable)
	default: // the only line, or one of two
		missing := line
		if lineSpan >= 0 {
			missing = start
		}
		why = fmt.Sprintf("line %d of %s is not in the diff%s; %s", missing, path, onSide(side), commentable)
	}
	if f.err != nil {
		why += fmt.Sprintf(" (the rest of its diff cannot be read: %v)", f.err)
	}
	return errors.New(why)
}

func (a *Anchors) find(path string) (*anchored, error) {
	if f := a.files[path]; f != nil {
		return f, nil
	}
	if now, ok := a.renamed[path]; ok {
		return nil, fmt.Errorf("%s was renamed: its lines are those of %s", path, now)
	}
	return nil, fmt.Errorf("%s is not among the changed files", path)
}

// spanWith returns the index of the side's span that contains the line, or -1.
func (f *anchored) spanWith(side Side, line int) int {
	spans := f.spans[side]
	i := firstReaching(spans, line)
	if i < len(spans) && spans[i].Contains(line) {
		return i
	}
	return -1
}

// addSpan adds a span, unless it is empty. ParsePatch returns them in order.
func (f *anchored) addSpan(side Side, s Span) {
	if !s.Empty() {
		f.spans[side] = append(f.spans[side], s)
	}
}

// firstReaching returns the index of the first span that ends at the line or after it.
func firstReaching(spans []Span, line int) int {
	return sort.Search(len(spans), func(i int) bool { return spans[i].Last >= line })
}

// noHunks explains a file without any hunk.
func (f *anchored) noHunks() error {
	path := f.file.Path
	switch {
	case f.err != nil:
		return fmt.Errorf("the diff of %s cannot be read: %w", path, f.err)
	case f.file.Binary:
		return errors.New(path + " is a binary file: it has no lines in the diff")
	case f.file.PatchMissing:
		return errors.New("the diff of " + path + " is too large to be shown: none of its lines can carry a comment")
	case f.file.PreviousPath != "":
		return fmt.Errorf("%s is only %s from %s: it has no lines in the diff", path, f.file.Status, f.file.PreviousPath)
	}
	return errors.New(path + " has no changed lines")
}

func onSide(side Side) string {
	if side == Left {
		return " on the LEFT side (the old file)"
	}
	return ""
}

// commentable lists the spans nearest to the line. If the side has none, it names the other side.
func (f *anchored) commentable(side Side, line int) string {
	const most = 6
	spans := f.spans[side]
	switch {
	case len(spans) == 0 && side == Right:
		return "the diff shows no line of the new file: use LEFT for removed lines"
	case len(spans) == 0:
		return "the diff shows no line of the old file: use RIGHT for added lines"
	}
	// A window of up to six spans around the one closest to the line.
	from := min(max(firstReaching(spans, line)-most/2, 0), max(len(spans)-most, 0))
	nearest := spans[from:min(from+most, len(spans))]
	list := make([]string, len(nearest))
	for i, span := range nearest {
		list[i] = span.String()
	}
	more := ""
	if rest := len(spans) - len(nearest); rest > 0 {
		more = " and " + text.Count(rest, "more range")
	}
	return "commentable lines are " + strings.Join(list, ", ") + more
}
