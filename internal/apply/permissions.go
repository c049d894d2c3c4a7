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

// permissionsFor returns what the token needs to apply an item of a kind to a target, as
// the kind's row has it.
func permissionsFor(kind safeoutput.Kind, t policy.Target) []Permission {
	spec := safeoutput.SpecOf(kind)
	on := safeoutput.NoTarget
	if t.Number != 0 && len(spec.ActsOn) > 0 {
		if on = t.Kind(); !spec.CanActOn(on) { // the event does not say what it is
			on = spec.ActsOn[0]
		}
	}
	var need []Permission
	for _, name := range spec.Permissions[on] {
		need = append(need, Permission{name, "write"})
	}
	return need
}
