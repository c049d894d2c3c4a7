package checks

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/phase"
)

// TestMovingLineIsNarrowerThanTheTerminal asserts that the line never wraps: one that does
// cannot be erased.
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

// TestProgressWhereNoLineMoves asserts that where the output is not a terminal, a line is
// written when a check begins, takes another tool, or ends, without escape sequences.
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

// TestProgressOfTheCopy asserts that a line announces the copying of the workspace at once, and
// that another reports how long it took only if that was long.
func TestProgressOfTheCopy(t *testing.T) {
	const first, tests = "airlock: copying the workspace to where the checks run\n", "airlock: tests: go test ./...\n"
	for took, ended := range map[time.Duration]string{900 * time.Millisecond: "", 3200 * time.Millisecond: "airlock: copied 50123 files and directories (3.2 s)\n"} {
		var out bytes.Buffer
		p := StartProgress(&out, func(s string) string { return s }, func() int { return 0 })
		clock := time.Now()
		p.now = func() time.Time { return clock }
		p.Copied(0)
		if out.String() != first {
			t.Errorf("at once: %q", out.String())
		}
		p.Copied(50_123)
		p.Copied(500) // another goroutine's, which was overtaken
		clock = clock.Add(took)
		p.Report(phase.Event{Root: ".", Check: phase.Tests, Command: "go test ./..."})
		p.Report(phase.Event{Root: ".", Check: phase.Linter, Command: "ruff check ."})
		p.Stop()
		if got, want := out.String(), first+ended+tests+"airlock: linter: ruff check .\n"; got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

func TestProgressOfTheCopyMoves(t *testing.T) {
	var out bytes.Buffer
	p := &Progress{w: &out, show: func(s string) string { return s }, live: true, width: func() int { return 80 }, now: time.Now}
	p.Copied(0)
	p.Copied(12_500)
	p.draw('*')
	if got := out.String(); !strings.Contains(got, "* copying the workspace: 12500 files") {
		t.Errorf("%q", got)
	}
}
