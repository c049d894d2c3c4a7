package fixer

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/agent-airlock/airlock/internal/gitrepo"
)

// Apply puts the files of a fix into the workspace. Files that are already as the fix leaves them
// stay, so that Apply can be repeated after a crash. If somebody has changed one of the other files
// since the fix began, nothing is written, and the error is ErrEdited.
func (r Result) Apply(ctx context.Context, cfg Config) error {
	if len(r.Files) == 0 {
		return nil
	}
	root, err := os.OpenRoot(cfg.Root)
	if err != nil {
		return err
	}
	defer root.Close()
	var missing []File
	for _, f := range r.Files {
		there, err := f.isThere(root)
		if err != nil {
			return err
		}
		if !there {
			missing = append(missing, f)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	if err := checkUnedited(ctx, cfg, missing); err != nil {
		return err
	}
	slices.SortStableFunc(missing, func(a, b File) int { // removals first: a file may take a directory's place
		return min(len(a.Mode), 1) - min(len(b.Mode), 1)
	})
	for _, f := range missing {
		if err := f.install(root); err != nil {
			return fmt.Errorf("writing %s: %w", f.Path, err)
		}
	}
	return nil
}

// isThere reports whether the workspace has the file as the fix leaves it.
func (f File) isThere(root *os.Root) (bool, error) {
	mode, err := modeOf(root, f.Path)
	if err != nil || mode != f.Mode {
		return false, err
	}
	if f.Mode == "" { // it is removed
		return true, nil
	}
	info, err := root.Lstat(filepath.FromSlash(f.Path))
	if err != nil {
		return false, err
	}
	isLink := info.Mode()&os.ModeSymlink != 0
	if !isLink && !info.Mode().IsRegular() {
		return false, nil
	}
	now, err := content(root, f, int64(len(f.Content))+1)
	return err == nil && bytes.Equal(now, f.Content), nil // a file that cannot be read counts as another one
}

// checkUnedited returns an error unless the files are as they were when the fix began.
func checkUnedited(ctx context.Context, cfg Config, files []File) error {
	clone, err := gitrepo.Locate(cfg.Root)
	if err != nil {
		return err
	}
	c := workCopy{pathList: cfg.PathList}
	if c.head, err = clone.Resolve("HEAD"); err != nil {
		return err
	}
	there, err := c.state(ctx, cfg.Root)
	if err != nil {
		return err
	}
	for _, f := range files {
		entry, changed := there.now[f.Path]
		if !changed {
			if entry, err = c.committed(ctx, clone, f.Path); err != nil {
				return err
			}
		}
		if entry != f.Before {
			return fmt.Errorf("%s %w, so nothing of the fix was written: finish it by hand, and decide 'fixed'", f.Path, ErrEdited)
		}
	}
	return nil
}

// committed returns what git has at a path in the commit head: mode and object id, "" for nothing.
func (c *workCopy) committed(ctx context.Context, clone *gitrepo.Clone, name string) (string, error) {
	repo, err := gitrepo.New(clone, gitrepo.Options{PathList: c.pathList})
	if err != nil {
		return "", err
	}
	defer repo.Close()
	tree, err := repo.TreeID(ctx, c.head)
	if err != nil {
		return "", err
	}
	// What is at the path is the only difference between the tree and one without the path.
	without, err := repo.EditTree(ctx, tree, []gitrepo.TreeEdit{{Path: name}})
	if err != nil {
		return "", err
	}
	changes, err := repo.TreeChanges(ctx, without, tree)
	if err != nil {
		return "", err
	}
	for _, ch := range changes {
		if ch.Path == name {
			return entry(ch.NewMode, ch.NewOID), nil
		}
	}
	return "", nil
}

// install puts the file in its place, or removes it. It writes to another name first and then
// renames, so that nobody sees half of the file. It replaces a link instead of following it, and
// does not leave the workspace through a link to a directory. New files and directories belong to the
// workspace's owner.
func (f File) install(root *os.Root) error {
	name := filepath.FromSlash(f.Path)
	dir := filepath.FromSlash(path.Dir(f.Path))
	if f.Mode == "" {
		if err := root.Remove(name); err != nil && !isMissing(err) {
			return err
		}
		for d := dir; d != "."; d = filepath.Dir(d) { // git keeps no empty directories
			if root.Remove(d) != nil {
				break
			}
		}
		return nil
	}
	if err := makeDirectories(root, dir); err != nil {
		return err
	}
	temp := filepath.Join(dir, ".airlock-"+rand.Text())
	if err := f.write(root, temp); err != nil {
		_ = root.Remove(temp)
		return err
	}
	giveAway(root, temp)
	if err := root.Rename(temp, name); err != nil {
		_ = root.Remove(temp)
		return err
	}
	return nil
}

// makeDirectories makes a directory and those above it, unless they are there.
func makeDirectories(root *os.Root, dir string) error {
	for i := range len(dir) + 1 {
		if i < len(dir) && !os.IsPathSeparator(dir[i]) {
			continue
		}
		switch err := root.Mkdir(dir[:i], 0o755); {
		case err == nil:
			giveAway(root, dir[:i])
		case !errors.Is(err, fs.ErrExist):
			return err
		}
	}
	return nil
}

// write creates a file with the content, or a link.
func (f File) write(root *os.Root, name string) error {
	if f.Mode == linkMode {
		return root.Symlink(filepath.FromSlash(string(f.Content)), name)
	}
	mode := os.FileMode(0o644)
	if f.Mode == execMode {
		mode = 0o755
	}
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = file.Write(f.Content)
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}
