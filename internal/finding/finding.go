// Package finding defines the value that every check, reviewer and security
// report produces: a problem at a place in a file.
package finding

import (
	"cmp"
	"slices"
)

// Severity is how bad a finding is.
type Severity string

// The severities, from least to most severe.
const (
	None     Severity = "none"
	Low      Severity = "low"
	Medium   Severity = "medium"
	High     Severity = "high"
	Critical Severity = "critical"
)

// Range is a region of a file. Lines and columns count from 1; 0 means unknown.
// Columns count UTF-16 code units, as SARIF's do by default.
type Range struct {
	StartLine, StartColumn int
	EndLine, EndColumn     int
}

// Finding is one problem that a check or a reviewer reports.
type Finding struct {
	Check    string // which of the six checks; "" for an agent's report
	Tool     string
	Rule     string
	Severity Severity
	Message  string
	Path     string // relative to the repository's root, slash-separated
	Range    Range
	// LastLine is the last line of the code that the finding is about, such as a call with its
	// arguments, if that is after Range; otherwise 0.
	LastLine int `json:",omitzero"`
	// Suggestion is the text that should replace the lines Range.StartLine to
	// Range.EndLine, or StartLine alone if EndLine is 0: complete lines, without
	// the final "\n". "" means that there is none; to remove lines, or to leave an
	// empty one, Range includes an adjacent line that is kept.
	Suggestion  string
	Fingerprint string // stable from run to run, and independent of line numbers
}

// Precision is how often a rule is right, in code scanning's words.
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
	Name      string // for people; "" means the ID
	Short     string // one sentence, plain text
	Full      string // plain text
	Help      string // Markdown: what to do about it
	HelpURI   string
	CWE       []int // numbers of the Common Weakness Enumeration
	Severity  Severity
	Precision Precision
	Tags      []string
}

// Lines returns the first and the last line of the code that a finding is about, 0 if they are not
// known. A change that touches one of them counts as the cause of the finding.
func (f Finding) Lines() (first, last int) {
	if f.Range.StartLine == 0 {
		return 0, 0
	}
	return f.Range.StartLine, max(f.Range.StartLine, f.Range.EndLine, f.LastLine)
}

// Rank orders severities from 0, none, to 4, critical. An unknown one has rank 0.
func (s Severity) Rank() int {
	return max(0, slices.Index([]Severity{None, Low, Medium, High, Critical}, s))
}

// Rank orders precisions from 0, unknown, to 4, very high.
func (p Precision) Rank() int {
	return max(0, slices.Index([]Precision{PrecisionUnknown, PrecisionLow, PrecisionMedium, PrecisionHigh, PrecisionVeryHigh}, p))
}

// Sort orders findings by path, line and column, then the most severe first,
// then by the other fields except Fingerprint, so that the order is the same in
// every run.
func Sort(findings []Finding) { slices.SortStableFunc(findings, compare) }

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
		cmp.Compare(a.LastLine, b.LastLine),
	)
}
