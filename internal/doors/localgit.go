package doors

import (
	"context"
	"errors"

	"github.com/agent-airlock/airlock/internal/changes"
	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/gitrepo"
)

// Limits of files that are read from git's objects, in bytes.
const (
	maxSourceFile = 8 << 20 // a file whose lines are fingerprinted
	maxPolicyFile = 1 << 20
)

// LocalGit reads the git objects of the workspace, which saves requests. What it cannot
// answer, because the clone is shallow, is asked of GitHub.
type LocalGit struct {
	// Repo is a repository of Airlock's own that borrows the workspace's objects.
	Repo *gitrepo.Repo
	// Clone is the workspace's clone; its refs are read as data.
	Clone *gitrepo.Clone

	ctx     context.Context // the command's, because apply.Source takes none
	event   event.Event
	log     func(string)
	present map[string]bool // whether the clone has a commit that was looked for
}

// OpenLocalGit borrows the workspace's objects; it returns nil if there is no clone, or git
// cannot be used. pathList lists the directories in which git is looked for, "" those of
// gitrepo.DefaultPath. It is "" on a runner, where an earlier step can have changed PATH.
func OpenLocalGit(ctx context.Context, workspace, pathList string, ev event.Event, log func(string)) *LocalGit {
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
	return &LocalGit{repo, clone, ctx, ev, log, map[string]bool{}}
}

// Close removes the repository that borrowed the objects. g may be nil.
func (g *LocalGit) Close() {
	if g == nil {
		return
	}
	if err := g.Repo.Close(); err != nil {
		g.log("removing a temporary repository: " + err.Error())
	}
}

// ReadFile implements apply.Source. It looks only once whether the clone has a commit.
func (g *LocalGit) ReadFile(commit, path string) ([]byte, error) {
	present, known := g.present[commit]
	if !known {
		has, err := g.Repo.Has(g.ctx, commit)
		present = has && err == nil
		g.present[commit] = present
	}
	if !present {
		return nil, gitrepo.ErrMissing
	}
	return g.Repo.File(g.ctx, commit, path, maxSourceFile)
}

// ResolveCommit returns the id of the commit that a user names: by a branch of the clone or of
// origin, by any other revision that git knows, such as a tag, or by its full id. A commit with a
// full id need not be in the clone. The error is gitrepo.ErrNoRef where no commit has that name.
func (g *LocalGit) ResolveCommit(name string) (oid string, err error) {
	if gitrepo.IsObjectID(name) {
		return name, nil
	}
	for _, ref := range []string{"refs/heads/", "refs/remotes/origin/"} {
		if oid, err = g.Clone.Resolve(ref + name); !errors.Is(err, gitrepo.ErrNoRef) {
			return oid, err
		}
	}
	return g.Repo.Revision(g.ctx, name) // of an annotated tag it returns the commit
}

// PullFiles returns the pull request's changed files; nil if GitHub must be asked.
func (g *LocalGit) PullFiles() []changes.ChangedFile {
	if !KnowsCommits(g.event) {
		return nil
	}
	files, err := changes.FromGit(g.ctx, g.Repo, g.event.Base.SHA, g.event.Head.SHA)
	if err != nil {
		g.log("the diff comes from GitHub, because git in the workspace cannot compare the commits: " + err.Error())
		return nil
	}
	return files
}

// KnowsCommits reports whether an event is about a pull request and names its commits.
func KnowsCommits(ev event.Event) bool {
	return ev.IsPull && ev.Head.SHA != "" && ev.Base.SHA != ""
}

// PolicyFile reads a configuration from the commit that the event names as the base: a
// tree that neither an agent nor a pull request can write (rule R10).
func (g *LocalGit) PolicyFile(path string) ([]byte, error) {
	return g.Repo.File(g.ctx, g.event.Base.SHA, path, maxPolicyFile)
}
