package sarif

import (
	"maps"
	"slices"
)

// resolver makes one run's objects stand on their own, as code scanning wants
// them and so that runs can be merged: what an index refers to is inlined, or
// the index is the one in the merged run; paths are relative to the
// repository's root; messages are written out.
type resolver struct {
	*group
	artifacts, rules       []object
	logical, addresses     *shared
	steps                  *shared // the run's shared thread flow locations
	taxonomies, extensions *components
	bases, driver          object
	extensionIndex         []int // of each extension, in the merged run
	extensionRules         [][]object
	invocations, invoked   int // how many the merged run has, and this one

	current object // the result whose members are visited
	rule    ruleOf // its rule
	place   string // why the last location of it was left out
}

// enter implements visitor.
func (r *resolver) enter(typ string, o object) bool {
	switch typ {
	case "result":
		r.enterResult(o)
	case "artifactLocation":
		return r.artifactLocation(o)
	case "logicalLocation":
		r.inline(o, r.logical)
	case "address":
		r.inline(o, r.addresses)
	case "artifact":
		delete(o, "parentIndex")
		if _, ok := o["contents"]; ok { // whole files, which code scanning has of its own
			r.notes.add(RuleUnused, "contents", 1)
			delete(o, "contents")
		}
	case "invocation":
		r.invocation(o)
	case "webRequest", "webResponse", "graphTraversal", "graph":
		r.notes.add(RuleUnused, typ, 1)
		return false
	case "resultProvenance":
		r.offset(o, "invocationIndex", r.invoked, r.invocations)
	case "reportingDescriptorReference":
		return r.descriptorReference(o)
	case "toolComponentReference":
		return r.componentReference(o)
	}
	return true
}

// leave implements visitor.
func (r *resolver) leave(typ string, o object) bool {
	if t := types()[typ]; t != nil && typ != "run" && typ != "tool" && typ != "toolComponent" {
		for _, name := range t.unique {
			if l := list(o, name); len(l) > 1 {
				o[name] = withoutRepetitions(l)
			}
		}
	}
	switch typ {
	case "result":
		return r.leaveResult(o)
	case "physicalLocation":
		if region := child(o, "region"); region != nil {
			r.region(region)
		}
		return child(o, "artifactLocation") != nil
	case "location":
		return child(o, "physicalLocation") != nil
	case "message":
		return r.message(o)
	case "threadFlowLocation":
		return r.step(o)
	}
	return true
}

// invocation leaves of an invocation how it went. The rest, such as command
// lines, environment variables and accounts, tells about the machine, may hold
// secrets, and is read by nobody.
func (r *resolver) invocation(o object) {
	for _, name := range slices.Collect(maps.Keys(o)) {
		switch name {
		case "executionSuccessful", "startTimeUtc", "endTimeUtc", "exitCode", "exitCodeDescription",
			"toolExecutionNotifications", "toolConfigurationNotifications", "ruleConfigurationOverrides", "notificationConfigurationOverrides":
		default:
			r.notes.add(RuleMachine, name, 1)
			delete(o, name)
		}
	}
}
