package apply

import (
	"slices"

	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// fallback is the text of an item that GitHub did not take, for those who show
// it by other means; nil for kinds without one.
func (e *entry) fallback() *Fallback {
	f := &Fallback{To: ToSummary, Title: string(e.kind) + " " + targetWords(e.target)}
	switch it := e.item.(type) {
	case *safeoutput.CreateIssue:
		f.Title, f.Text = it.Title, it.Body
	case *safeoutput.CreateDiscussion:
		f.Title, f.Text = it.Title, it.Body
	case *safeoutput.AddIssueComment:
		f.Text = it.Body
	case *safeoutput.StickyComment:
		f.Title, f.Text = it.Name, it.Body
	case *safeoutput.CreateReviewComment:
		return &Fallback{To: ToAnnotation, Path: it.Path, StartLine: it.StartLine, Line: it.Line,
			Title: it.Path + ", " + linesOf(it), Text: it.Body}
	case *safeoutput.UpdateIssue:
		if it.Body == nil {
			return nil
		}
		f.Text = *it.Body
	default:
		return nil
	}
	return f
}

// account adds to a result what the doors changed about the item, so that
// whoever reads about it knows.
func (e *entry) account(r *Result) {
	for _, n := range e.approved.Notes() {
		r.Notes = append(slices.Clone(r.Notes), n.Message)
	}
	if e.approved.Item() == nil {
		return
	}
	doors := e.approved.Accepted().Notes()
	for _, c := range doors.Redactions {
		r.Cleaned = append(r.Cleaned, Cleaning{Field: c.Field, Rule: c.Rule, Detail: c.Detail, Count: c.Count})
	}
	for _, m := range doors.Repairs {
		r.Repaired = append(r.Repaired, Repair{Kind: m.Kind, Field: m.Field, Count: m.Count})
	}
	if len(doors.UnknownFields) > 0 {
		r.Notes = append(slices.Clone(r.Notes), "fields that the kind does not have were left out: "+quoted(doors.UnknownFields))
	}
	if len(doors.DroppedLabels) > 0 {
		r.Notes = append(slices.Clone(r.Notes), "labels beyond the limit were left out: "+quoted(doors.DroppedLabels))
	}
}
