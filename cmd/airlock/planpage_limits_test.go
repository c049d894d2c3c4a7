//go:build limits

package main_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// TestPlanPageOfManyAndLargeItems asserts that the page of many items and large texts is small
// enough for a browser, at most 60 MiB, and that it says what it leaves out.
func TestPlanPageOfManyAndLargeItems(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var lines strings.Builder
	for i := range 40 {
		raw, _ := json.Marshal(map[string]string{"type": "add_comment", "body": strings.Repeat(fmt.Sprint("@octocat ", i, " "), 100_000)})
		lines.Write(append(raw, '\n'))
	}
	for i := range 21_000 {
		fmt.Fprintf(&lines, "{\"type\": \"noop\", \"message\": \"%d\"}\n", i)
	}
	write(t, dir, map[string]string{"lines.ndjson": lines.String(), "policy.yml": "add-issue-comment:\n  max: 100\nnoop:\n  max: -1\n"})
	res := run(t, dir, offline(), "", "apply", "--dry-run", "--input", "lines.ndjson", "--config", "policy.yml", "--plan-html", "plan.html")
	if res.code > 1 {
		t.Fatalf("exit code %d:\n%s", res.code, res.stderr)
	}
	p := readPage(t, filepath.Join(dir, "plan.html"))
	if len(p.raw) > 60<<20 {
		t.Errorf("the page has %d bytes", len(p.raw))
	}
	for _, want := range []string{"1040 items are not shown", "more are not shown; the plan as JSON has what is posted", "The rest of the line is not shown."} {
		if !strings.Contains(p.raw, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}
