package githubapi

import (
	"bytes"
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

// query posts a GraphQL document and decodes the data of its answer into out, whose
// fields are matched without regard to case. Whether it writes is in op, not guessed
// from the document.
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
	raw, err := io.ReadAll(resp.Body) // bounded by the sender
	if err != nil {
		return op.finish(err)
	}
	return op.finish(json.Unmarshal(raw, &struct{ Data any }{out}))
}

// judgeGraphQL decides what a 200 answer of GraphQL means: an answer with errors
// is not a success, whatever part of the data it has.
func judgeGraphQL(op *operation, a *answer, now time.Time) *Error {
	var doc struct {
		Data    json.RawMessage
		Errors  []graphQLError
		Message string
	}
	e := op.fail(op.unknown(Malformed), "the answer is not what GraphQL answers")
	e.Status = a.resp.StatusCode
	if err := json.Unmarshal(a.body, &doc); err != nil {
		return e
	}
	if len(doc.Errors) == 0 {
		if len(doc.Data) > 0 && string(doc.Data) != "null" {
			return nil
		}
		if e.Message = asMessage(doc.Message); e.Message == "" {
			e.Message = "the answer has no data"
		}
		if mentionsLimit(strings.ToLower(doc.Message)) { // GitHub's secondary limits come with status 200, too
			e.Kind, e.Until = RateLimited, limitEnd(a.resp.Header, now)
		}
		return e
	}
	if op.several && onlyRefusals(doc.Errors) && len(doc.Data) > 0 && string(doc.Data) != "null" {
		return nil // null where a mutation was refused
	}
	first := doc.Errors[0]
	e.Message = asMessage(first.Message)
	reasons := strings.ToLower(first.Message)
	feature := featureOf(http.StatusOK, reasons)
	switch {
	case op.write && (len(first.Path) > 1 || !nothingDone(doc.Data)):
		// The mutation's own field comes first in a path: what is below it is read
		// after the mutation took effect. What has data took effect, whatever the
		// errors say.
		e.Kind = Ambiguous
	case slices.ContainsFunc(doc.Errors, graphQLError.limits):
		e.Kind, e.Until = RateLimited, limitEnd(a.resp.Header, now)
	case feature != "":
		e.Kind, e.Feature = Forbidden, feature
	case first.Type == "NOT_FOUND":
		e.Kind = NotFound
	case first.Type == "FORBIDDEN" || first.Type == "INSUFFICIENT_SCOPES" || strings.Contains(reasons, "resource not accessible"):
		e.Kind = Forbidden
		if e.Permission = asMessage(a.resp.Header.Get("X-Accepted-GitHub-Permissions")); e.Permission == "" {
			e.Permission = op.needs
		}
	case first.Type == "SERVICE_UNAVAILABLE" || first.Type == "INTERNAL" ||
		first.Type == "" && containsAny(reasons, []string{"something went wrong", "timeout", "timed out"}):
		e.Kind = op.unknown(Unreachable) // as GitHub's own failures over REST
	case first.Type == "STALE_DATA":
		e.Kind = Conflict
	case first.Type == "BRANCH_PROTECTION_RULE_VIOLATION":
		e.Kind = Forbidden
	case first.Type == "" && e.Message == "":
		e.Message = "an error without a message" // of which nobody knows what it is about
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

// limits reports whether the error is one of a rate limit.
func (g graphQLError) limits() bool {
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

// nothingDone reports whether no mutation of a document has an answer.
func nothingDone(data json.RawMessage) bool {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(data, &fields) // null leaves it empty
	for _, v := range fields {
		if string(v) != "null" {
			return false
		}
	}
	return true
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
