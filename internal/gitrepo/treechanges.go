package gitrepo

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// What is read of new contents to describe them, in bytes.
const (
	maxLink       = 4096
	maxLFSPointer = 1024
)

// TreeChange is one path at which a tree differs from another. A rename is two.
type TreeChange struct {
	Path             string // as git stores it: any bytes but NUL
	OldMode, NewMode string // git's modes of six digits, "" where there is nothing
	OldOID, NewOID   string
	Size             int64  // of the new content, in bytes
	Link             string // what a new link points to, at most 4096 bytes of it
	LFS              bool   // the new content is a Git LFS pointer
}

// TreeChanges lists every path at which two commits (or trees) differ, by path.
// From "" is the empty tree. The trees are checked against their ids, so that
// what is listed is what a server will see, whatever the clone was made to hold.
func (r *Repo) TreeChanges(ctx context.Context, from, to string) ([]TreeChange, error) {
	a, err := r.verifiedTree(ctx, from)
	if err != nil {
		return nil, err
	}
	b, err := r.verifiedTree(ctx, to)
	if err != nil || a == b {
		return nil, err
	}
	var changes []TreeChange
	err = r.walkTrees(ctx, a, b, func(path string, old, new entry) {
		changes = append(changes, TreeChange{Path: path, OldMode: old.mode, OldOID: old.oid, NewMode: new.mode, NewOID: new.oid})
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(changes, func(x, y TreeChange) int { return cmp.Compare(x.Path, y.Path) })
	return changes, r.describe(ctx, changes)
}

// TreePaths lists the paths of all files, links and submodules of a commit (or
// tree), sorted. The trees are checked against their ids.
func (r *Repo) TreePaths(ctx context.Context, commit string) ([]string, error) {
	tree, err := r.verifiedTree(ctx, commit)
	if err != nil {
		return nil, err
	}
	var paths []string
	err = r.walkTrees(ctx, "", tree, func(path string, _, _ entry) { paths = append(paths, path) })
	slices.Sort(paths)
	return paths, err
}

// TreeLinks returns the targets of all links of a commit (or tree) by their paths.
// A target of more than 4,096 bytes, which no system follows, is left out.
func (r *Repo) TreeLinks(ctx context.Context, commit string) (map[string]string, error) {
	tree, err := r.verifiedTree(ctx, commit)
	if err != nil {
		return nil, err
	}
	at := map[string]string{}
	var oids []string
	err = r.walkTrees(ctx, "", tree, func(path string, _, to entry) {
		if to.mode == modeLink {
			at[path] = to.oid
			oids = append(oids, to.oid)
		}
	})
	if err != nil || len(oids) == 0 {
		return nil, err
	}
	contents, err := r.read(ctx, unique(oids), maxLink)
	if err != nil {
		return nil, err
	}
	links := make(map[string]string, len(at))
	for path, oid := range at {
		switch o := contents[oid]; {
		case errors.Is(o.err, ErrTooLarge):
		case o.err != nil:
			return nil, fmt.Errorf("the link %q: %w", path, o.err)
		default:
			links[path] = string(o.data)
		}
	}
	return links, nil
}

// verifiedTree returns the id of the tree of a commit, or of a tree itself.
func (r *Repo) verifiedTree(ctx context.Context, oid string) (string, error) {
	if oid == "" {
		return "", nil
	}
	if !IsObjectID(oid) {
		return "", fmt.Errorf("%q is not a whole object id", oid)
	}
	objects, err := r.read(ctx, []string{oid}, maxObjects)
	if err != nil {
		return "", err
	}
	switch o := objects[oid]; {
	case o.err != nil:
		return "", fmt.Errorf("%w: %s%s: %s", ErrMissing, oid, r.WhyMissing(), deeper)
	case o.kind == "tree":
		return oid, nil
	case o.kind == "commit":
		return treeOf(o.data)
	default:
		return "", fmt.Errorf("the object %s is no commit", oid)
	}
}

// describe fills in what only the new contents tell.
func (r *Repo) describe(ctx context.Context, changes []TreeChange) error {
	var ids []string
	for _, c := range changes {
		if c.NewOID != "" && c.NewMode != modeSubmodule {
			ids = append(ids, c.NewOID)
		}
	}
	sizes, err := r.sizes(ctx, unique(ids))
	if err != nil {
		return err
	}
	var small []string
	for i := range changes {
		c := &changes[i]
		c.Size = sizes[c.NewOID]
		if c.NewMode == modeLink && c.Size <= maxLink || isFileMode(c.NewMode) && c.Size <= maxLFSPointer {
			small = append(small, c.NewOID)
		}
	}
	contents, err := r.read(ctx, unique(small), maxLink)
	if err != nil {
		return err
	}
	for i := range changes {
		c := &changes[i]
		o := contents[c.NewOID]
		switch {
		case c.NewMode == modeLink && c.Size > maxLink:
			return fmt.Errorf("%w: the link %q points to a path of %d bytes", ErrTooLarge, c.Path, c.Size)
		case o.err != nil:
			return fmt.Errorf("%q: %w", c.Path, o.err)
		case c.NewMode == modeLink:
			c.Link = string(o.data)
		case isFileMode(c.NewMode):
			c.LFS = isLFSPointer(o.data)
		}
	}
	return nil
}

// sizes returns the sizes of files' contents, in bytes.
func (r *Repo) sizes(ctx context.Context, oids []string) (map[string]int64, error) {
	if len(oids) == 0 {
		return nil, nil
	}
	stdin := strings.NewReader(strings.Join(oids, "\n") + "\n")
	a, err := r.Run(ctx, Call{Stdin: stdin, Limit: maxObjects}, "cat-file", "--batch-check=%(objectname) %(objecttype) %(objectsize)")
	if err != nil {
		return nil, err
	}
	sizes := make(map[string]int64, len(oids))
	for line := range strings.Lines(string(a.Stdout)) {
		fields := strings.Fields(line)
		if len(fields) != 3 || fields[1] != "blob" {
			return nil, fmt.Errorf("the content of a file is not there%s: %s", r.WhyMissing(), strings.TrimSpace(line))
		}
		if sizes[fields[0]], err = strconv.ParseInt(fields[2], 10, 64); err != nil {
			return nil, fmt.Errorf("git cat-file answered %q", line)
		}
	}
	return sizes, nil
}

func isFileMode(mode string) bool { return mode == modeFile || mode == modeExec }

// isLFSPointer reports whether a content stands for one that Git LFS keeps.
func isLFSPointer(data []byte) bool {
	head, rest, _ := bytes.Cut(data, []byte{'\n'})
	known := string(head) == "version https://git-lfs.github.com/spec/v1" || string(head) == "version https://hawser.github.com/spec/v1"
	return known && (bytes.HasPrefix(rest, []byte("oid sha256:")) || bytes.Contains(rest, []byte("\noid sha256:")))
}
