package loopref_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/fixloop"
	"github.com/agent-airlock/airlock/internal/loopref"
)

const loopRef = "refs/airlock/loops/7-1"

// TestALogOfOtherRulesStaysAsItWasDecided has a log with an entry that led to something else when
// it was written. It asserts that the log is read as it was decided then, and goes on, and that it
// is refused if the snapshot of its state is missing or was changed.
func TestALogOfOtherRulesStaysAsItWasDecided(t *testing.T) {
	for _, secret := range []string{"", "correct horse"} {
		s, git, _ := open(t, secret)
		l := begin(t, s, nil)
		if err := l.DecideOtherwise(2); err != nil {
			t.Fatal(err)
		}
		if err := s.Save(t.Context(), l, began); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			got, _, err := s.Load(t.Context(), 7)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(l.Messages, got.Messages); diff != "" || got.State.Status() != l.State.Status() {
				t.Fatalf("%s, want %s\n%s", got.State.Status(), l.State.Status(), diff)
			}
			event(t, got, fixloop.Event{Type: fixloop.EventFixDone, Iteration: got.State.Iteration()})
			event(t, got, fixloop.Event{Type: fixloop.EventResult, Op: got.State.Work().Op, Results: []fixloop.Result{failed(fixloop.Tests)}})
			if err := s.Save(t.Context(), got, began); err != nil {
				t.Fatal(err)
			}
			l = got
		}
		files := map[string]string{"log.jsonl": git.Run("show", loopRef+":log.jsonl") + "\n"}
		for why, state := range map[string]string{
			"state.json":                 "",
			"cannot be read":             "{",
			"was not written by Airlock": strings.Replace(git.Run("show", loopRef+":state.json"), `"iteration":3`, `"iteration":2`, 1),
		} {
			delete(files, "state.json")
			if state != "" {
				files["state.json"] = state
			}
			git.DeleteBranch("forged")
			git.Commit("forged", files, "Loop 7-1 open: forged")
			git.Run("update-ref", loopRef, "refs/heads/forged")
			if _, _, err := s.Load(t.Context(), 7); !errors.Is(err, loopref.ErrOtherRules) || !strings.Contains(err.Error(), why) || !strings.Contains(err.Error(), "git push origin :"+loopRef) {
				t.Errorf("%q: %v", why, err)
			}
		}
	}
}
