package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/agent-airlock/airlock/internal/changes"
	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/gitrepo"
)

// changeset is what a validation looks at: the files that changed, as they are in
// the work tree.
type changeset struct {
	*changes.Set
	// diff says that Files tell which lines changed; otherwise all of a file's lines
	// count.
	diff bool
	// head is the commit that people see, "" if there is none; place moves lines of
	// the work tree there, and is nil where they are the same.
	head  string
	place func(path string, start, end int) (newStart, newEnd int, ok bool)
}

// changedSource says where a changeset comes from.
type changedSource struct {
	root    string    // absolute: the work tree's root, or the folder to check
	cloned  bool      // there is a clone at root
	git     *localGit // nil without a clone that can be used
	ev      event.Event
	client  *githubapi.Client                              // nil without a token
	remote  func(context.Context) (*gitrepo.Remote, error) // nil: nothing is fetched
	base    string                                         // a branch, tag or commit that the user names
	paths   []string                                       // relative to root; nil: all that changed
	exclude []string                                       // slash paths below root that are no change
	log     func(string)
}

// find finds out what changed: from git, from GitHub, or from the user's list.
func (s changedSource) find(ctx context.Context) (*changeset, error) {
	switch {
	case s.git != nil && (s.paths == nil || s.base != "" || s.pull()):
		return s.fromGitOrAPI(ctx)
	case s.paths != nil:
		return s.fromList(ctx)
	case s.client != nil && s.pull():
		return s.fromAPI(ctx, "there is no clone")
	case s.cloned:
		return nil, usageError(fmt.Errorf("git in %s cannot tell what changed: mend what is said above, or name the files with --changed-files", s.root))
	}
	return nil, usageError(fmt.Errorf("there is no git clone at %s to tell what changed: check the repository out, or name the files with --changed-files", s.root))
}

// fromGitOrAPI asks git, which first fetches what the clone lacks and, where that is
// still too little, GitHub.
func (s changedSource) fromGitOrAPI(ctx context.Context) (*changeset, error) {
	set, err := s.fromGit(ctx, nil)
	if lacks(err) && s.remote != nil {
		remote, e := s.remote(ctx)
		if e != nil {
			return nil, e
		}
		s.log("fetching what the clone lacks of the pull request's history")
		set, err = s.fromGit(ctx, remote)
	}
	switch {
	case !lacks(err):
		return set, err
	case s.client != nil && s.pull() && s.paths == nil:
		return s.fromAPI(ctx, err.Error())
	}
	return nil, usageError(fmt.Errorf("what changed cannot be told: %w; set 'fetch-depth: 0' for actions/checkout, or run 'git fetch --unshallow'", err))
}

// lacks reports whether the clone does not hold what is needed.
func lacks(err error) bool {
	return errors.Is(err, gitrepo.ErrMissing) || errors.Is(err, gitrepo.ErrShallow)
}

// pull reports whether the event is about a pull request whose commits are known.
func (s changedSource) pull() bool { return knowsCommits(s.ev) }

// fromList takes the files that the user names, all of whose lines count.
func (s changedSource) fromList(ctx context.Context) (*changeset, error) {
	tree, err := gitrepo.OpenWorkTree(s.root)
	if err != nil {
		return nil, usageError(err)
	}
	defer tree.Close()
	set, err := changes.SetFromList(ctx, tree, s.paths, changes.Options{})
	if err != nil {
		return nil, usageError(err)
	}
	return &changeset{Set: set}, nil
}

// fromAPI takes the list of files from GitHub and their texts from the work tree.
func (s changedSource) fromAPI(ctx context.Context, why string) (*changeset, error) {
	s.log("what changed comes from GitHub, because git in the workspace cannot tell it: " + why)
	repo := githubapi.Repo{Owner: s.ev.Repo.Owner, Name: s.ev.Repo.Name}
	pull, err := s.client.GetPull(ctx, repo, s.ev.Number)
	if err != nil {
		return nil, failedError(err)
	}
	src := changes.APISource{Total: pull.ChangedFiles}
	for f, err := range s.client.ListPullFiles(ctx, repo, s.ev.Number) {
		if err != nil {
			return nil, failedError(err)
		}
		src.Files = append(src.Files, changes.FromAPI(f.Path, f.PreviousPath, f.Status, f.Patch, f.Changes))
	}
	tree, err := gitrepo.OpenWorkTree(s.root)
	if err != nil {
		return nil, usageError(err)
	}
	defer tree.Close()
	src.Contents = changes.TreeContents(tree)
	set, err := changes.SetFromAPI(ctx, src, changes.Options{})
	if err != nil {
		return nil, failedError(err)
	}
	set.Notes = append(set.Notes, "Git in the workspace cannot tell what changed, so GitHub's list is used; if a merge commit is checked out, line numbers may differ. Set 'fetch-depth: 0' for actions/checkout to have both from git.")
	return &changeset{Set: set, diff: true, head: s.ev.Head.SHA}, nil
}

// findRoot returns the root of the work tree that dir lies in, and whether there is
// one; otherwise dir.
func findRoot(dir string) (root string, ok bool) {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := gitrepo.Locate(at); err == nil {
			return at, true
		}
		if at == filepath.Dir(at) {
			return dir, false
		}
	}
}
