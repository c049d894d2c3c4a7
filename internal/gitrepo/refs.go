package gitrepo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// ErrNoRef is returned by Resolve for a ref that the clone does not have.
var ErrNoRef = errors.New("no such ref")

var errReftable = errors.New("the clone keeps its refs in the reftable format, which airlock does not read: clone it with the files format")

// Ref is a ref of a clone.
type Ref struct {
	Name string // "refs/heads/main"
	OID  string
}

// Resolve returns the object id that a ref of the clone names: "HEAD", or a
// full name such as "refs/remotes/origin/main".
func (c *Clone) Resolve(name string) (string, error) {
	if name != "HEAD" && !validRef(name) {
		return "", fmt.Errorf("%w: %q is not a full ref name", ErrNoRef, name)
	}
	start := name
	for range 6 { // as deep as git follows
		text, err := c.looseRef(name)
		if errors.Is(err, fs.ErrNotExist) {
			return c.packedRef(name)
		}
		if err != nil {
			return "", err
		}
		next, symbolic := strings.CutPrefix(text, "ref:")
		if !symbolic {
			if !IsObjectID(text) {
				return "", fmt.Errorf("the ref %s of the clone holds no object id", name)
			}
			return text, nil
		}
		if name = strings.TrimSpace(next); !validRef(name) {
			return "", fmt.Errorf("the ref %s of the clone points to no ref", start)
		}
		if name == "refs/heads/.invalid" {
			return "", errReftable
		}
	}
	return "", fmt.Errorf("the ref %s of the clone points in circles", start)
}

// Refs lists the clone's refs by name.
func (c *Clone) Refs() ([]Ref, error) {
	packed, err := c.packedRefs()
	if err != nil {
		return nil, err
	}
	oids := make(map[string]string, len(packed))
	for _, r := range packed {
		oids[r.Name] = r.OID
	}
	root, err := os.OpenRoot(c.CommonDir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	err = fs.WalkDir(root.FS(), "refs", func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case !d.Type().IsRegular() || !validRef(path):
			return nil
		case len(oids) >= maxRefs:
			return fmt.Errorf("the clone has more than %d refs", maxRefs)
		}
		oid, err := c.Resolve(path)
		if err == nil {
			oids[path] = oid
		}
		return nil // a broken ref is no ref
	})
	if err != nil {
		return nil, err
	}
	refs := make([]Ref, 0, len(oids))
	for name, oid := range oids {
		refs = append(refs, Ref{name, oid})
	}
	sort.Slice(refs, func(i, j int) bool { return refs[i].Name < refs[j].Name })
	return refs, nil
}

// looseRef reads a ref's own file: that of the worktree, else the common one.
func (c *Clone) looseRef(name string) (string, error) {
	dirs := []string{c.GitDir}
	if c.CommonDir != c.GitDir && name != "HEAD" {
		dirs = append(dirs, c.CommonDir)
	}
	var err error
	for _, dir := range dirs {
		var root *os.Root
		if root, err = os.OpenRoot(dir); err != nil {
			return "", err
		}
		var data []byte
		data, err = readRegular(root, filepath.FromSlash(name), maxPointer)
		_ = root.Close()
		if err == nil {
			return strings.TrimSpace(string(data)), nil
		}
	}
	return "", err
}

func (c *Clone) packedRef(name string) (string, error) {
	refs, err := c.packedRefs()
	if err != nil {
		return "", err
	}
	for _, r := range refs {
		if r.Name == name {
			return r.OID, nil
		}
	}
	return "", fmt.Errorf("%w in the clone: %s", ErrNoRef, name)
}

func (c *Clone) packedRefs() ([]Ref, error) {
	root, err := os.OpenRoot(c.CommonDir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	data, err := readRegular(root, "packed-refs", maxList)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var refs []Ref
	for line := range strings.Lines(string(data)) {
		oid, name, ok := strings.Cut(strings.TrimRight(line, "\r\n"), " ")
		if !ok || !IsObjectID(oid) || !validRef(name) {
			continue // the header, and the "^" lines of annotated tags
		}
		if len(refs) >= maxRefs {
			return nil, fmt.Errorf("the clone has more than %d refs", maxRefs)
		}
		refs = append(refs, Ref{name, oid})
	}
	return refs, nil
}

// validRef accepts the full names that git's check-ref-format does, as far as
// they matter for a path: nothing that could leave the directory of refs.
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
