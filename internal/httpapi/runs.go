package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/agent-airlock/airlock/internal/access"
	"github.com/agent-airlock/airlock/internal/runs"
	"github.com/agent-airlock/airlock/internal/text"
)

// newRun is the body of POST /runs.
type newRun struct {
	AgentName  string          `json:"agent_name"`
	Parameters json.RawMessage `json:"parameters,omitempty"`
	// Needs are tags that a worker must have, in addition to those of the agent.
	Needs []string `json:"needs,omitempty"`
}

// runSchema is the schema of the body of POST /runs.
var runSchema = bodySchema([]any{"agent_name"}, map[string]any{"agent_name": map[string]any{"type": "string"}, "parameters": map[string]any{},
	"needs": map[string]any{"type": "array", "maxItems": 16, "uniqueItems": true, "items": map[string]any{"type": "string"}}})

func (s *Server) createRun(w http.ResponseWriter, r *http.Request, _ access.Grant) (int, error) {
	var body newRun
	if err := decodeBody(r, runSchema, &body); err != nil {
		return 0, err
	}
	key, err := idempotencyKey(r)
	if err != nil {
		return 0, err
	}
	run, replayed, err := s.Runs.Create(r.Context(), runs.Request{AgentName: body.AgentName, Parameters: body.Parameters, Needs: body.Needs, Key: key})
	if err != nil {
		return 0, err
	}
	if replayed {
		w.Header().Set("Idempotent-Replayed", "true")
	} else {
		s.metrics.created.Inc()
	}
	w.Header().Set("Location", "/runs/"+run.ID)
	return answer(w, http.StatusCreated, created{run.ID, run.Status}), nil
}

func (s *Server) listRuns(w http.ResponseWriter, r *http.Request, _ access.Grant) (int, error) {
	q := r.URL.Query()
	limit, err := number(q.Get("limit"), "limit", 50, 1, 200)
	if err != nil {
		return 0, err
	}
	f := runs.Filter{AgentName: q.Get("agent_name"), Status: runs.Status(q.Get("status")), Before: q.Get("cursor"), Limit: limit}
	if f.Status != "" && !slices.Contains(runs.Statuses(), f.Status) {
		return 0, invalidRequest("there is no status %q: use pending, running, stopping, completed, failed or stopped", text.Truncate(string(f.Status), maxShown))
	}
	if f.Before != "" && !runs.IsID(f.Before) {
		return 0, invalidRequest("invalid cursor: use the next_cursor of the previous answer")
	}
	found, more, err := s.Runs.List(r.Context(), f)
	if err != nil {
		return 0, err
	}
	list := runList{Runs: append([]runs.Run{}, found...)}
	if more {
		list.NextCursor = found[len(found)-1].ID
	}
	return answer(w, http.StatusOK, list), nil
}

func (s *Server) showRun(w http.ResponseWriter, r *http.Request, _ access.Grant) (int, error) {
	run, err := s.Runs.Get(r.Context(), r.PathValue("id"))
	return answerUnless(err, w, http.StatusOK, run)
}

func (s *Server) stopRun(w http.ResponseWriter, r *http.Request, _ access.Grant) (int, error) {
	run, err := s.Runs.Stop(r.Context(), r.PathValue("id"))
	return answerUnless(err, w, http.StatusAccepted, created{run.ID, run.Status})
}

func (s *Server) waitRun(w http.ResponseWriter, r *http.Request, g access.Grant) (int, error) {
	seconds, err := number(r.URL.Query().Get("timeout"), "timeout", 30, 0, 60)
	if err != nil {
		return 0, err
	}
	ctx, leave, err := s.stream(w, r, g)
	if err != nil {
		return 0, err
	}
	defer leave()
	ctx, cancel := context.WithTimeout(ctx, time.Duration(seconds)*time.Second)
	defer cancel()
	run, err := s.Runs.Wait(ctx, r.PathValue("id"))
	if ended, ok := errors.AsType[*apiError](context.Cause(ctx)); ok {
		err = ended
	}
	return answerUnless(err, w, http.StatusOK, run)
}

// reviewGrant is the time between two checks that the caller of a long request still has its
// grant.
const reviewGrant = 500 * time.Millisecond

// stream counts a long request until leave is called, and lifts the time limits of its connection.
// The context also ends when the server shuts down, and when the caller's grant is no longer valid:
// in the latter case its cause is an *apiError.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, g access.Grant) (ctx context.Context, leave func(), err error) {
	select {
	case s.streams <- struct{}{}:
	default:
		return nil, nil, refuse(http.StatusServiceUnavailable, "too_many_streams", "more than %d requests wait or follow events: try again later", maxStreams).with("Retry-After", "5")
	}
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{})
	_ = control.SetWriteDeadline(time.Time{})
	ctx, cancel := context.WithCancelCause(r.Context())
	go func() {
		review := time.NewTicker(reviewGrant)
		defer review.Stop()
		for {
			select {
			case <-s.stopped:
				cancel(nil)
			case <-ctx.Done():
				return
			case <-review.C:
				// While the store does not answer, nobody can have revoked anything in it.
				if holds, err := s.Tokens.Holds(ctx, g); err == nil && !holds {
					cancel(unauthorized("invalid_token", "the token was revoked, or the session has ended"))
				}
			}
		}
	}()
	return ctx, func() { cancel(nil); <-s.streams }, nil
}

func (s *Server) showResult(w http.ResponseWriter, r *http.Request, _ access.Grant) (int, error) {
	run, err := s.Runs.Get(r.Context(), r.PathValue("id"))
	if err != nil {
		return 0, err
	}
	switch {
	case !run.Status.Final():
		return 0, refuse(http.StatusConflict, "run_not_ended", "the run is %s: GET /runs/%s/wait waits for its end", run.Status, run.ID)
	case run.Status == runs.Stopped:
		return 0, refuse(http.StatusConflict, "run_stopped", "the run was stopped and has no result")
	case run.Status == runs.Failed:
		return 0, refuse(http.StatusConflict, "run_failed", "the run failed (%s): %s", run.Error.Code, run.Error.Message)
	}
	result, err := s.Runs.Result(r.Context(), run.ID)
	if err == nil && result == nil {
		err = refuse(http.StatusGone, "result_expired", "the result of the run was deleted some time after its end, as the server is set to do")
	}
	return answerUnless(err, w, http.StatusOK, result)
}

func (s *Server) showLog(w http.ResponseWriter, r *http.Request, _ access.Grant) (int, error) {
	from, err := number(r.URL.Query().Get("from"), "from", 0, 0, 1<<31-1)
	if err != nil {
		return 0, err
	}
	if _, err := s.Runs.Get(r.Context(), r.PathValue("id")); err != nil {
		return 0, err
	}
	log, next, err := s.Runs.Log(r.Context(), r.PathValue("id"), int64(from))
	if err != nil {
		return 0, err
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Airlock-Log-Next", strconv.FormatInt(next, 10))
	w.WriteHeader(http.StatusOK)
	_, _ = io.WriteString(w, log)
	return http.StatusOK, nil
}

const (
	keepAlive  = 15 * time.Second // between two signs of life to a client that follows a run
	sendWithin = 30 * time.Second // the longest that a client may take to read
)

func (s *Server) followRun(w http.ResponseWriter, r *http.Request, g access.Grant) (int, error) {
	id, last := r.PathValue("id"), int64(0)
	if given := r.Header.Get("Last-Event-ID"); given != "" {
		n, err := strconv.ParseInt(given, 10, 64)
		if err != nil || n < 0 {
			return 0, invalidRequest("Last-Event-ID must be the id of an event, a whole number")
		}
		last = n
	}
	run, err := s.Runs.Get(r.Context(), id)
	if err != nil {
		return 0, err
	}
	if run.Status.Final() {
		rest, err := s.Runs.Events(r.Context(), id, last)
		if err != nil {
			return 0, err
		}
		if len(rest) == 0 {
			w.WriteHeader(http.StatusNoContent) // which keeps browsers from connecting again
			return http.StatusNoContent, nil
		}
	}
	ctx, leave, err := s.stream(w, r, g)
	if err != nil {
		return 0, err
	}
	defer leave()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // proxies pass each event on at once
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		s.sendEvents(ctx, w, id, last)
	}
	return http.StatusOK, nil
}

// sendEvents sends the events of a run after the one with the number last, until the run or ctx has
// ended. After an error it just returns: the answer has begun, so it cannot report the error, and
// the client connects again.
func (s *Server) sendEvents(ctx context.Context, w http.ResponseWriter, id string, last int64) {
	control := http.NewResponseController(w)
	send := func(lines string) error {
		_ = control.SetWriteDeadline(time.Now().Add(sendWithin))
		_, err := io.WriteString(w, lines)
		if err == nil {
			err = control.Flush()
		}
		return err
	}
	changes, away := s.Runs.Watch(id)
	defer away()
	tick := time.NewTicker(keepAlive)
	defer tick.Stop()
	for {
		list, err := s.Runs.Events(ctx, id, last)
		if err != nil {
			return
		}
		for _, e := range list {
			data, err := json.Marshal(e)
			if err != nil || send(fmt.Sprintf("id: %d\nevent: status\ndata: %s\n\n", e.N, data)) != nil || e.Status.Final() {
				return
			}
			last = e.N
			tick.Reset(keepAlive)
		}
		select {
		case <-ctx.Done():
			return
		case <-changes:
		case <-tick.C:
			if send(": still there\n\n") != nil {
				return
			}
		}
	}
}

// workerList is the answer of GET /workers.
type workerList struct {
	Workers []runs.WorkerState `json:"workers"`
}

func (s *Server) listWorkers(w http.ResponseWriter, r *http.Request, _ access.Grant) (int, error) {
	list, err := s.Runs.Workers(r.Context())
	return answerUnless(err, w, http.StatusOK, workerList{append([]runs.WorkerState{}, list...)})
}
