package config

import (
	"cmp"
	"fmt"
	"slices"
)

// Effect is what becomes of a key of a front matter that was written for another tool.
type Effect string

// The effects.
const (
	Honoured Effect = "honoured" // it does what it says
	Changed  Effect = "changed"  // it does something else, which the message says
	Ignored  Effect = "ignored"  // nothing follows from it
	Missing  Effect = "missing"  // Airlock lacks what it asks for
)

// Key is what becomes of one key of a front matter.
type Key struct {
	Problem
	Effect Effect
}

// String returns "source:line:column: effect: message".
func (k Key) String() string {
	p := k.Problem
	p.Message = string(k.Effect) + ": " + p.Message
	return p.String()
}

// record records what becomes of a key. An effect other than Honoured is a warning, too.
func (d *decoder) record(given *node, effect Effect, format string, args ...any) {
	p := problem(cmp.Or(given.source, d.source), given.line, given.col, format, args...)
	d.keys = append(d.keys, Key{p, effect})
	if effect != Honoured {
		d.warnings = append(d.warnings, p)
	}
}

// honour records that a key does what it says, unless something else was recorded about the key
// while it was decoded. before is the number of records before that.
func (d *decoder) honour(e *entry, path string, before int) {
	for _, k := range d.keys[before:] {
		if k.Line == e.line && k.Column == e.col {
			return
		}
	}
	name := e.key
	if path != "" {
		name = path + ": " + name
	}
	d.keys = append(d.keys, Key{problem(cmp.Or(e.value.source, d.source), e.line, e.col, "%s", name), Honoured})
}

// recordOthers records the keys of a front matter other than safe-outputs and imports. Except for
// network, they are only for the workflow that runs the agent.
func (d *decoder) recordOthers(root []entry) {
	for _, e := range root {
		switch canonical(e.key) {
		case "safe-outputs", "imports":
		case "network":
			d.keys = append(d.keys, Key{problem(d.source, e.line, e.col, "network: links may lead to the hosts that it allows; what the agent itself can reach, the workflow that runs it decides"), Changed})
		default:
			d.keys = append(d.keys, Key{problem(d.source, e.line, e.col, "%s: the workflow that runs the agent decides this", e.key), Ignored})
		}
	}
}

// sortKeys sorts by file and place. The keys of source come first, before those of imported files.
func sortKeys(source string, keys []Key) {
	rank := func(k Key) int {
		if k.Source == source {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(keys, func(a, b Key) int {
		return cmp.Or(rank(a)-rank(b), cmp.Compare(a.Source, b.Source), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// CountEffects returns how many keys have each effect, as words.
func CountEffects(keys []Key) string {
	n := map[Effect]int{}
	for _, k := range keys {
		n[k.Effect]++
	}
	return fmt.Sprintf("%d honoured, %d changed, %d ignored, %d missing", n[Honoured], n[Changed], n[Ignored], n[Missing])
}

// lossOf returns a text about a kind that Airlock does not have: what does not happen, and which
// setting does the same, if there is one.
func lossOf(kind string) string {
	switch kind {
	case "close-issue":
		return "no issue is closed; update-issue with \"status:\" closes one"
	case "close-pull-request", "close-discussion", "merge-pull-request", "mark-pull-request-as-ready-for-review", "update-pull-request", "update-discussion":
		return "no pull request or discussion is closed, merged or changed"
	case "remove-labels", "replace-label":
		return "labels are added and never removed"
	case "submit-pull-request-review", "dismiss-pull-request-review", "reply-to-pull-request-review-comment", "resolve-pull-request-review-thread":
		return "reviews consist of comments on lines; none approves, requests changes, answers or resolves"
	case "add-reviewer":
		return "nobody is asked for a review; \"reviewers:\" below create-pull-request asks"
	case "assign-milestone", "assign-to-agent", "assign-to-user", "unassign-from-user", "set-issue-type", "set-issue-field", "link-sub-issue":
		return "nobody is assigned, and no milestone, type, field or parent is set"
	case "hide-comment":
		return "no comment is hidden"
	case "upload-asset", "upload-artifact", "upload-code-coverage", "update-release", "edit-wiki":
		return "no file is published; a step of the workflow can do it"
	case "dispatch-workflow", "dispatch-repository", "call-workflow", "approve-workflow-run", "create-agent-session", "create-agent-task":
		return "nothing else is started"
	case "create-project", "update-project", "create-project-status-update":
		return "no project is changed"
	case "create-check-run", "autofix-code-scanning-alert", "comment-memory":
		return "it is not done"
	}
	return "nothing is written to the other system"
}
