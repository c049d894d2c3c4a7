package toolreport_test

import (
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/toolreport"
)

// TestTape asserts that a failed assertion of tape has the name of its test and its place.
func TestTape(t *testing.T) {
	t.Parallel()
	const printed = `TAP version 13
# parse
ok 1 should be strictly equal
# stringify
not ok 2 should be strictly equal
  ---
    operator: equal
    expected: 3
    actual:   2
    at: Test.<anonymous> (/repo/test/a.js:12:7)
    stack: |-
      Error: should be strictly equal
          at Test.assert [as _assert] (/repo/node_modules/tape/lib/test.js:492:48)
  ...

1..2
# tests 2
# pass  1
# fail  1
`
	tests := read(t, toolreport.Tool{Command: []string{"npm test"}, Check: "tests", Roots: []string{"/repo"}},
		output{Stdout: strings.NewReader(printed), Exit: toolreport.Exit{Code: 1}}).Tests
	if tests.Failed != 1 || len(tests.Failing) != 1 {
		t.Fatalf("%+v", tests)
	}
	if f := tests.Failing[0]; f.Name != "stringify should be strictly equal" || f.Path != "test/a.js" || f.Line != 12 {
		t.Errorf("%+v", f)
	}
}
