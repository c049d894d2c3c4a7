package reviewer

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// enough is the least precision and recall of a rule on the labelled set.
const enough = 0.8

// TestPrecisionAndRecallOnLabelledCode holds each rule against vulnerable snippets
// and safe ones that look alike, written from the definitions of the weaknesses.
func TestPrecisionAndRecallOnLabelledCode(t *testing.T) {
	paths, err := filepath.Glob("testdata/labelled/*.yaml")
	if err != nil || len(paths) < 3 {
		t.Fatalf("%d labelled sets: %v", len(paths), err)
	}
	vulnerable, safe := 0, 0
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var set []struct {
			Rule             string
			Vulnerable, Safe []string
		}
		if err := yaml.Unmarshal(raw, &set); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		file := "a" + languageNamed(strings.TrimSuffix(filepath.Base(path), ".yaml")).extensions[0]
		for _, s := range set {
			found, wrong := 0, 0
			for _, code := range s.Vulnerable {
				if slices.Contains(findingRules(t, file, SecurityReview, code), s.Rule) {
					found++
				} else {
					t.Logf("%s misses:\n%s", s.Rule, code)
				}
			}
			for _, code := range s.Safe {
				if ids := findingRules(t, file, SecurityReview, code); len(ids) > 0 {
					wrong++
					t.Logf("%v in safe code of %s:\n%s", ids, s.Rule, code)
				}
			}
			if precision := float64(found) / float64(max(1, found+wrong)); precision < enough {
				t.Errorf("%s: precision %.2f", s.Rule, precision)
			}
			if recall := float64(found) / float64(len(s.Vulnerable)); recall < enough {
				t.Errorf("%s: recall %.2f", s.Rule, recall)
			}
			vulnerable += len(s.Vulnerable)
			safe += len(s.Safe)
		}
	}
	t.Logf("%d vulnerable and %d safe snippets", vulnerable, safe)
}
