package checkreport_test

import (
	"encoding/json"
	"testing"

	"github.com/agent-airlock/airlock/internal/checkreport"
	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/fixloop"
	"github.com/agent-airlock/airlock/internal/phase"
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
