package cli

import (
	"cmp"
	"context"

	"github.com/spf13/pflag"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/apply"
	"github.com/agent-airlock/airlock/internal/doors"
	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/exitcode"
)

// eventFlags are the flags of commands that act for a workflow run's event. Without a flag, the
// value of the environment counts.
type eventFlags struct{ event, eventName, repo string }

func (f *eventFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.event, "event", "", "the webhook payload of the event (default: GITHUB_EVENT_PATH)")
	flags.StringVar(&f.eventName, "event-name", "", "the event's name (default: GITHUB_EVENT_NAME, else inferred from the payload)")
}

func (f *eventFlags) addRepo(flags *pflag.FlagSet) {
	flags.StringVar(&f.repo, "repo", "", "the repository as owner/name (default: GITHUB_REPOSITORY, else the payload's)")
}

// runner returns the runner's environment, with the event that the flags name.
func (f eventFlags) runner(env Environment) action.Env {
	runner := action.Snapshot(env.Getenv)
	runner.EventPath = cmp.Or(f.event, runner.EventPath)
	runner.Event.EventName = cmp.Or(f.eventName, runner.Event.EventName)
	runner.Event.Repository = cmp.Or(f.repo, runner.Event.Repository)
	return runner
}

// rehearsal returns the workflow run for which an agent's lines are judged without GitHub, as far as
// it is known, and its repository. dir is the value of apply's flag --dir, and lines the file of the
// lines, which does not count as one of the agent's changes.
func (f eventFlags) rehearsal(env Environment, dir, lines string) (known doors.Rehearsal, repository string, err error) {
	runner := f.runner(env)
	if runner.EventPath == "" {
		return known, ownRepository(env), nil
	}
	ev, _, err := action.LoadEvent(runner)
	if err != nil {
		return known, "", exitcode.UsageError(err)
	}
	known.Event = &ev
	known.Code = func(ctx context.Context, ev event.Event) (*apply.Code, func(), error) {
		return applyFlags{dir: dir, input: lines}.agentCode(ctx, env, ev, doors.Connection{})
	}
	return known, ev.Repo.FullName(), nil
}
