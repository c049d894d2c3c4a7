package apply

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/markdown"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// pullHandler applies create-pull-request: it pushes the changes to a branch and opens one pull
// request for it. A later run of the same workflow updates both.
var pullHandler = handler{needs: needCode, plan: planPull}

func planPull(p *planner, group []*entry) Operation {
	e := group[0]
	it := e.item.(*safeoutput.CreatePullRequest)
	// Merging makes a commit message of title and text. A message with "[skip ci]" starts no workflow.
	title, disarmedTitle := startable(p.cfg.title(it.Title))
	text, disarmedText := startable(markdown.StripMarkers(it.Body)) // removing a marker may join two halves of such a word
	op := p.operation(group, fmt.Sprintf("open the pull request %q", shortTitle(title)))
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
	w.body, w.cut = w.compose(text)
	op.noteCut(w.cut)
	if disarmedTitle || disarmedText {
		op.Notes = append(op.Notes, "words that keep workflows from running were made inert in the pull request, of which merging makes a commit message")
	}
	op.Requests = append(p.pushRequests(e, st), w.requests()...)
	if st.pull != nil {
		op.Summary = fmt.Sprintf("update pull request #%d %q", st.pull.Number, shortTitle(title))
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

// compose composes the body. Its marker contains a hash of title and text, by which a later run
// sees whether somebody has edited them, and a part of the branch's key, by which a later run finds
// the pull request.
func (w *pullWork) compose(text string) (body string, cut bool) {
	body, cut = w.p.cfg.body(w.p.incompleteNote()+text, w.p.cfg.footer(w.e.settings.Footer), w.e.key)
	return body[:strings.LastIndex(body, markdown.Marker(w.e.key))] + markdown.Marker(pullKey(w.e.key, w.title, body)+w.st.key[:seriesLen]), cut
}

// The marker of a pull request has the key of the item, then some digits of a hash of title and
// text, then some of the key of the branch. Earlier versions left out the last part.
const (
	editLen   = 16
	seriesLen = 16
)

// pullKey returns the first two parts of a pull request's marker.
func pullKey(key, title, body string) string {
	return key + hashFields(title, strings.TrimSpace(markdown.StripMarkers(body)))[:editLen]
}

// untouched reports whether title and text of a pull request are as we wrote them.
func untouched(p githubapi.Pull) bool {
	key, ok := markdown.LastLineMarker(p.Body)
	if !ok || len(key) < keyLen+editLen {
		return false
	}
	body := strings.ReplaceAll(p.Body, "\r\n", "\n")
	return key[:keyLen+editLen] == pullKey(key[:keyLen], p.Title, body)
}

// openedFor reports whether our account opened a pull request for the branch of a key.
func openedFor(p githubapi.Pull, branchKey string, viewer githubapi.Actor) bool {
	key, ok := markdown.LastLineMarker(p.Body)
	return ok && sameAccount(p.Author, viewer) && len(key) == keyLen+editLen+seriesLen && key[keyLen+editLen:] == branchKey[:seriesLen]
}

// edit returns how title and text of the open pull request have to change; zero where they do
// not. The note is set where they were left alone.
func (w *pullWork) edit() (edit githubapi.PullEdit, note string) {
	existing := w.st.pull
	switch {
	case existing.Title == w.title && sameButMarker(existing.Body, w.body):
		return edit, ""
	case !untouched(*existing):
		return edit, "title and text of the pull request were left alone, because somebody has edited them"
	}
	return githubapi.PullEdit{Title: &w.title, Body: &w.body}, ""
}

// requests returns the writes after the push, as they are expected.
func (w *pullWork) requests() []Request {
	number, labels := "<number>", w.labels
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
		number, labels = fmt.Sprint(w.st.pull.Number), missingNames(w.st.pull.Labels, w.labels)
		if edit, _ := w.edit(); edit != (githubapi.PullEdit{}) {
			reqs = append(reqs, newRequest("PATCH", w.p.path("/pulls/"+number), map[string]string{"title": w.title, "body": w.body}))
		}
	}
	if len(labels) > 0 {
		reqs = append(reqs, newRequest("POST", w.p.path("/issues/"+number+"/labels"), map[string][]string{"labels": labels}))
	}
	if reviewers := w.missingReviewers(); len(reviewers) > 0 {
		users, teams := githubapi.SplitReviewers(reviewers)
		reqs = append(reqs, newRequest("POST", w.p.path("/pulls/"+number+"/requested_reviewers"), struct {
			Users []string `json:"reviewers,omitempty"`
			Teams []string `json:"team_reviewers,omitempty"`
		}{users, teams}))
	}
	return reqs
}

// missingReviewers returns those whom the pull request does not list as asked for a review.
// Reviewers are asked once, for a new pull request. An earlier attempt may have opened it and been
// interrupted before it asked them.
func (w *pullWork) missingReviewers() []string {
	existing := w.st.pull
	if existing == nil {
		return w.reviewers
	}
	key, _ := markdown.LastLineMarker(existing.Body)
	if !w.p.cfg.Run.Again() || !strings.HasPrefix(key, w.e.key) {
		return nil
	}
	return missingNames(existing.Reviewers, w.reviewers)
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

// open opens the pull request. GitHub does not open a second one between the same branches, so
// after a lost answer open simply tries again. If GitHub says that the pull request exists, or no
// answer came, open looks for it. In a repository without drafts, the pull request is ready for
// review, unless the policy sets draft.
func (w *pullWork) open(ctx context.Context, x *executor) (pull githubapi.Pull, state State, err error) {
	n := githubapi.NewPull{Title: w.title, Body: w.body, Head: w.st.branch, Base: w.st.base, Draft: w.draft}
	state = Applied
	create := func(ctx context.Context) (githubapi.Pull, error) { return x.deps.GitHub.CreatePull(ctx, x.repo, n) }
	pull, err = idempotentAnswer(ctx, x, create)
	if feature(err) == githubapi.FeatureDrafts && w.e.settings.Changes.Draft == nil {
		n.Draft = false
		pull, err = idempotentAnswer(ctx, x, create)
	}
	if isKind(err, githubapi.Conflict) || isKind(err, githubapi.Ambiguous) {
		if open, ok := x.openPull(ctx, w.st.branch, w.st.base); ok {
			if !untouched(open) { // somebody else has opened or edited it
				state = Adopted
			}
			return open, state, nil
		}
	}
	return pull, state, err
}

// openPull finds the open pull request of a branch, which GitHub may list with a delay.
func (x *executor) openPull(ctx context.Context, branch, base string) (found githubapi.Pull, ok bool) {
	find := func() {
		rctx, done := inFlight(ctx, lookGrace)
		defer done()
		f := githubapi.PullFilter{State: "open", Head: x.repo.Owner + ":" + branch, Base: base}
		_ = each(x.deps.GitHub.ListPulls(rctx, x.repo, f), func(p githubapi.Pull) { found, ok = p, true })
	}
	find()
	for _, wait := range lookWaits {
		if ok || x.deps.Clock.Sleep(ctx, wait) != nil {
			break
		}
		find()
	}
	return found, ok
}

// update updates title and text of an open pull request.
func (w *pullWork) update(ctx context.Context, x *executor, op *Operation, tip string) Result {
	pull := *w.st.pull
	edit, note := w.edit()
	if edit != (githubapi.PullEdit{}) {
		var err error
		pull, err = idempotentAnswer(ctx, x, func(ctx context.Context) (githubapi.Pull, error) {
			return x.deps.GitHub.EditPull(ctx, x.repo, w.st.pull.Number, edit)
		})
		if err != nil {
			r := x.failed(op, w.e, err)
			r.Object = pullObject(*w.st.pull, tip, w.st.branch)
			if !w.st.pushed {
				r.Notes = append(r.Notes, fmt.Sprintf("the branch %q was pushed; title and text of the pull request are unchanged", w.st.branch))
			}
			return r
		}
	} else if !w.st.pushed {
		if now, err := x.deps.GitHub.GetPull(ctx, x.repo, pull.Number); err == nil {
			pull = now
		}
	}
	if pull.State != "open" { // it was when the plan was made
		r := w.e.result(Failed, CodeClosed, "pull request #%d was closed or merged while this ran, so nobody would see what was pushed to its branch %q; open another one by hand: %s", pull.Number, w.st.branch, x.comparePage(w.st))
		r.Object = pullObject(pull, tip, w.st.branch)
		return r
	}
	state := Applied
	message := fmt.Sprintf("updated pull request #%d and its branch %q", pull.Number, w.st.branch)
	if w.st.pushed && edit == (githubapi.PullEdit{}) {
		state, message = Adopted, fmt.Sprintf("pull request #%d contains this already", pull.Number)
	}
	r := w.e.result(state, "", "%s", message)
	if note != "" {
		r.Notes = append(r.Notes, note)
	}
	w.finish(ctx, x, &r, pull, tip)
	return r
}

// pullObject returns a pull request with its branch and the commit that the branch is at.
func pullObject(pull githubapi.Pull, tip, branch string) *Object {
	return &Object{Type: objPull, ID: pull.ID, NodeID: pull.NodeID, Number: pull.Number, URL: pull.URL, SHA: tip, Branch: branch}
}

// finish adds labels and reviewers to a pull request that is open, and notes to the result. A
// failure here is a note too.
func (w *pullWork) finish(ctx context.Context, x *executor, r *Result, pull githubapi.Pull, tip string) {
	r.Object = pullObject(pull, tip, w.st.branch)
	r.Notes = append(r.Notes, w.st.notes...)
	if w.cut {
		r.Notes = append(r.Notes, cutText)
	}
	if w.draft && !pull.Draft && r.State == Applied && w.st.pull == nil {
		r.Notes = append(r.Notes, "it is not a draft, because the repository does not have draft pull requests")
	}
	if labels := missingNames(pull.Labels, w.labels); len(labels) > 0 {
		added, err := idempotentAnswer(ctx, x, func(ctx context.Context) ([]string, error) {
			return x.deps.GitHub.AddLabels(ctx, x.repo, pull.Number, labels)
		})
		if err != nil {
			r.Notes = append(r.Notes, "the labels could not be added: "+err.Error())
		} else if missing := missingNames(added, labels); len(missing) > 0 {
			r.Notes = append(r.Notes, "GitHub did not add these labels: "+quoteAll(missing))
		}
	}
	reviewers, err := w.reviewersToAsk(ctx, x, pull.Number)
	if err != nil {
		r.Notes = append(r.Notes, "the review could not be requested: "+err.Error())
	}
	r.Notes = append(r.Notes, x.askForReviews(ctx, pull.Number, reviewers)...)
	r.Notes = append(r.Notes, x.startsNotes(!w.st.pushed, w.st.pull == nil)...)
}

// reviewersToAsk returns missingReviewers without those who have reviewed the pull request, because
// GitHub takes a reviewer who has reviewed off the list of those who are asked.
func (w *pullWork) reviewersToAsk(ctx context.Context, x *executor, number int) ([]string, error) {
	reviewers := w.missingReviewers()
	if len(reviewers) == 0 || w.st.pull == nil {
		return reviewers, nil
	}
	var reviewed []string
	if err := each(x.deps.GitHub.ListReviews(ctx, x.repo, number), func(v githubapi.Review) { reviewed = append(reviewed, v.Author.Login) }); err != nil {
		return nil, err
	}
	return missingNames(reviewed, reviewers), nil
}

// askForReviews asks for reviews, and returns notes that name whom it could not ask. GitHub refuses
// the entire list because of one name that it does not take, such as the author's. Then
// askForReviews asks one by one.
func (x *executor) askForReviews(ctx context.Context, number int, reviewers []string) (notes []string) {
	if len(reviewers) == 0 {
		return nil
	}
	err := x.idempotent(ctx, func(ctx context.Context) error { return x.deps.GitHub.RequestReviewers(ctx, x.repo, number, reviewers) })
	switch {
	case err == nil:
		return nil
	case len(reviewers) > 1 && (isKind(err, githubapi.Validation) || isKind(err, githubapi.Usage)):
		for i := range reviewers {
			notes = append(notes, x.askForReviews(ctx, number, reviewers[i:i+1])...)
		}
		return notes
	}
	return []string{fmt.Sprintf("the review could not be requested of %s: %v", quoteAll(reviewers), err)}
}

// unopened returns the result where the branch was pushed and the pull request not opened.
func (w *pullWork) unopened(ctx context.Context, x *executor, op *Operation, tip string, err error) Result {
	compare := x.comparePage(w.st)
	if feature(err) != githubapi.FeaturePullCreation {
		r := x.failed(op, w.e, err)
		r.Object = &Object{Type: objBranch, URL: compare, SHA: tip, Branch: w.st.branch}
		r.Notes = append(r.Notes, fmt.Sprintf("the branch %q was pushed; open the pull request by hand: %s", w.st.branch, compare))
		return r
	}
	if w.e.settings.Changes.FallbackIssue {
		return w.issueInstead(ctx, x, compare)
	}
	r := w.e.result(Skipped, CodePullForbidden, "the branch %q was pushed, and the pull request not opened: %s; open it by hand: %s", w.st.branch, err, compare)
	r.Object = &Object{Type: objBranch, URL: compare, SHA: tip, Branch: w.st.branch}
	r.Notes = append(r.Notes, w.st.notes...)
	return r
}

// comparePage returns the page on which a person opens a pull request for a branch.
func (x *executor) comparePage(st *codeState) string {
	return x.plan.config.server() + "/" + x.repo.String() + "/compare/" + escapeRef(st.base) + "..." + escapeRef(st.branch) + "?expand=1"
}

// escapeRef writes a branch as a part of an address. Its slashes stay.
func escapeRef(name string) string {
	return strings.ReplaceAll(url.PathEscape(name), "%2F", "/")
}

// issueInstead opens an issue with a link for opening the pull request by hand, where GitHub
// does not let the token open it.
func (w *pullWork) issueInstead(ctx context.Context, x *executor, compare string) Result {
	body := w.p.incompleteNote() + "The branch " + markdown.CodeSpan(w.st.branch) + " contains the changes. GitHub does not let this workflow open pull requests; " +
		"[open it by hand](" + compare + ").\n\n" + w.e.item.(*safeoutput.CreatePullRequest).Body
	issue := w.p.issueOperation([]*entry{w.e}, groupKey("pull", w.e.key), w.title, body, w.labels, w.e.settings.Footer)
	work, ok := issue.work.(*createWork)
	if !ok { // adopted, or failed
		return *w.e.decided
	}
	r := work.execute(ctx, x, &issue)[0]
	r.Notes = append(r.Notes, w.st.notes...)
	if r.State == Applied || r.State == Adopted {
		r.State, r.Code = Applied, ""
		r.Message = fmt.Sprintf("the branch %q was pushed; issue #%d has a link for opening the pull request, which GitHub does not let this token do", w.st.branch, r.Object.Number)
	}
	return r
}
