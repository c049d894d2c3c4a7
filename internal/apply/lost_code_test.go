package apply

import (
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/policy"
)

// TestTextsOfLostCode asserts that texts that go with lost changes carry a note or are held
// back.
func TestTextsOfLostCode(t *testing.T) {
	t.Parallel()
	texts := []string{aComment, aDiscussion, anIssue, `{"type":"create-pull-request-review-comment","path":"main.go","line":3,"body":"Inline."}`,
		`{"type":"update-issue","issue_number":5,"status":"closed","body":"Mended."}`, `{"type":"update-issue","issue_number":6,"operation":"append","body":"Mended, too."}`, aLabel, `{"type":"update-issue","issue_number":6,"status":"closed"}`}
	for _, late := range []bool{false, true} { // known when planning, or only when pushing
		for _, holdText := range []bool{false, true} {
			b := newCodeBench(t, func(f *githubtest.Fixture) {
				f.Issues = append(f.Issues, &githubtest.Issue{Number: 6, Title: "Another", Body: "Always."})
				if late {
					f.Repo.Protected = []string{"topic"}
				}
			})
			b.srv.SetFault(always("repos/get-branch", githubtest.Fault{Status: 404, Body: `{"message":"Branch not found"}`})) // its protection is not known
			b.onPull()
			anyTarget(b.bench)
			b.cfg.HoldText = holdText
			name := "x.txt"
			if !late {
				name = ".github/x.yml"
			}
			b.write(map[string]string{name: "x"})
			lines := append([]string{`{"type":"push-to-branch","pull_request_number":7}`}, texts...)
			r := b.run(lines...)
			first := "denied(protected-files)"
			if late {
				first = "failed(push-refused)"
			}
			if holdText {
				want(t, r, first+strings.Repeat(" skipped(held)", 6)+" applied applied")
				continue
			}
			want(t, r, first+strings.Repeat(" applied", 8))
			noted := 0
			for _, text := range b.texts() {
				if strings.Contains(text, "were not delivered") {
					noted++
				}
			}
			if noted != 6 {
				t.Errorf("late %t: %d of 6 texts carry the note:\n%s", late, noted, b.allText())
			}
		}
	}
}

// TestLostCodeIsKnownBeforehand asserts that the texts in the plan carry the note already, so that
// a dry run shows what would be written.
func TestLostCodeIsKnownBeforehand(t *testing.T) {
	t.Parallel()
	for name, item := range map[string]string{"secret": strings.ReplaceAll(aPull, "broken", "correct-horse-battery"), "violation": aPull} {
		b := newCodeBench(t)
		b.cfg.DryRun = true
		b.pull(func(s *policy.ChangeSettings) { s.OnViolation = policy.ViolationIssue })
		b.write(map[string]string{".github/x.yml": "x"})
		ops := b.plan(item, anIssue).Operations
		if body := string(ops[len(ops)-1].Requests[0].Body); !strings.Contains(body, "were not delivered") {
			t.Errorf("%s: %s", name, body)
		}
	}
}
