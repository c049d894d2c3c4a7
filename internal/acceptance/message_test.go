package acceptance_test

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/acceptance"
)

func read(t *testing.T, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// The spec's two examples are read, and the response is written as it was.
func TestSpecExamples(t *testing.T) {
	req, err := acceptance.ReadRequest(read(t, "spec-request.json"))
	if err != nil || len(req.Criteria) != 2 || req.Branch != "epic4-validation-teammate" || len(req.Claim.Files) != 3 {
		t.Fatalf("%+v, %v", req, err)
	}
	golden := read(t, "spec-response.json")
	r, err := acceptance.ReadResponse(golden)
	if err != nil {
		t.Fatal(err)
	}
	if violations := r.Mismatches(req); violations != nil {
		t.Errorf("the examples do not belong together: %v", violations)
	}
	raw, err := r.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(value(t, golden), value(t, raw)); diff != "" {
		t.Errorf("(-spec +written):\n%s", diff)
	}
}

func value(t *testing.T, raw []byte) (v any) {
	t.Helper()
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// A message is read in each of its forms, also in one another.
func TestForms(t *testing.T) {
	raw := string(read(t, "spec-request.json"))
	text, _ := json.Marshal(raw)
	prompt := "You are a validator.\n\n    ## Request\n    ```json\n    " + strings.ReplaceAll(raw, "\n", "\n    ") + "\n    ```\n\nGo."
	fenced, _ := json.Marshal(prompt)
	for name, message := range map[string]string{
		"raw": raw, "byte order mark": "\uFEFF\r\n" + raw, "string": string(text), "fenced": prompt, "other block first": "```sh\nls\n```\n" + prompt,
		"tilde": "~~~~\n" + raw + "~~~~\n", "not closed": "```json\n" + raw, "no language": "Look:\n```\n" + raw + "\n```\nand\n```\n{}\n```",
		"envelope":           `{"type":"message","recipient":"x","content":` + string(text) + `,"summary":"s"}`,
		"envelope of prompt": `{"type":"message","recipient":"x","content":` + string(fenced) + `}`,
		"envelope of object": `{"content":` + raw + `}`,
	} {
		req, err := acceptance.ReadRequest([]byte(message))
		if err != nil || req.TaskID != "claude-harness-setup-5j8t" {
			t.Errorf("%s: %+v, %v", name, req.TaskID, err)
		}
	}
}

// Each error about a bad message says where and what is wrong.
func TestInvalidRequests(t *testing.T) {
	for message, want := range map[string]string{
		"": "$: the message is empty", "hello": "neither JSON nor", "[1]": "a JSON object is expected, and the message is '[1]'", "{": "$: ", "null": "a JSON object is expected", `"` + "\x00": "not a JSON string",
		`{}`: "$.task_id", `{"task_id":"a","task_id":"b","validation_type":"code","acceptance_criteria":[{"id":"A","description":"d","validation_hint":""}]}`: "given twice",
		`{"task_id":"a","validation_type":"code","acceptance_criteria":[]}`:                                                                                                                                       "$.acceptance_criteria",
		`{"task_id":"a","validation_type":"code","acceptance_criteria":[{"id":"A","description":"d","validation_hint":""},{"id":"A","description":"d","validation_hint":""}]}`:                                    "$.acceptance_criteria[1].id",
		`{"task_id":"a","validation_type":"code","timeout_seconds":0,"worktree_path":"x","services":{"required_ports":[70000]},"acceptance_criteria":[{"id":"A","description":"d","validation_hint":""}]}`:        "$.services.required_ports[0]",
		`{"task_id":"a","prd_id":"X","validation_type":"code","acceptance_criteria":[{"id":" ","description":"d","validation_hint":1}],"claimed_evidence":{"commit_hash":"--upload-pack=x"},"focus_areas":"all"}`: "$.claimed_evidence.commit_hash",
		strings.Repeat(`{"content":`, 10) + `""` + strings.Repeat("}", 10):                                                                                                                                        "up to 4 deep",
		strings.Repeat("[", 100_000):           "neither",
		`{"a":` + strings.Repeat("[", 100_000): "$",
	} {
		_, err := acceptance.ReadRequest([]byte(message))
		var invalid *acceptance.InvalidError
		if !errors.As(err, &invalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want %q", message, err, want)
			continue
		}
		raw, err := invalid.Answer()
		if err != nil || !strings.Contains(string(raw), `"ValidationRequest"`) || !strings.Contains(string(raw), `"validation_errors"`) {
			t.Errorf("%.60q: %s, %v", message, raw, err)
		}
	}
}

// Spec 001 asks for a time as ISO 8601 writes it, which many programs write without a zone.
func TestTimestamps(t *testing.T) {
	response := func(timestamp string) error {
		_, err := acceptance.ReadResponse([]byte(`{"task_id":"a","timestamp":"` + timestamp + `","verdict":"PASS","criteria_results":[{"criterion_id":"A","status":"PASS","evidence":"e"}]}`))
		return err
	}
	for _, timestamp := range []string{"2026-02-17T14:30:00Z", "2026-02-17t14:30:00z", "2026-02-17T14:30:00", "2026-02-17T14:30:00.123456", "2026-02-17 14:30:00,5+01", "2026-02-17T14:30-08:00", "2026-02-17T14:30:00+0545"} {
		if err := response(timestamp); err != nil {
			t.Errorf("%s: %v", timestamp, err)
		}
	}
	for _, timestamp := range []string{"", "now", "2026-02-17", "14:30:00Z", "17.02.2026 14:30:00", "2026-02-17T14:30:00Z, about", "1771338600", "2026-02-17T14:30:00 CET"} {
		if err := response(timestamp); err == nil || !strings.Contains(err.Error(), "$.timestamp") {
			t.Errorf("%s: %v", timestamp, err)
		}
	}
}

// All violations are reported at once: those of the schema, and those that it cannot express.
func TestAllViolationsAtOnce(t *testing.T) {
	_, request := acceptance.ReadRequest([]byte(`{"task_id":"T","acceptance_criteria":[{"id":"A"},{"id":"A","description":"d","validation_hint":"h"},{},{}]}`))
	_, response := acceptance.ReadResponse([]byte(`{"task_id":"a","timestamp":"now","verdict":"PASS","criteria_results":[{"criterion_id":"A","status":"FAIL","evidence":"e"},{"criterion_id":"A","status":"FAIL","evidence":"e"}]}`))
	for _, tt := range []struct {
		err  error
		want string
	}{
		{request, "$.acceptance_criteria[0].description $.acceptance_criteria[0].validation_hint $.acceptance_criteria[1].id $.acceptance_criteria[2].description $.acceptance_criteria[2].id " +
			"$.acceptance_criteria[2].validation_hint $.acceptance_criteria[3].description $.acceptance_criteria[3].id $.acceptance_criteria[3].validation_hint $.task_id $.validation_type"},
		{response, "$.criteria_results[1].criterion_id $.timestamp $.verdict"},
	} {
		var invalid *acceptance.InvalidError
		if !errors.As(tt.err, &invalid) {
			t.Fatal(tt.err)
		}
		var paths []string
		for _, v := range invalid.Violations {
			paths = append(paths, v.Path)
		}
		slices.Sort(paths)
		if got := strings.Join(paths, " "); got != tt.want {
			t.Errorf("%s\nwant %s", got, tt.want)
		}
	}
}

// A response is not valid if its verdict does not follow, if it judges a criterion twice, or if a
// value is missing or not allowed.
func TestInvalidResponses(t *testing.T) {
	head := `{"task_id":"a","timestamp":"2026-02-17T14:30:00Z",`
	for rest, want := range map[string]string{
		`"verdict":"PASS","criteria_results":[{"criterion_id":"A","status":"FAIL","evidence":"e"}]}`:                                                     "FAIL follows",
		`"verdict":"PASS","criteria_results":[{"criterion_id":"A","status":"PASS","evidence":"e"},{"criterion_id":"A","status":"PASS","evidence":"e"}]}`: "has a result already",
		`"verdict":"BLOCKED","confidence":2,"criteria_results":[{"criterion_id":"A","status":"SKIP","evidence":"e"}]}`:                                   "$.confidence",
		`"verdict":"PASS","criteria_results":[{"criterion_id":"A","status":"PASS","evidence":""}]}`:                                                      "$.criteria_results[0].evidence: it is blank",
		`"verdict":"PASS","criteria_results":[{"criterion_id":"A","status":"PASS","evidence":" \u200b\u2003"}]}`:                                         "it is blank, and PASS needs evidence",
		`"verdict":"PASS","criteria_results":[]}`:                                                    "$.criteria_results",
		`"verdict":"PASS","criteria_results":[{"criterion_id":"A","status":"pass","evidence":"e"}]}`: "$.criteria_results[0].status",
	} {
		if _, err := acceptance.ReadResponse([]byte(head + rest)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", rest, err, want)
		}
	}
}

// An integer of a response may be written in each form that the schema accepts.
func TestIntegersOfAResponse(t *testing.T) {
	r, err := acceptance.ReadResponse([]byte(strings.NewReplacer(`"exit_code":1,`, `"exit_code":3221225786,"passed":2e0,`, `"status_code":200`, `"status_code":200.0`).Replace(secretAnswer)))
	if err != nil {
		t.Fatal(err)
	}
	if e := *r.Evidence; e.Tests[0].ExitCode != 3221225786 || *e.Tests[0].Passed != 2 || e.Answers[0].Status != 200 {
		t.Errorf("%+v", e)
	}
}

func TestVerdict(t *testing.T) {
	for statuses, want := range map[string]acceptance.Verdict{
		"PASS": "PASS", "FAIL": "FAIL", "PASS FAIL": "PARTIAL", "FAIL BLOCKED": "FAIL", "PASS FAIL BLOCKED": "PARTIAL", "PASS BLOCKED": "BLOCKED", "PASS SKIP": "PASS",
		"SKIP SKIP": "BLOCKED", "FAIL SKIP": "FAIL", "SKIP BLOCKED": "BLOCKED", "": "BLOCKED",
	} {
		var list []acceptance.Status
		for _, s := range strings.Fields(statuses) {
			list = append(list, acceptance.Status(s))
		}
		if got := acceptance.VerdictOf(list); got != want {
			t.Errorf("%s: %s, want %s", statuses, got, want)
		}
	}
}

// TestWholeNumbers asserts that an integer may be written in each form that the schema accepts.
func TestWholeNumbers(t *testing.T) {
	t.Parallel()
	r, err := acceptance.ReadRequest([]byte(`{"task_id":"a","validation_type":"code","timeout_seconds":6e1,"services":{"required_ports":[8080.0]},"acceptance_criteria":[{"id":"A","description":"d","validation_hint":""}]}`))
	if err != nil || r.Timeout != 60 || len(r.Services.Ports) != 1 || r.Services.Ports[0] != 8080 {
		t.Errorf("%+v, %v", r, err)
	}
}
