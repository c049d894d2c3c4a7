package gitrepo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/agent-airlock/airlock/internal/branchname"
	"github.com/agent-airlock/airlock/internal/nofollow"
)

// ErrNotRepository is returned by Locate for a directory that is not a clone.
var ErrNotRepository = errors.New("no git repository")

// ErrNoRef is returned by Resolve and Revision if their argument is invalid, or the clone does not
// have it.
var ErrNoRef = errors.New("no such ref")

var errReftable = errors.New("the clone keeps its refs in the reftable format, which airlock does not read: clone it with the files format")

// Clone is what Locate found out about a clone by reading its files. Git never runs in it:
// its configuration and its attributes can name programs.
type Clone struct {
	// GitDir is the absolute path of the directory that contains the clone's HEAD and index,
	// CommonDir that of the directory with everything else. In a worktree they differ.
	GitDir, CommonDir string
	// ObjectDir is the absolute path of the directory of the clone's objects.
	ObjectDir string
	// Shallow lists the commits at which the clone's history is cut off.
	Shallow []string
	// MissingAlternates lists the directories from which the clone should borrow objects, and
	// which cannot be opened, mostly because they do not exist.
	MissingAlternates []string

	oidLen     int      // hex digits of an object id: 40, or 64 for SHA-256
	objectDirs []string // ObjectDir, and the directories that it borrows objects from
}

// Limits of what is read of a clone.
const (
	maxPointer    = 64 << 10 // bytes of a file that contains one path or one ref
	maxList       = 64 << 20 // bytes of packed-refs, shallow or alternates
	maxAlternates = 64
)

// WorkTreeRoot returns the root of the work tree that a directory is in. The directory itself may
// be reached by a link.
func WorkTreeRoot(dir string) (string, error) {
	path, err := filepath.Abs(dir)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return "", fmt.Errorf("there is no directory %q", dir)
	}
	if !isDirectory(path) {
		return "", fmt.Errorf("%q is not a directory", dir)
	}
	for parent := path; ; parent = filepath.Dir(parent) {
		if info, err := os.Lstat(filepath.Join(parent, ".git")); err == nil && info.Mode()&fs.ModeSymlink == 0 {
			return parent, nil
		}
		if parent == path && isDirectory(filepath.Join(parent, "objects")) && isDirectory(filepath.Join(parent, "refs")) {
			return "", fmt.Errorf("%s is a bare repository, without files: use a clone of it", path)
		}
		if parent == filepath.Dir(parent) {
			return "", fmt.Errorf("%s is not in a git repository: run 'git init' first, or name one with --dir", path)
		}
	}
}

func isDirectory(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// Locate finds the objects of the clone at dir, in which ".git" is a directory, or the file
// that worktrees and submodules have. It follows no links out of these directories.
func Locate(dir string) (*Clone, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	gitDir, err := findGitDir(dir)
	if err != nil {
		return nil, err
	}
	c := &Clone{GitDir: gitDir, CommonDir: gitDir, oidLen: 40}
	root, err := nofollow.OpenPath(gitDir)
	if err != nil {
		return nil, fmt.Errorf("%w: %s names a directory that cannot be opened: %w", ErrNotRepository, filepath.Join(dir, ".git"), err)
	}
	defer root.Close()
	if data, _, err := readFile(root, "commondir", maxPointer); err == nil {
		c.CommonDir = resolvePath(gitDir, strings.TrimSpace(string(data)))
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	common, err := nofollow.OpenPath(c.CommonDir)
	if err != nil {
		return nil, fmt.Errorf("%w: the main repository of the worktree %s cannot be opened: %w", ErrNotRepository, dir, err)
	}
	defer common.Close()
	info, err := common.Lstat("objects")
	if err != nil || !info.IsDir() {
		return nil, fmt.Errorf("%w: %s contains no directory of objects", ErrNotRepository, c.CommonDir)
	}
	c.ObjectDir = filepath.Join(c.CommonDir, "objects")
	if err := c.readShallow(common); err != nil {
		return nil, err
	}
	if err := c.followAlternates(); err != nil {
		return nil, err
	}
	if oid, err := c.Resolve("HEAD"); err == nil {
		c.oidLen = len(oid)
	}
	return c, nil
}

// findGitDir returns the directory that dir/.git is or names.
func findGitDir(dir string) (string, error) {
	root, err := nofollow.OpenPath(dir)
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
	data, _, err := readFile(root, ".git", maxPointer)
	if _, isOther := errors.AsType[*nofollow.KindError](err); isOther {
		return "", fmt.Errorf("%w: put a file there that contains 'gitdir: ' and the directory's path, or check the repository out again", err)
	}
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

// resolvePath joins a path to base unless the path is absolute, as git does.
func resolvePath(base, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(base, path)
}

func (c *Clone) readShallow(common *os.Root) error {
	data, _, err := readFile(common, "shallow", maxList)
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

// followAlternates follows the lists of directories that the clone borrows objects from, as
// git will. Each list must be an ordinary file; directories that cannot be opened are noted.
func (c *Clone) followAlternates() error {
	todo, seen := []string{c.ObjectDir}, map[string]bool{c.ObjectDir: true}
	for len(todo) > 0 {
		dir := todo[0]
		todo = todo[1:]
		root, err := nofollow.OpenPath(dir)
		if err != nil {
			c.MissingAlternates = append(c.MissingAlternates, dir)
			continue
		}
		data, _, err := readFile(root, filepath.Join("info", "alternates"), maxList)
		_ = root.Close()
		c.objectDirs = append(c.objectDirs, dir)
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
				return fmt.Errorf("%s borrows objects from %d directories or more", dir, maxAlternates)
			}
			seen[next] = true
			todo = append(todo, next)
		}
	}
	return nil
}

// Branch returns the name of the branch that is checked out, or "" if a commit is checked out
// without a branch.
func (c *Clone) Branch() (string, error) {
	data, _, err := ReadFile(c.GitDir, "HEAD", maxPointer)
	if err != nil {
		return "", err
	}
	ref, symbolic := strings.CutPrefix(strings.TrimSpace(string(data)), "ref: ")
	if !symbolic {
		return "", nil
	}
	return strings.TrimPrefix(ref, "refs/heads/"), nil
}

// Resolve returns the object id that a ref of the clone names: "HEAD", or a full name such
// as "refs/remotes/origin/main".
func (c *Clone) Resolve(name string) (string, error) {
	if name != "HEAD" && !validRef(name) {
		return "", fmt.Errorf("%w: %q is not a full ref name", ErrNoRef, name)
	}
	start := name
	for range 6 { // as deep as git follows
		content, err := c.looseRef(name)
		kind, isOther := errors.AsType[*nofollow.KindError](err)
		switch {
		case errors.Is(err, fs.ErrNotExist), isOther && kind.Found.IsDir() && name != "HEAD": // git leaves empty directories behind
			return c.packedRef(name)
		case errors.Is(err, syscall.ENOTDIR): // git does not look for it in packed-refs either
			return "", fmt.Errorf("%w in the clone: %s", ErrNoRef, name)
		case err != nil:
			return "", err
		}
		next, symbolic := strings.CutPrefix(content, "ref:")
		if !symbolic {
			if !IsObjectID(content) {
				return "", fmt.Errorf("the ref %s of the clone contains no object id; check the repository out again", name)
			}
			return content, nil
		}
		if name = strings.TrimSpace(next); !validRef(name) {
			return "", fmt.Errorf("the ref %s of the clone points to no ref; check the repository out again", start)
		}
		if name == "refs/heads/.invalid" {
			return "", errReftable
		}
	}
	return "", fmt.Errorf("the ref %s of the clone points in circles; check the repository out again", start)
}

// looseRef reads the file that contains one ref alone: the worktree's, otherwise the common one.
func (c *Clone) looseRef(name string) (string, error) {
	file := filepath.FromSlash(name)
	data, _, err := ReadFile(c.GitDir, file, maxPointer)
	if err != nil && c.CommonDir != c.GitDir && name != "HEAD" {
		data, _, err = ReadFile(c.CommonDir, file, maxPointer)
	}
	return strings.TrimSpace(string(data)), err
}

// packedRef finds a ref in the file packed-refs. The error is ErrNoRef if it is not there.
func (c *Clone) packedRef(name string) (string, error) {
	data, _, err := ReadFile(c.CommonDir, "packed-refs", maxList)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	for line := range strings.Lines(string(data)) {
		oid, ref, _ := strings.Cut(strings.TrimRight(line, "\r\n"), " ")
		if ref == name && IsObjectID(oid) {
			return oid, nil
		}
	}
	return "", fmt.Errorf("%w in the clone: %s", ErrNoRef, name)
}

// validRef reports whether a name can be the full name of a ref. It follows git's
// check-ref-format as far as this matters for a path: no name that it accepts leads out of
// the directory of refs.
func validRef(name string) bool {
	if !strings.HasPrefix(name, "refs/") || strings.HasSuffix(name, "/") || len(name) > 4096 {
		return false
	}
	if strings.ContainsAny(name, " ~^:?*[\\\x7f") || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' }) {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part == "." || strings.Contains(part, "..") || strings.HasSuffix(part, ".lock") {
			return false
		}
	}
	return true
}

// IsObjectID reports whether s is a full object id in lower-case hex.
func IsObjectID(s string) bool {
	return branchname.IsObjectID(s)
}

// ReadFile reads an ordinary file below a directory, without blocking. The file must not be a link.
// Where a directory on the way to it is a link, that is followed if it stays below dir. The error is
// ErrTooLarge if the file has more than limit bytes.
func ReadFile(dir, name string, limit int64) ([]byte, fs.FileInfo, error) {
	root, err := nofollow.OpenPath(dir)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	return readFile(root, name, limit)
}

// readFile is ReadFile for a directory that is open.
func readFile(root *os.Root, name string, limit int64) ([]byte, fs.FileInfo, error) {
	data, info, err := nofollow.Read(root, name, limit)
	if err != nil {
		err = fmt.Errorf("%s: %w", filepath.Join(root.Name(), name), err)
	}
	return data, info, err
}
