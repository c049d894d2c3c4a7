package reviewer

import (
	"fmt"
	"strings"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/secrets"
	"github.com/agent-airlock/airlock/internal/text"
)

// security reviews one file for weaknesses and secrets.
func (r *Reviewer) security(f File) reviewed {
	var out reviewed
	if why := r.unreadable(f); why != "" {
		out.skipped = why
		return out
	}
	if r.uses(secretRule) || r.uses(generalSecretRule) {
		for _, h := range r.secrets.ScanFile(f.Path, f.Text) {
			if r.uses(secretRuleOf(f.Path, h)) {
				out.findings = append(out.findings, secretFinding(f.Path, h))
			}
		}
	}
	lang := f.language()
	if why := onlySecrets(f); why != "" {
		out.skipped = why
		lang = nil
	}
	var comments *source
	if pack := r.packs[nameOf(lang)]; pack != nil {
		comments = scan(f.Path, f.Text, lang)
	}
	if pack := r.packs[nameOf(lang)]; pack != nil && (r.config.Tests || !testPath.MatchString(f.Path) && !taskPath.MatchString(f.Path)) {
		out.findings = append(out.findings, matchPack(comments, pack, r.uses)...)
	}
	if out.skipped == "" {
		out.findings = withCredentials(out.findings, r.credentials(f, comments))
	}
	if workflowPath.MatchString(f.Path) {
		out.findings = append(out.findings, r.workflow(f)...)
	}
	out.ignores = ignores(f.Text, comments)
	return out
}

func nameOf(l *language) string {
	if l == nil {
		return ""
	}
	return l.name
}

// unreadable says why a file is not read at all, or "".
func (r *Reviewer) unreadable(f File) string {
	switch {
	case f.Binary || strings.IndexByte(f.Text[:min(len(f.Text), 8000)], 0) >= 0:
		return "a binary file"
	case len(f.Text) > r.config.MaxFileBytes:
		return fmt.Sprintf("larger than %s", text.Bytes(r.config.MaxFileBytes))
	}
	return ""
}

// longestLine is the length in bytes from which a line makes its file a minified one.
const longestLine = 5000

// onlySecrets says why only secrets are looked for in a file, or "".
func onlySecrets(f File) string {
	switch {
	case f.Generated:
		return "a generated file: only secrets were looked for"
	case f.Vendored:
		return "a vendored file: only secrets were looked for"
	case f.language() != nil && hasLineOver(f.Text, longestLine):
		return fmt.Sprintf("a line of more than %d bytes, as minified files have: only secrets were looked for", longestLine)
	}
	return ""
}

func hasLineOver(t string, most int) bool {
	for line := range strings.Lines(t) {
		if len(line) > most {
			return true
		}
	}
	return false
}

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
