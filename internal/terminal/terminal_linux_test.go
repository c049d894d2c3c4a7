package terminal_test

import (
	"io"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/agent-airlock/airlock/internal/terminal"
)

// wrapper is a writer around another one.
type wrapper struct{ io.Writer }

func (w wrapper) Unwrap() io.Writer { return w.Writer }

func TestTerminal(t *testing.T) {
	tty, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	unset := func(string) string { return "" } // as an environment without variables
	for name, w := range map[string]io.Writer{"a terminal": tty, "a wrapped one": wrapper{tty}} {
		if !terminal.Is(w) || !terminal.ShowsColour(w, unset) {
			t.Errorf("%s: Is %t, ShowsColour %t", name, terminal.Is(w), terminal.ShowsColour(w, unset))
		}
		for _, size := range []struct{ columns, want int }{{0, 80}, {132, 132}} {
			if err := unix.IoctlSetWinsize(int(tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: uint16(size.columns)}); err != nil {
				t.Fatal(err)
			}
			if got := terminal.Width(w); got != size.want {
				t.Errorf("%s of %d columns: Width is %d, want %d", name, size.columns, got, size.want)
			}
		}
	}
	for _, variable := range []string{"NO_COLOR=1", "TERM=dumb"} {
		name, value, _ := strings.Cut(variable, "=")
		if terminal.ShowsColour(tty, func(asked string) string {
			if asked == name {
				return value
			}
			return ""
		}) {
			t.Errorf("%s: colours are shown", variable)
		}
	}
}

func TestNoTerminal(t *testing.T) {
	file, err := os.Create(t.TempDir() + "/file")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for name, w := range map[string]io.Writer{"a file": file, "a buffer": &strings.Builder{}, "a wrapped buffer": wrapper{&strings.Builder{}}} {
		if terminal.Is(w) || terminal.Width(w) != 0 || terminal.ShowsColour(w, func(string) string { return "" }) {
			t.Errorf("%s is taken for a terminal", name)
		}
	}
}
