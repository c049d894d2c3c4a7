package apply

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// maxIssueLabels is how many labels GitHub allows on one issue.
const maxIssueLabels = 100

// labelHandler applies add-issue-label. Labels are idempotent by nature, so
// nothing is looked for but the labels that are there.
func labelHandler() handler {
	return handler{
		needs: func(n *needs, e *entry) { n.labels.add(e.target.Number) },
		plan:  planLabels,
	}
}

func planLabels(p *planner, group []*entry) Operation {
	e := group[0]
	want := e.item.(*safeoutput.AddIssueLabel).Labels
	number := e.target.Number
	op := p.operation(group, fmt.Sprintf("add the labels %s to %s", quoted(want), targetWords(e.target)))
	op.Permissions = e.permissions()
	st, read := p.snap.labels[number]
	if st.err != nil {
		code, message := failure(st.err, op.Permissions)
		e.decide(Failed, code, "%s", message)
		return op
	}
	there := p.labelsOn(number)
	add := slices.DeleteFunc(slices.Clone(want), func(l string) bool { return there[strings.ToLower(l)] })
	switch {
	case len(add) == 0 && missingLabels(st.names, want) == nil:
		e.decide(Adopted, "", "%s has these labels already", targetWords(e.target))
		e.decided.Labels = st.names
		return op
	case len(add) == 0: // an earlier operation of this plan adds them
		add = want
	case read && len(there)+len(add) > maxIssueLabels:
		e.decide(Failed, CodeTooManyLabels, "%s has %d labels, and %d more would pass GitHub's limit of %d; remove some", targetWords(e.target), len(there), len(add), maxIssueLabels)
		return op
	}
	for _, l := range add {
		there[strings.ToLower(l)] = true
	}
	op.Notes = append(op.Notes, "a label that the repository does not have is created")
	if e.target.IsPull {
		op.Notes[0] += ", which takes the permission issues: write"
	}
	op.Requests = []Request{newRequest("POST", p.path(fmt.Sprintf("/issues/%d/labels", number)), struct {
		Labels []string `json:"labels"`
	}{add})}
	op.work = &labelWork{repo: p.repo, number: number, add: add, want: want}
	return op
}

// labelsOn returns the labels of an issue, in lower case, with those that the
// plan adds so far.
func (p *planner) labelsOn(number int) map[string]bool {
	on := p.labels[number]
	if on == nil {
		on = map[string]bool{}
		for _, l := range p.snap.labels[number].names {
			on[strings.ToLower(l)] = true
		}
		p.labels[number] = on
	}
	return on
}

// labelWork adds labels and reads back whether they are there.
type labelWork struct {
	repo      githubapi.Repo
	number    int
	add, want []string
}

func (w *labelWork) execute(ctx context.Context, x *executor, op *Operation) []Result {
	e := op.entries[0]
	var have []string
	err := x.idempotent(ctx, func(ctx context.Context) (err error) {
		have, err = x.deps.GitHub.AddLabels(ctx, w.repo, w.number, w.add)
		return err
	})
	if err != nil {
		r := x.failed(op, e, err)
		if r.Code == CodeNoPermission && e.target.IsPull {
			r.Message += "; a label that the repository does not have is created, which takes issues: write"
		}
		return []Result{r}
	}
	if missing := missingLabels(have, w.want); len(missing) > 0 {
		// The answer to a write may lag behind it: ask once more.
		have = nil
		err := each(x.deps.GitHub.ListLabelsOfIssue(ctx, w.repo, w.number), func(l string) { have = append(have, l) })
		if missing = missingLabels(have, w.want); err != nil || len(missing) > 0 {
			r := e.result(Failed, CodeNotTaken, "GitHub accepted the request, but these labels are not on %s: %s; look there whether something else removes them, and run the job again", targetWords(e.target), quoted(missing))
			r.Labels = have
			return []Result{r}
		}
	}
	r := e.result(Applied, "", "added %s to %s", quoted(w.add), targetWords(e.target))
	r.Labels = have
	r.Object = &Object{Type: objLabels, Number: w.number}
	return []Result{r}
}
