package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Transplanted is a series as commits on a base.
type Transplanted struct {
	Tip     string   // the last commit; the base itself when nothing is left
	Commits []string // oldest first
	Moved   bool     // the base is not the one that the series was made from
	Dropped []int    // indexes of changes that the base contains already
}

// Transplant makes commits of a series on the commit onto. Where the tree there
// is the one that a change begins with, the tree it ends with is taken as it is;
// otherwise the change is merged, three-way and with renames, as git rebase
// would do. A change that does not fit is a *Conflict, and nothing is kept.
func (r *Repo) Transplant(ctx context.Context, s Series, onto string, st Style) (Transplanted, error) {
	base, err := r.Commit(ctx, onto)
	if err != nil {
		return Transplanted{}, err
	}
	if st.When.IsZero() {
		st.When = base.When
	}
	t := Transplanted{Tip: onto, Moved: onto != s.Base}
	tree := base.Tree
	for i, c := range s.Changes {
		if !IsObjectID(c.Before) || !IsObjectID(c.After) {
			return Transplanted{}, fmt.Errorf("change %d of the series names no trees", i+1)
		}
		next := c.After
		if tree != c.Before && tree != c.After {
			if next, err = r.mergeChange(ctx, c, tree); err != nil {
				var conflict *Conflict
				if errors.As(err, &conflict) {
					conflict.Change = i
				}
				return Transplanted{}, err
			}
		}
		if next == tree {
			t.Dropped = append(t.Dropped, i)
			continue
		}
		made := newCommit{tree: next, parents: []string{t.Tip}, author: st.author(c), committer: st.Committer, when: st.When, message: st.message(i, c)}
		if t.Tip, err = r.makeCommit(ctx, made); err != nil {
			return Transplanted{}, err
		}
		t.Commits = append(t.Commits, t.Tip)
		tree = next
	}
	return t, nil
}

// newCommit is a commit to be made.
type newCommit struct {
	tree              string
	parents           []string
	author, committer Person
	when              time.Time
	message           string
}

// makeCommit writes a commit and returns its id.
func (r *Repo) makeCommit(ctx context.Context, c newCommit) (string, error) {
	author, committer := c.author.harmless(), c.committer.harmless()
	date := fmt.Sprintf("@%d +0000", max(c.when.Unix(), 0)) // git knows no time before 1970
	env := []string{
		"GIT_AUTHOR_NAME=" + author.Name, "GIT_AUTHOR_EMAIL=" + author.Email, "GIT_AUTHOR_DATE=" + date,
		"GIT_COMMITTER_NAME=" + committer.Name, "GIT_COMMITTER_EMAIL=" + committer.Email, "GIT_COMMITTER_DATE=" + date,
	}
	args := []string{"commit-tree", "--no-gpg-sign"}
	for _, p := range c.parents {
		args = append(args, "-p", p)
	}
	a, err := r.Run(ctx, Call{Stdin: strings.NewReader(c.message), Limit: 1 << 10, Env: env}, append(args, c.tree)...)
	if err != nil {
		return "", err
	}
	return a.Line(), nil
}
