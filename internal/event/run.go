package event

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Run identifies one step of one workflow run, so that the step can recognize
// what it wrote earlier.
type Run struct {
	ID      int64 // GITHUB_RUN_ID; the same in all attempts; 0 outside a workflow run
	Number  int   // GITHUB_RUN_NUMBER
	Attempt int   // GITHUB_RUN_ATTEMPT, from 1
	// WorkflowPath is the workflow's file, ".github/workflows/x.yml", without the
	// repository and the ref. If the file is unknown, it is the workflow's name.
	WorkflowPath string
	Job          string // the job's key
	Step         string // the step's id, or the name that the runner made
	MatrixIndex  int    // strategy.job-index; 0 outside a matrix
	// Name distinguishes the job from others of the workflow run with the same key: the
	// owner's name for it, or a path such as "caller / job" for a job of a reusable
	// workflow. It is "" where Job and MatrixIndex suffice.
	Name string
	// Shared reports whether another job of the workflow run may have the same identity, because
	// two calls of a reusable workflow may share it, or because the owner may have given the name
	// to both jobs.
	Shared bool
	// Claim distinguishes the job from another one with the same identity, where Shared is
	// set. It consists of 4 hexadecimal digits for the attempt in which it is valid (0000 means
	// all attempts), and 12 digits for the job. It is "" where nothing distinguishes the jobs.
	Claim string
	// CheckRunID identifies the job in this attempt (job.check_run_id); 0 if unknown.
	CheckRunID int64
	// Begun is set where a process before this one may have begun this very attempt, such as
	// where a script tries again.
	Begun bool
	// SelfHosted is set on a runner of the owner's. GitHub may have given the same job to another
	// such runner, too (actions/runner, issue 3010). That was not seen with GitHub's own runners.
	SelfHosted bool
	// Own distinguishes runs whose ID is 0.
	Own string
	// StartedAt is the earliest time at which the run may have read the repository: the time of the
	// event, otherwise the start of the job; zero if neither is known.
	StartedAt time.Time
	URL       string // the run's page; "" if unknown
}

// Again reports whether an earlier process may have written something for this step already:
// one of an earlier attempt, or of this one.
func (run Run) Again() bool { return run.Attempt > 1 || run.Begun }

// ParseRun reads the identity of the workflow run from the environment. A missing
// GITHUB_RUN_ID is not an error: outside a workflow run, the Run has no ID.
func ParseRun(env Env, ev Event) (Run, error) {
	run := Run{Job: env.Job, Step: env.Step, StartedAt: ev.Time, WorkflowPath: cmp.Or(workflowPath(env.WorkflowRef), env.Workflow),
		SelfHosted: env.Environment == "self-hosted"}
	if run.StartedAt.IsZero() {
		run.StartedAt = env.StartedAt
	}
	var err error
	if run.ID, err = wholeNumber("GITHUB_RUN_ID", env.RunID, 0); err != nil {
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
		n, err := wholeNumber(f.name, f.text, f.unset)
		if err != nil {
			return Run{}, err
		}
		*f.to = int(n)
	}
	if run.CheckRunID, err = wholeNumber("the check run's id (job.check_run_id)", env.CheckRunID, 0); err != nil {
		return Run{}, err
	}
	if err := run.identify(env); err != nil {
		return Run{}, err
	}
	if run.ID > 0 && env.ServerURL != "" && ev.Repo.FullName() != "" {
		run.URL = strings.TrimRight(env.ServerURL, "/") + "/" + ev.Repo.FullName() + "/actions/runs/" + strconv.FormatInt(run.ID, 10)
	}
	return run, nil
}

// workflowPath returns the path in "owner/name/path@ref". Path and ref may both
// contain an @, but a path cannot contain "@refs/", because all workflows are in
// one directory.
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

func wholeNumber(name, text string, unset int64) (int64, error) {
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
