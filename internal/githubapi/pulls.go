package githubapi

import (
	"cmp"
	"context"
	"iter"
	"strings"

	"github.com/google/go-github/v60/github"
)

// Pull is a pull request.
type Pull struct {
	ID           int64
	NodeID       string
	Number       int
	Title        string
	Body         string
	State        string // open, closed
	Draft        bool
	Merged       bool
	Author       Actor
	Head         PullRef
	Base         PullRef
	ChangedFiles int // set only by GetPull, CreatePull and EditPull
	Labels       []string
	Reviewers    []string // of whom a review is still requested: logins, and teams as org/team
	URL          string
}

// PullFilter restricts ListPulls.
type PullFilter struct {
	State string // open, closed or all; empty means all
	Head  string // owner:branch
	Base  string // branch
}

// NewPull is a pull request to open.
type NewPull struct {
	Title string
	Body  string
	Head  string // branch, or owner:branch of a fork
	Base  string // branch
	Draft bool
}

// PullEdit names the fields of a pull request to change; nil leaves a field as
// it is.
type PullEdit struct {
	Title *string
	Body  *string
}

// PullRef is one end of a pull request.
type PullRef struct {
	Ref    string // branch name
	SHA    string
	Repo   Repo // zero when the fork was deleted
	RepoID int64
}

// PullFile is a file that a pull request changes.
type PullFile struct {
	Path         string
	PreviousPath string // earlier path of a renamed file
	Status       string // added, removed, modified, renamed, copied, changed, unchanged
	Patch        string // hunks without file headers; empty for binary and for too large files
	Changes      int
}

// GetPull reads a pull request.
func (c *Client) GetPull(ctx context.Context, r Repo, n int) (Pull, error) {
	op := reading(r, "read the pull request #%d", n).checkNumber(n)
	g, _, err := c.gh.PullRequests.Get(op.context(ctx), r.Owner, r.Name, n)
	return resultOf(op, g, err, pullOf, func(p Pull) bool { return p.Number == n })
}

// ListPulls yields pull requests, the newest first.
func (c *Client) ListPulls(ctx context.Context, r Repo, f PullFilter) iter.Seq2[Pull, error] {
	op := listing(r, "list pull requests")
	owner, head, _ := strings.Cut(f.Head, ":")
	if f.Head != "" && (owner == "" || head == "") {
		// GitHub ignores such a filter and lists everything.
		op.refuse("invalid head %q: write it as owner:branch", f.Head)
	}
	all := pages(ctx, op, func(p Pull) int64 { return p.ID }, pullOf, func(ctx context.Context, page github.ListOptions) ([]*github.PullRequest, *github.Response, error) {
		return c.gh.PullRequests.List(ctx, r.Owner, r.Name, &github.PullRequestListOptions{State: cmp.Or(f.State, "all"), Head: f.Head, Base: f.Base,
			Sort: "created", Direction: "desc", ListOptions: page})
	})
	return func(yield func(Pull, error) bool) {
		for p, err := range all {
			// A server that does not understand a filter lists too much.
			isOther := head != "" && p.Head.Ref != head || f.Base != "" && p.Base.Ref != f.Base
			if err == nil && isOther {
				continue
			}
			if !yield(p, err) {
				return
			}
		}
	}
}

// CreatePull opens a pull request. The error is Conflict if the same branches have an open pull
// request already. It is Validation if a branch does not exist or has nothing to merge, and
// Forbidden with FeaturePullCreation or FeatureDrafts if the settings or the plan do not allow it.
// After Ambiguous, list the pull requests to see whether it is open. GitHub never opens a second
// one for the same branches.
func (c *Client) CreatePull(ctx context.Context, r Repo, n NewPull) (Pull, error) {
	head := n.Head
	if _, branch, ok := strings.Cut(n.Head, ":"); ok {
		head = branch
	}
	op := creating(r, "open a pull request").checkBranch(head).checkBranch(n.Base)
	g, _, err := c.gh.PullRequests.Create(op.context(ctx), r.Owner, r.Name, &github.NewPullRequest{Title: &n.Title, Body: &n.Body, Head: &n.Head, Base: &n.Base, Draft: &n.Draft})
	return resultOf(op, g, err, pullOf, func(p Pull) bool { return p.Head.Ref == head && p.Base.Ref == n.Base })
}

// EditPull changes the fields that e names.
func (c *Client) EditPull(ctx context.Context, r Repo, n int, e PullEdit) (Pull, error) {
	op := writing(r, "update the pull request #%d", n).checkNumber(n)
	if e == (PullEdit{}) {
		op.refuse("there is nothing to change")
	}
	g, _, err := c.gh.PullRequests.Edit(op.context(ctx), r.Owner, r.Name, n, &github.PullRequest{Title: e.Title, Body: e.Body})
	return resultOf(op, g, err, pullOf, func(p Pull) bool { return p.Number == n })
}

// RequestReviewers asks users, and teams written as org/team, for a review: all of them
// or, after an error, none. The error is Validation if one of them is not a collaborator
// or is the author, and Usage if a team belongs to another organization than the
// repository.
func (c *Client) RequestReviewers(ctx context.Context, r Repo, n int, reviewers []string) error {
	op := creating(r, "request reviews of the pull request #%d", n).checkNumber(n)
	if len(reviewers) == 0 {
		op.refuse("there is nobody to ask")
	}
	users, teams := SplitReviewers(reviewers)
	for i, team := range teams {
		org, slug, _ := strings.Cut(team, "/")
		if !strings.EqualFold(org, r.Owner) {
			op.refuse("the team %q does not belong to %s", team, r.Owner)
		}
		teams[i] = slug
	}
	g, _, err := c.gh.PullRequests.RequestReviewers(op.context(ctx), r.Owner, r.Name, n, github.ReviewersRequest{Reviewers: users, TeamReviewers: teams})
	_, err = resultOf(op, g, err, pullOf, func(p Pull) bool { return p.Number == n })
	return err
}

// SplitReviewers separates users from teams, which are written as org/team.
func SplitReviewers(reviewers []string) (users, teams []string) {
	for _, name := range reviewers {
		if strings.Contains(name, "/") {
			teams = append(teams, name)
		} else {
			users = append(users, name)
		}
	}
	return users, teams
}

// ListPullFiles yields the files that a pull request changes, up to GitHub's
// limit of 3,000: compare the count with Pull.ChangedFiles. The list is that of the
// current head commit: compare Pull.Head.SHA before and after to know that the head
// did not move.
func (c *Client) ListPullFiles(ctx context.Context, r Repo, n int) iter.Seq2[PullFile, error] {
	op := listing(r, "list the files of the pull request #%d", n).checkNumber(n)
	op.stable = true
	return pages(ctx, op, func(f PullFile) string { return f.Path }, pullFileOf, func(ctx context.Context, page github.ListOptions) ([]*github.CommitFile, *github.Response, error) {
		return c.gh.PullRequests.ListFiles(ctx, r.Owner, r.Name, n, &page)
	})
}

func (p Pull) identified() bool { return p.Number > 0 }

func pullFileOf(g *github.CommitFile) PullFile {
	return PullFile{Path: g.GetFilename(), PreviousPath: g.GetPreviousFilename(), Status: g.GetStatus(), Patch: g.GetPatch(),
		Changes: g.GetChanges()}
}

func pullOf(g *github.PullRequest) Pull {
	p := Pull{ID: g.GetID(), NodeID: g.GetNodeID(), Number: g.GetNumber(), Title: g.GetTitle(), Body: g.GetBody(), State: g.GetState(),
		Draft: g.GetDraft(), Merged: g.GetMerged() || g.MergedAt != nil, // lists have only the time
		Labels: labelNames(g.Labels), Author: actorOf(g.User), Head: pullRefOf(g.Head), Base: pullRefOf(g.Base), ChangedFiles: g.GetChangedFiles(), URL: g.GetHTMLURL()}
	for _, u := range g.RequestedReviewers {
		p.Reviewers = append(p.Reviewers, u.GetLogin())
	}
	for _, t := range g.RequestedTeams {
		p.Reviewers = append(p.Reviewers, p.Base.Repo.Owner+"/"+t.GetSlug())
	}
	return p
}

func pullRefOf(b *github.PullRequestBranch) PullRef {
	repo := b.GetRepo()
	return PullRef{Ref: b.GetRef(), SHA: b.GetSHA(), RepoID: repo.GetID(), Repo: Repo{Owner: repo.GetOwner().GetLogin(), Name: repo.GetName()}}
}
