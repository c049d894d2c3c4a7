package checks

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/agentchanges"
	"github.com/agent-airlock/airlock/internal/changes"
	"github.com/agent-airlock/airlock/internal/doors"
	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/gitrepo"
)

// ChangeSet is what a validation looks at: the files that changed, as they are in the
// work tree. ChangeSource makes it.
type ChangeSet struct {
	*changes.Set
	// hasDiff is set if Files list which lines changed; otherwise every line of a file
	// counts.
	hasDiff bool
	// head is the commit at whose lines people see findings, "" if there is none. atHead maps
	// lines of the work tree to lines of that commit; it is nil where they are taken to be the same.
	head   string
	atHead func(path string, start, end int) (newStart, newEnd int, ok bool)
	stamps agentchanges.Stamps // nil if the work tree was not read
}

// Head returns the commit at whose lines people see findings, "" if there is none.
func (c *ChangeSet) Head() string { return c.head }

// files returns the changed files with their diffs, or nil where all lines count.
func (c *ChangeSet) files() []changes.ChangedFile {
	if !c.hasDiff {
		return nil
	}
	files := make([]changes.ChangedFile, len(c.Files))
	for i := range c.Files {
		files[i] = c.Files[i].ChangedFile
	}
	return files
}

// split returns the paths of the changed files below a directory of the repository,
// relative to it, and those that lie elsewhere.
func (c *ChangeSet) split(dir string) (below, outside []string) {
	for i := range c.Files {
		name := c.Files[i].Path
		rel, ok := strings.CutPrefix(name, dir+"/")
		switch {
		case dir == ".":
			below = append(below, name)
		case ok:
			below = append(below, path.Clean(rel))
		default:
			outside = append(outside, name)
		}
	}
	return below, outside
}

// sourceLines returns a function that quotes lines of the changed files.
func (c *ChangeSet) sourceLines() func(path string, start, end int) string {
	texts, lines := map[string][]byte{}, map[string][]string{}
	for i := range c.Files {
		texts[c.Files[i].Path] = c.Files[i].Text
	}
	return func(path string, start, end int) string {
		all, known := lines[path]
		if !known {
			all = slices.Collect(strings.Lines(string(texts[path])))
			lines[path] = all
		}
		if start < 1 || start > len(all) {
			return ""
		}
		return strings.Join(all[start-1:min(max(end, start), len(all))], "")
	}
}

// ChangeSource describes where a ChangeSet comes from.
type ChangeSource struct {
	Root    string          // required; absolute: the work tree's root, or the directory to check
	Cloned  bool            // there is a clone at Root
	Git     *doors.LocalGit // nil without a clone that can be used
	Event   event.Event     // the zero event outside of a workflow run
	Client  *githubapi.Client
	Remote  func(context.Context) (*gitrepo.Remote, error) // nil: nothing is fetched
	Base    string                                         // a revision that the user names
	Paths   []string                                       // relative to Root; nil: everything that changed
	Exclude []string                                       // slash-separated paths below Root that are not changes
	Log     func(string)                                   // required
}

// Find finds out what changed: from git, from GitHub, or from the user's list. Its
// errors carry their exit code.
func (s ChangeSource) Find(ctx context.Context) (*ChangeSet, error) {
	set, err := s.find(ctx)
	isRefusal := func(error) bool { return false } // those have their exit code
	return set, exitcode.FailedUnless(isRefusal, err)
}

func (s ChangeSource) find(ctx context.Context) (*ChangeSet, error) {
	switch {
	case s.Git != nil && (s.Paths == nil || s.Base != "" || doors.KnowsCommits(s.Event)):
		return s.fromGitOrAPI(ctx)
	case s.Paths != nil:
		return s.fromList(ctx)
	case s.Client != nil && doors.KnowsCommits(s.Event):
		return s.fromAPI(ctx, "there is no clone")
	case s.Cloned:
		return nil, exitcode.UsageError(fmt.Errorf("git in %s cannot tell what changed: mend the problem that is named above, or name the files on the command line with --changed-files", s.Root))
	}
	return nil, exitcode.UsageError(fmt.Errorf("there is no git clone at %s to tell what changed: check the repository out, or name the files on the command line with --changed-files", s.Root))
}

// fromGitOrAPI asks git. If the clone lacks commits, it fetches them; if that is not
// enough, it asks GitHub.
func (s ChangeSource) fromGitOrAPI(ctx context.Context) (*ChangeSet, error) {
	set, err := s.fromGit(ctx, nil)
	if isIncomplete(err) && s.Remote != nil {
		remote, e := s.Remote(ctx)
		if e != nil {
			return nil, e
		}
		s.Log("fetching what the clone lacks of the pull request's history")
		set, err = s.fromGit(ctx, remote)
	}
	switch {
	case !isIncomplete(err):
		return set, err
	case s.Client != nil && doors.KnowsCommits(s.Event) && s.Paths == nil:
		return s.fromAPI(ctx, err.Error())
	}
	return nil, exitcode.UsageError(fmt.Errorf("what changed cannot be determined: %w; set 'fetch-depth: 0' for actions/checkout, or run 'git fetch --unshallow'", err))
}

// isIncomplete reports whether an error means that the clone lacks something that is needed.
func isIncomplete(err error) bool {
	return errors.Is(err, gitrepo.ErrMissing) || errors.Is(err, gitrepo.ErrShallow)
}

// fromGit compares the work tree, uncommitted changes included, with the commit where
// it branched off the base.
func (s ChangeSource) fromGit(ctx context.Context, remote *gitrepo.Remote) (*ChangeSet, error) {
	here, err := s.Git.Clone.Resolve("HEAD")
	if errors.Is(err, gitrepo.ErrNoRef) {
		return nil, exitcode.UsageError(fmt.Errorf("the clone at %s has no commit yet to compare with: name the files with --changed-files", s.Root))
	}
	if err != nil {
		return nil, exitcode.UsageError(fmt.Errorf("the clone at %s: %w", s.Root, err))
	}
	src := changes.GitSource{Repo: s.Git.Repo, Only: s.Paths, Remote: remote}
	var notes []string
	if src.Base, src.MergeBase, notes, err = s.bases(ctx, here); err != nil {
		return nil, err
	}
	containsHead := false
	if doors.KnowsCommits(s.Event) {
		if containsHead, err = s.containsHead(ctx, here); err != nil {
			return nil, err
		}
		if !containsHead {
			note, err := s.withoutHead(here)
			if err != nil {
				return nil, err
			}
			notes = append(notes, note)
		}
	}
	var left []string
	var stamps agentchanges.Stamps
	if src.Head, left, stamps, err = s.workTree(ctx, here); err != nil {
		return nil, err
	}
	set, err := changes.SetFromGit(ctx, src, changes.Options{})
	if err != nil {
		return nil, err
	}
	set.Notes = append(append(notes, left...), set.Notes...)
	out := &ChangeSet{Set: set, hasDiff: true, head: here, stamps: stamps}
	if containsHead {
		out.head = s.Event.Head.SHA
		if remote != nil && src.Head != s.Event.Head.SHA {
			if err := s.Git.Repo.Fetch(ctx, remote, []string{s.Event.Head.SHA}, 1); err != nil {
				return nil, err
			}
		}
		out.atHead, err = s.linesAtHead(ctx, src.Head)
	}
	return out, err
}

// workTree returns a commit with the content of the work tree: HEAD itself if everything
// is committed. stamps is what was seen of its files.
func (s ChangeSource) workTree(ctx context.Context, here string) (commit string, notes []string, stamps agentchanges.Stamps, err error) {
	series, stamps, err := agentchanges.ReadWorkspace(ctx, agentchanges.WorkspaceConfig{Repo: s.Git.Repo, Dir: s.Root, Bases: []string{here}, Exclude: s.Exclude,
		KeepFiltered: true}) // all files are looked at, whatever attributes the change sets
	if err != nil {
		return "", nil, nil, err
	}
	for _, n := range series.Notes {
		notes = append(notes, "Not part of what changed: "+n)
	}
	if len(series.Changes) == 0 {
		return here, notes, stamps, nil
	}
	nobody := gitrepo.Person{Name: "airlock", Email: "airlock@localhost"}
	transplanted, err := s.Git.Repo.Transplant(ctx, series, here, gitrepo.Style{Committer: nobody})
	return transplanted.Tip, notes, stamps, err
}

// bases returns the commit to compare with, or, in mergeBase, the commit where the work
// tree branched off, if that is known already.
func (s ChangeSource) bases(ctx context.Context, here string) (base, mergeBase string, notes []string, err error) {
	switch {
	case s.Base != "":
		oid, err := s.Git.ResolveCommit(s.Base)
		if errors.Is(err, gitrepo.ErrNoRef) {
			return "", "", nil, exitcode.UsageError(fmt.Errorf("--base: %q names no commit of the clone (%w): correct it, or fetch what it names first", s.Base, err))
		}
		if err != nil {
			return "", "", nil, exitcode.UsageError(fmt.Errorf("--base: %w", err))
		}
		return oid, "", nil, nil
	case !doors.KnowsCommits(s.Event):
		return s.defaultBase(here)
	case here == s.Event.Head.SHA:
		return s.Event.Base.SHA, "", nil, nil
	}
	// By default the merge commit that GitHub made is checked out for a pull request:
	// its first parent is the base, and everything it changes is the pull request.
	c, err := s.Git.Repo.Commit(ctx, here)
	if err == nil && len(c.Parents) == 2 && c.Parents[1] == s.Event.Head.SHA {
		return "", c.Parents[0], nil, nil
	}
	return s.Event.Base.SHA, "", nil, nil
}

// defaultBase returns the default branch of the repository that was cloned, as far as
// the clone names it; otherwise the commit that is checked out.
func (s ChangeSource) defaultBase(here string) (base, mergeBase string, notes []string, err error) {
	for _, ref := range []string{"refs/remotes/origin/HEAD", "refs/remotes/origin/main", "refs/remotes/origin/master", "refs/heads/main", "refs/heads/master"} {
		if oid, err := s.Git.Clone.Resolve(ref); err == nil {
			name := strings.TrimPrefix(strings.TrimPrefix(ref, "refs/remotes/"), "refs/heads/")
			return oid, "", []string{fmt.Sprintf("What changed is compared with %s (%.7s).", name, oid)}, nil
		}
	}
	return here, here, []string{"What changed is what is not committed: the clone has no main or master branch to compare with, and no --base is given."}, nil
}

// maxWalked is how many commits, beginning with the one that is checked out, are searched for one
// whose parent is the pull request's head: the clone need not contain the head itself.
const maxWalked = 100

// containsHead reports whether the commit that is checked out contains the pull
// request: it is the head, a merge of it, or a commit on top of one of these.
func (s ChangeSource) containsHead(ctx context.Context, here string) (bool, error) {
	head := s.Event.Head.SHA
	commit := here
	for range maxWalked {
		if commit == head {
			return true, nil
		}
		c, err := s.Git.Repo.Commit(ctx, commit)
		if err != nil || len(c.Parents) == 0 {
			break // the history ends, or is cut off
		}
		if slices.Contains(c.Parents, head) {
			return true, nil
		}
		commit = c.Parents[0]
	}
	if present, err := s.Git.Repo.Has(ctx, head); err != nil || !present {
		return false, err
	}
	base, err := s.Git.Repo.MergeBase(ctx, here, head)
	return err == nil && base == head, ctx.Err() // without a common commit the answer is no
}

// withoutHead refuses to check a commit that contains nothing of the pull request, such
// as the one that pull_request_target and workflow_run check out by default: its result
// would be taken for the pull request's. For any other commit it returns a note.
func (s ChangeSource) withoutHead(here string) (note string, err error) {
	if here == s.Event.Base.SHA || here == s.Event.SHA {
		return "", exitcode.UsageError(fmt.Errorf("the commit that is checked out (%.7s) contains nothing of pull request #%d, whose head is %.7s: to check it would say nothing about the pull request. "+
			"Run the checks on the event pull_request, or name the head with 'ref:' for actions/checkout in a job without secrets", here, s.Event.Number, s.Event.Head.SHA))
	}
	return fmt.Sprintf("The commit that is checked out (%.7s) does not contain the pull request's head (%.7s): the result is about the former, and no lines of the head are named.", here, s.Event.Head.SHA), nil
}

// linesAtHead returns a function that maps lines of a commit to lines of the pull
// request's head; nil if the commit is the head.
func (s ChangeSource) linesAtHead(ctx context.Context, from string) (func(string, int, int) (int, int, bool), error) {
	if from == s.Event.Head.SHA {
		return nil, nil
	}
	d, err := s.Git.Repo.DiffFrom(ctx, from, s.Event.Head.SHA)
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
		maps[name] = nil // its lines are elsewhere, or unknown
		if m, err := changes.NewLineMap(f.Patch); err == nil && f.Status == changes.Modified && !f.PatchMissing && !f.Binary {
			maps[name] = &m
		}
	}
	return func(name string, start, end int) (int, int, bool) {
		m, differs := maps[path.Clean(name)]
		if !differs {
			return start, end, true
		}
		if m == nil {
			return 0, 0, false
		}
		return m.Lines(start, end)
	}, nil
}

// fromList takes the files that the user names. All their lines count.
func (s ChangeSource) fromList(ctx context.Context) (*ChangeSet, error) {
	tree, err := gitrepo.OpenWorkTree(s.Root)
	if err != nil {
		return nil, exitcode.UsageError(err)
	}
	defer tree.Close()
	set, err := changes.SetFromList(ctx, tree, s.Paths, changes.Options{})
	if err != nil {
		return nil, exitcode.UsageError(err)
	}
	return &ChangeSet{Set: set}, nil
}

// fromAPI takes the list of files from GitHub and their texts from the work tree.
func (s ChangeSource) fromAPI(ctx context.Context, why string) (*ChangeSet, error) {
	s.Log("what changed comes from GitHub, because git in the workspace cannot compare the commits: " + why)
	repo := githubapi.Repo{Owner: s.Event.Repo.Owner, Name: s.Event.Repo.Name, ID: s.Event.Repo.ID}
	pull, err := s.Client.GetPull(ctx, repo, s.Event.Number)
	if err != nil {
		return nil, exitcode.FailedError(err)
	}
	src := changes.APISource{Total: pull.ChangedFiles}
	for f, err := range s.Client.ListPullFiles(ctx, repo, s.Event.Number) {
		if err != nil {
			return nil, exitcode.FailedError(err)
		}
		src.Files = append(src.Files, changes.FromAPI(f.Path, f.PreviousPath, f.Status, f.Patch, f.Changes))
	}
	tree, err := gitrepo.OpenWorkTree(s.Root)
	if err != nil {
		return nil, exitcode.UsageError(err)
	}
	defer tree.Close()
	src.Contents = changes.TreeContents(tree)
	set, err := changes.SetFromAPI(ctx, src, changes.Options{})
	if err != nil {
		return nil, exitcode.FailedError(err)
	}
	set.Notes = append(set.Notes, "Git in the workspace cannot tell what changed, so GitHub's list is used; if a merge commit is checked out, line numbers may differ. Set 'fetch-depth: 0' for actions/checkout to have both from git.")
	return &ChangeSet{Set: set, hasDiff: true, head: s.Event.Head.SHA}, nil
}

// FindRoot returns the root of the work tree that contains dir. Without one it returns dir
// and false.
func FindRoot(dir string) (root string, ok bool) {
	for parent := dir; ; parent = filepath.Dir(parent) {
		if _, err := gitrepo.Locate(parent); err == nil {
			return parent, true
		}
		if parent == filepath.Dir(parent) {
			return dir, false
		}
	}
}
