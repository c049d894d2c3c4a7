package sanitize

import (
	"errors"
	"strings"

	"golang.org/x/net/idna"
)

// verdict is what was decided about one address.
type verdict struct {
	allowed bool
	host    string // canonical host, without "www."; empty when there is none to show
	detail  string // for the note: the host, the scheme, or "malformed"
}

// redaction is the text that stands for a denied address. It holds nothing
// that links again.
func (v verdict) redaction() string {
	if v.host == "" {
		return "(redacted)"
	}
	return "(" + v.host + "/redacted)"
}

// URL judges an address that is used as it is (not Markdown, not HTML), as in
// a SARIF log. It returns the address after the character rules, without blanks
// around it, and whether the link rules allow it; when they do not, the text is its redaction.
func (s *Sanitizer) URL(address string) (string, bool) {
	var n noter
	clean := characters(address, &n)
	v := s.judge(clean)
	if !v.allowed {
		return v.redaction(), false
	}
	return strings.TrimFunc(clean, isBlank), true
}

// judge decides about an address whose entities and escapes are decoded. It
// reads it as browsers do (WHATWG URL), and as a renderer does that escapes a
// backslash before a browser sees it; both readings must be allowed.
func (s *Sanitizer) judge(address string) verdict {
	u := trimURL(address)
	if len(u) != len(address) && strings.ContainsAny(strings.TrimFunc(address, isBlank), "\t\n\r") {
		v := s.judge(u) // browsers drop what others escape
		v.allowed = false
		return v
	}
	scheme, rest := splitScheme(u)
	switch scheme {
	case "":
		return s.judgeRelative(u)
	case "https":
		v := s.judgeAuthority(scheme, strings.TrimLeft(rest, `/\`))
		if !strings.HasPrefix(rest, "//") || len(rest) > 2 && isSlash(rest[2]) {
			v.allowed = false // some take it for a host, others for a path of this server
		}
		return v
	case "http", "ftp", "ws", "wss":
		v := s.judgeAuthority(scheme, strings.TrimLeft(rest, `/\`))
		v.allowed = false
		return v
	case "mailto":
		if isMailAddress(rest) {
			return verdict{allowed: true}
		}
	}
	v := verdict{detail: scheme}
	if strings.HasPrefix(rest, "//") { // shown, never allowed
		v.host = s.judgeAuthority(scheme, rest[2:]).host
	}
	return v
}

// judgeRelative decides about an address without a scheme. Two slashes of
// either kind begin a host.
func (s *Sanitizer) judgeRelative(u string) verdict {
	if len(u) >= 2 && isSlash(u[0]) && isSlash(u[1]) {
		return s.judgeAuthority("https", strings.TrimLeft(u, `/\`))
	}
	return verdict{allowed: true}
}

// judgeAuthority decides about what follows the slashes.
func (s *Sanitizer) judgeAuthority(scheme, rest string) verdict {
	browser := rest[:indexAnyOrLen(rest, `/\?#`)]
	escaped := rest[:indexAnyOrLen(rest, `/?#`)]
	v := s.judgeHost(browser)
	if !v.allowed || len(escaped) == len(browser) {
		return v
	}
	// The backslash becomes %5C, part of the user info or of the host.
	other := s.judgeHost(strings.ReplaceAll(escaped, `\`, "%5C"))
	if !other.allowed {
		return other
	}
	return v
}

func (s *Sanitizer) judgeHost(authority string) verdict {
	host, userInfo := authority, false
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		host, userInfo = authority[i+1:], true
	}
	if i := strings.LastIndexByte(host, ':'); i >= 0 && isPort(host[i+1:]) {
		host = host[:i]
	}
	divided := cutByCase(host)
	host, ok := canonicalHost(host)
	if !ok {
		return verdict{detail: "malformed"}
	}
	shown := host
	for strings.HasPrefix(shown, "www.") {
		shown = shown[len("www."):]
	}
	v := verdict{allowed: !userInfo && !divided && s.hostAllowed(host), host: shown, detail: shown}
	if strings.Contains(shown, "www.") {
		v.host = "" // shown, it would link again
	}
	return v
}

// cutByCase reports whether a host's last label goes on in capitals, as in
// github.cOm: there are readers (goldmark) whose links end before them, and lead to
// another host.
func cutByCase(host string) bool {
	label := host[strings.LastIndexByte(host, '.')+1:]
	if label == "" || label[0] < 'a' || label[0] > 'z' {
		return false
	}
	return strings.ContainsFunc(label, func(r rune) bool { return 'A' <= r && r <= 'Z' })
}

// trimURL drops what browsers drop: control characters and spaces at both
// ends, tabs and line breaks everywhere.
func trimURL(u string) string {
	u = strings.TrimFunc(u, isBlank)
	if strings.ContainsAny(u, "\t\n\r") {
		u = strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(u)
	}
	return u
}

func isBlank(r rune) bool { return r <= ' ' }

// splitScheme returns the scheme in lower case and what follows its colon; an
// empty scheme when there is none.
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

// isMailAddress tells that s is one plain address, without headers such as a
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

var errNotHost = errors.New(`write a host name such as "example.org"`)

// domainEntry normalises one configured host.
func domainEntry(entry string) (string, error) {
	host := strings.ToLower(strings.TrimSpace(entry))
	host = strings.TrimPrefix(host, "https://")
	host = strings.TrimSuffix(host, "/")
	host = strings.TrimPrefix(host, "*.")
	if i := strings.LastIndexByte(host, ':'); i >= 0 && isPort(host[i+1:]) {
		host = host[:i]
	}
	host, ok := canonicalHost(host)
	if !ok {
		return "", errNotHost
	}
	return host, nil
}

// canonicalHost returns the ASCII form of a host name, without a trailing
// dot. It refuses whatever browsers would read as another name than the one
// that is written: percent escapes, compatibility characters, characters that
// are ignored.
func canonicalHost(host string) (string, bool) {
	host = strings.TrimSuffix(host, ".")
	ascii := true
	for i := 0; i < len(host); i++ {
		if host[i] >= 0x80 {
			ascii = false
			break
		}
	}
	host = strings.ToLower(host)
	if !ascii {
		puny, err := idna.Lookup.ToASCII(host)
		if err != nil {
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

// isPlainHost tells that host consists of dot-separated labels of letters,
// digits and hyphens: what can be shown in a note and compared as it is.
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

// hostAllowed tells whether links may lead to a canonical host.
func (s *Sanitizer) hostAllowed(host string) bool {
	for {
		if s.hosts[host] {
			return true
		}
		i := strings.IndexByte(host, '.')
		if i < 0 {
			return false
		}
		host = host[i+1:]
	}
}

func isPort(s string) bool {
	if s == "" || len(s) > 5 {
		return false
	}
	n := 0
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
		n = n*10 + int(s[i]-'0')
	}
	return n <= 65535
}

func isAlpha(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isAlnum(c byte) bool { return isAlpha(c) || isDigit(c) }
