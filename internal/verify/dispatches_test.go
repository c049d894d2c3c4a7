package verify

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/acceptance"
	"github.com/agent-airlock/airlock/internal/checks"
	"github.com/agent-airlock/airlock/internal/secrets"
	"github.com/agent-airlock/airlock/internal/token"
)

func TestDispatches(t *testing.T) {
	req, err := acceptance.ReadRequest([]byte(`{"task_id":"t","validation_type":"code","timeout_seconds":60,"acceptance_criteria":[{"id":"A","description":"d","validation_hint":"a.md"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	store, err := OpenDispatches(filepath.Join(t.TempDir(), "x", "y"))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1_800_000_000, 0)
	// Dispatches at the same moment are separate attempts.
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, err := store.Add(req, "head", now); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	all, err := store.List("t")
	if err != nil || len(all) != 8 {
		t.Fatalf("%d, %v", len(all), err)
	}
	for i, d := range all {
		if d.Attempt != i+1 {
			t.Errorf("dispatch %d is attempt %d", i, d.Attempt)
		}
	}
	// Only one of several answers to a dispatch is accepted.
	accepted := make(chan int, 8)
	for i := range 8 {
		wg.Go(func() {
			err := store.Accept(all[0], acceptance.Response{TaskID: "t", Duration: float64(i)})
			switch {
			case err == nil:
				accepted <- i
			case !errors.Is(err, os.ErrExist):
				t.Error(err)
			}
		})
	}
	wg.Wait()
	answer, err := store.Answer(all[0])
	if err != nil || len(accepted) != 1 || answer.Duration != float64(<-accepted) {
		t.Errorf("%d accepted, %+v, %v", len(accepted), answer, err)
	}
	for range 2 {
		if err := store.KeepLate(all[1], *answer); err != nil {
			t.Error(err)
		}
	}
	states, err := store.States(now.Add(2 * time.Minute))
	if err != nil || states[0].Missing || states[0].Answer == nil || !states[1].Missing {
		t.Errorf("%+v, %v", states[:2], err)
	}
	name := store.name(all[2], "answer")
	if err := os.WriteFile(name, []byte(`{"task_id":`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := store.States(now); err == nil {
		t.Error("an answer that was cut off is read")
	}
	if err := errors.Join(os.Remove(name), os.Symlink(store.name(all[0], "answer"), name)); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Answer(all[2]); err == nil || !strings.Contains(err.Error(), name+" cannot be read: it is a symbolic link") {
		t.Errorf("a link to another answer: %v", err)
	}
}

// TestDispatchesBelowBrackets asserts that dispatches are found in a directory whose name would match
// others if it were a pattern.
func TestDispatchesBelowBrackets(t *testing.T) {
	req, err := acceptance.ReadRequest([]byte(`{"task_id":"t","validation_type":"code","acceptance_criteria":[{"id":"A","description":"d","validation_hint":"a.md"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	store, err := OpenDispatches(filepath.Join(t.TempDir(), "store [1]"))
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= 2; n++ {
		if _, err := store.Add(req, "", time.Unix(1_800_000_000, 0)); err != nil {
			t.Fatal(err)
		}
		for _, task := range []string{"t", ""} {
			if all, err := store.List(task); err != nil || len(all) != n {
				t.Fatalf("task %q has %d dispatches, want %d: %v", task, len(all), n, err)
			}
		}
	}
}

// A response that comes late is kept without secrets.
func TestLateResponsesAreMasked(t *testing.T) {
	req, err := acceptance.ReadRequest([]byte(`{"task_id":"t","validation_type":"code","acceptance_criteria":[{"id":"A","description":"d","validation_hint":"a.md"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	store, err := OpenDispatches(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d, err := store.Add(req, "", time.Unix(1_800_000_000, 0))
	if err != nil {
		t.Fatal(err)
	}
	leak := "a-known-value"
	r := acceptance.Response{TaskID: "t", Reasoning: leak, Evidence: &acceptance.Evidence{FileChecks: []acceptance.FileCheck{{Path: leak}}}}
	deps := Deps{Deps: checks.Deps{Scanner: secrets.New([]secrets.Known{{Name: "K", Value: token.New(leak, "")}})}, Now: func() time.Time { return d.Due.Add(time.Second) }}
	configure := func(req acceptance.Request) (Config, error) { return Config{Request: req, Dir: t.TempDir()}, nil }
	if _, err := store.Receive(t.Context(), r, configure, deps); err == nil || !strings.Contains(err.Error(), "is kept and not applied") {
		t.Fatal(err)
	}
	kept, err := os.ReadFile(store.name(d, "late-1"))
	if err != nil || strings.Contains(string(kept), leak) || strings.Count(string(kept), "***") != 2 {
		t.Errorf("%s, %v", kept, err)
	}
}
