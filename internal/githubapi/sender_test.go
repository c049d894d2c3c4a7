package githubapi_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/githubtest"
)

// TestAmbiguousWrites breaks a write in each way after which nobody can know
// whether it happened: it is sent once and reported as ambiguous.
func TestAmbiguousWrites(t *testing.T) {
	t.Parallel()
	faults := map[string]githubtest.Fault{
		"500":               githubtest.ServerError(500, false),
		"502 after effect":  githubtest.ServerError(502, true),
		"503":               githubtest.ServerError(503, false),
		"504 after effect":  githubtest.ServerError(504, true),
		"cut before":        {Cut: true},
		"cut after":         {Cut: true, After: true},
		"cut in the body":   {CutBody: true},
		"not JSON":          githubtest.NotJSON(true),
		"garbage":           {Garbage: `[1,2`},
		"other JSON":        {Garbage: `"text"`},
		"late before":       {Delay: 90e9, Cut: true},
		"late after effect": {Delay: 90e9, After: true},
	}
	writes := map[string]func(env testEnv) error{
		"create issue": func(env testEnv) error {
			return second(env.CreateIssue(env.ctx, repo, githubapi.NewIssue{Title: "x"}))
		},
		"edit issue": func(env testEnv) error {
			return second(env.EditIssue(env.ctx, repo, 1, githubapi.IssueEdit{Title: ptr("y")}))
		},
		"comment": func(env testEnv) error {
			return second(env.CreateIssueComment(env.ctx, repo, 1, "x"))
		},
		"add labels": func(env testEnv) error {
			return second(env.AddLabels(env.ctx, repo, 1, []string{"docs"}))
		},
		"review": func(env testEnv) error {
			return second(env.CreateReview(env.ctx, repo, 2, githubapi.NewReview{Event: "COMMENT", Body: "x"}))
		},
		"discussion": func(env testEnv) error {
			return second(env.CreateDiscussion(env.ctx, githubapi.NewDiscussion{RepositoryID: "R_1", CategoryID: "DIC_" + itoa(env.State().Categories[0].ID), Title: "x", Body: "y"}))
		},
	}
	for fn, fault := range faults {
		for wn, write := range writes {
			t.Run(wn+"/"+fn, func(t *testing.T) {
				env := newTestEnv(t, fixture())
				env.SetFault(func(githubtest.Request) githubtest.Fault { return fault })
				err := write(env)
				if !errors.Is(err, githubapi.Ambiguous) {
					t.Fatalf("err = %v, want Ambiguous", err)
				}
				if !strings.Contains(err.Error(), "may or may not have happened") {
					t.Errorf("message: %s", err)
				}
				reqs := env.Requests()
				if len(reqs) != 1 {
					t.Errorf("sent %d times", len(reqs))
				}
				if want := fault.After || fault.CutBody || fault.Garbage != ""; reqs[0].Effect != want {
					t.Errorf("took effect: %v, want %v", reqs[0].Effect, want)
				}
			})
		}
	}
}

// TestReadsAreRetried asserts that a failed read is sent up to three times more, after 1, 2 and 4
// seconds, and that it succeeds if the last try does.
func TestReadsAreRetried(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]githubtest.Fault{
		"500":             githubtest.ServerError(500, false),
		"503":             githubtest.ServerError(503, false),
		"cut":             {Cut: true},
		"cut in the body": {CutBody: true},
		"not JSON":        githubtest.NotJSON(false),
		"late":            {Delay: 90e9},
	} {
		reads := map[string]func(env testEnv) error{
			"issue":  func(env testEnv) error { return second(env.GetIssue(env.ctx, repo, 1)) },
			"viewer": func(env testEnv) error { return second(env.Viewer(env.ctx)) },
			"list":   func(env testEnv) error { return firstError(env.ListIssues(env.ctx, repo, githubapi.IssueFilter{})) },
		}
		for rn, read := range reads {
			t.Run(rn+"/"+name, func(t *testing.T) {
				env := newTestEnv(t, fixture())
				n := 0
				env.SetFault(func(githubtest.Request) githubtest.Fault {
					if n++; n <= 3 {
						return fault
					}
					return githubtest.Fault{}
				})
				start := env.clock.Now()
				if err := read(env); err != nil {
					t.Fatal(err)
				}
				if waited := env.clock.Now().Sub(start) - 3*min(fault.Delay, 30e9); waited != 7e9 {
					t.Errorf("waited %v between the attempts, want 1+2+4 s", waited)
				}
				env.SetFault(func(githubtest.Request) githubtest.Fault { return fault })
				env.ResetRequests()
				err := read(env)
				if !errors.Is(err, githubapi.Unreachable) && !errors.Is(err, githubapi.Malformed) {
					t.Errorf("err = %v, want Unreachable or Malformed", err)
				}
				if len(env.Requests()) != 4 {
					t.Errorf("%d attempts, want 4", len(env.Requests()))
				}
			})
		}
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	env := newTestEnv(t, fixture(), func(s *settings) { s.client.Transport = githubtest.Refuse() })
	for name, err := range map[string]error{
		"read":     second(env.GetIssue(env.ctx, repo, 1)),
		"write":    second(env.CreateIssueComment(env.ctx, repo, 1, "x")),
		"mutation": second(env.AddDiscussionComment(env.ctx, "D_1", "x")),
	} {
		if !errors.Is(err, githubapi.Unreachable) || !strings.Contains(err.Error(), "check the API URL") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	env := newTestEnv(t, fixture())
	ctx, cancel := context.WithCancel(env.ctx)
	cancel()
	if _, err := env.GetIssue(ctx, repo, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("read: %v", err)
	}
	_, err := env.CreateIssueComment(ctx, repo, 1, "x")
	if !errors.Is(err, context.Canceled) || errors.Is(err, githubapi.Ambiguous) {
		t.Errorf("a write that was never sent: %v", err)
	}
	if n := len(env.Requests()); n != 0 {
		t.Errorf("%d requests", n)
	}
	// Cancelled while the write is on its way: it may have happened.
	ctx, cancel = context.WithCancel(env.ctx)
	defer cancel()
	env.SetFault(func(githubtest.Request) githubtest.Fault { cancel(); return githubtest.Fault{} })
	_, err = env.CreateIssueComment(ctx, repo, 1, "x")
	if !errors.Is(err, context.Canceled) || !errors.Is(err, githubapi.Ambiguous) {
		t.Errorf("a write on its way: %v", err)
	}
}

// TestCancelledBetweenAttempts ends a read while it waits for its next attempt.
func TestCancelledBetweenAttempts(t *testing.T) {
	t.Parallel()
	env := newTestEnv(t, fixture())
	ctx, cancel := context.WithCancel(env.ctx)
	defer cancel()
	env.SetFault(func(githubtest.Request) githubtest.Fault { return githubtest.ServerError(503, false) })
	log := 0
	env.Client = plainClient(t, env.APIURL(), env.Transport(), func(o *githubapi.Options) {
		o.Log = func(string) { log++; cancel() }
	})
	_, err := env.GetIssue(ctx, repo, 1)
	if !errors.Is(err, context.Canceled) || !errors.Is(err, githubapi.Unreachable) || log != 1 || len(env.Requests()) != 1 {
		t.Errorf("err = %v after %d requests", err, len(env.Requests()))
	}
}

func TestSystemClock(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	c := githubapi.SystemClock{}
	if err := c.Sleep(ctx, time.Nanosecond); err != nil {
		t.Error(err)
	}
	if err := c.Sleep(ctx, -time.Hour); err != nil {
		t.Error(err)
	}
	time.AfterFunc(time.Millisecond, cancel)
	if err := c.Sleep(ctx, time.Hour); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if c.Now().IsZero() {
		t.Error("no time")
	}
}

// TestNeverSent asserts that a write that cannot have been sent is tried again, and
// is not reported as ambiguous.
func TestNeverSent(t *testing.T) {
	t.Parallel()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	var tries atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		tries.Add(1)
		w.WriteHeader(http.StatusBadGateway)
	}))
	t.Cleanup(proxy.Close)
	for name, c := range map[string]*githubapi.Client{
		"nobody listens":      plainClient(t, "http://"+closed.Addr().String(), transport(t, githubapi.TransportOptions{})),
		"the proxy refuses":   plainClient(t, "https://api.github.com", transport(t, githubapi.TransportOptions{Proxy: proxy.URL})),
		"the proxy is not on": plainClient(t, "https://api.github.com", transport(t, githubapi.TransportOptions{Proxy: "http://" + closed.Addr().String()})),
	} {
		if _, err := c.CreateIssueComment(t.Context(), repo, 1, "x"); !errors.Is(err, githubapi.Unreachable) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := tries.Load(); n != 4 {
		t.Errorf("the proxy was asked %d times", n)
	}
}

// TestSentIsAmbiguous asserts that a write that failed after the connection was made is
// reported as ambiguous, because it may have arrived.
func TestSentIsAmbiguous(t *testing.T) {
	t.Parallel()
	var n atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		n.Add(1)
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(s.Close)
	c := plainClient(t, s.URL, transport(t, githubapi.TransportOptions{}))
	if _, err := c.CreateIssueComment(t.Context(), repo, 1, "x"); !errors.Is(err, githubapi.Ambiguous) || n.Load() != 1 {
		t.Errorf("err = %v after %d requests", err, n.Load())
	}
}
