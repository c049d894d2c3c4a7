package apply

import (
	"context"
	"strings"

	"github.com/agent-airlock/airlock/internal/githubapi"
)

// commitByAPI makes the commits through GitHub, which signs them. The branch is
// made first where it is not there; each commit names the one before it, so that
// a second try cannot double it.
func (x *executor) commitByAPI(ctx context.Context, st *codeState) (tip string, err error) {
	at, from, commits := st.expect, st.onto, st.carried.Commits
	switch {
	case at == "":
		err := x.idempotent(ctx, func(ctx context.Context) error { return x.w.GitHub.CreateBranch(ctx, x.repo, st.branch, st.onto) })
		if err != nil && !isKind(err, githubapi.Conflict) {
			return "", err
		}
		at = st.onto
		if now, looked := x.branchAt(ctx, st.branch); err != nil && (!looked || now != at) {
			return "", err
		}
	case at != st.onto: // an earlier run's branch: one commit makes it what it should be
		from, commits = at, commits[len(commits)-1:]
	}
	for _, commit := range commits {
		made, err := x.commit(ctx, st, at, from, commit)
		if err != nil {
			return at, err
		}
		at, from = made, commit
	}
	return at, nil
}

// commit makes one commit, whose changes are those between two trees of ours.
func (x *executor) commit(ctx context.Context, st *codeState, at, from, to string) (made string, err error) {
	repo := x.w.Code.Repo
	info, err := repo.Commit(ctx, to)
	if err != nil {
		return "", err
	}
	headline, body, _ := strings.Cut(info.Message, "\n")
	n := githubapi.NewCommit{Branch: st.branch, ExpectedHead: at, Headline: headline, Body: strings.TrimSpace(body)}
	changes, err := repo.TreeChanges(ctx, from, to)
	if err != nil {
		return "", err
	}
	for _, ch := range changes {
		if ch.NewMode == "" {
			n.Deletions = append(n.Deletions, ch.Path)
			continue
		}
		data, err := repo.Blob(ctx, ch.NewOID, githubapi.MaxCommitBytes)
		if err != nil {
			return "", err
		}
		n.Additions = append(n.Additions, githubapi.Addition{Path: ch.Path, Data: data})
	}
	err = x.write(ctx, func(ctx context.Context) (err error) {
		made, _, err = x.w.GitHub.CreateCommit(ctx, x.repo, n)
		return err
	})
	for _, wait := range lookWaits() {
		if !isKind(err, githubapi.Ambiguous) || x.w.Clock.Sleep(ctx, wait) != nil {
			break
		}
		now, looked := x.branchAt(ctx, st.branch)
		switch {
		case looked && now != at:
			return x.ourCommit(ctx, now, at, info.Message)
		case looked:
			err = x.write(ctx, func(ctx context.Context) (err error) {
				made, _, err = x.w.GitHub.CreateCommit(ctx, x.repo, n)
				return err
			})
		}
	}
	return made, err
}

// ourCommit recognises a commit whose answer was lost: it follows the one that was
// there, with our own message.
func (x *executor) ourCommit(ctx context.Context, now, before, message string) (string, error) {
	rctx, done := inFlight(ctx, lookGrace)
	defer done()
	got, err := x.w.GitHub.GetCommit(rctx, x.repo, now)
	if err != nil {
		return "", err
	}
	if len(got.Parents) != 1 || got.Parents[0] != before || trailerOf(got.Message) != trailerOf(message) {
		return "", &githubapi.Error{Kind: githubapi.Conflict, Op: "commit to the branch", Repo: x.repo, Message: "somebody else pushed to it meanwhile"}
	}
	return now, nil
}
