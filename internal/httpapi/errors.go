package httpapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
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

// ErrorBody is the answer to every request to the API that fails, except for parameters that do
// not conform (agents.ParameterErrorBody).
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

// refuse returns the error that answers a request with a status, a stable code and a message.
func refuse(status int, code, format string, args ...any) *apiError {
	return &apiError{status: status, ErrorBody: ErrorBody{Error: code, Message: fmt.Sprintf(format, args...)}}
}

// invalidRequest refuses a request that has the wrong form.
func invalidRequest(format string, args ...any) *apiError {
	return refuse(http.StatusBadRequest, "invalid_request", format, args...)
}

// with returns the error with a header.
func (e *apiError) with(name, value string) *apiError {
	e.header = http.Header{name: {value}}
	return e
}

// answerError writes an error as its documented status and body. It returns the status.
// What is unexpected is not shown but logged.
func (s *Server) answerError(w http.ResponseWriter, r *http.Request, err error) int {
	if parameters, ok := errors.AsType[*agents.ParameterError](err); ok {
		return answer(w, http.StatusBadRequest, parameters.Body())
	}
	e := s.describe(r, err)
	maps.Copy(w.Header(), e.header)
	return answer(w, e.status, e.ErrorBody)
}

// shownErrors are the errors whose own message is the answer's.
var shownErrors = []struct {
	is     func(error) bool
	status int
	code   string
}{
	{isA[*agents.NotFoundError], http.StatusNotFound, "agent_not_found"},
	{isA[*agents.ExistsError], http.StatusConflict, "agent_exists"},
	{isA[*agents.ReadOnlyError], http.StatusConflict, "agent_read_only"},
	{isA[*runs.NotFoundError], http.StatusNotFound, "run_not_found"},
	{isA[*runs.ConflictError], http.StatusConflict, "idempotency_conflict"},
	{isA[*loops.ConflictError], http.StatusConflict, "idempotency_conflict"},
	{isA[*runs.EndedError], http.StatusConflict, "run_ended"},
}

func isA[T error](err error) bool {
	_, ok := errors.AsType[T](err)
	return ok
}

// describe returns what is answered for an error.
func (s *Server) describe(r *http.Request, err error) *apiError {
	if known, ok := errors.AsType[*apiError](err); ok {
		return known
	}
	if invalid, ok := errors.AsType[*agents.InvalidError](err); ok {
		e := invalidRequest("%s is not valid", strings.ToUpper(invalid.What[:1])+invalid.What[1:])
		e.ValidationErrors = invalid.Violations
		return e
	}
	if needs, ok := errors.AsType[*runs.InvalidNeedsError](err); ok {
		e := invalidRequest("%s", needs)
		e.ValidationErrors = needs.Violations
		return e
	}
	for _, shown := range shownErrors {
		if shown.is(err) {
			return refuse(shown.status, shown.code, "%s", err)
		}
	}
	refusal, refused := errors.AsType[*fixloop.Refused](err)
	tooLarge, isTooLarge := errors.AsType[*http.MaxBytesError](err)
	switch {
	case errors.Is(err, loops.ErrNoLoop):
		return refuse(http.StatusNotFound, "loop_not_found", "there is no such loop: GET /loops lists the loops; '/' and '#' of an id are written as %%2F and %%23")
	case refused && refusal.Code == fixloop.CodeInvalid:
		return invalidRequest("%s", refusal.Why)
	case refused:
		return refuse(http.StatusConflict, "loop_"+string(refusal.Code), "%s", refusal.Why)
	case isTooLarge:
		return refuse(http.StatusRequestEntityTooLarge, "request_too_large", "the body is larger than %d bytes", tooLarge.Limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return refuse(http.StatusRequestTimeout, "request_timeout", "the body took too long to arrive")
	case r.Context().Err() != nil:
		return refuse(499, "client_gone", "the client closed the connection")
	}
	s.Log.Error("a request failed", "method", r.Method, "path", r.URL.Path, "error", err)
	if kind := store.Trouble(err); kind != "" {
		message := storeTrouble[kind]
		if kind == store.Unreachable && (r.Method == http.MethodGet || r.Method == http.MethodHead) { // it records nothing
			message = "the store cannot be reached: try again"
		}
		return refuse(http.StatusServiceUnavailable, "store_"+string(kind), "%s", message).with("Retry-After", "5")
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
	_ = enc.Encode(v) // if it fails, nobody reads the answer any more
	return status
}

// answerUnless returns err if it is not nil; otherwise it writes the answer as answer does.
func answerUnless(err error, w http.ResponseWriter, status int, v any) (int, error) {
	if err != nil {
		return 0, err
	}
	return answer(w, status, v), nil
}
