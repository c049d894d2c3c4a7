package phase

import (
	"path"
	"slices"

	"github.com/agent-airlock/airlock/internal/changes"
	"github.com/agent-airlock/airlock/internal/finding"
)

// changedLines knows which lines a change made. A file without spans changed as
// a whole.
type changedLines map[string][]changes.Span

// changedLinesOf reads them off the diff. A file whose patch is not there, or
// cannot be read whole, counts as changed in every line.
func changedLinesOf(diff []changes.ChangedFile, files []string) changedLines {
	lines := changedLines{}
	for _, f := range files {
		lines[f] = nil
	}
	for _, f := range diff {
		hunks, err := changes.ParsePatch(f.Patch)
		if f.PatchMissing || f.Binary || err != nil {
			lines[f.Path] = nil
			continue
		}
		spans := []changes.Span{} // changed, but in no line: a rename
		for _, h := range hunks {
			spans = append(spans, h.Added...)
		}
		lines[f.Path] = spans
	}
	return lines
}

// touch reports whether a finding lies on a changed line; one that names no line
// does if its file changed at all.
func (l changedLines) touch(f finding.Finding) bool {
	spans, ok := l[path.Clean(f.Path)]
	if !ok {
		return false
	}
	if spans == nil || f.Range.StartLine == 0 {
		return spans == nil || len(spans) > 0
	}
	last := max(f.Range.StartLine, f.Range.EndLine)
	return slices.ContainsFunc(spans, func(s changes.Span) bool { return s.First <= last && f.Range.StartLine <= s.Last })
}

// sort tells findings that count from old ones.
func (l changedLines) sort(findings []finding.Finding, newOnly bool) (blocking, old []finding.Finding) {
	for _, f := range findings {
		if newOnly && !l.touch(f) {
			old = append(old, f)
		} else {
			blocking = append(blocking, f)
		}
	}
	return blocking, old
}
