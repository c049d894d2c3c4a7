package acceptance

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/agent-airlock/airlock/internal/schema"
	"github.com/agent-airlock/airlock/internal/text"
)

// Dispatch is a request that was sent to a validator: one attempt to have a task verified
// at one commit. An answer belongs to one dispatch.
type Dispatch struct {
	ID      string `json:"dispatch_id"`
	TaskID  string `json:"task_id"`
	Head    string `json:"head,omitempty"` // the commit; "" where there is none
	Attempt int    `json:"attempt"`        // from 1, of the same task at the same commit
	// DispatchedAt is when it was sent; an answer after Due is late.
	DispatchedAt time.Time       `json:"dispatched_at"`
	Due          time.Time       `json:"due"`
	Request      json.RawMessage `json:"request"` // with the dispatch's id
}

// EncodeIn returns the request as the content of a message to recipient, or the request itself if
// recipient is "".
func (d Dispatch) EncodeIn(recipient string) ([]byte, error) {
	return encodeIn(recipient, d.Request, "Validation request for "+d.TaskID)
}

// NewDispatch returns a new dispatch of a request; earlier are the dispatches of its task so far.
func NewDispatch(req Request, head string, earlier []Dispatch, now time.Time) (Dispatch, error) {
	d := Dispatch{TaskID: req.TaskID, Head: head, Attempt: 1, DispatchedAt: now.UTC(), Due: now.UTC().Add(req.timeout())}
	for _, e := range earlier {
		if e.Head == head {
			d.Attempt = max(d.Attempt, e.Attempt+1)
		}
	}
	d.ID = fmt.Sprintf("%s-%s-%d", req.TaskID, text.Digest(head), d.Attempt)
	var err error
	d.Request, err = req.withCriteria(nil, map[string]any{"dispatch_id": d.ID})
	return d, err
}

// Reception is the decision on an answer.
type Reception string

// The receptions. A Late answer is kept and not applied; after a Conflict the first answer stands;
// an Unknown answer is refused.
const (
	Accepted Reception = "accepted"
	Late     Reception = "late"
	Conflict Reception = "conflict"
	Unknown  Reception = "unknown"
)

// Receive decides on a response, and returns the dispatch that it answers, unless the decision is
// Unknown. dispatches are those of its task, oldest first; answered reports whether one has an
// answer; head is the commit that is checked out now, "" if it is not known. why explains a
// decision other than Accepted.
func Receive(r Response, dispatches []Dispatch, answered func(Dispatch) bool, head string, now time.Time) (d Dispatch, decision Reception, why string) {
	if len(dispatches) == 0 {
		return d, Unknown, fmt.Sprintf("no request was dispatched for the task %s", schema.Quote(r.TaskID))
	}
	newest := dispatches[len(dispatches)-1]
	d = newest
	if r.Dispatch != "" {
		i := slices.IndexFunc(dispatches, func(d Dispatch) bool { return d.ID == r.Dispatch })
		if i < 0 {
			return d, Unknown, fmt.Sprintf("the task %s has no dispatch %s", schema.Quote(r.TaskID), schema.Quote(r.Dispatch))
		}
		d = dispatches[i]
	}
	switch {
	case answered(d):
		return d, Conflict, fmt.Sprintf("the dispatch %s has an answer already, which stands", d.ID)
	case d.ID != newest.ID:
		return d, Late, fmt.Sprintf("the dispatch %s was followed by %s", d.ID, newest.ID)
	case head != "" && d.Head != "" && head != d.Head:
		return d, Late, fmt.Sprintf("the dispatch %s is about the commit %.7s, and %.7s is checked out: dispatch the request again", d.ID, d.Head, head)
	case now.After(d.Due):
		return d, Late, fmt.Sprintf("an answer to the dispatch %s was due at %s: dispatch the request again", d.ID, timestamp(d.Due))
	}
	return d, Accepted, ""
}

// Conclude checks the claims of the request, judges the gates for a validator's response, and
// returns the response with the results of both.
func Conclude(ctx context.Context, req Request, r Response, cfg Config, deps Deps) (Response, error) {
	v := &verification{req: req, cfg: cfg, deps: deps}
	if problem := v.findWorktree(ctx); problem == "" {
		v.checks = v.shareChecks(ctx)
	}
	r.Claims, r.Gates = nil, nil
	v.claims(ctx, &r)
	if err := v.gates(ctx, &r); err != nil {
		return r, err
	}
	return r, ctx.Err()
}
