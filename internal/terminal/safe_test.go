package terminal_test

import (
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/terminal"
)

// TestSafe asserts what is shown by its number, also where a character is written in two parts.
func TestSafe(t *testing.T) {
	const text = "a\t\x1b[1mcafé\x1b[0m \u009b31m \u202eback \u2066x\u2069 \x7f \u65e5\n"
	const want = "a\t\x1b[1mcafé\x1b[0m " + `\u009b31m \u202eback \u2066x\u2069 \u007f` + " \u65e5\n"
	for size := range len(text) {
		var b strings.Builder
		w := terminal.Safe(&b)
		for _, part := range []string{text[:size], text[size:]} {
			if n, err := w.Write([]byte(part)); n != len(part) || err != nil {
				t.Fatalf("%d, %v", n, err)
			}
		}
		if b.String() != want {
			t.Errorf("divided at %d: %q, want %q", size, b.String(), want)
		}
	}
}
