package agentchanges

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-airlock/airlock/internal/gitrepo"
)

// deepen is how to mend a clone that lacks the base.
const deepen = "set 'fetch-depth: 0' for actions/checkout, or name the commit that they were made from (changes-base)"

// usable returns those of the bases that can be read, in their order.
func (r reader) usable(ctx context.Context, bases []string) ([]string, error) {
	var there []string
	seen := map[string]bool{}
	for _, b := range bases {
		if b == "" || seen[b] {
			continue
		}
		seen[b] = true
		ok, err := r.repo.Has(ctx, b)
		if err != nil {
			return nil, err
		}
		if ok {
			there = append(there, b)
		}
	}
	return there, nil
}

// noBase is the error for bases none of which can be read; it says how to mend
// it.
func (r reader) noBase(bases []string) error {
	if len(bases) == 0 {
		return fmt.Errorf("%w: no commit is given that they could have been made from: name it (changes-base)", ErrNoBase)
	}
	return fmt.Errorf("%w: the clone has none of %s%s: %s", ErrNoBase, strings.Join(bases, ", "), r.repo.WhyMissing(), deepen)
}

// baseOf finds the commit that the history up to tip was made from: that
// ancestor among the bases with the fewest commits between, else the merge base
// with the fewest.
func (r reader) baseOf(ctx context.Context, tip string, bases []string) (string, error) {
	there, err := r.usable(ctx, bases)
	if err != nil {
		return "", err
	}
	if len(there) == 0 {
		return "", r.noBase(bases)
	}
	var forks []string
	best, fewest := "", 0
	closer := func(commit string) error {
		a, err := r.repo.Run(ctx, gitrepo.Call{Limit: 1 << 10}, "rev-list", "--count", commit+".."+tip)
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(a.Line())
		if err != nil {
			return fmt.Errorf("git rev-list counted %q", a.Line())
		}
		if best == "" || n < fewest {
			best, fewest = commit, n
		}
		return nil
	}
	for _, b := range there {
		a, err := r.repo.Run(ctx, gitrepo.Call{Limit: 1 << 10, AnyExit: true}, "merge-base", b, tip)
		if err != nil {
			return "", err
		}
		switch fork := a.Line(); {
		case a.ExitCode > 1:
			return "", fmt.Errorf("the history between %s and %s cannot be read%s: %s", b, tip, r.repo.WhyMissing(), deepen)
		case fork == b:
			err = closer(b)
		case gitrepo.IsObjectID(fork):
			forks = append(forks, fork)
		}
		if err != nil {
			return "", err
		}
	}
	if best != "" {
		return best, nil
	}
	for _, fork := range forks {
		if err := closer(fork); err != nil {
			return "", err
		}
	}
	if best == "" {
		return "", fmt.Errorf("%w: %s has no commit in common with %s%s: %s", ErrNoBase, tip, strings.Join(there, ", "), r.repo.WhyMissing(), deepen)
	}
	return best, nil
}

// maxSeries is how many commits a series keeps apart.
const maxSeries = 1000

// commitInfo is what a series needs of a commit.
type commitInfo struct {
	oid, tree string
	author    gitrepo.Person
	message   string
}

// series is the steps along the first parents from base to tip; a merge is one
// step. When that path does not meet the base, or is very long, it is one step
// without author and message.
func (r reader) series(ctx context.Context, base, tip string) (gitrepo.Series, error) {
	s := gitrepo.Series{Base: base}
	if base == tip {
		return s, nil
	}
	from, err := r.repo.TreeID(ctx, base)
	if err != nil {
		return s, err
	}
	chain, met, err := r.firstParents(ctx, base, tip)
	if err != nil {
		return s, err
	}
	if !met {
		to, err := r.repo.TreeID(ctx, tip)
		if err != nil {
			return s, err
		}
		s.Notes = append(s.Notes, fmt.Sprintf("the commits up to %s are put together as one: their first parents do not lead to %s within %d commits", tip, base, maxSeries))
		addChange(&s, gitrepo.Change{Before: from, After: to})
		return s, nil
	}
	empty := 0
	for _, c := range chain {
		if !addChange(&s, gitrepo.Change{Before: from, After: c.tree, Author: c.author, Message: c.message}) {
			empty++
		}
		from = c.tree
	}
	if empty > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("commits that change nothing are left out: %d", empty))
	}
	return s, nil
}

// addChange appends a change unless it is empty; it reports whether it did.
func addChange(s *gitrepo.Series, c gitrepo.Change) bool {
	if c.Before == c.After {
		return false
	}
	s.Changes = append(s.Changes, c)
	return true
}

// firstParents reads the commits after base up to tip, oldest first, and
// reports whether the path met the base.
func (r reader) firstParents(ctx context.Context, base, tip string) (chain []commitInfo, met bool, err error) {
	a, err := r.repo.Run(ctx, gitrepo.Call{}, "rev-list", "--first-parent", "--max-count="+strconv.Itoa(maxSeries+1), "--encoding=UTF-8",
		"--no-commit-header", "--format=%H%x00%T%x00%an%x00%ae%x00%B%x00", tip, "--")
	if err != nil {
		return nil, false, err
	}
	fields := strings.Split(string(a.Stdout), "\x00")
	for ; len(fields) > 5; fields = fields[5:] {
		oid := strings.TrimPrefix(fields[0], "\n")
		if oid == base {
			met = true
			break
		}
		if !gitrepo.IsObjectID(oid) || !gitrepo.IsObjectID(fields[1]) {
			return nil, false, fmt.Errorf("git rev-list answered %.80q", fields[0])
		}
		chain = append(chain, commitInfo{oid, fields[1], gitrepo.Person{Name: fields[2], Email: fields[3]}, strings.TrimRight(fields[4], "\n")})
	}
	slices.Reverse(chain)
	return chain, met, nil
}
