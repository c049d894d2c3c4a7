package sarif

import (
	"cmp"
	"slices"
)

// The limits of code scanning. It rejects a delivery that exceeds one.
const (
	maxRuns       = 20
	maxResults    = 25_000 // in a run
	maxRules      = 25_000 // in a run
	maxExtensions = 100    // in a run

	maxLocations = 1000   // in a result; code scanning shows only the first
	maxCodeFlows = 10     // in a result
	maxSteps     = 10_000 // in a thread flow
)

// isSuppressed reports whether a result is suppressed: that needs a suppression, and none may be under
// review or rejected.
func isSuppressed(result object) bool {
	suppressions := list(result, "suppressions")
	return len(suppressions) > 0 && !slices.ContainsFunc(suppressions, func(s any) bool {
		o, _ := s.(object)
		status := stringMember(o, "status")
		return status == "underReview" || status == "rejected"
	})
}

// severity returns the security-severity of a result's rule, or if the rule has none, a number for
// the result's level. It is -1 for a result that is suppressed, or that neither reports a failure
// nor asks for a review.
func (g *group) severity(r result) float64 {
	switch stringMember(r.object, "kind") {
	case "", "fail", "review", "open":
	default:
		return -1
	}
	if isSuppressed(r.object) {
		return -1
	}
	rule := g.descriptor(r.rule)
	if score, ok := severityScore(stringMember(child(rule, "properties"), "security-severity")); ok {
		return score
	}
	switch cmp.Or(stringMember(r.object, "level"), stringMember(child(rule, "defaultConfiguration"), "level"), "warning") {
	case "error":
		return 8
	case "warning":
		return 5
	case "note":
		return 2
	}
	return 0
}

// cutLocations cuts a result's lists and returns how many elements it removed.
func cutLocations(o object) (removed int) {
	cut := func(o object, name string, limit int) {
		if l := list(o, name); len(l) > limit {
			removed += len(l) - limit
			o[name] = l[:limit]
		}
	}
	cut(o, "locations", maxLocations)
	cut(o, "relatedLocations", maxLocations)
	cut(o, "codeFlows", maxCodeFlows)
	for _, flow := range objects(list(o, "codeFlows")) {
		for _, thread := range objects(list(flow, "threadFlows")) {
			cut(thread, "locations", maxSteps)
		}
	}
	return removed
}

// greatest returns the indexes of the n elements with the greatest scores, in
// ascending order. Of equal ones it prefers the first. n is at most len(scores).
func greatest(scores []float64, n int) []int {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	order = order[:n]
	slices.Sort(order)
	return order
}

// cutResults keeps the most severe results, as many as limit, and returns how many it removed.
func (g *group) cutResults(limit int) int {
	if len(g.results) <= limit {
		return 0
	}
	scores := make([]float64, len(g.results))
	for i, r := range g.results {
		scores[i] = g.severity(r)
	}
	kept := make([]result, limit)
	for i, n := range greatest(scores, limit) {
		kept[i] = g.results[n]
	}
	removed := len(g.results) - limit
	g.results = kept
	return removed
}

// cutRuns keeps the maxRuns groups whose worst results are the most severe.
func cutRuns(groups []*group, n notes) []*group {
	if len(groups) <= maxRuns {
		return groups
	}
	worst := make([]float64, len(groups))
	results := 0
	for i, g := range groups {
		worst[i] = -2 // less than that of any result
		results += len(g.results)
		for _, r := range g.results {
			worst[i] = max(worst[i], g.severity(r))
		}
	}
	var kept []*group
	for _, i := range greatest(worst, maxRuns) {
		kept = append(kept, groups[i])
		results -= len(groups[i].results)
	}
	n.add(RuleRuns, "", len(groups)-maxRuns)
	n.add(RuleResults, "of SARIF runs that were cut", results)
	return kept
}

// cutRules removes unused rules until no more rules than limit are left, and returns how
// many it removed. Used rules stay, even if they alone exceed the limit.
func (g *group) cutRules(limit int) int {
	if len(g.rules.rules) <= limit {
		return 0
	}
	used := make([]bool, len(g.rules.rules))
	spare := limit // how many unused ones may stay
	for _, r := range g.results {
		if r.rule.extension < 0 && !used[r.rule.index] {
			used[r.rule.index] = true
			spare--
		}
	}
	moved := make([]int, len(used)) // the new index of each rule that is kept
	kept := newRuleTable()
	for i, rule := range g.rules.rules {
		if !used[i] {
			if spare <= 0 {
				continue
			}
			spare--
		}
		moved[i] = kept.add(rule)
	}
	for i := range g.results {
		if r := &g.results[i].rule; r.extension < 0 {
			r.index = moved[r.index]
		}
	}
	removed := len(g.rules.rules) - len(kept.rules)
	g.rules = kept
	return removed
}

// cutExtensions keeps the extensions with the most results, and returns how many it
// removed. Used rules of a removed extension become rules of the driver.
func (g *group) cutExtensions(limit int) int {
	n := len(g.extensions)
	if n <= limit {
		return 0
	}
	uses := make([]float64, n)
	for _, r := range g.results {
		if r.rule.extension >= 0 {
			uses[r.rule.extension]++
		}
	}
	moved := make(map[int]int, limit) // the new index of each extension that is kept, by the old one
	extensions, tables := make([]object, limit), make([]ruleTable, limit)
	for i, e := range greatest(uses, limit) {
		moved[e], extensions[i], tables[i] = i, g.extensions[e], g.extensionTable[e]
	}
	for i := range g.results {
		r := &g.results[i].rule
		if e, ok := moved[r.extension]; ok {
			r.extension = e
		} else if r.extension >= 0 {
			*r = ruleRef{-1, g.rules.add(g.descriptor(*r))}
		}
	}
	g.extensions, g.extensionTable = extensions, tables
	return n - limit
}
