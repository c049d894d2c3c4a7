package changes_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/changes"
)

// TestSkipAndMarked asserts which files remain for a caller that skips the files that Skip reports,
// and those with some of the soft marks. It also asserts the reasons for which the others are
// skipped.
func TestSkipAndMarked(t *testing.T) {
	t.Parallel()
	file := func(path string, marks ...changes.Mark) changes.File {
		f := changes.File{ChangedFile: changes.ChangedFile{Path: path}}
		for _, m := range marks {
			f.Marks = append(f.Marks, changes.Marked{Mark: m, Why: "as " + string(m)})
		}
		return f
	}
	s := changes.Set{Files: []changes.File{
		file("a"), file("b", changes.MarkGenerated), file("c", changes.MarkVendored, changes.MarkGenerated), file("d", changes.MarkVendored, changes.MarkLink), file("e", changes.MarkDeleted),
	}}
	for _, tt := range []struct {
		soft []changes.Mark
		kept string
		why  []string
	}{
		{nil, "abc", []string{"as link", "as deleted"}},
		{[]changes.Mark{changes.MarkVendored}, "ab", []string{"as vendored", "as link", "as deleted"}},
		{[]changes.Mark{changes.MarkGenerated, changes.MarkVendored}, "a", []string{"as generated", "as generated", "as link", "as deleted"}},
	} {
		kept, skipped := split(&s, tt.soft...)
		names := ""
		for _, f := range kept {
			names += f.Path
		}
		var why []string
		for _, s := range skipped {
			why = append(why, s.Reason)
		}
		if diff := cmp.Diff(tt.why, why); diff != "" || names != tt.kept {
			t.Errorf("%v: kept %q, not %q; (-want +got)\n%s", tt.soft, names, tt.kept, diff)
		}
	}
}

// skippedFile is a file that a caller skips, and why.
type skippedFile struct {
	Path   string
	Mark   changes.Mark
	Reason string
}

// split separates the files that a caller keeps from those that it skips: the files that Skip
// reports, and those with one of the soft marks.
func split(s *changes.Set, soft ...changes.Mark) (kept []*changes.File, skipped []skippedFile) {
	for i := range s.Files {
		f := &s.Files[i]
		m, skip := f.Skip()
		for _, mark := range soft {
			if !skip {
				m, skip = f.Marked(mark)
			}
		}
		if skip {
			skipped = append(skipped, skippedFile{f.Path, m.Mark, m.Why})
		} else {
			kept = append(kept, f)
		}
	}
	return kept, skipped
}

// ofLanguage returns the paths of the files in a language, without those that Skip reports.
func ofLanguage(s *changes.Set, language string) []string {
	var paths []string
	kept, _ := split(s)
	for _, f := range kept {
		if f.Language == language {
			paths = append(paths, f.Path)
		}
	}
	return paths
}

// changedLine reports whether a line counts as changed.
func changedLine(f *changes.File, line int) bool {
	return f.AllChanged && line > 0 || slices.ContainsFunc(f.Changed, func(s changes.Span) bool { return s.Contains(line) })
}
