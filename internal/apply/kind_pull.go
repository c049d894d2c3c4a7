package apply

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/markdown"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// pullHandler applies create-pull-request: the changes on a branch, and one pull
// request for it. A later run of the same workflow updates both.
func pullHandler() handler {
	return handler{
		needs: needCode,
		plan:  planPull,
	}
}

// needCode adds what an item that carries code needs: its changes and who we are,
// which the commits name.
func needCode(n *needs, e *entry) {
	n.code = append(n.code, e)
	if e.settings.Changes.FallbackIssue || e.settings.Changes.OnViolation != "" {
		n.list(listIssues, 0)
	}
}

func planPull(p *planner, group []*entry) Operation {
	e := group[0]
	it := e.item.(*safeoutput.CreatePullRequest)
	title, _ := startable(p.cfg.title(it.Title)) // which becomes a commit's when it is merged
	op := p.operation(group, fmt.Sprintf("open the pull request %q", shorten(title, 80)))
	op.Permissions = e.permissions()
	st := p.snap.code[e.index]
	if st == nil {
		e.decide(Failed, CodeNoClone, "the changes were not read")
		return op
	}
	op.Notes = append(op.Notes, st.notes...)
	if st.refusal != nil {
		return p.refusedCode(op, e, st)
	}
	op.Target = fmt.Sprintf("branch %s", st.branch)
	w := &pullWork{p: p, e: e, st: st, title: title, labels: it.Labels, reviewers: e.settings.Changes.Reviewers, draft: it.Draft == nil || *it.Draft}
	w.body, w.cut = w.text(it.Body)
	op.noteCut(w.cut)
	op.Requests = append(p.pushRequests(e, st), w.requests()...)
	if st.pull != nil {
		op.Summary = fmt.Sprintf("update pull request #%d %q", st.pull.Number, shorten(title, 80))
	}
	op.work = w
	return op
}

// pullWork pushes the branch and opens or updates its pull request.
type pullWork struct {
	p                 *planner
	e                 *entry
	st                *codeState
	title, body       string
	labels, reviewers []string
	draft, cut        bool
}

// text composes the body. Its marker says which text it is the marker of, so that
// a later run knows whether somebody has edited title or text since.
func (w *pullWork) text(text string) (body string, cut bool) {
	footer := w.p.cfg.footer(w.e.settings.Footer)
	body, cut = w.p.cfg.body(w.p.incompleteNote()+text, footer, w.e.key)
	return body[:strings.LastIndex(body, markdown.Marker(w.e.key))] + markdown.Marker(pullKey(w.e.key, w.title, body)), cut
}

// pullKey is the key in a pull request's marker: the item's, and 16 digits of the
// SHA-256 of title and text.
func pullKey(key, title, body string) string {
	h := sha256.New()
	writeField(h, title)
	writeField(h, strings.TrimSpace(markdown.StripMarkers(body)))
	return key + hex.EncodeToString(h.Sum(nil))[:16]
}

// untouched reports whether title and text of a pull request are as we wrote them.
func untouched(p githubapi.Pull) bool {
	key, ok := markdown.LastLineMarker(p.Body)
	return ok && len(key) > keyLen && pullKey(key[:keyLen], p.Title, strings.ReplaceAll(p.Body, "\r\n", "\n")) == key
}

// edit is what an open pull request lacks of the item's title and text; zero where
// nothing is to be changed.
func (w *pullWork) edit() (edit githubapi.PullEdit, note string) {
	is := w.st.pull
	switch {
	case is.Title == w.title && sameText(markdown.StripMarkers(is.Body), markdown.StripMarkers(w.body)):
		return edit, ""
	case !untouched(*is):
		return edit, "title and text of the pull request were left alone, since somebody has edited them"
	}
	return githubapi.PullEdit{Title: &w.title, Body: &w.body}, ""
}

// requests are the writes after the push, as they are expected.
func (w *pullWork) requests() []Request {
	number := "<number>"
	var reqs []Request
	if w.st.pull == nil {
		reqs = append(reqs, newRequest("POST", w.p.path("/pulls"), struct {
			Title string `json:"title"`
			Body  string `json:"body"`
			Head  string `json:"head"`
			Base  string `json:"base"`
			Draft bool   `json:"draft"`
		}{w.title, w.body, w.st.branch, w.st.base, w.draft}))
	} else {
		number = fmt.Sprint(w.st.pull.Number)
		if edit, _ := w.edit(); edit != (githubapi.PullEdit{}) {
			reqs = append(reqs, newRequest("PATCH", w.p.path("/pulls/"+number), map[string]string{"title": w.title, "body": w.body}))
		}
	}
	if labels := w.lackingLabels(); len(labels) > 0 {
		reqs = append(reqs, newRequest("POST", w.p.path("/issues/"+number+"/labels"), map[string][]string{"labels": labels}))
	}
	if who := w.lackingReviewers(); len(who) > 0 {
		users, teams := githubapi.SplitReviewers(who)
		reqs = append(reqs, newRequest("POST", w.p.path("/pulls/"+number+"/requested_reviewers"), struct {
			Users []string `json:"reviewers,omitempty"`
			Teams []string `json:"team_reviewers,omitempty"`
		}{users, teams}))
	}
	return reqs
}

// lackingLabels are the labels that the pull request does not have yet.
func (w *pullWork) lackingLabels() []string {
	if w.st.pull == nil {
		return w.labels
	}
	return missingLabels(w.st.pull.Labels, w.labels)
}

// lackingReviewers are those who were not asked yet. They are asked once, for a new
// pull request; an earlier attempt that opened it may not have come to it.
func (w *pullWork) lackingReviewers() []string {
	is := w.st.pull
	if is == nil {
		return w.reviewers
	}
	key, _ := markdown.LastLineMarker(is.Body)
	if w.p.cfg.Run.Attempt <= 1 || !strings.HasPrefix(key, w.e.key) {
		return nil
	}
	return missingNames(is.Reviewers, w.reviewers)
}

func (w *pullWork) execute(ctx context.Context, x *executor, op *Operation) []Result {
	tip := w.st.tip()
	if !w.st.pushed {
		var err error
		if tip, err = x.deliver(ctx, w.e, w.st); err != nil {
			return []Result{x.failedPush(op, w.e, w.st, tip, err)}
		}
	}
	if w.st.pull != nil {
		return []Result{w.update(ctx, x, op, tip)}
	}
	pull, state, err := w.open(ctx, x)
	if err != nil {
		return []Result{w.unopened(ctx, x, op, tip, err)}
	}
	r := w.e.result(state, "", "opened pull request #%d from the branch %q", pull.Number, w.st.branch)
	if state == Adopted {
		r.Message = fmt.Sprintf("pull request #%d from the branch %q was open already", pull.Number, w.st.branch)
	}
	w.finish(ctx, x, &r, pull, tip)
	return []Result{r}
}

// open opens the pull request. GitHub opens no second one between the same
// branches, so that after an answer that was lost it is simply tried again.
func (w *pullWork) open(ctx context.Context, x *executor) (pull githubapi.Pull, state State, err error) {
	n := githubapi.NewPull{Title: w.title, Body: w.body, Head: w.st.branch, Base: w.st.base, Draft: w.draft}
	state = Applied
	create := func(ctx context.Context) (err error) {
		pull, err = x.deps.GitHub.CreatePull(ctx, x.repo, n)
		return err
	}
	err = x.idempotent(ctx, create)
	if feature(err) == githubapi.FeatureDrafts && w.e.settings.Changes.Draft == nil {
		n.Draft = false
		err = x.idempotent(ctx, create)
	}
	if isKind(err, githubapi.Conflict) {
		if there, ok := x.openPull(ctx, w.st.branch, w.st.base); ok {
			if !untouched(there) {
				state = Adopted
			}
			return there, state, nil
		}
	}
	return pull, state, err
}

// openPull finds the open pull request of a branch, which GitHub may list late.
func (x *executor) openPull(ctx context.Context, branch, base string) (found githubapi.Pull, ok bool) {
	look := func() {
		rctx, done := inFlight(ctx, lookGrace)
		defer done()
		f := githubapi.PullFilter{State: "open", Head: x.repo.Owner + ":" + branch, Base: base}
		_ = each(x.deps.GitHub.ListPulls(rctx, x.repo, f), func(p githubapi.Pull) { found, ok = p, true })
	}
	look()
	for _, wait := range lookWaits() {
		if ok || x.deps.Clock.Sleep(ctx, wait) != nil {
			break
		}
		look()
	}
	return found, ok
}

// update brings title and text of an open pull request up to date.
func (w *pullWork) update(ctx context.Context, x *executor, op *Operation, tip string) Result {
	pull := *w.st.pull
	edit, note := w.edit()
	if edit != (githubapi.PullEdit{}) {
		err := x.idempotent(ctx, func(ctx context.Context) (err error) {
			pull, err = x.deps.GitHub.EditPull(ctx, x.repo, w.st.pull.Number, edit)
			return err
		})
		if err != nil {
			r := x.failed(op, w.e, err)
			r.Object = w.object(*w.st.pull, tip)
			if !w.st.pushed {
				r.Notes = append(r.Notes, fmt.Sprintf("the branch %q was pushed; title and text of the pull request are as they were", w.st.branch))
			}
			return r
		}
	}
	state := Applied
	message := fmt.Sprintf("updated pull request #%d and its branch %q", pull.Number, w.st.branch)
	if w.st.pushed && edit == (githubapi.PullEdit{}) {
		state, message = Adopted, fmt.Sprintf("pull request #%d holds this already", pull.Number)
	}
	r := w.e.result(state, "", "%s", message)
	if note != "" {
		r.Notes = append(r.Notes, note)
	}
	w.finish(ctx, x, &r, pull, tip)
	return r
}

// object is a pull request and what its branch is at.
func (w *pullWork) object(pull githubapi.Pull, tip string) *Object {
	return &Object{Type: objPull, ID: pull.ID, NodeID: pull.NodeID, Number: pull.Number, URL: pull.URL, SHA: tip, Branch: w.st.branch}
}

// finish adds what belongs to a pull request that is there: labels, reviewers, and
// what a reader of the result should know. What fails here fails the item no more.
func (w *pullWork) finish(ctx context.Context, x *executor, r *Result, pull githubapi.Pull, tip string) {
	r.Object = w.object(pull, tip)
	r.Notes = append(r.Notes, w.st.notes...)
	if w.cut {
		r.Notes = append(r.Notes, cutText)
	}
	if w.draft && !pull.Draft && r.State == Applied && w.st.pull == nil {
		r.Notes = append(r.Notes, "it is no draft, since the repository has no draft pull requests")
	}
	if labels := missingLabels(pull.Labels, w.labels); len(labels) > 0 {
		var have []string
		err := x.idempotent(ctx, func(ctx context.Context) (err error) {
			have, err = x.deps.GitHub.AddLabels(ctx, x.repo, pull.Number, labels)
			return err
		})
		if err != nil {
			r.Notes = append(r.Notes, "the labels could not be put on it: "+err.Error())
		} else if missing := missingLabels(have, labels); len(missing) > 0 {
			r.Notes = append(r.Notes, "GitHub did not put these labels on it: "+quoted(missing))
		}
	}
	if err := w.askForReviews(ctx, x, pull.Number); err != nil {
		r.Notes = append(r.Notes, "the review could not be requested: "+err.Error())
	}
	r.Notes = append(r.Notes, x.startsNotes(!w.st.pushed, w.st.pull == nil)...)
}

// askForReviews asks those who were not asked yet, and have not reviewed since.
func (w *pullWork) askForReviews(ctx context.Context, x *executor, number int) error {
	who := w.lackingReviewers()
	if len(who) > 0 && w.st.pull != nil {
		var gave []string
		if err := each(x.deps.GitHub.ListReviews(ctx, x.repo, number), func(v githubapi.Review) { gave = append(gave, v.Author.Login) }); err != nil {
			return err
		}
		who = missingNames(gave, who)
	}
	if len(who) == 0 {
		return nil
	}
	return x.idempotent(ctx, func(ctx context.Context) error { return x.deps.GitHub.RequestReviewers(ctx, x.repo, number, who) })
}

// unopened is the result where the branch is there and the pull request is not.
func (w *pullWork) unopened(ctx context.Context, x *executor, op *Operation, tip string, err error) Result {
	compare := x.comparePage(w.st)
	if feature(err) != githubapi.FeaturePullCreation {
		r := x.failed(op, w.e, err)
		r.Object = &Object{Type: objBranch, URL: compare, SHA: tip, Branch: w.st.branch}
		r.Notes = append(r.Notes, fmt.Sprintf("the branch %q was pushed; open the pull request by hand: %s", w.st.branch, compare))
		return r
	}
	if w.e.settings.Changes.FallbackIssue {
		return w.issueInstead(ctx, x, op, tip, compare)
	}
	r := w.e.result(Skipped, CodePullForbidden, "the branch %q was pushed, and the pull request not opened: %s; open it by hand: %s", w.st.branch, err, compare)
	r.Object = &Object{Type: objBranch, URL: compare, SHA: tip, Branch: w.st.branch}
	r.Notes = append(r.Notes, w.st.notes...)
	return r
}

// comparePage is where a person opens a pull request for a branch.
func (x *executor) comparePage(st *codeState) string {
	return x.plan.config.server() + "/" + x.repo.String() + "/compare/" + escapeRef(st.base) + "..." + escapeRef(st.branch) + "?expand=1"
}

// escapeRef writes a branch as a part of an address; its slashes stay.
func escapeRef(name string) string {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return strings.Join(parts, "/")
}

// startsNotes say what GitHub starts for what was done with the token at hand.
func (x *executor) startsNotes(pushed, opened bool) []string {
	if x.plan.snap.viewer.DatabaseID != actionsBot {
		return nil
	}
	switch {
	case opened:
		return []string{"GitHub holds the workflow runs of a pull request that GITHUB_TOKEN opened until somebody approves them"}
	case pushed:
		return []string{"GitHub starts no workflow runs for what GITHUB_TOKEN pushes; close and open the pull request to start them, or give Airlock the token of a GitHub App"}
	}
	return nil
}
