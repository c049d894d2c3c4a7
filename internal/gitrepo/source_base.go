package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// ErrNoBase is returned when nothing is known of the commit that changes were
// made from.
var ErrNoBase = errors.New("the commit that the changes were made from is not known")

// maxSeries is how many commits a series keeps apart.
const maxSeries = 1000

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
		return fmt.Errorf("%w: no commit is given that they could have been made from: name it (base)", ErrNoBase)
	}
	return fmt.Errorf("%w: the clone has none of %s%s: set 'fetch-depth: 0' for actions/checkout, or name the commit that they were made from (base)",
		ErrNoBase, strings.Join(bases, ", "), r.lacks())
}

// add appends a change unless it is empty; it reports whether it did.
func (s *Series) add(c Change) bool {
	if c.Before == c.After {
		return false
	}
	s.Changes = append(s.Changes, c)
	return true
}
