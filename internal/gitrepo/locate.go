package gitrepo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrNotRepository is returned by Locate for a directory that is no clone.
var ErrNotRepository = errors.New("no git repository")

// Clone is what Locate found out about a clone by reading its files. Git never
// runs in it: its configuration and its attributes can name programs.
type Clone struct {
	// ObjectDir is the absolute path of the directory of the clone's objects.
	ObjectDir string
	// Shallow holds the commits at which the clone's history is cut off.
	Shallow []string
	// MissingAlternates holds the directories that the clone borrows objects from
	// and that are not there.
	MissingAlternates []string

	// GitDir is the absolute path of the directory that holds the clone's HEAD and index, and
	// CommonDir of the one that holds all else: another one in a worktree.
	GitDir, CommonDir string

	oidLen int // hex digits of an object id: 40, or 64 for SHA-256
}

// Limits of what is read of a clone.
const (
	maxPointer    = 64 << 10 // a file that holds one path or one ref
	maxList       = 64 << 20 // packed-refs, shallow, alternates
	maxAlternates = 64
	maxRefs       = 200_000
)

// Locate finds the objects of the clone at dir, which holds ".git" as a
// directory, or as the file that worktrees and submodules have. Links are not
// followed out of the directories concerned.
func Locate(dir string) (*Clone, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	gitDir, err := findGitDir(dir)
	if err != nil {
		return nil, err
	}
	c := &Clone{GitDir: gitDir, CommonDir: gitDir}
	root, err := os.OpenRoot(gitDir)
	if err != nil {
		return nil, fmt.Errorf("%w: %s names a directory that cannot be opened: %w", ErrNotRepository, filepath.Join(dir, ".git"), err)
	}
	defer root.Close()
	if data, err := readRegular(root, "commondir", maxPointer); err == nil {
		c.CommonDir = resolvePath(gitDir, strings.TrimSpace(string(data)))
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	common, err := os.OpenRoot(c.CommonDir)
	if err != nil {
		return nil, fmt.Errorf("%w: the main repository of the worktree %s cannot be opened: %w", ErrNotRepository, dir, err)
	}
	defer common.Close()
	info, err := common.Lstat("objects")
	if err != nil || !info.IsDir() {
		return nil, fmt.Errorf("%w: %s holds no directory of objects", ErrNotRepository, c.CommonDir)
	}
	c.ObjectDir = filepath.Join(c.CommonDir, "objects")
	if err := c.readShallow(common); err != nil {
		return nil, err
	}
	if err := c.followAlternates(); err != nil {
		return nil, err
	}
	c.oidLen = 40
	if oid, err := c.Resolve("HEAD"); err == nil {
		c.oidLen = len(oid)
	}
	return c, nil
}

// findGitDir returns the directory that dir/.git is or names.
func findGitDir(dir string) (string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNotRepository, err)
	}
	defer root.Close()
	info, err := root.Lstat(".git")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("%w at %s: check out the repository first (actions/checkout)", ErrNotRepository, dir)
	case err != nil:
		return "", err
	case info.IsDir():
		return filepath.Join(dir, ".git"), nil
	}
	data, err := readRegular(root, ".git", maxPointer)
	if err != nil {
		return "", err
	}
	path, ok := strings.CutPrefix(string(data), "gitdir: ")
	path = strings.TrimRight(path, "\r\n")
	if !ok || path == "" || strings.ContainsAny(path, "\x00\n") {
		return "", fmt.Errorf("%w: %s is a file that names no directory", ErrNotRepository, filepath.Join(dir, ".git"))
	}
	return resolvePath(dir, path), nil
}

func resolvePath(base, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(base, path)
}

func (c *Clone) readShallow(common *os.Root) error {
	data, err := readRegular(common, "shallow", maxList)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(data)) {
		oid := strings.TrimSpace(line)
		if !IsObjectID(oid) {
			return fmt.Errorf("%s is not a list of commits", filepath.Join(c.CommonDir, "shallow"))
		}
		c.Shallow = append(c.Shallow, oid)
	}
	return nil
}

// followAlternates walks the directories that the clone borrows objects from,
// as git will: it asserts that each list is an ordinary file, and notes which
// directories are missing.
func (c *Clone) followAlternates() error {
	todo, seen := []string{c.ObjectDir}, map[string]bool{c.ObjectDir: true}
	for len(todo) > 0 {
		dir := todo[0]
		todo = todo[1:]
		root, err := os.OpenRoot(dir)
		if err != nil {
			c.MissingAlternates = append(c.MissingAlternates, dir)
			continue
		}
		data, err := readRegular(root, filepath.Join("info", "alternates"), maxList)
		_ = root.Close()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(data)) {
			line = strings.TrimRight(line, "\r\n")
			if line == "" || line[0] == '#' {
				continue
			}
			next := resolvePath(dir, line)
			if seen[next] {
				continue
			}
			if len(seen) >= maxAlternates {
				return fmt.Errorf("%s borrows objects from more than %d directories", dir, maxAlternates)
			}
			seen[next] = true
			todo = append(todo, next)
		}
	}
	return nil
}

// IsObjectID reports whether s is a whole object id in lower-case hex.
func IsObjectID(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}
