package cli

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

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
	if s.git == nil || s.paths != nil && s.base == "" && !s.pull() {
		if s.paths == nil && s.client != nil && s.pull() {
			return s.fromAPI(ctx, "there is no clone")
		}
		if s.paths == nil && s.cloned {
			return nil, usageError(fmt.Errorf("git in %s cannot tell what changed: mend what is said above, or name the files with --changed-files", s.root))
		}
		if s.paths == nil {
			return nil, usageError(fmt.Errorf("there is no git clone at %s to tell what changed: check the repository out, or name the files with --changed-files", s.root))
		}
		return s.fromList(ctx)
	}
	set, err := s.fromGit(ctx, nil)
	if lacks(err) && s.remote != nil {
		remote, e := s.remote(ctx)
		if e != nil {
			return nil, e
		}
		s.log("fetching what the clone lacks of the pull request's history")
		set, err = s.fromGit(ctx, remote)
	}
	lacking := lacks(err)
	if lacking && s.client != nil && s.pull() && s.paths == nil {
		return s.fromAPI(ctx, err.Error())
	}
	if lacking {
		return nil, usageError(fmt.Errorf("what changed cannot be told: %w; set 'fetch-depth: 0' for actions/checkout, or run 'git fetch --unshallow'", err))
	}
	return set, err
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

// bases returns the commit to compare with: where the work tree parted from it is
// to be found out, unless mergeBase is known.
func (s changedSource) bases(ctx context.Context, here string) (base, mergeBase string, notes []string, err error) {
	switch {
	case s.base != "":
		known, err := changeSource{base: s.base}.bases(s.git, event.Event{})
		if unknown := (*unknownBaseError)(nil); errors.As(err, &unknown) {
			return "", "", nil, usageError(fmt.Errorf("--base: %q is neither a whole commit id nor a branch or tag of the clone: correct it, name the commit by what 'git rev-parse' prints, or fetch it first", s.base))
		}
		if err != nil {
			return "", "", nil, usageError(fmt.Errorf("--base: %w", err))
		}
		return known[0], "", nil, nil
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

// places returns where the lines of a commit are at the pull request's head.
func (s changedSource) places(ctx context.Context, from string) (func(string, int, int) (int, int, bool), error) {
	if from == s.ev.Head.SHA {
		return nil, nil
	}
	d, err := s.git.repo.DiffFrom(ctx, from, s.ev.Head.SHA)
	if err != nil {
		return nil, err
	}
	files, err := changes.ParseGit(d.Raw, d.Patch)
	if err != nil {
		return nil, err
	}
	maps := map[string]*changes.LineMap{}
	for _, f := range files {
		name := f.Path
		if f.Status == changes.Renamed {
			name = f.PreviousPath
		}
		maps[name] = nil // its lines are elsewhere, or cannot be told
		if m, err := changes.NewLineMap(f.Patch); err == nil && f.Status == changes.Modified && !f.PatchMissing && !f.Binary {
			maps[name] = &m
		}
	}
	return func(name string, start, end int) (int, int, bool) {
		m, moved := maps[path.Clean(name)]
		if !moved {
			return start, end, true
		}
		if m == nil {
			return 0, 0, false
		}
		return m.Lines(start, end)
	}, nil
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
