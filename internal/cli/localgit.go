package cli

import (
	"context"
	"errors"
	"regexp"

	"github.com/agent-airlock/airlock/internal/changes"
	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/gitrepo"
)

// maxSourceFile is how large a file may be whose lines are fingerprinted.
const maxSourceFile = 8 << 20

// localGit reads the workspace's git objects, which saves requests. What it
// cannot tell, because the clone is shallow or there is none, is asked of GitHub.
type localGit struct {
	repo *gitrepo.Repo
	// clone is the workspace's, whose refs are read as data.
	clone *gitrepo.Clone
	ctx   context.Context // of the command: apply.Source has no room for one
	ev    event.Event
	log   func(string)
	here  map[string]bool // commits that were looked for, and whether they are there
}

// openGit borrows the workspace's objects; nil without a clone there. On a runner
// pathList is "", since an earlier step can have put any program into the PATH
// there; elsewhere it is the user's own.
func openGit(ctx context.Context, workspace, pathList string, ev event.Event, log func(string)) *localGit {
	if workspace == "" {
		return nil
	}
	clone, err := gitrepo.Locate(workspace)
	if err != nil {
		return nil
	}
	repo, err := gitrepo.New(clone, gitrepo.Options{PathList: pathList})
	if err != nil {
		log("git is not used: " + err.Error())
		return nil
	}
	return &localGit{repo, clone, ctx, ev, log, map[string]bool{}}
}

// close removes what was made for the borrowing. Without a clone there is nothing.
func (g *localGit) close() {
	if g == nil {
		return
	}
	if err := g.repo.Close(); err != nil {
		g.log("removing a temporary repository: " + err.Error())
	}
}

// ReadFile implements apply.Source. A commit that is not in the clone is looked for
// once.
func (g *localGit) ReadFile(commit, path string) ([]byte, error) {
	here, asked := g.here[commit]
	if !asked {
		ok, err := g.repo.Has(g.ctx, commit)
		here = ok && err == nil
		g.here[commit] = here
	}
	if !here {
		return nil, gitrepo.ErrMissing
	}
	return g.repo.File(g.ctx, commit, path, maxSourceFile)
}

var objectID = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// commitNamed returns the commit that a user names: by its whole id, which need not
// be in the clone, or by a branch or tag of the clone. The error is
// gitrepo.ErrNoRef where nothing has that name.
func (g *localGit) commitNamed(name string) (oid string, err error) {
	if objectID.MatchString(name) {
		return name, nil
	}
	for _, ref := range []string{"refs/heads/", "refs/remotes/origin/", "refs/tags/"} {
		if oid, err = g.clone.Resolve(ref + name); !errors.Is(err, gitrepo.ErrNoRef) {
			return oid, err
		}
	}
	return "", err
}

// diff returns the pull request's changed files; nil if GitHub has to be asked.
func (g *localGit) diff() []changes.ChangedFile {
	if !g.ev.IsPull || g.ev.Base.SHA == "" || g.ev.Head.SHA == "" {
		return nil
	}
	base, err := g.repo.MergeBase(g.ctx, g.ev.Base.SHA, g.ev.Head.SHA)
	if err != nil {
		g.log("the diff comes from GitHub, because git in the workspace cannot tell it: " + err.Error())
		return nil
	}
	files, err := changes.FromGit(g.ctx, g.repo, base, g.ev.Head.SHA)
	if err != nil {
		g.log("the diff comes from GitHub, because git in the workspace cannot tell it: " + err.Error())
		return nil
	}
	return files
}

// policyFile reads a configuration from the commit that the event names as the
// base: a tree that neither an agent nor a pull request can write.
func (g *localGit) policyFile(path string) ([]byte, error) {
	return g.repo.File(g.ctx, g.ev.Base.SHA, path, 1<<20)
}
