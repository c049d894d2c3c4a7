package httpapi

import (
	"bytes"
	"context"
	"net/http"
	"strings"

	"github.com/agent-airlock/airlock/internal/access"
)

// grantKey is the key of the grant of a caller that was admitted already.
type grantKey struct{}

// Call answers a request of a caller who was admitted already, without a connection. The
// grant's scopes and the rate hold as over HTTP, and so do the status and the body.
func (s *Server) Call(ctx context.Context, g access.Grant, method, target string, body []byte) (status int, answer []byte, err error) {
	r, err := http.NewRequestWithContext(context.WithValue(ctx, grantKey{}, g), method, "http://localhost"+target, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	var w recorder
	s.ServeHTTP(&w, r)
	if err := ctx.Err(); err != nil {
		return 0, nil, err
	}
	return w.status, w.body.Bytes(), nil
}

// recorder keeps an answer. It implements http.ResponseWriter.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (w *recorder) Header() http.Header {
	if w.header == nil {
		w.header = http.Header{}
	}
	return w.header
}

// WriteHeader implements http.ResponseWriter.
func (w *recorder) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

// Write implements http.ResponseWriter.
func (w *recorder) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(p)
}

// Mount serves at a path what handler returns for each caller whose token has the scope.
// Host, origin, token and rate are checked as for the API, whose description does not
// contain the path.
func (s *Server) Mount(path string, scope access.Scope, handler func(access.Grant) http.Handler) {
	mounted := &route{path: path, scope: scope}
	s.mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		grant, err := s.admit(r, mounted)
		if err != nil {
			s.answerError(w, r, err)
			return
		}
		if !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") && r.Method == http.MethodPost {
			s.answerError(w, r, refuse(http.StatusUnsupportedMediaType, "unsupported_media_type", "send application/json"))
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		handler(grant).ServeHTTP(w, r)
	})
}
