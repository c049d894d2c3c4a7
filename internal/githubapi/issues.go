package githubapi

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/google/go-github/v60/github"
)

// GetIssue reads an issue or, as one, a pull request.
func (c *Client) GetIssue(ctx context.Context, r Repo, n int) (Issue, error) {
	op := fmt.Sprintf("read #%d", n)
	if err := numbered(op, r, n); err != nil {
		return Issue{}, err
	}
	ctx, k := read(ctx, op, r)
	g, _, err := c.gh.Issues.Get(ctx, r.Owner, r.Name, n)
	if err != nil {
		return Issue{}, k.finish(err)
	}
	return issueOf(g), nil
}

// CreateIssue opens an issue. Errors of kind Ambiguous mean: list before
// creating again.
func (c *Client) CreateIssue(ctx context.Context, r Repo, n NewIssue) (Issue, error) {
	const op = "create an issue"
	if err := r.check(); err != nil {
		return Issue{}, usage(op, Repo{}, "%v", err)
	}
	req := &github.IssueRequest{Title: &n.Title, Body: &n.Body}
	if len(n.Labels) > 0 {
		req.Labels = &n.Labels
	}
	ctx, k := create(ctx, op, r)
	g, _, err := c.gh.Issues.Create(ctx, r.Owner, r.Name, req)
	if err != nil {
		return Issue{}, k.finish(err)
	}
	return issueOf(g), nil
}

// EditIssue changes the fields that e names, of an issue or a pull request.
func (c *Client) EditIssue(ctx context.Context, r Repo, n int, e IssueEdit) (Issue, error) {
	op := fmt.Sprintf("update #%d", n)
	if err := numbered(op, r, n); err != nil {
		return Issue{}, err
	}
	if e == (IssueEdit{}) {
		return Issue{}, usage(op, r, "there is nothing to change")
	}
	ctx, k := write(ctx, op, r)
	g, _, err := c.gh.Issues.Edit(ctx, r.Owner, r.Name, n, &github.IssueRequest{Title: e.Title, Body: e.Body, State: e.State, StateReason: e.StateReason})
	if err != nil {
		return Issue{}, k.finish(err)
	}
	return issueOf(g), nil
}

// ListIssues yields issues and pull requests, the newest first.
func (c *Client) ListIssues(ctx context.Context, r Repo, f IssueFilter) iter.Seq2[Issue, error] {
	const op = "list issues"
	if err := r.check(); err != nil {
		return failed[Issue](usage(op, Repo{}, "%v", err))
	}
	if f.State == "" {
		f.State = "all"
	}
	return pages(func(i Issue) int64 { return i.ID }, false, func(page int) ([]Issue, int, error) {
		ctx, k := read(ctx, op, r)
		list, resp, err := c.gh.Issues.ListByRepo(ctx, r.Owner, r.Name, &github.IssueListByRepoOptions{State: f.State, Since: f.Since, Labels: f.Labels,
			Sort: "created", Direction: "desc", ListOptions: github.ListOptions{Page: page, PerPage: perPage}})
		return converted(k, list, resp, err, issueOf)
	})
}

func issueOf(g *github.Issue) Issue {
	i := Issue{ID: g.GetID(), NodeID: g.GetNodeID(), Number: g.GetNumber(), Title: g.GetTitle(), Body: g.GetBody(), State: g.GetState(),
		StateReason: g.GetStateReason(), Author: actorOf(g.User), IsPull: g.IsPullRequest(), Locked: g.GetLocked(), Comments: g.GetComments(),
		URL: g.GetHTMLURL(), CreatedAt: g.GetCreatedAt().Time, UpdatedAt: g.GetUpdatedAt().Time}
	for _, l := range g.Labels {
		i.Labels = append(i.Labels, l.GetName())
	}
	return i
}

func actorOf(u *github.User) Actor {
	return Actor{Login: u.GetLogin(), DatabaseID: u.GetID()}
}

// numbered checks what every request about one numbered thing needs.
func numbered(op string, r Repo, n int) error {
	if err := r.check(); err != nil {
		return usage(op, Repo{}, "%v", err)
	}
	if n <= 0 {
		return usage(op, r, "%d is not the number of an issue, a pull request or a discussion", n)
	}
	return nil
}

// converted turns a page of go-github's values into ours.
func converted[G, T any](k *call, list []G, resp *github.Response, err error, conv func(G) T) ([]T, int, error) {
	if err != nil {
		return nil, 0, k.finish(err)
	}
	out := make([]T, len(list))
	for i, g := range list {
		out[i] = conv(g)
	}
	return out, resp.NextPage, nil
}

// failed is the sequence that yields one error.
func failed[T any](err error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero T
		yield(zero, err)
	}
}

// Edit is one change that somebody made to an issue or pull request.
type Edit struct {
	Field  string // EditTitle, EditBody or EditState
	Editor Actor
	At     time.Time
}

// The fields that an Edit names.
const (
	EditTitle = "title"
	EditBody  = "body"
	EditState = "state"
)

// IssueEdits says who changed the title, the body or the state of an issue or
// pull request at or after since, the oldest change first. Writing the first
// body is no edit.
func (c *Client) IssueEdits(ctx context.Context, r Repo, n int, since time.Time) ([]Edit, error) {
	op := fmt.Sprintf("read the history of #%d", n)
	if err := numbered(op, r, n); err != nil {
		return nil, err
	}
	var edits []Edit
	bodies, events := pageInfo{HasNextPage: true}, pageInfo{HasNextPage: true}
	for range maxPages {
		vars := map[string]any{"owner": r.Owner, "name": r.Name, "number": n, "bodyAfter": after(bodies.EndCursor), "eventsAfter": after(events.EndCursor)}
		if !since.IsZero() {
			vars["since"] = since.UTC().Format(time.RFC3339)
		}
		var out struct {
			Repository struct {
				Target *gqlHistory `json:"issueOrPullRequest"`
			} `json:"repository"`
		}
		if err := c.query(ctx, &call{op: op, repo: r}, editsQuery, vars, &out); err != nil {
			return nil, err
		}
		h := out.Repository.Target
		if h == nil {
			return nil, &Error{Kind: NotFound, Op: op, Repo: r}
		}
		if bodies.HasNextPage {
			edits = append(edits, h.bodyEdits(since)...)
			bodies = next(bodies, h.Bodies.PageInfo)
		}
		if events.HasNextPage {
			edits = append(edits, h.eventEdits(since)...)
			events = next(events, h.Events.PageInfo)
		}
		if !bodies.HasNextPage && !events.HasNextPage {
			break
		}
	}
	slices.SortStableFunc(edits, func(a, b Edit) int { return a.At.Compare(b.At) })
	return edits, nil
}

// next moves on to the following page and keeps the cursor of the last one.
func next(old, got pageInfo) pageInfo {
	if got.EndCursor == "" || got.EndCursor == old.EndCursor {
		return pageInfo{EndCursor: old.EndCursor}
	}
	return got
}

// gqlHistory is what editsQuery asks of an issue or pull request.
type gqlHistory struct {
	CreatedAt time.Time `json:"createdAt"`
	Bodies    struct {
		Nodes []struct {
			EditedAt time.Time `json:"editedAt"`
			Editor   *gqlActor `json:"editor"`
		} `json:"nodes"`
		PageInfo pageInfo `json:"pageInfo"`
	} `json:"userContentEdits"`
	Events struct {
		Nodes []struct {
			Typename  string    `json:"__typename"`
			CreatedAt time.Time `json:"createdAt"`
			Actor     *gqlActor `json:"actor"`
		} `json:"nodes"`
		PageInfo pageInfo `json:"pageInfo"`
	} `json:"timelineItems"`
}

// bodyEdits leaves out the entry for the first text, which GitHub adds with the
// first edit.
func (h *gqlHistory) bodyEdits(since time.Time) []Edit {
	var out []Edit
	for _, b := range h.Bodies.Nodes {
		if b.EditedAt.After(h.CreatedAt) && !b.EditedAt.Before(since) {
			out = append(out, Edit{Field: EditBody, Editor: b.Editor.actor(), At: b.EditedAt})
		}
	}
	return out
}

func (h *gqlHistory) eventEdits(since time.Time) []Edit {
	var out []Edit
	for _, e := range h.Events.Nodes {
		if e.CreatedAt.Before(since) {
			continue // since selects by update, not by creation
		}
		switch e.Typename {
		case "RenamedTitleEvent":
			out = append(out, Edit{Field: EditTitle, Editor: e.Actor.actor(), At: e.CreatedAt})
		case "ClosedEvent", "ReopenedEvent":
			out = append(out, Edit{Field: EditState, Editor: e.Actor.actor(), At: e.CreatedAt})
		}
	}
	return out
}
