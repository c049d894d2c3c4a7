package reviewer

import (
	"fmt"
	"strings"

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
