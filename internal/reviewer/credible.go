package reviewer

import (
	"regexp"
	"slices"
	"strings"
)

var (
	// standIn matches what only stands where a credential would.
	standIn = regexp.MustCompile(`(?i)example|placeholder|redacted|anonymous|bogus|dead_?beef|d3adb33f|ssword|change_?-?(me|it)|your|dummy|not_?-?a_?-?real|replace|xxx|\.\.\.|\*\*\*|<|>|\[|\]|\$|\{|\}|%[sdv(]|pass_?(word|wd|phrase)|secret|^test|test$|^(p|pw|pwd|pass|passwd|user|username|token|key|apikey|foo|bar|baz|abc|none|null|nil|true|false|undefined|string|required|optional|hidden|x+|0+|1+|me|my)\d*$`)
	// term matches names of methods and formats, which are no credentials.
	term = regexp.MustCompile(`(?i)^(md[245]|sha-?\d+|[bs]crypt\d*|argon2\w*|pbkdf2\w*|utf-?(8|16)|base(32|64)|oauth2?|[hrep]s\d{3}|x509|v\d+(\.\d+)*|u?int\d+|text\d*|input\d*|field\d*|aes-?\d+[\w-]*)$`)
	// words matches identifiers of several words: keys of texts, names of settings.
	words = regexp.MustCompile(`^([a-z]+|[A-Z]+|[A-Z][a-z]+)([._:-]?([a-z]+|[A-Z][a-z]*|[A-Z]+|\d))*$`)
	// common are passwords of letters only that are tried first.
	common = set([]string{"letmein", "qwerty", "welcome", "admin", "root", "toor", "tiger", "iloveyou", "monkey", "dragon", "swordfish", "sunshine", "master", "superman"})
)

// shortestCredential is in bytes.
const shortestCredential = 4

// plausible reports whether a text can be a credential where its place says that one
// is there.
func plausible(said string) bool {
	return len(said) >= shortestCredential && len(said) <= 128 && !strings.ContainsAny(said, " \t\n\\") && !standIn.MatchString(said) &&
		strings.Trim(said, said[:1]) != "" && !counted(said)
}

// counted reports digits in their order, such as 12345678 and 87654321, which stand for
// a password in examples.
func counted(said string) bool {
	return strings.Contains("01234567890123456789", said) || strings.Contains("98765432109876543210", said)
}

// credible reports whether a text looks like the value of a secret's name: letters
// with digits or signs that no name of something else has. compared says that the
// program compares the name with it.
func credible(name, said string, compared bool) bool {
	if common[said] && !strings.Contains(strings.ToLower(name), "key") {
		return true
	}
	if len(said) < shortestCredential || len(said) > 128 || strings.ContainsAny(said, " \t\n\\/") || standIn.MatchString(said) || term.MatchString(said) ||
		strings.ContainsAny(said[:1], ".#$@:-&?[(!") || strings.Trim(said, said[:1]) == "" || counted(said) || strings.EqualFold(name, said) {
		return false
	}
	signs := strings.ContainsAny(said, "!@#^&*+=?~")
	digits := strings.IndexFunc(said, func(r rune) bool { return '0' <= r && r <= '9' }) >= 0
	letters := strings.IndexFunc(said, func(r rune) bool { return 'a' <= r|0x20 && r|0x20 <= 'z' }) >= 0
	switch {
	case !letters:
		return digits && len(said) >= 6 && !strings.ContainsAny(said, ".:,")
	case strings.ContainsAny(said, "()[];"):
		return false
	case signs, compared && digits:
		return true
	}
	return digits && (!words.MatchString(said) || endsInDigits(said) || passwordName.MatchString(name) && mixed(said))
}

// passwordName matches the names of what people type, which is seldom the key of
// something else.
var passwordName = regexp.MustCompile(`(?i)pass_?(word|wd|phrase)?$|pwd$`)

// mixed reports texts in which letters and digits take turns, as in "x9Kd82mQ": no
// identifier is written so.
func mixed(said string) bool {
	turns, last := 0, -1
	for i := range len(said) {
		kind := 0
		if c := said[i]; '0' <= c && c <= '9' {
			kind = 1
		}
		if last >= 0 && kind != last {
			turns++
		}
		last = kind
	}
	return len(said) >= 8 && turns >= 3
}

// endsInDigits reports texts such as hunter2: small letters, then digits.
func endsInDigits(said string) bool {
	rest := strings.TrimRight(said, "0123456789")
	return len(rest) < len(said) && strings.Trim(strings.ToLower(rest), "abcdefghijklmnopqrstuvwxyz") == ""
}

// inAddresses finds passwords in addresses such as https://user:password@host/ and
// user:password@tcp(host:3306).
func inAddresses(t string) []writtenCredential {
	var places []writtenCredential
	for from := 0; ; {
		i := strings.Index(t[from:], "://")
		if i < 0 {
			break
		}
		from += i + len("://")
		end := from + strings.IndexFunc(t[from:min(len(t), from+longestAddress)]+" ", endsAuthority)
		authority := t[from:min(end, len(t))]
		at := strings.LastIndexByte(authority, '@')
		if at < 0 {
			continue
		}
		user, password, _ := strings.Cut(authority[:at], ":")
		if madeUpHost(authority[at+1:]) || !plausibleFor(user, password) {
			continue
		}
		places = append(places, writtenCredential{from + len(user) + 1, from + at, inAddress})
	}
	for _, sign := range []string{"@tcp(", "@unix("} {
		for from := 0; ; {
			i := strings.Index(t[from:], sign)
			if i < 0 {
				break
			}
			end := from + i
			from = end + len(sign)
			begin := max(0, end-longestAddress)
			begin += strings.LastIndexFunc(t[begin:end], endsAuthority) + 1
			user, password, _ := strings.Cut(t[begin:end], ":")
			host, _, _ := strings.Cut(t[from:min(len(t), from+longestAddress)], ")")
			if !madeUpHost(host) && plausibleFor(user, password) {
				places = append(places, writtenCredential{begin + len(user) + 1, end, inAddress})
			}
		}
	}
	return places
}

// longestAddress bounds how many bytes of an address are looked at.
const longestAddress = 256

func endsAuthority(r rune) bool {
	return r <= ' ' || strings.ContainsRune("/?#\"'`<>\\|()", r)
}

// plausibleFor reports whether a password is one, and not the user's name again.
func plausibleFor(user, password string) bool {
	return plausible(password) && !strings.EqualFold(user, password) && strings.ToUpper(password) != password
}

// madeUpHost reports hosts that are nowhere, or only on the machine itself.
func madeUpHost(host string) bool {
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
		host = host[:i]
	}
	host = strings.ToLower(host)
	if slices.Contains([]string{"", "localhost", "host", "hostname", "server", "servername", "domain", "ip", "addr", "address", "[::1]", "0.0.0.0", "foo", "bar", "a", "b", "x", "test"}, host) {
		return true
	}
	return strings.HasPrefix(host, "127.") || strings.Contains(host, "example") || strings.Contains(host, "bogus") || strings.ContainsAny(host, "${}%*") || strings.HasPrefix(host, "your") ||
		strings.HasPrefix(host, "my") || slices.ContainsFunc([]string{".test", ".invalid", ".localhost", "host.com", "domain.com"}, func(end string) bool { return strings.HasSuffix(host, end) })
}
