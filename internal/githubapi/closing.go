package githubapi

import (
	"context"
	"time"
)

// ClosingIssue is an issue that a pull request closes when it is merged.
type ClosingIssue struct {
	Repo     string // owner/name: it may be another repository's
	Number   int
	Body     string
	Author   Actor
	Editor   Actor     // who edited the body last; zero if nobody has
	EditedAt time.Time // when the body was edited last; zero if never
}

// maxClosing is how many of the issues that a pull request closes are read.
const maxClosing = 50

const closingQuery = `query Closing($owner: String!, $name: String!, $number: Int!, $first: Int!) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      closingIssuesReferences(first: $first) {
        nodes {
          number body lastEditedAt
          author { ...actor }
          editor { ...actor }
          repository { nameWithOwner }
        }
        totalCount
      }
    }
  }
}
` + actorFields

// ClosingIssues returns the issues that a pull request closes, by the words in its text or by a link
// that somebody made. It returns at most 50 of them; total is how many there are.
func (c *Client) ClosingIssues(ctx context.Context, r Repo, n int) (issues []ClosingIssue, total int, err error) {
	op := reading(r, "read the issues that #%d closes", n).checkNumber(n)
	var out struct {
		Repository struct {
			PullRequest *struct {
				ClosingIssuesReferences *struct {
					Nodes []struct {
						Number       int
						Body         string
						LastEditedAt time.Time // remains zero for null
						Author       Actor
						Editor       Actor
						Repository   struct{ NameWithOwner string }
					}
					TotalCount int
				}
			}
		}
	}
	if err := c.query(ctx, op, closingQuery, map[string]any{"owner": r.Owner, "name": r.Name, "number": n, "first": maxClosing}, &out); err != nil {
		return nil, 0, err
	}
	if out.Repository.PullRequest == nil {
		return nil, 0, op.fail(NotFound, "")
	}
	list := out.Repository.PullRequest.ClosingIssuesReferences
	if list == nil || list.Nodes == nil {
		return nil, 0, op.unexpectedAnswer("the list of issues is missing")
	}
	for _, i := range list.Nodes {
		if i.Number <= 0 || i.Repository.NameWithOwner == "" {
			return nil, 0, op.unexpectedAnswer("an issue has no number or no repository")
		}
		issues = append(issues, ClosingIssue{Repo: i.Repository.NameWithOwner, Number: i.Number, Body: i.Body, Author: i.Author, Editor: i.Editor, EditedAt: i.LastEditedAt})
	}
	return issues, max(list.TotalCount, len(issues)), nil
}
