package githubapi

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/agent-airlock/airlock/internal/text"
)

// Person is an author or a committer as a commit names them, which nobody
// verifies.
type Person struct{ Name, Email string }

// Commit is a commit without its changes.
type Commit struct {
	SHA       string
	Tree      string
	Message   string
	Author    Person
	Committer Person
	When      time.Time // time of the commit
	Parents   []string
	Verified  bool // GitHub found a valid signature
}

// GetCommit reads a commit by its complete id.
func (c *Client) GetCommit(ctx context.Context, r Repo, sha string) (Commit, error) {
	op := reading(r, "read the commit %s", asMessage(sha)).checkCommit(sha)
	g, _, err := c.gh.Git.GetCommit(op.context(ctx), r.Owner, r.Name, sha)
	commit, err := result(op, g, err, func(g *github.Commit) Commit { return commitOf(g.GetSHA(), g, g.Parents) })
	return commit, emptyIsNotFound(err)
}

// ListCommits returns the newest n commits that ref leads to, the newest first:
// one page, so n is at most 100. ref is a branch, a tag or a commit; empty means
// the default branch. An empty repository has none.
func (c *Client) ListCommits(ctx context.Context, r Repo, ref string, n int) ([]Commit, error) {
	op := listing(r, "list the commits")
	if n < 1 || n > perPage {
		op.refuse("between 1 and %d can be listed, not %d", perPage, n)
	}
	list, _, err := c.gh.Repositories.ListCommits(op.context(ctx), r.Owner, r.Name, &github.CommitsListOptions{SHA: ref, ListOptions: github.ListOptions{PerPage: n}})
	if err = op.finish(err); isEmptyRepository(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	commits := commitsOf(list[:min(n, len(list))])
	if slices.ContainsFunc(commits, func(c Commit) bool { return !c.identified() }) {
		return nil, op.unexpectedAnswer("an entry of the list is empty")
	}
	return commits, nil
}

// Comparison is how two commits of a repository's history relate.
type Comparison struct {
	// Status is ahead, behind, identical or diverged: where head is, seen from
	// base.
	Status    string
	AheadBy   int    // number of commits that only head has
	MergeBase string // their best common ancestor
	// Commits are the commits that only head has, the oldest first. At most 10,000 are read. If
	// AheadBy is larger than their number, the newest are missing.
	Commits []Commit
}

const (
	maxCompared     = 250 // how many commits GitHub's answer about a comparison has if no page is asked for
	maxComparePages = 100 // how many pages are read at most where there are more commits
)

// Compare returns how head relates to base. Both are a branch, a tag or the complete
// id of a commit. NotFound: one of them does not exist, or they have no history in
// common.
func (c *Client) Compare(ctx context.Context, r Repo, base, head string) (Comparison, error) {
	op := reading(r, "compare %s with %s", asMessage(base), asMessage(head)).checkBranch(base).checkBranch(head)
	g, _, err := c.gh.Repositories.CompareCommits(op.context(ctx), r.Owner, r.Name, base, head, nil)
	comparison, err := result(op, g, err, comparisonOf)
	if err != nil {
		return comparison, emptyIsNotFound(err)
	}
	if len(comparison.Commits) >= maxCompared && len(comparison.Commits) < comparison.AheadBy {
		comparison.Commits, err = c.comparedCommits(ctx, r, base, head, comparison.AheadBy)
	}
	return comparison, err
}

// comparedCommits reads the n commits of a comparison page by page, at most maxComparePages pages.
func (c *Client) comparedCommits(ctx context.Context, r Repo, base, head string, n int) (commits []Commit, err error) {
	for page := 1; page <= maxComparePages && len(commits) < n; page++ {
		op := reading(r, "compare %s with %s (page %d)", asMessage(base), asMessage(head), page)
		g, _, err := c.gh.Repositories.CompareCommits(op.context(ctx), r.Owner, r.Name, base, head, &github.ListOptions{Page: page, PerPage: perPage})
		if err = op.finish(err); err != nil {
			return nil, err
		}
		if len(g.Commits) == 0 {
			break
		}
		part := comparisonOf(g)
		if !part.identified() {
			return nil, op.unexpectedAnswer("an entry of the list is empty")
		}
		commits = append(commits, part.Commits...)
	}
	return commits, nil
}

func (c Commit) identified() bool { return c.SHA != "" }

func (c Comparison) identified() bool {
	return c.Status != "" && !slices.ContainsFunc(c.Commits, func(k Commit) bool { return !k.identified() })
}

func comparisonOf(g *github.CommitsComparison) Comparison {
	return Comparison{Status: g.GetStatus(), AheadBy: g.GetAheadBy(), MergeBase: g.GetMergeBaseCommit().GetSHA(), Commits: commitsOf(g.Commits)}
}

// commitsOf converts commits; one that is missing in the answer becomes the zero Commit.
func commitsOf(list []*github.RepositoryCommit) []Commit {
	out := make([]Commit, len(list))
	for i, g := range list {
		if g != nil {
			out[i] = commitOf(g.GetSHA(), g.GetCommit(), g.Parents)
		}
	}
	return out
}

func commitOf(sha string, g *github.Commit, parents []*github.Commit) Commit {
	c := Commit{SHA: sha, Tree: g.GetTree().GetSHA(), Message: g.GetMessage(), Author: personOf(g.GetAuthor()), Committer: personOf(g.GetCommitter()),
		When: g.GetCommitter().GetDate().Time, Verified: g.GetVerification().GetVerified()}
	for _, p := range parents {
		c.Parents = append(c.Parents, p.GetSHA())
	}
	return c
}

func personOf(a *github.CommitAuthor) Person { return Person{Name: a.GetName(), Email: a.GetEmail()} }

// NewCommit is a commit for GitHub to make, which it signs and attributes to the
// token's account. GitHub's createCommitOnBranch has limits that git does not have:
// every file is written as a plain one (mode 100644), so it makes no executable
// file, link or submodule; author and date cannot be chosen; the branch must
// exist; and the parent is the branch's head, so it makes no merge.
type NewCommit struct {
	Branch       string // an existing branch
	ExpectedHead string // the commit that the branch must be at; otherwise the error is Conflict
	Headline     string // first line of the message
	Body         string // the rest of it
	Additions    []Addition
	Deletions    []string // paths
}

// Addition is a file to write, new or not.
type Addition struct {
	Path string // relative to the repository's root
	Data []byte
}

// MaxCommitBytes bounds the size of all files of one NewCommit together. GitHub
// documents no limit; people report that requests of some 40 MB fail, and Base64
// makes four bytes of three.
const MaxCommitBytes = 30_000_000

const createCommitMutation = `mutation CreateCommit($input: CreateCommitOnBranchInput!) {
  createCommitOnBranch(input: $input) { commit { oid url } }
}`

// CreateCommit commits to a branch and returns the commit's id and its address
// for people. Conflict: the branch is not where it was expected. After Ambiguous,
// the branch shows what happened: it moves only if the commit was made, and only
// once, since a second try expects the old head. Forbidden with neither
// Error.Permission nor Error.Feature: a rule protects the branch.
func (c *Client) CreateCommit(ctx context.Context, r Repo, n NewCommit) (sha, url string, err error) {
	op := creating(r, "commit to the branch %s", asMessage(n.Branch)).checkBranch(n.Branch).checkCommit(n.ExpectedHead)
	op.slow, op.needs = true, "contents=write"
	n.check(op)
	type addition struct {
		Path     string `json:"path"`
		Contents []byte `json:"contents"` // encoded as Base64
	}
	type deletion struct {
		Path string `json:"path"`
	}
	additions, deletions := make([]addition, len(n.Additions)), make([]deletion, len(n.Deletions))
	for i, a := range n.Additions {
		if a.Data == nil {
			a.Data = []byte{} // an empty file, not null
		}
		additions[i] = addition{a.Path, a.Data}
	}
	for i, d := range n.Deletions {
		deletions[i] = deletion{d}
	}
	var out struct {
		CreateCommitOnBranch struct{ Commit struct{ OID, URL string } }
	}
	err = c.query(ctx, op, createCommitMutation, map[string]any{"input": map[string]any{
		"branch":          map[string]any{"repositoryNameWithOwner": r.String(), "branchName": n.Branch},
		"expectedHeadOid": n.ExpectedHead,
		"message":         map[string]any{"headline": n.Headline, "body": n.Body},
		"fileChanges":     map[string]any{"additions": additions, "deletions": deletions},
	}}, &out)
	if err != nil {
		return "", "", err
	}
	commit := out.CreateCommitOnBranch.Commit
	if commit.OID == "" {
		return "", "", op.fail(Ambiguous, "the answer names no commit")
	}
	return commit.OID, commit.URL, nil
}

// check refuses a commit that GitHub could not make.
func (n NewCommit) check(op *operation) {
	if text.IsBlank(n.Headline) || strings.ContainsAny(n.Headline, "\r\n") {
		op.refuse("the first line of the message must be one line of text")
	}
	if len(n.Additions)+len(n.Deletions) == 0 {
		op.refuse("there is nothing to change")
	}
	size := 0
	seen := map[string]bool{}
	checkFile := func(name string) {
		op.checkPath(name)
		if seen[name] {
			op.refuse("%q is changed twice", name)
		}
		seen[name] = true
	}
	for _, a := range n.Additions {
		checkFile(a.Path)
		size += len(a.Data)
	}
	for _, d := range n.Deletions {
		checkFile(d)
	}
	if size > MaxCommitBytes {
		op.refuse("its files have %s, more than the %s that the API takes in one commit; push with git instead", text.Bytes(size), text.Bytes(MaxCommitBytes))
	}
}
