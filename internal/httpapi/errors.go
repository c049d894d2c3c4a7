package httpapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/agent-airlock/airlock/internal/agents"
	"github.com/agent-airlock/airlock/internal/fixloop"
	"github.com/agent-airlock/airlock/internal/loops"
	"github.com/agent-airlock/airlock/internal/runs"
	"github.com/agent-airlock/airlock/internal/schema"
	"github.com/agent-airlock/airlock/internal/store"
)

// ErrorBody is the answer to every request that fails, except for parameters that do not
// conform (agents.ParameterErrorBody).
type ErrorBody struct {
	// Error is a stable code, such as agent_not_found.
	Error string `json:"error"`
	// Message is a sentence for people, with what to do.
	Message          string             `json:"message"`
	ValidationErrors []schema.Violation `json:"validation_errors,omitempty"`
}

// apiError is an error with its status and body.
type apiError struct {
	status int
	ErrorBody
	header http.Header
}

// Error implements error.
func (e *apiError) Error() string { return e.Message }

func refuse(status int, code, format string, args ...any) *apiError {
	return &apiError{status: status, ErrorBody: ErrorBody{Error: code, Message: fmt.Sprintf(format, args...)}}
}

// answerError writes an error as its documented status and body. It returns the status.
// What is unexpected is not shown but logged.
func (s *Server) answerError(w http.ResponseWriter, r *http.Request, err error) int {
	var parameters *agents.ParameterError
	if errors.As(err, &parameters) {
		return answer(w, http.StatusBadRequest, parameters.Body())
	}
	e := s.describe(r, err)
	for name, values := range e.header {
		w.Header()[name] = values
	}
	return answer(w, e.status, e.ErrorBody)
}

func (s *Server) describe(r *http.Request, err error) *apiError {
	var known *apiError
	var invalid *agents.InvalidError
	var noAgent *agents.NotFoundError
	var exists *agents.ExistsError
	var readOnly *agents.ReadOnlyError
	var noRun *runs.NotFoundError
	var conflict *runs.ConflictError
	var ended *runs.EndedError
	var needs *runs.InvalidNeedsError
	var tooLarge *http.MaxBytesError
	var loopRefused *fixloop.Refused
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &invalid):
		e := refuse(http.StatusBadRequest, "invalid_request", "%s is not valid", strings.ToUpper(invalid.What[:1])+invalid.What[1:])
		e.ValidationErrors = invalid.Violations
		return e
	case errors.As(err, &needs):
		e := refuse(http.StatusBadRequest, "invalid_request", "%s", needs)
		e.ValidationErrors = needs.Violations
		return e
	case errors.As(err, &noAgent):
		return refuse(http.StatusNotFound, "agent_not_found", "%s", err)
	case errors.As(err, &exists):
		return refuse(http.StatusConflict, "agent_exists", "%s", err)
	case errors.As(err, &readOnly):
		return refuse(http.StatusConflict, "agent_read_only", "%s", err)
	case errors.As(err, &noRun):
		return refuse(http.StatusNotFound, "run_not_found", "%s", err)
	case errors.As(err, &conflict):
		return refuse(http.StatusConflict, "idempotency_conflict", "%s", err)
	case errors.As(err, &ended):
		return refuse(http.StatusConflict, "run_ended", "%s", err)
	case errors.Is(err, loops.ErrNoLoop):
		return refuse(http.StatusNotFound, "loop_not_found", "there is no such loop: GET /loops lists those there are; '/' and '#' of an id are written as %%2F and %%23")
	case errors.As(err, &loopRefused) && loopRefused.Code == fixloop.CodeInvalid:
		return refuse(http.StatusBadRequest, "invalid_request", "%s", loopRefused.Why)
	case errors.As(err, &loopRefused):
		return refuse(http.StatusConflict, "loop_"+string(loopRefused.Code), "%s", loopRefused.Why)
	case errors.As(err, &tooLarge):
		return refuse(http.StatusRequestEntityTooLarge, "request_too_large", "the body is larger than %d bytes", tooLarge.Limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return refuse(http.StatusRequestTimeout, "request_timeout", "the body took too long to arrive")
	case r.Context().Err() != nil:
		return refuse(499, "client_gone", "the client closed the connection")
	}
	s.Log.Error("a request failed", "method", r.Method, "path", r.URL.Path, "error", err)
	if kind := store.Trouble(err); kind != "" {
		e := refuse(http.StatusServiceUnavailable, "store_"+string(kind), "%s", storeTrouble[kind])
		e.header = http.Header{"Retry-After": {"5"}}
		return e
	}
	return refuse(http.StatusServiceUnavailable, "unavailable", "the request cannot be carried out now: the server's log says why; try again later")
}

// storeTrouble describes what it means for a caller that the store cannot be used.
var storeTrouble = map[store.Kind]string{
	store.Full:        "the store is full, and nothing of this request was recorded: what was recorded before is kept; try again when there is room",
	store.Busy:        "another process keeps the store locked, and nothing of this request was recorded: try again",
	store.Unreachable: "the store cannot be reached: whether this request was recorded is not known; try again, with the same Idempotency-Key",
	store.Damaged:     "the store is damaged: the server's owner has to restore it",
}

// answer writes a value as JSON and returns the status.
func answer(w http.ResponseWriter, status int, v any) int {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // its failure is the client's loss
	return status
}
