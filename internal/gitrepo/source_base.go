package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrNoBase is returned when nothing is known of the commit that changes were
// made from.
var ErrNoBase = errors.New("the commit that the changes were made from is not known")

// deepen is how to mend a clone that lacks the base.
const deepen = "set 'fetch-depth: 0' for actions/checkout, or name the commit that they were made from (changes-base)"

// usable returns those of the bases that can be read, in their order.
func (r *Repo) usable(ctx context.Context, bases []string) ([]string, error) {
	var there []string
	seen := map[string]bool{}
	for _, b := range bases {
		if b == "" || seen[b] {
			continue
		}
		seen[b] = true
		ok, err := r.Has(ctx, b)
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
func (r *Repo) noBase(bases []string) error {
	if len(bases) == 0 {
		return fmt.Errorf("%w: no commit is given that they could have been made from: name it (changes-base)", ErrNoBase)
	}
	return fmt.Errorf("%w: the clone has none of %s%s: %s", ErrNoBase, strings.Join(bases, ", "), r.lacks(), deepen)
}

// baseOf finds the commit that the history up to tip was made from: that
// ancestor among the bases with the fewest commits between, else the merge base
// with the fewest.
func (r *Repo) baseOf(ctx context.Context, tip string, bases []string) (string, error) {
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
		a, err := r.gitWith(ctx, call{limit: 1 << 10}, "rev-list", "--count", commit+".."+tip)
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(a.line())
		if err != nil {
			return fmt.Errorf("git rev-list counted %q", a.line())
		}
		if best == "" || n < fewest {
			best, fewest = commit, n
		}
		return nil
	}
	for _, b := range there {
		a, err := r.gitWith(ctx, call{limit: 1 << 10, fails: true}, "merge-base", b, tip)
		if err != nil {
			return "", err
		}
		switch fork := a.line(); {
		case a.code > 1:
			return "", fmt.Errorf("the history between %s and %s cannot be read%s: %s", b, tip, r.lacks(), deepen)
		case fork == b:
			err = closer(b)
		case isOID(fork):
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
		return "", fmt.Errorf("%w: %s has no commit in common with %s%s: %s", ErrNoBase, tip, strings.Join(there, ", "), r.lacks(), deepen)
	}
	return best, nil
}
