package scaffold

import (
	"fmt"
	"io"
	"strings"

	"github.com/agent-airlock/airlock/internal/text"
)

// Text writes for a person what was written, or what a dry run would write, and what is left to
// do. width is the terminal's, 0 where w is not a terminal.
func (r Report) Text(w io.Writer, dryRun bool, width int) error {
	b := &strings.Builder{}
	if dryRun {
		fmt.Fprintln(b, "Nothing was written. This would happen to the files:")
	}
	for _, f := range r.Files {
		shown := string(f.State)
		if f.State == Edited {
			shown = "kept"
		}
		fmt.Fprintf(b, "  %-9s  %s\n", shown, f.Path)
	}
	for _, f := range r.Files {
		if f.Difference != "" {
			fmt.Fprintf(b, "\n%s was edited, so it is left as it is. --force overwrites it. The difference:\n\n%s", f.Path, text.SafeLines(f.Difference))
		}
	}
	for _, note := range r.Notes {
		fmt.Fprintf(b, "\n%s\n", text.Wrap(note, "", width))
	}
	fmt.Fprint(b, "\nNext:\n")
	for i, step := range r.Next {
		fmt.Fprintf(b, "%2d. %s\n", i+1, text.Wrap(step, "    ", width))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
