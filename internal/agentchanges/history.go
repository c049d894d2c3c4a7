package agentchanges

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-airlock/airlock/internal/gitrepo"
)

// maxSeries is how many commits a series keeps apart.
const maxSeries = 1000

// deepen is the remedy for a clone that lacks the base.
const deepen = "set 'fetch-depth: 0' for actions/checkout, or name the commit that the changes were made from (changes-base)"

// existing returns the given commits that the repository has, each once, in the given order.
func (r reader) existing(ctx context.Context, commits []string) ([]string, error) {
	var found []string
	seen := map[string]bool{"": true}
	for _, commit := range commits {
		if seen[commit] {
			continue
		}
		seen[commit] = true
		ok, err := r.repo.Has(ctx, commit)
		if err != nil {
			return nil, err
		}
		if ok {
			found = append(found, commit)
		}
	}
	return found, nil
}

// noBase returns the error to report when no base is given or the repository has none of them. The
// error says what to do about it.
func (r reader) noBase(bases []string) error {
	if len(bases) == 0 {
		return fmt.Errorf("%w: no commit is given that they could have been made from: name it (changes-base)", ErrNoBase)
	}
	return fmt.Errorf("%w: the clone has none of %s%s: %s", ErrNoBase, strings.Join(bases, ", "), r.repo.WhyMissing(), cmp.Or(r.repo.OtherFormat(bases[0]), deepen))
}

// baseOf finds the commit that the history up to tip was made from: of the bases that are
// ancestors of tip the nearest one. If none is, it is the nearest merge base of tip and one
// of the bases.
func (r reader) baseOf(ctx context.Context, tip string, bases []string) (string, error) {
	found, err := r.existing(ctx, bases)
	if err != nil {
		return "", err
	}
	if len(found) == 0 {
		return "", r.noBase(bases)
	}
	var ancestors, mergeBases []string
	for _, base := range found {
		if base == tip {
			return tip, nil
		}
		out, err := r.repo.Run(ctx, gitrepo.Call{Limit: 1 << 10, MaxExit: gitrepo.AnyExit}, "merge-base", base, tip)
		if err != nil {
			return "", err
		}
		switch mergeBase := out.Line(); {
		case out.ExitCode > 1:
			return "", fmt.Errorf("the history between %s and %s cannot be read%s: %s", base, tip, r.repo.WhyMissing(), deepen)
		case mergeBase == base:
			ancestors = append(ancestors, base)
		case gitrepo.IsObjectID(mergeBase):
			mergeBases = append(mergeBases, mergeBase)
		}
	}
	if len(ancestors) > 0 {
		return r.nearest(ctx, tip, ancestors)
	}
	if len(mergeBases) > 0 {
		return r.nearest(ctx, tip, mergeBases)
	}
	return "", fmt.Errorf("%w: %s has no commit in common with %s%s: %s", ErrNoBase, tip, strings.Join(found, ", "), r.repo.WhyMissing(), deepen)
}

// nearest returns the ancestor from which the fewest commits lead to tip, the first one if there are
// several.
func (r reader) nearest(ctx context.Context, tip string, ancestors []string) (nearest string, err error) {
	if len(ancestors) == 1 {
		return ancestors[0], nil
	}
	fewest := 0
	for _, commit := range ancestors {
		out, err := r.repo.Run(ctx, gitrepo.Call{Limit: 1 << 10}, "rev-list", "--count", commit+".."+tip)
		if err != nil {
			return "", err
		}
		n, err := strconv.Atoi(out.Line())
		if err != nil {
			return "", fmt.Errorf("git rev-list counted %q", out.Line())
		}
		if nearest == "" || n < fewest {
			nearest, fewest = commit, n
		}
	}
	return nearest, nil
}

// series returns the steps along the first parents from base to tip; a merge is one step. Steps
// that change nothing are left out, with a note. If the first parents do not lead to the base, or
// only over very many commits, everything is one step without author and message.
func (r reader) series(ctx context.Context, base, tip string) (gitrepo.Series, error) {
	s := gitrepo.Series{Base: base}
	if base == tip {
		return s, nil
	}
	tree, err := r.repo.TreeID(ctx, base)
	if err != nil {
		return s, err
	}
	steps, complete, err := r.firstParents(ctx, base, tip)
	if err != nil {
		return s, err
	}
	if !complete {
		last, err := r.repo.TreeID(ctx, tip)
		if err != nil {
			return s, err
		}
		s.Notes = append(s.Notes, fmt.Sprintf("the commits up to %s are put together as one: their first parents do not lead to %s within %d commits", tip, base, maxSeries))
		s.Joined = true
		addChange(&s, gitrepo.Change{Before: tree, After: last})
		return s, nil
	}
	empty := 0
	for _, step := range steps {
		step.Before = tree
		if !addChange(&s, step) {
			empty++
		}
		tree = step.After
	}
	if empty > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("commits that change nothing are left out: %d", empty))
	}
	return s, nil
}

// addChange appends a change unless it is empty, and reports whether it did.
func addChange(s *gitrepo.Series, c gitrepo.Change) bool {
	if c.Before == c.After {
		return false
	}
	s.Changes = append(s.Changes, c)
	return true
}

// firstParents returns the commits after base up to tip, oldest first, as changes whose Before is
// not set. complete reports whether they lead to the base.
func (r reader) firstParents(ctx context.Context, base, tip string) (steps []gitrepo.Change, complete bool, err error) {
	out, err := r.repo.Run(ctx, gitrepo.Call{}, "rev-list", "--first-parent", "--max-count="+strconv.Itoa(maxSeries+1), "--encoding=UTF-8",
		"--no-commit-header", "--format=%H%x00%T%x00%an%x00%ae%x00%B%x00", tip, "--")
	if err != nil {
		return nil, false, err
	}
	fields := strings.Split(string(out.Stdout), "\x00") // five of each commit, then a newline
	for ; len(fields) > 5 && !complete; fields = fields[5:] {
		oid, tree := strings.TrimPrefix(fields[0], "\n"), fields[1]
		switch {
		case oid == base:
			complete = true
		case !gitrepo.IsObjectID(oid) || !gitrepo.IsObjectID(tree):
			return nil, false, fmt.Errorf("git rev-list answered %.80q", fields[0])
		default:
			steps = append(steps, gitrepo.Change{After: tree, Author: gitrepo.Person{Name: fields[2], Email: fields[3]}, Message: strings.TrimRight(fields[4], "\n")})
		}
	}
	slices.Reverse(steps)
	return steps, complete, nil
}
