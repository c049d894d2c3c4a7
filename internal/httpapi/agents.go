package httpapi

import (
	"encoding/json"
	"net/http"

	"github.com/agent-airlock/airlock/internal/access"
	"github.com/agent-airlock/airlock/internal/agents"
)

// listedAgent is an agent as GET /agents lists it: what an orchestrator needs to choose
// and call it.
type listedAgent struct {
	Name             string          `json:"name"`
	Type             agents.Type     `json:"type"`
	Description      string          `json:"description"`
	ParametersSchema json.RawMessage `json:"parameters_schema,omitempty"`
	Tags             []string        `json:"tags,omitempty"`
	Needs            []string        `json:"needs,omitempty"`
	Source           agents.Source   `json:"source"`
	Version          int64           `json:"version"`
}

func (s *Server) listAgents(w http.ResponseWriter, r *http.Request, _ access.Grant) (int, error) {
	all, err := s.Agents.List(r.Context())
	if err != nil {
		return 0, err
	}
	list := agentList{Agents: []listedAgent{}}
	for _, b := range all {
		list.Agents = append(list.Agents, listedAgent{b.Name, b.Type, b.Description, b.ParametersSchema, b.Tags, b.Needs, b.Source, b.Version})
	}
	return answer(w, http.StatusOK, list), nil
}

func (s *Server) addAgent(w http.ResponseWriter, r *http.Request, _ access.Grant) (int, error) {
	raw, err := readBody(r)
	if err != nil {
		return 0, err
	}
	b, err := s.Agents.Add(r.Context(), raw)
	if err != nil {
		return 0, err
	}
	w.Header().Set("Location", "/agents/"+b.Name)
	return answer(w, http.StatusCreated, b), nil
}

func (s *Server) showAgent(w http.ResponseWriter, r *http.Request, g access.Grant) (int, error) {
	b, err := s.Agents.Get(r.Context(), r.PathValue("name"))
	if err != nil {
		return 0, err
	}
	if !g.Allows(access.Admin) {
		b.Command = nil // only callers who may change the agent see how the server runs it
	}
	return answer(w, http.StatusOK, b), nil
}

func (s *Server) patchAgent(w http.ResponseWriter, r *http.Request, _ access.Grant) (int, error) {
	raw, err := readBody(r)
	if err != nil {
		return 0, err
	}
	b, err := s.Agents.Patch(r.Context(), r.PathValue("name"), raw)
	return answerUnless(err, w, http.StatusOK, b)
}

func (s *Server) removeAgent(w http.ResponseWriter, r *http.Request, _ access.Grant) (int, error) {
	if err := s.Agents.Remove(r.Context(), r.PathValue("name")); err != nil {
		return 0, err
	}
	w.WriteHeader(http.StatusNoContent)
	return http.StatusNoContent, nil
}

func (s *Server) validateParameters(w http.ResponseWriter, r *http.Request, _ access.Grant) (int, error) {
	raw, err := readBody(r)
	if err != nil {
		return 0, err
	}
	b, err := s.Agents.Get(r.Context(), r.PathValue("name"))
	if err != nil {
		return 0, err
	}
	return answerUnless(s.Agents.Parameters(b, raw), w, http.StatusOK, valid{true, b.Name})
}
