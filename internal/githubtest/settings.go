package githubtest

import (
	"cmp"
	"net/http"
)

// getWorkflowPermissions answers with the settings for the tokens of workflows.
func (s *Server) getWorkflowPermissions(c *conversation) reply {
	if r, ok := s.needSettings(c, "administration=read"); !ok {
		return r
	}
	return okay(object{"default_workflow_permissions": cmp.Or(s.state.Repo.WorkflowToken, "read"), "can_approve_pull_request_reviews": !s.state.Repo.NoPullsByActions})
}

// listSecrets answers with the names of the secrets.
func (s *Server) listSecrets(c *conversation) reply {
	if r, ok := s.needSettings(c, "secrets=read"); !ok {
		return r
	}
	list := []object{}
	for _, name := range s.state.Repo.Secrets {
		list = append(list, object{"name": name, "created_at": s.now(), "updated_at": s.now()})
	}
	r := page(s, c, list, func(_, _ object) int { return 0 }, func(secret object) any { return secret })
	r.body = object{"total_count": len(list), "secrets": r.body}
	return r
}

// listAlerts answers as for a repository without any analysis.
func (s *Server) listAlerts(_ *conversation) reply {
	return fail(http.StatusNotFound, "no analysis found")
}

// needSettings returns a 403 unless the token has the accepted permission. Unlike need, it asks for
// the permission in a public repository, too. A server without tokens permits everything.
func (s *Server) needSettings(c *conversation, accepted string) (reply, bool) {
	permitted := len(s.state.Tokens) == 0
	if c.token != nil {
		permitted = c.token.has(accepted)
	}
	if !permitted {
		return lacks(accepted), false
	}
	return reply{}, true
}
