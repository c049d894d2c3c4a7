package sarif

import (
	"cmp"
	"slices"
)

// What code scanning takes in one delivery; over it, the delivery is rejected.
const (
	MaxRuns       = 20
	MaxResults    = 25_000 // a run
	MaxRules      = 25_000 // a run
	MaxExtensions = 100    // a run

	maxLocations = 1000 // a result; only the first is shown
	maxCodeFlows = 10   // a result
	maxSteps     = 10_000
)

// severity orders a group's results: the rule's security-severity, or what
// stands for the level where there is none. What is suppressed or not a
// failure comes last.
func (g *group) severity(o object) float64 {
	kind := stringMember(o, "kind")
	if kind != "" && kind != "fail" && kind != "review" && kind != "open" || len(list(o, "suppressions")) > 0 {
		return -1
	}
	rule := g.descriptor(g.ruleOf(o))
	if score, ok := severityScore(stringMember(child(rule, "properties"), "security-severity")); ok {
		return score
	}
	level := cmp.Or(stringMember(o, "level"), stringMember(child(rule, "defaultConfiguration"), "level"), "warning")
	switch level {
	case "error":
		return 8
	case "warning":
		return 5
	case "note":
		return 2
	}
	return 0
}

// ruleOf reads back which rule a result of the group is of.
func (g *group) ruleOf(o object) ruleOf {
	if ref := child(o, "rule"); ref != nil {
		e, _ := number(child(ref, "toolComponent"), "index")
		i, _ := number(ref, "index")
		return ruleOf{e, i}
	}
	i, _ := number(o, "ruleIndex")
	return ruleOf{-1, i}
}

// cutLocations cuts a result's lists and returns how many elements it cut.
func cutLocations(o object) (cut int) {
	shorten := func(o object, name string, most int) {
		if l := list(o, name); len(l) > most {
			cut += len(l) - most
			o[name] = l[:most]
		}
	}
	shorten(o, "locations", maxLocations)
	shorten(o, "relatedLocations", maxLocations)
	shorten(o, "codeFlows", maxCodeFlows)
	for _, flow := range objects(list(o, "codeFlows")) {
		for _, thread := range objects(list(flow, "threadFlows")) {
			shorten(thread, "locations", maxSteps)
		}
	}
	return cut
}

// cutResults keeps the most severe results, in their order, and returns how
// many it cut. Of equally severe ones the earlier stay.
func (g *group) cutResults(most int) int {
	if len(g.results) <= most {
		return 0
	}
	order := make([]int, len(g.results))
	scores := make([]float64, len(g.results))
	for i, r := range g.results {
		order[i], scores[i] = i, g.severity(r)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	order = order[:most]
	slices.Sort(order)
	kept := make([]object, most)
	for i, at := range order {
		kept[i] = g.results[at]
	}
	cut := len(g.results) - most
	g.results = kept
	return cut
}

// cutRuns keeps the groups with the most severe results, in their order.
func cutRuns(groups []*group, n notes) []*group {
	if len(groups) <= MaxRuns {
		return groups
	}
	worst := make(map[*group]float64)
	for _, g := range groups {
		worst[g] = -2
		for _, r := range g.results {
			worst[g] = max(worst[g], g.severity(r))
		}
	}
	order := slices.Clone(groups)
	slices.SortStableFunc(order, func(a, b *group) int { return cmp.Compare(worst[b], worst[a]) })
	lost := 0
	for _, g := range order[MaxRuns:] {
		lost += len(g.results)
	}
	n.add(RuleRuns, "", len(order)-MaxRuns)
	n.add(RuleResults, "of SARIF runs that were cut", lost)
	keep := make(map[*group]bool)
	for _, g := range order[:MaxRuns] {
		keep[g] = true
	}
	return slices.DeleteFunc(slices.Clone(groups), func(g *group) bool { return !keep[g] })
}

// cutRules cuts rules that no result names.
func (g *group) cutRules(most int) int {
	if len(g.rules.rules) <= most {
		return 0
	}
	used := make([]bool, len(g.rules.rules))
	for _, o := range g.results {
		if r := g.ruleOf(o); r.extension < 0 {
			used[r.index] = true
		}
	}
	moved := make([]int, len(used))
	kept := newRuleTable()
	spare := most
	for _, u := range used {
		if u {
			spare--
		}
	}
	for i, rule := range g.rules.rules {
		if !used[i] {
			if spare <= 0 {
				continue
			}
			spare--
		}
		moved[i] = kept.add(rule)
	}
	for _, o := range g.results {
		if r := g.ruleOf(o); r.extension < 0 {
			o["ruleIndex"] = moved[r.index]
		}
	}
	cut := len(g.rules.rules) - len(kept.rules)
	g.rules = kept
	return cut
}

// cutExtensions keeps the extensions whose rules most results name. Results of
// the others' rules name a rule of the driver instead, made of the extension's.
func (g *group) cutExtensions(most int) int {
	n := len(g.extensions)
	if n <= most {
		return 0
	}
	uses := make([]int, n)
	for _, o := range g.results {
		if r := g.ruleOf(o); r.extension >= 0 {
			uses[r.extension]++
		}
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(uses[b], uses[a]) })
	kept := order[:most]
	slices.Sort(kept)
	moved := make([]int, n)
	for i := range moved {
		moved[i] = -1
	}
	extensions, tables := make([]object, most), make([]ruleTable, most)
	for i, at := range kept {
		moved[at], extensions[i], tables[i] = i, g.extensions[at], g.extensionTable[at]
	}
	for _, o := range g.results {
		r := g.ruleOf(o)
		switch {
		case r.extension < 0:
		case moved[r.extension] >= 0:
			child(o, "rule")["toolComponent"] = object{"index": moved[r.extension]}
		default:
			o["ruleIndex"] = g.rules.add(g.descriptor(r))
			delete(o, "rule")
		}
	}
	g.extensions, g.extensionTable = extensions, tables
	return n - most
}
