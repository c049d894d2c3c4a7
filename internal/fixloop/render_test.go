package fixloop

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// story returns a loop in which each type of message occurs: the fixer is silent for half an hour,
// then answers nonsense, and in the end a person makes the fix.
func story(t *testing.T) *play {
	p := newPlay(t, Loop{Repository: "octo/shop", Title: "Count the last item", Limits: Limits{Iterations: 2}})
	p.send(Event{Type: EventStart, Head: "a1b2c3"})
	p.wait(45 * time.Second).results(map[Check][]Failure{
		Tests: {{Message: "TestTotal failed", Path: "shop/shop_test.go", Line: 14, Details: "got 2, want 3\n\tshop_test.go:14\n```"}},
		SecurityReview: {{
			Severity: finding.High, Tool: "airlock", Rule: "go/sql-injection", Message: "db.Query gets **SQL** from <b>name</b> (see #12, @octocat)",
			Path: "shop/db.go", Line: 9, Suggestion: "\trows, err := db.Query(\"SELECT * FROM items WHERE name = ?\", name)",
		}},
	})
	p.wait(2 * time.Second).send(Event{Type: EventFixStarted, Iteration: 1})
	p.wait(30 * time.Minute).send(Event{Type: EventTimer})
	p.wait(time.Minute).send(Event{Type: EventNonsense, Iteration: 1, Text: "I would rather\n## write a poem"})
	p.wait(time.Minute).send(Event{Type: EventFixDone, Iteration: 1, Fixes: []string{"Count the last item", "Use a parameter"}, Files: []string{"shop/shop.go", "shop/db.go"}})
	p.wait(time.Minute).results(failing(Tests, "TestEmpty failed"))
	p.wait(time.Hour).send(Event{Type: EventDecision, Decision: DecideFixed, By: "alice"})
	p.wait(time.Minute).results(nil)
	p.wait(time.Minute).results(nil)
	p.want(Completed, WorkNone)
	return p
}

func TestEachTypeOfMessage(t *testing.T) {
	p := story(t)
	seen := map[Type]bool{}
	for _, m := range p.log {
		if seen[m.Type] && (m.Type != RevalidationResult || m.Result != Fail) {
			continue
		}
		seen[m.Type] = true
		name := string(m.Type)
		if m.Type == RevalidationResult {
			name += "_" + strings.ToLower(string(m.Result))
		}
		golden(t, name+".md", m.Markdown())
	}
	for typ := range spelling {
		if !seen[typ] {
			t.Errorf("the story has no %s", typ)
		}
	}
}

// rendered returns the message without the members that its Markdown does not show.
func rendered(m Message) Message {
	failures := append([]Failure(nil), m.Failures...) // nil if there are none
	for i := range failures {
		failures[i].Fingerprint = ""
	}
	out := Message{Type: m.Type, ID: m.ID, Time: m.Time, From: m.From, To: m.To, Priority: m.Priority, Issue: m.Issue, Iteration: m.Iteration, Check: m.Check}
	switch m.Type {
	case FailureReport:
		out.Summary, out.Failures, out.Omitted, out.Suggestions, out.Actions = m.Summary, failures, m.Omitted, m.Suggestions, m.Actions
	case FixRequest:
		out.Failures, out.Omitted, out.Suggestions, out.Expected = failures, m.Omitted, m.Suggestions, m.Expected
	case FixCompletion:
		out.Summary, out.Fixes, out.Files, out.Checks = m.Summary, m.Fixes, m.Files, m.Checks
	case RevalidationTrigger:
		out.Max, out.Failures, out.Omitted, out.Fixes, out.Why = m.Max, failures, m.Omitted, m.Fixes, m.Why
	case RevalidationResult:
		out.Result, out.Failures, out.Omitted, out.Next = m.Result, failures, m.Omitted, m.Next
	case Success:
		out.Elapsed, out.Next = m.Elapsed, m.Next
	case Escalation:
		out.Reason, out.Elapsed, out.Failures, out.Omitted, out.History, out.Actions = m.Reason, m.Elapsed, failures, m.Omitted, m.History, m.Actions
	case TimeoutReminder:
		out.Time, out.From, out.Priority, out.Iteration, out.Check = time.Time{}, "", "", 0, ""
		out.Operation, out.Elapsed, out.Limit, out.Grace, out.Result = m.Operation, m.Elapsed, m.Limit, m.Grace, m.Result
	case ErrorNotification:
		out.To, out.Priority, out.Iteration, out.Check = "", "", 0, ""
		out.Error, out.ErrorText, out.Stack, out.Context, out.Recovery, out.Recovered, out.Next = m.Error, m.ErrorText, m.Stack, m.Context, m.Recovery, m.Recovered, m.Next
	case StatusChange:
		out = Message{Type: m.Type, Time: m.Time, Entity: m.Entity, Previous: m.Previous, New: m.New, Why: m.Why}
	}
	return out
}

// fieldLines matches a field's line, and the beginning of the next field.
var fieldLines = regexp.MustCompile(`(?m)(^\*\*.*)\n\*\*`)

// reformatted are changes of a message's Markdown by programs that pass it on.
var reformatted = map[string]func(string) string{
	"as it is":        func(s string) string { return s },
	"CRLF":            func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
	"trailing spaces": func(s string) string { return outsideFences(s, func(l string) string { return l + "  " }) },
	"stars for lists": func(s string) string {
		return outsideFences(s, func(l string) string {
			if rest, ok := strings.CutPrefix(l, "- "); ok {
				return "* " + rest
			}
			return l
		})
	},
	"parentheses after numbers": func(s string) string {
		return outsideFences(s, func(l string) string {
			if len(l) > 3 && l[0] >= '1' && l[0] <= '9' && l[1] == '.' {
				return l[:1] + ")" + l[2:]
			}
			return l
		})
	},
	"two fields on one line": func(s string) string { return fieldLines.ReplaceAllString(s, "$1 **") },
	"underscores": func(s string) string {
		return outsideFences(s, func(l string) string { return strings.ReplaceAll(l, "**", "__") })
	},
	"colon in bold": func(s string) string {
		return outsideFences(s, func(l string) string { return strings.ReplaceAll(l, "**: ", ":** ") })
	},
	"wrapped": func(s string) string {
		return outsideFences(s, func(l string) string {
			indent := ""
			if strings.HasPrefix(l, "- ") || len(l) > 2 && l[1] == '.' {
				indent = "   "
			}
			if strings.HasPrefix(l, "|") || strings.HasPrefix(l, "#") || len(l) < 50 {
				return l
			}
			i := strings.LastIndex(l[:50], " ")
			if i < 10 || strings.Count(l[:i], "`")%2 == 1 || strings.HasPrefix(l[i+1:], "#") {
				return l
			}
			return l[:i] + "\n" + indent + l[i+1:]
		})
	},
	"mentions with an entity": func(s string) string {
		return outsideFences(s, func(l string) string { return strings.ReplaceAll(l, "@", "@&#8203;") })
	},
	"mentions with a zero-width space": func(s string) string {
		return outsideFences(s, func(l string) string { return strings.ReplaceAll(l, "@", "@\u200b") })
	},
	"mentions in code": mentionsInCode,
	"entities": func(s string) string {
		return outsideFences(s, func(l string) string { return strings.ReplaceAll(l, "(", "&#40;") })
	},
	"a quote":                    func(s string) string { return "> " + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n> ") },
	"a fence":                    func(s string) string { return "Here it is:\n\n`````markdown\n" + s + "`````\n" },
	"text around":                func(s string) string { return "Dear all,\n\n- see below\n\n" + s + "\n" },
	"no line break at the end":   func(s string) string { return strings.TrimRight(s, "\n") },
	"no empty lines above rules": func(s string) string { return strings.ReplaceAll(s, "\n\n---", "\n---") },
	"a marker":                   func(s string) string { return s + "\n<!-- airlock:v1 key=00ff -->" },
}

func mentionsInCode(s string) string {
	for _, who := range []string{Orchestrator, Fixer, "@tests", "@security-review"} {
		s = strings.ReplaceAll(s, ": "+who, ": `"+who+"`")
	}
	return s
}

// outsideFences changes each line that is not in a fence.
func outsideFences(s string, f func(string) string) string {
	lines := strings.SplitAfter(s, "\n")
	fenced := ""
	for i, l := range lines {
		body := strings.TrimSuffix(l, "\n")
		trimmed := strings.TrimLeft(body, " ")
		ticks := trimmed[:len(trimmed)-len(strings.TrimLeft(trimmed, "`"))]
		switch {
		case fenced == "" && len(ticks) >= 3:
			fenced = ticks
		case fenced != "" && trimmed == fenced:
			fenced = ""
		case fenced == "" && body != "":
			lines[i] = f(body) + l[len(body):]
		}
	}
	return strings.Join(lines, "")
}

func TestEachMessageParsesBack(t *testing.T) {
	p := story(t)
	for name, change := range reformatted {
		t.Run(name, func(t *testing.T) {
			for _, m := range p.log {
				text := change(m.Markdown())
				got, err := Parse(text)
				if err != nil {
					t.Fatalf("%v\n%s", err, text)
				}
				if diff := cmp.Diff(rendered(m), got); diff != "" {
					t.Fatalf("%s\n%s", diff, text)
				}
			}
		})
	}
}

// TestASuggestionKeepsItsEmptyLines asserts that the empty lines with which a suggestion begins or
// ends are in the message, and are read from it.
func TestASuggestionKeepsItsEmptyLines(t *testing.T) {
	for _, suggestion := range []string{"a", "a\n", "a\n\n", "\n", "\n\na\n"} {
		want := Failure{Check: Linter, Message: "not formatted", Path: "a.py", Line: 3, Suggestion: suggestion}
		for _, m := range story(t).log {
			if m.Type != FixRequest {
				continue
			}
			m.Failures = []Failure{want}
			got, err := Parse(m.Markdown())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]Failure{want}, got.Failures); diff != "" {
				t.Errorf("%s\n%s", diff, m.Markdown())
			}
		}
	}
}

func TestWhatIsNoMessage(t *testing.T) {
	good := story(t).log
	var done, result string
	for _, m := range good {
		switch m.Type {
		case FixCompletion:
			done = m.Markdown()
		case RevalidationResult:
			result = m.Markdown()
		}
	}
	for name, c := range map[string]struct{ text, want string }{
		"nothing":                    {"", `no heading of a message, such as "## Fix Completion"`},
		"prose":                      {"I have fixed it.", "no heading of a message"},
		"too long":                   {strings.Repeat("a", 4<<20+1), "longer than"},
		"no identifier":              {strings.Replace(done, "Message ID", "Massage ID", 1), `the field "Message ID" is missing`},
		"identifier of another type": {strings.Replace(done, "FIXDONE-7-1", "FIXREQ-7-1", 1), `"FIXREQ-7-1" is not an identifier of a Fix Completion, which begins with FIXDONE-`},
		"a check in the identifier":  {strings.Replace(done, "FIXDONE-7-1", "FIXDONE-7-tests-1", 1), "names a check"},
		"a time in the identifier":   {strings.Replace(done, "FIXDONE-7-1", "FIXDONE-7-20260304T050607Z", 1), "does not end with an iteration"},
		"an unknown check":           {strings.Replace(result, "REVALRES-7-tests", "REVALRES-7-taste", 1), `no check "taste"`},
		"an invalid time":            {strings.Replace(done, "2026-03-04", "yesterday", 1), `the timestamp "yesterday`},
		"an unknown priority":        {strings.Replace(done, "High", "Highest", 1), `no priority "Highest"`},
		"an unknown result":          {strings.Replace(result, "**Status**: PASS", "**Status**: MAYBE", 1), `the status "MAYBE"`},
		"not ready":                  {strings.Replace(done, "Yes -", "No -", 1), "has to say \"Yes\""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse(c.text)
			var p *ParseError
			if !errors.As(err, &p) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	messages, err := ParseAll(result + "\n" + done)
	if err != nil || len(messages) != 2 || messages[1].Type != FixCompletion || messages[1].Iteration != 1 || len(messages[1].Files) != 2 {
		t.Errorf("%v, %+v", err, messages)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("## Fix Completion\n**Message ID**: FIXDONE-7-1\n")
	f.Add(`{"type": "fix_completion", "id": "FIXDONE-7-1", "fixes": ["a", "> b"], "files": [""]}`)
	f.Add("## Timeout Reminder\n**Elapsed**: 1:1:1:1\n- ****\n**")
	f.Fuzz(func(t *testing.T, src string) {
		if m, err := Parse(src); err == nil {
			if _, err := Parse(m.Markdown()); err != nil {
				t.Fatalf("%v\n%s", err, m.Markdown())
			}
		}
	})
}
