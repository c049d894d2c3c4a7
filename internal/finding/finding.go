// Package finding holds the one value that every check, reviewer and security
// report produces: something noticed at a place.
package finding

import (
	"cmp"
	"slices"
)

// Severity orders findings; the words are those of spec 000.
type Severity string

// The severities, from least to most severe.
const (
	None     Severity = "none"
	Low      Severity = "low"
	Medium   Severity = "medium"
	High     Severity = "high"
	Critical Severity = "critical"
)

// Range is a region of a file; lines and columns count from 1, 0 means unknown.
// Columns count UTF-16 code units, as SARIF's default columnKind does.
type Range struct {
	StartLine, StartColumn int
	EndLine, EndColumn     int
}

// Finding is one thing that a check or a reviewer noticed.
type Finding struct {
	Check    string // which of the six checks, or "" for an agent's report
	Tool     string
	Rule     string
	Severity Severity
	Message  string
	Path     string // relative to the repository's root, slash-separated
	Range    Range
	// Suggestion is the whole lines that should stand in the place of the lines
	// Range.StartLine to Range.EndLine (of the one line, where EndLine is 0), joined
	// by "\n" and without one at the end. "" is no suggestion: to remove lines, or to
	// leave an empty one, Range takes in a line beside them that is kept.
	Suggestion  string
	Fingerprint string // stable from run to run; without line numbers
}

// Precision says how often a rule is right; the words are code scanning's.
type Precision string

// The precisions, from most to least.
const (
	PrecisionVeryHigh Precision = "very-high"
	PrecisionHigh     Precision = "high"
	PrecisionMedium   Precision = "medium"
	PrecisionLow      Precision = "low"
	PrecisionUnknown  Precision = ""
)

// Rule is what is known about all findings of one rule.
type Rule struct {
	ID        string // stable from run to run, unique within its tool
	Name      string // for people; the ID where there is none
	Short     string // one sentence, plain text
	Full      string // plain text
	Help      string // Markdown: what to do about it
	HelpURI   string
	CWE       []int // numbers of the Common Weakness Enumeration
	Severity  Severity
	Precision Precision
	Tags      []string
}

// Rank orders severities: 0 for none, 4 for critical. A word that is none of
// the five counts as none.
func (s Severity) Rank() int {
	return max(0, slices.Index([]Severity{None, Low, Medium, High, Critical}, s))
}

// Rank orders precisions: 0 for an unknown one, 4 for very high.
func (p Precision) Rank() int {
	return max(0, slices.Index([]Precision{PrecisionUnknown, PrecisionLow, PrecisionMedium, PrecisionHigh, PrecisionVeryHigh}, p))
}

// Sort orders findings by place: path, line, column, then the most severe
// first, then tool, rule and message. The order depends on nothing else, so it
// is the same in every run.
func Sort(findings []Finding) {
	slices.SortStableFunc(findings, compare)
}

func compare(a, b Finding) int {
	return cmp.Or(
		cmp.Compare(a.Path, b.Path),
		cmp.Compare(a.Range.StartLine, b.Range.StartLine),
		cmp.Compare(a.Range.StartColumn, b.Range.StartColumn),
		cmp.Compare(b.Severity.Rank(), a.Severity.Rank()),
		cmp.Compare(a.Tool, b.Tool),
		cmp.Compare(a.Rule, b.Rule),
		cmp.Compare(a.Message, b.Message),
		cmp.Compare(a.Check, b.Check),
		cmp.Compare(a.Range.EndLine, b.Range.EndLine),
		cmp.Compare(a.Range.EndColumn, b.Range.EndColumn),
		cmp.Compare(a.Suggestion, b.Suggestion),
	)
}
