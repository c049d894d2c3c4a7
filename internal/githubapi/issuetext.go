package githubapi

import (
	"context"
	"time"
)

// IssueText is an issue's text and its versions.
type IssueText struct {
	ID     int64
	NodeID string
	Number int
	URL    string // address of the page for people
	Body   string
	// Versions has the text after each edit, the newest first. It is empty if nobody has edited
	// the text; with the first edit GitHub adds the original, too.
	Versions []TextVersion
}

// TextVersion is the text of an issue after one edit.
type TextVersion struct {
	ID     string
	Editor Actor
	At     time.Time // to the second
	// Text is the entire text after the edit, which GitHub calls the edit's diff. It is "" if
	// GitHub does not show it, for example because somebody has removed it from the history.
	Text string
}

// issueTextQuery reads 20 versions at a time, because each has the entire text.
const issueTextQuery = `query IssueText($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) {
    issue(number: $number) {
      id fullDatabaseId number url body
      userContentEdits(first: 20, after: $after) {
        nodes { id editedAt diff editor { ...actor } }
        pageInfo { hasNextPage endCursor }
      }
    }
  }
}
` + actorFields

// textAnswer is GitHub's answer about an issue's text.
type textAnswer struct {
	ID               string
	FullDatabaseID   int64 `json:",string"`
	Number           int
	URL              string
	Body             *string
	UserContentEdits *connection[struct { // GitHub may answer null for a text that nobody edited
		ID       string
		EditedAt time.Time
		Diff     string
		Editor   Actor
	}]
}

// IssueText reads an issue's text with its versions. A pull request is not found.
func (c *Client) IssueText(ctx context.Context, r Repo, n int) (t IssueText, err error) {
	op := reading(r, "read the text of #%d", n).checkNumber(n)
	for way := (trail{}); !way.ended; {
		var out struct{ Repository struct{ Issue *textAnswer } }
		if err := c.query(ctx, op, issueTextQuery, map[string]any{"owner": r.Owner, "name": r.Name, "number": n, "after": cursorVariable(way.cursor)}, &out); err != nil {
			return IssueText{}, err
		}
		i := out.Repository.Issue
		if i == nil {
			return IssueText{}, op.fail(NotFound, "")
		}
		if i.Number != n || i.Body == nil {
			return IssueText{}, op.unexpectedAnswer("it does not have the text of this issue")
		}
		if t.Number == 0 { // this is the first page; a later one may have a newer text, whose versions were not read
			t = IssueText{ID: i.FullDatabaseID, NodeID: i.ID, Number: i.Number, URL: i.URL, Body: *i.Body}
		}
		if i.UserContentEdits == nil {
			return t, nil
		}
		if i.UserContentEdits.Nodes == nil {
			return IssueText{}, op.unexpectedAnswer("the list of edits is missing")
		}
		for _, e := range i.UserContentEdits.Nodes {
			if e.ID == "" || e.EditedAt.IsZero() {
				return IssueText{}, op.unexpectedAnswer("an edit has no id or no time")
			}
			t.Versions = append(t.Versions, TextVersion{ID: e.ID, Editor: e.Editor, At: e.EditedAt, Text: e.Diff})
		}
		if err := way.follow(op, i.UserContentEdits.PageInfo); err != nil {
			return IssueText{}, err
		}
	}
	return t, nil
}
