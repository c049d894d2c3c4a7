package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-airlock/airlock/internal/apply"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// row is one item as every reader sees it: the summary, the terminal and the
// annotations choose from it, so that they cannot disagree.
type row struct {
	state string
	line  int
	kind  string
	asked string   // what it asks for, in plain text
	why   string   // why it ended so, and what to do, in plain text
	notes []string // what else a person should know
	code  string
	obj   *apply.Object
	file  string
}

// The states that only the first door gives.
const (
	rejected = "rejected"
	dropped  = "dropped"
)

// rows returns the results in one of the states, in their order.
func (r *Report) rows(states ...apply.State) []row {
	var out []row
	for _, res := range r.Results {
		for _, s := range states {
			if res.State == s {
				out = append(out, r.resultRow(res))
			}
		}
	}
	return out
}

func (r *Report) resultRow(res apply.Result) row {
	asked, why := r.asked[res.Index], ""
	switch {
	case res.Message == "":
	case res.State == apply.Staged:
		// What would be done is what was asked for, in other words.
		asked = strings.TrimPrefix(res.Message, "would ")
	case (res.State == apply.Applied || res.State == apply.Adopted) && res.Object != nil && res.Object.Type != "sarif" && asked != "":
		// The request and the object say it.
	default:
		if res.Object == nil && res.State == apply.Applied {
			asked = "" // of what leaves no object, the message is all that there is
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

// because is why, then the notes.
func (r row) because() []string {
	if r.why == "" {
		return r.notes
	}
	return append([]string{r.why}, r.notes...)
}

// maxShown is how many bytes of one text are shown; the JSON form holds all of it.
const maxShown = 1000

// plain makes a text fit to be shown, with the invisible character that cleaning
// puts into mentions as itself where a text has it written out. A long text is cut.
func (r *Report) plain(s string) string {
	if len(s) > maxShown {
		s = strings.ToValidUTF8(s[:maxShown], "") + "…"
	}
	return r.words(strings.NewReplacer("&#8203;", "\u200b", `\u200b`, "\u200b").Replace(s))
}

// notDone returns everything that was neither done nor only planned, the worst
// first.
func (r *Report) notDone() []row {
	out := r.rows(apply.Failed)
	for _, rej := range r.Rejected {
		out = append(out, row{state: rejected, line: rej.Line, kind: string(rej.Kind), why: r.plain(rejection(rej))})
	}
	out = append(out, r.rows(apply.Denied)...)
	out = append(out, r.rows(apply.Skipped)...)
	for _, d := range r.Dropped {
		out = append(out, row{state: dropped, line: d.Line, kind: string(d.Kind), why: r.words(dropReason(d))})
	}
	return out
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

// cleaned returns what the doors changed, one row an item.
func (r *Report) cleaned() []row {
	var out []row
	for _, res := range slices.Concat(r.Results, r.collected) {
		var why string
		add := func(s string) {
			if why != "" {
				why += "; "
			}
			why += s
		}
		for _, c := range res.Cleaned {
			s := c.Rule
			if c.Detail != "" {
				s += ": " + c.Detail
			}
			if c.Field != "" {
				s += " in '" + c.Field + "'"
			}
			add(s + times(c.Count))
		}
		for _, rep := range res.Repaired {
			s := "repaired: " + rep.Kind
			if rep.Field != "" {
				s += " in '" + rep.Field + "'"
			}
			add(s + times(rep.Count))
		}
		if why != "" {
			out = append(out, row{line: res.Line, kind: string(res.Kind), why: r.plain(why)})
		}
	}
	return out
}

// rejection joins the reasons for which a line was refused, each naming its field.
func rejection(rej Rejected) string {
	reasons := make([]string, len(rej.Violations))
	for i, v := range rej.Violations {
		v.Kind = "" // stands in a column of its own
		_, reasons[i], _ = strings.Cut(v.String(), ": ")
	}
	return strings.Join(reasons, "; ")
}

// dropReason says which limit an item was over, and how to raise it.
func dropReason(d Dropped) string {
	key := "max"
	if safeoutput.SpecOf(d.Kind).DefaultMaxLabels > 0 {
		key = "max-items" // max counts the labels of an item
	}
	return fmt.Sprintf("over the limit of %d for this kind; raise it with \"%s:\" below %s", d.Limit, key, d.Kind)
}

func times(n int) string {
	if n < 2 {
		return ""
	}
	return " (" + itoa(n) + " times)"
}

func itoa(n int) string { return strconv.Itoa(n) }
