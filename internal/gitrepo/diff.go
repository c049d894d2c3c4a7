package gitrepo

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
)

// maxDiff is how many bytes of a diff's names are read, and how many of its hunks if
// Options.MaxDiff is 0.
const maxDiff = 128 << 20

// Has reports whether the repository has the commit.
func (r *Repo) Has(ctx context.Context, commit string) (bool, error) {
	lacking, err := r.lacking(ctx, commit)
	return err == nil && len(lacking) == 0, err
}

// lacking returns the commits that the repository does not have, in their order.
func (r *Repo) lacking(ctx context.Context, commits ...string) (lacking []string, err error) {
	var asked []string
	for _, c := range commits {
		if !IsObjectID(c) {
			return nil, fmt.Errorf("%q is not a full commit id", c)
		}
		if _, ok := r.present.Load(c); !ok {
			asked = append(asked, c)
		}
	}
	if len(asked) == 0 {
		return nil, nil
	}
	err = r.inspect(ctx, asked, func(h header) {
		if h.kind == "commit" {
			r.present.Store(h.oid, true)
		} else {
			lacking = append(lacking, h.oid)
		}
	})
	return lacking, err
}

// Require returns ErrMissing, with what to do about it, if the repository lacks one of the
// commits.
func (r *Repo) Require(ctx context.Context, commits ...string) error {
	lacking, err := r.lacking(ctx, commits...)
	if err == nil && len(lacking) > 0 {
		err = fmt.Errorf("%w: %s%s: %s", ErrMissing, lacking[0], r.WhyMissing(), cmp.Or(r.OtherFormat(lacking[0]), deepen))
	}
	return err
}

// OtherFormat returns what to do if a commit is missing because its id has another object format
// than the repository; otherwise "".
func (r *Repo) OtherFormat(commit string) string {
	if !IsObjectID(commit) || len(commit) == r.IDLen() {
		return ""
	}
	return fmt.Sprintf("its id has %d digits and those of the clone have %d; use a clone in the server's object format, which is SHA-1 on GitHub", len(commit), r.IDLen())
}

// WhyMissing returns why an object may be missing, in parentheses after a space, or "".
func (r *Repo) WhyMissing() string {
	switch {
	case len(r.clone.MissingAlternates) > 0:
		return fmt.Sprintf(" (it borrows objects from %s, which cannot be opened)", strings.Join(r.clone.MissingAlternates, ", "))
	case len(r.clone.Shallow) > 0:
		return " (it is shallow)"
	}
	return ""
}

// MergeBase returns the commit at which the histories of a and b part. With it GitHub compares a
// pull request's head.
func (r *Repo) MergeBase(ctx context.Context, a, b string) (string, error) {
	if err := r.Require(ctx, a, b); err != nil {
		return "", err
	}
	if a == b {
		return a, nil
	}
	out, err := r.Run(ctx, Call{Limit: 1 << 10, MaxExit: 1}, "merge-base", a, b)
	if err != nil {
		return "", err
	}
	switch {
	case IsObjectID(out.Line()):
		return out.Line(), nil
	case len(r.clone.Shallow) > 0:
		return "", fmt.Errorf("%w: it ends before the commit at which %s and %s part: %s", ErrShallow, a, b, deepen)
	}
	return "", fmt.Errorf("%s and %s have no commit in common", a, b)
}

// Diff is a diff between two commits in the two forms that package changes puts together.
type Diff struct {
	Raw   []byte // of diff-tree --raw -z: names as they are
	Patch []byte // of diff-tree -p: hunks, with quoted names
}

// Diff compares head with the merge base of base and head, as GitHub does for a pull
// request: with three lines of context, and a rename where at least half of a file is the same.
//
// It does not check names, hunks and history: whoever can write to the clone can forge them.
// Files and TreeChanges check every object.
func (r *Repo) Diff(ctx context.Context, base, head string) (Diff, error) {
	from, err := r.MergeBase(ctx, base, head)
	if err != nil {
		return Diff{}, err
	}
	return r.DiffFrom(ctx, from, head)
}

// DiffFrom does what Diff does, with a merge base that the caller knows: the repository need
// not have the history between the two. If only the hunks are too large, the result
// contains the names in addition to the error ErrTooLarge.
func (r *Repo) DiffFrom(ctx context.Context, from, head string) (Diff, error) {
	if err := r.Require(ctx, from, head); err != nil {
		return Diff{}, err
	}
	run := func(limit int, args ...string) ([]byte, error) {
		all := slices.Concat([]string{"diff-tree", "-r", "--no-ext-diff", "--no-textconv", "--full-index", "--find-renames=50%", "-l1000",
			"--submodule=short", "--ignore-submodules=none"}, args, []string{from, head})
		out, err := r.Run(ctx, Call{Limit: limit}, all...)
		if err != nil {
			return nil, err
		}
		return out.Stdout, nil
	}
	raw, err := run(maxDiff, "--raw", "-z")
	if err != nil {
		return Diff{}, err
	}
	patch, err := run(r.opt.MaxDiff, "-p", "-U3", "--no-color", "--diff-algorithm=default", "--src-prefix=a/", "--dst-prefix=b/")
	return Diff{Raw: raw, Patch: patch}, err
}
