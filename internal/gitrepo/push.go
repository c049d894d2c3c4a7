package gitrepo

import (
	"context"
	"fmt"
)

// maxPushed is how many commits are looked through for the one that a branch is
// at.
const maxPushed = 10_000

// PushRequest is one branch to be created or moved.
type PushRequest struct {
	Tip    string // the commit that the branch is to be at
	Branch string // without refs/heads/
	// Expect is the commit that the branch must be at; "": there must be no such
	// branch.
	Expect string
	// Replace allows that Tip does not follow Expect: the branch's commits after
	// the common ones are lost. It is for branches of our own only.
	Replace bool
}

// Push moves a branch of the remote from one commit to another, or creates it. It
// changes nothing else, and nothing if the branch is not at what is expected; a
// branch that is at Tip already is a success. So it can be tried again after any
// error. What the server or the way to it did not allow is a *PushError.
func (r *Repo) Push(ctx context.Context, m *Remote, p PushRequest) error {
	if err := r.CheckBranch(ctx, p.Branch); err != nil {
		return err
	}
	if !IsObjectID(p.Tip) || p.Expect != "" && !IsObjectID(p.Expect) {
		return fmt.Errorf("a push needs whole commit ids, not %q and %q", p.Tip, p.Expect)
	}
	if err := r.Require(ctx, p.Tip); err != nil {
		return err
	}
	if p.Expect != "" && !p.Replace {
		if err := r.follows(ctx, p.Tip, p.Expect); err != nil {
			return err
		}
	}
	ref := "refs/heads/" + p.Branch
	a, err := r.gitRemote(ctx, m, "push", "--porcelain", "--no-verify", "--no-signed", "--no-follow-tags", "--recurse-submodules=no",
		"--force-with-lease="+ref+":"+p.Expect, "--", m.url.String(), p.Tip+":"+ref)
	if err == nil && a.ExitCode == 0 && moved(a, ref) {
		return nil
	}
	return m.pushError(p.Branch, a, err)
}

// follows returns an error unless the commit tip has the other among its
// ancestors, or is it. A lease alone would force the branch back. The commits are
// checked against their ids, so that a clone cannot make up a history.
func (r *Repo) follows(ctx context.Context, tip, ancestor string) error {
	seen := map[string]bool{tip: true}
	for level := []string{tip}; len(level) > 0 && len(seen) <= maxPushed; {
		if seen[ancestor] {
			return nil
		}
		objects, err := r.read(ctx, level, maxObjects)
		if err != nil {
			return err
		}
		var next []string
		for _, oid := range level {
			if objects[oid].err != nil {
				continue // not there: the history is cut off
			}
			c, err := parseCommit(string(objects[oid].data))
			if err != nil {
				return fmt.Errorf("commit %s: %w", oid, err)
			}
			for _, p := range c.Parents {
				if !seen[p] {
					seen[p] = true
					next = append(next, p)
				}
			}
		}
		level = next
	}
	return fmt.Errorf("%s does not follow %s: pushing it would take commits off the branch", tip, ancestor)
}
