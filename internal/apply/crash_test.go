package apply

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/crash"
	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/githubtest"
)

// defective is a client of GitHub whose methods panic: CreateIssue after its work, ListIssues before.
type defective struct {
	GitHub
	create, list bool
}

func (d defective) CreateIssue(ctx context.Context, r githubapi.Repo, n githubapi.NewIssue) (githubapi.Issue, error) {
	made, err := d.GitHub.CreateIssue(ctx, r, n)
	if d.create {
		panic(errors.New("it happened with ghs_test"))
	}
	return made, err
}

func (d defective) ListIssues(ctx context.Context, r githubapi.Repo, f githubapi.IssueFilter) iter.Seq2[githubapi.Issue, error] {
	if d.list {
		panic("ghs_test")
	}
	return d.GitHub.ListIssues(ctx, r, f)
}

// A defect costs the items that it concerns. The others are done, and everything is reported.
func TestACrashCostsItsOwnItem(t *testing.T) {
	b := newBench(t, fixture(), githubtest.Options{})
	plan := b.plan(aComment, anIssue, aDiscussion)
	b.deps.GitHub = defective{GitHub: b.deps.GitHub, create: true}
	results := execute(context.Background(), b.deps, plan)
	want(t, results, "applied failed(crash) applied")
	r := results[1]
	if !strings.Contains(r.Message, "may or may not have happened") || !strings.Contains(r.Message, "apply/crash_test.go:") || r.Fallback == nil {
		t.Errorf("message %q, fallback %+v", r.Message, r.Fallback)
	}
	for _, line := range append(b.log, r.Message) {
		if strings.Contains(line, "ghs_") {
			t.Errorf("the token shows: %s", line)
		}
	}
	b.cfg.Run.Attempt = 2 // without the defect
	want(t, b.run(aComment, anIssue, aDiscussion), "adopted adopted adopted")
}

func TestACrashWhileReadingOrLookingForDoubles(t *testing.T) {
	b := newBench(t, fixture(), githubtest.Options{})
	b.cfg.Run.SelfHosted = true
	plan := b.plan(anIssue)
	good := b.deps.GitHub
	b.deps.GitHub = defective{GitHub: good, list: true}
	want(t, execute(context.Background(), b.deps, plan), "applied")
	approved, _ := b.judge(anIssue, aComment)
	_, err := Observe(context.Background(), b.deps, b.cfg, b.ev, approved)
	if !crash.Is(err) {
		t.Fatalf("Observe: %v", err)
	}
	want(t, CrashedResults(approved, err), "failed(crash) failed(crash)")
}
