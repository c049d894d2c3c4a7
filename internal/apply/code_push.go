package apply

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/text"
)

// deliver adds an item's commits to its branch, and returns the commit that the branch is at
// afterwards. If git's push fails, tip is the commit that the branch should be at.
func (x *executor) deliver(ctx context.Context, e *entry, st *codeState) (tip string, err error) {
	if x.deps.Code == nil || x.plan.snap.remote == nil {
		return "", errors.New("there is no remote to push to")
	}
	if e.settings.Changes.SignedCommits {
		return x.commitByAPI(ctx, st)
	}
	return st.tip(), x.pushByGit(ctx, st)
}

// pushByGit pushes. After a push whose answer was lost it looks where the branch is. The push
// names the commit that it replaces, so that a second one does no harm.
func (x *executor) pushByGit(ctx context.Context, st *codeState) error {
	req := gitrepo.PushRequest{Tip: st.tip(), Branch: st.branch, Expect: st.expect, Replace: st.replace}
	push := func() error {
		return x.deps.withinLimits(ctx, x.repo, "push to the branch "+st.branch, func() error {
			return x.write(ctx, func(ctx context.Context) error { return x.deps.Code.Repo.Push(ctx, x.plan.snap.remote, req) })
		})
	}
	err := push()
	for _, wait := range lookWaits {
		if kind := pushKind(err); kind != gitrepo.PushAmbiguous && kind != gitrepo.PushUnreachable || pushRedirected(err) {
			break
		}
		if x.deps.Clock.Sleep(ctx, wait) != nil {
			break
		}
		head, lookErr := x.branchHead(ctx, st.branch)
		if lookErr == nil && head == st.tip() {
			return nil
		}
		if lookErr == nil && head == st.expect {
			err = push()
		}
	}
	// The branch may have been moved by our own push, whose answer was lost.
	if pushKind(err) == gitrepo.PushMoved && x.isAt(ctx, st.branch, st.tip()) {
		return nil
	}
	return pushFailure(err)
}

// branchHead returns the commit that a branch is at, "" if there is no such branch.
func (x *executor) branchHead(ctx context.Context, branch string) (sha string, err error) {
	rctx, done := inFlight(ctx, lookGrace)
	defer done()
	sha, err = x.deps.GitHub.GetBranch(rctx, x.repo, branch)
	if isKind(err, githubapi.NotFound) {
		return "", nil
	}
	return sha, err
}

// isAt reports whether a branch is at a commit, as far as GitHub says.
func (x *executor) isAt(ctx context.Context, branch, commit string) bool {
	head, err := x.branchHead(ctx, branch)
	return err == nil && head == commit
}

// pushKind returns why a push did not happen; 0 where it did, or git itself failed.
func pushKind(err error) gitrepo.PushErrorKind {
	if p, ok := errors.AsType[*gitrepo.PushError](err); ok {
		return p.Kind
	}
	return 0
}

// pushRedirected reports whether a push was answered with another address, to which nothing was
// sent.
func pushRedirected(err error) bool {
	p, ok := errors.AsType[*gitrepo.PushError](err)
	return ok && p.Status/100 == 3
}

// pushFailure turns an error of git's into one of GitHub's, so that all failures are handled
// alike: blocked, retried, explained.
func pushFailure(err error) error {
	p, ok := errors.AsType[*gitrepo.PushError](err)
	if !ok || p.Kind == gitrepo.PushLimited { // withinLimits has turned PushLimited into an error of GitHub's already
		return err
	}
	e := &githubapi.Error{Op: "push", Message: p.Error(), Err: err}
	if pushRedirected(err) {
		e.Kind, e.Moved = githubapi.NotFound, true
		return e
	}
	switch p.Kind {
	case gitrepo.PushMoved:
		e.Kind = githubapi.Conflict
	case gitrepo.PushRefused:
		e.Kind = githubapi.Validation
		if p.Status == http.StatusUnavailableForLegalReasons {
			e = githubapi.RefusedPush(p.Status, p.Reason, "")
			e.Err = err
		}
	case gitrepo.PushForbidden:
		permission := "contents=write"
		if p.Permission == workflowsPermission {
			permission = "workflows=write"
		}
		e = githubapi.RefusedPush(p.Status, p.Reason, permission)
		e.Err = err
	case gitrepo.PushAmbiguous:
		e.Kind = githubapi.Ambiguous
	default:
		e.Kind, e.Status, e.Message = githubapi.Unreachable, p.Status, p.Reason
	}
	return e
}

// workflowsPermission is needed only for changes of workflow files. GITHUB_TOKEN never has it.
const workflowsPermission = "workflows: write"

// pushRequests returns the writes that add the commits to the branch, as a plan shows them: a
// push, or requests to the API that create the commits.
func (p *planner) pushRequests(e *entry, st *codeState) []Request {
	if st.pushed {
		return nil
	}
	ref := "refs/heads/" + st.branch
	if !e.settings.Changes.SignedCommits {
		return []Request{newRequest("PUSH", ref, struct {
			Commits []string `json:"commits"`
			Expect  string   `json:"expect,omitempty"`
			Replace bool     `json:"replace,omitempty"`
		}{st.carried.Commits, st.expect, st.replace})}
	}
	var reqs []Request
	if st.expect == "" {
		reqs = append(reqs, newRequest("POST", p.path("/git/refs"), map[string]string{"ref": ref, "sha": st.onto}))
	}
	head := cmp.Or(st.expect, st.onto)
	for range st.carried.Commits {
		reqs = append(reqs, graphQL("createCommitOnBranch", map[string]any{
			"branch": map[string]string{"branchName": st.branch}, "expectedHeadOid": head,
			"fileChanges": fmt.Sprintf("<%s>", text.Count(len(st.changes), "file")),
		}))
		head = "<commit>"
	}
	return reqs
}

// commitByAPI creates the commits through GitHub, which signs them. If the branch does not exist, it
// creates the branch first. Each commit names the one before it, so that a second try cannot create
// the same commit again.
func (x *executor) commitByAPI(ctx context.Context, st *codeState) (tip string, err error) {
	head, from, commits := st.expect, st.onto, st.carried.Commits
	switch {
	case head == "":
		err := x.idempotent(ctx, func(ctx context.Context) error { return x.deps.GitHub.CreateBranch(ctx, x.repo, st.branch, st.onto) })
		if err != nil && !(isKind(err, githubapi.Conflict) && x.isAt(ctx, st.branch, st.onto)) {
			return "", err
		}
		head = st.onto
	case head != st.onto: // an earlier run's branch: one commit makes it what it should be
		from, commits = head, commits[len(commits)-1:]
	}
	for _, commit := range commits {
		created, err := x.commit(ctx, st, head, from, commit)
		if err != nil {
			return head, err
		}
		head, from = created, commit
	}
	return head, nil
}

// newCommit returns a commit of ours as the API creates it: its message, and its changes since
// another one.
func (x *executor) newCommit(ctx context.Context, from, commit string) (n githubapi.NewCommit, err error) {
	repo := x.deps.Code.Repo
	info, err := repo.Commit(ctx, commit)
	if err != nil {
		return n, err
	}
	headline, body, _ := strings.Cut(info.Message, "\n")
	n.Headline, n.Body = headline, strings.TrimSpace(body)
	changes, err := repo.TreeChanges(ctx, from, commit)
	if err != nil {
		return n, err
	}
	var oids []string
	for _, ch := range changes {
		if ch.NewMode == "" {
			n.Deletions = append(n.Deletions, ch.Path)
			continue
		}
		n.Additions, oids = append(n.Additions, githubapi.Addition{Path: ch.Path}), append(oids, ch.NewOID)
	}
	next := 0
	for data, err := range repo.Blobs(ctx, oids, githubapi.MaxCommitBytes) {
		if err != nil {
			return n, err
		}
		n.Additions[next].Data = data
		next++
	}
	return n, nil
}

// commit creates one commit on top of head, with the changes between two commits of ours.
func (x *executor) commit(ctx context.Context, st *codeState, head, from, to string) (created string, err error) {
	n, err := x.newCommit(ctx, from, to)
	if err != nil {
		return "", err
	}
	n.Branch, n.ExpectedHead = st.branch, head
	create := func() error {
		return x.write(ctx, func(ctx context.Context) (err error) {
			created, _, err = x.deps.GitHub.CreateCommit(ctx, x.repo, n)
			return err
		})
	}
	err = create()
	for _, wait := range lookWaits {
		if !isKind(err, githubapi.Ambiguous) || x.deps.Clock.Sleep(ctx, wait) != nil {
			break
		}
		now, lookErr := x.branchHead(ctx, st.branch)
		switch {
		case lookErr != nil: // look again after the next pause
		case now != head:
			return x.ourCommit(ctx, now, head, n.Body)
		default:
			err = create()
		}
	}
	// The branch may have been moved by our own commit, whose answer was lost.
	if isKind(err, githubapi.Conflict) {
		if now, lookErr := x.branchHead(ctx, st.branch); lookErr == nil && now != head {
			return x.ourCommit(ctx, now, head, n.Body)
		}
	}
	return created, err
}

// ourCommit recognises a commit of ours for which GitHub's answer was lost: its only parent is the
// commit that was there before, and its message has our trailer.
func (x *executor) ourCommit(ctx context.Context, now, before, message string) (string, error) {
	rctx, done := inFlight(ctx, lookGrace)
	defer done()
	got, err := x.deps.GitHub.GetCommit(rctx, x.repo, now)
	if err != nil {
		return "", err
	}
	if len(got.Parents) != 1 || got.Parents[0] != before || trailerOf(got.Message) != trailerOf(message) {
		return "", &githubapi.Error{Kind: githubapi.Conflict, Op: "commit to the branch", Repo: x.repo, Message: "somebody else pushed to it"}
	}
	return now, nil
}

// failedPush returns the result of changes that could not be delivered, or not all of them. tip is
// what deliver returned.
func (x *executor) failedPush(op *Operation, e *entry, st *codeState, tip string, err error) Result {
	var r Result
	push, byGit := errors.AsType[*gitrepo.PushError](err)
	refusal := ruleRefusal(err)
	switch {
	case byGit && push.Kind == gitrepo.PushMoved, isKind(err, githubapi.Conflict):
		r = e.result(Failed, CodeMoved, "the changes were not pushed, because somebody else changed the branch %q at the same time; run the job again", st.branch)
	case refusal != "":
		r = e.result(Failed, CodePushRefused, "GitHub did not accept the push to the branch %q: %s; %s", st.branch, refusal, pushRemedy(refusal))
	case byGit && push.Permission == workflowsPermission: // other items do not need this permission
		code, message := failure(err, op.Permissions)
		r = x.refused(e, code, message)
	default:
		r = x.failed(op, e, err)
	}
	if tip != "" && tip != st.expect && tip != st.onto && e.settings.Changes.SignedCommits { // a push by git is complete or nothing
		r.Notes = append(r.Notes, fmt.Sprintf("some of the commits are on the branch %q, the last of them %.7s; run the job again for the rest", st.branch, tip))
	}
	r.Notes = append(r.Notes, st.notes...)
	return r
}

// startsNotes explains that GitHub does not start workflow runs by itself, if GITHUB_TOKEN was used
// to push or to open the pull request.
func (x *executor) startsNotes(pushed, opened bool) []string {
	if x.plan.snap.viewer.DatabaseID != actionsBot {
		return nil
	}
	switch {
	case opened:
		return []string{"GitHub starts the workflow runs of a pull request that GITHUB_TOKEN opened only after somebody approves them"}
	case pushed:
		return []string{"GitHub starts no workflow runs for what GITHUB_TOKEN pushes; close and open the pull request to start them, or give Airlock the token of a GitHub App"}
	}
	return nil
}
