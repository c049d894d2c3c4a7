package githubapi

import (
	"context"
	"encoding/json"

	"github.com/google/go-github/v60/github"
)

// The limits of a repository_dispatch event, as GitHub's REST reference gives them.
const (
	// MaxDispatchProperties is how many members the payload may have at its top level.
	MaxDispatchProperties = 10
	// MaxDispatchBytes is the size that the payload, as JSON, has to stay below.
	MaxDispatchBytes = 64 << 10
	// MaxDispatchType is how many characters the event's type may have.
	MaxDispatchType = 100
)

// Dispatch starts the workflows of the repository's default branch that listen for
// repository_dispatch events of a type. GitHub answers before they run, and cannot be asked whether
// it took an event: after an Ambiguous error, it may have.
func (c *Client) Dispatch(ctx context.Context, r Repo, eventType string, payload map[string]any) error {
	op := writing(r, "send the repository_dispatch event %q", asMessage(eventType))
	op.answer, op.needs = anyShape, "contents=write"
	raw, err := json.Marshal(payload)
	switch {
	case err != nil:
		op.refuse("%v", err)
	case eventType == "" || len([]rune(eventType)) > MaxDispatchType:
		op.refuse("the type of the event must have 1 to %d characters", MaxDispatchType)
	case len(payload) > MaxDispatchProperties:
		op.refuse("the payload has %d members, and GitHub takes at most %d", len(payload), MaxDispatchProperties)
	case len(raw) >= MaxDispatchBytes:
		op.refuse("the payload has %d bytes, and GitHub takes fewer than %d", len(raw), MaxDispatchBytes)
	}
	message := json.RawMessage(raw)
	_, _, err = c.gh.Repositories.Dispatch(op.context(ctx), r.Owner, r.Name, github.DispatchRequestOptions{EventType: eventType, ClientPayload: &message})
	return op.finish(err)
}
