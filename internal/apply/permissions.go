package apply

import (
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// Permission is one line of a workflow's permissions block.
type Permission struct {
	Name  string `json:"name"`  // checks, contents, discussions, issues, pull-requests, security-events
	Level string `json:"level"` // read or write
}

// String is the form of the permissions block: "issues: write".
func (p Permission) String() string { return p.Name + ": " + p.Level }

// The names of the permissions that kinds need.
const (
	permIssues      = "issues"
	permPulls       = "pull-requests"
	permDiscussions = "discussions"
	permSecurity    = "security-events"
	permContents    = "contents"
	permChecks      = "checks"
)

// write is the permission to write name.
func write(name string) []Permission { return []Permission{{name, "write"}} }

// PermissionsNeeded returns what the token needs for a plan's operations, by
// name, the stronger level where both occur. Operations whose items are all
// decided need nothing. Staged ones count only when all is true.
func PermissionsNeeded(ops []Operation, all bool) []Permission {
	level := map[string]string{}
	for _, op := range ops {
		if op.Staged && !all || len(op.Requests) == 0 {
			continue
		}
		for _, p := range op.Permissions {
			if level[p.Name] != "write" {
				level[p.Name] = p.Level
			}
		}
	}
	need := make([]Permission, 0, len(level))
	for name, l := range level {
		need = append(need, Permission{name, l})
	}
	slices.SortFunc(need, func(a, b Permission) int { return strings.Compare(a.Name, b.Name) })
	return need
}

// PermissionsBlock writes the block to paste into a workflow's job, with a final
// line break. Reading the repository is always part of it.
func PermissionsBlock(need []Permission) string {
	var b strings.Builder
	b.WriteString("permissions:\n")
	if !slices.ContainsFunc(need, func(p Permission) bool { return p.Name == "contents" }) {
		b.WriteString("  contents: read\n")
	}
	for _, p := range need {
		b.WriteString("  " + p.String() + "\n")
	}
	return b.String()
}

// permissionWords joins permissions for a sentence.
func permissionWords(perms []Permission) string {
	words := make([]string, len(perms))
	for i, p := range perms {
		words[i] = p.String()
	}
	if last := len(words) - 1; last > 1 {
		words = []string{strings.Join(words[:last], ", "), words[last]}
	}
	return strings.Join(words, " and ")
}

// handlerPermissions are what a kind that carries code needs.
func handlerPermissions(kind safeoutput.Kind) []Permission {
	if kind == safeoutput.KindCreatePullRequest {
		return append(write(permContents), write(permPulls)...)
	}
	return write(permContents)
}

// permConversation is what a token needs to write to the conversation of t.
func permConversation(t policy.Target) []Permission {
	switch {
	case t.IsDiscussion:
		return write(permDiscussions)
	case t.IsPull:
		return write(permPulls)
	}
	return write(permIssues)
}
