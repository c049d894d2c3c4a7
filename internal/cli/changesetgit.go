package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/agent-airlock/airlock/internal/changes"
	"github.com/agent-airlock/airlock/internal/gitrepo"
)

// fromGit compares the work tree, what is not committed included, with where it
// parted from the base.
func (s changedSource) fromGit(ctx context.Context, remote *gitrepo.Remote) (*changeset, error) {
	here, err := s.git.clone.Resolve("HEAD")
	if errors.Is(err, gitrepo.ErrNoRef) {
		return nil, usageError(fmt.Errorf("the clone at %s has no commit yet to tell what changed by: name the files with --changed-files", s.root))
	}
	if err != nil {
		return nil, usageError(fmt.Errorf("the clone at %s: %w", s.root, err))
	}
	src := changes.GitSource{Repo: s.git.repo, Only: s.paths, Remote: remote}
	var notes []string
	if src.Base, src.MergeBase, notes, err = s.bases(ctx, here); err != nil {
		return nil, err
	}
	held := s.pull()
	if held {
		if held, err = s.holdsHead(ctx, here); err != nil {
			return nil, err
		}
		if !held {
			note, err := s.withoutHead(here)
			if err != nil {
				return nil, err
			}
			notes = append(notes, note)
		}
	}
	var left []string
	if src.Head, left, err = s.workTree(ctx, here); err != nil {
		return nil, err
	}
	set, err := changes.SetFromGit(ctx, src, changes.Options{})
	if err != nil {
		return nil, err
	}
	set.Notes = append(append(notes, left...), set.Notes...)
	out := &changeset{Set: set, diff: true, head: here}
	if held {
		out.head = s.ev.Head.SHA
		if remote != nil && src.Head != s.ev.Head.SHA {
			if err := s.git.repo.Fetch(ctx, remote, []string{s.ev.Head.SHA}, 1); err != nil {
				return nil, err
			}
		}
		out.place, err = s.places(ctx, src.Head)
	}
	return out, err
}

// workTree returns a commit of the work tree: HEAD itself where nothing was changed
// since.
func (s changedSource) workTree(ctx context.Context, here string) (commit string, notes []string, err error) {
	series, err := s.git.repo.WorkspaceSeries(ctx, gitrepo.WorkspaceSource{Dir: s.root, Bases: []string{here}, Exclude: s.exclude})
	if err != nil {
		return "", nil, err
	}
	for _, n := range series.Notes {
		notes = append(notes, "Not part of what changed: "+n)
	}
	if len(series.Changes) == 0 {
		return here, notes, nil
	}
	nobody := gitrepo.Person{Name: "airlock", Email: "airlock@localhost"}
	made, err := s.git.repo.Transplant(ctx, series, here, gitrepo.Style{Committer: nobody})
	return made.Tip, notes, err
}

// bases returns the commit to compare with. Where the work tree parted from it is
// still to be found out, unless mergeBase says it.
func (s changedSource) bases(ctx context.Context, here string) (base, mergeBase string, notes []string, err error) {
	switch {
	case s.base != "":
		oid, err := s.git.commitNamed(s.base)
		if errors.Is(err, gitrepo.ErrNoRef) {
			return "", "", nil, usageError(fmt.Errorf("--base: %q is neither a whole commit id nor a branch or tag of the clone: correct it, name the commit by what 'git rev-parse' prints, or fetch it first", s.base))
		}
		if err != nil {
			return "", "", nil, usageError(fmt.Errorf("--base: %w", err))
		}
		return oid, "", nil, nil
	case !s.pull():
		return s.defaultBase(here)
	case here == s.ev.Head.SHA:
		return s.ev.Base.SHA, "", nil, nil
	}
	// What is checked out for a pull request by default is the merge commit that
	// GitHub made: its first parent is the base, and all that it changes is the pull
	// request.
	c, err := s.git.repo.Commit(ctx, here)
	if err == nil && len(c.Parents) == 2 && c.Parents[1] == s.ev.Head.SHA {
		return "", c.Parents[0], nil, nil
	}
	return s.ev.Base.SHA, "", nil, nil
}

// defaultBase is the default branch of where the clone came from, as far as it tells.
func (s changedSource) defaultBase(here string) (base, mergeBase string, notes []string, err error) {
	for _, ref := range []string{"refs/remotes/origin/HEAD", "refs/remotes/origin/main", "refs/remotes/origin/master", "refs/heads/main", "refs/heads/master"} {
		if oid, err := s.git.clone.Resolve(ref); err == nil {
			name := strings.TrimPrefix(strings.TrimPrefix(ref, "refs/remotes/"), "refs/heads/")
			return oid, "", []string{fmt.Sprintf("What changed is compared with %s (%.7s).", name, oid)}, nil
		}
	}
	return here, here, []string{"What changed is what is not committed: the clone has no main or master branch to compare with, and no --base is given."}, nil
}
