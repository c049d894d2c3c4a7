package reviewer

import (
	"fmt"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/secrets"
)

const secretRemedy = "Take the secret out of the file, and revoke it."

// secretRule is the rule of known values and of what looks like the credential of one
// vendor or like a private key; its findings name what was found.
var secretRule = &Rule{
	Rule: finding.Rule{ID: "secret", Name: "Secret in a file", Short: secretRemedy,
		Full: "Whoever can read the repository, now or later, can use the secret.",
		Help: "Revoke the secret first: a commit that removes it leaves it in the history. Then read it from the environment or from a store of secrets.",
		CWE:  []int{798}, Severity: finding.High, Precision: finding.PrecisionHigh, Tags: []string{"security"}},
	Check: SecurityReview, Message: "Secret", Remediation: secretRemedy,
}

// generalSecretRule is the rule of random text that a name like key or password is given.
var generalSecretRule = &Rule{
	Rule: finding.Rule{ID: "secret-general", Name: "Random text under the name of a secret", Short: secretRemedy,
		Full: secretRule.Full, Help: secretRule.Help,
		CWE: []int{798}, Severity: finding.Medium, Precision: finding.PrecisionLow, Tags: []string{"security"}},
	Check: SecurityReview, Message: "Possible secret", Remediation: secretRemedy,
	Off: "most of what it finds in real sources are invented values of tests and examples",
}

// madeInTests are secrets that tests make for themselves: tokens that they sign with a
// key of their own, and numbers that are known by a name beside them only.
var madeInTests = set([]string{"jwt", "jwt-base64", "heroku-api-key"})

// secretRuleOf returns the rule to which a hit in a file belongs.
func secretRuleOf(path string, h secrets.Hit) *Rule {
	if h.Rule == secrets.GeneralRule || madeInTests[h.Rule] && testPath.MatchString(path) {
		return generalSecretRule
	}
	return secretRule
}

// secretFinding says where a secret is, never what it is.
func secretFinding(path string, h secrets.Hit) finding.Finding {
	rule := secretRuleOf(path, h)
	return finding.Finding{Check: SecurityReview, Tool: Tool, Rule: rule.ID, Severity: rule.Severity, Path: path,
		Message: fmt.Sprintf("%s in the file (%s): revoke it and take it out.", rule.Message, h.Rule),
		Range:   finding.Range{StartLine: h.Line, StartColumn: h.Column, EndLine: h.EndLine, EndColumn: h.EndColumn}}
}
