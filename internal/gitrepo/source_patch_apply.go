package gitrepo

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// applyAll applies the patches one after another to the tree of a commit. With
// threeWay, a patch that does not apply is merged, from the versions of the
// files that its index lines name.
func (r *Repo) applyAll(ctx context.Context, patches []patch, base string, threeWay bool) (Series, error) {
	s := Series{Base: base}
	tree, err := r.treeID(ctx, base)
	if err != nil {
		return s, err
	}
	dir, remove, err := r.scratch()
	if err != nil {
		return s, err
	}
	defer remove()
	index := filepath.Join(dir, "index")
	if _, err := r.gitWith(ctx, call{index: index}, "read-tree", tree); err != nil {
		return s, err
	}
	for _, p := range patches {
		merged, err := r.apply(ctx, index, p, threeWay)
		if c, ok := err.(*Conflict); ok {
			c.Change = len(s.Changes)
		}
		if err != nil {
			return s, err
		}
		if merged {
			s.Notes = append(s.Notes, fmt.Sprintf("%s does not apply to %s as it is and was merged", p.where, base))
		}
		a, err := r.gitWith(ctx, call{index: index, limit: 1 << 10}, "write-tree", "--missing-ok")
		if err != nil {
			return s, err
		}
		if !s.add(Change{Before: tree, After: a.line(), Author: p.author, Message: p.message}) {
			s.Notes = append(s.Notes, fmt.Sprintf("%s changes nothing in %s and is left out", p.where, base))
		}
		tree = a.line()
	}
	return s, nil
}

// apply applies a patch to the index, or returns a *Conflict, after which the
// index is of no more use. It reports whether the patch had to be merged.
func (r *Repo) apply(ctx context.Context, index string, p patch, threeWay bool) (merged bool, err error) {
	args := []string{"apply", "--cached", "--whitespace=nowarn", "-p" + strconv.Itoa(p.strip), "-"}
	direct, err := r.gitWith(ctx, call{stdin: bytes.NewReader(p.text), index: index, fails: true}, args...)
	switch {
	case err != nil:
		return false, err
	case direct.code == 0:
		return false, nil
	case direct.code != 1:
		return false, p.refused(direct)
	case strings.Contains(direct.stderr, "without full index line"):
		return false, fmt.Errorf("%s lacks the content of a binary file (%.300q): write it by 'git diff --binary'", p.where, firstError(direct.stderr))
	case !threeWay:
		return false, &Conflict{} // not told: it is to be merged
	}
	a, err := r.gitWith(ctx, call{stdin: bytes.NewReader(p.text), index: index, fails: true}, append(args, "--3way")...)
	switch {
	case err != nil:
		return false, err
	case a.code == 0:
		return true, nil
	case a.code != 1:
		return false, p.refused(a)
	}
	c := r.misfit(ctx, p, direct)
	unmerged, err := r.gitWith(ctx, call{index: index}, "ls-files", "--unmerged", "-z")
	if err != nil {
		return false, err
	}
	if paths := unmergedPaths(unmerged.records()); len(paths) > 0 {
		c.Paths = paths
	}
	return false, c
}

// misfit is the conflict of a patch that git could not apply.
func (r *Repo) misfit(ctx context.Context, p patch, a answer) *Conflict {
	c := &Conflict{Detail: fmt.Sprintf("%s: git says %.300q", p.where, firstError(a.stderr))}
	list, err := r.gitWith(ctx, call{stdin: bytes.NewReader(p.text)}, "apply", "--numstat", "-z", "-p"+strconv.Itoa(p.strip), "-")
	if err != nil {
		return c // the paths are a help, no more
	}
	for _, record := range list.records() {
		if fields := strings.SplitN(record, "\t", 3); len(fields) == 3 && strings.Contains(a.stderr, " "+fields[2]+":") {
			c.Paths = append(c.Paths, fields[2])
		}
	}
	slices.Sort(c.Paths)
	c.Paths = slices.Compact(c.Paths)
	return c
}

// unmergedPaths reads the answer of git ls-files --unmerged.
func unmergedPaths(records []string) []string {
	var paths []string
	for _, record := range records {
		if _, path, ok := strings.Cut(record, "\t"); ok && !slices.Contains(paths[max(0, len(paths)-1):], path) {
			paths = append(paths, path)
		}
	}
	return paths
}
