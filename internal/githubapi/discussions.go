package githubapi

import (
	"context"
	"fmt"
	"iter"
	"time"
)

// GraphQL does not say which permission is missing.
const (
	discussionsRead  = "discussions=read"
	discussionsWrite = "discussions=write"
)

// DiscussionCategories reads a repository's discussion categories. Where
// discussions are switched off the error is Forbidden with FeatureDiscussions.
func (c *Client) DiscussionCategories(ctx context.Context, r Repo) ([]DiscussionCategory, error) {
	const op = "list the discussion categories"
	if err := r.check(); err != nil {
		return nil, usage(op, Repo{}, "%v", err)
	}
	var all []DiscussionCategory
	for cat, err := range cursors(func(d DiscussionCategory) string { return d.ID }, func(cursor string) ([]DiscussionCategory, pageInfo, bool, error) {
		var out struct {
			Repository struct {
				ID                    string `json:"id"`
				HasDiscussionsEnabled bool   `json:"hasDiscussionsEnabled"`
				DiscussionCategories  struct {
					Nodes    []gqlCategory `json:"nodes"`
					PageInfo pageInfo      `json:"pageInfo"`
				} `json:"discussionCategories"`
			} `json:"repository"`
		}
		k := &call{op: op, repo: r, needs: discussionsRead}
		if err := c.query(ctx, k, categoriesQuery, map[string]any{"owner": r.Owner, "name": r.Name, "after": after(cursor)}, &out); err != nil {
			return nil, pageInfo{}, false, err
		}
		if !out.Repository.HasDiscussionsEnabled {
			return nil, pageInfo{}, false, discussionsOff(op, r)
		}
		list := make([]DiscussionCategory, len(out.Repository.DiscussionCategories.Nodes))
		for i, n := range out.Repository.DiscussionCategories.Nodes {
			list[i] = n.category(out.Repository.ID)
		}
		return list, out.Repository.DiscussionCategories.PageInfo, false, nil
	}) {
		if err != nil {
			return nil, err
		}
		all = append(all, cat)
	}
	return all, nil
}

// ListDiscussions yields the discussions created at or after since, the newest
// first. A zero since means all.
func (c *Client) ListDiscussions(ctx context.Context, r Repo, since time.Time) iter.Seq2[Discussion, error] {
	const op = "list discussions"
	if err := r.check(); err != nil {
		return failed[Discussion](usage(op, Repo{}, "%v", err))
	}
	return cursors(func(d Discussion) string { return d.ID }, func(cursor string) ([]Discussion, pageInfo, bool, error) {
		var out struct {
			Repository struct {
				HasDiscussionsEnabled bool `json:"hasDiscussionsEnabled"`
				Discussions           struct {
					Nodes    []gqlDiscussion `json:"nodes"`
					PageInfo pageInfo        `json:"pageInfo"`
				} `json:"discussions"`
			} `json:"repository"`
		}
		k := &call{op: op, repo: r, needs: discussionsRead}
		if err := c.query(ctx, k, discussionsQuery, map[string]any{"owner": r.Owner, "name": r.Name, "after": after(cursor)}, &out); err != nil {
			return nil, pageInfo{}, false, err
		}
		if !out.Repository.HasDiscussionsEnabled {
			return nil, pageInfo{}, false, discussionsOff(op, r)
		}
		var list []Discussion
		older := false
		for _, n := range out.Repository.Discussions.Nodes {
			if older = n.CreatedAt.Before(since); older {
				break
			}
			list = append(list, n.discussion())
		}
		return list, out.Repository.Discussions.PageInfo, older, nil
	})
}

// GetDiscussion reads a discussion.
func (c *Client) GetDiscussion(ctx context.Context, r Repo, n int) (Discussion, error) {
	op := fmt.Sprintf("read the discussion #%d", n)
	if err := numbered(op, r, n); err != nil {
		return Discussion{}, err
	}
	var out struct {
		Repository struct {
			Discussion *gqlDiscussion `json:"discussion"`
		} `json:"repository"`
	}
	k := &call{op: op, repo: r, needs: discussionsRead}
	if err := c.query(ctx, k, discussionQuery, map[string]any{"owner": r.Owner, "name": r.Name, "number": n}, &out); err != nil {
		return Discussion{}, err
	}
	if out.Repository.Discussion == nil {
		return Discussion{}, &Error{Kind: NotFound, Op: op, Repo: r}
	}
	return out.Repository.Discussion.discussion(), nil
}

// CreateDiscussion opens a discussion.
func (c *Client) CreateDiscussion(ctx context.Context, d NewDiscussion) (Discussion, error) {
	const op = "create a discussion"
	if d.RepositoryID == "" || d.CategoryID == "" {
		return Discussion{}, usage(op, Repo{}, "a discussion needs a repository and a category")
	}
	var out struct {
		CreateDiscussion struct {
			Discussion *gqlDiscussion `json:"discussion"`
		} `json:"createDiscussion"`
	}
	k := &call{op: op, write: true, content: true, needs: discussionsWrite}
	err := c.query(ctx, k, createDiscussionMutation, map[string]any{"input": map[string]any{
		"repositoryId": d.RepositoryID, "categoryId": d.CategoryID, "title": d.Title, "body": d.Body}}, &out)
	if err != nil {
		return Discussion{}, err
	}
	if out.CreateDiscussion.Discussion == nil {
		return Discussion{}, &Error{Kind: Ambiguous, Op: op, Message: "the answer holds no discussion"}
	}
	return out.CreateDiscussion.Discussion.discussion(), nil
}

// ListDiscussionComments yields the top-level comments of a discussion that were
// updated at or after since, the oldest first. GitHub cannot filter them, so all
// are read.
func (c *Client) ListDiscussionComments(ctx context.Context, r Repo, n int, since time.Time) iter.Seq2[DiscussionComment, error] {
	op := fmt.Sprintf("list the comments of the discussion #%d", n)
	if err := numbered(op, r, n); err != nil {
		return failed[DiscussionComment](err)
	}
	return cursors(func(d DiscussionComment) string { return d.ID }, func(cursor string) ([]DiscussionComment, pageInfo, bool, error) {
		var out struct {
			Repository struct {
				Discussion *struct {
					Comments struct {
						Nodes    []gqlDiscussionComment `json:"nodes"`
						PageInfo pageInfo               `json:"pageInfo"`
					} `json:"comments"`
				} `json:"discussion"`
			} `json:"repository"`
		}
		k := &call{op: op, repo: r, needs: discussionsRead}
		err := c.query(ctx, k, discussionCommentsQuery, map[string]any{"owner": r.Owner, "name": r.Name, "number": n, "after": after(cursor)}, &out)
		if err != nil {
			return nil, pageInfo{}, false, err
		}
		if out.Repository.Discussion == nil {
			return nil, pageInfo{}, false, &Error{Kind: NotFound, Op: op, Repo: r}
		}
		var list []DiscussionComment
		for _, n := range out.Repository.Discussion.Comments.Nodes {
			if !n.UpdatedAt.Before(since) {
				list = append(list, n.comment())
			}
		}
		return list, out.Repository.Discussion.Comments.PageInfo, false, nil
	})
}

// AddDiscussionComment adds a top-level comment to the discussion with the node
// id (Discussion.ID).
func (c *Client) AddDiscussionComment(ctx context.Context, discussionID, body string) (DiscussionComment, error) {
	const op = "comment on a discussion"
	if discussionID == "" {
		return DiscussionComment{}, usage(op, Repo{}, "the discussion's node id is missing")
	}
	var out struct {
		AddDiscussionComment struct {
			Comment *gqlDiscussionComment `json:"comment"`
		} `json:"addDiscussionComment"`
	}
	k := &call{op: op, write: true, content: true, needs: discussionsWrite}
	err := c.query(ctx, k, addDiscussionCommentMutation, map[string]any{"input": map[string]any{"discussionId": discussionID, "body": body}}, &out)
	if err != nil {
		return DiscussionComment{}, err
	}
	if out.AddDiscussionComment.Comment == nil {
		return DiscussionComment{}, &Error{Kind: Ambiguous, Op: op, Message: "the answer holds no comment"}
	}
	return out.AddDiscussionComment.Comment.comment(), nil
}

// DeleteDiscussion removes the discussion with the node id for good.
func (c *Client) DeleteDiscussion(ctx context.Context, id string) error {
	return c.deleteNode(ctx, "delete a discussion", deleteDiscussionMutation, id)
}

// DeleteDiscussionComment removes the comment with the node id for good.
func (c *Client) DeleteDiscussionComment(ctx context.Context, id string) error {
	return c.deleteNode(ctx, "delete a discussion comment", deleteDiscussionCommentMutation, id)
}

func (c *Client) deleteNode(ctx context.Context, op, document, id string) error {
	if id == "" {
		return usage(op, Repo{}, "the node id is missing")
	}
	var out map[string]any
	return c.query(ctx, &call{op: op, write: true, needs: discussionsWrite}, document, map[string]any{"input": map[string]any{"id": id}}, &out)
}

func discussionsOff(op string, r Repo) error {
	return &Error{Kind: Forbidden, Op: op, Repo: r, Feature: FeatureDiscussions}
}

type gqlCategory struct {
	ID           string `json:"id"`
	Name         string `json:"name"`
	Slug         string `json:"slug"`
	IsAnswerable bool   `json:"isAnswerable"`
	Repository   struct {
		ID string `json:"id"`
	} `json:"repository"`
}

func (g gqlCategory) category(repositoryID string) DiscussionCategory {
	return DiscussionCategory{ID: g.ID, RepositoryID: repositoryID, Name: g.Name, Slug: g.Slug, Answerable: g.IsAnswerable}
}

type gqlDiscussion struct {
	ID         string      `json:"id"`
	DatabaseID int64       `json:"databaseId"`
	Number     int         `json:"number"`
	Title      string      `json:"title"`
	Body       string      `json:"body"`
	Closed     bool        `json:"closed"`
	Locked     bool        `json:"locked"`
	URL        string      `json:"url"`
	CreatedAt  time.Time   `json:"createdAt"`
	UpdatedAt  time.Time   `json:"updatedAt"`
	Category   gqlCategory `json:"category"`
	Author     *gqlActor   `json:"author"`
}

func (g *gqlDiscussion) discussion() Discussion {
	return Discussion{ID: g.ID, DatabaseID: g.DatabaseID, Number: g.Number, Title: g.Title, Body: g.Body, Closed: g.Closed, Locked: g.Locked,
		URL: g.URL, CreatedAt: g.CreatedAt, UpdatedAt: g.UpdatedAt, Category: g.Category.category(g.Category.Repository.ID), Author: g.Author.actor()}
}

type gqlDiscussionComment struct {
	ID         string    `json:"id"`
	DatabaseID int64     `json:"databaseId"`
	Body       string    `json:"body"`
	URL        string    `json:"url"`
	CreatedAt  time.Time `json:"createdAt"`
	UpdatedAt  time.Time `json:"updatedAt"`
	Author     *gqlActor `json:"author"`
}

func (g *gqlDiscussionComment) comment() DiscussionComment {
	return DiscussionComment{ID: g.ID, DatabaseID: g.DatabaseID, Body: g.Body, URL: g.URL, CreatedAt: g.CreatedAt, UpdatedAt: g.UpdatedAt, Author: g.Author.actor()}
}
