package phase_test

import (
	"encoding/json"
	"errors"
	"os"
	"testing"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/google/go-cmp/cmp"
)

func readSpec(t *testing.T, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile("testdata/spec/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// sameJSON compares two documents as values, so that layout does not matter.
func sameJSON(t *testing.T, want, got []byte) {
	t.Helper()
	var w, g any
	if err := json.Unmarshal(want, &w); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(got, &g); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(w, g); diff != "" {
		t.Error(diff)
	}
}

func TestInvalidInputIsExampleFour(t *testing.T) {
	t.Parallel()
	_, err := phase.ReadInput(readSpec(t, "example4-request.json"))
	var invalid *phase.InvalidInput
	if !errors.As(err, &invalid) {
		t.Fatal(err)
	}
	out, err := phase.Refused(invalid.Problems).Encode()
	if err != nil {
		t.Fatal(err)
	}
	sameJSON(t, readSpec(t, "example4-response.json"), out)
}

func TestTheSpecsResponsesPassThroughTheOutput(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"example1-response.json", "example2-response.json", "example3-response.json", "example4-response.json"} {
		var o phase.Output
		if err := json.Unmarshal(readSpec(t, name), &o); err != nil {
			t.Fatal(err)
		}
		out, err := o.Encode()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		sameJSON(t, readSpec(t, name), out)
	}
}

func TestWrongOutputIsNotEncoded(t *testing.T) {
	t.Parallel()
	breaks := map[string]func(*phase.Output){
		"no status":                    func(o *phase.Output) { o.Status = "" },
		"all of it skipped":            func(o *phase.Output) { o.Status = phase.Skipped },
		"a skipped formatter":          func(o *phase.Output) { o.Checks.Formatter.Status = phase.Skipped },
		"negative time":                func(o *phase.Output) { o.Time = -1 },
		"a critical code review":       func(o *phase.Output) { o.Checks.CodeReview.Severity = finding.Critical },
		"a total that is not the sum":  func(o *phase.Output) { o.TotalRetries = 7 },
		"critical, unflagged":          func(o *phase.Output) { o.Critical = false },
		"failing tests that pass":      func(o *phase.Output) { o.Checks.Tests.Failing = 2 },
		"issues of a passing check":    func(o *phase.Output) { o.Checks.Linter.Issues = []string{"x"} },
		"a severity without a finding": func(o *phase.Output) { o.Checks.CodeReview.Severity = finding.Low },
		"a finding without severity":   func(o *phase.Output) { o.Checks.CodeReview.Findings = []string{"x"} },
	}
	for name, spoil := range breaks {
		var o phase.Output
		if err := json.Unmarshal(readSpec(t, "example3-response.json"), &o); err != nil {
			t.Fatal(err)
		}
		spoil(&o)
		if out, err := o.Encode(); err == nil {
			t.Errorf("%s: encoded as\n%s", name, out)
		}
	}
}
