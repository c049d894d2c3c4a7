package reviewer

import (
	"fmt"
	"strings"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/lazyregexp"
	"github.com/agent-airlock/airlock/internal/secrets"
	"github.com/agent-airlock/airlock/internal/text"
)

// security reviews one file for weaknesses and secrets.
func (r *Reviewer) security(f File) reviewed {
	if reason := r.unreadable(f); reason != "" {
		return reviewed{skipped: reason}
	}
	out := reviewed{findings: r.findSecrets(f), skipped: onlySecrets(f)}
	var s *source // nil where the file's language is not known
	if out.skipped == "" {
		if lang := f.language(); lang != nil {
			s = scan(f.Path, f.Text, lang)
			if r.config.Tests || !testPath.MatchString(f.Path) && !taskPath.MatchString(f.Path) {
				out.findings = append(out.findings, matchPack(s, r.packs[lang.name], r.uses)...)
			}
		}
		out.findings = withCredentials(out.findings, r.credentials(f, s))
	}
	if workflowPath.MatchString(f.Path) {
		out.findings = append(out.findings, r.workflow(f)...)
	}
	out.ignores = ignores(f.Text, s)
	if out.skipped == "" {
		out.silences = r.silencers.silences(&f, s)
	}
	return out
}

// unreadable returns the reason why a file is not read at all, or "".
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

// onlySecrets returns the reason why only secrets are looked for in a file, or "".
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

func hasLineOver(text string, most int) bool {
	for line := range strings.Lines(text) {
		if len(line) > most {
			return true
		}
	}
	return false
}

// secretRule is the rule of known values and of what looks like the credential of one vendor or
// like a private key. That of random text under a name like key or password is secret-general.
const secretRule = "secret"

// madeInTests are secrets that tests make for themselves: tokens that they sign with a
// key of their own, numbers that only a name next to them makes a secret, and passwords of
// addresses that a parser is tried on.
var madeInTests = words("jwt jwt-base64 heroku-api-key url-password")

// recordedPage matches the paths of pages that tests have recorded from elsewhere: what looks like a
// secret in them is the other site's.
var recordedPage = lazyregexp.New(`(?i)\.(html?|mhtml)$`)

// privateKey is the rule of private keys. One in a test may well be in use.
const privateKey = "private-key"

// findSecrets returns where secrets are in a file, never what they are.
func (r *Reviewer) findSecrets(f File) []finding.Finding {
	precise, general := r.byID[secretRule], r.byID["secret-general"]
	if !r.uses(precise) && !r.uses(general) {
		return nil
	}
	var found []finding.Finding
	for _, h := range r.secrets.ScanFile(f.Path, f.Text) {
		rule := precise
		madeUp := h.Explained != "" && h.Rule != privateKey || testPath.MatchString(f.Path) && (madeInTests[h.Rule] || h.Rule != privateKey && recordedPage.MatchString(f.Path))
		if h.Rule == secrets.GeneralRule || madeUp {
			rule = general
		}
		if !r.uses(rule) {
			continue
		}
		one := rule.finding(f.Path, "", finding.Range{StartLine: h.Line, StartColumn: h.Column, EndLine: h.EndLine, EndColumn: h.EndColumn})
		one.Message = fmt.Sprintf("%s in the file (%s): revoke it and take it out.", rule.Message, h.Rule)
		found = append(found, one)
	}
	return found
}
