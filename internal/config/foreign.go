package config

import "github.com/agent-airlock/airlock/internal/policy"

// ignored returns keys that are accepted and whose values set nothing. warn is called for each of
// these keys that the owner gave.
func ignored[T any](names []string, warn func(d *decoder, given *node, name string)) []key[T] {
	keys := make([]key[T], len(names))
	for i, name := range names {
		keys[i] = key[T]{name: name, takes: anything(), foreign: true,
			set: func(d *decoder, given *node, _ any, _ *T) { warn(d, given, name) }}
	}
	return keys
}

// foreign returns keys of the widely used front matter that have no effect here.
func foreign[T any](names ...string) []key[T] { return ignored[T](names, warnForeign) }

func warnForeign(d *decoder, given *node, name string) {
	d.record(given, Ignored, "%s: ignored; %s", name, insteadOf(name))
}

// insteadOf returns why a key has no effect, or what to use instead.
func insteadOf(name string) string {
	switch name {
	case "github-token", "github-app", "app", "linear-token", "head-github-token", "head-github-app":
		return "Airlock writes with the token that it is started with"
	case "runs-on", "env", "timeout-minutes", "environment", "needs", "steps", "jobs", "id-token", "concurrency-group", "actions", "scripts":
		return "the workflow that runs Airlock decides this"
	case "threat-detection":
		return "Airlock runs no detection job"
	case "messages", "body-footer":
		return "\"footer:\" sets the text below every body"
	case "discussion":
		return "the event decides whether a comment is for a discussion"
	}
	return "it has no effect in Airlock"
}

// restricting returns keys of the widely used front matter by which items may do less, or act
// elsewhere, in ways that Airlock does not support. Ignoring such a key would allow more than the
// owner wants. So items of the kind are only planned, unless the key's value is false or null.
func restricting(names ...string) []kindKey {
	return ignored[policy.KindConfig](names, func(d *decoder, given *node, name string) {
		if given.kind == nullNode || given.kind == boolNode && given.text == "false" {
			warnForeign(d, given, name)
			return
		}
		d.restricted = true
		d.warn(given, "%s: Airlock cannot apply this key, so items of this kind are only planned (staged); remove the key to have them applied", name)
	})
}

// foreignKinds returns keys for the kinds of the widely used front matter that
// Airlock does not have.
func foreignKinds() []key[SafeOutputs] {
	return ignored[SafeOutputs]([]string{
		"add-reviewer", "approve-workflow-run", "assign-milestone", "assign-to-agent", "assign-to-user",
		"autofix-code-scanning-alert", "call-workflow", "close-discussion", "close-issue", "close-pull-request", "comment-memory",
		"create-agent-session", "create-agent-task", "create-check-run", "create-project", "create-project-status-update", "edit-wiki",
		"dismiss-pull-request-review", "dispatch-repository", "dispatch-workflow", "hide-comment", "link-sub-issue",
		"mark-pull-request-as-ready-for-review", "merge-pull-request", "remove-labels", "replace-label",
		"reply-to-pull-request-review-comment", "resolve-pull-request-review-thread",
		"set-issue-field", "set-issue-type", "submit-pull-request-review", "unassign-from-user", "update-discussion",
		"update-project", "update-pull-request", "update-release", "upload-artifact", "upload-asset", "upload-code-coverage",
		"ado-create-work-item", "ado-update-work-item", "ado-comment-on-work-item", "ado-assign-work-item", "ado-link-work-items",
		"ado-upload-workitem-attachment", "jira-create-issue", "jira-update-issue", "jira-add-comment", "jira-add-label",
		"linear-create-issue", "linear-add-comment", "linear-update-issue",
	}, func(d *decoder, given *node, name string) {
		d.record(given, Missing, "%s: Airlock does not have this kind; lines that ask for it are rejected: %s", name, lossOf(name))
	})
}
