package githubapi

import "context"

// Comparison is how two commits of a repository's history relate.
type Comparison struct {
	// Status is ahead, behind, identical or diverged: where head is, seen from
	// base.
	Status    string
	AheadBy   int    // commits that head has and base has not
	BehindBy  int    // commits that base has and head has not
	MergeBase string // the commit that both have
	// Commits are those that head has and base has not, the oldest first. GitHub
	// hands out at most 250; where AheadBy is larger, the newest are missing.
	Commits []Commit
}

// Compare tells how head relates to base. Both are a branch, a tag or a commit's
// whole id. NotFound: one of them does not exist, or they have no history in
// common.
func (c *Client) Compare(ctx context.Context, r Repo, base, head string) (Comparison, error) {
	op := "compare " + oneLine(base) + " with " + oneLine(head)
	for _, name := range []string{base, head} {
		if err := branch(op, r, name); err != nil {
			return Comparison{}, err
		}
	}
	ctx, k := read(ctx, op, r)
	g, _, err := c.gh.Repositories.CompareCommits(ctx, r.Owner, r.Name, base, head, nil)
	if err != nil {
		return Comparison{}, emptyIs(NotFound, k.finish(err))
	}
	out := Comparison{Status: g.GetStatus(), AheadBy: g.GetAheadBy(), BehindBy: g.GetBehindBy(), MergeBase: g.GetMergeBaseCommit().GetSHA()}
	for _, commit := range g.Commits {
		out.Commits = append(out.Commits, commitOf(commit.GetSHA(), commit.GetCommit(), commit.Parents))
	}
	return out, nil
}
