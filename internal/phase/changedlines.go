package phase

import (
	"path"
	"slices"

	"github.com/agent-airlock/airlock/internal/changes"
	"github.com/agent-airlock/airlock/internal/finding"
)

// changedLines are the lines that changed, by file. In a file whose spans are nil, every
// line counts as changed.
type changedLines map[string][]changes.Span

// changedLinesOf reads the changed lines of files from the diff. Every line of a file counts as
// changed if the file is new or binary, if its patch is missing or cannot be read, or if the diff
// does not have the file.
func changedLinesOf(diff []changes.ChangedFile, files []string) changedLines {
	lines := changedLines{}
	for _, f := range files {
		lines[f] = nil
	}
	for _, f := range diff {
		hunks, err := changes.ParsePatch(f.Patch)
		if f.Status == changes.Added || f.PatchMissing || f.Binary || err != nil {
			lines[f.Path] = nil
			continue
		}
		spans := []changes.Span{} // not nil: a file that was only renamed has no changed line
		for _, h := range hunks {
			spans = append(spans, h.Added...)
		}
		lines[f.Path] = spans
	}
	return lines
}

// touch reports whether a line of the code that a finding is about changed, or, if the finding names
// no line, whether a line of its file changed.
func (l changedLines) touch(f finding.Finding) bool {
	spans, changed := l[path.Clean(f.Path)]
	first, last := f.Lines()
	switch {
	case !changed:
		return false
	case spans == nil:
		return true
	case first == 0:
		return len(spans) > 0
	}
	return slices.ContainsFunc(spans, func(s changes.Span) bool { return s.First <= last && first <= s.Last })
}

// split separates findings that count from old ones. If newOnly is false, all of them count.
func (l changedLines) split(findings []finding.Finding, newOnly bool) (blocking, old []finding.Finding) {
	for _, f := range findings {
		if newOnly && !l.touch(f) {
			old = append(old, f)
		} else {
			blocking = append(blocking, f)
		}
	}
	return blocking, old
}
