package gitrepo

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// mergeChange applies the step from c.Before to c.After to another tree, and
// returns the id of the tree that results. What conflicts is a *Conflict.
//
// Git merges commits, not trees, and 2.39 cannot be told their merge base. So the
// three trees become commits of which two have the third as their parent.
func (r *Repo) mergeChange(ctx context.Context, c Change, tree string) (string, error) {
	commit := func(tree string, parents ...string) (string, error) {
		return r.makeCommit(ctx, newCommit{tree: tree, parents: parents, when: time.Unix(0, 0), message: "\n"})
	}
	base, err := commit(c.Before)
	if err != nil {
		return "", err
	}
	ours, err := commit(tree, base)
	if err != nil {
		return "", err
	}
	theirs, err := commit(c.After, base)
	if err != nil {
		return "", err
	}
	a, err := r.Run(ctx, Call{AnyExit: true}, "merge-tree", "--write-tree", "-z", "--name-only", "--messages", ours, theirs)
	switch {
	case err != nil:
		return "", err
	case a.ExitCode > 1:
		return "", fmt.Errorf("git merge-tree failed: %s", a.Reason())
	}
	records := strings.Split(string(a.Stdout), "\x00")
	if a.ExitCode == 1 {
		return "", conflictOf(records[1:], ours, theirs)
	}
	if !IsObjectID(records[0]) {
		return "", fmt.Errorf("git merge-tree answered %q", records[0])
	}
	return records[0], nil
}

// conflictWords say what git's stable names of conflicts mean.
var conflictWords = map[string]string{
	"contents":                     "both sides changed the same lines",
	"binary":                       "both sides changed a binary file",
	"modify/delete":                "one side changed what the other deleted",
	"file/directory":               "one side has a file where the other has a directory",
	"distinct modes":               "the two sides made different kinds of files of it",
	"rename/rename":                "the two sides renamed it differently",
	"rename/delete":                "one side renamed what the other deleted",
	"rename involved in collision": "it is among renames that collide",
	"directory rename suggested":   "the other side renamed its directory",
}

// conflictOf reads what merge-tree says of a conflict: paths up to an empty
// record, then messages, each with a count, that many paths, a kind and a text.
func conflictOf(records []string, commits ...string) *Conflict {
	c := &Conflict{}
	for i, rec := range records {
		if rec == "" {
			records = records[i+1:]
			break
		}
		if path := originalPath(rec, commits); !slices.Contains(c.Paths, path) {
			c.Paths = append(c.Paths, path)
		}
	}
	var kinds []string
	for len(records) > 1 {
		count, err := strconv.Atoi(records[0])
		if err != nil || count < 0 || count+3 > len(records) {
			break
		}
		kind, isConflict := strings.CutPrefix(strings.TrimSuffix(records[count+1], ")"), "CONFLICT (")
		if word := conflictWords[kind]; word != "" {
			kind = word
		}
		if isConflict && !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
		records = records[count+3:]
	}
	slices.Sort(kinds)
	c.Detail = strings.Join(kinds, "; ")
	return c
}

// originalPath takes off what git appends to a path that it had to put elsewhere
// in the tree: "~" and one of the commits.
func originalPath(path string, commits []string) string {
	for _, oid := range commits {
		if before, _, ok := strings.Cut(path, "~"+oid); ok {
			return before
		}
	}
	return path
}
