package schema

import (
	"encoding/json"
	"testing"
)

func TestInt(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]Int{"60": 60, "60.0": 60, "6e1": 60, "0.6E+2": 60, "-1": -1, "-0.0": 0, "2147483647": 2147483647, "null": 7} {
		n := Int(7)
		if err := json.Unmarshal([]byte(raw), &n); err != nil || n != want {
			t.Errorf("%s: %d, %v", raw, n, err)
		}
	}
	for _, raw := range []string{"1.5", "1e400", "9e9", `"1"`, "true", "[]", "{}"} {
		var n Int
		if err := json.Unmarshal([]byte(raw), &n); err == nil {
			t.Errorf("%s is read as %d", raw, n)
		}
	}
}
