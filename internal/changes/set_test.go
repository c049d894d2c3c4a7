package changes_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/changes"
)

func TestSplit(t *testing.T) {
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
		kept, skipped := s.Split(tt.soft...)
		names := ""
		for _, f := range kept {
			names += f.Path
		}
		var why []string
		for _, x := range skipped {
			why = append(why, x.Reason)
		}
		if diff := cmp.Diff(tt.why, why); diff != "" || names != tt.kept {
			t.Errorf("%v: kept %q, not %q; (-want +got)\n%s", tt.soft, names, tt.kept, diff)
		}
	}
}
