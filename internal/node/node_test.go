package node

import (
	"encoding/json"
	"testing"
)

// TestPassedValuesAreMaskedInJSON asserts that a result in JSON stays JSON when the value of a passed
// variable is masked in it, whichever characters the value has and the encoder escapes.
func TestPassedValuesAreMaskedInJSON(t *testing.T) {
	t.Parallel()
	for _, value := range []string{`plain-value`, `ends-with-a-quote"`, `"begins-with-one`, `a<b>&"c"\\-value`} {
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
