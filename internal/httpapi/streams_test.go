package httpapi

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agent-airlock/airlock/internal/access"
	"github.com/agent-airlock/airlock/internal/agents"
	"github.com/agent-airlock/airlock/internal/runs"
	"github.com/agent-airlock/airlock/internal/store"
)

// TestStreamsEndWithTheirGrant asserts that nobody goes on watching a run with a token that
// was revoked, with a session that has ended, or without a token after the first token was made.
// The revocation is another process's: the server learns of it from the store.
func TestStreamsEndWithTheirGrant(t *testing.T) {
	t.Parallel()
	type watching struct {
		*browser
		id, token string
	}
	session := func(t *testing.T, w *watching) http.Header {
		t.Helper()
		if r := w.signIn(w.token); r.StatusCode != http.StatusSeeOther {
			t.Fatalf("%d %s", r.StatusCode, r.body)
		}
		return http.Header{"Cookie": {w.cookie.String()}}
	}
	bearer := func(_ *testing.T, w *watching) http.Header {
		return http.Header{"Authorization": {"Bearer " + w.token}}
	}
	elsewhere := func(w *watching) *access.Tokens { return access.New(w.store) }
	revoked := func(w *watching) error { return elsewhere(w).Revoke(t.Context(), "watcher") }
	for _, c := range []struct {
		name, path string
		as         func(*testing.T, *watching) http.Header
		end        func(*watching) error
	}{
		{"events, the token revoked", "/runs/RUN/events", bearer, revoked},
		{"a page's events, the token revoked", "/ui/runs/RUN/events", session, revoked},
		{"a page's events, signed out", "/ui/runs/RUN/events", session, func(w *watching) error { return elsewhere(w).SignOut(t.Context(), w.cookie.Value) }},
		{"a page's events, the session's time over", "/ui/runs/RUN/events", session, func(w *watching) error {
			_, err := w.store.Exec(t.Context(), `UPDATE sessions SET expires = 1`)
			return err
		}},
		{"events without a token, until there is one", "/runs/RUN/events", nil, func(w *watching) error {
			_, err := elsewhere(w).Add(t.Context(), "first", access.Admin)
			return err
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := &watching{browser: &browser{api: start(t, nil)}}
			w.id = sleeping(w.api)
			header := http.Header{}
			if c.as != nil {
				w.token = w.add("watcher", access.Read)
				header = c.as(t, w)
			}
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.url+strings.Replace(c.path, "RUN", w.id, 1), nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header = header
			res, err := http.DefaultTransport.RoundTrip(req)
			if err != nil || res.StatusCode != http.StatusOK {
				t.Fatal(res, err)
			}
			defer res.Body.Close()
			stream := bufio.NewReader(res.Body)
			if line, err := stream.ReadString('\n'); err != nil || line != "id: 1\n" {
				t.Fatal(line, err)
			}
			if err := c.end(w); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			if rest, err := io.ReadAll(stream); err != nil || strings.Contains(string(rest), "completed") {
				t.Errorf("%q, %v", rest, err)
			}
			if took := time.Since(began); took > time.Minute { // the agent would run for longer
				t.Errorf("the stream has ended only after %s", took)
			}
		})
	}
}

// TestWaitingEndsWithItsGrant asserts that /wait answers 401 as soon as its token is revoked, and
// that somebody with another token goes on waiting.
func TestWaitingEndsWithItsGrant(t *testing.T) {
	t.Parallel()
	a := start(t, nil)
	id := sleeping(a)
	secret, err := a.tokens.Add(t.Context(), "watcher", access.Read)
	if err != nil {
		t.Fatal(err)
	}
	other, err := a.tokens.Add(t.Context(), "other", access.Run)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(token, path string) chan reply {
		answered := make(chan reply, 1)
		go func() { answered <- a.do("GET", path, "", "Authorization: Bearer "+token) }()
		return answered
	}
	refused, served := ask(secret, "/runs/"+id+"/wait?timeout=60"), ask(other, "/runs/"+id+"/wait?timeout=60")
	for len(a.streams) < 2 { // until both requests wait
		if r := a.do("GET", "/readyz", ""); r.StatusCode != http.StatusOK {
			t.Fatal(r.body)
		}
	}
	if err := access.New(a.store).Revoke(t.Context(), "watcher"); err != nil {
		t.Fatal(err)
	}
	if r := <-refused; r.StatusCode != http.StatusUnauthorized || r.code() != "invalid_token" || r.Header.Get("WWW-Authenticate") == "" {
		t.Errorf("%d %s", r.StatusCode, r.body)
	}
	a.do("POST", "/runs/"+id+"/stop", "", "Authorization: Bearer "+other).want(t, http.StatusAccepted)
	if r := <-served; r.StatusCode != http.StatusOK || r.member("status") != "stopped" {
		t.Errorf("%d %s", r.StatusCode, r.body)
	}
}

// sleeping starts a run of ten minutes, longer than a test takes, and returns its id.
func sleeping(a *api) (id string) {
	a.t.Helper()
	a.do("POST", "/agents", `{"name":"sleeper","type":"agent","command":["sleep","600"]}`)
	return a.do("POST", "/runs", `{"agent_name":"sleeper","parameters":{"prompt":"x"}}`).member("run_id")
}

// timed notes when each piece of an answer is written. A piece takes a millisecond of virtual time.
type timed struct {
	*httptest.ResponseRecorder
	begun  time.Time
	pieces []string
}

// Write implements io.Writer.
func (w *timed) Write(p []byte) (int, error) { return w.WriteString(string(p)) }

// WriteString implements io.StringWriter.
func (w *timed) WriteString(s string) (int, error) {
	first, _, _ := strings.Cut(s, "\n")
	time.Sleep(time.Millisecond)
	w.pieces = append(w.pieces, time.Since(w.begun).Round(time.Second).String()+" "+first)
	return len(s), nil
}

// TestSignsOfLife asserts that a client that follows a run gets a sign of life whenever it has heard
// nothing for 15 s.
func TestSignsOfLife(t *testing.T) {
	t.Parallel()
	location := t.TempDir() + "/store.db"
	synctest.Test(t, func(t *testing.T) {
		st, err := store.Open(t.Context(), location, agents.Tables, runs.Tables)
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		registry, err := agents.New(st, agents.Blueprint{Name: "sleeper", Type: agents.Agent, Command: []string{"sleep", "60"}})
		if err != nil {
			t.Fatal(err)
		}
		service := runs.New(registry, st, runs.NewWorker(st, runs.WorkerConfig{})) // no worker runs: the run waits
		defer service.Close()
		run, _, err := service.Create(t.Context(), runs.Request{AgentName: "sleeper", Parameters: []byte(`{"prompt":"x"}`)})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Second)
		defer cancel()
		w := &timed{ResponseRecorder: httptest.NewRecorder(), begun: time.Now()}
		time.AfterFunc(35*time.Second, func() {
			if _, err := service.Stop(ctx, run.ID); err != nil {
				t.Error(err)
			}
		})
		(&Server{Config: Config{Runs: service}}).sendEvents(ctx, w, run.ID, 0)
		want := []string{"0s id: 1", "15s : still there", "30s : still there", "35s id: 2"}
		if !slices.Equal(w.pieces, want) {
			t.Errorf("%q, want %q", w.pieces, want)
		}
	})
}
