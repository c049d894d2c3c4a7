package httpapi

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agent-airlock/airlock/internal/access"
)

// slowReader is the connection of a client who reads nothing before it is released.
type slowReader struct {
	*httptest.ResponseRecorder
	begun, released chan struct{}
}

// Write implements http.ResponseWriter.
func (w slowReader) Write(p []byte) (int, error) {
	w.begun <- struct{}{}
	<-w.released
	return w.ResponseRecorder.Write(p)
}

// TestLargeAnswersOfOneCaller asserts that a caller who does not read lists gets no further one, and
// that other callers and other requests do not wait for that.
func TestLargeAnswersOfOneCaller(t *testing.T) {
	t.Parallel()
	a := start(t, nil)
	request := func(caller, path string, within time.Duration) int {
		ctx, cancel := context.WithTimeout(context.WithValue(t.Context(), grantKey{}, access.Grant{Name: caller, Scopes: []access.Scope{access.Read}}), within)
		defer cancel()
		w := httptest.NewRecorder()
		a.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, path, nil))
		return w.Code
	}
	slow := slowReader{httptest.NewRecorder(), make(chan struct{}), make(chan struct{})}
	ended := make(chan struct{})
	for range maxLarge {
		go func() {
			ctx := context.WithValue(t.Context(), grantKey{}, access.Grant{Name: "slow", Scopes: []access.Scope{access.Read}})
			a.ServeHTTP(slowReader{httptest.NewRecorder(), slow.begun, slow.released}, httptest.NewRequestWithContext(ctx, http.MethodGet, "/runs", nil))
			ended <- struct{}{}
		}()
	}
	for range maxLarge {
		<-slow.begun
	}
	if got := request("slow", "/agents", 100*time.Millisecond); got != 499 {
		t.Errorf("a further list of the slow caller: %d", got)
	}
	if got := request("slow", "/runs/run_none", time.Minute); got != http.StatusNotFound {
		t.Errorf("a small answer for the slow caller: %d", got)
	}
	if got := request("other", "/agents", time.Minute); got != http.StatusOK {
		t.Errorf("a list of another caller: %d", got)
	}
	close(slow.released)
	for range maxLarge {
		<-ended
	}
	if got := request("slow", "/agents", time.Minute); got != http.StatusOK {
		t.Errorf("a list after the others were read: %d", got)
	}
}

// TestTooManyLargeAnswers asserts that a request which waits until its caller has read other
// answers is refused after a while.
func TestTooManyLargeAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Server{large: map[string]chan struct{}{}}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/runs", nil)
		for range maxLarge {
			if _, err := s.enter(r, "slow"); err != nil {
				t.Fatal(err)
			}
		}
		_, err := s.enter(r, "slow")
		if refused, ok := errors.AsType[*apiError](err); !ok || refused.status != http.StatusTooManyRequests || refused.ErrorBody.Error != "too_many_answers" {
			t.Errorf("%v", err)
		}
	})
}
