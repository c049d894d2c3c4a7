package githubapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// RecentQuery names what Recent reads.
type RecentQuery struct {
	Pulls       []int // the reviews of these pull requests, with their comments
	Discussions bool  // the repository's discussions
	// InDiscussions are discussions whose comments are read.
	InDiscussions []int
}

// Recent has the newest entries of the lists that a RecentQuery names, at most 100 of each. Of each
// review it has at most 100 comments.
type Recent struct {
	Reviews       map[int][]Review      // by the number of their pull request
	Comments      map[int][]DiffComment // of these reviews, by the number of their pull request
	Discussions   []Discussion
	InDiscussions map[int][]DiscussionComment // by the number of their discussion
}

const (
	recentReviews = `{ reviews(last: 100) { nodes { id fullDatabaseId body state url author { ...actor }
    comments(first: 100) { nodes { id fullDatabaseId body url author { ...actor } replyTo { fullDatabaseId } } } } } }`
	recentDiscussions = `discussions(first: 100, orderBy: {field: CREATED_AT, direction: DESC}) { nodes { id databaseId number body url author { ...actor } } }`
	recentComments    = `{ comments(last: 100) { nodes { id databaseId body url author { ...actor } } } }`
)

// Recent reads several lists in one request. Unlike the methods that list something, it reads one
// page of each only.
func (c *Client) Recent(ctx context.Context, r Repo, q RecentQuery) (Recent, error) {
	op := reading(r, "look at what was written last")
	var fields strings.Builder
	for _, n := range q.Pulls {
		op.checkNumber(n)
		fmt.Fprintf(&fields, "    p%d: pullRequest(number: %d) %s\n", n, n, recentReviews)
	}
	if q.Discussions {
		fields.WriteString("    " + recentDiscussions + "\n")
	}
	for _, n := range q.InDiscussions {
		op.checkNumber(n)
		fmt.Fprintf(&fields, "    d%d: discussion(number: %d) %s\n", n, n, recentComments)
	}
	if fields.Len() == 0 {
		op.refuse("there is nothing to look at")
	}
	var out struct{ Repository map[string]json.RawMessage }
	document := "query Recent($owner: String!, $name: String!) {\n  repository(owner: $owner, name: $name) {\n" + fields.String() + "  }\n}\n" + actorFields
	if err := c.query(ctx, op, document, map[string]any{"owner": r.Owner, "name": r.Name}, &out); err != nil {
		return Recent{}, err
	}
	found := Recent{Reviews: map[int][]Review{}, Comments: map[int][]DiffComment{}, InDiscussions: map[int][]DiscussionComment{}}
	if err := found.read(q, out.Repository); err != nil {
		return Recent{}, op.unexpectedAnswer(err.Error())
	}
	return found, nil
}

// read decodes the parts of an answer.
func (found *Recent) read(q RecentQuery, parts map[string]json.RawMessage) error {
	for _, n := range q.Pulls {
		if err := found.readReviews(parts[fmt.Sprintf("p%d", n)], n); err != nil {
			return err
		}
	}
	if q.Discussions {
		var list struct{ Nodes []Discussion }
		if err := readConnection(parts["discussions"], &list); err != nil {
			return err
		}
		if err := checkNodes(list.Nodes, func(d Discussion) string { return d.ID }); err != nil {
			return err
		}
		found.Discussions = list.Nodes
	}
	for _, n := range q.InDiscussions {
		var discussion struct {
			Comments struct{ Nodes []DiscussionComment }
		}
		if err := readConnection(parts[fmt.Sprintf("d%d", n)], &discussion); err != nil {
			return err
		}
		if err := checkNodes(discussion.Comments.Nodes, func(d DiscussionComment) string { return d.ID }); err != nil {
			return err
		}
		found.InDiscussions[n] = discussion.Comments.Nodes
	}
	return nil
}

// readReviews decodes the reviews of one pull request.
func (found *Recent) readReviews(raw json.RawMessage, number int) error {
	type comment struct {
		ID             string
		FullDatabaseID int64 `json:",string"` // GraphQL gives ids of 64 bits as texts
		Body, URL      string
		Author         Actor
		ReplyTo        struct {
			FullDatabaseID int64 `json:",string"`
		}
	}
	type review struct {
		ID               string
		FullDatabaseID   int64 `json:",string"`
		Body, State, URL string
		Author           Actor
		Comments         struct{ Nodes []comment }
	}
	var pull struct {
		Reviews struct{ Nodes []review }
	}
	if err := readConnection(raw, &pull); err != nil {
		return err
	}
	if err := checkNodes(pull.Reviews.Nodes, func(v review) string { return v.ID }); err != nil {
		return err
	}
	for _, v := range pull.Reviews.Nodes {
		if err := checkNodes(v.Comments.Nodes, func(c comment) string { return c.ID }); err != nil {
			return err
		}
		found.Reviews[number] = append(found.Reviews[number], Review{ID: v.FullDatabaseID, NodeID: v.ID, State: v.State, Body: v.Body, Author: v.Author, URL: v.URL})
		for _, d := range v.Comments.Nodes {
			found.Comments[number] = append(found.Comments[number], DiffComment{ID: d.FullDatabaseID, NodeID: d.ID, ReviewID: v.FullDatabaseID,
				InReplyTo: d.ReplyTo.FullDatabaseID, Body: d.Body, Author: d.Author, URL: d.URL})
		}
	}
	return nil
}

// readConnection decodes a part of an answer, which must be there.
func readConnection(raw json.RawMessage, to any) error {
	if len(raw) == 0 || string(raw) == "null" {
		return errors.New("it lacks what was asked for")
	}
	return json.Unmarshal(raw, to)
}

// checkNodes returns an error for a list that is missing, or that has an entry without an id: such an
// answer says nothing about what there is.
func checkNodes[T any](nodes []T, id func(T) string) error {
	if nodes == nil {
		return errors.New("it has no list")
	}
	if slices.ContainsFunc(nodes, func(n T) bool { return id(n) == "" }) {
		return errors.New("an entry of the list is empty")
	}
	return nil
}
