package doors

import (
	"context"
	"errors"

	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/githubapi"
)

// Identify completes the identity of a workflow run by the name of its job, where only that
// can distinguish two calls of a reusable workflow. Where the token may not read it, the
// identity stays as it is, and log receives what to do. client may be nil.
func Identify(ctx context.Context, client *githubapi.Client, ev event.Event, run *event.Run, log func(string)) error {
	if client == nil || !run.AwaitsJobName() {
		return nil
	}
	name, err := client.JobName(ctx, githubapi.Repo{Owner: ev.Repo.Owner, Name: ev.Repo.Name, ID: ev.Repo.ID}, run.CheckRunID)
	refusal, refused := errors.AsType[*githubapi.Error](err)
	switch {
	case err == nil:
		run.SetJobName(name)
	case refused && (refusal.Kind == githubapi.Forbidden || refusal.Kind == githubapi.NotFound):
		log("the job's name cannot be read, so that two calls of one reusable workflow look the same: give each call its own value of the input \"name\", or give the token the permission actions: read")
	default:
		return exitcode.FailedError(err)
	}
	return nil
}
