package phase

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/schema"
	"github.com/agent-airlock/airlock/internal/text"
)

// Status is how a check, or the validation, ended.
type Status string

// The statuses. Skipped counts as passing. In an output that conforms to its schema, only build and
// tests can be skipped.
const (
	Pass    Status = "pass"
	Fail    Status = "fail"
	Skipped Status = "skipped"
)

// Output is the result in the form of spec 000. Times are in milliseconds.
type Output struct {
	Status       Status `json:"status"`
	Time         int64  `json:"execution_time_ms"` // wall clock
	TotalRetries int    `json:"total_retries"`
	Critical     bool   `json:"critical_security_issue,omitempty"`
	Checks       Checks `json:"checks"`
}

// Checks are the six checks.
type Checks struct {
	Formatter      StyleCheck          `json:"formatter"`
	Linter         StyleCheck          `json:"linter"`
	Build          BuildCheck          `json:"build"`
	Tests          TestsCheck          `json:"tests"`
	CodeReview     CodeReviewCheck     `json:"code_review"`
	SecurityReview SecurityReviewCheck `json:"security_review"`
}

// StyleCheck is the result of the formatter or the linter.
type StyleCheck struct {
	Status  Status   `json:"status"`
	Issues  []string `json:"issues"`
	Retries int      `json:"retry_count"`
	Command string   `json:"command"`
	Time    int64    `json:"execution_time_ms"`
}

// BuildCheck is the result of the build.
type BuildCheck struct {
	Status  Status   `json:"status"`
	Errors  []string `json:"errors"`
	Retries int      `json:"retry_count"`
	Command string   `json:"command"`
	Time    int64    `json:"execution_time_ms"`
}

// TestsCheck is the result of the tests.
type TestsCheck struct {
	Status  Status `json:"status"`
	Failing int    `json:"failing_count"`
	Retries int    `json:"retry_count"`
	Command string `json:"command"`
	Time    int64  `json:"execution_time_ms"`
}

// CodeReviewCheck is the result of the code review.
type CodeReviewCheck struct {
	Status   Status           `json:"status"`
	Findings []string         `json:"findings"`
	Severity finding.Severity `json:"severity"` // at most high
	Time     int64            `json:"execution_time_ms"`
}

// SecurityReviewCheck is the result of the security review.
type SecurityReviewCheck struct {
	Status          Status           `json:"status"`
	Vulnerabilities []string         `json:"vulnerabilities"`
	Severity        finding.Severity `json:"severity"`
	Time            int64            `json:"execution_time_ms"`
}

// ProblemLists returns the lists of problems of the checks that have one.
func (c *Checks) ProblemLists() []*[]string {
	return []*[]string{&c.Formatter.Issues, &c.Linter.Issues, &c.Build.Errors, &c.CodeReview.Findings, &c.SecurityReview.Vulnerabilities}
}

// Refused returns the output for an input that cannot be validated, as in the spec's
// Example 4: every check failed, and the formatter's issues explain why.
func Refused(problems []string) Output {
	return Output{Status: Fail, Checks: Checks{
		Formatter:      StyleCheck{Status: Fail, Issues: problems},
		Linter:         StyleCheck{Status: Fail},
		Build:          BuildCheck{Status: Fail},
		Tests:          TestsCheck{Status: Fail},
		CodeReview:     CodeReviewCheck{Status: Fail, Severity: finding.None},
		SecurityReview: SecurityReviewCheck{Status: Fail, Severity: finding.None},
	}}
}

// Encode returns the output as indented JSON with a newline at its end. It returns an error if the
// output does not conform to its schema or contradicts itself, which is a defect of Airlock.
func (o Output) Encode() ([]byte, error) {
	for _, list := range o.Checks.ProblemLists() {
		if *list == nil {
			*list = []string{}
		}
	}
	var b bytes.Buffer
	if err := schema.WriteDocument(&b, o); err != nil {
		return nil, err
	}
	s, ok := schema.Published(OutputSchema, "")
	if !ok {
		return nil, errors.New("there is no schema " + OutputSchema)
	}
	violations, err := s.Validate(b.Bytes())
	if err != nil {
		return nil, err
	}
	if len(violations) > 0 {
		return nil, fmt.Errorf("the result of phase validation is not valid: %s: %s", violations[0].Path, violations[0].Message)
	}
	if err := o.Consistent(); err != nil {
		return nil, fmt.Errorf("the result of phase validation contradicts itself: %w", err)
	}
	return b.Bytes(), nil
}

// Consistent checks the guarantees of the spec that its schema cannot express. The error
// names the first that does not hold.
func (o Output) Consistent() error {
	c := o.Checks
	switch sum := c.Formatter.Retries + c.Linter.Retries + c.Build.Retries + c.Tests.Retries; {
	case o.TotalRetries != sum:
		return fmt.Errorf("total_retries is %d, the checks' sum is %d", o.TotalRetries, sum)
	case o.Critical != (c.SecurityReview.Severity == finding.Critical):
		return errors.New("critical_security_issue does not agree with the severity of the security review")
	case c.Tests.Status != Fail && c.Tests.Failing > 0:
		return fmt.Errorf("tests did not fail, but failing_count is %d", c.Tests.Failing)
	case (c.CodeReview.Severity == finding.None) != (len(c.CodeReview.Findings) == 0),
		(c.SecurityReview.Severity == finding.None) != (len(c.SecurityReview.Vulnerabilities) == 0):
		return errors.New("the severity of a review must be none if it found nothing, and only then")
	}
	for _, list := range []struct {
		check    string
		status   Status
		problems []string
	}{
		{"formatter", c.Formatter.Status, c.Formatter.Issues}, {"linter", c.Linter.Status, c.Linter.Issues},
		{"build", c.Build.Status, c.Build.Errors}, {"code_review", c.CodeReview.Status, c.CodeReview.Findings},
		{"security_review", c.SecurityReview.Status, c.SecurityReview.Vulnerabilities},
	} {
		if list.status != Fail && len(list.problems) > 0 {
			return fmt.Errorf("%s did not fail, but lists %s", list.check, text.Count(len(list.problems), "problem"))
		}
	}
	return nil
}
