package sarif

import (
	"slices"
	"strings"
)

// group is the SARIF run that all runs of one tool and one category become.
type group struct {
	category string
	run      object // without tool.driver.rules, tool.extensions and results
	driver   object
	rules    ruleTable
	results  []object
	runs     int    // how many were merged
	asked    int    // how many results they had
	reason   string // why the last of those that were left out was

	extensions     []object
	extensionTable []ruleTable    // the rules of each
	extensionKeys  map[string]int // by content
	ruleTexts      map[ruleOf]string

	notes notes
	roots []string
	// budget bounds how many bytes inlining may add: one shared element can be
	// referred to very often.
	budget int
}

// inlineBudget is the most that inlining adds to a run, in bytes.
const inlineBudget = 32 << 20

func newGroup(category string, n notes, roots []string) *group {
	return &group{
		category:      category,
		run:           object{},
		driver:        object{},
		rules:         newRuleTable(),
		extensionKeys: map[string]int{},
		ruleTexts:     map[ruleOf]string{},
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

// add takes in one more run. The run's own objects become part of the group.
func (g *group) add(run object) {
	r := &resolver{
		group:       g,
		artifacts:   objects(list(run, "artifacts")),
		bases:       child(run, "originalUriBaseIds"),
		logical:     newShared(list(run, "logicalLocations")),
		addresses:   newShared(list(run, "addresses")),
		taxonomies:  newComponents(list(run, "taxonomies")),
		invocations: len(list(g.run, "invocations")),
		invoked:     len(list(run, "invocations")),
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
	if !r.tool(child(run, "tool")) {
		g.notes.add(RuleRuns, "no tool", 1) // Validate refuses such a run
		return
	}
	delete(run, "tool")
	r.shareSteps(run)
	for _, o := range objects(list(run, "results")) {
		if kind := stringMember(o, "kind"); kind == "pass" || kind == "notApplicable" {
			g.notes.add(RuleKinds, kind, 1)
			continue
		}
		g.asked++
		switch {
		case types().walk("result", o, r):
			g.results = append(g.results, o)
		case r.current != nil: // it was not visited to its end
			g.notes.add(RulePaths, "it has no message", 1)
			r.current = nil
		}
	}
	delete(run, "results")
	types().walk("run", run, r) // false, for want of the tool
	g.takeIn(run)
}

// tool takes in a run's tool: its rules and extensions.
func (r *resolver) tool(tool object) bool {
	r.driver = child(tool, "driver")
	r.extensions = newComponents(list(tool, "extensions"))
	if r.driver == nil || !types().walk("toolComponent", r.driver, r) {
		return false
	}
	r.rules = objects(list(r.driver, "rules"))
	for _, rule := range r.rules {
		r.group.rules.add(rule)
	}
	for k, v := range r.driver {
		if _, have := r.group.driver[k]; !have && k != "rules" {
			r.group.driver[k] = v
		}
	}
	for _, e := range r.extensions.all {
		types().walk("toolComponent", e, r)
		r.extensionIndex = append(r.extensionIndex, r.addExtension(e))
		r.extensionRules = append(r.extensionRules, objects(list(e, "rules")))
	}
	return true
}

// takeIn merges what a run holds beside its tool and results. Lists are joined;
// of single values the first wins.
func (g *group) takeIn(run object) {
	if g.runs > 0 && stringMember(g.run, "columnKind") != stringMember(run, "columnKind") {
		g.notes.add(RuleColumns, "", 1)
	}
	g.runs++
	for name, v := range run {
		if name == "tool" || name == "automationDetails" {
			continue
		}
		mine, have := g.run[name]
		theirs, isList := v.([]any)
		switch {
		case !have:
			g.run[name] = v
		case isList:
			all, _ := mine.([]any)
			g.run[name] = append(slices.Clip(all), theirs...)
		}
	}
}

// finish returns the merged run.
func (g *group) finish() object {
	for name, v := range g.run {
		if l, ok := v.([]any); ok && name != "invocations" {
			g.run[name] = withoutRepetitions(l)
		}
	}
	results := make([]any, len(g.results))
	for i, r := range g.results {
		results[i] = r
	}
	g.run["results"] = results
	g.driver["rules"] = g.rules.list(g.notes)
	tool := object{"driver": g.driver}
	if len(g.extensions) > 0 {
		all := make([]any, len(g.extensions))
		for i, e := range g.extensions {
			if t := g.extensionTable[i]; len(t.rules) > 0 {
				e["rules"] = t.list(g.notes)
			}
			all[i] = e
		}
		tool["extensions"] = all
	}
	g.run["tool"] = tool
	delete(g.run, "automationDetails")
	if g.category != "" {
		g.run["automationDetails"] = object{"id": g.category}
	}
	return g.run
}

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
