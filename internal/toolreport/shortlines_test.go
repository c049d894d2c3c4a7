package toolreport_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/toolreport"
)

// TestFloodOfShortLines asserts that what stands in, before and after a flood of short lines
// is read, and that each of TAP's lines counts.
func TestFloodOfShortLines(t *testing.T) {
	t.Parallel()
	const mocha = "\n  1 passing (3ms)\n  2 failing\n\n  1) adds:\n\n      Error: no\n      at a (/src/a.js:3:4)\n\n"
	flood := strings.Repeat(".\n\nab\n", 100_000)
	var numbers strings.Builder
	for i := range 100_000 {
		fmt.Fprintln(&numbers, i)
	}
	for name, tt := range map[string]struct {
		printed string
		code    int
		failed  int
		known   bool
	}{
		"after it":         {flood + mocha, 2, 2, true},
		"before it":        {mocha + flood, 2, 2, true},
		"after numbers":    {numbers.String() + mocha, 2, 2, true},
		"in it":            {flood + mocha + flood, 2, 2, true},
		"points of TAP":    {"1..5000\n" + strings.Repeat("ok\n", 4_999) + "not ok\n", 1, 1, true},
		"a point is left":  {"1..5000\n" + strings.Repeat("ok\n", 4_999), 1, 1, false},
		"in JSON of mocha": {"{\n\"stats\": {\"tests\": 1},\n" + strings.Repeat("\n", 5_000) + "\"passes\": [],\n\"failures\": [\n{\n\"fullTitle\": \"a\",\n\"err\": {}\n}\n]\n}\n", 1, 1, true},
	} {
		got := read(t, toolreport.Tool{Command: []string{"make", "check"}, Check: "tests", Roots: []string{"/src"}},
			output{Stdout: strings.NewReader(tt.printed), Exit: toolreport.Exit{Code: tt.code}})
		if got.Tests.Failed != tt.failed || got.Tests.Known != tt.known {
			t.Errorf("%s: %+v", name, got.Tests)
		}
	}
}
