package githubapi

import (
	"context"
	"iter"
	"slices"
	"time"
)

// GraphQL's errors do not name the missing permission.
const (
	discussionsRead  = "discussions=read"
	discussionsWrite = "discussions=write"
)

// DiscussionCategory is a place for discussions.
type DiscussionCategory struct {
	ID           string // node id
	RepositoryID string // node id, which NewDiscussion needs
	Name         string
	Slug         string
}

// NewDiscussion is a discussion to create.
type NewDiscussion struct {
	RepositoryID string // node id: DiscussionCategory.RepositoryID
	CategoryID   string // node id
	Title        string
	Body         string
}

// Discussion is a discussion of a repository.
type Discussion struct {
	ID         string // node id
	DatabaseID int64
	Number     int
	Body       string
	Category   DiscussionCategory
	Author     Actor
	URL        string
	CreatedAt  time.Time
}

// DiscussionComment is a top-level comment of a discussion.
type DiscussionComment struct {
	ID         string // node id
	DatabaseID int64
	Body       string
	Author     Actor
	URL        string
	UpdatedAt  time.Time
}

// The GraphQL documents name fields as the types above do; the tests validate each
// against GitHub's published schema.
const (
	discussionFields = `fragment discussion on Discussion {
  id databaseId number body url createdAt
  category { id name slug }
  author { ...actor }
}
` + actorFields

	discussionCommentFields = `fragment comment on DiscussionComment {
  id databaseId body url updatedAt
  author { ...actor }
}
` + actorFields

	categoriesQuery = `query Categories($owner: String!, $name: String!, $after: String) {
  repository(owner: $owner, name: $name) {
    id hasDiscussionsEnabled
    discussionCategories(first: 100, after: $after) {
      nodes { id name slug }
      pageInfo { hasNextPage endCursor }
    }
  }
}`

	discussionsQuery = `query Discussions($owner: String!, $name: String!, $after: String) {
  repository(owner: $owner, name: $name) {
    id hasDiscussionsEnabled
    discussions(first: 100, after: $after, orderBy: {field: CREATED_AT, direction: DESC}) {
      nodes { ...discussion }
      pageInfo { hasNextPage endCursor }
    }
  }
}
` + discussionFields

	discussionQuery = `query Discussion($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) {
    id
    discussion(number: $number) { ...discussion }
  }
}
` + discussionFields

	discussionCommentsQuery = `query DiscussionComments($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) {
    discussion(number: $number) {
      comments(first: 100, after: $after) {
        nodes { ...comment }
        pageInfo { hasNextPage endCursor }
      }
    }
  }
}
` + discussionCommentFields

	createDiscussionMutation = `mutation CreateDiscussion($input: CreateDiscussionInput!) {
  createDiscussion(input: $input) { discussion { ...discussion } }
}
` + discussionFields

	addDiscussionCommentMutation = `mutation AddDiscussionComment($input: AddDiscussionCommentInput!) {
  addDiscussionComment(input: $input) { comment { ...comment } }
}
` + discussionCommentFields

	deleteDiscussionMutation = `mutation DeleteDiscussion($input: DeleteDiscussionInput!) {
  deleteDiscussion(input: $input) { discussion { id } }
}`

	deleteDiscussionCommentMutation = `mutation DeleteDiscussionComment($input: DeleteDiscussionCommentInput!) {
  deleteDiscussionComment(input: $input) { comment { id } }
}`
)

// DiscussionCategories reads a repository's discussion categories. Where
// discussions are switched off the error is Forbidden with FeatureDiscussions.
func (c *Client) DiscussionCategories(ctx context.Context, r Repo) ([]DiscussionCategory, error) {
	list := reading(r, "list the discussion categories")
	return collect(cursors(list, func(d DiscussionCategory) string { return d.ID }, func(op *operation, cursor string) ([]DiscussionCategory, pageInfo, error) {
		var out struct {
			Repository struct {
				discussed
				DiscussionCategories connection[DiscussionCategory]
			}
		}
		if err := c.queryDiscussions(ctx, op, categoriesQuery, map[string]any{"after": cursorVariable(cursor)}, &out); err != nil {
			return nil, pageInfo{}, err
		}
		if err := out.Repository.check(op); err != nil {
			return nil, pageInfo{}, err
		}
		list := out.Repository.DiscussionCategories
		for i := range list.Nodes {
			list.Nodes[i].RepositoryID = out.Repository.ID
		}
		return list.Nodes, list.PageInfo, nil
	}), func(d DiscussionCategory) DiscussionCategory { return d })
}

// ListDiscussions yields the discussions created at or after since, the newest
// first. A zero since means all.
func (c *Client) ListDiscussions(ctx context.Context, r Repo, since time.Time) iter.Seq2[Discussion, error] {
	list := reading(r, "list discussions")
	return cursors(list, func(d Discussion) string { return d.ID }, func(op *operation, cursor string) ([]Discussion, pageInfo, error) {
		var out struct {
			Repository struct {
				discussed
				Discussions connection[Discussion]
			}
		}
		if err := c.queryDiscussions(ctx, op, discussionsQuery, map[string]any{"after": cursorVariable(cursor)}, &out); err != nil {
			return nil, pageInfo{}, err
		}
		if err := out.Repository.check(op); err != nil {
			return nil, pageInfo{}, err
		}
		list := out.Repository.Discussions
		for i := range list.Nodes {
			if d := list.Nodes[i]; d.ID != "" && d.CreatedAt.Before(since) {
				// The others are older still, so no further page is read.
				return list.Nodes[:i], pageInfo{EndCursor: list.PageInfo.EndCursor}, nil
			}
			list.Nodes[i].Category.RepositoryID = out.Repository.ID
		}
		return list.Nodes, list.PageInfo, nil
	})
}

// GetDiscussion reads a discussion.
func (c *Client) GetDiscussion(ctx context.Context, r Repo, n int) (Discussion, error) {
	var out struct {
		Repository struct {
			ID         string
			Discussion *Discussion
		}
	}
	op := reading(r, "read the discussion #%d", n).checkNumber(n)
	if err := c.queryDiscussions(ctx, op, discussionQuery, map[string]any{"number": n}, &out); err != nil {
		return Discussion{}, err
	}
	d := out.Repository.Discussion
	switch {
	case d == nil && out.Repository.ID == "":
		return Discussion{}, op.unexpectedAnswer("it has no repository")
	case d == nil:
		return Discussion{}, op.fail(NotFound, "")
	case d.ID == "" || d.Number != n:
		return Discussion{}, op.unexpectedAnswer("it is about something else")
	}
	d.Category.RepositoryID = out.Repository.ID
	return *d, nil
}

// CreateDiscussion opens a discussion.
func (c *Client) CreateDiscussion(ctx context.Context, d NewDiscussion) (Discussion, error) {
	op := &operation{what: "create a discussion", write: true, content: true, needs: discussionsWrite}
	op.require("a discussion needs a repository and a category", d.RepositoryID, d.CategoryID)
	var out struct {
		CreateDiscussion struct{ Discussion *Discussion }
	}
	err := c.query(ctx, op, createDiscussionMutation, map[string]any{"input": map[string]any{
		"repositoryId": d.RepositoryID, "categoryId": d.CategoryID, "title": d.Title, "body": d.Body}}, &out)
	if err != nil {
		return Discussion{}, err
	}
	created := out.CreateDiscussion.Discussion
	if created == nil || created.ID == "" || created.Number <= 0 {
		return Discussion{}, op.unexpectedAnswer("it has no discussion")
	}
	created.Category.RepositoryID = d.RepositoryID
	return *created, nil
}

// ListDiscussionComments yields the top-level comments of a discussion that were
// updated at or after since, the oldest first. GitHub cannot filter them, so all
// are read.
func (c *Client) ListDiscussionComments(ctx context.Context, r Repo, n int, since time.Time) iter.Seq2[DiscussionComment, error] {
	list := reading(r, "list the comments of the discussion #%d", n).checkNumber(n)
	return cursors(list, func(d DiscussionComment) string { return d.ID }, func(op *operation, cursor string) ([]DiscussionComment, pageInfo, error) {
		var out struct {
			Repository struct {
				Discussion *struct{ Comments connection[DiscussionComment] }
			}
		}
		if err := c.queryDiscussions(ctx, op, discussionCommentsQuery, map[string]any{"number": n, "after": cursorVariable(cursor)}, &out); err != nil {
			return nil, pageInfo{}, err
		}
		if out.Repository.Discussion == nil {
			return nil, pageInfo{}, op.fail(NotFound, "")
		}
		list := out.Repository.Discussion.Comments
		// A comment without an id is kept, because the function cursors returns an error for it.
		isTooOld := func(d DiscussionComment) bool { return d.ID != "" && d.UpdatedAt.Before(since) }
		return slices.DeleteFunc(list.Nodes, isTooOld), list.PageInfo, nil
	})
}

// AddDiscussionComment adds a top-level comment to the discussion with the node
// id (Discussion.ID).
func (c *Client) AddDiscussionComment(ctx context.Context, discussionID, body string) (DiscussionComment, error) {
	op := &operation{what: "comment on a discussion", write: true, content: true, needs: discussionsWrite}
	op.require("the discussion's node id is missing", discussionID)
	var out struct {
		AddDiscussionComment struct{ Comment *DiscussionComment }
	}
	err := c.query(ctx, op, addDiscussionCommentMutation, map[string]any{"input": map[string]any{"discussionId": discussionID, "body": body}}, &out)
	if err != nil {
		return DiscussionComment{}, err
	}
	made := out.AddDiscussionComment.Comment
	if made == nil || made.ID == "" {
		return DiscussionComment{}, op.unexpectedAnswer("it has no comment")
	}
	return *made, nil
}

// DeleteDiscussion removes the discussion with the node id for good.
func (c *Client) DeleteDiscussion(ctx context.Context, id string) error {
	return c.deleteNode(ctx, "delete a discussion", deleteDiscussionMutation, id)
}

// DeleteDiscussionComment removes the comment with the node id for good.
func (c *Client) DeleteDiscussionComment(ctx context.Context, id string) error {
	return c.deleteNode(ctx, "delete a discussion comment", deleteDiscussionCommentMutation, id)
}

func (c *Client) deleteNode(ctx context.Context, what, document, id string) error {
	op := &operation{what: what, write: true, needs: discussionsWrite}
	op.require("the node id is missing", id)
	type gone struct{ ID string }
	var out struct {
		DeleteDiscussion        struct{ Discussion gone }
		DeleteDiscussionComment struct{ Comment gone }
	}
	if err := c.query(ctx, op, document, map[string]any{"input": map[string]any{"id": id}}, &out); err != nil {
		return err
	}
	if out.DeleteDiscussion.Discussion.ID == "" && out.DeleteDiscussionComment.Comment.ID == "" {
		return op.unexpectedAnswer("it does not name what was deleted")
	}
	return nil
}

// queryDiscussions reads from the discussions of the operation's repository.
func (c *Client) queryDiscussions(ctx context.Context, op *operation, document string, variables map[string]any, out any) error {
	op.needs = discussionsRead
	variables["owner"], variables["name"] = op.repo.Owner, op.repo.Name
	return c.query(ctx, op, document, variables, out)
}

// discussed is a repository whose discussions are listed.
type discussed struct {
	ID                    string
	HasDiscussionsEnabled *bool
}

// check returns an error if the answer has no repository, or one whose discussions are switched off.
func (d discussed) check(op *operation) error {
	if d.ID == "" || d.HasDiscussionsEnabled == nil {
		return op.unexpectedAnswer("it has no repository")
	}
	if !*d.HasDiscussionsEnabled {
		e := op.fail(Forbidden, "")
		e.Feature = FeatureDiscussions
		return e
	}
	return nil
}
