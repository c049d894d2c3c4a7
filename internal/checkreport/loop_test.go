package checkreport_test

import (
	"encoding/json"
	"testing"

	"github.com/agent-airlock/airlock/internal/checkreport"
	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/fixloop"
	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/toolreport"
)

func TestLoopResults(t *testing.T) {
	in := failing()
	raw, err := json.MarshalIndent(checkreport.New(in).LoopResults(), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "loop-results.json", string(raw)+"\n")
	results := checkreport.New(passing()).LoopResults()
	if len(results) == 0 {
		t.Error("passing checks have no results")
	}
	for _, r := range results {
		if r.Status != fixloop.ResultPass {
			t.Errorf("%+v", r)
		}
	}
}

func TestLoopResultsOfInformationalAndBrokenChecks(t *testing.T) {
	in := failing()
	in.Informational = []phase.Check{phase.Tests}
	in.Result.Reviews[0] = phase.CheckResult{Check: phase.CodeReview, Status: phase.Fail, Severity: finding.High, Problems: []string{"The review could not be done: it panicked: oh"}}
	in.Result.Output.Checks.CodeReview = phase.CodeReviewCheck{Status: phase.Fail, Severity: finding.High, Findings: in.Result.Reviews[0].Problems}
	in.Result.Missing = nil
	got := map[fixloop.Check]fixloop.Result{}
	for _, r := range checkreport.New(in).LoopResults() {
		got[r.Check] = r
	}
	if r := got[fixloop.Tests]; r.Status != fixloop.ResultPass {
		t.Errorf("tests that only inform: %+v", r)
	}
	if r := got[fixloop.CodeReview]; r.Status != fixloop.ResultError || r.Error != "it panicked: oh" {
		t.Errorf("a review that crashed: %+v", r)
	}
	if r := got[fixloop.Linter]; r.Status != fixloop.ResultFail || len(r.Failures) != 1 || r.Failures[0].Fingerprint == "" {
		t.Errorf("the linter: %+v", r)
	}
}

// TestATestIsKnownByItsName asserts that a failed test has the same fingerprint in each run, and
// that no other test has it, even if the names differ in a number only. Otherwise a loop in which
// one test after the other is mended would be stuck, and a comment would speak of another test.
func TestATestIsKnownByItsName(t *testing.T) {
	fingerprints := func(failures ...toolreport.Failure) (findings, loop []string) {
		in := failing()
		in.Result.Roots[0].Checks[3].Failures = failures
		d := checkreport.New(in)
		for _, f := range d.Findings {
			if f.Check == phase.Tests {
				findings = append(findings, f.Fingerprint)
			}
		}
		for _, r := range d.LoopResults() {
			for _, f := range r.Failures {
				if r.Check == fixloop.Tests {
					loop = append(loop, f.Fingerprint)
				}
			}
		}
		return findings, loop
	}
	findings, loop := fingerprints(
		toolreport.Failure{Name: "TestStep1", Path: "a_test.go", Line: 4, Message: "at 0xc0001: got 1"},
		toolreport.Failure{Name: "TestStep2", Path: "a_test.go", Line: 8, Message: "got 2"},
	)
	laterFindings, laterLoop := fingerprints(toolreport.Failure{Name: "TestStep2", Path: "a_test.go", Line: 7, Message: "got 3"})
	for _, p := range [][2][]string{{findings, laterFindings}, {loop, laterLoop}} {
		before, after := p[0], p[1]
		if len(before) != 2 || len(after) != 1 || before[0] == before[1] || before[1] != after[0] {
			t.Errorf("the second test is known as %v, and as %v once the first is mended", before, after)
		}
	}
}
