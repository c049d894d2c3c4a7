package apply

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/githubtest"
)

// Killed before or after any of its requests, a workflow run is completed by its
// next attempt, and by the next workflow run as well.
func TestSettlingIsCompleted(t *testing.T) {
	wanted := []string{"Found back.", "Found gone. *The checks of aaaaaaa no longer find this.* (resolved)", "Found kept.", "Found new."}
	for _, next := range []string{"attempt", "run"} {
		for n, ended := 1, false; !ended; n++ {
			for _, after := range []bool{false, true} {
				b := ownBench(t, githubtest.Options{Lag: 5 * time.Second})
				allFine(t, b.runOwn(findings("back", "gone", "kept")))
				allFine(t, b.push().runOwn(findings("gone", "kept")))
				b.push()
				approved := b.approve(findings("back", "kept", "new"))
				first, _ := b.process(context.Background(), &killer{next: b.srv.Transport(), left: n, after: after}, b.clock, approved)
				if next == "run" {
					b.push()
				} else {
					b.cfg.Run.Attempt = 2
				}
				results, err := b.process(context.Background(), b.srv.Transport(), b.clock, approved)
				if err != nil {
					t.Fatal(err)
				}
				allFine(t, results)
				b.wantOnLines(wanted...)
				ended = first != nil
			}
			if n > 60 {
				t.Fatal("it never ended")
			}
		}
	}
}

func TestSettlingWhereAnswersAreLost(t *testing.T) {
	faults := map[string]githubtest.Fault{"cut before": {Cut: true}, "cut after": {Cut: true, After: true}, "502": githubtest.ServerError(502, false)}
	for _, op := range []string{"graphql/MinimizeComment", "graphql/UnminimizeComment", "pulls/update-review-comment", "pulls/create-review"} {
		for name, f := range faults {
			t.Run(op+" "+name, func(t *testing.T) {
				b := ownBench(t, githubtest.Options{})
				allFine(t, b.runOwn(findings("back", "gone")))
				allFine(t, b.push().runOwn(findings("gone")))
				once := true
				b.srv.SetFault(func(r githubtest.Request) githubtest.Fault {
					if r.Operation == op && once {
						once = false
						return f
					}
					return githubtest.Fault{}
				})
				allFine(t, b.push().runOwn(findings("back", "new")))
				b.wantOnLines("Found back.", "Found gone. *The checks of aaaaaaa no longer find this.* (resolved)", "Found new.")
			})
		}
	}
}

func TestSettlingThatMayNotBe(t *testing.T) {
	b := ownBench(t, githubtest.Options{})
	allFine(t, b.runOwn(findings("one", "two", "three")))
	b.srv.Change(func(f *githubtest.Fixture) {
		f.Tokens = []githubtest.Token{{Secret: "ghs_test", Permissions: map[string]string{"contents": "read"}}}
	})
	b.srv.ResetRequests()
	r := b.push().runOwn(findings("three"))
	want(t, r, "adopted failed(permission)")
	if !strings.Contains(r[1].Message, "pull-requests: write") || len(b.srv.Writes()) != 1 {
		t.Errorf("after %d writes: %s", len(b.srv.Writes()), r[1].Message)
	}
	b.ev.Fork = true
	want(t, b.push().runOwn(findings("three")), "adopted skipped(fork-read-only)")
}
