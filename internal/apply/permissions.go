package apply

import (
	"maps"
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

// String returns the form of the permissions block: "issues: write".
func (p Permission) String() string { return p.Name + ": " + p.Level }

// PermissionsNeeded returns what the token needs for a plan's operations, sorted by name, with the
// stronger level if a permission is needed with both. Operations that send nothing need nothing.
// Staged ones count only if all is set.
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
	for _, name := range slices.Sorted(maps.Keys(level)) {
		need = append(need, Permission{name, level[name]})
	}
	return need
}

// PermissionsBlock returns the block to paste into a workflow's job, with a final line
// break. Reading the repository is always part of it.
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

// WriteBlock returns PermissionsBlock for permissions to write, by name.
func WriteBlock(names []string) string {
	need := make([]Permission, len(names))
	for i, name := range names {
		need[i] = Permission{name, "write"}
	}
	return PermissionsBlock(need)
}

// joinPermissions lists permissions in a sentence.
func joinPermissions(perms []Permission) string {
	list := make([]string, len(perms))
	for i, p := range perms {
		list[i] = p.String()
	}
	if last := len(list) - 1; last > 1 {
		list = []string{strings.Join(list[:last], ", "), list[last]}
	}
	return strings.Join(list, " and ")
}

// permissionsFor returns what the token needs to apply an item of a kind to a target, from the
// kind's Spec.
func permissionsFor(kind safeoutput.Kind, t policy.Target) []Permission {
	spec := safeoutput.SpecOf(kind)
	on := safeoutput.NoTarget
	if t.Number != 0 && len(spec.ActsOn) > 0 {
		if on = t.Kind(); !spec.CanActOn(on) { // Kind returns issue where the type is not known
			on = spec.ActsOn[0]
		}
	}
	var need []Permission
	for _, name := range spec.Permissions[on] {
		need = append(need, Permission{name, "write"})
	}
	return need
}
