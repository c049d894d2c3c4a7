package loopwork

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/doors"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/fixloop"
)

// WriteLog writes a loop's communication log in a format: markdown, json, mermaid or timeline. width
// is the number of columns of the timeline; 0 means 80. Its errors carry their exit code.
func WriteLog(w io.Writer, log fixloop.Log, format string, width int) (err error) {
	switch format {
	case "markdown":
		_, err = io.WriteString(w, log.Markdown())
	case "mermaid":
		_, err = io.WriteString(w, "```mermaid\n"+strings.TrimRight(log.Mermaid(), "\n")+"\n```\n")
	case "timeline":
		err = log.Timeline(w, cmp.Or(width, 80), time.Now())
	case "json":
		err = doors.WriteJSON(w, log)
	default:
		return exitcode.UsageError(fmt.Errorf("--format: %q is not markdown, json, mermaid or timeline", format))
	}
	if err != nil {
		return exitcode.FailedError(err)
	}
	return nil
}
