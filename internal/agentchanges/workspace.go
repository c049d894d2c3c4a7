package agentchanges

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/text"
)

// Limits of what is read of a work tree.
const (
	maxWorkFiles = 2_000_000 // names, without those in ignored directories
	maxWorkFile  = 100 << 20 // bytes of a changed file; GitHub accepts no larger one
	maxWorkBytes = 2 << 30   // bytes of all changed files
	maxDepth     = 200       // of directories that are not committed
)

// FromWorkspace reads the commits after the base. Changes that are not committed follow as one
// last change, without author and message. They include files that git does not track, unless an
// ignore rule of the work tree hides them. If a file was staged and then changed again, the work
// tree counts.
//
// Nothing is written in the work tree and git does not run there. The configuration and the
// attributes of the repository only say how git would store the files. No filter runs. A changed
// file that needs one is left out, unless cfg.KeepFiltered is set. Submodules, nested
// repositories, and anything that is neither a file nor a link are left out, too. There are notes
// about all of these.
//
// The error is ErrNoBase if no base can be read, and gitrepo.ErrTooLarge if a limit is exceeded.
// If a file cannot be read, or is written meanwhile, the error names it.
func FromWorkspace(ctx context.Context, cfg WorkspaceConfig) (gitrepo.Series, error) {
	s, _, err := ReadWorkspace(ctx, cfg)
	return s, err
}

// Stamps returns when a file of a work tree was last written, and its size in bytes. ok is false
// if they are not known. The name is relative to the work tree.
type Stamps func(name string) (modified time.Time, size int64, ok bool)

// ReadWorkspace does what FromWorkspace does. It also returns the stamps of the files that have
// not changed since git wrote its index. Nearly all files are among them, so nobody needs to look
// at each of them again.
func ReadWorkspace(ctx context.Context, cfg WorkspaceConfig) (gitrepo.Series, Stamps, error) {
	r := reader{cfg.Repo}
	if err := r.checkWorkTree(cfg.Dir); err != nil {
		return gitrepo.Series{}, nil, err
	}
	head, err := r.repo.Clone().Resolve("HEAD")
	if errors.Is(err, gitrepo.ErrNoRef) {
		return gitrepo.Series{}, nil, fmt.Errorf("%w: the work tree %s has no commit yet: check out the one that the agent is to start from", ErrNoBase, cfg.Dir)
	}
	if err != nil {
		return gitrepo.Series{}, nil, err
	}
	if err := r.repo.Require(ctx, head); err != nil {
		return gitrepo.Series{}, nil, err
	}
	base, err := r.baseOf(ctx, head, cfg.Bases)
	if err != nil {
		return gitrepo.Series{}, nil, err
	}
	s, err := r.series(ctx, base, head)
	if err != nil {
		return gitrepo.Series{}, nil, err
	}
	from, err := r.repo.TreeID(ctx, head)
	if err != nil {
		return gitrepo.Series{}, nil, err
	}
	to, notes, stamps, err := r.workTree(ctx, cfg, from)
	if err != nil {
		return gitrepo.Series{}, nil, fmt.Errorf("reading the work tree %s: %w", cfg.Dir, err)
	}
	s.Notes = append(s.Notes, notes...)
	addChange(&s, gitrepo.Change{Before: from, After: to})
	return s, stamps, nil
}

// checkWorkTree returns an error unless the directory is the work tree of the clone.
func (r reader) checkWorkTree(dir string) error {
	found, err := gitrepo.Locate(dir)
	if err == nil && found.GitDir != r.repo.Clone().GitDir {
		err = fmt.Errorf("%s is not the work tree of the clone %s", dir, r.repo.Clone().GitDir)
	}
	return err
}

// workTree makes the tree of what is in a work tree. headTree is the tree of its last commit.
func (r reader) workTree(ctx context.Context, cfg WorkspaceConfig, headTree string) (to string, notes []string, stamps Stamps, err error) {
	index, err := r.readIndex()
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil, nil, errors.New("nothing is checked out in it: there is no index ('git checkout HEAD' makes one)")
	}
	if err != nil {
		return "", nil, nil, fmt.Errorf("the index cannot be used: %w; remove %s and run 'git reset', which keeps the files, or check the repository out again", err, filepath.Join(r.repo.Clone().GitDir, "index"))
	}
	if len(index.unmerged) > 0 {
		return "", nil, nil, fmt.Errorf("a merge was not finished in %s: resolve it, and 'git add' the files", text.QuoteList(index.unmerged))
	}
	committed, err := r.committedFiles(ctx, headTree, index)
	if err != nil {
		return "", nil, nil, err
	}
	dir, remove, err := r.repo.TempDir()
	if err != nil {
		return "", nil, nil, err
	}
	defer remove()
	shadow, err := r.newShadow(ctx, dir)
	if err != nil {
		return "", nil, nil, err
	}
	defer shadow.Close()
	tree, err := gitrepo.OpenWorkTree(cfg.Dir)
	if err != nil {
		return "", nil, nil, err
	}
	defer tree.Close()
	s := &scan{tree: tree, shadow: shadow, committed: committed, index: index, exclude: map[string]bool{}, keepFiltered: cfg.KeepFiltered}
	for _, name := range cfg.Exclude {
		s.exclude[path.Clean(name)] = true
	}
	for range runtime.GOMAXPROCS(0) - 1 {
		other, err := tree.Reopen()
		if err != nil {
			return "", nil, nil, err
		}
		defer other.Close()
		s.others = append(s.others, other)
	}
	if err := s.run(ctx); err != nil {
		return "", nil, nil, err
	}
	changed, err := s.copyChanged(ctx)
	if err != nil {
		return "", nil, nil, err
	}
	if to, err = shadow.writeTree(ctx, headTree, changed, s.removed()); err != nil {
		return "", nil, nil, err
	}
	return to, s.notes(), index.stamps(), nil
}

// committedFiles returns the files of the last commit's tree by their names. Where the index notes
// that its files make this tree, they are those of the index, and git is not asked. Whoever
// forges that note can decide which files are read, as with everything in the index.
func (r reader) committedFiles(ctx context.Context, tree string, x *index) (map[string]*stagedFile, error) {
	if x.tree == tree && len(x.sparseDirs) == 0 {
		return x.files, nil
	}
	return r.listTree(ctx, tree)
}

// listTree lists the files of a tree by their names, with nothing but their modes and ids.
func (r reader) listTree(ctx context.Context, tree string) (map[string]*stagedFile, error) {
	out, err := r.repo.Run(ctx, gitrepo.Call{Limit: maxIndex}, "ls-tree", "-r", "-z", "--full-tree", tree)
	if err != nil {
		return nil, err
	}
	records := out.Records()
	files := make(map[string]*stagedFile, len(records))
	for _, record := range records {
		entry, name, named := strings.Cut(record, "\t")
		octal, rest, _ := strings.Cut(entry, " ")
		_, oid, ok := strings.Cut(rest, " ") // after the object's type
		mode, err := strconv.ParseUint(octal, 8, 32)
		if !named || !ok || err != nil {
			return nil, fmt.Errorf("git ls-tree answered %.80q", record)
		}
		files[name] = &stagedFile{mode: uint32(mode), oid: oid}
	}
	return files, nil
}
