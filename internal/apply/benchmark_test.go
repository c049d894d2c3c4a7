package apply

import (
	"fmt"
	"testing"

	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/sanitize"
)

// manyEntries makes n items of a kind, ready to plan.
func manyEntries(n int, item func(i int) safeoutput.Item) []*entry {
	out := make([]*entry, n)
	for i := range out {
		it := item(i)
		out[i] = &entry{index: i, line: i + 1, kind: it.Kind(), item: it, target: policy.Target{Number: pullNumber, IsPull: true, FromEvent: true},
			key: groupKey("bench", fmt.Sprint(i))}
	}
	return out
}

// BenchmarkPlan shows that planning is linear in the items.
func BenchmarkPlan(b *testing.B) {
	s, err := sanitize.New(sanitize.Config{})
	if err != nil {
		b.Fatal(err)
	}
	cfg := Config{Sanitizer: s}
	text := "A comment of an ordinary length, with `code`, *emphasis* and a [link](https://github.com/octo/repo).\n\n- one\n- two\n"
	for _, kind := range []struct {
		name string
		item func(i int) safeoutput.Item
	}{
		{"comments", func(i int) safeoutput.Item { return &safeoutput.AddIssueComment{Body: text + fmt.Sprint(i)} }},
		{"review", func(i int) safeoutput.Item {
			return &safeoutput.CreateReviewComment{Path: "main.go", Line: i%9 + 1, Body: text, Side: "RIGHT"}
		}},
		{"findings", func(i int) safeoutput.Item {
			return &safeoutput.CreateSecurityReport{File: fmt.Sprintf("f%d.go", i%100), Line: i + 1, Severity: "error", Message: "Bad.", RuleIDSuffix: "r"}
		}},
	} {
		for _, n := range []int{1000, 10_000} {
			b.Run(fmt.Sprintf("%s/%d", kind.name, n), func(b *testing.B) {
				ev := newEvent()
				ev.SHA, ev.Ref = headSHA, "refs/pull/7/merge"
				snap := &Snapshot{diffs: map[int]diffState{pullNumber: newDiff(localDiff())}}
				b.ReportAllocs()
				for b.Loop() {
					planEntries(cfg, ev, manyEntries(n, kind.item), snap)
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(n), "µs/item")
			})
		}
	}
}

// BenchmarkThousandItems applies 1,000 comments on a server in memory, without pacing.
func BenchmarkThousandItems(b *testing.B) {
	lines := make([]string, 1000)
	for i := range lines {
		lines[i] = line(map[string]any{"type": "add-issue-comment", "issue_number": issueNumber, "body": fmt.Sprintf("Comment %d.", i)})
	}
	for b.Loop() {
		bench := newBench(b, fixture(), githubtest.Options{})
		bench.run(lines...)
	}
}
