package httpapi

import (
	"bytes"
	"context"
	"net/http"

	"github.com/agent-airlock/airlock/internal/access"
)

// Keys of a request's context.
type (
	grantKey   struct{} // the grant of a caller who was admitted already
	countedKey struct{} // is set where the request was counted against the rate already
)

// Call answers a request of a caller who was admitted already, without a connection. The scopes of
// the grant apply as over HTTP, and the status and the body are the same. The request does not
// count against the rate, because the caller's own request was counted; see Mount.
func (s *Server) Call(ctx context.Context, g access.Grant, method, target string, body []byte) (status int, answer []byte, err error) {
	return s.call(ctx, g, method, target, nil, body)
}

func (s *Server) call(ctx context.Context, g access.Grant, method, target string, header http.Header, body []byte) (status int, answer []byte, err error) {
	ctx = context.WithValue(context.WithValue(ctx, grantKey{}, g), countedKey{}, true)
	r, err := http.NewRequestWithContext(ctx, method, "http://localhost"+target, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	if header != nil {
		r.Header = header
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
