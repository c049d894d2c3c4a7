package event

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Run identifies one step of one workflow run: what is written by it can be
// found again by it, and by no other.
type Run struct {
	ID      int64 // GITHUB_RUN_ID; equal in all attempts; 0 outside a workflow run
	Number  int   // GITHUB_RUN_NUMBER
	Attempt int   // GITHUB_RUN_ATTEMPT, from 1
	// WorkflowPath is the workflow's file, ".github/workflows/x.yml", without the
	// repository and the ref; where it is unknown, the workflow's name.
	WorkflowPath string
	Job          string // the job's key
	Step         string // the step's id, or the name that the runner made
	MatrixIndex  int    // strategy.job-index; 0 outside a matrix
	// StartedAt is the earliest moment that the run may have known the
	// repository's state of: when the event happened, else when the job started.
	// Zero when neither is known.
	StartedAt time.Time
	URL       string // the run's page; "" when unknown
}

// ParseRun reads the identity of the workflow run from the environment. Outside
// a workflow run, where there is no GITHUB_RUN_ID, it returns a Run without an
// ID and no error.
func ParseRun(env Env, ev Event) (Run, error) {
	run := Run{Job: env.Job, Step: env.Step, StartedAt: ev.Time, Attempt: 1}
	if run.StartedAt.IsZero() {
		run.StartedAt = env.StartedAt
	}
	run.WorkflowPath = workflowPath(env.WorkflowRef)
	if run.WorkflowPath == "" {
		run.WorkflowPath = env.Workflow
	}
	var err error
	if run.ID, err = number("GITHUB_RUN_ID", env.RunID, 0); err != nil {
		return Run{}, err
	}
	for _, f := range []struct {
		name, text string
		unset      int64
		to         *int
	}{
		{"GITHUB_RUN_NUMBER", env.RunNumber, 0, &run.Number},
		{"GITHUB_RUN_ATTEMPT", env.RunAttempt, 1, &run.Attempt},
		{"the matrix index (strategy.job-index)", env.MatrixIndex, 0, &run.MatrixIndex},
	} {
		n, err := number(f.name, f.text, f.unset)
		if err != nil {
			return Run{}, err
		}
		*f.to = int(n)
	}
	if run.ID > 0 && env.ServerURL != "" && ev.Repo.FullName() != "" {
		run.URL = strings.TrimRight(env.ServerURL, "/") + "/" + ev.Repo.FullName() + "/actions/runs/" + strconv.FormatInt(run.ID, 10)
	}
	return run, nil
}

// workflowPath returns the path in "owner/name/path@ref". Path and ref may both
// hold an @; a path cannot hold "@refs/", as all workflows lie in one directory.
func workflowPath(ref string) string {
	path, _, ok := strings.Cut(ref, "@refs/")
	if i := strings.LastIndexByte(ref, '@'); !ok && i >= 0 {
		path = ref[:i]
	}
	parts := strings.SplitN(path, "/", 3)
	if len(parts) < 3 {
		return ""
	}
	return parts[2]
}

func number(name, text string, unset int64) (int64, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return unset, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%s is %q: it must be a whole number that is not negative", name, text)
	}
	return n, nil
}
