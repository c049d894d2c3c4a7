package apply

import (
	"slices"

	"github.com/agent-airlock/airlock/internal/event"
)

// readOnlyRun is a reason for which GitHub restricts a workflow run's token to reading. The run's
// items are shown by other means where GitHub refuses them.
type readOnlyRun struct {
	code    string
	reason  string // why the token cannot write
	remedy  string // what to do; continues reason
	noToken string // why there is no token, and what to do
}

var forkRun = readOnlyRun{
	code:   CodeForkReadOnly,
	reason: "workflow runs for pull requests from forks have a read-only token",
	remedy: ", whatever their permissions: block requests; a workflow that runs on workflow_run can write what this one was asked for",
	noToken: "there is no token to write with: workflow runs for pull requests from forks get no secrets; " +
		"a workflow that runs on workflow_run can write what this one was asked for",
}

var dependabotRun = readOnlyRun{
	code:   CodeDependabotReadOnly,
	reason: "workflow runs that Dependabot starts have a read-only token",
	remedy: " unless the job's permissions: block raises it; add there what this takes",
	noToken: "there is no token to write with: workflow runs that Dependabot starts get its own secrets, not those of Actions; " +
		"store the token under Settings, Secrets and variables, Dependabot, too, or leave the token at its default",
}

// dependabot is the login of GitHub's Dependabot.
const dependabot = "dependabot[bot]"

// readOnlyRunOf returns why an event's token may only read; nil where nothing is known that
// restricts it. The token of pull_request_target is not restricted by a fork.
func readOnlyRunOf(ev event.Event) *readOnlyRun {
	switch {
	case ev.Fork && slices.Contains([]string{"pull_request", "pull_request_review", "pull_request_review_comment"}, ev.Name):
		return &forkRun
	case ev.Actor == dependabot:
		return &dependabotRun
	}
	return nil
}

// MayLackToken reports whether GitHub itself may keep the token from a workflow run: its items
// are then shown by other means, and a missing token is not a mistake in the configuration.
func MayLackToken(ev event.Event) bool { return readOnlyRunOf(ev) != nil }

// message explains why an item was not done. need is what it takes.
func (r *readOnlyRun) message(need []Permission) string {
	message := r.reason + r.remedy
	if r.code == CodeDependabotReadOnly && len(need) > 0 {
		message += " (" + joinPermissions(need) + ")"
	}
	return message
}
