package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/githubtest"
)

// TestActionLoopWithAcceptance runs the jobs of a loop. At first a criterion of the issue is not
// met, then a criterion cannot be verified, and in the end all are met. A verdict about another
// commit is not used.
func TestActionLoopWithAcceptance(t *testing.T) {
	t.Parallel()
	j := newLoopJobs(t)
	const criteria = "## Acceptance criteria\n\n- [ ] docs/guide.md exists\n- [ ] README.md contains \"Hello\"\n"
	j.server.Change(func(f *githubtest.Fixture) {
		f.Issues[0].Body, f.Issues[1].Pull.Closes = criteria, []int{1}
	})
	runs := 0
	verify := func() string {
		runs++
		verdict, ok := j.verify(t, runs, acceptConfig)
		if !ok && os.Geteuid() == 0 {
			t.Fatal("root cannot verify")
		}
		return verdict
	}
	turn := func(verdict string, errors ...string) (result, map[string]string, string) {
		t.Helper()
		runs++
		event, payload := j.pushedBy("Codertocat")
		job := j.job(runs, event, payload, j.findings(errors...), map[string]string{"verdict": "verdict.json", "config": acceptConfig})
		writeFile(t, filepath.Join(job.dir, "verdict.json"), verdict)
		res := run(t, job.dir, job.environ, "", "action")
		if res.code != 0 {
			t.Fatalf("exit code %d\n%s", res.code, res.stdout)
		}
		return res, job.outputs(t), j.server.State().Issues[1].Comments[0].Body
	}

	// The checks pass, and the loop begins because of the criterion alone.
	first := verify()
	if first == "" {
		return // only root verifies on a runner
	}
	_, out, comment := turn(first)
	request := out["fix-request"]
	if out["loop-status"] != "AWAITING_FIX" || !strings.Contains(request, "docs/guide.md") || strings.Contains(request, "README.md contains") {
		t.Fatalf("%q", out)
	}
	if !strings.Contains(comment, "| acceptance | `AWAITING_FIX` | ac-1: docs/guide.md exists |") {
		t.Errorf("the loop's comment:\n%s", comment)
	}

	// The push adds the file, but its turn comes with the verdict about the commit before.
	j.push(map[string]string{"docs/guide.md": "Guide\n"})
	res, out, _ := turn(first)
	if out["loop-outcome"] != "" || !strings.Contains(res.stdout, "it is not used") || !strings.Contains(res.stdout, "give the step the input verdict") {
		t.Fatalf("%q\n%s", out, res.stdout)
	}

	// A criterion that nobody can verify escalates the loop, and uses up no iteration.
	j.server.Change(func(f *githubtest.Fixture) { f.Issues[0].Body = criteria + "- [ ] Everybody likes it\n" })
	_, out, comment = turn(verify())
	if out["loop-status"] != "ESCALATED" || !strings.Contains(comment, "iteration 2 of 5") || !strings.Contains(comment, "a person has to decide") {
		t.Fatalf("%q\n%s", out, comment)
	}

	// The person takes it out of the issue, and the next push is judged without it.
	j.server.Change(func(f *githubtest.Fixture) { f.Issues[0].Body = criteria })
	j.push(map[string]string{"docs/guide.md": "The guide\n"})
	_, out, comment = turn(verify())
	if out["loop-outcome"] != "success" || !strings.HasPrefix(comment, "### Fix loop: all checks passed") {
		t.Errorf("%q\n%s", out, comment)
	}
	// The unmet criterion led to a fix request without a failure report.
	if log := j.git.Run("show", "refs/airlock/loops/2-1:log.md"); strings.Contains(log, "VFR-2-") || !strings.Contains(log, "FIXREQ-2-1") {
		t.Errorf("the log:\n%s", log)
	}
}
