package phase

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/crash"
	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/text"
)

// reviews runs both reviews at the same time, and skips what Config.Only leaves out.
func (e *engine) reviews(ctx context.Context) ([]CheckResult, error) {
	results := []CheckResult{{Check: CodeReview}, {Check: SecurityReview}}
	start := e.deps.Now()
	var wg crash.Group
	for i, reviewer := range []Reviewer{e.deps.CodeReview, e.deps.SecurityReview} {
		if e.config.Only != nil && !slices.Contains(e.config.Only, results[i].Check) {
			results[i].Status, results[i].Severity = Skipped, finding.None
			continue
		}
		wg.Go(func() {
			r := &results[i]
			e.review(ctx, reviewer, r)
			r.Duration = e.deps.Now().Sub(start)
			e.progress(Event{Root: ".", Check: r.Check, Status: r.Status, Elapsed: r.Duration})
		})
	}
	wg.Wait()
	return results, ctx.Err()
}

// review asks a reviewer, and once more if it returns an error or panics.
func (e *engine) review(ctx context.Context, reviewer Reviewer, r *CheckResult) {
	r.Status, r.Severity = Pass, finding.None
	if reviewer == nil {
		r.Notes = append(r.Notes, "no reviewer is configured: nothing was looked at")
		return
	}
	request := ReviewRequest{Repository: e.repository, Files: e.files, Diff: e.job.Diff}
	findings, err := recovered(ctx, reviewer, request)
	if err != nil && ctx.Err() == nil {
		first := err
		findings, err = recovered(ctx, reviewer, request)
		if err == nil || err.Error() != first.Error() {
			r.Notes = append(r.Notes, "the reviewer failed and was run once more: "+text.OneLine(first.Error()))
		}
	}
	for _, err := range joinedErrors(err) {
		r.Status, r.Severity = Fail, finding.High
		r.Problems = append(r.Problems, notReviewed+text.OneLine(err.Error()))
	}
	for i := range findings {
		findings[i].Check = string(r.Check)
	}
	finding.SetFingerprints(findings)
	r.Blocking, r.Old = e.lines.split(findings, e.config.NewOnly)
	for _, f := range r.Blocking {
		r.Status = Fail
		severity := f.Severity
		if severity.Rank() == 0 {
			severity = finding.Low // it is none, or not known
		}
		if severity.Rank() > r.Severity.Rank() {
			r.Severity = severity
		}
	}
	bySeverity := slices.Clone(r.Blocking)
	slices.SortStableFunc(bySeverity, func(a, b finding.Finding) int { return b.Severity.Rank() - a.Severity.Rank() })
	r.Problems = append(r.Problems, list(bySeverity)...)
}

// notReviewed begins the problem of a review that did not take place, or not of all files.
const notReviewed = "The review could not be done: "

// NotReviewed reports whether a problem is that a review did not take place, or not of all files.
// If so, it returns why; otherwise the problem.
func NotReviewed(problem string) (why string, ok bool) {
	return strings.CutPrefix(problem, notReviewed)
}

// recovered runs a reviewer and turns its panic into an error, because the files that it reads may be
// hostile.
func recovered(ctx context.Context, reviewer Reviewer, r ReviewRequest) (findings []finding.Finding, err error) {
	defer func() {
		if p := recover(); p != nil {
			findings, err = nil, fmt.Errorf("it panicked: %v", p)
		}
	}()
	return reviewer(ctx, r)
}

// joinedErrors returns the errors that err joins. If it joins none, it returns only err, or nil if
// err is nil.
func joinedErrors(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok { //nolint:errorlint // only at the top
		return joined.Unwrap()
	}
	if err == nil {
		return nil
	}
	return []error{err}
}
