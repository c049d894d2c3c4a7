package sarif

import (
	"slices"
	"strings"
)

// group collects one run of the merged log: all runs of one tool and one category
// are merged into it.
type group struct {
	category string
	run      object // without tool, results and automation details
	driver   object // without rules
	rules    ruleTable
	results  []result
	merged   int    // how many runs were merged
	problems int    // how many of their results are neither of kind pass nor notApplicable
	reason   string // why the last result that was left out was

	extensions     []object
	extensionTable []ruleTable    // the rules of each
	extensionKeys  map[string]int // the index of each extension, by its JSON text
	ruleTexts      map[ruleRef]string

	notes notes
	roots []string
	// budget is how many bytes inlining may still add, because very many objects
	// can refer to one shared element.
	budget int
}

// inlineBudget is how many bytes inlining may add to a run.
const inlineBudget = 32 << 20

// result is a result of the merged run. Its object does not refer to its rule
// until the run is finished.
type result struct {
	object
	rule ruleRef
}

// ruleRef refers to a rule of the merged run.
type ruleRef struct {
	extension int // -1 means the driver
	index     int
}

// descriptor returns the object of a rule.
func (g *group) descriptor(r ruleRef) object {
	if r.extension >= 0 {
		return g.extensionTable[r.extension].rules[r.index]
	}
	return g.rules.rules[r.index]
}

func newGroup(category string, n notes, roots []string) *group {
	return &group{
		category:      category,
		run:           object{},
		driver:        object{},
		rules:         newRuleTable(),
		extensionKeys: map[string]int{},
		ruleTexts:     map[ruleRef]string{},
		notes:         n,
		roots:         roots,
		budget:        inlineBudget,
	}
}

// category returns a run's category: its automation id up to the last slash.
func category(run object) string {
	id := stringMember(child(run, "automationDetails"), "id")
	return id[:strings.LastIndexByte(id, '/')+1]
}

// add merges one more run, which has a tool with a name. Its objects become part of the group.
func (g *group) add(run object) {
	r := &resolver{
		group:              g,
		artifacts:          objects(list(run, "artifacts")),
		bases:              child(run, "originalUriBaseIds"),
		logical:            newShared(list(run, "logicalLocations")),
		addresses:          newShared(list(run, "addresses")),
		taxonomies:         newComponents(list(run, "taxonomies")),
		earlierInvocations: len(list(g.run, "invocations")),
		invocations:        len(list(run, "invocations")),
	}
	for _, name := range []string{"graphs", "webRequests", "webResponses", "externalPropertyFileReferences"} {
		if _, ok := run[name]; ok {
			g.notes.add(RuleUnused, name, 1)
			delete(run, name)
		}
	}
	for _, name := range []string{"originalUriBaseIds", "logicalLocations", "addresses", "specialLocations"} {
		delete(run, name)
	}
	r.addTool(child(run, "tool"))
	delete(run, "tool")
	r.shareSteps(run)
	for _, o := range objects(list(run, "results")) {
		if kind := stringMember(o, "kind"); kind == "pass" || kind == "notApplicable" {
			g.notes.add(RuleKinds, kind, 1)
			continue
		}
		g.problems++
		switch {
		case types().walk("result", o, r):
			g.results = append(g.results, result{o, r.rule})
		case r.current != nil: // the visit ended before leaveResult looked at the locations
			g.reason = "it has no message"
			g.notes.add(RulePaths, g.reason, 1)
			r.current = nil
		}
	}
	delete(run, "results")
	types().walk("run", run, r) // which reports false, because the tool was taken out
	g.addRest(run)
}

// addTool merges a run's tool: its rules and extensions.
func (r *resolver) addTool(tool object) {
	r.driver = child(tool, "driver")
	r.extensions = newComponents(list(tool, "extensions"))
	types().walk("toolComponent", r.driver, r)
	r.driverRules = objects(list(r.driver, "rules"))
	for _, rule := range r.driverRules {
		r.rules.add(rule)
	}
	addMissing(r.group.driver, r.driver)
	delete(r.group.driver, "rules")
	for _, e := range r.extensions.all {
		types().walk("toolComponent", e, r)
		r.extensionIndex = append(r.extensionIndex, r.addExtension(e))
		r.extensionRules = append(r.extensionRules, objects(list(e, "rules")))
	}
}

// addExtension returns the index of an extension, which it adds unless there is an
// equal one.
func (g *group) addExtension(e object) int {
	key := string(encode(e))
	if i, known := g.extensionKeys[key]; known {
		return i
	}
	table := newRuleTable()
	for _, rule := range objects(list(e, "rules")) {
		table.add(rule)
	}
	g.extensionKeys[key] = len(g.extensions)
	g.extensions = append(g.extensions, e)
	g.extensionTable = append(g.extensionTable, table)
	return len(g.extensions) - 1
}

// addRest merges a run's other members. Lists are joined; of single values the
// first one stays.
func (g *group) addRest(run object) {
	if g.merged > 0 && stringMember(g.run, "columnKind") != stringMember(run, "columnKind") {
		g.notes.add(RuleColumns, "", 1)
	}
	g.merged++
	delete(run, "automationDetails")
	for name, v := range run {
		mine, exists := g.run[name]
		theirs, isList := v.([]any)
		switch {
		case !exists:
			g.run[name] = v
		case isList:
			all, _ := mine.([]any)
			g.run[name] = append(slices.Clip(all), theirs...)
		}
	}
}

// finish returns the merged run. It is called again after results were cut.
func (g *group) finish() object {
	for name, v := range g.run {
		if l, ok := v.([]any); ok && name != "invocations" {
			g.run[name] = withoutRepetitions(l)
		}
	}
	results := make([]any, len(g.results))
	for i, r := range g.results {
		delete(r.object, "rule")
		delete(r.object, "ruleIndex")
		if r.rule.extension < 0 {
			r.object["ruleIndex"] = r.rule.index
		} else {
			r.object["rule"] = object{
				"id":            stringMember(g.descriptor(r.rule), "id"),
				"index":         r.rule.index,
				"toolComponent": object{"index": r.rule.extension},
			}
		}
		results[i] = r.object
	}
	g.run["results"] = results
	g.driver["rules"] = g.rules.complete(g.notes)
	tool := object{"driver": g.driver}
	if len(g.extensions) > 0 {
		all := make([]any, len(g.extensions))
		for i, e := range g.extensions {
			if t := g.extensionTable[i]; len(t.rules) > 0 {
				e["rules"] = t.complete(g.notes)
			}
			all[i] = e
		}
		tool["extensions"] = all
	}
	g.run["tool"] = tool
	if g.category != "" {
		g.run["automationDetails"] = object{"id": g.category}
	}
	return g.run
}

// withoutRepetitions returns the elements of a list, each value once.
func withoutRepetitions(l []any) []any {
	if len(l) < 2 {
		return l
	}
	seen := make(map[string]bool, len(l))
	kept := make([]any, 0, len(l))
	for _, v := range l {
		key := string(encode(v))
		if !seen[key] {
			seen[key] = true
			kept = append(kept, v)
		}
	}
	return kept
}
