package toolreport_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/toolreport"
	"github.com/google/go-cmp/cmp"
)

// TestFlood asserts that output is read whether it comes before a flood of lines, in the middle of
// it, or after it. It also asserts that a tool's line about a test is never dropped as part of a flood.
func TestFlood(t *testing.T) {
	t.Parallel()
	const mocha = "\n  1 passing (3ms)\n  2 failing\n\n  1) adds:\n\n      Error: no\n      at a (/src/a.js:3:4)\n\n"
	flood := strings.Repeat(".\n\nab\n", 100_000)
	var numbers, words, named strings.Builder
	for i := range 10_000 {
		fmt.Fprintln(&numbers, i)
		fmt.Fprintln(&words, "line", i, "of the Log")
	}
	for i := range 2_000 {
		fmt.Fprintln(&named, "not ok", i+1)
	}
	for name, tt := range map[string]struct {
		printed string
		code    int
		failed  int
		known   bool
	}{
		"after a flood":    {flood + mocha, 2, 2, true},
		"before a flood":   {mocha + flood, 2, 2, true},
		"after numbers":    {numbers.String() + mocha, 2, 2, true},
		"after words":      {words.String() + mocha, 2, 2, true},
		"between words":    {words.String() + mocha + words.String(), 2, 2, true},
		"in a flood":       {flood + mocha + flood, 2, 2, true},
		"points of TAP":    {"1..5000\n" + strings.Repeat("ok\n", 4_999) + "not ok\n", 1, 1, true},
		"a point too few":  {"1..5000\n" + strings.Repeat("ok\n", 4_999), 1, 1, false},
		"numbers of TAP":   {words.String() + "1..2000\n" + named.String(), 1, 2_000, true},
		"after each point": {"1..5000\n" + strings.Repeat("ok\nline 4\n", 4_999) + "not ok\n", 1, 1, true},
		"among summaries":  {words.String() + strings.Repeat("1 passed in 1s\n", 2_000) + "3 failed in 2s\n" + strings.Repeat("1 passed in 3s\n", 2_000), 1, 3, true},
		"in JSON of mocha": {"{\n\"stats\": {\"tests\": 1},\n" + strings.Repeat("\n", 5_000) + "\"passes\": [],\n\"failures\": [\n{\n\"fullTitle\": \"a\",\n\"err\": {}\n}\n]\n}\n", 1, 1, true},
	} {
		got := read(t, toolreport.Tool{Command: []string{"make", "check"}, Check: "tests", Roots: []string{"/src"}},
			output{Stdout: strings.NewReader(tt.printed), Exit: toolreport.Exit{Code: tt.code}})
		if got.Tests.Failed != tt.failed || got.Tests.Known != tt.known {
			t.Errorf("%s: %+v, want %d failed, known %v", name, got.Tests, tt.failed, tt.known)
		}
	}
}

// TestFloodEnds asserts that the first and the last lines of a flood are read: here they are the
// message of the package's failure that follows.
func TestFloodEnds(t *testing.T) {
	t.Parallel()
	var printed strings.Builder
	for i := range 100_000 {
		fmt.Fprintln(&printed, "line", i)
	}
	printed.WriteString("FAIL\texample.com/a\t0.1s\n")
	got := read(t, toolreport.Tool{Command: []string{"go", "test"}, Check: "tests"}, output{Stdout: strings.NewReader(printed.String()), Exit: toolreport.Exit{Code: 1}})
	if len(got.Tests.Failing) != 1 {
		t.Fatalf("%+v", got.Tests)
	}
	want := "line 0\nline 1\nline 2\nline 3\nline 4\nline 5\nline 99994\nline 99995\nline 99996\nline 99997\nline 99998\nline 99999"
	if diff := cmp.Diff(want, got.Tests.Failing[0].Message); diff != "" {
		t.Error(diff)
	}
}

// TestFloodOfNames asserts that each of many lines that name a file is a finding.
func TestFloodOfNames(t *testing.T) {
	t.Parallel()
	var printed strings.Builder
	for i := range 3_000 {
		fmt.Fprintln(&printed, "would reformat script", i+1)
	}
	for _, tool := range []toolreport.Tool{{Name: "black", Check: "formatter"}, {Name: "mine", Formats: []string{"would reformat %f %l"}}} {
		got := read(t, tool, output{Stdout: strings.NewReader(printed.String()), Exit: toolreport.Exit{Code: 1}})
		if len(got.Findings) != 3_000 {
			t.Errorf("%s: %d findings", tool.Name, len(got.Findings))
		}
	}
}
