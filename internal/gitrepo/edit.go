package gitrepo

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
)

// TreeEdit sets or removes what is at a path of a tree.
type TreeEdit struct {
	Path      string
	Mode, OID string // "" to remove what is at Path
}

// EditTree makes a tree from another one and returns its id. A file that an edit adds replaces a
// directory at its path, and a file in the place of one of its parent directories.
func (r *Repo) EditTree(ctx context.Context, tree string, edits []TreeEdit) (string, error) {
	dir, remove, err := r.TempDir()
	if err != nil {
		return "", err
	}
	defer remove()
	index := filepath.Join(dir, "index")
	if _, err := r.Run(ctx, Call{Index: index}, "read-tree", tree); err != nil {
		return "", err
	}
	var removed, added strings.Builder // in this order, so that a directory can become a file
	for _, e := range edits {
		if e.Mode == "" {
			removed.WriteString("0 " + strings.Repeat("0", r.IDLen()) + "\t" + e.Path + "\x00")
		} else {
			added.WriteString(e.Mode + " " + e.OID + "\t" + e.Path + "\x00")
		}
	}
	if _, err := r.Run(ctx, Call{Index: index, Stdin: strings.NewReader(removed.String() + added.String())}, "update-index", "-z", "--index-info"); err != nil {
		return "", err
	}
	out, err := r.Run(ctx, Call{Index: index, Limit: 1 << 10}, "write-tree", "--missing-ok")
	return out.Line(), err
}

// WriteBlob keeps the content of a file and returns its id.
func (r *Repo) WriteBlob(ctx context.Context, content string) (string, error) {
	out, err := r.Run(ctx, Call{Stdin: strings.NewReader(content), Limit: 1 << 10}, "hash-object", "-w", "--stdin")
	return out.Line(), err
}

// Without removes the changes at excluded paths from a series. leftOut lists the excluded paths
// that the series changes. A change of which nothing is left is removed, too. It is an error if a
// kept file needs the place of an excluded one.
func (r *Repo) Without(ctx context.Context, s Series, excluded func(path string) bool) (kept Series, leftOut []string, err error) {
	if len(s.Changes) == 0 {
		return s, nil, nil
	}
	steps, err := r.SeriesChanges(ctx, s.Trees()...)
	if err != nil {
		return s, nil, err
	}
	wanted := make([][]TreeEdit, len(steps))
	for i, changes := range steps {
		for _, c := range changes {
			if excluded(c.Path) {
				leftOut = append(leftOut, c.Path)
			} else {
				wanted[i] = append(wanted[i], TreeEdit{c.Path, c.NewMode, c.NewOID})
			}
		}
	}
	if leftOut == nil {
		return s, nil, nil
	}
	kept = s
	kept.Changes = nil
	tree := s.Changes[0].Before
	for i, c := range s.Changes {
		if len(wanted[i]) == 0 {
			continue
		}
		c.Before = tree
		if c.After, err = r.EditTree(ctx, tree, wanted[i]); err != nil {
			return s, nil, err
		}
		made, err := r.TreeChanges(ctx, c.Before, c.After)
		if err != nil {
			return s, nil, err
		}
		for _, m := range made {
			if excluded(m.Path) {
				return s, nil, fmt.Errorf("change %d needs the place of %q for another file", i+1, m.Path)
			}
		}
		tree = c.After
		if c.After != c.Before {
			kept.Changes = append(kept.Changes, c)
		}
	}
	return kept, unique(leftOut), nil
}
