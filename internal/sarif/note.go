package sarif

import (
	"cmp"
	"fmt"
	"slices"
)

// Note says that something in a log was cleaned, mended or cut: which rule, what
// it met, how often. It never carries text of the log, except for identifiers
// of rules and paths in Detail.
type Note struct {
	Rule   string
	Detail string
	Count  int
}

// The rules of notes. A Cleaner's notes keep their own.
const (
	RuleNulls        = "sarif-nulls"        // members that were null were left out
	RuleLinks        = "links"              // a link was left out; Detail names its host
	RuleNames        = "sarif-names"        // two member names became equal by cleaning; one was left out
	RulePaths        = "sarif-paths"        // results without a place in the repository were left out; Detail says why
	RuleRegions      = "sarif-regions"      // a region without a line, or that ends before it starts, was mended
	RuleIndexes      = "sarif-indexes"      // references to nothing were left out
	RuleMessages     = "sarif-messages"     // results without a text got the rule's
	RuleDescriptions = "sarif-descriptions" // rules lacked texts or were missing; they got the texts that there are
	RuleSeverity     = "sarif-severity"     // a security-severity that is no number from 0 to 10 was left out
	RuleUnused       = "sarif-unused"       // parts that code scanning does not read were left out; Detail names them
	RuleKinds        = "sarif-kinds"        // results that report no problem were left out, as code scanning would show them as alerts
	RuleMachine      = "sarif-machine"      // members of invocations that tell about a machine were left out; Detail names them
	RuleColumns      = "sarif-columns"      // runs that were merged count columns differently
	RuleHashes       = "sarif-fingerprints" // line hashes could not be computed; Detail says why
	RuleBadHashes    = "sarif-bad-hashes"   // line hashes that are none were replaced
	RuleRuns         = "sarif-runs"         // SARIF runs were cut
	RuleResults      = "sarif-results"      // results were cut, the least severe first
	RuleSize         = "sarif-size"         // results were cut to meet the size limit
	RuleRules        = "sarif-rules"        // rules that no result names were cut
	RuleExtensions   = "sarif-extensions"   // tool extensions were cut
	RuleLocations    = "sarif-locations"    // locations or steps of results were cut
	RuleTags         = "sarif-tags"         // tags of rules were cut
	RuleLengths      = "sarif-lengths"      // names or descriptions of rules were cut
)

// String words a note for people.
func (n Note) String() string {
	what, ok := noteTexts()[n.Rule]
	if !ok {
		what = n.Rule
	}
	s := fmt.Sprintf("%s: %d", what, n.Count)
	if n.Detail != "" {
		s += " (" + n.Detail + ")"
	}
	return s
}

func noteTexts() map[string]string {
	return map[string]string{
		RuleNulls:        "members without a value left out",
		RuleLinks:        "links left out",
		RuleNames:        "members left out because their names became equal",
		RulePaths:        "locations left out because they are no file of the repository",
		RuleRegions:      "regions mended",
		RuleIndexes:      "references to nothing left out",
		RuleMessages:     "results without a message that got their rule's",
		RuleDescriptions: "rules completed",
		RuleSeverity:     "security severities left out because they are no number from 0.0 to 10.0",
		RuleUnused:       "parts left out that code scanning does not read",
		RuleKinds:        "results left out because they report no problem",
		RuleMachine:      "members left out that tell about the machine a tool ran on",
		RuleColumns:      "merged runs that count columns differently",
		RuleHashes:       "results without a line hash, so that their alerts may appear anew",
		RuleBadHashes:    "line hashes replaced because they were none",
		RuleRuns:         "SARIF runs cut",
		RuleResults:      "results cut, the least severe first",
		RuleSize:         "results cut to stay below the size limit, the least severe first",
		RuleRules:        "unused rules cut",
		RuleExtensions:   "tool extensions cut",
		RuleLocations:    "locations and code flow steps cut",
		RuleTags:         "tags of rules cut",
		RuleLengths:      "names and descriptions of rules cut",
	}
}

// notes counts what happens.
type notes map[Note]int

func (n notes) add(rule, detail string, count int) {
	if count > 0 {
		n[Note{Rule: rule, Detail: detail}] += count
	}
}

func (n notes) addAll(more []Note) {
	for _, m := range more {
		n.add(m.Rule, m.Detail, m.Count)
	}
}

// list returns the notes, sorted; nil when there are none.
func (n notes) list() []Note {
	var out []Note
	for k, count := range n {
		k.Count = count
		out = append(out, k)
	}
	slices.SortFunc(out, func(a, b Note) int {
		return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Detail, b.Detail))
	})
	return out
}
