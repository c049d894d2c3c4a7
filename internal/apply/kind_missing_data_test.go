package apply

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/markdown"
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

// TestTextsOfReportsStayBlocks asserts that a text of a report which begins with a block, such as a
// fence or a list, is that block in the issue, and that what comes after it is shown as it is.
func TestTextsOfReportsStayBlocks(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"```sh\nnpm ci\n```", "- a\n- b", "| a | b |\n| --- | --- |\n| 1 | 2 |", "> a", "# a", "<details>\n\na\n\n</details>", "~~~\nopen"} {
		for kind, members := range map[safeoutput.Kind][]string{
			safeoutput.KindMissingData: {"context", "alternatives"},
			safeoutput.KindMissingTool: {"alternatives"},
		} {
			item := map[string]string{"type": string(kind), "tool": "x", "reason": "r"}
			for _, name := range members {
				item[name] = text
			}
			line, err := json.Marshal(item)
			if err != nil {
				t.Fatal(err)
			}
			b := newBench(t, fixture(), githubtest.Options{})
			b.kind(kind, func(k *policy.KindConfig) { k.CreateIssue = true })
			results := b.run(string(line), fmt.Sprintf(`{"type":%q,"tool":"y","reason":"the last"}`, kind))
			want(t, results, "applied applied")
			body := b.issue(results[0].Object.Number).Body
			doc := markdown.Scan(body)
			wanted := markdown.Scan(text).Blocks[0].Kind
			blocks, headings := 0, 0
			for _, block := range doc.Blocks {
				if block.Kind == wanted && block.Parent < 0 && strings.HasPrefix(body[block.Start:], text) {
					blocks++
				}
				if block.Kind == markdown.HeadingBlock && strings.HasPrefix(body[block.Start:], "### ") {
					headings++
				}
			}
			if blocks != len(members) || headings != 2 {
				t.Errorf("%s with %q has it %d times, and %d headings:\n%s", kind, text, blocks, headings, body)
			}
		}
	}
}
