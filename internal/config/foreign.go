package config

import (
	"strconv"

	"github.com/agent-airlock/airlock/internal/policy"
)

// foreign makes keys that the widely used front matter has and that have no
// effect here. They are understood, and the owner is told.
func foreign(names ...string) []key[policy.KindConfig] {
	return foreignKeys[policy.KindConfig](names...)
}

func foreignKeys[T any](names ...string) []key[T] {
	keys := make([]key[T], len(names))
	for i, name := range names {
		keys[i] = key[T]{name: name, takes: anything(), foreign: true,
			set: func(d *decoder, at *node, _ any, _ *T) {
				d.warn(at.line, at.col, "%s: %s", name, foreignWhy(name))
			}}
	}
	return keys
}

// foreignWhy says why a key has no effect, and what to use instead.
func foreignWhy(name string) string {
	switch name {
	case "github-token", "github-app", "app", "linear-token", "head-github-token", "head-github-app":
		return "ignored; Airlock writes with the token that it is started with"
	case "runs-on", "env", "timeout-minutes", "environment", "needs", "steps", "jobs", "id-token", "concurrency-group", "actions", "scripts":
		return "ignored; the workflow that runs Airlock says this"
	case "threat-detection":
		return "ignored; Airlock runs no detection job"
	case "messages", "body-footer":
		return "ignored; \"footer:\" sets the text below every body"
	case "allowed-github-references", "max-bot-mentions":
		return "ignored; references stay links, and closing words are inert unless \"allow-closing-words: true\""
	case "discussion":
		return "ignored; the event says whether a comment is for a discussion"
	}
	return "ignored; it has no effect in Airlock"
}

// restricting makes keys of the widely used front matter by which an owner
// allows less, or writes elsewhere, and which Airlock cannot hold to. To do
// without them would allow more than the owner said, so items of the kind are
// only planned.
func restricting(names ...string) []key[policy.KindConfig] {
	keys := make([]key[policy.KindConfig], len(names))
	for i, name := range names {
		keys[i] = key[policy.KindConfig]{name: name, takes: anything(), foreign: true,
			set: func(d *decoder, at *node, _ any, _ *policy.KindConfig) {
				if at.kind == nullNode {
					d.warn(at.line, at.col, "%s: %s", name, foreignWhy(name))
					return
				}
				d.restricted = true
				d.warn(at.line, at.col, "%s: Airlock cannot hold to it, so items of this kind are only planned (staged); remove the key to have them applied", name)
			}}
	}
	return keys
}

// foreignKinds are kinds of the widely used front matter that Airlock does not have.
func foreignKinds() []key[SafeOutputs] {
	names := []string{
		"add-reviewer", "approve-workflow-run", "assign-milestone", "assign-to-agent", "assign-to-user",
		"autofix-code-scanning-alert", "call-workflow", "close-discussion", "close-issue", "close-pull-request", "comment-memory",
		"create-agent-session", "create-agent-task", "create-check-run", "create-project", "create-project-status-update", "edit-wiki",
		"dismiss-pull-request-review", "dispatch-repository", "dispatch-workflow", "hide-comment", "link-sub-issue",
		"mark-pull-request-as-ready-for-review", "merge-pull-request", "missing-data", "remove-labels", "replace-label",
		"reply-to-pull-request-review-comment", "report-incomplete", "resolve-pull-request-review-thread",
		"set-issue-field", "set-issue-type", "submit-pull-request-review", "unassign-from-user", "update-discussion",
		"update-project", "update-pull-request", "update-release", "upload-artifact", "upload-asset", "upload-code-coverage",
		"ado-create-work-item", "ado-update-work-item", "ado-comment-on-work-item", "ado-assign-work-item", "ado-link-work-items",
		"ado-upload-workitem-attachment", "jira-create-issue", "jira-update-issue", "jira-add-comment", "jira-add-label",
		"linear-create-issue", "linear-add-comment", "linear-update-issue",
	}
	keys := make([]key[SafeOutputs], len(names))
	for i, name := range names {
		keys[i] = key[SafeOutputs]{name: name, takes: anything(), foreign: true,
			set: func(d *decoder, at *node, _ any, _ *SafeOutputs) {
				d.warn(at.line, at.col, "%s: Airlock does not have this kind; lines that ask for it are rejected", name)
			}}
	}
	return keys
}

func itoa(n int) string { return strconv.Itoa(n) }
