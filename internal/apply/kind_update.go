package apply

import (
	"context"
	"fmt"
	"strings"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/markdown"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// updateIssueHandler applies update-issue. A field that holds the wanted value
// already is left alone, and so is one that somebody else has edited since the
// workflow run started.
func updateIssueHandler() handler {
	return handler{
		needs: func(n *needs, e *entry) { n.issues.add(e.target.Number) },
		plan:  planUpdate,
	}
}

func planUpdate(p *planner, group []*entry) Operation {
	e := group[0]
	it := e.item.(*safeoutput.UpdateIssue)
	op := p.operation(group, fmt.Sprintf("change %s of %s", strings.Join(updateFields(it), ", "), targetWords(e.target)))
	op.Permissions = write(permIssues)
	st, read := p.snap.issues[e.target.Number]
	if st.err != nil {
		code, message := failure(st.err, op.Permissions)
		e.decide(Failed, code, "%s", message)
		return op
	}
	if read && st.issue.IsPull {
		e.decide(Denied, policy.RuleTargetKind, "#%d is a pull request, and update-issue acts only on issues", e.target.Number)
		return op
	}
	edit, skipped := p.edit(&op, e, it, st)
	op.Notes = append(op.Notes, skipped...)
	if edit == (githubapi.IssueEdit{}) {
		if len(skipped) > 0 {
			e.decide(Skipped, CodeEditedMeanwhile, "nothing was changed: %s", strings.Join(skipped, "; "))
			return op
		}
		e.decide(Adopted, "", "%s is as it was asked for already", targetWords(e.target))
		obj := issueObject(st.issue)
		e.decided.Object = &obj
		return op
	}
	op.Requests = []Request{newRequest("PATCH", p.path(fmt.Sprintf("/issues/%d", e.target.Number)), struct {
		Title *string `json:"title,omitempty"`
		Body  *string `json:"body,omitempty"`
		State *string `json:"state,omitempty"`
	}{edit.Title, edit.Body, edit.State})}
	op.work = &updateWork{repo: p.repo, number: e.target.Number, edit: edit, notes: skipped}
	return op
}

// updateFields names the fields that an item wants to change.
func updateFields(it *safeoutput.UpdateIssue) []string {
	var f []string
	if it.Status != nil {
		f = append(f, "status")
	}
	if it.Title != nil {
		f = append(f, "title")
	}
	if it.Body != nil {
		f = append(f, "body")
	}
	return f
}

// edit decides which fields to send, and says which ones it leaves alone.
func (p *planner) edit(op *Operation, e *entry, it *safeoutput.UpdateIssue, st issueState) (edit githubapi.IssueEdit, skipped []string) {
	by := map[string]githubapi.Edit{}
	for _, ed := range st.edits {
		by[ed.Field] = ed
	}
	free := func(field, name string) bool {
		ed, edited := by[field]
		if edited {
			who := ed.Editor.Login
			if who == "" {
				who = "somebody"
			}
			skipped = append(skipped, fmt.Sprintf("%s changed the %s at %s, after the workflow run started", who, name, ed.At.UTC().Format("15:04:05 MST")))
		}
		return !edited
	}
	known := p.snap.connected
	if it.Status != nil && !(known && st.issue.State == *it.Status) && free(githubapi.EditState, "status") {
		edit.State = it.Status
	}
	if it.Title != nil {
		title := p.cfg.title(*it.Title)
		if !(known && st.issue.Title == title) && free(githubapi.EditTitle, "title") {
			edit.Title = &title
		}
	}
	if it.Body != nil {
		key := markerToKeep(st.issue, p.snap.viewer, e.key)
		body, cut := p.cfg.body(*it.Body, p.cfg.footer(e.settings.Footer), key)
		if !(known && sameText(st.issue.Body, body)) && free(githubapi.EditBody, "body") {
			op.noteCut(cut)
			edit.Body = &body
		}
	}
	return edit, skipped
}

// markerToKeep returns the key to put below a replaced body: the one that is
// there if it is ours, or a re-run of what created the issue would create it again.
func markerToKeep(i githubapi.Issue, viewer githubapi.Actor, key string) string {
	if old, ok := markdown.LastLineMarker(i.Body); ok && i.Author.DatabaseID == viewer.DatabaseID && viewer.DatabaseID != 0 {
		return old
	}
	return key
}

// sameText compares bodies as GitHub keeps them: it may trim them and change
// line ends.
func sameText(a, b string) bool {
	norm := func(s string) string { return strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")) }
	return norm(a) == norm(b)
}

// updateWork edits an issue and reads back whether the edit took.
type updateWork struct {
	repo   githubapi.Repo
	number int
	edit   githubapi.IssueEdit
	notes  []string
}

func (w *updateWork) execute(ctx context.Context, x *executor, op *Operation) []Result {
	e := op.entries[0]
	var got githubapi.Issue
	err := x.idempotent(ctx, func(ctx context.Context) (err error) {
		got, err = x.w.GitHub.EditIssue(ctx, w.repo, w.number, w.edit)
		return err
	})
	if err != nil {
		return []Result{x.failed(op, e, err)}
	}
	var not []string
	if w.edit.State != nil && got.State != *w.edit.State {
		not = append(not, "status")
	}
	if w.edit.Title != nil && strings.TrimSpace(got.Title) != strings.TrimSpace(*w.edit.Title) {
		not = append(not, "title")
	}
	if w.edit.Body != nil && !sameText(got.Body, *w.edit.Body) {
		not = append(not, "body")
	}
	obj := issueObject(got)
	if len(not) > 0 {
		r := e.result(Failed, CodeNotTaken, "GitHub accepted the request, but did not change the %s of %s; look there whether something else changes it back, and run the job again", strings.Join(not, ", "), targetWords(e.target))
		r.Object = &obj
		return []Result{r}
	}
	r := e.result(Applied, "", "updated %s", targetWords(e.target))
	r.Object, r.Notes = &obj, w.notes
	return []Result{r}
}
