package reviewer

import (
	"slices"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/secrets"
)

// TestRulesFindTheirExamples asserts that every rule with examples finds the code that it rejects,
// and that no rule of its review finds the code that it accepts. It also asserts that
// each is fully described.
func TestRulesFindTheirExamples(t *testing.T) {
	rules, err := Rules()
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range rules {
		if rule.Example == "" {
			continue
		}
		t.Run(rule.ID, func(t *testing.T) {
			if !strings.HasPrefix(rule.ID, "long-") && (len(rule.Rejected) == 0 || len(rule.Accepted) == 0) || rule.Precision == "" || rule.Help == "" {
				t.Error("the rule lacks an example of each kind, a precision or a help")
			}
			if (rule.Precision == finding.PrecisionLow) != (rule.Off != "") {
				t.Errorf("its precision is %s, and the reason why it is low is %q", rule.Precision, rule.Off)
			}
			if rule.Check == SecurityReview && len(rule.CWE) == 0 {
				t.Error("the rule names no weakness")
			}
			for _, code := range rule.Rejected {
				if !slices.Contains(findingRules(t, rule.Example, rule.Check, code), rule.ID) {
					t.Errorf("not found:\n%s", code)
				}
			}
			for _, code := range rule.Accepted {
				if found := findingRules(t, rule.Example, rule.Check, code); len(found) > 0 {
					t.Errorf("%v found in:\n%s", found, code)
				}
			}
		})
	}
}

// findingRules returns the rules of the findings in a file, every rule being on.
func findingRules(t *testing.T, path, check, code string) []string {
	t.Helper()
	review := security
	if check == CodeReview {
		review = codeReview
	}
	return rulesOf(review(t, everyRule(t), File{Path: path, Text: code}).Findings)
}

// rulesOf returns the rule of each finding.
func rulesOf(found []finding.Finding) (ids []string) {
	for _, f := range found {
		ids = append(ids, f.Rule)
	}
	return ids
}

// everyRule returns a configuration with every rule on, whatever its precision.
func everyRule(t testing.TB) Config {
	t.Helper()
	rules, err := Rules()
	if err != nil {
		t.Fatal(err)
	}
	var c Config
	for _, r := range rules {
		c.On = append(c.On, r.ID)
	}
	return c
}

func newReviewer(t testing.TB, c Config) *Reviewer {
	t.Helper()
	r, err := New(c, secrets.New(nil))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func security(t testing.TB, c Config, files ...File) Result {
	t.Helper()
	result, err := newReviewer(t, c).Security(t.Context(), files)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func codeReview(t testing.TB, c Config, files ...File) Result {
	t.Helper()
	result, err := newReviewer(t, c).Code(t.Context(), files)
	if err != nil {
		t.Fatal(err)
	}
	return result
}
