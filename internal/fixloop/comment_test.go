package fixloop

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/markdown"
)

func TestCommands(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "none",
		"Looks good":               "none",
		"see /airlock abort":       "none",
		"> /airlock abort":         "none",
		"`/airlock abort`":         "none",
		"/airlocked abort":         "none",
		"Thanks\n/airlock abort":   "none",
		"/airlock abort":           "abort 0",
		"\r\n  /airlock   retry  ": "retry 0",
		"/airlock fixed\nbecause":  "fixed 0",
		"/airlock skip\r\nwhy":     "skip 0",
		"/airlock extend":          "extend 0",
		"/airlock extend 12":       "extend 12",
		"/airlock":                 "error",
		"/airlock dance":           "error",
		"/airlock extend three":    "error",
		"/airlock extend -1":       "error",
		"/airlock extend 1 2":      "error",
		"/airlock abort now":       "error",
		"/airlock ABORT":           "error",
	} {
		e, found, err := ParseCommand(text)
		got := fmt.Sprintf("%s %d", e.Decision, e.N)
		switch {
		case err != nil:
			got = "error"
			if !strings.Contains(err.Error(), "write /airlock followed by") {
				t.Errorf("%q: %v", text, err)
			}
		case !found:
			got = "none"
		}
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestComment(t *testing.T) {
	p := begun(t, Loop{Limits: Limits{Iterations: 2}})
	p.wait(time.Minute).results(failing(Tests, "TestTotal @octocat failed", "b"))
	golden(t, "comment_fix.md", p.state.Comment(p.log, "log entry 3, 0123456789abcdef0123"))
	golden(t, "posted_fix_request.md", p.state.Posted(*p.state.Work().Request, true))
	p.fix("tried")
	golden(t, "comment_checking.md", p.state.Comment(p.log, ""))
	messages := p.results(failing(Tests, "c"))
	golden(t, "comment_escalated.md", p.state.Comment(p.log, ""))
	for _, m := range messages {
		if m.Type == Escalation {
			golden(t, "posted_escalation.md", p.state.Posted(m, true))
		}
	}
	p.send(Event{Type: EventDecision, Decision: DecideSkip, By: "alice"})
	golden(t, "comment_ended.md", p.state.Comment(p.log, ""))
	title, body := p.state.FollowUp()
	golden(t, "follow_up.md", "# "+title+"\n\n"+body)
}

func TestALongHistoryIsCut(t *testing.T) {
	p := begun(t, Loop{Limits: Limits{Iterations: 100}})
	for i := range 60 {
		p.results(failing(Tests, "failure "+strings.Repeat("x", i)))
		p.fix("tried")
	}
	got := p.state.Comment(p.log, "")
	if n := strings.Count(got, "\n- "); n != maxHistory+1 || !strings.Contains(got, "earlier messages: see the log") || len(got) > 20_000 {
		t.Errorf("%d lines, %d bytes", n, len(got))
	}
}

func TestTheFoldStaysWithinItsLimit(t *testing.T) {
	messages := make([]Message, maxHistory)
	for i := range messages {
		messages[i] = Message{Type: FixCompletion, ID: fmt.Sprintf("FIXDONE-1-%d", i), Summary: strings.Repeat("&", maxName)}
	}
	messages[0].Summary = "short" // it would fit, but is older than one that does not
	var p page
	p.fold(messages)
	listed, size := 0, 0
	for line := range strings.Lines(p.String()) {
		if strings.HasPrefix(line, "- 0001-01-01") {
			listed++
			size += markdown.UTF16Len(line)
		}
	}
	if size > maxFold || size < maxFold*9/10 || strings.Contains(p.String(), "short") {
		t.Errorf("%d messages are listed, in %d code units", listed, size)
	}
	if !strings.Contains(p.String(), fmt.Sprintf("\n- %d earlier messages: see the log\n", maxHistory-listed)) {
		t.Errorf("it does not count the others: %.300s", p.String())
	}
}
