package githubapi

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/google/go-github/v60/github"
)

// GetPull reads a pull request.
func (c *Client) GetPull(ctx context.Context, r Repo, n int) (Pull, error) {
	op := fmt.Sprintf("read the pull request #%d", n)
	if err := numbered(op, r, n); err != nil {
		return Pull{}, err
	}
	ctx, k := read(ctx, op, r)
	g, _, err := c.gh.PullRequests.Get(ctx, r.Owner, r.Name, n)
	if err != nil {
		return Pull{}, k.finish(err)
	}
	return pullOf(g), nil
}

// ListPulls yields pull requests, the newest first.
func (c *Client) ListPulls(ctx context.Context, r Repo, f PullFilter) iter.Seq2[Pull, error] {
	const op = "list pull requests"
	if err := r.check(); err != nil {
		return failed[Pull](usage(op, Repo{}, "%v", err))
	}
	owner, head, ok := strings.Cut(f.Head, ":")
	if f.Head != "" && (!ok || owner == "" || head == "") {
		// GitHub ignores such a filter and lists everything.
		return failed[Pull](usage(op, r, "%q is not a head: write it as owner:branch", f.Head))
	}
	if f.State == "" {
		f.State = "all"
	}
	all := pages(func(p Pull) int64 { return p.ID }, false, func(page int) ([]Pull, int, error) {
		ctx, k := read(ctx, op, r)
		list, resp, err := c.gh.PullRequests.List(ctx, r.Owner, r.Name, &github.PullRequestListOptions{State: f.State, Head: f.Head, Base: f.Base,
			Sort: "created", Direction: "desc", ListOptions: github.ListOptions{Page: page, PerPage: perPage}})
		return converted(k, list, resp, err, pullOf)
	})
	return func(yield func(Pull, error) bool) {
		for p, err := range all {
			// Should a server not understand a filter, what it lists is no answer.
			if err == nil && (head != "" && p.Head.Ref != head || f.Base != "" && p.Base.Ref != f.Base) {
				continue
			}
			if !yield(p, err) {
				return
			}
		}
	}
}

// CreatePull opens a pull request. Conflict: there is an open one between the
// same branches. Validation: a branch does not exist, or there is nothing between
// the two. Forbidden with FeaturePullCreation or FeatureDrafts: the settings or
// the plan do not allow it. After Ambiguous, list: GitHub opens no second one.
func (c *Client) CreatePull(ctx context.Context, r Repo, n NewPull) (Pull, error) {
	const op = "open a pull request"
	if err := r.check(); err != nil {
		return Pull{}, usage(op, Repo{}, "%v", err)
	}
	head := n.Head
	if _, name, ok := strings.Cut(n.Head, ":"); ok {
		head = name
	}
	for _, name := range []string{head, n.Base} {
		if why := badBranch(name); why != "" {
			return Pull{}, usage(op, r, "%q cannot be a branch: %s", name, why)
		}
	}
	ctx, k := create(ctx, op, r)
	g, _, err := c.gh.PullRequests.Create(ctx, r.Owner, r.Name, &github.NewPullRequest{Title: &n.Title, Body: &n.Body, Head: &n.Head, Base: &n.Base, Draft: &n.Draft})
	if err != nil {
		return Pull{}, k.finish(err)
	}
	return pullOf(g), nil
}

// EditPull changes the fields that e names.
func (c *Client) EditPull(ctx context.Context, r Repo, n int, e PullEdit) (Pull, error) {
	op := fmt.Sprintf("update the pull request #%d", n)
	if err := numbered(op, r, n); err != nil {
		return Pull{}, err
	}
	if e == (PullEdit{}) {
		return Pull{}, usage(op, r, "there is nothing to change")
	}
	ctx, k := write(ctx, op, r)
	g, _, err := c.gh.PullRequests.Edit(ctx, r.Owner, r.Name, n, &github.PullRequest{Title: e.Title, Body: e.Body})
	if err != nil {
		return Pull{}, k.finish(err)
	}
	return pullOf(g), nil
}

// RequestReviewers asks users, and teams written as org/team, for a review, all or
// none. Validation: one of them is no collaborator, or is the author. Usage: a team
// is of another organization than the repository.
func (c *Client) RequestReviewers(ctx context.Context, r Repo, n int, reviewers []string) error {
	op := fmt.Sprintf("request reviews of the pull request #%d", n)
	if err := numbered(op, r, n); err != nil {
		return err
	}
	if len(reviewers) == 0 {
		return usage(op, r, "there is nobody to ask")
	}
	users, teams := SplitReviewers(reviewers)
	for i, t := range teams {
		org, slug, _ := strings.Cut(t, "/")
		if !strings.EqualFold(org, r.Owner) {
			return usage(op, r, "the team %q is not one of %s", t, r.Owner)
		}
		teams[i] = slug
	}
	ctx, k := create(ctx, op, r)
	_, _, err := c.gh.PullRequests.RequestReviewers(ctx, r.Owner, r.Name, n, github.ReviewersRequest{Reviewers: users, TeamReviewers: teams})
	return k.finish(err)
}

// SplitReviewers parts users from teams, which are written as org/team.
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
// limit of 3,000: compare the count with Pull.ChangedFiles. The list belongs to
// the head commit of the moment; compare Pull.Head.SHA before and after to know
// that it did not move.
func (c *Client) ListPullFiles(ctx context.Context, r Repo, n int) iter.Seq2[PullFile, error] {
	op := fmt.Sprintf("list the files of the pull request #%d", n)
	if err := numbered(op, r, n); err != nil {
		return failed[PullFile](err)
	}
	return pages(func(f PullFile) string { return f.Path }, true, func(page int) ([]PullFile, int, error) {
		ctx, k := read(ctx, op, r)
		list, resp, err := c.gh.PullRequests.ListFiles(ctx, r.Owner, r.Name, n, &github.ListOptions{Page: page, PerPage: perPage})
		return converted(k, list, resp, err, func(g *github.CommitFile) PullFile {
			return PullFile{Path: g.GetFilename(), PreviousPath: g.GetPreviousFilename(), Status: g.GetStatus(), Patch: g.GetPatch(),
				Additions: g.GetAdditions(), Deletions: g.GetDeletions(), Changes: g.GetChanges(), SHA: g.GetSHA()}
		})
	})
}

func pullOf(g *github.PullRequest) Pull {
	p := Pull{ID: g.GetID(), NodeID: g.GetNodeID(), Number: g.GetNumber(), Title: g.GetTitle(), Body: g.GetBody(), State: g.GetState(),
		Draft: g.GetDraft(), Merged: g.GetMerged() || g.MergedAt != nil, // lists have only the time
		Locked: g.GetLocked(), Author: actorOf(g.User), Head: pullRefOf(g.Head), Base: pullRefOf(g.Base), ChangedFiles: g.GetChangedFiles(),
		URL: g.GetHTMLURL(), CreatedAt: g.GetCreatedAt().Time, UpdatedAt: g.GetUpdatedAt().Time}
	for _, l := range g.Labels {
		p.Labels = append(p.Labels, l.GetName())
	}
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
	return PullRef{Ref: b.GetRef(), SHA: b.GetSHA(), RepoID: repo.GetID(), Repo: Repo{repo.GetOwner().GetLogin(), repo.GetName()}}
}
