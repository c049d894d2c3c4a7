package tasklist_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/tasklist"
)

const heading = "## Acceptance criteria\n\n"

// TestCriteria compares the criteria, divided by "|". A "*" marks a ticked one, and "/" is a line
// break.
func TestCriteria(t *testing.T) {
	for body, want := range map[string]string{
		"":          "",
		"- [ ] a\n": "",
		heading + "- [ ] a\n* [x] b\n1. [X] c\n+ [ ]\td\n":                                       "a|b*|c*|d",
		heading + "- [ ] a\n  - [ ] b\n    1. [x] c\n- d\n":                                      "a|b|c*",
		heading + "- [ ] a\n\n  [ ] more\n":                                                      "a/[ ] more",
		heading + "- [ ] a\n  - b\n    and c\n    - [ ] d\n      1. e\n  - f\n- [ ] g\n":         "a/b and c/f|d/e|g",
		heading + "- [ ] a\n  ```sh\n  b\n  c\n  ```\n  > - [ ] d\n\n  <!-- e\n  -->\n- [ ] f\n": "a/b c/[ ] d|f",
		heading + "- [ ] a\n\n      b\n\n  ### c\n\n  | d | e |\n  |---|---|\n  | f | g |\n":     "a/b/c/d/e/f/g",
		heading + "- [ ] a\n\n  <div>b</div><!-- c\n  --> d\n\n  ---\n\n  [e]: f\n":              "a/<div>b</div> d",
		heading + "- [ ] a\n  goes on\nand on\n- [ ] b":                                          "a goes on and on|b",
		heading + "- [ ] a <!-- hidden --> b\n<!-- - [ ] c -->\n":                                "a b",
		heading + "<!--\n- [ ] a\n-->\n- [ ] b":                                                  "b",
		heading + "```\n- [ ] a\n```\n\n    - [ ] b\n\n~~~~\n- [ ] c\n":                          "",
		heading + "<pre>\n- [ ] a\n</pre>\n\n- [ ] b":                                            "b",
		heading + "<details>\n\n- [ ] a\n\n</details>\n":                                         "a",
		heading + "> - [ ] a\n\n- [ ] b\n":                                                       "b",
		heading + "- `- [ ] a`\n- [ ] `b c`\n- [ ] [x] d\n- [  ] f\n\n-[ ] e\n":                  "`b c`|[x] d",
		heading + "- [ ] a\n### More\n- [ ] b\n## Other\n- [ ] c":                                "a|b",
		"Acceptance Criteria:\n---\n\n- [ ] a\n\nOther\n===\n- [ ] b":                            "a",
		"# **Acceptance criteria**\n- [ ] a\n# X\n- [ ] b\n# acceptance criterion\n- [ ] c":      "a|c",
		"# Acceptance criteria\n" + heading + "- [ ] a\n## Other\n- [ ] b\n# X\n- [ ] c":         "a|b",
		strings.ReplaceAll(heading+"- [ ] a\n  goes on\n", "\n", "\r\n"):                         "a goes on",
		"```\n" + heading + "- [ ] a\n```\n":                                                     "",
	} {
		var got []string
		for _, i := range tasklist.Criteria(body) {
			s := strings.ReplaceAll(i.Text, "\n", "/")
			if i.Ticked {
				s += "*"
			}
			got = append(got, s)
		}
		if shown := strings.Join(got, "|"); shown != want {
			t.Errorf("%q:\n got %s\nwant %s", body, shown, want)
		}
	}
}

func TestTick(t *testing.T) {
	body := strings.ReplaceAll("- [ ] a\n\n"+heading+"- [ ] a\n  - [ ] b\n1. [x] c\n- [ ] d\n- [ ] d\n- [ ] e\n\n## Other\n- [ ] b\n", "\n", "\r\n")
	var digests []string
	for _, s := range []string{"a", "b", "c", "d", "gone"} {
		digests = append(digests, tasklist.Digest(s))
	}
	got, o := tasklist.Tick(body, digests)
	want := strings.Replace(body, "criteria\r\n\r\n- [ ] a\r\n  - [ ] b", "criteria\r\n\r\n- [x] a\r\n  - [x] b", 1)
	if got != want {
		t.Errorf("got %q", got)
	}
	if shown := fmt.Sprintf("%+v", o); shown != "{Ticked:[a b] Already:1 Ambiguous:[d] Changed:1}" {
		t.Error(shown)
	}
	again, o := tasklist.Tick(got, digests)
	if again != got || len(o.Ticked) > 0 || o.Already != 3 {
		t.Errorf("again: %+v", o)
	}
}

func FuzzTick(f *testing.F) {
	f.Add(heading + "- [ ] a\n  - [ ] b\r\n```\n- [ ] c")
	f.Add("Acceptance criteria\n===\n\n>- [ ] a\n* [ ] b <!--\n- [ ] c-->")
	f.Add(heading + "-\t[ ] a\n\n\t- [ ] \\[b\n- [ ]\n  [ ] d")
	f.Fuzz(func(t *testing.T, body string) {
		var digests []string
		count := map[string]int{}
		for _, i := range tasklist.Criteria(body) {
			digests = append(digests, tasklist.Digest(i.Text))
			count[i.Text]++
		}
		got, o := tasklist.Tick(body, digests)
		if len(got) != len(body) {
			t.Fatalf("the length changed: %q", got)
		}
		changed := 0
		for i := range got {
			if got[i] == body[i] {
				continue
			}
			if changed++; got[i-1:i+2] != "[x]" || body[i] != ' ' {
				t.Fatalf("byte %d became %q", i, got[i])
			}
		}
		if changed != len(o.Ticked) || o.Changed != 0 {
			t.Fatalf("%d changed, %+v", changed, o)
		}
		after := tasklist.Criteria(got)
		if len(after) != len(digests) {
			t.Fatalf("%d items, and %d after ticking: %q", len(digests), len(after), got)
		}
		for _, i := range after {
			if !i.Ticked && count[i.Text] == 1 {
				t.Fatalf("%q is not ticked in %q", i.Text, got)
			}
		}
	})
}
