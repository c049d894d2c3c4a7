package gitrepo

import (
	"context"
	"fmt"
	"strings"
)

// maxBranch is how long a branch's name may be, in bytes: what GitHub and the
// usual file systems take.
const maxBranch = 244

// CheckBranch returns an error that says why if a name cannot be a branch's. The
// rules are git's for a full ref and for a branch; nothing in the name is
// expanded, as "@{-1}" is by git. GitHub's own are added: no whole object id,
// nothing that begins with "refs/".
func (r *Repo) CheckBranch(ctx context.Context, name string) error {
	switch {
	case name == "":
		return fmt.Errorf("a branch needs a name")
	case len(name) > maxBranch:
		return fmt.Errorf("a branch's name is at most %d bytes long, this one has %d", maxBranch, len(name))
	case strings.ContainsRune(name, 0):
		return fmt.Errorf("%q is no branch's name: it holds a NUL", name)
	case name[0] == '-':
		return fmt.Errorf("%q is no branch's name: it begins with a dash, as options do", name)
	case name == "HEAD":
		return fmt.Errorf("a branch cannot be called HEAD")
	case IsObjectID(strings.ToLower(name)):
		return fmt.Errorf("%q is no branch's name: it reads as a commit's id", name)
	case strings.HasPrefix(name, "refs/"):
		return fmt.Errorf(`%q is no branch's name: leave out the "refs/heads/" of a full ref`, name)
	}
	a, err := r.Run(ctx, Call{AnyExit: true, Limit: 1 << 10}, "check-ref-format", "refs/heads/"+name)
	if err != nil {
		return err
	}
	if a.ExitCode != 0 {
		return fmt.Errorf(`%q is no branch's name: git allows no spaces, control characters, "..", "//", "@{", or any of ~^:?*[\ in it, `+
			`no "/" or "." at its end, and no part that begins with "." or ends with ".lock"`, name)
	}
	return nil
}
