package finding

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Rules looks up a rule by a finding's tool and rule.
type Rules func(tool, rule string) (Rule, bool)

// Duplicate is a finding that another one already reports.
type Duplicate struct {
	Finding Finding
	KeptBy  Finding // the other one
}

// Merge returns the findings, sorted, with each problem once. Of several findings
// about one problem, it keeps that of the most precise rule, then the most
// severe, then the one with the most exact range. What is kept is about the lines of all of them.
//
// Findings about one problem are on the same line of the same file. If they are of different tools,
// they have the same rule or message, or their rules share a weakness (CWE). If they are of one
// tool, they have the same rule, message and range. Rules may be nil.
func Merge(findings []Finding, rules Rules) (kept []Finding, duplicates []Duplicate) {
	if rules == nil {
		rules = func(string, string) (Rule, bool) { return Rule{}, false }
	}
	sorted := slices.Clone(findings)
	Sort(sorted)
	for start := 0; start < len(sorted); {
		end := start + 1
		for end < len(sorted) && samePlace(sorted[start], sorted[end]) {
			end++
		}
		k, d := mergeLine(sorted[start:end], rules)
		kept = append(kept, k...)
		duplicates = append(duplicates, d...)
		start = end
	}
	Sort(kept)
	return kept, duplicates
}

func samePlace(a, b Finding) bool {
	return a.Path == b.Path && a.Range.StartLine == b.Range.StartLine
}

// mergeLine merges the findings of one line, the best first, so that the result
// does not depend on their order. Apart from sorting, it takes linear time.
func mergeLine(line []Finding, rules Rules) (kept []Finding, duplicates []Duplicate) {
	type candidate struct {
		Finding
		rule Rule
	}
	candidates := make([]candidate, len(line))
	for i, f := range line {
		r, _ := rules(f.Tool, f.Rule)
		candidates[i] = candidate{f, r}
	}
	slices.SortStableFunc(candidates, func(a, b candidate) int {
		return cmp.Or(
			cmp.Compare(b.rule.Precision.Rank(), a.rule.Precision.Rank()),
			cmp.Compare(b.Severity.Rank(), a.Severity.Rank()),
			cmp.Compare(exactness(b.Range), exactness(a.Range)),
		)
	})
	identical := make(map[string]int) // the kept finding of a tool, rule, message and range
	// about has, for each problem, the first kept finding, and the first one of another tool. If
	// any kept finding is of another tool than a candidate, so is one of these two.
	about := make(map[string][]int)
	for _, c := range candidates {
		identity := fmt.Sprintf("%q %q %q %v", c.Tool, c.Rule, c.Message, c.Range)
		keys := problems(c.Finding, c.rule)
		keeper, found := identical[identity]
		for _, k := range keys {
			for _, i := range about[k] {
				if kept[i].Tool != c.Tool && (!found || i < keeper) {
					keeper, found = i, true
				}
			}
		}
		if found {
			_, last := c.Lines()
			if _, known := kept[keeper].Lines(); last > known {
				kept[keeper].LastLine = last
			}
			duplicates = append(duplicates, Duplicate{Finding: c.Finding, KeptBy: kept[keeper]})
			continue
		}
		i := len(kept)
		kept = append(kept, c.Finding)
		identical[identity] = i
		for _, k := range keys {
			if l := about[k]; len(l) == 0 || len(l) == 1 && kept[l[0]].Tool != c.Tool {
				about[k] = append(l, i)
			}
		}
	}
	return kept, duplicates
}

// problems returns keys of the problem that a finding is about. Findings of two
// tools that share a key are about the same problem.
func problems(f Finding, r Rule) []string {
	var keys []string
	if f.Rule != "" {
		keys = append(keys, "rule "+f.Rule)
	}
	if m := strings.ToLower(strings.Join(strings.Fields(f.Message), " ")); m != "" {
		keys = append(keys, "message "+m)
	}
	for _, n := range r.CWE {
		keys = append(keys, fmt.Sprintf("weakness %d", n))
	}
	return keys
}

// exactness returns how many of a range's bounds are known.
func exactness(r Range) (n int) {
	for _, v := range []int{r.StartLine, r.StartColumn, r.EndLine, r.EndColumn} {
		if v > 0 {
			n++
		}
	}
	return n
}
