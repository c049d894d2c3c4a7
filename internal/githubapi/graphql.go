package githubapi

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
)

// actorFields is the part of the GraphQL documents that reads an Actor.
const actorFields = `fragment actor on Actor {
  login
  ... on User { databaseId }
  ... on Bot { databaseId }
  ... on Mannequin { databaseId }
  ... on Organization { databaseId }
}`

// query posts a GraphQL document and decodes the data of its answer into out, a pointer. The names
// of fields match without regard to case. op says whether the document writes.
func (c *Client) query(ctx context.Context, op *operation, document string, variables map[string]any, out any) error {
	if op.err != nil {
		return op.err
	}
	op.graphql = true
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false)
	err := enc.Encode(struct {
		Query     string         `json:"query"`
		Variables map[string]any `json:"variables,omitempty"`
	}{document, variables})
	if err != nil {
		return op.fail(Usage, "%v", err)
	}
	req, err := http.NewRequestWithContext(op.context(ctx), http.MethodPost, c.graphql, &body)
	if err != nil {
		return op.fail(Usage, "%v", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return op.finish(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body) // its size is bounded by our sender, the client's transport
	if err != nil {
		return op.finish(err)
	}
	return op.finish(json.Unmarshal(raw, &struct{ Data any }{out}))
}

// judgeGraphQL decides what a 200 answer of GraphQL means. An answer with errors is not a success,
// even if it has data. There is one exception: the operation has several mutations, and every error
// refuses the content of one of them. The caller sets the error's Status.
func judgeGraphQL(op *operation, a *answer, now time.Time) *Error {
	var doc struct {
		Data    json.RawMessage
		Errors  []graphQLError
		Message string
	}
	e := op.fail(op.uncertain(Malformed), "the answer is not what GraphQL answers")
	if err := json.Unmarshal(a.body, &doc); err != nil {
		return e
	}
	hasData := len(doc.Data) > 0 && string(doc.Data) != "null"
	if len(doc.Errors) == 0 {
		if hasData {
			return nil
		}
		e.Message = cmp.Or(asMessage(doc.Message), "the answer has no data")
		if mentionsLimit(strings.ToLower(doc.Message)) { // GitHub's secondary limits come with status 200, too
			e.Kind, e.Until = RateLimited, limitEnd(a.resp.Header, now)
		}
		return e
	}
	if op.several && onlyRefusals(doc.Errors) && hasData {
		return nil // the data has null for each mutation that was refused
	}
	first := doc.Errors[0]
	e.Message = asMessage(first.Message)
	reasons := strings.ToLower(first.Message)
	feature := featureOf(http.StatusOK, reasons)
	switch {
	case op.write && (len(first.Path) > 1 || hasMember(doc.Data)):
		// A path begins with the mutation's own field. An error further down came while the result was
		// read, after the mutation took effect. A mutation with data took effect, too, whatever the
		// errors say.
		e.Kind = Ambiguous
	case slices.ContainsFunc(doc.Errors, graphQLError.isLimit):
		e.Kind, e.Until = RateLimited, limitEnd(a.resp.Header, now)
	case feature != "":
		e.Kind, e.Feature = Forbidden, feature
	case first.Type == "NOT_FOUND":
		e.Kind = NotFound
	case first.Type == "FORBIDDEN" || first.Type == "INSUFFICIENT_SCOPES" || strings.Contains(reasons, "resource not accessible"):
		e.Kind = Forbidden
		e.Permission = cmp.Or(asMessage(a.resp.Header.Get("X-Accepted-GitHub-Permissions")), op.needs)
	case first.Type == "SERVICE_UNAVAILABLE" || first.Type == "INTERNAL" ||
		first.Type == "" && containsAny(reasons, []string{"something went wrong", "timeout", "timed out"}):
		e.Kind = op.uncertain(Unreachable) // as GitHub's own failures over REST
	case first.Type == "STALE_DATA":
		e.Kind = Conflict
	case first.Type == "BRANCH_PROTECTION_RULE_VIOLATION":
		e.Kind = Forbidden
	case first.Type == "" && e.Message == "": // nobody knows what it is about
		e.Message = "an error without a message"
	default:
		e.Kind = Validation
		for _, g := range doc.Errors {
			e.Fields = append(e.Fields, FieldError{Code: strings.ToLower(asMessage(g.Type)), Message: asMessage(g.Message)})
		}
	}
	return e
}

// graphQLError is an entry of an answer's errors.
type graphQLError struct {
	Type    string // GitHub's addition
	Message string
	Path    []any
}

// isLimit reports whether the error is that of a rate limit.
func (g graphQLError) isLimit() bool {
	return g.Type == "RATE_LIMITED" || g.Type == "RATE_LIMIT" || mentionsLimit(strings.ToLower(g.Message))
}

// onlyRefusals reports whether each error refuses the content of one mutation.
func onlyRefusals(errs []graphQLError) bool {
	for _, g := range errs {
		reasons := strings.ToLower(g.Message)
		if len(g.Path) != 1 || g.Type != "UNPROCESSABLE" || mentionsLimit(reasons) || featureOf(http.StatusOK, reasons) != "" {
			return false
		}
	}
	return true
}

// hasMember reports whether an object has a member that is not null. The data of an answer has a
// member for each mutation of the document.
func hasMember(data json.RawMessage) bool {
	var members map[string]json.RawMessage
	_ = json.Unmarshal(data, &members) // null leaves it empty
	for _, value := range members {
		if string(value) != "null" {
			return true
		}
	}
	return false
}

// connection is one page of a GraphQL connection.
type connection[T any] struct {
	Nodes    []T
	PageInfo pageInfo
}

// isComplete reports whether the answer has the nodes and, unless there are none, the PageInfo.
func (c connection[T]) isComplete() bool {
	return c.Nodes != nil && (len(c.Nodes) == 0 || c.PageInfo != pageInfo{})
}

// pageInfo is how GraphQL connections page.
type pageInfo struct {
	HasNextPage bool
	EndCursor   string
}

// cursorVariable returns the variable for the page after a cursor, null for the first.
func cursorVariable(cursor string) any {
	if cursor == "" {
		return nil
	}
	return cursor
}
