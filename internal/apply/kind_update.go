package apply

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/markdown"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// updateIssueHandler applies update-issue. A field that has the wanted value already is left
// alone, and so is one that somebody else has edited since the workflow run started, unless
// the item only adds to it.
var updateIssueHandler = handler{
	text:  true,
	needs: func(n *needs, e *entry) { n.issues.add(e.target.Number) },
	plan:  planUpdate,
}

func planUpdate(p *planner, group []*entry) Operation {
	e := group[0]
	it := e.item.(*safeoutput.UpdateIssue)
	op := p.operation(group, fmt.Sprintf("change %s of %s", strings.Join(updateFields(it), ", "), describeTarget(e.target)))
	op.Permissions = e.permissions()
	read := p.snap.issues[e.target.Number]
	if read.err != nil {
		op.failAll(read.err, "")
		return op
	}
	st := read.value
	if st.issue.IsPull {
		e.decide(Denied, policy.RuleTargetKind, "#%d is a pull request, and update-issue acts only on issues", e.target.Number)
		return op
	}
	current, changed := p.edited[e.target.Number]
	if !changed {
		current = st.issue
	}
	wanted, add, err := p.wantedEdit(&op, e, it, current)
	if err != nil {
		e.decide(Failed, err.code, "%s", err.message)
		return op
	}
	askAgain(&wanted, e, it, st.issue, current)
	edit, skipped := leaveAlone(wanted, add.undone(st.edits))
	op.Notes = append(op.Notes, skipped...)
	if edit == (githubapi.IssueEdit{}) {
		if len(skipped) > 0 {
			e.decide(Skipped, CodeEditedMeanwhile, editedMeanwhile, strings.Join(skipped, "; "))
			return op
		}
		e.adopt(issueObject(st.issue), describeTarget(e.target)+" is as requested already")
		return op
	}
	op.Requests = []Request{newRequest("PATCH", p.path(fmt.Sprintf("/issues/%d", e.target.Number)), struct {
		Title *string `json:"title,omitempty"`
		Body  *string `json:"body,omitempty"`
		State *string `json:"state,omitempty"`
	}{edit.Title, edit.Body, edit.State})}
	op.work = &updateWork{number: e.target.Number, edit: edit, add: add, notes: skipped, since: st.since}
	p.edited[e.target.Number] = withEdit(current, edit)
	return op
}

// askAgain adds to an edit the fields that have the wanted value only because earlier operations of
// the plan change them: those may fail. The parameters before and current are the issue at the start
// and after these operations.
func askAgain(edit *githubapi.IssueEdit, e *entry, it *safeoutput.UpdateIssue, before, current githubapi.Issue) {
	if it.Status != nil && edit.State == nil && current.State != before.State {
		edit.State = &current.State
	}
	if it.Title != nil && edit.Title == nil && current.Title != before.Title {
		edit.Title = &current.Title
	}
	if it.Body != nil && edit.Body == nil && current.Body != before.Body && !hasMarker(before.Body, e.key) {
		edit.Body = &current.Body
	}
}

// withEdit returns an issue as an edit leaves it.
func withEdit(is githubapi.Issue, edit githubapi.IssueEdit) githubapi.Issue {
	is.State = *cmp.Or(edit.State, &is.State)
	is.Title = *cmp.Or(edit.Title, &is.Title)
	is.Body = *cmp.Or(edit.Body, &is.Body)
	return is
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
		switch it.Operation {
		case safeoutput.OperationAppend, safeoutput.OperationPrepend:
			f = append(f, "body ("+it.Operation+")")
		case safeoutput.OperationReplaceIsland:
			f = append(f, "this workflow's part of the body")
		default:
			f = append(f, "body")
		}
	}
	return f
}

// editedMeanwhile is the message of an item all of whose fields were left alone.
const editedMeanwhile = "nothing was changed: %s"

// wantedEdit returns an edit of the fields that do not have the wanted value already, and the
// addition to the body. The addition is nil if nothing is added or the entire body is replaced.
func (p *planner) wantedEdit(op *Operation, e *entry, it *safeoutput.UpdateIssue, is githubapi.Issue) (edit githubapi.IssueEdit, add *addition, problem *bodyError) {
	known := p.snap.connected
	if it.Status != nil && (!known || is.State != *it.Status) {
		edit.State = it.Status
	}
	if it.Title != nil {
		if title := p.cfg.title(*it.Title); !known || is.Title != title {
			edit.Title = &title
		}
	}
	switch {
	case it.Body == nil:
	case it.Operation == "" && hasMarker(is.Body, e.key): // the item was applied; what others have added since stays
	case it.Operation == "":
		body, cut := p.cfg.unclaimed().body(p.leadText()+*it.Body, p.cfg.footer(e.settings.Footer), markerToKeep(is, p.snap.viewer.Actor, e.key))
		if !known || !sameText(is.Body, body) {
			op.noteCut(cut)
			edit.Body = &body
		}
	default:
		var cut bool
		add, cut = p.addition(e, it)
		current := is.Body
		if !known {
			current = "<the issue's text>"
		}
		body, err := add.addTo(current, sameAccount(is.Author, p.snap.viewer.Actor))
		if errors.As(err, &problem) {
			return edit, add, problem
		}
		if body != current {
			op.noteCut(cut)
			edit.Body = &body
		}
	}
	return edit, add, nil
}

// leaveAlone removes from an edit the fields that the edits by others have changed. skipped
// describes them.
func leaveAlone(edit githubapi.IssueEdit, editsByOthers []githubapi.Edit) (rest githubapi.IssueEdit, skipped []string) {
	last := map[string]githubapi.Edit{}
	for _, ed := range editsByOthers {
		last[ed.Field] = ed
	}
	for _, f := range []struct {
		field, name string
		value       **string
	}{
		{githubapi.EditState, "status", &edit.State},
		{githubapi.EditTitle, "title", &edit.Title},
		{githubapi.EditBody, "body", &edit.Body},
	} {
		ed, edited := last[f.field]
		if *f.value == nil || !edited {
			continue
		}
		skipped = append(skipped, fmt.Sprintf("%s changed the %s at %s, after the workflow run started", cmp.Or(ed.Editor.Login, "somebody"), f.name, ed.At.UTC().Format("15:04:05 MST")))
		*f.value = nil
	}
	return edit, skipped
}

// byOthers returns the edits after the time since that are not ours. It reuses the array of edits.
func byOthers(edits []githubapi.Edit, since time.Time, viewer githubapi.Actor) []githubapi.Edit {
	return slices.DeleteFunc(edits, func(e githubapi.Edit) bool {
		return !e.At.After(since) || sameAccount(e.Editor, viewer)
	})
}

// markerToKeep returns the marker for a replaced body: key or, if we created the issue, the issue's
// own marker. Without its own marker, a re-run of the workflow that created the issue would create
// it again.
func markerToKeep(i githubapi.Issue, viewer githubapi.Actor, key string) string {
	if old, ok := markdown.LastLineMarker(i.Body); ok && sameAccount(i.Author, viewer) {
		return old
	}
	return key
}

// updateWork edits an issue and checks in GitHub's answer that the edit took effect.
type updateWork struct {
	number int
	edit   githubapi.IssueEdit
	add    *addition // is put into the issue's newest body; nil where edit replaces the body
	notes  []string
	since  time.Time // edits by others count from then on; zero if nothing was observed
}

func (w *updateWork) execute(ctx context.Context, x *executor, op *Operation) []Result {
	e := op.entries[0]
	edit, skipped, err := w.recheck(ctx, x)
	if err != nil {
		return []Result{x.failed(op, e, err)}
	}
	if edit == (githubapi.IssueEdit{}) {
		return []Result{e.result(Skipped, CodeEditedMeanwhile, editedMeanwhile, strings.Join(skipped, "; "))}
	}
	wrote := false
	got, err := idempotentAnswer(ctx, x, func(ctx context.Context) (githubapi.Issue, error) {
		is, err := w.renew(ctx, x, &edit)
		if err != nil || edit == (githubapi.IssueEdit{}) {
			return is, err
		}
		wrote = true
		return x.deps.GitHub.EditIssue(ctx, x.repo, w.number, edit)
	})
	var problem *bodyError
	switch {
	case errors.As(err, &problem):
		return []Result{e.result(Failed, problem.code, "%s", problem.message)}
	case err != nil:
		return []Result{x.failed(op, e, err)}
	case !wrote:
		obj := issueObject(got)
		r := e.result(Adopted, "", "%s is as requested already", describeTarget(e.target))
		r.Object, r.Notes = &obj, skipped
		return []Result{r}
	}
	obj := issueObject(got)
	if fields := unchangedFields(edit, got); len(fields) > 0 {
		r := e.result(Failed, CodeNotTaken, "GitHub accepted the request, but did not change the %s of %s; look there whether something else changes it back, and run the job again", strings.Join(fields, ", "), describeTarget(e.target))
		r.Object = &obj
		return []Result{r}
	}
	r := e.result(Applied, "", "updated %s", describeTarget(e.target))
	r.Object, r.Notes = &obj, skipped
	return []Result{r}
}

// unchangedFields names the fields of an edit that an issue does not have.
func unchangedFields(edit githubapi.IssueEdit, got githubapi.Issue) (fields []string) {
	if edit.State != nil && got.State != *edit.State {
		fields = append(fields, "status")
	}
	if edit.Title != nil && strings.TrimSpace(got.Title) != strings.TrimSpace(*edit.Title) {
		fields = append(fields, "title")
	}
	if edit.Body != nil && !sameText(got.Body, *edit.Body) {
		fields = append(fields, "body")
	}
	return fields
}

// renew puts the addition into the issue's newest body and makes that the body of the edit. If
// the addition is in the newest body already, the edit gets no body. An edit that replaces the
// body stays as it is.
func (w *updateWork) renew(ctx context.Context, x *executor, edit *githubapi.IssueEdit) (githubapi.Issue, error) {
	if w.add == nil || edit.Body == nil {
		return githubapi.Issue{}, nil
	}
	is, err := x.deps.GitHub.GetIssue(ctx, x.repo, w.number)
	if err != nil {
		return is, err
	}
	body, err := w.add.addTo(is.Body, sameAccount(is.Author, x.plan.snap.viewer.Actor))
	edit.Body = nil
	if body != is.Body {
		edit.Body = &body
	}
	return is, err
}

// recheck reads the history again, because the items before this one may have taken minutes since
// it was observed. It returns what is left of the edit, and describes all that was left alone.
func (w *updateWork) recheck(ctx context.Context, x *executor) (edit githubapi.IssueEdit, skipped []string, err error) {
	since := w.since
	if since.IsZero() {
		since = started(x.plan.config.Run, x.plan.ev, x.deps.Clock.Now())
	}
	edits, err := x.deps.GitHub.IssueEdits(ctx, x.repo, w.number, since)
	if err != nil {
		return githubapi.IssueEdit{}, nil, err
	}
	edit, skipped = leaveAlone(w.edit, w.add.undone(byOthers(edits, since, x.plan.snap.viewer.Actor)))
	return edit, slices.Concat(w.notes, skipped), nil
}
