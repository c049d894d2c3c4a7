package gitrepo

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maxSeries is how many commits a series keeps apart.
const maxSeries = 1000

// commitInfo is what a series needs of a commit.
type commitInfo struct {
	oid, tree string
	author    Person
	message   string
}

// series is the steps along the first parents from base to tip; a merge is one
// step. When that path does not meet the base, or is very long, it is one step
// without author and message.
func (r *Repo) series(ctx context.Context, base, tip string) (Series, error) {
	s := Series{Base: base}
	if base == tip {
		return s, nil
	}
	from, err := r.treeID(ctx, base)
	if err != nil {
		return s, err
	}
	chain, met, err := r.firstParents(ctx, base, tip)
	if err != nil {
		return s, err
	}
	if !met {
		to, err := r.treeID(ctx, tip)
		if err != nil {
			return s, err
		}
		s.Notes = append(s.Notes, fmt.Sprintf("the commits up to %s are put together as one: their first parents do not lead to %s within %d commits", tip, base, maxSeries))
		s.add(Change{Before: from, After: to})
		return s, nil
	}
	empty := 0
	for _, c := range chain {
		if !s.add(Change{Before: from, After: c.tree, Author: c.author, Message: c.message}) {
			empty++
		}
		from = c.tree
	}
	if empty > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("commits that change nothing are left out: %d", empty))
	}
	return s, nil
}

// add appends a change unless it is empty; it reports whether it did.
func (s *Series) add(c Change) bool {
	if c.Before == c.After {
		return false
	}
	s.Changes = append(s.Changes, c)
	return true
}

// firstParents reads the commits after base up to tip, oldest first, and
// reports whether the path met the base.
func (r *Repo) firstParents(ctx context.Context, base, tip string) (chain []commitInfo, met bool, err error) {
	a, err := r.gitWith(ctx, call{}, "rev-list", "--first-parent", "--max-count="+strconv.Itoa(maxSeries+1), "--encoding=UTF-8",
		"--no-commit-header", "--format=%H%x00%T%x00%an%x00%ae%x00%B%x00", tip, "--")
	if err != nil {
		return nil, false, err
	}
	fields := strings.Split(string(a.out), "\x00")
	for ; len(fields) > 5; fields = fields[5:] {
		oid := strings.TrimPrefix(fields[0], "\n")
		if oid == base {
			met = true
			break
		}
		if !isOID(oid) || !isOID(fields[1]) {
			return nil, false, fmt.Errorf("git rev-list answered %.80q", fields[0])
		}
		chain = append(chain, commitInfo{oid, fields[1], Person{fields[2], fields[3]}, strings.TrimRight(fields[4], "\n")})
	}
	slices.Reverse(chain)
	return chain, met, nil
}
