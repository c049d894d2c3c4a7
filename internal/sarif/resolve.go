package sarif

import (
	"maps"
	"slices"
	"strings"
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

// inline puts the members of the element that o's index refers to into o,
// where o has none of its own.
func (r *resolver) inline(o object, elements *shared) {
	if i, has := number(o, "index"); has && i >= 0 {
		switch {
		case i >= len(elements.all):
			r.notes.add(RuleIndexes, "", 1)
		case r.afford(elements.size(i)):
			for k, v := range elements.all[i] {
				if _, have := o[k]; !have {
					o[k] = copyOf(v)
				}
			}
		}
	}
	delete(o, "index")
	delete(o, "parentIndex")
}

func copyOf(v any) any {
	switch v := v.(type) {
	case object:
		c := make(object, len(v))
		for k, e := range v {
			c[k] = copyOf(e)
		}
		return c
	case []any:
		c := make([]any, len(v))
		for i, e := range v {
			c[i] = copyOf(e)
		}
		return c
	}
	return v
}

// offset moves an index into a list that is joined to that of earlier runs.
func (r *resolver) offset(o object, name string, n, by int) {
	i, has := number(o, name)
	switch {
	case !has:
	case i >= 0 && i < n:
		o[name] = i + by
	default:
		delete(o, name)
		if i >= 0 {
			r.notes.add(RuleIndexes, "", 1)
		}
	}
}

// artifactLocation makes a URI relative to the repository's root.
func (r *resolver) artifactLocation(o object) bool {
	uri, base := text(o, "uri"), text(o, "uriBaseId")
	if i, ok := index(o, "index", len(r.artifacts)); ok && uri == "" {
		location := child(r.artifacts[i], "location")
		uri, base = text(location, "uri"), text(location, "uriBaseId")
	}
	delete(o, "index")
	delete(o, "uriBaseId")
	path, err := RepoPath(r.resolveBase(uri, base), r.roots)
	if err != nil {
		r.place = err.Error()
		return false
	}
	before := len(text(o, "uri"))
	uri = EncodePath(path)
	o["uri"] = uri
	return r.afford(len(uri) - before)
}

// resolveBase puts the URI that a base id stands for in front of a relative
// one. An id that is not explained, or whose name says that it is the source
// root, stands for the repository's root.
func (r *resolver) resolveBase(uri, base string) string {
	given := uri
	for range 8 {
		b := child(r.bases, base)
		prefix := text(b, "uri")
		if base == "" || b == nil || prefix == "" && text(b, "uriBaseId") == "" || hasScheme(uri) || strings.HasPrefix(uri, "/") {
			return uri
		}
		if isRootName(base) && (hasScheme(prefix) || strings.HasPrefix(prefix, "/")) {
			if _, err := RepoPath(prefix+"/x", r.roots); err != nil {
				return uri
			}
		}
		if prefix != "" {
			uri = strings.TrimSuffix(prefix, "/") + "/" + uri
		}
		if len(uri) > 4*maxPath {
			return uri // RepoPath refuses it
		}
		base = text(b, "uriBaseId")
	}
	return given // the ids lead in a circle, and so nowhere
}

func isRootName(id string) bool { return strings.Contains(strings.ToUpper(id), "ROOT") }

// region gives a region a line, and takes an end away that is before its start.
func (r *resolver) region(o object) {
	start, ok := number(o, "startLine")
	mended := !ok || start < 1
	if mended {
		start = 1
		o["startLine"] = 1
		delete(o, "startColumn")
		delete(o, "endLine")
		delete(o, "endColumn")
	}
	end, hasEnd := number(o, "endLine")
	if hasEnd && end < start {
		mended = true
		delete(o, "endLine")
		delete(o, "endColumn")
		end, hasEnd = 0, false
	}
	from, ok1 := number(o, "startColumn")
	to, ok2 := number(o, "endColumn")
	if ok1 && ok2 && (!hasEnd || end == start) && to < from {
		mended = true
		delete(o, "endColumn")
	}
	if mended {
		r.notes.add(RuleRegions, "", 1)
	}
}

// shareSteps takes the run's shared thread flow locations out of it.
func (r *resolver) shareSteps(run object) {
	r.steps = newShared(list(run, "threadFlowLocations"))
	delete(run, "threadFlowLocations")
	for i, s := range r.steps.all {
		delete(s, "index")
		if !types().walk("threadFlowLocation", s, r) {
			r.steps.all[i] = nil
		}
	}
}

// step writes a thread flow location out: code scanning does not follow
// indexes. One without a place in the repository is left out.
func (r *resolver) step(o object) bool {
	i, has := number(o, "index")
	delete(o, "index")
	switch {
	case !has || i < 0:
	case i >= len(r.steps.all):
		r.notes.add(RuleIndexes, "", 1)
	case r.afford(r.steps.size(i)):
		for k, v := range r.steps.all[i] {
			if _, have := o[k]; !have {
				o[k] = v
			}
		}
	}
	return child(o, "location") != nil
}

// afford takes what inlining adds from the budget.
func (r *resolver) afford(size int) bool {
	if size <= 0 {
		return true
	}
	if size > r.budget {
		r.notes.add(RuleUnused, "shared parts", 1)
		return false
	}
	r.budget -= size
	return true
}
