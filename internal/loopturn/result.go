package loopturn

import (
	"fmt"
	"time"

	"github.com/agent-airlock/airlock/internal/fixloop"
	"github.com/agent-airlock/airlock/internal/loopref"
	"github.com/agent-airlock/airlock/internal/markdown"
)

// Result is how the turn left one loop.
type Result struct {
	Log *loopref.Log // nil if there is none
	// Notes say what was refused, and why.
	Notes []string
}

// Status returns the loop's status; "" if there is none.
func (r Result) Status() string {
	if r.Log == nil {
		return ""
	}
	return string(r.Log.State.Status())
}

// Outcome returns how the loop ended; "" if there is none, and while it runs.
func (r Result) Outcome() string {
	if r.Log == nil {
		return ""
	}
	return string(r.Log.State.Outcome())
}

// Request returns the fix request that waits for a fix, as Markdown. It returns "" if there is none,
// or if it was made before since, rounded down to a full second.
func (r Result) Request(since time.Time) string {
	if r.Log == nil {
		return ""
	}
	if w := r.Log.State.Work(); w.Kind == fixloop.WorkFix && !w.Request.Time.Before(since.Truncate(time.Second)) {
		return w.Request.Markdown()
	}
	return ""
}

// Headline describes the loop in one line; "" if there is none.
func (r Result) Headline(now time.Time) string {
	if r.Log == nil {
		return ""
	}
	return fixloop.NewLog(r.Log.State, r.Log.Messages, now).Headline()
}

// Summary returns, as Markdown, how the loop stands, with a diagram and its log, folded. There has
// to be a loop.
func (r Result) Summary(now time.Time) string {
	log := fixloop.NewLog(r.Log.State, r.Log.Messages, now)
	headline := markdown.EscapeText(log.Headline())
	if why := r.Log.State.Why(); why != "" {
		headline += "\n\n" + why
	}
	return fmt.Sprintf("## Fix loop of #%d\n\n%s\n\n%s\n\n<details><summary>Communication log</summary>\n\n%s\n\n</details>\n",
		log.Issue, headline, markdown.Fence("mermaid", log.Mermaid()), log.Page())
}
