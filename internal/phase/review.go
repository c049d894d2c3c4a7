package phase

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/agent-airlock/airlock/internal/finding"
)

// reviews runs both reviews side by side.
func (e *engine) reviews(ctx context.Context) ([]ReviewResult, error) {
	results := []ReviewResult{{Check: CodeReview}, {Check: SecurityReview}}
	start := e.deps.Now()
	var wg sync.WaitGroup
	for i, reviewer := range []Reviewer{e.deps.CodeReview, e.deps.SecurityReview} {
		wg.Go(func() {
			r := &results[i]
			e.review(ctx, reviewer, r)
			r.Duration = e.deps.Now().Sub(start)
			e.tell(Event{Root: ".", Check: r.Check, Status: r.Status, Elapsed: r.Duration})
		})
	}
	wg.Wait()
	return results, ctx.Err()
}

// review asks a reviewer, and once more if it crashes.
func (e *engine) review(ctx context.Context, reviewer Reviewer, r *ReviewResult) {
	r.Status, r.Severity = Pass, finding.None
	if reviewer == nil {
		r.Notes = append(r.Notes, "no reviewer is configured: nothing was looked at")
		return
	}
	request := ReviewRequest{Repository: e.repository, Files: e.files, Diff: e.job.Diff}
	findings, err := guarded(ctx, reviewer, request)
	if first := err; err != nil && ctx.Err() == nil {
		findings, err = guarded(ctx, reviewer, request)
		if err == nil || err.Error() != first.Error() {
			r.Notes = append(r.Notes, "the reviewer crashed and was run once more: "+oneLine(first))
		}
	}
	for _, e := range parted(err) {
		r.Status, r.Severity = Fail, finding.High
		r.Problems = append(r.Problems, "The review could not be done: "+oneLine(e))
	}
	for i := range findings {
		findings[i].Check = string(r.Check)
	}
	finding.SetFingerprints(findings)
	r.Blocking, r.Old = e.lines.sort(findings, e.config.NewOnly)
	for _, f := range r.Blocking {
		r.Status = Fail
		if s := max(f.Severity.Rank(), finding.Low.Rank()); s > r.Severity.Rank() {
			r.Severity = severities()[s]
		}
	}
	r.Problems = append(r.Problems, list(r.Blocking)...)
}

// parted returns the errors that were joined into one.
func parted(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	if err == nil {
		return nil
	}
	return []error{err}
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// severities are in the order of their ranks.
func severities() []finding.Severity {
	return []finding.Severity{finding.None, finding.Low, finding.Medium, finding.High, finding.Critical}
}

// guarded turns a reviewer's panic into an error: its files are hostile.
func guarded(ctx context.Context, reviewer Reviewer, r ReviewRequest) (findings []finding.Finding, err error) {
	defer func() {
		if p := recover(); p != nil {
			findings, err = nil, fmt.Errorf("it panicked: %v", p)
		}
	}()
	return reviewer(ctx, r)
}
