package apply

import (
	"context"
	"fmt"
	"slices"

	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/text"
)

// maxIssueLabels is how many labels GitHub allows on one issue.
const maxIssueLabels = 100

// labelHandler applies add-issue-label. Adding a label twice does no harm, so it does not matter
// who has added one: only the labels themselves are read, and no trace of earlier runs.
var labelHandler = handler{
	needs: func(n *needs, e *entry) { n.labels.add(e.target.Number) },
	plan:  planLabels,
}

func planLabels(p *planner, group []*entry) Operation {
	e := group[0]
	want := e.item.(*safeoutput.AddIssueLabel).Labels
	number := e.target.Number
	op := p.operation(group, fmt.Sprintf("add the labels %s to %s", quoteAll(want), describeTarget(e.target)))
	op.Permissions = e.permissions()
	st, read := p.snap.labels[number]
	if st.err != nil {
		op.failAll(st.err, "")
		return op
	}
	// Ask also for labels that an earlier operation of this plan adds, because it may fail.
	add := missingNames(st.value, want)
	existing := p.labelsOn(number)
	more := slices.DeleteFunc(slices.Clone(add), func(l string) bool { return existing[text.FoldCase(l)] })
	switch {
	case len(add) == 0:
		e.decide(Adopted, "", "%s has these labels already", describeTarget(e.target)).Labels = st.value
		return op
	case read && len(existing)+len(more) > maxIssueLabels:
		e.decide(Failed, CodeTooManyLabels, "%s has %s, and %d more would exceed GitHub's limit of %d; remove some", describeTarget(e.target), text.Count(len(existing), "label"), len(more), maxIssueLabels)
		return op
	}
	for _, l := range more {
		existing[text.FoldCase(l)] = true
	}
	op.Notes = append(op.Notes, "a label that the repository does not have is created")
	if e.target.IsPull {
		op.Notes[0] += ", which takes the permission issues: write"
	}
	op.Requests = []Request{newRequest("POST", p.path(fmt.Sprintf("/issues/%d/labels", number)), struct {
		Labels []string `json:"labels"`
	}{add})}
	op.work = &labelWork{number: number, add: add, want: want}
	return op
}

// labelsOn returns the labels of an issue in lower case, including those that the plan adds
// so far.
func (p *planner) labelsOn(number int) map[string]bool {
	on := p.labels[number]
	if on == nil {
		on = map[string]bool{}
		for _, l := range p.snap.labels[number].value {
			on[text.FoldCase(l)] = true
		}
		p.labels[number] = on
	}
	return on
}

// labelWork adds labels and checks that the issue then has all that were wanted.
type labelWork struct {
	number    int
	add, want []string
}

func (w *labelWork) execute(ctx context.Context, x *executor, op *Operation) []Result {
	e := op.entries[0]
	labels, err := idempotentAnswer(ctx, x, func(ctx context.Context) ([]string, error) {
		return x.deps.GitHub.AddLabels(ctx, x.repo, w.number, w.add)
	})
	if err != nil {
		r := x.failed(op, e, err)
		if r.Code == CodeNoPermission && e.target.IsPull {
			r.Message += "; a label that the repository does not have is created, which takes issues: write"
		}
		return []Result{r}
	}
	if missing := missingNames(labels, w.want); len(missing) > 0 {
		// The answer may not show the write yet: ask again.
		if again, err := x.deps.GitHub.ListLabelsOfIssue(ctx, x.repo, w.number); err == nil {
			labels, missing = again, missingNames(again, w.want)
		}
		if len(missing) > 0 {
			r := e.result(Failed, CodeNotTaken, "GitHub accepted the request, but these labels are not on %s: %s; look there whether something else removes them, and run the job again", describeTarget(e.target), quoteAll(missing))
			r.Labels = labels
			return []Result{r}
		}
	}
	r := e.result(Applied, "", "added %s to %s", quoteAll(w.add), describeTarget(e.target))
	r.Labels = labels
	r.Object = &Object{Type: objLabels, Number: w.number}
	return []Result{r}
}
