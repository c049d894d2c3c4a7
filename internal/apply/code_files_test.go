package apply

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/policy/tree"
)

// TestFilesListBrokenRules asserts the order: first the rules that all files together or paths
// outside the changes break, then every changed file with the rules that it breaks.
func TestFilesListBrokenRules(t *testing.T) {
	tooMany, protected, link := tree.Violation{Rule: tree.RuleMaxFiles, Message: "too many"}, tree.Violation{Rule: tree.RuleProtected, Path: "b"}, tree.Violation{Rule: tree.RuleLink, Path: "gone"}
	st := &codeState{
		changes: []gitrepo.TreeChange{
			{Path: "a", NewMode: "100644", Size: 3},
			{Path: "b", OldMode: "100644", NewMode: "100755", Size: 4},
			{Path: "c", OldMode: "100755"},
			{Path: "d", OldMode: "100755", NewMode: "100755", Size: 5},
			{Path: "e", NewMode: "120000", Size: 1},
		},
		broken: []tree.Violation{protected, tooMany, link},
	}
	want := []File{
		{Broken: []tree.Violation{tooMany}},
		{Path: "gone", Broken: []tree.Violation{link}},
		{Path: "a", Change: "added", Size: 3},
		{Path: "b", Change: "changed", OldMode: "100644", NewMode: "100755", Size: 4, Broken: []tree.Violation{protected}},
		{Path: "c", Change: "removed"},
		{Path: "d", Change: "changed", OldMode: "100755", NewMode: "100755", Size: 5},
		{Path: "e", Change: "added", NewMode: "120000", Size: 1},
	}
	if diff := cmp.Diff(want, st.files()); diff != "" {
		t.Error(diff)
	}
	if files := (&codeState{}).files(); files != nil {
		t.Error(files)
	}
}
