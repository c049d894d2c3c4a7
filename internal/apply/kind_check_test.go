package apply

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/google/go-cmp/cmp"
)

// checked returns an item for a check run with n annotations.
func checked(n int) intake.OwnItem {
	it := &safeoutput.CheckRun{Name: "checks", HeadSHA: headSHA, Conclusion: "failure", Title: "Findings", Summary: "There are some.", Text: "| a | b |"}
	for i := range n {
		it.Annotations = append(it.Annotations, safeoutput.CheckAnnotation{Path: "main.go", StartLine: i + 1, EndLine: i + 2, Level: "warning", Title: "rule", Message: fmt.Sprint("Finding ", i, ".")})
	}
	return intake.OwnItem{Item: it}
}

func decoded(t *testing.T, raw []byte) (v any) {
	t.Helper()
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// checkRuns describes the server's check runs. It asserts that their annotations are those of
// checked, in order.
func (b *bench) checkRuns() []string {
	var out []string
	for _, k := range b.srv.State().Checks {
		last := 0
		for i, a := range k.Annotations {
			if a.Message != fmt.Sprint("Finding ", i, ".") {
				b.t.Errorf("annotation %d is %q", i, a.Message)
			}
			last = a.StartLine
		}
		out = append(out, fmt.Sprintf("%s %s %s: %s, %d annotations, last line %d", k.Name, k.Conclusion, k.Title, k.Summary, len(k.Annotations), last))
	}
	return out
}

const (
	with120 = "checks failure Findings: There are some., 120 annotations, last line 120"
	with0   = "checks failure Findings: There are some., 0 annotations, last line 0"
)

func TestCheckRun(t *testing.T) {
	b := ownBench(t, githubtest.Options{})
	b.srv.Change(func(f *githubtest.Fixture) { // the same name, of another app
		f.Checks = append(f.Checks, &githubtest.Check{Name: "checks", HeadSHA: headSHA, Conclusion: "success", ExternalID: "x"})
	})
	plan := b.planOf(b.approve([]intake.OwnItem{checked(120)}))
	if got := PermissionsBlock(plan.Permissions); got != "permissions:\n  contents: read\n  checks: write\n" {
		t.Errorf("the block says\n%s", got)
	}
	if n := len(plan.Operations[0].Requests); n != 3 || plan.Operations[0].Target != "commit aaaaaaa" {
		t.Errorf("%d requests on %s", n, plan.Operations[0].Target)
	}
	for i, r := range b.runOwn([]intake.OwnItem{checked(120)}) {
		if r.State != Applied || r.Object == nil || r.Object.URL == "" || r.Object.SHA != headSHA {
			t.Errorf("result %d: %+v", i, r)
		}
	}
	for i, w := range b.srv.Writes() {
		planned := plan.Operations[0].Requests[i]
		if diff := cmp.Diff(decoded(t, planned.Body), decoded(t, w.Body)); diff != "" || w.Method != planned.Method {
			t.Errorf("request %d, %s, planned as %s (-planned +sent):\n%s", i, w.Method, planned.Method, diff)
		}
	}
	other := "checks success : , 0 annotations, last line 0"
	b.cfg.Run.Attempt = 2
	want(t, b.runOwn([]intake.OwnItem{checked(120)}), "adopted")
	if diff := cmp.Diff([]string{other, with120}, b.checkRuns()); diff != "" {
		t.Errorf("check runs (-want +got):\n%s", diff)
	}
	// Other annotations make another check run, and so does another workflow run.
	want(t, b.runOwn([]intake.OwnItem{checked(0)}), "applied")
	want(t, b.push().runOwn([]intake.OwnItem{checked(120)}), "applied")
	if diff := cmp.Diff([]string{other, with120, with0, with120}, b.checkRuns()); diff != "" {
		t.Errorf("check runs (-want +got):\n%s", diff)
	}
}

// A check run of another app is not ours, though it has our name and our external id.
func TestCheckRunOfAnotherApp(t *testing.T) {
	first := ownBench(t, githubtest.Options{})
	want(t, first.runOwn([]intake.OwnItem{checked(1)}), "applied")
	copied := *first.srv.State().Checks[0]
	copied.Author, copied.Conclusion = githubtest.Account{Login: "other-app[bot]", ID: 4711}, "success"
	b := ownBench(t, githubtest.Options{})
	b.srv.Change(func(f *githubtest.Fixture) { f.Checks = append(f.Checks, &copied) })
	want(t, b.runOwn([]intake.OwnItem{checked(1)}), "applied")
	one := " Findings: There are some., 1 annotations, last line 1"
	if diff := cmp.Diff([]string{"checks success" + one, "checks failure" + one}, b.checkRuns()); diff != "" {
		t.Errorf("check runs (-want +got):\n%s", diff)
	}
}

// Killed before or after any of its requests, a check run is completed by the next
// attempt, without an annotation twice.
func TestCheckRunIsCompleted(t *testing.T) {
	for n := 1; n < 20; n++ {
		for _, after := range []bool{false, true} {
			b := ownBench(t, githubtest.Options{Lag: 5 * time.Second})
			approved := b.approve([]intake.OwnItem{checked(120)})
			first, _ := b.process(context.Background(), &killer{next: b.srv.Transport(), left: n, after: after}, b.clock, approved)
			b.cfg.Run.Attempt = 2
			results, err := b.process(context.Background(), b.srv.Transport(), b.clock, approved)
			if err != nil || len(results) != 1 || results[0].State != Applied && results[0].State != Adopted {
				t.Errorf("killed at %d (%v): %s, %v", n, after, states(results), err)
			}
			if diff := cmp.Diff([]string{with120}, b.checkRuns()); diff != "" {
				t.Errorf("killed at %d (%v), check runs (-want +got):\n%s", n, after, diff)
			}
			if first != nil { // it ended before the kill
				return
			}
		}
	}
	t.Error("it never ended")
}

// Annotations that an attempt sent just before it was killed are waited for.
func TestLateAnnotationsAreNotDoubled(t *testing.T) {
	b := ownBench(t, githubtest.Options{})
	approved := b.approve([]intake.OwnItem{checked(120)})
	b.srv.SetFault(always("checks/update", githubtest.Fault{Late: 20 * time.Second}))
	if first, _ := b.process(context.Background(), &killer{next: b.srv.Transport(), left: 4, after: true}, b.clock, approved); first != nil {
		t.Fatalf("it was not killed: %s", states(first))
	}
	b.srv.SetFault(nil)
	b.cfg.Run.Attempt = 2
	results, err := b.process(context.Background(), b.srv.Transport(), b.clock, approved)
	if err != nil || states(results) != "applied" {
		t.Errorf("%s, %v", states(results), err)
	}
	b.clock.Advance(time.Minute)
	if diff := cmp.Diff([]string{with120}, b.checkRuns()); diff != "" {
		t.Errorf("check runs (-want +got):\n%s", diff)
	}
}

func TestCheckRunWhoseAnswersAreLost(t *testing.T) {
	faults := map[string]githubtest.Fault{
		"cut before": {Cut: true}, "cut after": {Cut: true, After: true},
		"502 after": githubtest.ServerError(502, true), "late": {Late: 8 * time.Second},
	}
	for _, op := range []string{"checks/create", "checks/update"} {
		for name, f := range faults {
			t.Run(op+" "+name, func(t *testing.T) {
				b := ownBench(t, githubtest.Options{Lag: 3 * time.Second})
				b.srv.SetFault(once(op, f))
				want(t, b.runOwn([]intake.OwnItem{checked(120)}), "applied")
				if diff := cmp.Diff([]string{with120}, b.checkRuns()); diff != "" {
					t.Errorf("check runs (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// With a token that lacks the permission "checks: write", only the check runs fail, and the message
// names the permission. With the token of a fork's pull request they are skipped.
func TestCheckRunWithoutPermission(t *testing.T) {
	mayNot := func(b *bench) {
		b.srv.Change(func(f *githubtest.Fixture) {
			f.Tokens = []githubtest.Token{{Secret: "ghs_test", Permissions: map[string]string{"pull_requests": "write", "contents": "read"}}}
		})
	}
	items := append([]intake.OwnItem{checked(60), checked(2)}, append(sticky("A."), found("one", 3))...)
	for _, private := range []bool{false, true} { // in a private repository the list cannot be read either
		b := ownBench(t, githubtest.Options{})
		mayNot(b)
		b.srv.Change(func(f *githubtest.Fixture) { f.Repo.Private = private })
		results := b.runOwn(items)
		want(t, results, "failed(permission) failed(permission) applied applied")
		if !strings.Contains(results[0].Message, "checks: write") && !strings.Contains(results[0].Message, "checks: read") {
			t.Errorf("the message does not name the missing permission: %s", results[0].Message)
		}
		if n := count(operations(b.srv.Writes()), "checks/create"); n > 1 {
			t.Errorf("it was tried %d times", n)
		}
		b.ev.Fork = true
		want(t, b.runOwn(items[:2]), "skipped(fork-read-only) skipped(fork-read-only)")
	}
}

// The conclusion is reported even if GitHub refuses annotations, but not for an unknown commit.
func TestCheckRunWithRefusedAnnotations(t *testing.T) {
	for refused, wanted := range map[string]string{"Finding 3.": "70 annotations", "Finding 70.": "70 annotations"} {
		b := ownBench(t, githubtest.Options{})
		b.srv.SetFault(func(r githubtest.Request) githubtest.Fault {
			if r.Write && strings.Contains(string(r.Body), `"`+refused+`"`) {
				return githubtest.Fault{Status: http.StatusUnprocessableEntity, Body: `{"message":"Invalid request","errors":["annotations is not valid"]}`}
			}
			return githubtest.Fault{}
		})
		results := b.runOwn([]intake.OwnItem{checked(120)})
		want(t, results, "applied")
		if !slices.ContainsFunc(results[0].Notes, func(n string) bool { return strings.Contains(n, "did not accept 50 annotations") }) {
			t.Errorf("notes %q", results[0].Notes)
		}
		k := b.srv.State().Checks[0]
		if got := fmt.Sprint(len(k.Annotations), " annotations"); got != wanted || k.Conclusion != "failure" {
			t.Errorf("%s: %s, %s", refused, k.Conclusion, got)
		}
	}
	b := ownBench(t, githubtest.Options{})
	gone := checked(1)
	gone.Item.(*safeoutput.CheckRun).HeadSHA = strings.Repeat("f", 40)
	want(t, b.runOwn([]intake.OwnItem{gone}), "failed(validation)")
}
