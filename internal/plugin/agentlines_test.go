package plugin_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/plugin"
)

// TestAgentLines asserts which findings are read from an agent's output that has other text around
// the items, or JSON that is to be repaired, and what is noted.
func TestAgentLines(t *testing.T) {
	t.Parallel()
	const good = `{"type":"create-pull-request-review-comment","path":"a b.go","line":1,"body":"Odd."}`
	for name, c := range map[string]struct {
		printed string
		want    string   // the findings' messages, in the order of their lines in the file "a b.go"
		notes   []string // what each note begins with after "agent: "
	}{
		"a line":        {good, "Odd.", nil},
		"a fence":       {"Here it is:\n\n```json\n" + good + "\n```\nThat is all.", "Odd.", nil},
		"several lines": {"{\n  \"type\": \"create-pull-request-review-comment\",\n  \"path\": \"a b.go\",\n  \"line\": 2,\n  \"body\": \"Long.\"\n}\n" + good, "Odd.|Long.", nil},
		"loose JSON":    {`{'type': 'add-nothing'}` + "\n" + `{type: 'create_pull_request_review_comment', path: 'a b.go', "line": "3", 'body': 'Loose.',}`, "Loose.", nil},
		"prose and CR":  {"I found 3 problems {maybe}.\r\n" + good + "\r\n", "Odd.", nil},
		"cut off":       {good + "\n" + `{"type":"create-pull-request-review-comment","path":"a b.go","line":2,"body":"Cut`, "Odd.", []string{"line 2 is not a safe output: byte 77: the string that starts here is cut off"}},
		"a list":        {"[" + good + "]\n", "Odd.", nil},
		"nested lists":  {"[[" + good + "]]\n" + good, "Odd.", []string{"line 1 is a list; a safe output is one object a line"}},
		"in prose":      {"I would not report " + good + "\n" + good + " is wrong\n" + good, "Odd.", []string{"line 1 was not read: it is part of a longer text", "line 2 was not read: it is part of a longer text"}},
		"a wrong field": {good + "\n" + strings.Replace(good, `"line":1`, `"line":"ten"`, 1), "Odd.", []string{"a safe output has a wrong field"}},
		"other values":  {"12\n\"x\"\nnull\n" + good, "Odd.", nil},
		"many problems": {strings.Repeat("[[]]\n", 25) + good, "Odd.", append(slices.Repeat([]string{"line "}, 20), "there are 5 more lines that could not be read")},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := plugin.Review(t.Context(), tool(0, c.printed, ""), plugin.Config{Name: "agent", Command: "agent", Format: plugin.SafeOutputs}, request(t))
			if err != nil {
				t.Fatal(err)
			}
			var messages []string
			for _, f := range got.Findings {
				messages = append(messages, f.Message)
			}
			if diff := cmp.Diff(c.want, strings.Join(messages, "|")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(got.Notes) != len(c.notes) {
				t.Fatalf("notes %q, want %q", got.Notes, c.notes)
			}
			for i, n := range c.notes {
				if !strings.HasPrefix(got.Notes[i], "agent: "+n) {
					t.Errorf("note %q, want %q", got.Notes[i], n)
				}
			}
		})
	}
}
