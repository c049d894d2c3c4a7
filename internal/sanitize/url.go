package sanitize

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// verdict is the decision about one address.
type verdict struct {
	allowed bool
	host    string // canonical host, without "www."; empty if there is none to show
	detail  string // for the note: the host, the scheme, "reference" or "malformed"
}

// redaction returns the text that replaces a denied address. Nothing in it links.
func (v verdict) redaction() string {
	if v.host == "" {
		return "(redacted)"
	}
	return "(" + v.host + "/redacted)"
}

// redactionIn returns the redaction of the address src[start:end]. It leaves out the redaction's
// parentheses if others are around the address, unless a bracket precedes these: then they may
// belong to a link.
func (v verdict) redactionIn(src string, start, end int) string {
	note := v.redaction()
	if start > 0 && src[start-1] == '(' && end < len(src) && src[end] == ')' && !strings.HasSuffix(src[:start-1], "]") {
		return note[len("(") : len(note)-len(")")]
	}
	return note
}

// URL judges an address that is used as it is (neither Markdown nor HTML), as in a
// SARIF log. It returns the address after the character rules, without blanks
// around it, and whether the link rules allow it. If they do not, the text is its
// redaction.
func (s *Sanitizer) URL(address string) (string, bool) {
	clean := characters(address, &noter{})
	v := s.judge(clean)
	if !v.allowed {
		return v.redaction(), false
	}
	return strings.TrimFunc(clean, isURLBlank), true
}

// judge decides about an address whose entities and escapes are decoded. It
// reads it as browsers do (WHATWG URL), and as a renderer does that escapes a
// backslash before a browser sees it. Both readings must be allowed.
func (s *Sanitizer) judge(address string) verdict {
	u := trimURL(address)
	if len(u) != len(address) && strings.ContainsAny(strings.TrimFunc(address, isURLBlank), "\t\n\r") {
		v := s.judge(u) // browsers drop what others escape
		v.allowed = false
		return v
	}
	scheme, rest := splitScheme(u)
	switch scheme {
	case "":
		if len(u) >= 2 && isSlash(u[0]) && isSlash(u[1]) { // two slashes of either kind begin a host
			return s.judgeReference(strings.TrimLeft(u, `/\`))
		}
		return verdict{allowed: s.refs.allowsPath("", u), detail: "reference"}
	case "https":
		v := s.judgeReference(strings.TrimLeft(rest, `/\`))
		if !strings.HasPrefix(rest, "//") || len(rest) > 2 && isSlash(rest[2]) {
			v.allowed = false // some readers see a host, others a path of this server
		}
		return v
	case "http", "ftp", "ws", "wss":
		v := s.judgeAuthority(strings.TrimLeft(rest, `/\`))
		v.allowed = false
		return v
	case "mailto":
		if isMailAddress(rest) {
			return verdict{allowed: true}
		}
	}
	v := verdict{detail: scheme}
	if strings.HasPrefix(rest, "//") { // shown, never allowed
		v.host = s.judgeAuthority(rest[2:]).host
	}
	return v
}

// judgeReference decides about the host and the path after the slashes; the path may lead to an
// issue.
func (s *Sanitizer) judgeReference(rest string) verdict {
	v := s.judgeAuthority(rest)
	v.allowed = v.allowed && s.refs.allowsPath(v.host, rest[indexAnyOrLen(rest, `/\?#`):])
	return v
}

// judged are verdicts about hosts. Most texts link to few, and to the same ones.
type judged [16]struct {
	host    string // as written, with what else stands before the path
	verdict verdict
}

// judge returns what Sanitizer.judge returns. It keeps the verdicts about the hosts of
// ordinary https addresses, so that it seldom judges a host twice.
func (p *pass) judge(address string) verdict {
	const longest = 253
	host, ok := ordinaryHost(address)
	if !ok || len(host) > longest || p.s.refs.limited { // then the path counts as well
		return p.s.judge(address)
	}
	slot := &p.judged[(len(host)+int(host[0])+int(host[len(host)/2]))%len(p.judged)]
	if slot.host != host {
		whole := "https://" + host // a copy, so that the slot does not keep the text
		slot.host, slot.verdict = whole[len("https://"):], p.s.judge(whole)
	}
	return slot.verdict
}

// ordinaryHost returns what stands between "https://" and the path of an address, if nothing else
// decides where the address leads.
func ordinaryHost(address string) (host string, ok bool) {
	rest, ok := strings.CutPrefix(address, "https://")
	if !ok {
		return "", false
	}
	end := -1
	for i := 0; i < len(rest); i++ {
		switch c := rest[i]; {
		case c <= ' ', c >= utf8.RuneSelf, c == '\\':
			return "", false
		case end < 0 && (c == '/' || c == '?' || c == '#'):
			end = i
		}
	}
	if end < 0 {
		end = len(rest)
	}
	return rest[:end], end > 0
}

// judgeAuthority decides about what follows the slashes.
func (s *Sanitizer) judgeAuthority(rest string) verdict {
	browser := rest[:indexAnyOrLen(rest, `/\?#`)]
	escaped := rest[:indexAnyOrLen(rest, `/?#`)]
	v := s.judgeHost(browser)
	if !v.allowed || len(escaped) == len(browser) {
		return v
	}
	// The backslash becomes %5C, a part of the user info or of the host.
	if other := s.judgeHost(strings.ReplaceAll(escaped, `\`, "%5C")); !other.allowed {
		return other
	}
	return v
}

// judgeHost decides about a host with its port and user info.
func (s *Sanitizer) judgeHost(authority string) verdict {
	at := strings.LastIndexByte(authority, '@')
	written := withoutPort(authority[at+1:])
	host, ok := canonicalHost(written)
	if !ok {
		return verdict{detail: "malformed"}
	}
	shown := host
	for strings.HasPrefix(shown, "www.") {
		shown = shown[len("www."):]
	}
	v := verdict{allowed: at < 0 && !endsInCapitals(written) && s.hostAllowed(host), host: shown, detail: shown}
	if strings.Contains(shown, "www.") {
		v.host = "" // it would link
	}
	return v
}

// endsInCapitals reports whether a capital follows the last small letter that stands after
// a dot in a host, as in github.cOm and docs.github.Com. The links of some readers (goldmark) end
// before the capitals, or before their label, and lead to another host.
func endsInCapitals(host string) bool {
	capital := false
	for i := len(host) - 1; i > 0; i-- {
		switch c := host[i]; {
		case 'A' <= c && c <= 'Z':
			capital = true
		case 'a' <= c && c <= 'z' && host[i-1] == '.':
			return capital
		}
	}
	return false
}

// trimURL drops what browsers drop: control characters and spaces at both ends,
// tabs and line breaks everywhere.
func trimURL(u string) string {
	k := 0
	for k < len(u) && u[k] > ' ' {
		k++
	}
	if k == len(u) {
		return u
	}
	return urlBreaks.Replace(strings.TrimFunc(u, isURLBlank))
}

var urlBreaks = strings.NewReplacer("\t", "", "\n", "", "\r", "")

func isURLBlank(r rune) bool { return r <= ' ' }

// splitScheme returns the scheme in lower case and what follows its colon. The
// scheme is empty if there is none.
func splitScheme(u string) (scheme, rest string) {
	if u == "" || !isAlpha(u[0]) {
		return "", u
	}
	for i := 1; i < len(u); i++ {
		switch c := u[i]; {
		case isAlnum(c), c == '+', c == '-', c == '.':
		case c == ':':
			return strings.ToLower(u[:i]), u[i+1:]
		default:
			return "", u
		}
	}
	return "", u
}

// isMailAddress reports whether s is one plain address, without headers such as a
// subject or body.
func isMailAddress(s string) bool {
	local, host, ok := strings.Cut(s, "@")
	if !ok || local == "" || !isPlainHost(strings.ToLower(strings.ReplaceAll(host, "_", "-"))) {
		return false
	}
	for i := 0; i < len(local); i++ {
		if c := local[i]; !isAlnum(c) && strings.IndexByte(".+-_=~", c) < 0 {
			return false
		}
	}
	return true
}

func indexAnyOrLen(s, chars string) int {
	if i := strings.IndexAny(s, chars); i >= 0 {
		return i
	}
	return len(s)
}

func isSlash(c byte) bool { return c == '/' || c == '\\' }

// configuredHost returns the canonical form of a host of the configuration.
func configuredHost(entry string) (host string, ok bool) {
	host = strings.ToLower(strings.TrimSpace(entry))
	host = strings.TrimPrefix(host, "https://")
	host = strings.TrimSuffix(host, "/")
	host = strings.TrimPrefix(host, "*.")
	return canonicalHost(withoutPort(host))
}

// canonicalHost returns the ASCII form of a host name, without a trailing dot. It
// refuses names that browsers would not read as written: percent escapes,
// compatibility characters, characters that are ignored.
func canonicalHost(host string) (string, bool) {
	// This must come before the change to lower case, which turns some other letters into ASCII.
	ascii := !strings.ContainsFunc(host, func(r rune) bool { return r >= utf8.RuneSelf })
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if !ascii {
		puny, err := idna.Lookup.ToASCII(host)
		if err != nil || puny == host { // in lower case it is ASCII
			return "", false
		}
		back, err := idna.Lookup.ToUnicode(puny)
		if err != nil || back != host {
			return "", false
		}
		host = puny
	}
	return host, isPlainHost(host)
}

// isPlainHost reports whether host consists of dot-separated labels of letters,
// digits and hyphens, so that it can be shown in a note and compared as it is.
func isPlainHost(host string) bool {
	if host == "" || len(host) > 253 {
		return false
	}
	label := 0
	for i := 0; i < len(host); i++ {
		switch c := host[i]; {
		case c == '.':
			if label == 0 {
				return false
			}
			label = 0
			continue
		case c == '-' && label == 0, !isAlnum(c) && c != '-':
			return false
		}
		label++
	}
	return label > 0
}

// hostAllowed reports whether links may lead to a canonical host.
func (s *Sanitizer) hostAllowed(host string) bool {
	for more := true; more; _, host, more = strings.Cut(host, ".") {
		if s.hosts[host] {
			return true
		}
	}
	return false
}

// withoutPort returns a host without its port. A colon that no port number follows stays.
func withoutPort(host string) string {
	i := strings.LastIndexByte(host, ':')
	if i < 0 || len(host)-(i+1) > len("65535") {
		return host
	}
	if _, err := strconv.ParseUint(host[i+1:], 10, 16); err != nil {
		return host
	}
	return host[:i]
}

func isAlpha(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isAlnum(c byte) bool { return isAlpha(c) || isDigit(c) }
