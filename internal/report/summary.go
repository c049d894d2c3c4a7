package report

import (
	"fmt"
	"strings"

	"github.com/agent-airlock/airlock/internal/text"

	"github.com/agent-airlock/airlock/internal/apply"
	"github.com/agent-airlock/airlock/internal/markdown"
)

// maxRows is how many rows a table of the summary has at most: what is below
// nobody reads there, and the report's JSON holds all of it.
const maxRows = 100

// Summary writes the job summary: what was asked and done in one line, then the
// details, at most limit bytes.
func (r *Report) Summary(limit int) string {
	var b strings.Builder
	b.WriteString("## Airlock: " + r.Headline() + "\n\n")
	b.WriteString(r.countsLine() + "\n")

	if rows := r.rows(apply.Applied, apply.Adopted); len(rows) > 0 {
		section(&b, "Done", []string{"Line", "Request", "Result"}, rows, doneCells)
	}
	if r.DryRun && r.plan != nil && len(r.plan.Operations) > 0 {
		r.writePlan(&b)
	} else if rows := r.rows(apply.Staged); len(rows) > 0 {
		section(&b, "Planned, not written", []string{"Line", "Request", "What would be done"}, rows, stagedCells)
	}
	if rows := r.notDone(); len(rows) > 0 {
		section(&b, "Not done", []string{"", "Line", "Request", "Why, and what to do"}, rows, notDoneCells)
	}
	r.writeOwn(&b)
	r.writeEarlier(&b)
	r.writeEnabling(&b)
	r.writeFallbacks(&b)
	if rows := r.cleaned(); len(rows) > 0 {
		b.WriteString("\n<details><summary>What was cleaned or repaired (" + itoa(len(rows)) + ")</summary>\n\n")
		table(&b, []string{"Line", "Request", "What"}, rows, cleanedCells)
		b.WriteString("\n</details>\n")
	}
	out, _ := markdown.Cut(b.String(), limit/3, "*The rest was cut: a job summary holds no more. The results' JSON holds everything.*")
	return out
}

// Headline says in a few words how it ended.
func (r *Report) Headline() string {
	c := r.Counts
	switch {
	case c.Asked == 0 && len(r.Own) > 0:
		return r.ownHeadline()
	case c.Asked == 0:
		return "the agent asked for nothing"
	case c.Accepted > 0 || len(r.Results) == 0 && r.plan == nil:
		return fmt.Sprintf("%d of %s accepted", c.Accepted, text.Count(c.Asked, "line"))
	case r.DryRun || c.Staged == c.Asked:
		already := ""
		switch c.Done() {
		case 0:
		case 1:
			already = ", 1 is done already"
		default:
			already = fmt.Sprintf(", %d are done already", c.Done())
		}
		return fmt.Sprintf("%d of %s would be done%s, nothing was written", c.Staged, text.Count(c.Asked, "request"), already)
	case c.Staged > 0:
		return fmt.Sprintf("%d of %s done, %d only planned", c.Done(), text.Count(c.Asked, "request"), c.Staged)
	case c.NotDone() == 0 && c.Asked > 1:
		return fmt.Sprintf("all %s done", text.Count(c.Asked, "request"))
	}
	return fmt.Sprintf("%d of %s done", c.Done(), text.Count(c.Asked, "request"))
}

// countsLine lists the states that occur.
func (r *Report) countsLine() string {
	var parts []string
	for _, p := range r.Counts.named() {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%s **%d** %s", icon(p.state), p.n, p.words))
		}
	}
	if r.where != "" {
		parts = append(parts, markdown.EscapeText(r.words(r.where)))
	}
	return strings.Join(parts, " · ")
}

type namedCount struct {
	state, words string
	n            int
}

func (c Counts) named() []namedCount {
	return []namedCount{
		{"accepted", "accepted", c.Accepted},
		{string(apply.Applied), "applied", c.Applied},
		{string(apply.Adopted), "already there", c.Adopted},
		{string(apply.Staged), "planned", c.Staged},
		{string(apply.Failed), "failed", c.Failed},
		{rejected, "rejected", c.Rejected},
		{string(apply.Denied), "denied", c.Denied},
		{string(apply.Skipped), "skipped", c.Skipped},
		{dropped, "over the limit", c.Dropped},
	}
}

// icon marks a state so that the eye finds it; the word always stands beside it.
func icon(state string) string {
	switch state {
	case string(apply.Applied), string(apply.Adopted), "accepted":
		return "✅"
	case string(apply.Staged):
		return "📝"
	case string(apply.Failed):
		return "❌"
	case string(apply.Skipped):
		return "⏭️"
	}
	return "🚫"
}
