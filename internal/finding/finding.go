// Package finding holds the one value that every check, reviewer and security
// report produces: something noticed at a place.
package finding

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
