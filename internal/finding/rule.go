package finding

import "slices"

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
