package action_test

import (
	"testing"

	"github.com/agent-airlock/airlock/internal/action"
)

// TestFirstSetVariable asserts that an earlier variable hides a later one, unless the earlier one is
// empty, and which values are text.
func TestFirstSetVariable(t *testing.T) {
	names := action.AgentOutputVariables()
	for _, c := range []struct {
		first, second, want string
		isText              bool
	}{
		{"", "", "", false},
		{"out.json", `{"items":[]}`, "out.json", false},
		{" {\"items\":[]}", "out.json", " {\"items\":[]}", true},
		{"", "\n{}", "\n{}", true},
		{"", "a{b}.json", "a{b}.json", false},
	} {
		got := action.FirstSet(func(name string) string { return map[string]string{names[0]: c.first, names[1]: c.second}[name] }, names)
		if got != c.want || action.IsText(got) != c.isText {
			t.Errorf("%q and %q: FirstSet is %q, IsText %t; want %q, %t", c.first, c.second, got, action.IsText(got), c.want, c.isText)
		}
	}
}
