package httpapi

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/agent-airlock/airlock/internal/access"
	"github.com/agent-airlock/airlock/internal/fixloop"
	"github.com/agent-airlock/airlock/internal/loops"
	"github.com/agent-airlock/airlock/internal/schema"
)

// loopList is the answer of GET /loops.
type loopList struct {
	Version    int              `json:"version"`
	Loops      []loops.Document `json:"loops"`
	NextCursor string           `json:"next_cursor,omitempty"`
}

// loopFixed is the body of POST /loops/{id}/fixed.
type loopFixed struct {
	// Iteration is the iteration whose fix request is answered; the present one if it is 0.
	Iteration schema.Int `json:"iteration,omitempty"`
	Fixes     []string   `json:"fixes,omitempty"` // what was done
	Files     []string   `json:"files,omitempty"` // what changed, relative to the repository's root
	// Head is the commit after the fix. Nothing depends on it: the process that drives the loop
	// sees which commit is checked out.
	Head string `json:"head_sha,omitempty"`
}

// loopDecision is the body of POST /loops/{id}/decision.
type loopDecision struct {
	Decision fixloop.Decision `json:"decision"`
	N        schema.Int       `json:"n,omitempty"` // by how many iterations the decision "extend" extends the loop
}

// The schemas of the bodies, after those of some of their members.
var (
	texts      = map[string]any{"type": "array", "maxItems": json.Number("1000"), "items": map[string]any{"type": "string"}}
	iterations = map[string]any{"type": "integer", "minimum": json.Number("1"), "maximum": json.Number("1000")}
	commitID   = map[string]any{"type": "string", "pattern": "^([0-9a-f]{40}|[0-9a-f]{64})$"}

	fixedSchema    = bodySchema(nil, map[string]any{"iteration": iterations, "fixes": texts, "files": texts, "head_sha": commitID})
	decisionSchema = bodySchema([]any{"decision"}, map[string]any{"decision": map[string]any{"enum": decisions()}, "n": iterations})
)

func decisions() (list []any) {
	for _, d := range fixloop.Decisions() {
		list = append(list, string(d))
	}
	return list
}

func (s *Server) listLoops(w http.ResponseWriter, r *http.Request, _ access.Grant) (int, error) {
	q := r.URL.Query()
	open := q.Get("open")
	if open != "" && open != "true" && open != "false" {
		return 0, invalidRequest("open must be true or false")
	}
	if waits := q.Get("waits_for"); waits != "" && waits != string(fixloop.WorkDecide) {
		return 0, invalidRequest("waits_for must be decide")
	}
	limit, err := number(q.Get("limit"), "limit", 50, 1, 200)
	if err != nil {
		return 0, err
	}
	found, err := s.Loops.List(r.Context(), loops.Filter{Repository: q.Get("repository"), Open: open == "true", Decide: q.Get("waits_for") != "", After: q.Get("cursor"), Limit: limit + 1})
	if errors.Is(err, loops.ErrNoLoop) {
		return 0, invalidRequest("invalid cursor: use the next_cursor of the previous answer")
	}
	if err != nil {
		return 0, err
	}
	list := loopList{Version: 1, Loops: []loops.Document{}}
	if len(found) > limit {
		found = found[:limit]
		list.NextCursor = found[limit-1].ID
	}
	for _, l := range found {
		d, err := s.loopDocument(r, l)
		if err != nil {
			return 0, err
		}
		list.Loops = append(list.Loops, d)
	}
	return answer(w, http.StatusOK, list), nil
}

func (s *Server) loopDocument(r *http.Request, l loops.Loop) (loops.Document, error) {
	status, err := s.Loops.Status(r.Context(), l)
	return status.Document(), err
}

func (s *Server) answerLoop(w http.ResponseWriter, r *http.Request, status int) (int, error) {
	l, err := s.Loops.Get(r.Context(), r.PathValue("id"))
	if err != nil {
		return 0, err
	}
	d, err := s.loopDocument(r, l)
	return answerUnless(err, w, status, d)
}

func (s *Server) showLoop(w http.ResponseWriter, r *http.Request, _ access.Grant) (int, error) {
	return s.answerLoop(w, r, http.StatusOK)
}

func (s *Server) showLoopLog(w http.ResponseWriter, r *http.Request, _ access.Grant) (int, error) {
	l, err := s.Loops.Get(r.Context(), r.PathValue("id"))
	if err != nil {
		return 0, err
	}
	messages, err := s.Loops.Messages(r.Context(), l.ID)
	if err != nil {
		return 0, err
	}
	return answer(w, http.StatusOK, fixloop.NewLog(l.State, messages, time.Now())), nil
}

func (s *Server) fixedLoop(w http.ResponseWriter, r *http.Request, g access.Grant) (int, error) {
	var body loopFixed
	if err := decodeBody(r, fixedSchema, &body); err != nil {
		return 0, err
	}
	iteration := int(body.Iteration)
	if iteration == 0 {
		l, err := s.Loops.Get(r.Context(), r.PathValue("id"))
		if err != nil {
			return 0, err
		}
		iteration = l.State.Iteration()
	}
	return s.applyToLoop(w, r, body, fixloop.Event{Type: fixloop.EventFixDone, Iteration: iteration, Fixes: body.Fixes, Files: body.Files, By: g.Name})
}

func (s *Server) decideLoop(w http.ResponseWriter, r *http.Request, g access.Grant) (int, error) {
	var body loopDecision
	if err := decodeBody(r, decisionSchema, &body); err != nil {
		return 0, err
	}
	if body.N != 0 && body.Decision != fixloop.DecideExtend {
		return 0, invalidRequest("\"n\" does not go with %s: only extend takes a number of iterations", body.Decision)
	}
	return s.applyToLoop(w, r, body, fixloop.Event{Type: fixloop.EventDecision, Decision: body.Decision, N: int(body.N), By: g.Name})
}

// applyToLoop sends a loop the event that a body asks for, once for each idempotency key. It
// answers with the loop as it is after the event.
func (s *Server) applyToLoop(w http.ResponseWriter, r *http.Request, body any, e fixloop.Event) (int, error) {
	key, err := idempotencyKey(r)
	if err != nil {
		return 0, err
	}
	if key == "" {
		key = rand.Text()
	}
	asked, err := json.Marshal(body)
	if err != nil {
		return 0, err
	}
	digest := sha256.Sum256(asked)
	if err := s.Loops.ApplyAsked(r.Context(), r.PathValue("id"), "http/"+string(e.Type)+"/"+key, hex.EncodeToString(digest[:]), e); err != nil {
		return 0, err
	}
	return s.answerLoop(w, r, http.StatusAccepted)
}
