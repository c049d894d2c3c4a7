package node

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestPassedValuesAreMaskedInJSON asserts that a result in JSON stays JSON when the value of a passed
// variable is masked in it, whichever characters the value has and the encoder escapes.
func TestPassedValuesAreMaskedInJSON(t *testing.T) {
	t.Parallel()
	for _, value := range []string{`plain-value`, `ends-with-a-quote"`, `"begins-with-one`, `ends-with-a-backslash\`, `a<b>&"c"\\-value`} {
		_, _, passed := agentEnvironment([]string{"KEY=" + value, "HOME=/home/u"}, []string{"KEY"})
		for _, escapeHTML := range []bool{true, false} {
			printed := `{"text":"` + inJSON("the value is "+value+".", escapeHTML) + `"}`
			var got struct{ Text string }
			if err := json.Unmarshal([]byte(passed.Replace(printed)), &got); err != nil || got.Text != "the value is ***." {
				t.Errorf("%s: %q, %v", printed, got.Text, err)
			}
		}
	}
}

// TestNoRestOfAPassedValueIsShown asserts that a value that begins with another one is masked up to
// its end.
func TestNoRestOfAPassedValueIsShown(t *testing.T) {
	t.Parallel()
	_, scanner, passed := agentEnvironment([]string{"A=short-value", "B=short-value-and-more"}, []string{"A", "B"})
	for name, mask := range map[string]func(string) string{"results": passed.Replace, "logs": scanner.Mask} {
		if got := mask("It is short-value-and-more."); strings.Contains(got, "more") {
			t.Errorf("%s: %q", name, got)
		}
	}
}
