package apply

import (
	"context"
	"fmt"
	"testing"

	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// ownBench is a run on the pull request, in which Airlock may say all by itself.
func ownBench(t testing.TB, o githubtest.Options) *bench {
	t.Helper()
	b := newBench(t, fixture(), o).on("pull_request", pullNumber)
	b.allowOwn()
	return b
}

func (b *bench) allowOwn() {
	b.pol.Own = policy.OwnSettings{Comment: true, Review: true, CheckRun: true, SecurityReport: true}
	b.cfg.Run.WorkflowPath = ".github/workflows/checks.yml"
}

// approve takes Airlock's own items through both doors, after an agent's lines.
func (b *bench) approve(own []intake.OwnItem, lines ...string) []policy.Approved {
	b.t.Helper()
	approved, denied := b.judge(lines...)
	accepted, rejected, err := intake.Own(own, intake.Config{})
	if err != nil || len(rejected) > 0 {
		b.t.Fatalf("%v, rejected %+v", err, rejected)
	}
	ours, deniedOurs := policy.Judge(b.pol, b.ev, accepted)
	if denied = append(denied, deniedOurs...); len(denied) > 0 {
		b.t.Fatalf("policy denied %+v", denied)
	}
	return append(approved, ours...)
}

// runOwn takes Airlock's own items all the way, after an agent's lines.
func (b *bench) runOwn(own []intake.OwnItem, lines ...string) []Result {
	b.t.Helper()
	results := Execute(context.Background(), b.world, b.planOf(b.approve(own, lines...)))
	if len(results) != len(own)+len(lines) {
		b.t.Fatalf("%d results for %d items", len(results), len(own)+len(lines))
	}
	return results
}

// found is a finding's review comment.
func found(name string, line int) intake.OwnItem {
	return intake.OwnItem{Stable: "finding/" + name,
		Item: &safeoutput.CreateReviewComment{Path: "main.go", Line: line, Body: fmt.Sprintf("Found %s.", name)}}
}
