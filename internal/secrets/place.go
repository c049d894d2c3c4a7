package secrets

import (
	"unicode/utf8"

	"github.com/agent-airlock/airlock/internal/finding"
)

// locate sets lines and columns of hits, which must be ordered by place and not
// overlap. It reads the text once.
func locate(text string, hits []Hit) {
	at, line, column := 0, 1, 1
	move := func(to int) (int, int) {
		for at < to {
			r, size := utf8.DecodeRuneInString(text[at:])
			switch {
			case r == '\n':
				line, column = line+1, 1
			case r > 0xFFFF:
				column += 2
			default:
				column++
			}
			at += size
		}
		return line, column
	}
	for i := range hits {
		h := &hits[i]
		h.Line, h.Column = move(h.Start)
		h.EndLine, h.EndColumn = move(h.End)
	}
}

// cwe is the weakness that all rules are about: credentials that are written down
// (CWE-798).
const cwe = 798

// Finding returns the hit as a finding in a file. It holds nothing of the secret.
func (h Hit) Finding(path string) finding.Finding {
	rule := h.FindingRule()
	message := h.Name
	if h.Encoded {
		message += ", encoded"
	}
	return finding.Finding{
		Tool: "airlock", Rule: rule.ID, Severity: rule.Severity, Path: path,
		Message: "This looks like " + message + ". Take it out, and make it invalid where it was issued: what was pushed once stays readable.",
		Range:   finding.Range{StartLine: h.Line, StartColumn: h.Column, EndLine: h.EndLine, EndColumn: h.EndColumn},
	}
}

// FindingRule returns the rule of the hit's finding.
func (h Hit) FindingRule() finding.Rule {
	rule := finding.Rule{
		ID: "secret/" + h.Rule, Name: h.Rule, CWE: []int{cwe}, Tags: []string{"security"},
		Short: "A secret is written down: " + h.Name + ".", Severity: finding.Critical, Precision: finding.PrecisionHigh,
		Full: "A credential in a repository can be read by everybody who can read the repository, now and later.",
		Help: "Revoke the credential where it was issued, then remove it from the change. " +
			"Keep it in the secrets of the repository or of the service that runs the program, and read it from the environment. " +
			"If it is only an example, write one that cannot be taken for a real one, such as `<token>`.",
	}
	switch h.Rule {
	case KnownRule:
		rule.Precision = finding.PrecisionVeryHigh
		rule.Short = "A secret that Airlock was told to keep is written down."
	case GeneralRule:
		rule.Severity, rule.Precision = finding.Medium, finding.PrecisionLow
	}
	return rule
}
