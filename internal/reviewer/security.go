package reviewer

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/lazyregexp"
	"github.com/agent-airlock/airlock/internal/secrets"
	"github.com/agent-airlock/airlock/internal/text"
)

// security reviews one file for weaknesses and secrets.
func (r *Reviewer) security(f File) reviewed {
	if f.Deleted {
		if f.Vendored {
			return reviewed{}
		}
		return reviewed{silences: r.silencers.takenOut(&f), tests: f.tests()}
	}
	if reason := r.unreadable(f); reason != "" {
		return reviewed{skipped: reason}
	}
	out := reviewed{findings: r.findSecrets(f), skipped: onlySecrets(f)}
	var s *source // nil if the file is not scanned, because of its kind or its language
	if out.skipped == "" {
		if lang := f.language(); lang != nil {
			s = scan(f.Path, f.Text, lang)
			if end := s.copiedUntil(); end > 0 && f.hadLines(1, s.line(int32(end-1))) {
				out.skipped = "a copy of a library, or made by a compiler, as its beginning shows: the built-in security review only looked for secrets"
			} else if r.config.Tests || !testPath.MatchString(f.Path) && !taskPath.MatchString(f.Path) && !isExample(f.Path) {
				out.findings = append(out.findings, matchPack(s, r.packs[lang.name], r.config.selects)...)
			}
		}
		out.findings = withCredentials(out.findings, r.credentials(f, s))
		if !r.config.Tests {
			out.findings = s.outsideTests(out.findings)
		}
	}
	if workflowPath.MatchString(f.Path) {
		out.findings = append(out.findings, r.workflow(f)...)
	}
	out.ignores = ignores(f.Text, s)
	if out.skipped == "" {
		out.silences = append(r.silencers.silences(&f, s), r.silencers.takenOut(&f)...)
		out.tests = f.tests()
		if name := LanguageWithoutRules(f.Path); name != "" && s == nil { // a review that passes must not seem to have read the file
			out.skipped, out.withoutRules = "there are no rules for "+name+": the built-in security review only looked for secrets", true
		}
	}
	return out
}

// outsideTests returns all secrets, and the weaknesses outside of modules that Rust compiles only for
// tests.
func (s *source) outsideTests(found []finding.Finding) []finding.Finding {
	if s == nil || s.lang.name != "rust" {
		return found
	}
	inTests, last := map[int]bool{}, 0 // by line
	for i := range s.tokens {
		if !s.isSequence(i, "#", "[", "cfg", "(", "test", ")", "]", "mod") || !s.is(i+9, "{") {
			continue
		}
		line, end := max(last+1, s.line(s.tokens[i].start)), s.line(s.tokens[s.after(i+9)-1].start)
		for ; line <= end; line++ {
			inTests[line] = true
		}
		last = max(last, end)
	}
	return slices.DeleteFunc(found, func(f finding.Finding) bool {
		return !strings.HasPrefix(f.Rule, secretRule) && inTests[f.Range.StartLine]
	})
}

// BinaryFile is the Reason of Skipped for a binary file.
const BinaryFile = "a binary file"

// unreadable returns the reason why a file is not read at all, or "".
func (r *Reviewer) unreadable(f File) string {
	switch {
	case f.Binary || strings.IndexByte(f.Text[:min(len(f.Text), 8000)], 0) >= 0:
		return BinaryFile
	case len(f.Text) > r.config.MaxFileBytes:
		return fmt.Sprintf("larger than %s", text.Bytes(r.config.MaxFileBytes))
	}
	return ""
}

// longestLine is the length in bytes over which a line makes its file a minified one: see isMinified.
const longestLine = 5000

// densestScript is the mean length of a line in bytes over which a script counts as packed by a tool.
// In scripts that are written by hand the mean length is 30 to 50.
const densestScript = 110

// onlySecrets returns the reason why only secrets are looked for in a file, and in a workflow its
// weaknesses, or "".
func onlySecrets(f File) string {
	looked := ": the built-in security review only looked for secrets"
	if workflowPath.MatchString(f.Path) {
		looked = ": the built-in security review only looked for secrets and the weaknesses of workflows"
	}
	switch {
	case f.Generated:
		return "a generated file" + looked
	case f.Vendored:
		return "a vendored file" + looked
	case f.language() != nil && f.isMinified():
		return fmt.Sprintf("a line of more than %d bytes, as minified files have%s", longestLine, looked)
	case f.Changed != nil && f.withoutChanges().isPacked():
		return "lines as long as packed scripts have" + looked
	}
	return ""
}

// hadLines reports whether the file had these lines before the change: a change cannot exempt itself
// from review by lines that it adds.
func (f File) hadLines(first, last int) bool {
	if f.Changed == nil {
		return false
	}
	i := sort.Search(len(f.Changed), func(i int) bool { return f.Changed[i].Last >= first })
	return i == len(f.Changed) || f.Changed[i].First > last
}

// withoutChanges returns the file without the lines of f.Changed: the entire file if that is nil.
func (f File) withoutChanges() File {
	var b strings.Builder
	number, changed := 0, f.Changed
	for line := range strings.Lines(f.Text) {
		number++
		for len(changed) > 0 && changed[0].Last < number {
			changed = changed[1:]
		}
		if len(changed) == 0 || number < changed[0].First {
			b.WriteString(line)
		}
	}
	f.Text = b.String()
	return f
}

// isMinified reports whether a line is over longestLine. A file of shorter lines does not become
// minified by a change that adds a longer one, unless the change adds all its text.
func (f File) isMinified() bool {
	if !hasLineOver(f.Text, longestLine) {
		return false
	}
	before := f.withoutChanges().Text
	return strings.TrimSpace(before) == "" || hasLineOver(before, longestLine)
}

// isPacked reports whether a file is a script whose lines were joined.
func (f File) isPacked() bool {
	const fewest = 20 // lines
	lang := f.language()
	if lang == nil || lang.name != "javascript" {
		return false
	}
	lines := strings.Count(f.Text, "\n")
	return lines >= fewest && len(f.Text) > lines*densestScript
}

func hasLineOver(text string, most int) bool {
	for line := range strings.Lines(text) {
		if len(line) > most {
			return true
		}
	}
	return false
}

// secretRule is the rule for known values, and for text that looks like a private key or like one
// vendor's credential. The rule for random text under a name like key or password is
// secret-general.
const secretRule = "secret"

// madeInTests are the rules for secrets that tests make for themselves, such as tokens that they
// sign with a key of their own, UUIDs under the name of a vendor, and passwords in addresses for a
// parser.
var madeInTests = wordSetOf("jwt jwt-base64 heroku-api-key url-password vault-service-token sql-password xml-password php-password")

// recordedPage matches the paths of pages. Those of tests were recorded from elsewhere, and a
// secret in them is the other site's.
var recordedPage = lazyregexp.New(`(?i)\.(html?|mhtml)$`)

// loginRules are the rules for credentials that people write into commands, addresses and settings.
// manualPath matches manuals, which show such commands and settings. passwordRules are the rules
// for passwords that a file gives to an example, or to a service that it starts. They do not
// include an issuer's tokens, which are valid elsewhere.
var (
	passwordRules = wordSetOf("url-password connection-string-password basic-auth sql-password xml-password php-password ansible-password")
	loginRules    = wordSetOf("curl-auth-user curl-auth-header url-password connection-string-password basic-auth netrc-password sql-password xml-password php-password ansible-password jwt jwt-base64 stripe-access-token stripe-webhook-secret vault-service-token")
	manualPath    = lazyregexp.New(`(?i)\.(md|mdx|rst|adoc)$`)
	// docsPath matches directories of manuals, and of the pages that are made of them.
	docsPath = lazyregexp.New(`(?i)(^|/)(\w+[_-])?(docs?|documentation|website|guides?|manuals?)([_-]\w+)?/`)
	// startedForTests matches the files that start services for development and tests.
	startedForTests = lazyregexp.New(`(?i)(^|/)[^/]*compose[^/]*\.ya?ml$|(^|/)\.(ci|circleci|github|gitlab|devcontainer)/|(^|/)\.(gitlab-ci|travis|drone)\.ya?ml$`)
)

// halfOf maps each rule for half of a credential to the rule for the other half. Neither half is of
// use alone, and signed addresses, which anybody may see, contain a key's number.
var halfOf = map[string]string{"aws-access-token": "aws-secret-access-key", "aws-secret-access-key": "aws-access-token"}

// keyNumbers are the rules for the number of a key, if the key itself has no form of its own.
// likelyKey matches text that can be that key.
var (
	keyNumbers = wordSetOf("alibaba-access-key tencent-secret-id volcengine-access-key")
	likelyKey  = lazyregexp.New(`[A-Za-z0-9+/]{28,64}`)
)

// lacksKey reports whether nothing near the number of a key can be the key, so that the number is
// of no use.
func (f File) lacksKey(h secrets.Hit) bool {
	const near = 120 // bytes
	if !keyNumbers[h.Rule] || h.Encoded {
		return false
	}
	for _, text := range []string{f.Text[max(0, h.Start-near):h.Start], f.Text[h.End:min(len(f.Text), h.End+near)]} {
		for _, run := range likelyKey.FindAllString(text, -1) {
			if strings.ContainsAny(run, "0123456789") && strings.ToLower(run) != run && strings.ToUpper(run) != run {
				return false
			}
		}
	}
	return true
}

// issuersPrefix matches the beginnings of issuers' tokens that are secret wherever they are. Nothing
// else begins like that.
var issuersPrefix = lazyregexp.New(`^(?:gh[pousr]_|github_pat_|gl(?:pat|dt|rt|soat|ptt|cbt)-|xox[abeoprs]-|xapp-|npm_|pypi-AgE|rubygems_|dckr_[po]at_|` +
	`sk-(?:ant|proj|svcacct|admin|or)-|hf_|gsk_|xai-|nvapi-|r8_|GOCSPX-|SG\.|xkeysib-|xsmtpsib-|[rs]k_live_|sq0(?:atp|csp)-|shp(?:at|ca|pa|ss)_|` +
	`do[opr]_v1_|dapi|hv[sb]\.|lin_api_|ntn_|gl(?:sa|c)_|sntr(?:ys|yu)_|tskey-|PMAK-|pul-|dp\.[ps]t\.|ops_eyJ|sbp_|sb_secret_|pscale_|ATATT3|ATBB|` +
	`AGE-SECRET-KEY-1|phx_|figd_|CFPAT-|dt0[cs]|lsv2_|pcsk_|mdb_sa_sk_)`)

// isUnmistakable reports whether a hit is a secret, whoever wrote it: a known one, a private key,
// or a key in the form of its issuer. A private key does not count if it is in a copied library or
// made up. A key in an issuer's form does not count in comments, tests, manuals, examples and the
// files of startedForTests, where people invent such keys. s is the file's source, with or without
// its tokens.
func (f File) isUnmistakable(h secrets.Hit, s *source) bool {
	switch {
	case h.Rule == privateKey:
		return !f.Vendored && !isMadeUpKey(f.Text[h.Start:h.End]) // copied libraries have keys for their tests, which everybody knows
	case h.Rule == secrets.KnownRule:
		return true
	case testPath.MatchString(f.Path), manualPath.MatchString(f.Path), docsPath.MatchString(f.Path), isExample(f.Path), startedForTests.MatchString(f.Path), s.isInComment(h.Start):
		return false
	}
	return halfOf[h.Rule] != "" || keyNumbers[h.Rule] || issuersPrefix.MatchString(f.Text[h.Start:h.End])
}

// isInComment reports whether the line of a byte begins like a comment.
func (s *source) isInComment(offset int) bool {
	line := s.text[min(s.firstOnLine(s.line(int32(offset))), offset):offset]
	for _, sign := range []string{"//", "#", "* ", "*/", "/*", "<!--", ";"} {
		if strings.HasPrefix(line, sign) {
			return true
		}
	}
	return strings.HasPrefix(line, "--") && !commandPath.MatchString(s.path) // a flag in a command of several lines
}

// privateKey is the rule of private keys. One in a test may well be in use.
const privateKey = "private-key"

// isForShow reports whether a hit of a rule for secrets looks invented, or made for the place where
// it stands, such as a test or a manual. Every hit of the general rule counts as such, and so does a
// key's id in a signature.
func (f File) isForShow(h secrets.Hit) bool {
	value := f.Text[h.Start:h.End]
	switch {
	case h.Rule == secrets.GeneralRule, h.InSignature, isExampleSecret(f.Path, h.Rule, value):
		return true
	case loginRules[h.Rule] && manualPath.MatchString(f.Path):
		return true
	case passwordRules[h.Rule] && (isExample(f.Path) || startedForTests.MatchString(f.Path)):
		return true
	case madeInTests[h.Rule] && testPath.MatchString(f.Path):
		return true
	case h.Rule == privateKey:
		return false
	case recordedPage.MatchString(f.Path) && testPath.MatchString(f.Path):
		return true
	case strings.HasSuffix(h.Rule, "-token"), strings.HasSuffix(h.Rule, "-key"):
		return h.Explained != "" || isWording(value)
	}
	return h.Explained != ""
}

// findSecrets returns where secrets are in a file, never what they are.
func (r *Reviewer) findSecrets(f File) []finding.Finding {
	precise, general := r.byID[secretRule], r.byID["secret-general"]
	if !r.uses(precise) && !r.uses(general) {
		return nil
	}
	hits := r.secrets.ScanFile(f.Path, f.Text)
	if len(hits) == 0 {
		return nil
	}
	lines := unscanned(f)
	named := map[string]bool{}
	for _, h := range hits {
		named[h.Rule] = true
	}
	var found []finding.Finding
	for _, h := range hits {
		rule := precise
		if f.isForShow(h) {
			rule = general
		}
		precision := rule.Precision
		switch {
		case rule != precise:
		case f.lacksKey(h):
			precision = finding.PrecisionLow
		case !f.isUnmistakable(h, lines) || halfOf[h.Rule] != "" && !named[halfOf[h.Rule]]:
			precision = finding.PrecisionMedium
		}
		if !r.config.selects(rule, precision) {
			continue
		}
		one := rule.finding(f.Path, "", finding.Range{StartLine: h.Line, StartColumn: h.Column, EndLine: h.EndLine, EndColumn: h.EndColumn})
		one.Message = fmt.Sprintf("%s in the file (%s): revoke it and take it out.", rule.Message, h.Rule)
		found = append(found, one)
	}
	return found
}
