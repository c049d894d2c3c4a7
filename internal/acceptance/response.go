package acceptance

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/agent-airlock/airlock/internal/schema"
)

// Response is the answer to a request, as in spec 001, with the members that Airlock adds.
type Response struct {
	TaskID     string            `json:"task_id"`
	Verdict    Verdict           `json:"verdict"`
	Results    []CriterionResult `json:"criteria_results"`
	Evidence   *Evidence         `json:"evidence_collected,omitempty"`
	Claims     []ClaimResult     `json:"claims,omitempty"`
	Gates      []Gate            `json:"gates,omitempty"`
	NextStep   NextStep          `json:"next_step,omitempty"`
	Reasoning  string            `json:"reasoning,omitempty"`
	Confidence *float64          `json:"confidence,omitempty"` // 0 to 1
	Duration   float64           `json:"duration_seconds"`
	Timestamp  string            `json:"timestamp"` // ISO 8601
	Validator  string            `json:"validator_id,omitempty"`
	// Dispatch is the dispatch that is answered; "" stands for the task's newest.
	Dispatch string `json:"dispatch_id,omitempty"`
}

// CriterionResult is the result for one criterion.
type CriterionResult struct {
	ID          string `json:"criterion_id"`
	Status      Status `json:"status"`
	Evidence    string `json:"evidence"`
	Remediation string `json:"remediation,omitempty"` // only if it failed or is blocked
}

// ClaimResult is the result of checking one claim.
type ClaimResult struct {
	Claim    string `json:"claim"`
	Status   Status `json:"status"`
	Evidence string `json:"evidence"`
}

// Evidence is what was collected.
type Evidence struct {
	Screenshots []Screenshot  `json:"screenshots,omitempty"`
	Tests       []TestResult  `json:"test_results,omitempty"`
	Answers     []APIResponse `json:"api_responses,omitempty"`
	FileChecks  []FileCheck   `json:"file_checks,omitempty"`
	Files       []File        `json:"files,omitempty"` // in the evidence directory
}

// Screenshot is a picture that a browser took.
type Screenshot struct {
	Path        string `json:"path"`
	Description string `json:"description,omitempty"`
	Step        any    `json:"step,omitempty"`
}

// TestResult is a command that ran. The numbers of tests are nil where they are not known.
type TestResult struct {
	Command  string `json:"command"`
	ExitCode int    `json:"exit_code"`
	Passed   *int   `json:"passed,omitempty"`
	Failed   *int   `json:"failed,omitempty"`
	Skipped  *int   `json:"skipped,omitempty"`
	Snippet  string `json:"output_snippet,omitempty"` // at most 500 characters
}

// APIResponse is the answer to an HTTP request.
type APIResponse struct {
	Endpoint string `json:"endpoint"`
	Method   string `json:"method"`
	Status   int    `json:"status_code"`
	Snippet  string `json:"response_snippet,omitempty"` // at most 500 characters
}

// FileCheck is a path that was looked at.
type FileCheck struct {
	Path     string `json:"path"`
	Exists   bool   `json:"exists"`
	Size     int64  `json:"size_bytes,omitempty"`
	Contains *bool  `json:"contains_expected,omitempty"`
	Note     string `json:"note,omitempty"`
}

// File is a file in the evidence directory.
type File struct {
	Path        string `json:"path"` // relative to the directory
	CriterionID string `json:"criterion_id,omitempty"`
	Description string `json:"description,omitempty"`
}

// ReadResponse reads a response from a message in any of the forms that Unwrap knows, and
// checks that it does not contradict itself: each criterion has one result, none passes without
// evidence, and the verdict follows from them. The error is an *InvalidError unless Airlock itself failed.
func ReadResponse(message []byte) (Response, error) {
	r, _, err := readMessage[Response](message, ResponseSchema)
	return r, err
}

// contradictions returns the violations that a schema cannot express.
func (r Response) contradictions() (out []schema.Violation) {
	seen := map[string]bool{}
	for i, c := range r.Results {
		if seen[c.ID] && c.ID != "" {
			out = append(out, schema.Violation{Path: fmt.Sprintf("$.criteria_results[%d].criterion_id", i),
				Message: schema.Quote(c.ID) + " has a result already", SchemaPath: "properties.criteria_results.items.properties.criterion_id"})
		}
		seen[c.ID] = true
		if c.Status == Pass && !strings.ContainsFunc(c.Evidence, isVisible) {
			out = append(out, schema.Violation{Path: fmt.Sprintf("$.criteria_results[%d].evidence", i),
				Message: "it is blank, and PASS needs evidence: say what shows that the criterion is met", SchemaPath: "properties.criteria_results.items.properties.evidence"})
		}
	}
	if want := VerdictOf(r.statuses()); r.Verdict != want && r.hasOnlyKnown() {
		out = append(out, schema.Violation{Path: "$.verdict", Message: fmt.Sprintf("it is %s, and %s follows from the criteria", r.Verdict, want), SchemaPath: "properties.verdict"})
	}
	return out
}

// isVisible reports whether a reader sees a character.
func isVisible(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) }

// hasOnlyKnown reports whether there are results, and the verdict and all statuses are known ones.
func (r Response) hasOnlyKnown() bool {
	return slices.Contains([]Verdict{VerdictPass, VerdictFail, VerdictPartial, VerdictBlocked}, r.Verdict) && len(r.Results) > 0 &&
		!slices.ContainsFunc(r.statuses(), func(s Status) bool { return !slices.Contains([]Status{Pass, Fail, Skip, Blocked}, s) })
}

// Mismatches returns the violations of a response that does not answer req, because it has another
// task or judges a criterion that req does not have.
func (r Response) Mismatches(req Request) (out []schema.Violation) {
	if r.TaskID != req.TaskID {
		out = append(out, schema.Violation{Path: "$.task_id", Message: fmt.Sprintf("it is %s, and the request's is %s", schema.Quote(r.TaskID), schema.Quote(req.TaskID)), SchemaPath: "properties.task_id"})
	}
	for i, c := range r.Results {
		if !slices.ContainsFunc(req.Criteria, func(asked Criterion) bool { return asked.ID == c.ID }) {
			out = append(out, schema.Violation{Path: fmt.Sprintf("$.criteria_results[%d].criterion_id", i),
				Message: "the request has no criterion " + schema.Quote(c.ID), SchemaPath: "properties.criteria_results.items.properties.criterion_id"})
		}
	}
	return out
}

// Complete returns the response with a result for each criterion of the request, in their
// order: one that is missing is blocked. The verdict follows from all of them.
func (r Response) Complete(req Request) Response {
	var results []CriterionResult
	for _, c := range req.Criteria {
		i := slices.IndexFunc(r.Results, func(result CriterionResult) bool { return result.ID == c.ID })
		if i < 0 {
			results = append(results, CriterionResult{ID: c.ID, Status: Blocked, Evidence: "The response does not judge this criterion.", Remediation: "Have it judged."})
			continue
		}
		results = append(results, r.Results[i])
	}
	r.Results = results
	r.Verdict = VerdictOf(r.statuses())
	return r
}

// Mask passes every text that people, programs and the repository wrote through f, which masks
// secrets. The ids of the task, the dispatch and the criteria stay as they are: by
// them a response belongs to its request. Mask comes before any text is cut, because a part of a
// secret might not be recognised.
func (r *Response) Mask(f func(string) string) {
	each := func(texts ...*string) {
		for _, t := range texts {
			*t = f(*t)
		}
	}
	each(&r.Reasoning, &r.Validator)
	for i := range r.Results {
		each(&r.Results[i].Evidence, &r.Results[i].Remediation)
	}
	for i := range r.Claims {
		each(&r.Claims[i].Claim, &r.Claims[i].Evidence)
	}
	for i := range r.Gates {
		each(&r.Gates[i].Evidence)
	}
	e := r.Evidence
	if e == nil {
		return
	}
	for i := range e.Screenshots {
		s := &e.Screenshots[i]
		each(&s.Path, &s.Description)
		if step, ok := s.Step.(string); ok {
			s.Step = f(step)
		}
	}
	for i := range e.Tests {
		each(&e.Tests[i].Command, &e.Tests[i].Snippet)
	}
	for i := range e.Answers {
		each(&e.Answers[i].Endpoint, &e.Answers[i].Method, &e.Answers[i].Snippet)
	}
	for i := range e.FileChecks {
		each(&e.FileChecks[i].Path, &e.FileChecks[i].Note)
	}
	for i := range e.Files {
		each(&e.Files[i].Path, &e.Files[i].Description)
	}
}

func (r Response) statuses() []Status {
	statuses := make([]Status, len(r.Results))
	for i, c := range r.Results {
		statuses[i] = c.Status
	}
	return statuses
}

// Encode returns the response as indented JSON with a newline at its end. The error is
// Airlock's own defect: the response does not conform to its schema.
func (r Response) Encode() ([]byte, error) {
	raw, err := encode(r)
	if err != nil {
		return nil, err
	}
	violations, err := violationsOf(ResponseSchema, raw)
	if err != nil {
		return nil, err
	}
	if len(violations) > 0 {
		return nil, fmt.Errorf("the response is not valid: %w", &InvalidError{ResponseSchema, violations})
	}
	return raw, nil
}

// EncodeIn returns the response as the content of a message to recipient, or the response itself if
// recipient is "".
func (r Response) EncodeIn(recipient string) ([]byte, error) {
	raw, err := r.Encode()
	if err != nil {
		return nil, err
	}
	return encodeIn(recipient, raw, fmt.Sprintf("Validation %s for %s", r.Verdict, r.TaskID))
}

// timestamp writes a time as RFC 3339 does, in UTC and to the second.
func timestamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// seconds returns a duration in seconds, to the millisecond and never negative.
func seconds(d time.Duration) float64 { return math.Round(max(d.Seconds(), 0)*1000) / 1000 }
