package githubapi

import (
	"context"
	"fmt"
	"path"
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
	When      time.Time // of committing
	Parents   []string
	Verified  bool // GitHub found a valid signature
}

// GetCommit reads a commit by its whole id.
func (c *Client) GetCommit(ctx context.Context, r Repo, sha string) (Commit, error) {
	op := "read the commit " + oneLine(sha)
	if err := r.check(); err != nil {
		return Commit{}, usage(op, Repo{}, "%v", err)
	}
	if !isObjectID(sha) {
		return Commit{}, usage(op, r, "it is not the whole id of a commit")
	}
	ctx, k := read(ctx, op, r)
	g, _, err := c.gh.Git.GetCommit(ctx, r.Owner, r.Name, sha)
	if err != nil {
		return Commit{}, emptyIs(NotFound, k.finish(err))
	}
	return commitOf(g.GetSHA(), g, g.Parents), nil
}

// ListCommits returns the newest n commits that ref leads to, the newest first:
// one page, so n is at most 100. ref is a branch, a tag or a commit; empty means
// the default branch. An empty repository has none.
func (c *Client) ListCommits(ctx context.Context, r Repo, ref string, n int) ([]Commit, error) {
	const op = "list the commits"
	if err := r.check(); err != nil {
		return nil, usage(op, Repo{}, "%v", err)
	}
	if n < 1 || n > perPage {
		return nil, usage(op, r, "between 1 and %d can be listed, not %d", perPage, n)
	}
	ctx, k := read(ctx, op, r)
	list, _, err := c.gh.Repositories.ListCommits(ctx, r.Owner, r.Name, &github.CommitsListOptions{SHA: ref, ListOptions: github.ListOptions{PerPage: n}})
	if err = emptyIs("", k.finish(err)); err != nil {
		return nil, err
	}
	out := make([]Commit, 0, len(list))
	for _, g := range list[:min(n, len(list))] {
		out = append(out, commitOf(g.GetSHA(), g.GetCommit(), g.Parents))
	}
	return out, nil
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

// NewCommit is a commit for GitHub to make, which it signs and attributes to the
// token's account. GitHub's createCommitOnBranch has limits that git has not:
// every file is written as a plain one (mode 100644), so it makes no executable
// file, link or submodule; author and date cannot be chosen; the branch must
// exist; and the parent is the branch's head, so it makes no merge.
type NewCommit struct {
	Branch       string // an existing branch
	ExpectedHead string // where the branch must be; elsewhere the error is Conflict
	Headline     string // first line of the message
	Body         string // the rest of it
	Additions    []Addition
	Deletions    []string // paths
}

// Addition is a file to write, new or not.
type Addition struct {
	Path string // from the repository's root
	Data []byte
}

// MaxCommitBytes bounds what the files of one NewCommit hold together. GitHub
// documents no limit; people report that requests of some 40 MB fail, and Base64
// makes four bytes of three.
const MaxCommitBytes = 30_000_000

const contentsWrite = "contents=write"

// CreateCommit commits to a branch and returns the commit's id and its address
// for people. Conflict: the branch is not where it was expected. After Ambiguous,
// the branch tells what happened: it moves only if the commit was made, and only
// once, since a second try expects the old head. Forbidden without a permission:
// a rule protects the branch.
func (c *Client) CreateCommit(ctx context.Context, r Repo, n NewCommit) (sha, url string, err error) {
	op := "commit to the branch " + oneLine(n.Branch)
	if err := branch(op, r, n.Branch); err != nil {
		return "", "", err
	}
	if why := n.check(); why != "" {
		return "", "", usage(op, r, "%s", why)
	}
	type addition struct {
		Path     string `json:"path"`
		Contents []byte `json:"contents"` // encoded as Base64
	}
	type deletion struct {
		Path string `json:"path"`
	}
	additions, deletions := make([]addition, 0, len(n.Additions)), make([]deletion, 0, len(n.Deletions))
	for _, a := range n.Additions {
		data := a.Data
		if data == nil {
			data = []byte{} // an empty file, not null
		}
		additions = append(additions, addition{a.Path, data})
	}
	for _, d := range n.Deletions {
		deletions = append(deletions, deletion{d})
	}
	var out struct {
		CreateCommitOnBranch struct {
			Commit *struct {
				OID string `json:"oid"`
				URL string `json:"url"`
			} `json:"commit"`
		} `json:"createCommitOnBranch"`
	}
	k := &call{op: op, repo: r, write: true, content: true, slow: true, needs: contentsWrite}
	err = c.query(ctx, k, createCommitMutation, map[string]any{"input": map[string]any{
		"branch":          map[string]any{"repositoryNameWithOwner": r.String(), "branchName": n.Branch},
		"expectedHeadOid": n.ExpectedHead,
		"message":         map[string]any{"headline": n.Headline, "body": n.Body},
		"fileChanges":     map[string]any{"additions": additions, "deletions": deletions},
	}}, &out)
	if err != nil {
		return "", "", err
	}
	made := out.CreateCommitOnBranch.Commit
	if made == nil || made.OID == "" {
		return "", "", &Error{Kind: Ambiguous, Op: op, Repo: r, Message: "the answer names no commit"}
	}
	return made.OID, made.URL, nil
}

// check says what is wrong with a commit before it is sent, "" if nothing.
func (n NewCommit) check() string {
	switch {
	case !isObjectID(n.ExpectedHead):
		return fmt.Sprintf("%q, where the branch should be, is not the id of a commit", n.ExpectedHead)
	case strings.TrimSpace(n.Headline) == "" || strings.ContainsAny(n.Headline, "\r\n"):
		return "the first line of the message must be one line of text"
	case len(n.Additions)+len(n.Deletions) == 0:
		return "there is nothing to change"
	}
	seen, size := make(map[string]bool, len(n.Additions)+len(n.Deletions)), 0
	once := func(name string) string {
		switch {
		case !inRepository(name):
			return fmt.Sprintf("%q is not a path within the repository", name)
		case seen[name]:
			return fmt.Sprintf("%q is changed twice", name)
		}
		seen[name] = true
		return ""
	}
	for _, a := range n.Additions {
		if why := once(a.Path); why != "" {
			return why
		}
		size += len(a.Data)
	}
	for _, d := range n.Deletions {
		if why := once(d); why != "" {
			return why
		}
	}
	if size > MaxCommitBytes {
		return fmt.Sprintf("its files hold %s, more than the %s that the API takes in one commit; push with git instead", text.Bytes(size), text.Bytes(MaxCommitBytes))
	}
	return ""
}

// inRepository reports whether name is a clean path below the repository's root.
func inRepository(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.HasPrefix(name, "/") && !strings.HasPrefix(name, "../") && path.Clean(name) == name
}
