package githubapi

import (
	"context"
	"fmt"
	"slices"
	"time"
)

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
