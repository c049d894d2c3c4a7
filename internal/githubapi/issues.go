package githubapi

import (
	"context"
	"iter"
	"slices"
	"time"

	"github.com/google/go-github/v60/github"
)

// Issue is an issue, or a pull request seen as one.
type Issue struct {
	ID     int64
	NodeID string
	Number int
	Title  string
	Body   string
	State  string // open, closed
	Labels []string
	Author Actor
	IsPull bool
	URL    string // address of the page for people
}

// NewIssue is an issue to create.
type NewIssue struct {
	Title  string
	Body   string
	Labels []string // labels that do not exist are created by GitHub
}

// IssueEdit names the fields of an issue to change; nil leaves a field as it is.
type IssueEdit struct {
	Title       *string
	Body        *string
	State       *string // open, closed
	StateReason *string // completed, not_planned, duplicate, reopened
}

// IssueFilter restricts ListIssues.
type IssueFilter struct {
	Since time.Time // updated at or after; zero means no limit
	// Creator is the login, as Client.Login returns it, of the account that opened them;
	// "" for any.
	Creator string
	// CreatedFrom limits how far back the list goes: the first page that has an entry opened
	// before this time is the last one. Zero means no limit.
	CreatedFrom time.Time
}

// GetIssue reads an issue or, as one, a pull request.
func (c *Client) GetIssue(ctx context.Context, r Repo, n int) (Issue, error) {
	op := reading(r, "read #%d", n).checkNumber(n)
	g, _, err := c.gh.Issues.Get(op.context(ctx), r.Owner, r.Name, n)
	return resultOf(op, g, err, issueOf, func(i Issue) bool { return i.Number == n })
}

// CreateIssue opens an issue. After Ambiguous, list the issues before creating it again.
func (c *Client) CreateIssue(ctx context.Context, r Repo, n NewIssue) (Issue, error) {
	op := creating(r, "create an issue")
	req := &github.IssueRequest{Title: &n.Title, Body: &n.Body}
	if len(n.Labels) > 0 {
		req.Labels = &n.Labels
	}
	g, _, err := c.gh.Issues.Create(op.context(ctx), r.Owner, r.Name, req)
	return result(op, g, err, issueOf)
}

// EditIssue changes the fields that e names, of an issue or a pull request.
func (c *Client) EditIssue(ctx context.Context, r Repo, n int, e IssueEdit) (Issue, error) {
	op := writing(r, "update #%d", n).checkNumber(n)
	if e == (IssueEdit{}) {
		op.refuse("there is nothing to change")
	}
	g, _, err := c.gh.Issues.Edit(op.context(ctx), r.Owner, r.Name, n, &github.IssueRequest{Title: e.Title, Body: e.Body, State: e.State, StateReason: e.StateReason})
	return resultOf(op, g, err, issueOf, func(i Issue) bool { return i.Number == n })
}

// ListIssues yields issues and pull requests, open or closed, the newest first.
func (c *Client) ListIssues(ctx context.Context, r Repo, f IssueFilter) iter.Seq2[Issue, error] {
	op := listing(r, "list issues")
	return pages(ctx, op, func(i Issue) int64 { return i.ID }, issueOf, func(ctx context.Context, page github.ListOptions) ([]*github.Issue, *github.Response, error) {
		list, resp, err := c.gh.Issues.ListByRepo(ctx, r.Owner, r.Name, &github.IssueListByRepoOptions{State: "all", Since: f.Since, Creator: f.Creator,
			Sort: "created", Direction: "desc", ListOptions: page})
		if n := len(list); err == nil && n > 0 && list[n-1].GetCreatedAt().Before(f.CreatedFrom) {
			resp.NextPage = noMorePages
		}
		return list, resp, err
	})
}

func (i Issue) identified() bool { return i.Number > 0 }

func issueOf(g *github.Issue) Issue {
	return Issue{ID: g.GetID(), NodeID: g.GetNodeID(), Number: g.GetNumber(), Title: g.GetTitle(), Body: g.GetBody(), State: g.GetState(),
		Labels: labelNames(g.Labels), Author: actorOf(g.User), IsPull: g.IsPullRequest(), URL: g.GetHTMLURL()}
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

const editsQuery = `query Edits($owner: String!, $name: String!, $number: Int!, $since: DateTime, $bodyAfter: String, $eventsAfter: String) {
  repository(owner: $owner, name: $name) {
    issueOrPullRequest(number: $number) {
      ... on Issue {
        createdAt
        userContentEdits(first: 100, after: $bodyAfter) { ...bodyEdits }
        timelineItems(first: 100, after: $eventsAfter, since: $since, itemTypes: [RENAMED_TITLE_EVENT, CLOSED_EVENT, REOPENED_EVENT]) {
          nodes { __typename ...titleEdit ...closing ...reopening }
          pageInfo { hasNextPage endCursor }
        }
      }
      ... on PullRequest {
        createdAt
        userContentEdits(first: 100, after: $bodyAfter) { ...bodyEdits }
        timelineItems(first: 100, after: $eventsAfter, since: $since, itemTypes: [RENAMED_TITLE_EVENT, CLOSED_EVENT, REOPENED_EVENT]) {
          nodes { __typename ...titleEdit ...closing ...reopening }
          pageInfo { hasNextPage endCursor }
        }
      }
    }
  }
}
fragment bodyEdits on UserContentEditConnection {
  nodes { editedAt editor { ...actor } }
  pageInfo { hasNextPage endCursor }
}
fragment titleEdit on RenamedTitleEvent { createdAt actor { ...actor } }
fragment closing on ClosedEvent { createdAt actor { ...actor } }
fragment reopening on ReopenedEvent { createdAt actor { ...actor } }
` + actorFields

// IssueEdits returns who changed the title, the body or the state of an issue or
// pull request at or after since, the oldest change first. Writing the first
// body does not count as an edit.
func (c *Client) IssueEdits(ctx context.Context, r Repo, n int, since time.Time) ([]Edit, error) {
	var edits []Edit
	var bodies, events trail
	for !bodies.ended || !events.ended {
		op := reading(r, "read the history of #%d", n).checkNumber(n)
		vars := map[string]any{"owner": r.Owner, "name": r.Name, "number": n, "bodyAfter": cursorVariable(bodies.cursor), "eventsAfter": cursorVariable(events.cursor)}
		if !since.IsZero() {
			vars["since"] = since.UTC().Format(time.RFC3339)
		}
		var out struct {
			Repository struct{ IssueOrPullRequest *history }
		}
		if err := c.query(ctx, op, editsQuery, vars, &out); err != nil {
			return nil, err
		}
		h := out.Repository.IssueOrPullRequest
		if h == nil {
			return nil, op.fail(NotFound, "")
		}
		if !h.complete() {
			return nil, op.unexpectedAnswer("a part of the history is missing")
		}
		if h.UserContentEdits == nil { // nobody edited the body
			bodies.ended = true
		}
		if !bodies.ended {
			edits = append(edits, h.bodyEdits(since)...)
			if err := bodies.follow(op, h.UserContentEdits.PageInfo); err != nil {
				return nil, err
			}
		}
		if !events.ended {
			edits = append(edits, h.eventEdits(since)...)
			if err := events.follow(op, h.TimelineItems.PageInfo); err != nil {
				return nil, err
			}
		}
	}
	slices.SortStableFunc(edits, func(a, b Edit) int { return a.At.Compare(b.At) })
	return edits, nil
}

// history is what editsQuery reads of an issue or pull request.
type history struct {
	CreatedAt        time.Time
	UserContentEdits *connection[struct { // GitHub may answer null for a body that nobody edited
		EditedAt time.Time
		Editor   Actor
	}]
	TimelineItems connection[struct {
		Typename  string `json:"__typename"`
		CreatedAt time.Time
		Actor     Actor
	}]
}

// complete reports whether the answer has everything that the query asks for.
func (h *history) complete() bool {
	if h.CreatedAt.IsZero() || !h.TimelineItems.isComplete() {
		return false
	}
	for _, e := range h.TimelineItems.Nodes {
		if e.Typename == "" || e.CreatedAt.IsZero() {
			return false
		}
	}
	bodies := h.UserContentEdits
	if bodies == nil {
		return true
	}
	for _, b := range bodies.Nodes {
		if b.EditedAt.IsZero() {
			return false
		}
	}
	return bodies.isComplete()
}

// bodyEdits returns the edits of the body at or after since, without the entry for the first text,
// which GitHub adds with the first edit.
func (h *history) bodyEdits(since time.Time) []Edit {
	var out []Edit
	for _, b := range h.UserContentEdits.Nodes {
		if b.EditedAt.After(h.CreatedAt) && !b.EditedAt.Before(since) {
			out = append(out, Edit{Field: EditBody, Editor: b.Editor, At: b.EditedAt})
		}
	}
	return out
}

// eventEdits returns the changes of the title and the state at or after since.
func (h *history) eventEdits(since time.Time) []Edit {
	fields := map[string]string{"RenamedTitleEvent": EditTitle, "ClosedEvent": EditState, "ReopenedEvent": EditState}
	var out []Edit
	for _, e := range h.TimelineItems.Nodes {
		// GitHub's since selects by update, not by creation.
		if field := fields[e.Typename]; field != "" && !e.CreatedAt.Before(since) {
			out = append(out, Edit{Field: field, Editor: e.Actor, At: e.CreatedAt})
		}
	}
	return out
}
