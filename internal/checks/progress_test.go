package checks

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/phase"
)

// TestMovingLineIsNarrowerThanTheTerminal, because a line that wraps cannot be erased.
func TestMovingLineIsNarrowerThanTheTerminal(t *testing.T) {
	for _, text := range []string{"tests", "tests: " + strings.Repeat("x", 300), "tests: " + strings.Repeat("試", 100)} {
		for width := 2; width < 200; width++ {
			line := movingLine('⠋', text, " 12 s, retried once, 3 more", width)
			if n := columns(line); n > max(width-1, 1) && line != "…" {
				t.Fatalf("%d columns in a terminal of %d: %q", n, width, line)
			}
			if width > 60 && !strings.HasSuffix(line, " 12 s, retried once, 3 more") {
				t.Fatalf("in a terminal of %d the time is cut: %q", width, line)
			}
		}
	}
	if got, want := movingLine('|', "tests: go test ./...", " 1.0 s", 20), "| tests: go … 1.0 s"; got != want {
		t.Errorf("%q, not %q", got, want)
	}
}

// TestProgressWhereNoLineMoves writes a line when a check begins, and no escapes.
func TestProgressWhereNoLineMoves(t *testing.T) {
	var out bytes.Buffer
	p := StartProgress(&out, func(s string) string { return s }, func() int { return 0 })
	p.Report(phase.Event{Root: ".", Check: phase.Tests, Command: "go test ./..."})
	p.Report(phase.Event{Root: ".", Check: phase.Tests, Status: phase.Pass, Elapsed: 2 * time.Second})
	p.Report(phase.Event{Root: "api", Check: phase.Linter, Command: "ruff check ."})
	p.Report(phase.Event{Root: "api", Check: phase.Linter, Command: "flake8"}) // ruff is not there
	p.Stop()
	want := "airlock: tests: go test ./...\nairlock: tests: pass (2.0 s)\nairlock: api: linter: ruff check .\nairlock: api: linter: that tool is missing, flake8 instead\n"
	if got := out.String(); got != want {
		t.Errorf("%q, not %q", got, want)
	}
}
