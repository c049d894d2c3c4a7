package httpapi

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/access"
	"github.com/agent-airlock/airlock/internal/crash"
	"github.com/agent-airlock/airlock/internal/text"
)

// Mount lets a handler answer POST requests at a path. The caller's token must have the scope, and
// the function handler returns the http.Handler for the caller. Host, origin, token, rate and the size
// of the body are checked as for the API, whose description does not contain the path. The body has
// arrived completely before the handler runs. A request counts once against the rate, however many
// requests to the API the handler makes; a batch, whose body is a list, counts once for each member
// of the list. An error that the handler writes as plain text is sent in the form of the API's errors.
func (s *Server) Mount(path string, scope access.Scope, handler func(access.Grant) http.Handler) {
	methods := map[string]*route{http.MethodPost: {method: http.MethodPost, path: path, scope: scope}}
	s.mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		counting := &statusWriter{ResponseWriter: w}
		setHeaders(w)
		err := crash.Try(func() error {
			rt, err := s.route(r, methods)
			if err != nil {
				return err
			}
			grant, err := s.admit(r, rt)
			if err != nil {
				return err
			}
			r.Body = http.MaxBytesReader(w, r.Body, maxBody)
			body, err := receive(r)
			if err != nil {
				return err
			}
			if more := batched(body) - 1; more > 0 {
				if err := s.limit(grant.Name, more); err != nil {
					return err
				}
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			texts := &textErrors{ResponseWriter: counting}
			handler(grant).ServeHTTP(texts, r)
			return texts.err()
		})
		if err != nil && counting.status == 0 {
			s.answerError(counting, r, err)
		}
		s.metrics.observe(r, path, counting.status, began)
	})
}

// batched returns how many requests a body has: the members of a batch, or one.
func batched(body []byte) int {
	var list []json.RawMessage
	if json.Unmarshal(body, &list) != nil {
		return 1
	}
	return len(list)
}

// textErrors keeps back an error that a handler writes as plain text. It sends everything else, and
// sets a new deadline for each piece, because the pieces of an answer can come for many minutes.
type textErrors struct {
	http.ResponseWriter
	status int // of the error; 0 without one
	text   bytes.Buffer
}

// WriteHeader implements http.ResponseWriter.
func (w *textErrors) WriteHeader(status int) {
	if status >= http.StatusBadRequest && strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain") {
		w.status = status
		return
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *textErrors) Write(p []byte) (int, error) {
	if w.status != 0 {
		return w.text.Write(p)
	}
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Now().Add(2 * bodyWithin))
	return w.ResponseWriter.Write(p)
}

// Unwrap is for http.ResponseController.
func (w *textErrors) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// err returns the error that was kept back as one of the API's, whose status may differ, or nil.
func (w *textErrors) err() error {
	if w.status == 0 {
		return nil
	}
	message := strings.TrimPrefix(strings.TrimSpace(w.text.String()), http.StatusText(w.status)+": ")
	message = text.Truncate(cmp.Or(message, http.StatusText(w.status)), 1000) // the handler may quote the request
	codes := map[int]string{http.StatusForbidden: "forbidden", http.StatusNotFound: "not_found", http.StatusUnsupportedMediaType: "unsupported_media_type"}
	if code, ok := codes[w.status]; ok {
		return refuse(w.status, code, "%s", message)
	}
	if w.status >= http.StatusInternalServerError {
		return refuse(http.StatusServiceUnavailable, "unavailable", "%s: try again later", message)
	}
	return invalidRequest("%s", message)
}
