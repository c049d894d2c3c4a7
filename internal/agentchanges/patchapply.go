package agentchanges

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/gitrepo"
)

// applyToAny applies the patches to the first of the commits that they fit: first as they
// are, then with merges.
func (r reader) applyToAny(ctx context.Context, patches []patch, bases []string) (gitrepo.Series, error) {
	var conflict *gitrepo.Conflict // that of the first base in the last round
	for _, threeWay := range []bool{false, true} {
		conflict = nil
		for _, base := range bases {
			s, err := r.applyTo(ctx, patches, base, threeWay)
			if err == nil {
				return s, nil
			}
			switch c, ok := errors.AsType[*gitrepo.Conflict](err); {
			case !ok:
				return gitrepo.Series{}, err
			case conflict == nil:
				conflict = c
			}
		}
	}
	return gitrepo.Series{}, conflict
}

// applyTo applies the patches one after another to the tree of a commit. If threeWay is
// true, a patch that does not apply is merged, from the versions of the files that its
// index lines name.
func (r reader) applyTo(ctx context.Context, patches []patch, base string, threeWay bool) (gitrepo.Series, error) {
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
		if c, ok := errors.AsType[*gitrepo.Conflict](err); ok {
			c.Change = len(s.Changes)
		}
		if err != nil {
			return s, err
		}
		if merged {
			s.Notes = append(s.Notes, fmt.Sprintf("%s does not apply to %s as it is and was merged", p.where, base))
		}
		out, err := r.repo.Run(ctx, gitrepo.Call{Index: index, Limit: 1 << 10}, "write-tree", "--missing-ok")
		if err != nil {
			return s, err
		}
		if !addChange(&s, gitrepo.Change{Before: tree, After: out.Line(), Author: p.author, Message: p.message}) {
			s.Notes = append(s.Notes, fmt.Sprintf("%s changes nothing in %s and is left out", p.where, base))
		}
		tree = out.Line()
	}
	if n := len(s.Changes); n > maxSeries {
		all := gitrepo.Change{Before: s.Changes[0].Before, After: tree}
		s.Changes, s.Joined = nil, true
		s.Notes = append(s.Notes, fmt.Sprintf("the %d patches are put together as one commit, because at most %d are kept apart", n, maxSeries))
		addChange(&s, all)
	}
	return s, nil
}

// apply applies a patch to the index, and reports whether it had to be merged. After a
// *gitrepo.Conflict the index cannot be used any more.
func (r reader) apply(ctx context.Context, index string, p patch, threeWay bool) (merged bool, err error) {
	run := func(options ...string) (gitrepo.Output, error) {
		args := slices.Concat([]string{"apply", "--cached", "--whitespace=nowarn", p.stripOption(), "-"}, options)
		out, err := r.repo.Run(ctx, gitrepo.Call{Stdin: bytes.NewReader(p.text), Index: index, MaxExit: gitrepo.AnyExit}, args...)
		if err == nil && out.ExitCode > 1 {
			err = p.refused(out)
		}
		return out, err
	}
	direct, err := run()
	switch {
	case err != nil, direct.ExitCode == 0:
		return false, err
	case strings.Contains(direct.Stderr, "without full index line"):
		return false, fmt.Errorf("%s lacks the content of a binary file (%.300q): write it by 'git diff --binary'", p.where, firstError(direct.Stderr))
	case !threeWay:
		return false, &gitrepo.Conflict{} // without details, because a merge is tried next
	}
	out, err := run("--3way")
	if err != nil {
		return false, err
	}
	if out.ExitCode == 0 {
		return true, nil
	}
	c := r.newConflict(ctx, p, direct)
	unmerged, err := r.repo.Run(ctx, gitrepo.Call{Index: index}, "ls-files", "--unmerged", "-z")
	if err != nil {
		return false, err
	}
	if paths := unmergedPaths(unmerged.Records()); len(paths) > 0 {
		c.Paths = paths
	}
	return false, c
}

// newConflict describes the failure of git to apply a patch.
func (r reader) newConflict(ctx context.Context, p patch, failed gitrepo.Output) *gitrepo.Conflict {
	c := &gitrepo.Conflict{Detail: fmt.Sprintf("%s: git says %.300q", p.where, firstError(failed.Stderr))}
	if strings.Contains(failed.Stderr, "patch failed") && !bytes.Contains(p.text, []byte("\n ")) {
		c.Detail += ", which may be because it has no lines of context (git diff -U0): write it with some"
	}
	list, err := r.repo.Run(ctx, gitrepo.Call{Stdin: bytes.NewReader(p.text)}, "apply", "--numstat", "-z", p.stripOption(), "-")
	if err != nil {
		return c // the paths are only a help
	}
	for _, record := range list.Records() {
		if fields := strings.SplitN(record, "\t", 3); len(fields) == 3 && strings.Contains(failed.Stderr, " "+fields[2]+":") {
			c.Paths = append(c.Paths, fields[2])
		}
	}
	slices.Sort(c.Paths)
	c.Paths = slices.Compact(c.Paths)
	return c
}

// unmergedPaths returns the paths in the output of git ls-files --unmerged, which has a
// record for each version of a path.
func unmergedPaths(records []string) []string {
	var paths []string
	for _, record := range records {
		if _, path, ok := strings.Cut(record, "\t"); ok {
			paths = append(paths, path)
		}
	}
	return slices.Compact(paths)
}
