package githubtest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"strconv"
	"syscall"
	"testing/iotest"
	"time"
)

// ServeHTTP serves on a real connection.
func (s *Server) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return // the client is gone
	}
	out := s.answer(req, body, func(d time.Duration) bool { return s.o.Clock.Sleep(req.Context(), d) == nil })
	if out.cut {
		panic(http.ErrAbortHandler) // net/http closes the connection without an answer
	}
	maps.Copy(w.Header(), out.header)
	if out.status != http.StatusNoContent {
		w.Header().Set("Content-Length", strconv.Itoa(len(out.body)))
	}
	w.WriteHeader(out.status)
	if out.cutBody {
		_, _ = w.Write(out.body[:len(out.body)/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	_, _ = w.Write(out.body)
}

// Transport returns a transport that reaches the server in memory, whatever the
// host. Delays pass on the server's clock only: a request whose deadline they
// exceed ends with context.DeadlineExceeded, and nobody really waits.
func (s *Server) Transport() http.RoundTripper { return memory{s} }

type memory struct{ s *Server }

// RoundTrip implements http.RoundTripper.
func (m memory) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var body []byte
	if req.Body != nil {
		var err error
		if body, err = io.ReadAll(req.Body); err != nil {
			return nil, err
		}
		_ = req.Body.Close()
	}
	expired := false
	out := m.s.answer(req, body, func(d time.Duration) bool {
		if deadline, ok := ctx.Deadline(); ok {
			// Rounding gives back the real time that has passed since the client set the deadline.
			if left := time.Until(deadline).Round(time.Second); d >= left {
				expired, d = true, left
			}
		}
		return m.s.o.Clock.Sleep(ctx, d) == nil && !expired
	})
	if expired {
		return nil, context.DeadlineExceeded
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if out.cut {
		return nil, &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
	}
	var r io.Reader = bytes.NewReader(out.body)
	if out.cutBody {
		r = io.MultiReader(bytes.NewReader(out.body[:len(out.body)/2]), iotest.ErrReader(io.ErrUnexpectedEOF))
	}
	return &http.Response{Status: strconv.Itoa(out.status) + " " + http.StatusText(out.status), StatusCode: out.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: out.header, Body: io.NopCloser(r), ContentLength: int64(len(out.body)), Request: req}, nil
}

// Refuse returns a transport to a host that nobody listens on.
func Refuse() http.RoundTripper { return refuse{} }

type refuse struct{}

func (refuse) RoundTrip(req *http.Request) (*http.Response, error) {
	return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
}
