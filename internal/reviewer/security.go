package reviewer

import (
	"fmt"
	"strings"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/secrets"
)

// secretRule is the rule of every secret; its findings name what was found.
var secretRule = &Rule{
	Rule: finding.Rule{ID: "secret", Name: "Secret in a file", Short: "Take the secret out of the file, and revoke it.",
		Full: "Whoever can read the repository, now or later, can use the secret.",
		Help: "Revoke the secret first: a commit that removes it leaves it in the history. Then read it from the environment or from a store of secrets.",
		CWE:  []int{798}, Severity: finding.High, Precision: finding.PrecisionHigh, Tags: []string{"security"}},
	Check: SecurityReview, Message: "Secret", Remediation: "Take the secret out of the file, and revoke it.",
}

// security reviews one file for weaknesses and secrets.
func (r *Reviewer) security(f File) reviewed {
	var out reviewed
	if why := r.unreadable(f); why != "" {
		out.skipped = why
		return out
	}
	if r.uses(secretRule) {
		for _, h := range r.secrets.ScanFile(f.Path, f.Text) {
			out.findings = append(out.findings, secretFinding(f.Path, h))
		}
	}
	lang := languageOf(f.Path)
	if why := onlySecrets(f); why != "" {
		out.skipped = why
		lang = nil
	}
	var comments *source
	if pack := r.packs[nameOf(lang)]; pack != nil {
		comments = scan(f.Path, f.Text, lang)
	}
	if pack := r.packs[nameOf(lang)]; pack != nil && (r.config.Tests || !testPath.MatchString(f.Path)) {
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

// secretFinding says where a secret is, never what it is.
func secretFinding(path string, h secrets.Hit) finding.Finding {
	severity := secretRule.Severity
	if h.Rule == "generic-api-key" {
		severity = finding.Medium // a general rule, which is often wrong
	}
	return finding.Finding{Check: SecurityReview, Tool: Tool, Rule: secretRule.ID, Severity: severity, Path: path,
		Message: fmt.Sprintf("Secret in the file (%s): revoke it and take it out.", h.Rule),
		Range:   finding.Range{StartLine: h.Line, StartColumn: h.Column, EndLine: h.EndLine, EndColumn: h.EndColumn}}
}

// unreadable says why a file is not read at all, or "".
func (r *Reviewer) unreadable(f File) string {
	switch {
	case f.Binary || strings.IndexByte(f.Text[:min(len(f.Text), 8000)], 0) >= 0:
		return "a binary file"
	case len(f.Text) > r.config.MaxFileBytes:
		return fmt.Sprintf("larger than %d bytes", r.config.MaxFileBytes)
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
	case languageOf(f.Path) != nil && hasLineOver(f.Text, longestLine):
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
