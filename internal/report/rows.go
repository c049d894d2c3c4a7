package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-airlock/airlock/internal/apply"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// row is one item as people see it. The summary, the terminal and the annotations choose from
// it, so that they cannot disagree. Its texts are plain and safe to show.
type row struct {
	state string
	line  int
	kind  string
	asked string   // the request, for people
	why   string   // the reason for the state, and what to do
	notes []string // further notes for people
	code  string
	obj   *apply.Object
	file  string
}

// The states of lines that do not pass intake.
const (
	rejected = "rejected"
	dropped  = "dropped"
)

// rows returns the results in one of the states, in their order.
func (r *Report) rows(states ...apply.State) []row {
	var out []row
	for _, res := range r.Results {
		if slices.Contains(states, res.State) {
			out = append(out, r.resultRow(res))
		}
	}
	return out
}

func (r *Report) resultRow(res apply.Result) row {
	asked, why := r.asked[res.Index], ""
	switch {
	case res.Message == "":
	case res.State == apply.Staged:
		// The message describes the request.
		asked = strings.TrimPrefix(res.Message, "would ")
	case (res.State == apply.Applied || res.State == apply.Adopted) && res.Object != nil && isAsAsked(res) && asked != "":
		// The request and the object are enough.
	default:
		if res.Object == nil && res.State == apply.Applied {
			asked = "" // the message is enough where there is no object
		}
		why = res.Message
	}
	var notes []string
	for _, n := range res.Notes {
		if n != "" {
			notes = append(notes, r.plain(n))
		}
	}
	return row{
		state: string(res.State), line: res.Line, kind: string(res.Kind), code: res.Code,
		asked: r.plain(asked), why: r.plain(why), notes: notes, obj: res.Object, file: res.File,
	}
}

// isAsAsked reports whether the object of a result can only be what the item asked for, so that the
// message adds nothing. An issue may stand in for a pull request, and a comment in the conversation
// for a comment on lines. A review may have that comment on its lines, or only in its body.
func isAsAsked(res apply.Result) bool {
	switch res.Kind {
	case safeoutput.KindCreatePullRequest:
		return res.Object.Type == "pull-request"
	case safeoutput.KindCreateReviewComment:
		return false
	}
	return res.Object.Type != "sarif" // the message says whether an upload was processed
}

// url returns the address of the row's object, "" if there is none.
func (r row) url() string {
	if r.obj == nil {
		return ""
	}
	return r.obj.URL
}

// reasons returns why, followed by the notes.
func (r row) reasons() []string {
	if r.why == "" {
		return r.notes
	}
	return append([]string{r.why}, r.notes...)
}

// maxShown is how many bytes of one text are shown. The JSON form contains all of it.
const maxShown = 1000

// plain makes a text safe to show, which masks secrets, and then cuts a long one.
func (r *Report) plain(s string) string {
	s = r.safe(s)
	if len(s) > maxShown {
		s = strings.ToValidUTF8(s[:maxShown], "") + "…"
	}
	return s
}

// notDone returns all items that were neither done nor only planned, the most severe first.
func (r *Report) notDone() []row {
	out := r.rows(apply.Failed)
	for _, rej := range r.Rejected {
		out = append(out, row{state: rejected, line: rej.Line, kind: string(rej.Kind), why: r.plain(strings.Join(reasons(rej), "; "))})
	}
	out = append(out, r.rows(apply.Denied)...)
	out = append(out, r.rows(apply.Skipped)...)
	for _, d := range r.Dropped {
		out = append(out, row{state: dropped, line: d.Line, kind: string(d.Kind), why: r.safe(dropReason(d))})
	}
	return out
}

// ownRows returns a row for each of ownResults.
func (r *Report) ownRows() []row {
	var out []row
	for _, res := range r.ownResults() {
		out = append(out, r.resultRow(res))
	}
	return out
}

// ownResults returns the results of Airlock's own items for which there was something to do.
func (r *Report) ownResults() []apply.Result {
	return slices.DeleteFunc(slices.Clone(r.Own), nothingToDo)
}

// nothingToDo reports whether there was nothing to do for an item of Airlock's own: no comment
// to create or to hide. Only the JSON form lists it.
func nothingToDo(res apply.Result) bool {
	return res.State == apply.Applied && res.Object == nil && len(res.Notes) == 0 &&
		(res.Kind == safeoutput.KindMinimiseComments || res.Kind == safeoutput.KindStickyComment)
}

// cleaned returns what intake and policy changed, one row for each item that they changed.
func (r *Report) cleaned() []row {
	var out []row
	for _, res := range slices.Concat(r.Results, r.collected) {
		if changes := r.changesOf(res); len(changes) > 0 {
			out = append(out, row{line: res.Line, kind: string(res.Kind), why: r.plain(strings.Join(changes, "; "))})
		}
	}
	return out
}

// changesOf describes what intake and policy changed about an item.
func (r *Report) changesOf(res apply.Result) []string {
	var changes []string
	add := func(what, field string, count int) {
		if field != "" {
			what += " in '" + field + "'"
		}
		if count > 1 {
			what += " (" + itoa(count) + " times)"
		}
		changes = append(changes, what)
	}
	for _, c := range res.Cleaned {
		what := c.Rule
		if c.Detail != "" {
			what += ": " + c.Detail
		}
		add(what, c.Field, c.Count)
	}
	for _, rep := range res.Repaired {
		add("repaired: "+rep.Kind, rep.Field, rep.Count)
	}
	return changes
}

// reasons returns the reasons why a line was rejected, each with its field. Line and kind are shown
// next to them.
func reasons(rej Rejected) []string {
	list := make([]string, len(rej.Violations))
	for i, v := range rej.Violations {
		v.Kind = ""
		list[i] = strings.TrimPrefix(v.String(), "Line "+itoa(v.Line)+": ")
	}
	return list
}

// dropReason returns the limit that an item exceeded, and how to raise it.
func dropReason(d Dropped) string {
	key := "max"
	if safeoutput.SpecOf(d.Kind).DefaultMaxLabels > 0 {
		key = "max-items" // max counts the labels of an item
	}
	return fmt.Sprintf("over the limit of %d for this kind; raise it with \"%s:\" below %s", d.Limit, key, d.Kind)
}

func itoa(n int) string { return strconv.Itoa(n) }
