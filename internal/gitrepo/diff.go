package gitrepo

import (
	"context"
	"fmt"
	"strings"
)

// maxDiff is how much of a diff is read, in bytes, when Options do not say.
const maxDiff = 128 << 20

// Has reports whether the clone holds the commit.
func (r *Repo) Has(ctx context.Context, commit string) (bool, error) {
	if !IsObjectID(commit) {
		return false, fmt.Errorf("%q is not a whole commit id", commit)
	}
	out, _, err := r.git(ctx, 1<<10, strings.NewReader(commit+"\n"), "cat-file", "--batch-check=%(objecttype)")
	return strings.TrimSpace(string(out)) == "commit", err
}

// Require returns an error that tells how to mend it if a commit is not there.
func (r *Repo) Require(ctx context.Context, commits ...string) error {
	for _, c := range commits {
		ok, err := r.Has(ctx, c)
		if err != nil {
			return err
		}
		if !ok {
			return fmt.Errorf("%w: %s%s: %s", ErrMissing, c, r.WhyMissing(), deeper)
		}
	}
	return nil
}

// WhyMissing says what is known of the objects that are not there.
func (r *Repo) WhyMissing() string {
	switch {
	case len(r.clone.MissingAlternates) > 0:
		return fmt.Sprintf(" (it borrows objects from %s, which is not there)", strings.Join(r.clone.MissingAlternates, ", "))
	case len(r.clone.Shallow) > 0:
		return " (it is shallow)"
	}
	return ""
}

// MergeBase returns the commit at which the histories of a and b part: what
// GitHub compares a pull request's head with.
func (r *Repo) MergeBase(ctx context.Context, a, b string) (string, error) {
	if err := r.Require(ctx, a, b); err != nil {
		return "", err
	}
	out, _, err := r.git(ctx, 1<<10, nil, "merge-base", a, b)
	if err != nil {
		return "", err
	}
	base := strings.TrimSpace(string(out))
	switch {
	case IsObjectID(base):
		return base, nil
	case len(r.clone.Shallow) > 0:
		return "", fmt.Errorf("%w: it ends before the commit at which %s and %s part: %s", ErrShallow, a, b, deeper)
	}
	return "", fmt.Errorf("%s and %s have no commit in common", a, b)
}

// Diff is a diff between two commits in the two forms that the package changes
// puts together.
type Diff struct {
	Base  string // the commit compared with
	Raw   []byte // of diff-tree --raw -z: names as they are
	Patch []byte // of diff-tree -p: hunks, with quoted names
}

// Diff compares head with the merge base of base and head, as GitHub does for a
// pull request: three lines of context, renames from half the lines on.
//
// Names, hunks and history are taken from the clone as they are: whoever can
// write there can forge them (Files cannot be deceived so).
func (r *Repo) Diff(ctx context.Context, base, head string) (Diff, error) {
	from, err := r.MergeBase(ctx, base, head)
	if err != nil {
		return Diff{}, err
	}
	return r.DiffFrom(ctx, from, head)
}

// DiffFrom does what Diff does, with a merge base that the caller knows: the
// history between the two need not be there. Beside ErrTooLarge the result holds
// the names, if it is only the hunks that are too large.
func (r *Repo) DiffFrom(ctx context.Context, from, head string) (Diff, error) {
	if err := r.Require(ctx, from, head); err != nil {
		return Diff{}, err
	}
	d := Diff{Base: from}
	var err error
	tree := []string{"diff-tree", "-r", "--no-ext-diff", "--no-textconv", "--full-index", "--find-renames=50%", "-l1000", "--submodule=short", "--ignore-submodules=none"}
	if d.Raw, _, err = r.git(ctx, maxDiff, nil, append(tree[:len(tree):len(tree)], "--raw", "-z", from, head)...); err != nil {
		return Diff{}, err
	}
	d.Patch, _, err = r.git(ctx, r.opt.MaxDiff, nil, append(tree[:len(tree):len(tree)],
		"-p", "-U3", "--no-color", "--diff-algorithm=default", "--src-prefix=a/", "--dst-prefix=b/", from, head)...)
	return d, err
}
