package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/text"

	"github.com/agent-airlock/airlock/internal/apply"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// FailedOwn reports whether something that the checks had to say could not be said.
// What GitHub or the token does not allow, and is shown in the summary instead, is
// no failure.
func (r *Report) FailedOwn() bool {
	return slices.ContainsFunc(r.Own, func(res apply.Result) bool { return res.State == apply.Failed })
}

// ShowsCheckRun reports whether a check run shows what the checks found.
func (r *Report) ShowsCheckRun() bool {
	return slices.ContainsFunc(r.Own, func(res apply.Result) bool {
		return res.Kind == safeoutput.KindCheckRun && (res.State == apply.Applied || res.State == apply.Adopted)
	})
}

// ownRows returns the results of Airlock's own items.
func (r *Report) ownRows() []row {
	var out []row
	for _, res := range r.Own {
		if nothingToDo(res) {
			continue
		}
		row := r.resultRow(res)
		out = append(out, row)
	}
	return out
}

// nothingToDo reports whether an item was about something that did not have to be
// done: a comment that need not be opened, or hidden. The JSON form lists it.
func nothingToDo(res apply.Result) bool {
	return res.State == apply.Applied && res.Object == nil && len(res.Notes) == 0 &&
		(res.Kind == safeoutput.KindMinimiseComments || res.Kind == safeoutput.KindStickyComment)
}

// writeOwn is the table of what the checks had to say: folded where all of it was
// delivered, since it stands on the pull request then.
func (r *Report) writeOwn(b *strings.Builder) {
	const title = "What the checks had to say"
	header := []string{"", "What", "Result"}
	rows := r.ownRows()
	delivered := func(r row) bool { return r.state == string(apply.Applied) || r.state == string(apply.Adopted) }
	switch {
	case len(rows) == 0:
	case slices.ContainsFunc(rows, func(r row) bool { return !delivered(r) }):
		section(b, title, header, rows, ownCells)
	default:
		fmt.Fprintf(b, "\n<details><summary>%s (%d)</summary>\n\n", title, len(rows))
		table(b, header, rows, ownCells)
		b.WriteString("\n</details>\n")
	}
}

func ownCells(r row) []string {
	cell := lines(objectLink(r.obj), r.because())
	if r.code != "" {
		cell = lines("**"+escaped(r.code)+"**: "+escaped(r.why), r.notes)
	}
	return []string{icon(r.state) + " " + r.state, request(r), cell}
}

func ownMark(state string) (colour, mark string) {
	switch apply.State(state) {
	case apply.Applied, apply.Adopted:
		return green, "✓"
	case apply.Failed:
		return red, "✗"
	}
	return yellow, "·"
}

// ownHeadline is the headline where no agent asked for anything.
func (r *Report) ownHeadline() string {
	said := slices.DeleteFunc(slices.Clone(r.Own), nothingToDo)
	n := apply.Count(said)
	done := n[apply.Applied] + n[apply.Adopted]
	switch {
	case len(said) == 0:
		return "the checks had nothing new to say"
	case n[apply.Failed] > 0:
		return fmt.Sprintf("%d of %s of the checks could not be delivered", n[apply.Failed], text.Count(len(said), "message"))
	case n[apply.Staged] > 0:
		return fmt.Sprintf("%s of the checks planned, nothing was written", text.Count(n[apply.Staged], "message"))
	}
	return fmt.Sprintf("%d of %s of the checks delivered", done, text.Count(len(said), "message"))
}
