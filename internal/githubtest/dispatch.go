package githubtest

import (
	"fmt"
	"net/http"
)

// createDispatch takes a repository_dispatch event and does nothing with it: Requests returns it.
func (s *Server) createDispatch(c *conversation) reply {
	var in struct {
		Payload map[string]any `json:"client_payload"`
	}
	decode(c, &in)
	const mostMembers, mostBytes = 10, 64 << 10
	switch {
	case len(in.Payload) > mostMembers:
		return fail(http.StatusUnprocessableEntity, fmt.Sprintf("No more than %d properties are allowed; %d were supplied.", mostMembers, len(in.Payload)))
	case len(c.rec.Body) >= mostBytes:
		return fail(http.StatusUnprocessableEntity, "client_payload is too large.")
	}
	return reply{status: http.StatusNoContent}
}
