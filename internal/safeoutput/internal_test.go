package safeoutput

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// ownItems returns an item of each internal kind.
func ownItems() []Item {
	return []Item{
		&CheckRun{Name: "checks", HeadSHA: "a", Conclusion: "failure", Title: "t", Summary: "s", Text: "x",
			Annotations: []CheckAnnotation{{Path: "a.go", StartLine: 1, EndLine: 2, Level: "warning", Title: "t", Message: "m"}}},
		&StickyComment{Name: "checks", Body: "b", OnlyUpdate: true},
		&MinimiseComments{Scopes: []string{"finding"}, Keep: []string{"finding/1"}},
		&TickBoxes{Issue: 7, Boxes: []string{"0123"}},
	}
}

// TestInternalKindsCannotBeNamed asserts that Lookup and Decode know no internal kind by its name,
// nor by that with underscores or in capitals, and that the kind table has none.
func TestInternalKindsCannotBeNamed(t *testing.T) {
	for _, it := range internalItems() {
		if !IsInternal(it.Kind()) {
			t.Errorf("%s is not internal", it.Kind())
		}
		for _, name := range []string{string(it.Kind()), strings.ReplaceAll(string(it.Kind()), "-", "_"), strings.ToUpper(string(it.Kind()))} {
			if spec, ok := Lookup(name); ok {
				t.Errorf("%s is the agent's kind %s", name, spec.Kind)
			}
			if got, err := Decode(Kind(name), []byte(`{}`)); err == nil {
				t.Errorf("%s was decoded: %+v", name, got)
			}
		}
	}
	for _, spec := range Kinds() {
		if IsInternal(spec.Kind) {
			t.Errorf("%s is in the kind table", spec.Kind)
		}
	}
}

func TestEncodeInternalKinds(t *testing.T) {
	want := []string{
		`{"type":"check-run","name":"checks","head_sha":"a","conclusion":"failure","title":"t","summary":"s","text":"x",` +
			`"annotations":[{"path":"a.go","start_line":1,"end_line":2,"annotation_level":"warning","title":"t","message":"m"}]}`,
		`{"type":"sticky-comment","name":"checks","body":"b","only_update":true}`,
		`{"type":"minimise-comments","scopes":["finding"],"keep":["finding/1"]}`,
		`{"type":"tick-boxes","issue":7,"boxes":["0123"]}`,
	}
	for i, it := range ownItems() {
		if got, err := Encode(it); err != nil || string(got) != want[i] {
			t.Errorf("Encode = %s, %v; want %s", got, err, want[i])
		}
	}
}

// TestCloneSharesNoText asserts that changing the texts of a copy does not change the original.
func TestCloneSharesNoText(t *testing.T) {
	items := append(ownItems(), &UpdateIssue{Title: ptr("t"), Body: ptr("b")}, &CreateIssue{Title: "t", Body: "b", Labels: []string{"l"}})
	for _, it := range items {
		before, err := Encode(it)
		if err != nil {
			t.Fatal(err)
		}
		c := Clone(it)
		if diff := cmp.Diff(it, c); diff != "" {
			t.Errorf("the copy of %s differs:\n%s", it.Kind(), diff)
		}
		for _, text := range c.Texts() {
			*text.Value = "changed"
		}
		if after, err := Encode(it); err != nil || string(after) != string(before) {
			t.Errorf("%s became %s, %v", before, after, err)
		}
	}
}
