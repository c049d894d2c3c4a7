package apply

import (
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

func TestMissingData(t *testing.T) {
	t.Parallel()
	one := `{"type":"missing-data","data_type":"build log","reason":"to see why it failed","context":"It expired.","alternatives":"a copy"}`
	two := `{"type":"missing_data","reason":"only a reason"}`
	t.Run("reported", func(t *testing.T) {
		b := newBench(t, fixture(), githubtest.Options{})
		results := b.run(one, two)
		want(t, results, "applied applied")
		if n := len(b.srv.Requests()); n != 0 {
			t.Errorf("%d requests", n)
		}
		for i, message := range []string{"the agent lacked build log: to see why it failed", "the agent lacked data: only a reason"} {
			if results[i].Message != message {
				t.Errorf("%q, want %q", results[i].Message, message)
			}
		}
	})
	t.Run("as one issue", func(t *testing.T) {
		b := newBench(t, fixture(), githubtest.Options{})
		b.kind(safeoutput.KindMissingData, func(k *policy.KindConfig) { k.CreateIssue, k.TitlePrefix = true, "[ai] " })
		results := b.run(one, two)
		want(t, results, "applied applied")
		made := b.issue(results[0].Object.Number)
		if made.Title != "[ai] Data that agents lacked" || results[1].Object.Number != results[0].Object.Number {
			t.Errorf("made %+v", made)
		}
		for _, part := range []string{"### `build log`", "to see why it failed", "**What is known:** It expired.", "**What could help instead:** a copy", "### `data`", "only a reason"} {
			if !strings.Contains(made.Body, part) {
				t.Errorf("the body lacks %q:\n%s", part, made.Body)
			}
		}
		want(t, b.run(one, two), "adopted adopted")
	})
}
