package doors

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/apply"
	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/token"
)

// TestLinesAreCountedOnce asserts that each line of the file counts once, although the call that
// counts it fails afterwards: the client cancels, git fails in the workspace, or Airlock does.
func TestLinesAreCountedOnce(t *testing.T) {
	t.Parallel()
	wrong := errors.New("git failed")
	for name, fail := range map[string]func(cancel func()) error{
		"workspace": func(func()) error { return wrong },
		"canceled":  func(cancel func()) error { cancel(); return context.Canceled },
		"panic":     func(func()) error { panic(wrong) },
	} {
		for _, emptied := range []bool{false, true} { // somebody empties the file before the call that fails
			ctx, cancel := context.WithCancel(t.Context())
			owner, err := config.Parse("policy.yml", []byte("create-issue: {max: 2}\ncreate-pull-request:\n"))
			if err != nil {
				t.Fatal(err)
			}
			gate, err := New(Config{SafeOutputs: owner, Secrets: NewScanner(token.Token{}, "", nil)})
			if err != nil {
				t.Fatal(err)
			}
			known := Rehearsal{
				Event: &event.Event{Name: "issues", Number: 7, Repo: event.Repo{Owner: "o", Name: "r"}},
				Code: func(context.Context, event.Event) (*apply.Code, func(), error) {
					return nil, func() {}, fail(cancel)
				},
			}
			path := filepath.Join(t.TempDir(), "lines")
			a := gate.Asking(action.NewLines(path), known)
			ask := func(ctx context.Context, kind safeoutput.Kind, arguments string) (accepted bool, err error) {
				defer func() {
					if caught := recover(); caught != nil {
						err = caught.(error)
					}
				}()
				answer, err := a.Ask(ctx, kind, json.RawMessage(arguments))
				return answer.Accepted, err
			}
			const issue = `{"title":"T","body":"B"}`
			if ok, err := ask(ctx, safeoutput.KindCreateIssue, issue); !ok || err != nil {
				t.Fatalf("%s: the first call: %t, %v", name, ok, err)
			}
			want := []bool{true, false}
			if emptied {
				if _, err := ask(ctx, safeoutput.KindCreateIssue, `{}`); err != nil { // which counts the first line
					t.Fatal(err)
				}
				if err := os.Truncate(path, 0); err != nil {
					t.Fatal(err)
				}
				want = []bool{true, true, false}
			}
			for range 2 {
				if _, err := ask(ctx, safeoutput.KindCreatePullRequest, issue); err == nil {
					t.Errorf("%s: the call of which the workspace cannot be read has no error", name)
				}
			}
			for i, want := range want {
				if ok, err := ask(t.Context(), safeoutput.KindCreateIssue, issue); ok != want || err != nil {
					t.Errorf("%s, emptied %t: later call %d for an issue: %t, %v; want %t", name, emptied, i+1, ok, err, want)
				}
			}
		}
	}
}
