package changes

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/agent-airlock/airlock/internal/gitrepo"
)

// GitSource is what SetFromGit compares.
type GitSource struct {
	Repo *gitrepo.Repo // required
	Base string        // the commit that the pull request is to be merged into
	Head string        // required: its last commit
	// MergeBase is the last commit that Base and Head have in common, if the caller
	// knows it, as from GitHub's comparison. Then Base and its history are not needed.
	MergeBase string
	// Remote is where commits that are not in the clone are fetched from: with their
	// complete history, unless MergeBase is given. If Remote is nil, they are an error.
	Remote *gitrepo.Remote
	// Only restricts the set to these paths; nil means all that changed. A path that
	// did not change is in the set too, as Unchanged.
	Only []string
}

// SetFromGit takes the changed files from git: the files that Head changes since it left Base. The
// texts are those of Head. The attributes are those of the base, because the pull request cannot
// change these.
//
// The error names every path of Only that cannot be used. Of the errors of gitrepo, ErrMissing and
// ErrShallow mean that the clone lacks history, and that no remote is given or the remote lacks it,
// too; ErrForged means that somebody wrote other objects into the clone.
func SetFromGit(ctx context.Context, src GitSource, opt Options) (*Set, error) {
	only, err := cleanList(src.Only)
	if err != nil {
		return nil, err
	}
	base, err := src.mergeBase(ctx)
	if err != nil {
		return nil, err
	}
	s := &Set{Base: base, Head: src.Head}
	if err := s.addDiff(ctx, src.Repo); err != nil {
		return nil, err
	}
	if err := s.addTree(ctx, src.Repo); err != nil {
		return nil, err
	}
	if src.Only != nil {
		s.restrict(only)
	}
	for i := range s.Files {
		f := &s.Files[i]
		if path.Base(f.Path) == attributesName && f.Status != Unchanged {
			s.Notes = append(s.Notes, fmt.Sprintf("%q is changed: until the pull request is merged, its old content counts.", f.Path))
		}
	}
	return s, s.fill(ctx, commitContents{src.Repo, src.Head}, commitContents{src.Repo, base}, opt)
}

// mergeBase finds the last common commit. It fetches what this and the comparison need.
func (src GitSource) mergeBase(ctx context.Context) (string, error) {
	if src.MergeBase != "" {
		if src.Remote == nil {
			return src.MergeBase, nil
		}
		return src.MergeBase, src.Repo.Fetch(ctx, src.Remote, []string{src.MergeBase, src.Head}, 1)
	}
	base, err := src.Repo.MergeBase(ctx, src.Base, src.Head)
	if src.Remote == nil || !errors.Is(err, gitrepo.ErrMissing) && !errors.Is(err, gitrepo.ErrShallow) {
		return base, err
	}
	if err := src.Repo.Fetch(ctx, src.Remote, []string{src.Base, src.Head}, 0); err != nil {
		return "", err
	}
	return src.Repo.MergeBase(ctx, src.Base, src.Head)
}

// addDiff adds the files that git's diff lists; only their names, where the diff is
// too large.
func (s *Set) addDiff(ctx context.Context, repo *gitrepo.Repo) error {
	d, err := repo.DiffFrom(ctx, s.Base, s.Head)
	var files []ChangedFile
	switch {
	case err == nil:
		files, err = ParseGit(d.Raw, d.Patch)
	case errors.Is(err, gitrepo.ErrTooLarge) && len(d.Raw) > 0:
		s.Notes = append(s.Notes, fmt.Sprintf("The diff is not used, and every line of a changed file counts as changed: %s.", clause(err)))
		files, _, err = parseRaw(d.Raw)
		for i := range files {
			files[i].PatchMissing = files[i].Status != Deleted
		}
	}
	if err != nil {
		return err
	}
	for _, f := range files {
		s.add(f)
	}
	return nil
}

// addTree adds modes and sizes from the trees. Git takes the objects of a diff from the clone as
// they are. The trees are hashed, and so prove that the diff leaves no file out.
func (s *Set) addTree(ctx context.Context, repo *gitrepo.Repo) error {
	changed, err := repo.TreeChanges(ctx, s.Base, s.Head)
	if err != nil {
		return err
	}
	// The old path of a renamed file is in the diff, too, but has no File.
	byPath := make(map[string]*File, len(s.Files))
	for i := range s.Files {
		byPath[s.Files[i].PreviousPath] = nil
	}
	for i := range s.Files {
		byPath[s.Files[i].Path] = &s.Files[i]
	}
	for _, c := range changed {
		f, ok := byPath[c.Path]
		if !ok {
			return fmt.Errorf("%w: git's diff leaves out %q", gitrepo.ErrForged, c.Path)
		}
		if f != nil && c.NewMode != "" {
			f.Mode = c.NewMode
		}
		if f != nil && (f.Mode == modeFile || f.Mode == modeExec) {
			f.Size = c.Size
		}
	}
	return nil
}

// restrict keeps the files of a list; those that did not change are Unchanged.
func (s *Set) restrict(only []string) {
	byPath := make(map[string]File, len(s.Files))
	for _, f := range s.Files {
		if f.Status == Renamed { // its old path is gone
			byPath[f.PreviousPath] = File{ChangedFile: ChangedFile{Path: f.PreviousPath, Status: Deleted}, Size: -1}
		}
	}
	for _, f := range s.Files {
		byPath[f.Path] = f
	}
	s.Files = make([]File, 0, len(only))
	for _, name := range only {
		f, ok := byPath[name]
		if !ok {
			f = File{ChangedFile: ChangedFile{Path: name, Status: Unchanged}, Size: -1}
		}
		s.Files = append(s.Files, f)
	}
}

// add adds a file of a diff to the set, with the changed lines that its hunks show. Every line
// counts if the hunks cannot be read to their end, or if PatchMissing is set and the file is not
// deleted.
func (s *Set) add(c ChangedFile) {
	f := File{ChangedFile: c, Size: -1}
	hunks, err := ParsePatch(c.Patch)
	for _, h := range hunks {
		f.Changed = append(f.Changed, h.Added...)
	}
	if err != nil {
		s.Notes = append(s.Notes, fmt.Sprintf("Every line of %q counts as changed, because its diff cannot be read to its end: %s.", clip(c.Path), clause(err)))
	}
	if err != nil || c.PatchMissing && c.Status != Deleted {
		f.Changed, f.AllChanged = nil, true
	}
	s.Files = append(s.Files, f)
}

// FromGit lists what head changes since it left base, as a pull request from head to base does.
// Errors are those of gitrepo. ErrMissing and ErrShallow mean that the clone does not have the
// history; GitHub's API can answer then.
func FromGit(ctx context.Context, repo *gitrepo.Repo, base, head string) ([]ChangedFile, error) {
	d, err := repo.Diff(ctx, base, head)
	if err != nil {
		return nil, err
	}
	return ParseGit(d.Raw, d.Patch)
}

// MaxAPIFiles is how many files of a pull request GitHub's API lists.
const MaxAPIFiles = 3000

// APISource is a pull request as GitHub's API describes it.
type APISource struct {
	Files []ChangedFile // see FromAPI
	Total int           // how many files the pull request itself counts
	Head  string        // the commit of the texts; "" where Contents is a work tree
	// Contents is where the texts are read: the head in git, or the work tree.
	Contents Contents // required
	// Rules is where .gitattributes is read, which should be the base: a pull request
	// can write its own. It may be nil.
	Rules Contents
}

// SetFromAPI takes the changed files from GitHub's API. If the API did not list all of them, the
// result has a note about how many are missing, and what to do: the API lists no more than
// MaxAPIFiles, or the pull request has changed meanwhile. The lines of a file whose diff GitHub
// leaves out all count as changed.
func SetFromAPI(ctx context.Context, src APISource, opt Options) (*Set, error) {
	if src.Contents == nil {
		return nil, errors.New("changes: APISource.Contents is required")
	}
	s := &Set{Head: src.Head, Missing: max(0, src.Total-len(src.Files))}
	for _, f := range src.Files {
		s.add(f)
	}
	switch {
	case s.Missing > 0 && len(src.Files) >= MaxAPIFiles:
		s.Notes = append(s.Notes, fmt.Sprintf("%d of %d changed files are not looked at: GitHub's API lists only the first %d. Git can list them all: set 'fetch-depth: 0' for actions/checkout.",
			s.Missing, src.Total, len(src.Files)))
	case s.Missing > 0:
		s.Notes = append(s.Notes, fmt.Sprintf("%d of %d changed files are not looked at: GitHub's API did not list them. The pull request may have changed meanwhile: run again.", s.Missing, src.Total))
	}
	return s, s.fill(ctx, src.Contents, src.Rules, opt)
}

// SetFromList takes the changed files from a list of paths below a work tree, whose
// files are read as they are now. Nothing is known of what was there before: every
// line counts as changed, and a path without a file as deleted.
//
// The error names every path that cannot be used, such as one that is absolute or contains "..".
func SetFromList(ctx context.Context, tree *gitrepo.WorkTree, paths []string, opt Options) (*Set, error) {
	names, err := cleanList(paths)
	if err != nil {
		return nil, err
	}
	s := &Set{Files: make([]File, 0, len(names)), fromList: true}
	for _, name := range names {
		f := File{ChangedFile: ChangedFile{Path: name, Status: Modified}, Size: -1, AllChanged: true}
		if _, err := tree.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			f.Status, f.AllChanged = Deleted, false
		}
		s.Files = append(s.Files, f)
	}
	here := TreeContents(tree)
	return s, s.fill(ctx, here, here, opt)
}

// cleanList returns the paths in their shortest form, each once.
func cleanList(paths []string) ([]string, error) {
	var names []string
	var faults []error
	seen := map[string]bool{}
	for i, p := range paths {
		name := path.Clean(p)
		fault := ""
		switch {
		case p == "":
			fault = "the path is empty"
		case path.IsAbs(p):
			fault = fmt.Sprintf("%q must be relative to the working directory", p)
		case strings.Contains("/"+p+"/", "/../"):
			fault = fmt.Sprintf("%q must not contain '..'", p)
		case name == ".", strings.ContainsRune(p, 0), !fs.ValidPath(name):
			fault = fmt.Sprintf("%q is not the path of a file", p)
		case !seen[name]:
			seen[name] = true
			names = append(names, name)
		}
		if fault != "" {
			faults = append(faults, fmt.Errorf("changed file %d: %s", i+1, fault))
		}
	}
	return names, errors.Join(faults...)
}
