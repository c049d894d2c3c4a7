package acceptance_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/acceptance"
)

func TestFromIssue(t *testing.T) {
	for body, want := range map[string]string{
		"":                                 "",
		"- [ ] a.md\n":                     "",
		"## Acceptance criteria\n- a.md\n": "+1",
		"- x\n## Acceptance criteria\n- [ ] a.md\n- b\n- c\n  - d\n1. e\n   - [ ] f.md\n   - g\n> - h\n\n-\n## Other\n- i\n":      "ac-1=a.md ac-2=f.md +3",
		"## Acceptance criteria\n- [ ] a.md\n  - and it says \"b\"\n":                                                             "ac-1=a.md\nand it says \"b\"",
		"## Acceptance criteria\r\n\r\n- [ ] a.md\r\n* [x] b.md\r\n1. [ ] c.md\r\n":                                               "ac-1=a.md ac-2=b.md ac-3=c.md",
		"# **Acceptance Criteria**:\n- [ ] a.md\n### More\n- [ ] b.md\n# Other\n- [ ] c.md":                                       "ac-1=a.md ac-2=b.md",
		"## Acceptance criteria\n<!-- - [ ] a.md\n- [ ] b.md -->\n- [ ] c<!-- x -->.md\n":                                         "ac-1=c.md",
		"## Acceptance criteria\n```\n- [ ] a.md\n```\n- [ ] b.md\n":                                                              "ac-1=b.md",
		"<!--\n## Acceptance criteria\n-->\n- [ ] a.md\n":                                                                         "",
		"<!--\n```acceptance\na.md\n```\n-->\n":                                                                                   "",
		"```acceptance\na.md\n- b.md\n- [ ] c.md\n\n```\n## Acceptance criteria\n- [ ] d.md":                                      "ac-1=a.md ac-2=b.md ac-3=c.md",
		"~~~ Acceptance\n- check:tests\n- README.md contains \"x: y\"\n~~~":                                                       `ac-1=check:tests ac-2=README.md contains "x: y"`,
		"```acceptance\n- id: X\n  description: d\n  validation_hint: a.md\n- description: b.md\n```":                             "X=a.md ac-2=b.md",
		"```acceptance\n- id: ac-2\n  hint: a.md\n- hint: b.md\n- id: ac-2\n  hint: c.md\n```":                                    "ac-2=a.md ac-3=b.md ac-4=c.md",
		"```acceptance\n{\"acceptance_criteria\": [{\"id\": \"X\", \"description\": \"d\", \"validation_hint\": \"a.md\"}]}\n```": "X=a.md",
		"```acceptance\n[\"a.md\", \"b.md\"]\n```":                                                                                "ac-1=a.md ac-2=b.md",
		"```acceptance\n[ ] a.md\n[x] b.md\n```":                                                                                  "ac-1=a.md ac-2=b.md",
		"```acceptance\n\n  [X] #1 is closed\n```":                                                                                "ac-1=#1 is closed",
		"```acceptance\n[guide](docs/guide.md) exists\nb.md\n```":                                                                 "ac-1=[guide](docs/guide.md) exists ac-2=b.md",
		"```acceptance\n---\n- hint: a.md\n...\n\n---\n```":                                                                       "ac-1=a.md",
		"```acceptance\n[x]\n```":                                                   "ac-1=x",
		"```acceptance\n[ \"a.md\" ]\n```":                                          "ac-1=a.md",
		"```acceptance\na.md\n```\n```acceptance\nb.md\n":                           "ac-1=a.md ac-2=b.md",
		"> ```acceptance\n> a.md\n> ```\n":                                          "",
		"> > quoted\n> ```acceptance\n> a.md\n> ```\n```acceptance\nb.md\n```":      "ac-1=b.md",
		"````markdown\n```acceptance\na.md\n```\n````\n":                            "",
		"1. Do it:\n\n   ```acceptance\n   a.md\n   ```\n":                          "ac-1=a.md",
		"<details>\n\n```acceptance\na.md\n```\n\n</details>\n":                     "ac-1=a.md",
		"<pre>\n```acceptance\na.md\n```\n</pre>\n":                                 "",
		"    ```acceptance\n    a.md\n    ```\n":                                    "",
		"```acceptance\n```acceptance\na.md\n```\n":                                 "ac-1=```acceptance ac-2=a.md",
		"```acceptance\n- id: X\n```":                                               "error",
		"```acceptance\nacceptance_criteria: {\n```":                                "error",
		"```acceptance\nacceptance_criteria: 7\n```":                                "error",
		"```acceptance\n[\"a.md\"]\nb.md\n```":                                      "error",
		"```acceptance\n{\"acceptance_criteria\": [\"a.md\"]} b.md\n```":            "error",
		"```acceptance\n- hint: a.md\n---\n- hint: b.md\n```":                       "error",
		"```acceptance\n- description: a.md\n  validation_hint: [check:tests]\n```": "error",
		"```acceptance\n- description: a.md\n  validation-hint: check:tests\n```":   "error",
		"```acceptance\n- description: a.md\n  priority: [1]\n```":                  "ac-1=a.md",
		"## Acceptance criteria\n- [ ] a.md\n- [ ] b" + strings.Repeat("x", 2000):   "error",
		"```acceptance\n" + strings.Repeat("a.md\n", 201):                           "error",
	} {
		got, unboxed, err := acceptance.FromIssue(body)
		var parts []string
		for _, c := range got {
			parts = append(parts, c.ID+"="+c.Hint)
		}
		if unboxed > 0 {
			parts = append(parts, fmt.Sprintf("+%d", unboxed))
		}
		shown := strings.Join(parts, " ")
		if err != nil {
			shown = "error"
		}
		if shown != want {
			t.Errorf("%q: %s (%v), want %s", body, shown, err, want)
		}
	}
}

func FuzzFromIssue(f *testing.F) {
	f.Add("## Acceptance criteria\n- [ ] a\n<!-- x\n```acceptance\n- id: x\n```")
	f.Fuzz(func(t *testing.T, body string) {
		criteria, _, err := acceptance.FromIssue(body)
		if err != nil || len(criteria) == 0 {
			return
		}
		var list []acceptance.Criterion
		for _, c := range criteria {
			list = append(list, c.Criterion)
		}
		if _, err := acceptance.IssueRequest("issue-1", list); err != nil {
			t.Errorf("%q: %v", body, err)
		}
	})
}
