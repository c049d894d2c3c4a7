package githubapi

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"
)

// query posts a GraphQL document and decodes the data of its answer into out.
// Whether it writes is said by c, not guessed from the document.
func (c *Client) query(ctx context.Context, k *call, document string, variables map[string]any, out any) error {
	k.graphql = true
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false)
	err := enc.Encode(struct {
		Query     string         `json:"query"`
		Variables map[string]any `json:"variables,omitempty"`
	}{document, variables})
	if err != nil {
		return usage(k.op, k.repo, "%v", err)
	}
	req, err := http.NewRequestWithContext(start(ctx, k), http.MethodPost, c.graphql, &body)
	if err != nil {
		return usage(k.op, k.repo, "%v", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return k.finish(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body) // bounded by the gate
	if err != nil {
		return k.finish(err)
	}
	var doc struct {
		Data json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		return k.finish(err)
	}
	return k.finish(json.Unmarshal(doc.Data, out))
}

// graphQLError is one entry of an answer's errors. GitHub adds the type.
type graphQLError struct {
	Type    string `json:"type"`
	Message string `json:"message"`
	Path    []any  `json:"path"`
}

// judgeGraphQL decides what a 200 answer of GraphQL means: an answer with errors
// is not a success, whatever part of the data it has.
func judgeGraphQL(c *call, a *answer, now time.Time) *Error {
	var doc struct {
		Data    json.RawMessage `json:"data"`
		Errors  []graphQLError  `json:"errors"`
		Message string          `json:"message"`
	}
	e := &Error{Op: c.op, Repo: c.repo, Status: a.resp.StatusCode, RequestID: a.resp.Header.Get("X-GitHub-Request-Id")}
	if err := json.Unmarshal(a.body, &doc); err != nil {
		e.Kind, e.Message = transient(c), "the answer is not what GraphQL answers"
		return e
	}
	if len(doc.Errors) == 0 {
		if len(doc.Data) > 0 && string(doc.Data) != "null" {
			return nil
		}
		e.Kind, e.Message = transient(c), oneLine(doc.Message)
		if e.Message == "" {
			e.Message = "the answer holds no data"
		}
		return e
	}
	first := doc.Errors[0]
	e.Message = oneLine(first.Message)
	low := strings.ToLower(first.Message)
	e.Feature = featureOf(http.StatusOK, first.Message)
	switch {
	case c.write && len(first.Path) > 1:
		// The mutation's own field comes first in a path: what is below it is read
		// after the mutation took effect.
		e.Kind, e.Feature = Ambiguous, ""
	case first.Type == "RATE_LIMITED" || first.Type == "RATE_LIMIT" || limitWords(low):
		e.Kind, e.Feature = RateLimited, ""
		if until, ok := limitEnd(a.resp.Header, now); ok {
			e.Until = until
		}
	case e.Feature != "":
		e.Kind = Forbidden
	case first.Type == "NOT_FOUND":
		e.Kind = NotFound
	case first.Type == "FORBIDDEN" || first.Type == "INSUFFICIENT_SCOPES" || strings.Contains(low, "resource not accessible"):
		e.Kind = Forbidden
		if e.Permission = oneLine(a.resp.Header.Get("X-Accepted-GitHub-Permissions")); e.Permission == "" {
			e.Permission = c.needs
		}
	case first.Type == "SERVICE_UNAVAILABLE" || first.Type == "INTERNAL" ||
		first.Type == "" && (strings.Contains(low, "something went wrong") || strings.Contains(low, "timeout") || strings.Contains(low, "timed out")):
		e.Kind = transient(c)
	case first.Type == "STALE_DATA":
		e.Kind = Conflict
	case first.Type == "BRANCH_PROTECTION_RULE_VIOLATION":
		e.Kind = Forbidden
	default:
		e.Kind = Validation
		for _, g := range doc.Errors {
			e.Fields = append(e.Fields, FieldError{Code: strings.ToLower(oneLine(g.Type)), Message: oneLine(g.Message)})
		}
	}
	return e
}

// pageInfo is how GraphQL connections page.
type pageInfo struct {
	HasNextPage bool   `json:"hasNextPage"`
	EndCursor   string `json:"endCursor"`
}

// after is the variable for the next page.
func after(cursor string) any {
	if cursor == "" {
		return nil
	}
	return cursor
}

// gqlActor is GraphQL's author or editor; null is a deleted account.
type gqlActor struct {
	Login      string `json:"login"`
	DatabaseID int64  `json:"databaseId"`
}

func (a *gqlActor) actor() Actor {
	if a == nil {
		return Actor{}
	}
	return Actor{Login: a.Login, DatabaseID: a.DatabaseID}
}

// The GraphQL documents, each with one operation. The tests validate every one
// of them against GitHub's published schema.
const (
	actorFields = `fragment actor on Actor {
  login
  ... on User { databaseId }
  ... on Bot { databaseId }
  ... on Mannequin { databaseId }
  ... on Organization { databaseId }
}`

	discussionFields = `fragment discussion on Discussion {
  id databaseId number title body closed locked url createdAt updatedAt
  category { id name slug isAnswerable repository { id } }
  author { ...actor }
}`

	discussionCommentFields = `fragment comment on DiscussionComment {
  id databaseId body url createdAt updatedAt
  author { ...actor }
}`

	viewerQuery = `query Viewer { viewer { login databaseId } }`

	categoriesQuery = `query Categories($owner: String!, $name: String!, $after: String) {
  repository(owner: $owner, name: $name) {
    id hasDiscussionsEnabled
    discussionCategories(first: 100, after: $after) {
      nodes { id name slug isAnswerable }
      pageInfo { hasNextPage endCursor }
    }
  }
}`

	discussionsQuery = `query Discussions($owner: String!, $name: String!, $after: String) {
  repository(owner: $owner, name: $name) {
    hasDiscussionsEnabled
    discussions(first: 100, after: $after, orderBy: {field: CREATED_AT, direction: DESC}) {
      nodes { ...discussion }
      pageInfo { hasNextPage endCursor }
    }
  }
}
` + discussionFields + "\n" + actorFields

	discussionQuery = `query Discussion($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) {
    discussion(number: $number) { ...discussion }
  }
}
` + discussionFields + "\n" + actorFields

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
` + discussionCommentFields + "\n" + actorFields

	editsQuery = `query Edits($owner: String!, $name: String!, $number: Int!, $since: DateTime, $bodyAfter: String, $eventsAfter: String) {
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

	createDiscussionMutation = `mutation CreateDiscussion($input: CreateDiscussionInput!) {
  createDiscussion(input: $input) { discussion { ...discussion } }
}
` + discussionFields + "\n" + actorFields

	addDiscussionCommentMutation = `mutation AddDiscussionComment($input: AddDiscussionCommentInput!) {
  addDiscussionComment(input: $input) { comment { ...comment } }
}
` + discussionCommentFields + "\n" + actorFields

	deleteDiscussionMutation = `mutation DeleteDiscussion($input: DeleteDiscussionInput!) {
  deleteDiscussion(input: $input) { discussion { id } }
}`

	deleteDiscussionCommentMutation = `mutation DeleteDiscussionComment($input: DeleteDiscussionCommentInput!) {
  deleteDiscussionComment(input: $input) { comment { id } }
}`

	minimizeCommentMutation = `mutation MinimizeComment($input: MinimizeCommentInput!) {
  minimizeComment(input: $input) { minimizedComment { isMinimized minimizedReason } }
}`

	unminimizeCommentMutation = `mutation UnminimizeComment($input: UnminimizeCommentInput!) {
  unminimizeComment(input: $input) { unminimizedComment { isMinimized } }
}`

	createCommitMutation = `mutation CreateCommit($input: CreateCommitOnBranchInput!) {
  createCommitOnBranch(input: $input) { commit { oid url } }
}`
)
