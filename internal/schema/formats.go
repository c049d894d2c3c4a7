package schema

import (
	"net/mail"
	"net/netip"
	"net/url"
	"regexp/syntax"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agent-airlock/airlock/internal/lazyregexp"
	"golang.org/x/net/idna"
)

// strictFormats returns the formats that the library does not know, or checks less strictly
// than their RFCs: it lets "http://a b" and "+1.2.3.4" pass. Of a regular expression it also builds
// the matcher, which may be a thousand times as large.
func strictFormats() map[string]func(any) bool {
	formats := map[string]func(any) bool{}
	for name, valid := range map[string]func(string) bool{
		"uri":           func(s string) bool { return isURI(s, true, isASCII) },
		"uri-reference": func(s string) bool { return isURI(s, false, isASCII) },
		"iri":           func(s string) bool { return isURI(s, true, isPrintable) },
		"iri-reference": func(s string) bool { return isURI(s, false, isPrintable) },
		"email":         func(s string) bool { return isEmail(s, isASCII, isHostname) },
		"idn-email":     func(s string) bool { return isEmail(s, isPrintable, isIDNHostname) },
		"hostname":      isHostname,
		"idn-hostname":  isIDNHostname,
		"ipv4":          isIPv4,
		"ipv6":          isIPv6,
		"uri-template":  uriTemplate.MatchString,
		"regex":         isPattern,
	} {
		formats[name] = func(v any) bool {
			s, isString := v.(string)
			return !isString || valid(s)
		}
	}
	return formats
}

// uriTemplate matches a template by RFC 6570: literals, and expressions such as {?page,per_page}.
var uriTemplate = lazyregexp.New("^(?:[^\\x00-\\x20\"%<>\\\\^`{|}\\x7f]|%[0-9A-Fa-f]{2}|\\{[+#./;?&=,!@|]?" + variable + "(?:," + variable + ")*\\})*$")

// variable matches one variable in an expression of a template, with its modifier.
const variable = `(?:\w|%[0-9A-Fa-f]{2})(?:\.?(?:\w|%[0-9A-Fa-f]{2}))*(?::[1-9][0-9]{0,3}|\*)?`

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}

func isPrintable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

// isURI reports whether s is a URI by RFC 3986, with a scheme where it must be absolute.
// An IRI by RFC 3987 only allows more characters.
func isURI(s string, absolute bool, characters func(string) bool) bool {
	const punctuation = "-._~:/?#[]@!$&'()*+,;=%"
	odd := func(r rune) bool {
		return r < utf8.RuneSelf && !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(punctuation, r))
	}
	if !characters(s) || strings.ContainsFunc(s, odd) || strings.Count(s, "#") > 1 {
		return false
	}
	u, err := url.Parse(s)
	if err != nil || absolute && !u.IsAbs() {
		return false
	}
	// Brackets stand only around an IP address.
	rest := strings.Replace(s, u.Host, "", 1)
	if strings.ContainsAny(rest, "[]") || strings.HasPrefix(u.Host, "[") && !isIPLiteral(u.Hostname()) {
		return false
	}
	for i := range len(s) {
		if s[i] == '%' && (i+2 >= len(s) || !isHex(s[i+1]) || !isHex(s[i+2])) {
			return false
		}
	}
	return true
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// isIPLiteral reports whether s may stand in the brackets of a URI: an IPv6 address, or anything
// that begins with v, as an address of a later version does, "v1.x".
func isIPLiteral(s string) bool {
	a, err := netip.ParseAddr(s)
	return err == nil && a.Is6() || strings.HasPrefix(s, "v")
}

// isPattern reports whether s is a regular expression that Go's regexp knows.
func isPattern(s string) bool {
	_, err := syntax.Parse(s, syntax.Perl)
	return err == nil
}

// formatSteps returns how many steps it takes, at most, to check the format of a text and to quote
// the text in a message.
func formatSteps(format, s string) int {
	steps := len(s) / quoted
	switch format {
	case "":
		return 0
	case "idn-hostname", "idn-email":
		steps += min(len(s), 253*utf8.UTFMax)
	case "regex":
		// A class such as \pL has hundreds of ranges.
		tables := strings.Count(s, `\p`) + strings.Count(s, `\P`)
		steps += 4*len(s) + 150*tables
		if strings.Contains(s, "(?") { // without regard to letter case, each character of a range is looked up
			beyondASCII := strings.Count(s, `\x`) + len(s) - utf8.RuneCountInString(s) // at most as many characters
			steps += 5000 * (tables + beyondASCII)
		}
	}
	return steps
}

// isEmail reports whether s is a mailbox by RFC 5321: no display name, no comment.
func isEmail(s string, characters, host func(string) bool) bool {
	at := strings.LastIndexByte(s, '@')
	if at < 1 || at > 64 || len(s) > 254 || !characters(s) {
		return false
	}
	local, domain := s[:at], s[at+1:]
	if literal, ok := strings.CutPrefix(domain, "["); ok {
		if !isAddressLiteral(literal) {
			return false
		}
	} else if !host(domain) {
		return false
	}
	parsed, err := mail.ParseAddress("<" + local + "@example.com>")
	if err != nil {
		return false
	}
	isQuoted := strings.HasPrefix(local, `"`) && strings.HasSuffix(local, `"`)
	return isQuoted || parsed.Address == local+"@example.com"
}

// isAddressLiteral reports whether s, after its opening bracket, is an IP address as mailboxes
// have it: "192.0.2.1]" or "IPv6:2001:db8::1]".
func isAddressLiteral(s string) bool {
	address, isClosed := strings.CutSuffix(s, "]")
	if !isClosed {
		return false
	}
	if v6, ok := strings.CutPrefix(address, "IPv6:"); ok {
		return isIPv6(v6)
	}
	return isIPv4(address)
}

// isHostname reports whether s is a host's name by RFC 1123.
func isHostname(s string) bool {
	if len(s) == 0 || len(s) > 253 {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if len(label) == 0 || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for i := range len(label) {
			if c := label[i]; c != '-' && !(c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z') {
				return false
			}
		}
	}
	return true
}

// isIDNHostname reports whether s is a host's name by RFC 5890. Its form in ASCII, for which the
// time is quadratic, has at least one byte for each character.
func isIDNHostname(s string) bool {
	if utf8.RuneCountInString(s) > 253 {
		return false
	}
	ascii, err := idna.Registration.ToASCII(s)
	return err == nil && isHostname(ascii)
}

func isIPv4(s string) bool {
	a, err := netip.ParseAddr(s)
	return err == nil && a.Is4()
}

func isIPv6(s string) bool {
	a, err := netip.ParseAddr(s)
	return err == nil && a.Is6() && a.Zone() == ""
}
