package fixer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/agentchanges"
	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/nofollow"
)

// Limits of what a fix may change, and of what is read for a clone.
const (
	maxFiles = 2000
	maxBytes = 64 << 20 // of all new contents together
	maxIndex = 1 << 30  // bytes of git's index, or of a list of objects
)

// git's modes of files.
const (
	fileMode = "100644"
	execMode = "100755"
	linkMode = "120000"
)

// File is a file as a fix leaves it.
type File struct {
	Path string `json:"path"` // slash-separated, relative to the workspace
	// Mode is git's: 100644, 100755 or, for a link, 120000; "" if the file is removed.
	Mode    string `json:"mode,omitempty"`
	Content []byte `json:"content,omitempty"` // of a link, its target
	// Before is what git would store for the file before the fix: mode and object id, ""
	// if there was none.
	Before string `json:"before,omitempty"`
}

// workCopy is a copy of the workspace with a clone of its own, by which git finds what changes
// there. The clone borrows the workspace's objects, unless giveObjects has given the clone its own.
type workCopy struct {
	dir      string
	head     string // the workspace's commit
	pathList string // the directories in which git is looked for

	// As the copy was at its beginning:
	before state
	repo   *gitrepo.Repo // has the objects of before.tree
}

// state is how a work tree differs from the commit head.
type state struct {
	now    map[string]string // what git would store for the paths that differ: see entry
	atHead map[string]string // what is at head for these paths
	tree   string            // the tree that git would make of the work tree
	// leftOut describes what git would not take as it is, such as files with a filter.
	leftOut []string
}

// close removes the repository of the copy's beginning.
func (c *workCopy) close() {
	if c.repo != nil {
		_ = c.repo.Close()
	}
}

// beginCopy gives a copy its clone, and reads what it contains. apart reports that the copy's owner
// cannot read the workspace: then the clone gets objects of its own.
func beginCopy(ctx context.Context, cfg Config, dir string, apart bool) (*workCopy, error) {
	clone, err := gitrepo.Locate(cfg.Root)
	if err != nil {
		return nil, err
	}
	c := &workCopy{dir: dir, pathList: cfg.PathList}
	if c.head, err = clone.Resolve("HEAD"); err != nil {
		return nil, err
	}
	if err := makeClone(clone, dir, c.head); err != nil {
		return nil, err
	}
	own, err := gitrepo.Locate(dir)
	if err != nil {
		return nil, err
	}
	if c.repo, err = gitrepo.New(own, gitrepo.Options{PathList: c.pathList}); err != nil {
		return nil, err
	}
	c.before, err = c.stateIn(ctx, c.repo, dir)
	if err == nil && apart {
		err = c.giveObjects(ctx)
	}
	if err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// giveObjects gives the clone objects of its own: those of its commit and those of the copy's
// files. Then it borrows none. The commit's history is cut off.
func (c *workCopy) giveObjects(ctx context.Context) error {
	objects, err := c.repo.Run(ctx, gitrepo.Call{Limit: maxIndex}, "rev-list", "--objects", "--no-walk", c.head, c.before.tree)
	if err != nil {
		return err
	}
	packs := filepath.Join(c.dir, ".git", "objects", "pack") // a plain path, because nothing of the copy's owner runs yet
	name, err := c.repo.Run(ctx, gitrepo.Call{Stdin: bytes.NewReader(objects.Stdout)}, "pack-objects", "-q", "--window=0", "--delta-base-offset", filepath.Join(packs, "pack"))
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(filepath.Join(c.dir, ".git"))
	if err != nil {
		return err
	}
	defer root.Close()
	for _, ending := range []string{"pack", "idx", "rev"} {
		giveAway(root, filepath.Join("objects", "pack", "pack-"+name.Line()+"."+ending))
	}
	if err := root.WriteFile("shallow", []byte(c.head+"\n"), 0o644); err != nil {
		return err
	}
	giveAway(root, "shallow")
	return root.Remove(filepath.Join("objects", "info", "alternates"))
}

// makeClone writes the clone's files, which belong to the owner of the copy: otherwise git would
// refuse to work there. The index comes from the workspace's clone, so that both track the same
// files.
func makeClone(from *gitrepo.Clone, dir, head string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.RemoveAll(".git"); err != nil { // a worktree's is a file
		return err
	}
	for _, sub := range []string{"", "objects", "objects/info", "objects/pack", "refs", "refs/heads", "info"} {
		name := filepath.Join(".git", filepath.FromSlash(sub))
		if err := root.Mkdir(name, 0o755); err != nil {
			return err
		}
		giveAway(root, name)
	}
	config := "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"
	if len(head) == 64 {
		config = "[core]\n\trepositoryformatversion = 1\n\tbare = false\n[extensions]\n\tobjectFormat = sha256\n"
	}
	if strings.ContainsAny(from.ObjectDir, "\n\"") {
		return fmt.Errorf("git cannot borrow objects from %s, because its name contains a quotation mark or a line break", from.ObjectDir)
	}
	files := map[string][]byte{"HEAD": []byte(head + "\n"), "config": []byte(config), "objects/info/alternates": []byte(from.ObjectDir + "\n")}
	for name, source := range map[string]struct{ dir, name string }{
		"index": {from.GitDir, "index"}, "info/exclude": {from.CommonDir, "info/exclude"}, "shallow": {from.CommonDir, "shallow"},
	} {
		data, _, err := gitrepo.ReadFile(source.dir, source.name, maxIndex)
		if isMissing(err) {
			continue
		}
		if err != nil {
			return err
		}
		files[name] = data
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(".git", filepath.FromSlash(name))
		if err := root.WriteFile(path, files[name], 0o644); err != nil {
			return err
		}
		giveAway(root, path)
	}
	return nil
}

// state compares a work tree with the commit head.
func (c *workCopy) state(ctx context.Context, dir string) (state, error) {
	clone, err := gitrepo.Locate(dir)
	if err != nil {
		return state{}, err
	}
	repo, err := gitrepo.New(clone, gitrepo.Options{PathList: c.pathList})
	if err != nil {
		return state{}, err
	}
	defer repo.Close()
	return c.stateIn(ctx, repo, dir)
}

// stateIn is state, but makes the tree in the repository repo.
func (c *workCopy) stateIn(ctx context.Context, repo *gitrepo.Repo, dir string) (state, error) {
	series, err := agentchanges.FromWorkspace(ctx, agentchanges.WorkspaceConfig{Repo: repo, Dir: dir, Bases: []string{c.head}})
	if err != nil {
		return state{}, err
	}
	from, err := repo.TreeID(ctx, c.head)
	if err != nil {
		return state{}, err
	}
	s := state{now: map[string]string{}, atHead: map[string]string{}, tree: from, leftOut: series.Notes}
	if n := len(series.Changes); n > 0 {
		s.tree = series.Changes[n-1].After
	}
	changes, err := repo.TreeChanges(ctx, from, s.tree)
	if err != nil {
		return state{}, err
	}
	for _, ch := range changes {
		s.now[ch.Path], s.atHead[ch.Path] = entry(ch.NewMode, ch.NewOID), entry(ch.OldMode, ch.OldOID)
	}
	return s, nil
}

// entry returns what git stores for a file in one string: mode and object id, "" for none.
func entry(mode, oid string) string {
	if mode == "" {
		return ""
	}
	return mode + " " + oid
}

// changes returns what has changed in the copy since its beginning, in the order of paths. leftOut
// describes changes that git would not take, and that are lost with the copy.
func (c *workCopy) changes(ctx context.Context) (files []File, leftOut []string, err error) {
	if info, err := os.Lstat(filepath.Join(c.dir, ".git")); err != nil || !info.IsDir() {
		return nil, nil, errors.New("the copy's .git was removed, or replaced by another one; leave it where it is")
	}
	s, err := c.state(ctx, c.dir)
	if err != nil {
		return nil, nil, err
	}
	for _, note := range s.leftOut {
		if !slices.Contains(c.before.leftOut, note) {
			leftOut = append(leftOut, note)
		}
	}
	files, err = c.changedFiles(s)
	return files, leftOut, err
}

// changedFiles returns the files of the copy that differ from its beginning.
func (c *workCopy) changedFiles(s state) (files []File, err error) {
	root, err := os.OpenRoot(c.dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	paths := maps.Clone(s.now)
	maps.Copy(paths, c.before.now)
	left := int64(maxBytes)
	for _, name := range slices.Sorted(maps.Keys(paths)) {
		before, wasChanged := c.before.now[name]
		after, isChanged := s.now[name]
		if wasChanged == isChanged && before == after {
			continue
		}
		if !wasChanged {
			before = s.atHead[name]
		}
		f := File{Path: name, Before: before}
		f.Mode, _, _ = strings.Cut(after, " ")
		if !isChanged { // it is again as the commit has it
			if f.Mode, err = modeOf(root, name); err != nil {
				return nil, err
			}
		}
		if len(files) == maxFiles {
			return nil, fmt.Errorf("it changed more than %d files", maxFiles)
		}
		if f.Mode != "" {
			if f.Content, err = content(root, f, left); err != nil {
				return nil, err
			}
		}
		left -= int64(len(f.Content))
		files = append(files, f)
	}
	return files, nil
}

// modeOf returns git's mode of a file, "" if there is none, or a directory in its place.
func modeOf(root *os.Root, name string) (string, error) {
	info, err := root.Lstat(filepath.FromSlash(name))
	switch {
	case isMissing(err):
		return "", nil
	case err != nil:
		return "", err
	case info.IsDir():
		return "", nil
	case info.Mode()&os.ModeSymlink != 0:
		return linkMode, nil
	case info.Mode().Perm()&0o100 != 0: // git looks at the owner alone
		return execMode, nil
	}
	return fileMode, nil
}

// content reads a file of the copy, which a stranger's program has written: it does not follow a
// link in the file's place, follows no link out of the copy, and waits for nothing.
func content(root *os.Root, f File, limit int64) ([]byte, error) {
	name := filepath.FromSlash(f.Path)
	switch f.Mode {
	case linkMode:
		target, err := root.Readlink(name)
		return []byte(filepath.ToSlash(target)), err
	case fileMode, execMode:
	default:
		return nil, fmt.Errorf("%s is neither a file nor a link", f.Path)
	}
	data, _, err := nofollow.Read(root, name, limit)
	switch {
	case errors.Is(err, nofollow.ErrTooLarge):
		err = fmt.Errorf("its changes are larger than %d MiB", maxBytes>>20)
	case err != nil:
		err = fmt.Errorf("%s: %w", f.Path, err)
	}
	return data, err
}

// ErrEdited reports that somebody changed a file of the workspace while it was mended.
var ErrEdited = errors.New("was changed in the workspace while it was mended")
