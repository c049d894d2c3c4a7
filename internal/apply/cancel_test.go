package apply

import (
	"context"
	"testing"

	"github.com/agent-airlock/airlock/internal/githubtest"
)

func TestCancelFinishesTheWriteInFlightAndReportsTheRest(t *testing.T) {
	b := newBench(t, fixture(), githubtest.Options{})
	plan := b.plan(anIssue, aComment, aLabel)
	ctx, cancel := context.WithCancel(context.Background())
	b.srv.SetFault(func(r githubtest.Request) githubtest.Fault {
		if r.Operation == "issues/create" {
			cancel()
		}
		return githubtest.Fault{}
	})
	results := Execute(ctx, b.world, plan)
	want(t, results, "applied failed(cancelled) failed(cancelled)")
	if n := len(b.srv.Writes()); n != 1 {
		t.Errorf("%d writes", n)
	}
	b.cfg.Run.Attempt = 2
	want(t, b.run(anIssue, aComment, aLabel), "adopted applied applied")
}

func TestCancelDuringAnAmbiguousFailureLooksOnceMore(t *testing.T) {
	b := newBench(t, fixture(), githubtest.Options{})
	plan := b.plan(anIssue)
	ctx, cancel := context.WithCancel(context.Background())
	b.srv.SetFault(func(r githubtest.Request) githubtest.Fault {
		if r.Operation == "issues/create" {
			cancel()
			return githubtest.ServerError(502, true)
		}
		return githubtest.Fault{}
	})
	want(t, Execute(ctx, b.world, plan), "applied")
}
