package sarif

import (
	"cmp"
	"fmt"
	"slices"
)

// Note reports what was cleaned, repaired or left out of a log, and how often.
// Its Detail contains no text of the log except names of members and hosts.
type Note struct {
	Rule   string
	Detail string
	Count  int
}

// The rules of notes; noteTexts describes them. Notes of a Cleaner have the Cleaner's rules.
const (
	RuleNulls        = "sarif-nulls"
	RuleLinks        = "links" // Detail is the link's host, or "no absolute address"
	RuleNames        = "sarif-names"
	RulePaths        = "sarif-paths" // Detail is why a result is left out
	RuleRegions      = "sarif-regions"
	RuleIndexes      = "sarif-indexes"
	RuleMessages     = "sarif-messages"
	RuleDescriptions = "sarif-descriptions"
	RuleSeverity     = "sarif-severity"
	RuleUnused       = "sarif-unused"  // Detail is the name of the part
	RuleKinds        = "sarif-kinds"   // Detail is the kind, pass or notApplicable; code scanning would show such a result as an alert
	RuleMachine      = "sarif-machine" // Detail is the name of the member
	RuleColumns      = "sarif-columns"
	RuleHashes       = "sarif-fingerprints" // Detail is why a line hash cannot be computed
	RuleBadHashes    = "sarif-bad-hashes"
	RuleRuns         = "sarif-runs"
	RuleResults      = "sarif-results"
	RuleSize         = "sarif-size"
	RuleRules        = "sarif-rules"
	RuleExtensions   = "sarif-extensions"
	RuleLocations    = "sarif-locations"
	RuleTags         = "sarif-tags"
	RuleLengths      = "sarif-lengths"
)

var noteTexts = map[string]string{
	RuleNulls:        "members without a value left out",
	RuleLinks:        "links left out",
	RuleNames:        "members left out because cleaning made their names equal",
	RulePaths:        "results left out because they have no location in a file of the repository, or no message",
	RuleRegions:      "regions repaired",
	RuleIndexes:      "references left out that lead to nothing",
	RuleMessages:     "results without a message that got the message of their rule",
	RuleDescriptions: "rules completed",
	RuleSeverity:     "security severities left out because they are not numbers from 0.0 to 10.0",
	RuleUnused:       "parts left out that code scanning does not read",
	RuleKinds:        "results left out because they report no problem",
	RuleMachine:      "members left out that describe the machine a tool ran on",
	RuleColumns:      "merged runs that count columns differently",
	RuleHashes:       "results without a line hash, so that their alerts may appear anew",
	RuleBadHashes:    "invalid line hashes replaced",
	RuleRuns:         "SARIF runs cut",
	RuleResults:      "results cut, the least severe first",
	RuleSize:         "results cut to stay below the size limit, the least severe first",
	RuleRules:        "unused rules cut",
	RuleExtensions:   "tool extensions cut",
	RuleLocations:    "locations and code flow steps cut",
	RuleTags:         "tags of rules cut",
	RuleLengths:      "names and descriptions of rules cut",
}

// String describes the note for people.
func (n Note) String() string {
	s := fmt.Sprintf("%s: %d", cmp.Or(noteTexts[n.Rule], n.Rule), n.Count)
	if n.Detail != "" {
		s += " (" + n.Detail + ")"
	}
	return s
}

// notes are the counts of notes. The keys have no Count themselves.
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

// list returns the notes, sorted, or nil if there are none.
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
