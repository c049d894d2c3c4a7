package loopturn_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/fixloop"
	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/loopturn"
)

// asking returns a bench whose turns ask an agent elsewhere.
func asking(t *testing.T) *bench {
	b := newBench(t)
	b.secret = "correct horse battery"
	b.ask = func(ctx context.Context, payload map[string]any) error {
		return b.client.Dispatch(ctx, repo, "airlock-fix", payload)
	}
	return b
}

// payload is what an agent was told.
type payload struct {
	Version     int              `json:"version"`
	Request     string           `json:"request"`
	RequestID   string           `json:"request_id"`
	Attempt     int              `json:"attempt"`
	PullRequest int              `json:"pull_request"`
	Loop        string           `json:"loop"`
	HeadRef     string           `json:"head_ref"`
	HeadSHA     string           `json:"head_sha"`
	Until       time.Time        `json:"until"`
	Message     *fixloop.Message `json:"message"`
}

// asked returns the events that the server took, each with its size.
func (b *bench) asked() (list []payload, sizes []int) {
	b.t.Helper()
	for _, r := range b.server.Requests() {
		if r.Operation != "repos/create-dispatch-event" || r.Status != 204 {
			continue
		}
		var body struct {
			Type    string          `json:"event_type"`
			Payload json.RawMessage `json:"client_payload"`
		}
		var p payload
		if err := json.Unmarshal(r.Body, &body); err != nil || body.Type != "airlock-fix" {
			b.t.Fatalf("%s, %v", body.Type, err)
		}
		if err := json.Unmarshal(body.Payload, &p); err != nil {
			b.t.Fatal(err)
		}
		list, sizes = append(list, p), append(sizes, len(body.Payload))
	}
	return list, sizes
}

// TestAnAgentElsewhereIsAskedOnce asserts that each fix request is sent once.
func TestAnAgentElsewhereIsAskedOnce(t *testing.T) {
	t.Parallel()
	b := asking(t)
	b.must(pull(), b.found("a"))
	b.must(pull(), b.found("a"))
	got, _ := b.asked()
	if len(got) != 1 {
		t.Fatalf("asked %d times", len(got))
	}
	p := got[0]
	if p.Version != 1 || p.RequestID != "FIXREQ-7-1" || p.Attempt != 1 || p.PullRequest != 7 || p.Loop != "7-1" || p.HeadRef != "fix" || p.HeadSHA != b.head || !p.Until.After(b.clock.Now()) {
		t.Errorf("%+v", p)
	}
	if m, err := fixloop.ParseAll(p.Request); err != nil || m[0].ID != p.RequestID || p.Message == nil || p.Message.ID != p.RequestID {
		t.Errorf("the request is %q, %v", p.Request, err)
	}
	b.push()
	b.must(pull(), b.found("b"))
	if got, _ = b.asked(); len(got) != 2 || got[1].RequestID != "FIXREQ-7-2" {
		t.Errorf("%+v", got)
	}
	b.push()
	b.must(pull(), b.found())
	if got, _ = b.asked(); len(got) != 2 {
		t.Errorf("asked %d times", len(got))
	}
}

func TestARequestOfAnyLengthFits(t *testing.T) {
	t.Parallel()
	b := asking(t)
	var long []string
	for i := range 100 {
		long = append(long, strings.Repeat("<&>\u2028", 60)+string(rune('a'+i%26)))
	}
	b.must(pull(), b.found(long...))
	got, sizes := b.asked()
	if len(got) != 1 || sizes[0] >= githubapi.MaxDispatchBytes || got[0].Message != nil || !strings.HasSuffix(got[0].Request, "has the rest]\n") {
		t.Errorf("%d events, sizes %v", len(got), sizes)
	}
}

func TestAnEventThatGitHubRefusesEscalates(t *testing.T) {
	t.Parallel()
	b := asking(t)
	b.server.SetFault(func(r githubtest.Request) githubtest.Fault {
		if r.Operation == "repos/create-dispatch-event" {
			return githubtest.Fault{Status: 403, Body: `{"message":"Resource not accessible by integration"}`}
		}
		return githubtest.Fault{}
	})
	r := b.must(pull(), b.found("a"))
	if notes := strings.Join(r[0].Notes, "\n"); !strings.Contains(notes, "could not be asked") || !strings.Contains(notes, "contents: write") {
		t.Errorf("notes %q", notes)
	}
	for attempt := 1; attempt <= fixloop.DeliveryAttempts; attempt++ {
		next := "a later turn tries again"
		if attempt == fixloop.DeliveryAttempts {
			next = "this was the last attempt"
		}
		if notes := strings.Join(r[0].Notes, "\n"); !strings.Contains(notes, next) {
			t.Errorf("the notes after attempt %d are %q", attempt, notes)
		}
		r = b.must(event.Event{Name: "schedule"}, nil)
	}
	if s := r[0].Log.State; s.Status() != fixloop.Escalated || s.Reason() != fixloop.ReasonUndelivered {
		t.Errorf("%s, %s", s.Status(), s.Reason())
	}
}

func TestAnExtensionAsksAgain(t *testing.T) {
	t.Parallel()
	b := asking(t)
	b.must(pull(), b.found("a"))
	b.clock.Advance(31 * time.Minute)
	b.must(event.Event{Name: "schedule"}, nil)
	b.clock.Advance(5 * time.Minute)
	b.must(event.Event{Name: "schedule"}, nil)
	b.must(b.say(alice, "/airlock extend 1"), nil)
	if got, _ := b.asked(); len(got) != 2 || got[1].RequestID != "FIXREQ-7-1" {
		t.Errorf("%+v", got)
	}
}

func TestCheckSecret(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		secret   string
		dispatch bool
		want     string
	}{{"", false, ""}, {"", true, "needs loop-secret"}, {"too short", true, "at least 16"}, {"too short", false, "at least 16"}, {"ÄÖÜÄÖÜÄÖÜ", false, "has 9 characters"}, {"correct horse battery", true, ""}} {
		err := loopturn.CheckSecret(c.secret, c.dispatch)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q, %v: %v", c.secret, c.dispatch, err)
		}
	}
}
