package agentchanges

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-airlock/airlock/internal/gitrepo"
)

// applyAny applies the patches to the first of the commits that they fit.
func (r reader) applyAny(ctx context.Context, patches []patch, bases []string) (gitrepo.Series, error) {
	var conflict *gitrepo.Conflict
	for _, threeWay := range []bool{false, true} {
		conflict = nil // that of the best base, told after the most that was tried
		for _, base := range bases {
			s, err := r.applyAll(ctx, patches, base, threeWay)
			var c *gitrepo.Conflict
			switch {
			case err == nil:
				return s, nil
			case !errors.As(err, &c):
				return gitrepo.Series{}, err
			case conflict == nil:
				conflict = c
			}
		}
	}
	return gitrepo.Series{}, conflict
}

// applyAll applies the patches one after another to the tree of a commit. With
// threeWay, a patch that does not apply is merged, from the versions of the
// files that its index lines name.
func (r reader) applyAll(ctx context.Context, patches []patch, base string, threeWay bool) (gitrepo.Series, error) {
	s := gitrepo.Series{Base: base}
	tree, err := r.repo.TreeID(ctx, base)
	if err != nil {
		return s, err
	}
	dir, remove, err := r.repo.TempDir()
	if err != nil {
		return s, err
	}
	defer remove()
	index := filepath.Join(dir, "index")
	if _, err := r.repo.Run(ctx, gitrepo.Call{Index: index}, "read-tree", tree); err != nil {
		return s, err
	}
	for _, p := range patches {
		merged, err := r.apply(ctx, index, p, threeWay)
		if c, ok := err.(*gitrepo.Conflict); ok {
			c.Change = len(s.Changes)
		}
		if err != nil {
			return s, err
		}
		if merged {
			s.Notes = append(s.Notes, fmt.Sprintf("%s does not apply to %s as it is and was merged", p.where, base))
		}
		a, err := r.repo.Run(ctx, gitrepo.Call{Index: index, Limit: 1 << 10}, "write-tree", "--missing-ok")
		if err != nil {
			return s, err
		}
		if !addChange(&s, gitrepo.Change{Before: tree, After: a.Line(), Author: p.author, Message: p.message}) {
			s.Notes = append(s.Notes, fmt.Sprintf("%s changes nothing in %s and is left out", p.where, base))
		}
		tree = a.Line()
	}
	return s, nil
}

// apply applies a patch to the index, or returns a *Conflict, after which the
// index is of no more use. It reports whether the patch had to be merged.
func (r reader) apply(ctx context.Context, index string, p patch, threeWay bool) (merged bool, err error) {
	args := []string{"apply", "--cached", "--whitespace=nowarn", "-p" + strconv.Itoa(p.strip), "-"}
	direct, err := r.repo.Run(ctx, gitrepo.Call{Stdin: bytes.NewReader(p.text), Index: index, AnyExit: true}, args...)
	switch {
	case err != nil:
		return false, err
	case direct.ExitCode == 0:
		return false, nil
	case direct.ExitCode != 1:
		return false, p.refused(direct)
	case strings.Contains(direct.Stderr, "without full index line"):
		return false, fmt.Errorf("%s lacks the content of a binary file (%.300q): write it by 'git diff --binary'", p.where, firstError(direct.Stderr))
	case !threeWay:
		return false, &gitrepo.Conflict{} // not told: it is to be merged
	}
	a, err := r.repo.Run(ctx, gitrepo.Call{Stdin: bytes.NewReader(p.text), Index: index, AnyExit: true}, append(args, "--3way")...)
	switch {
	case err != nil:
		return false, err
	case a.ExitCode == 0:
		return true, nil
	case a.ExitCode != 1:
		return false, p.refused(a)
	}
	c := r.misfit(ctx, p, direct)
	unmerged, err := r.repo.Run(ctx, gitrepo.Call{Index: index}, "ls-files", "--unmerged", "-z")
	if err != nil {
		return false, err
	}
	if paths := unmergedPaths(unmerged.Records()); len(paths) > 0 {
		c.Paths = paths
	}
	return false, c
}

// misfit is the conflict of a patch that git could not apply.
func (r reader) misfit(ctx context.Context, p patch, a gitrepo.Output) *gitrepo.Conflict {
	c := &gitrepo.Conflict{Detail: fmt.Sprintf("%s: git says %.300q", p.where, firstError(a.Stderr))}
	list, err := r.repo.Run(ctx, gitrepo.Call{Stdin: bytes.NewReader(p.text)}, "apply", "--numstat", "-z", "-p"+strconv.Itoa(p.strip), "-")
	if err != nil {
		return c // the paths are a help, no more
	}
	for _, record := range list.Records() {
		if fields := strings.SplitN(record, "\t", 3); len(fields) == 3 && strings.Contains(a.Stderr, " "+fields[2]+":") {
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
