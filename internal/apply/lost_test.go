package apply

import (
	"strings"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/githubtest"
)

func TestLostAnswersAreReadBack(t *testing.T) {
	for _, tt := range []struct {
		name, operation, line string
		pull                  bool
	}{
		{"issue", "issues/create", anIssue, false},
		{"comment", "issues/create-comment", aComment, false},
		{"discussion", "graphql/CreateDiscussion", aDiscussion, false},
		{"labels", "issues/add-labels", aLabel, false},
		{"review", "pulls/create-review", reviewLine("main.go", 3, "Why?"), true},
		{"review in its body only", "pulls/create-review", reviewLine("main.go", 333, "Why?"), true},
	} {
		for fault, f := range map[string]githubtest.Fault{
			"502 after the write":     githubtest.ServerError(502, true),
			"502 before the write":    githubtest.ServerError(502, false),
			"cut after the write":     {Cut: true, After: true},
			"cut in the answer":       {CutBody: true},
			"no JSON after the write": githubtest.NotJSON(true),
			"late, after the write":   {Delay: time.Minute, After: true},
			"late, before the write":  {Delay: time.Minute},
		} {
			for _, lag := range []time.Duration{0, 25 * time.Second} {
				t.Run(tt.name+"/"+fault+"/lag "+lag.String(), func(t *testing.T) {
					b := newBench(t, fixture(), githubtest.Options{Lag: lag})
					if tt.pull {
						b.on("pull_request", pullNumber)
					}
					b.srv.SetFault(once(tt.operation, f))
					want(t, b.run(tt.line), "applied")
					effects := 0
					for _, w := range b.srv.Writes() {
						if w.Effect && w.Operation == tt.operation {
							effects++
						}
					}
					if tt.name != "labels" && effects != 1 {
						t.Errorf("it was done %d times: %v", effects, operations(b.srv.Writes()))
					}
				})
			}
		}
	}
}

// What was refused at the second try may have been done at the first: nobody may
// read that it certainly was not.
func TestARefusalAfterALostAnswerStaysAmbiguous(t *testing.T) {
	for operation, line := range map[string]string{
		"issues/add-labels":          aLabel,
		"issues/update":              `{"type":"update-issue","title":"New","issue_number":5}`,
		"code-scanning/upload-sarif": alert("main.go", 3, "Found.", ""),
	} {
		for name, refusal := range map[string]githubtest.Fault{
			"404": githubtest.NotThere(),
			"403": {Status: 403, Body: `{"message":"Resource not accessible by integration"}`},
			"422": githubtest.OutsideDiff(),
		} {
			t.Run(operation+"/"+name, func(t *testing.T) {
				b := newBench(t, fixture(), githubtest.Options{})
				b.srv.SetFault(githubtest.Faults([]githubtest.FaultRule{
					{Operation: operation, Times: 1, Fault: githubtest.ServerError(502, true)},
					{Operation: operation, Fault: refusal}}))
				results := b.run(line)
				want(t, results, "failed(ambiguous)")
				if !strings.Contains(results[0].Message, "may or may not have happened") || !strings.Contains(results[0].Message, "trying again led to") {
					t.Errorf("message %q", results[0].Message)
				}
			})
		}
	}
}

func TestNoRetryWhereLookingIsImpossible(t *testing.T) {
	b := newBench(t, fixture(), githubtest.Options{})
	lost := false
	b.srv.SetFault(func(r githubtest.Request) githubtest.Fault {
		switch {
		case r.Operation == "issues/create":
			lost = true
			return githubtest.ServerError(502, true)
		case r.Operation == "issues/list-for-repo" && lost:
			return githubtest.ServerError(503, false)
		}
		return githubtest.Fault{}
	})
	want(t, b.run(anIssue), "failed(ambiguous)")
	if n := count(operations(b.srv.Writes()), "issues/create"); n != 1 {
		t.Errorf("%d writes: a second one could double the issue", n)
	}
}

// A list that cannot be read may hold what an earlier attempt posted.
func TestNoReviewWhereLookingIsImpossible(t *testing.T) {
	for _, list := range []string{"pulls/list-reviews", "pulls/list-review-comments"} {
		t.Run(list, func(t *testing.T) {
			b := newBench(t, fixture(), githubtest.Options{}).on("pull_request", pullNumber)
			lines := []string{reviewLine("main.go", 3, "Inline."), reviewLine("main.go", 333, "Outside.")}
			want(t, b.run(lines...), "applied applied")
			b.cfg.Run.Attempt = 2
			b.srv.SetFault(times(100, list, githubtest.NotThere()))
			want(t, b.run(lines...), "failed(not-found) failed(not-found)")
			if n := len(b.srv.Writes()); n != 1 {
				t.Errorf("%d writes: a second one doubles the comments", n)
			}
		})
	}
}
