package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/agent-airlock/airlock/internal/acceptance"
	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/checks"
	"github.com/agent-airlock/airlock/internal/doors"
	"github.com/agent-airlock/airlock/internal/gitrepo"
)

// Limits of Paths, beyond which it returns an error: the entries of a directory, and the files in all.
const (
	maxEntries = 100_000
	maxFiles   = 1_000_000
)

// worktree is the work tree of a request. It implements acceptance.Worktree.
type worktree struct {
	cfg  Config
	deps Deps

	dir  string // absolute: what paths of the request are relative to
	root string // absolute: the repository's root, dir or above it
	git  *doors.LocalGit
	set  func() (*checks.ChangeSet, error)

	reading sync.Mutex // files is not for several goroutines
	files   *gitrepo.WorkTree

	opening sync.Mutex
	place   *checks.Place // nil until the first command
	refused error         // why there is no place
	temp    string        // where programs put their evidence; "" until one runs

	validating sync.Mutex // one phase validation at a time
	masking    sync.RWMutex
	placeMask  func(string) string // nil until there is a place
}

// open opens the work tree, as acceptance.Deps asks for it.
func (w *worktree) open(ctx context.Context) (acceptance.Worktree, error) {
	var err error
	if w.dir, err = w.cfg.directory(); err != nil {
		return nil, err
	}
	if w.files, err = gitrepo.OpenWorkTree(w.dir); err != nil {
		return nil, err
	}
	var cloned bool
	if w.root, cloned = checks.FindRoot(w.dir); cloned {
		w.git = doors.OpenLocalGit(ctx, w.root, action.PathList(w.deps.Getenv), w.cfg.Changes.Event, w.deps.Log)
	}
	w.set = sync.OnceValues(func() (*checks.ChangeSet, error) { return w.findChanges(ctx, cloned) })
	return w, nil
}

// close undoes what open and the commands set up.
func (w *worktree) close() {
	if w.files != nil {
		w.files.Close()
	}
	w.git.Close()
	if w.place != nil {
		for _, err := range w.place.Close() {
			w.deps.Log(err.Error())
		}
	}
	w.removeTemp()
}

// findChanges finds out what changed. Where neither git nor GitHub knows, it returns an empty set
// with a note that gives the reason, unless the user named a base.
func (w *worktree) findChanges(ctx context.Context, cloned bool) (*checks.ChangeSet, error) {
	if w.cfg.Set != nil {
		return w.cfg.Set, nil
	}
	src := w.cfg.Changes
	src.Root, src.Cloned, src.Git, src.Log = w.root, cloned, w.git, w.deps.Log
	if w.cfg.Evidence != "" {
		src.Exclude = append(slices.Clip(src.Exclude), doors.PathsBelow(w.root, ".", w.cfg.Evidence)...)
	}
	set, err := src.Find(ctx)
	if err == nil || src.Base != "" || ctx.Err() != nil {
		return set, err
	}
	src.Git, src.Client, src.Paths = nil, nil, []string{} // where there is a list, even an empty one, neither git nor GitHub is asked
	empty, emptyErr := src.Find(ctx)
	if emptyErr != nil {
		return set, err
	}
	empty.Notes = append(empty.Notes, "What changed cannot be determined: "+err.Error())
	return empty, nil
}

// Branch implements acceptance.Worktree.
func (w *worktree) Branch() (string, error) {
	if w.git == nil {
		return "", errors.New("there is no git clone that can be used")
	}
	return w.git.Clone.Branch()
}

// IsAt implements acceptance.Worktree.
func (w *worktree) IsAt(branch string) bool {
	if w.git == nil {
		return false
	}
	if ev := w.cfg.Changes.Event; ev.IsPull && ev.Head.Ref == branch && ev.Head.SHA != "" {
		return true // the pull request's head, or GitHub's merge of it
	}
	head, err := w.git.Clone.Resolve("HEAD")
	if err != nil {
		return false
	}
	oid, err := w.git.ResolveCommit(branch)
	return err == nil && oid == head
}

// Paths implements acceptance.Worktree.
func (w *worktree) Paths(ctx context.Context) ([]string, error) {
	w.reading.Lock()
	defer w.reading.Unlock()
	return listPaths(ctx, w.files, maxEntries)
}

// listPaths returns the paths of all files but those of git. A directory with more entries than
// maxEntries is an error; of one that cannot be read, other than the first, there are none.
func listPaths(ctx context.Context, files *gitrepo.WorkTree, maxEntries int) ([]string, error) {
	var paths []string
	dirs := []string{""}
	for len(dirs) > 0 {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		dir := dirs[len(dirs)-1]
		dirs = dirs[:len(dirs)-1]
		entries, err := files.List(dir, maxEntries)
		if err != nil && (dir == "" || errors.Is(err, gitrepo.ErrTooLarge)) {
			return nil, fmt.Errorf("%s: %w", cmp.Or(dir, "."), err)
		}
		for _, e := range entries {
			name := path.Join(dir, e.Name())
			switch {
			case e.Name() == ".git":
			case e.IsDir():
				dirs = append(dirs, name)
			default:
				paths = append(paths, name)
			}
		}
		if len(paths) > maxFiles {
			return nil, fmt.Errorf("there are more than %d files", maxFiles)
		}
	}
	return paths, nil
}

// Stat implements acceptance.Worktree.
func (w *worktree) Stat(name string) (acceptance.Entry, error) {
	w.reading.Lock()
	defer w.reading.Unlock()
	if name == "." {
		return acceptance.Entry{Kind: acceptance.DirectoryEntry}, nil
	}
	info, err := w.files.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return acceptance.Entry{}, acceptance.ErrNoPath
	case err != nil:
		return acceptance.Entry{}, err
	case info.IsDir():
		return acceptance.Entry{Kind: acceptance.DirectoryEntry}, nil
	case info.Mode().IsRegular():
		return acceptance.Entry{Kind: acceptance.FileEntry, Size: info.Size()}, nil
	}
	return acceptance.Entry{}, nil
}

// Read implements acceptance.Worktree.
func (w *worktree) Read(name string, limit int64) ([]byte, error) {
	w.reading.Lock()
	defer w.reading.Unlock()
	return w.files.Read(name, limit)
}

// Changed implements acceptance.Worktree.
func (w *worktree) Changed(context.Context) (paths []string, comparedWith string, err error) {
	set, err := w.set()
	if err != nil {
		return nil, "", err
	}
	if w.git == nil || set.Base == "" {
		return nil, "", errors.New("git cannot tell what changed here")
	}
	here, err := w.git.Clone.Resolve("HEAD")
	if err != nil {
		return nil, "", err
	}
	if set.Base == here && w.cfg.Changes.Base == "" {
		return nil, "", errors.New("there is no other branch to compare with; name one with --base")
	}
	prefix, err := filepath.Rel(w.root, w.dir)
	if err != nil {
		return nil, "", err
	}
	for i := range set.Files {
		name := set.Files[i].Path
		if prefix != "." {
			rel, ok := strings.CutPrefix(name, filepath.ToSlash(prefix)+"/")
			if !ok {
				continue
			}
			name = rel
		}
		paths = append(paths, name)
	}
	return paths, fmt.Sprintf("the commit %.7s, where the branch began", set.Base), nil
}

// HasCommit implements acceptance.Worktree.
func (w *worktree) HasCommit(ctx context.Context, id string) (bool, error) {
	if w.git == nil {
		return false, errors.New("there is no git clone that can be used")
	}
	here, err := w.git.Clone.Resolve("HEAD")
	if err != nil {
		return false, err
	}
	out, err := w.git.Repo.Run(ctx, gitrepo.Call{MaxExit: 128}, "rev-parse", "--verify", "--quiet", id+"^{commit}")
	if err != nil {
		return false, err
	}
	oid := out.Line()
	if out.ExitCode != 0 || !gitrepo.IsObjectID(oid) {
		return false, nil
	}
	base, err := w.git.Repo.MergeBase(ctx, here, oid)
	if errors.Is(err, gitrepo.ErrShallow) {
		return false, err
	}
	return err == nil && base == oid, ctx.Err() // without a common commit the answer is no
}

// mask masks secrets and, once there is a place, replaces the names of its directories.
func (w *worktree) mask(s string) string {
	w.masking.RLock()
	place := w.placeMask
	w.masking.RUnlock()
	if place != nil {
		return place(s)
	}
	return w.deps.Scanner.Mask(s)
}
