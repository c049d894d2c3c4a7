package githubapi

import (
	"context"
	"fmt"
	"iter"

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
	return Pull{ID: g.GetID(), NodeID: g.GetNodeID(), Number: g.GetNumber(), Title: g.GetTitle(), Body: g.GetBody(), State: g.GetState(),
		Draft: g.GetDraft(), Merged: g.GetMerged(), Locked: g.GetLocked(), Author: actorOf(g.User), Head: pullRefOf(g.Head), Base: pullRefOf(g.Base),
		ChangedFiles: g.GetChangedFiles(), URL: g.GetHTMLURL(), CreatedAt: g.GetCreatedAt().Time, UpdatedAt: g.GetUpdatedAt().Time}
}

func pullRefOf(b *github.PullRequestBranch) PullRef {
	repo := b.GetRepo()
	return PullRef{Ref: b.GetRef(), SHA: b.GetSHA(), RepoID: repo.GetID(), Repo: Repo{repo.GetOwner().GetLogin(), repo.GetName()}}
}
