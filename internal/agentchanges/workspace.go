package agentchanges

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/text"
)

// Limits of what is read of a work tree.
const (
	maxWorkFiles = 2_000_000 // names, without ignored ones
	maxWorkFile  = 100 << 20 // bytes of a changed file; GitHub accepts no larger one
	maxWorkBytes = 2 << 30   // bytes of all changed files
	maxDepth     = 200       // of directories that are not committed
)

// FromWorkspace reads the commits after the base, and as one last change without author and
// message what is not committed: files that git tracks and those that no ignore rule of the
// work tree hides. If a file was staged and then changed again, the work tree counts.
//
// Nothing is written there and git does not run there: its configuration and attributes
// only say how lines end. No filter runs. A changed file that needs one is left out; so are
// submodules, nested repositories and what is neither a file nor a link, each with a note.
//
// The error is ErrNoBase without a base that can be read, gitrepo.ErrTooLarge over a limit,
// and one that names the file if one cannot be read or is written meanwhile.
func FromWorkspace(ctx context.Context, cfg WorkspaceConfig) (gitrepo.Series, error) {
	r := reader{cfg.Repo}
	if err := r.checkOwner(cfg.Dir); err != nil {
		return gitrepo.Series{}, err
	}
	head, err := r.repo.Clone().Resolve("HEAD")
	if errors.Is(err, gitrepo.ErrNoRef) {
		return gitrepo.Series{}, fmt.Errorf("%w: the work tree %s has no commit yet: check out the one that the agent is to start from", ErrNoBase, cfg.Dir)
	}
	if err != nil {
		return gitrepo.Series{}, err
	}
	if err := r.repo.Require(ctx, head); err != nil {
		return gitrepo.Series{}, err
	}
	base, err := r.baseOf(ctx, head, cfg.Bases)
	if err != nil {
		return gitrepo.Series{}, err
	}
	s, err := r.series(ctx, base, head)
	if err != nil {
		return gitrepo.Series{}, err
	}
	from, err := r.repo.TreeID(ctx, head)
	if err != nil {
		return gitrepo.Series{}, err
	}
	to, notes, err := r.workTree(ctx, cfg, from)
	if err != nil {
		return gitrepo.Series{}, fmt.Errorf("reading the work tree %s: %w", cfg.Dir, err)
	}
	s.Notes = append(s.Notes, notes...)
	addChange(&s, gitrepo.Change{Before: from, After: to})
	return s, nil
}

// checkOwner returns an error unless the directory is the work tree of the clone.
func (r reader) checkOwner(dir string) error {
	found, err := gitrepo.Locate(dir)
	if err == nil && found.GitDir != r.repo.Clone().GitDir {
		err = fmt.Errorf("%s is not the work tree of the clone %s", dir, r.repo.Clone().GitDir)
	}
	return err
}

// workTree makes the tree of what is in a work tree, whose last commit has the tree from.
func (r reader) workTree(ctx context.Context, cfg WorkspaceConfig, from string) (to string, notes []string, err error) {
	committed, err := r.committedFiles(ctx, from)
	if err != nil {
		return "", nil, err
	}
	index, err := r.readIndex()
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil, errors.New("nothing is checked out in it: there is no index ('git checkout HEAD' makes one)")
	}
	if err != nil {
		return "", nil, fmt.Errorf("the index cannot be used: %w", err)
	}
	if len(index.unmerged) > 0 {
		return "", nil, fmt.Errorf("a merge was not finished in %s: resolve it, and 'git add' the files", text.QuoteList(index.unmerged))
	}
	dir, remove, err := r.repo.TempDir()
	if err != nil {
		return "", nil, err
	}
	defer remove()
	shadow, err := r.newShadow(ctx, dir)
	if err != nil {
		return "", nil, err
	}
	defer shadow.Close()
	tree, err := gitrepo.OpenWorkTree(cfg.Dir)
	if err != nil {
		return "", nil, err
	}
	defer tree.Close()
	s := &scan{tree: tree, shadow: shadow, committed: committed, index: index, exclude: map[string]bool{}}
	for _, name := range cfg.Exclude {
		s.exclude[path.Clean(name)] = true
	}
	if err := s.run(ctx); err != nil {
		return "", nil, err
	}
	changed, err := s.copyChanged(ctx)
	if err != nil {
		return "", nil, err
	}
	if to, err = shadow.writeTree(ctx, from, changed, s.removed()); err != nil {
		return "", nil, err
	}
	return to, s.notes(), nil
}

// committedFile is an entry of the last commit's tree.
type committedFile struct {
	mode uint32
	oid  string
}

// committedFiles lists the files of a tree by their names.
func (r reader) committedFiles(ctx context.Context, tree string) (map[string]committedFile, error) {
	out, err := r.repo.Run(ctx, gitrepo.Call{Limit: maxIndex}, "ls-tree", "-r", "-z", "--full-tree", tree)
	if err != nil {
		return nil, err
	}
	records := out.Records()
	files := make(map[string]committedFile, len(records))
	for _, record := range records {
		entry, name, named := strings.Cut(record, "\t")
		octal, rest, _ := strings.Cut(entry, " ")
		_, oid, ok := strings.Cut(rest, " ") // after the object's type
		mode, err := strconv.ParseUint(octal, 8, 32)
		if !named || !ok || err != nil {
			return nil, fmt.Errorf("git ls-tree answered %.80q", record)
		}
		files[name] = committedFile{mode: uint32(mode), oid: oid}
	}
	return files, nil
}
