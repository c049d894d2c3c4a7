package secrets

import (
	"net/netip"
	"strings"
)

// isWords reports whether a text is made of words, as names in code and passphrases are. It is
// cut into parts where letters, digits and cases change. The parts have three characters or more
// on average. Of the letters in parts of three or more, at least three quarters are in parts that
// can be spoken.
func isWords(text string) bool {
	parts, size, speakable, unspeakable := 0, 0, 0, 0
	for rest := text; rest != ""; {
		n := partLength(rest)
		part := rest[:n]
		rest = rest[n:]
		if !wordByte(part[0]) || part[0] == '_' {
			continue
		}
		parts++
		size += n
		switch {
		case n < 3 || digit(part[0]):
		case !strings.ContainsAny(part, "aeiouyAEIOUY") || longestConsonants(part) > 4:
			unspeakable += n
		default:
			speakable += n
		}
	}
	return size >= 3*parts && speakable > 0 && unspeakable*3 <= speakable
}

// partLength returns the length of the part that a text begins with: a word with or without a
// capital letter, capital letters, digits, or one other character.
func partLength(text string) int {
	n := 1
	switch {
	case digit(text[0]):
		for n < len(text) && digit(text[n]) {
			n++
		}
	case upper(text[0]):
		for n < len(text) && upper(text[n]) {
			n++
		}
		if n > 1 && n < len(text) && lowerLetter(text[n]) {
			return n - 1 // the last capital begins the next word
		}
		if n == 1 {
			for n < len(text) && lowerLetter(text[n]) {
				n++
			}
		}
	case lowerLetter(text[0]):
		for n < len(text) && lowerLetter(text[n]) {
			n++
		}
	}
	return n
}

// longestConsonants returns the length of the longest run of letters without a vowel.
func longestConsonants(word string) int {
	longest, run := 0, 0
	for i := range len(word) {
		run++
		if strings.IndexByte("aeiouyAEIOUY", word[i]) >= 0 {
			run = 0
		}
		longest = max(longest, run)
	}
	return longest
}

func lowerLetter(c byte) bool { return 'a' <= c && c <= 'z' }

// weakWords are words of passwords that protect nothing, in the order in which they are taken out of
// a password: a word comes after the longer words that contain it.
var weakWords = []string{
	"placeholder", "credentials", "credential", "postgresql", "elasticsearch", "undefined", "password", "passwort", "redacted", "changeme", "postgres", "rabbitmq", "username",
	"whatever", "sensitive", "anonymous", "letmein", "mongodb", "default", "replace", "example", "nothing", "invalid", "private", "encoded", "account",
	"passwd", "secret", "sample", "access", "qwerty", "shadow", "dragon", "monkey", "change", "mysql", "redis", "mongo", "admin", "guest", "login", "token", "dummy",
	"super", "local", "hello", "world", "value", "string", "basic", "oauth", "hunter", "squirrel", "foobar", "github", "gitlab", "master", "server", "client", "random", "strong", "secure",
	"pass", "user", "root", "test", "demo", "fake", "mock", "your", "some", "here", "null", "none", "todo", "hash", "auth", "name", "proxy", "proxies", "dev",
	"pwd", "psw", "foo", "bar", "baz", "abc", "xyz", "key", "api", "app", "the", "this", "real", "my", "db", "pw", "is", "a", "me", "not", "it", "in",
}

// isWeak reports whether a password protects nothing: it is short, filled in from elsewhere, a
// placeholder, or made of words, as in documents and on machines of developers. If local is set,
// the password is for the writer's own machine or for an example's host. Then a digit or sign that
// stands for a letter counts as that letter.
func isWeak(password string, local bool) bool {
	if len(password) < 8 || isTemplate(password) {
		return true
	}
	if isPlaceholder(password) || isWords(password) {
		return true
	}
	lower := strings.ToLower(password)
	if isBareWords(lower) {
		return true
	}
	if !local {
		return false
	}
	plain := strings.NewReplacer("0", "o", "1", "i", "3", "e", "4", "a", "5", "s", "7", "t", "@", "a", "$", "s", "!", "i").Replace(lower)
	return isBareWords(plain) || isWords(plain)
}

// isTemplate reports whether a password is filled in from elsewhere: it has a variable, a name in
// brackets, or an ellipsis.
func isTemplate(password string) bool {
	if strings.ContainsRune("$<[{(%", rune(password[0])) {
		return true
	}
	for _, mark := range []string{"${", "$(", "{{", "}}", "<", ">", "&lt;", "...", "…", "`", "#{"} {
		if strings.Contains(password, mark) {
			return true
		}
	}
	return strings.ContainsRune("]})", rune(password[len(password)-1])) && strings.ContainsAny(password, "[{(")
}

// isBareWords reports whether a text in lower case has at most three letters in addition to its weak
// words. A text without weak words and spaces must have no letters at all.
func isBareWords(lower string) bool {
	for _, w := range weakWords {
		lower = strings.ReplaceAll(lower, w, " ")
	}
	left := 0
	for i := range len(lower) {
		if lowerLetter(lower[i]) || lower[i] >= 0x80 {
			left++
		}
	}
	return left <= 3 && (left == 0 || strings.Contains(lower, " "))
}

// isLocalHost reports whether a URL's host, which a port may follow, is the writer's own machine, one
// that only a network of containers knows, or an example. The "]" after an IPv6 address may be
// missing.
func isLocalHost(host string) bool {
	host = strings.ToLower(host)
	literal, _, _ := strings.Cut(strings.TrimPrefix(host, "["), "]")
	if addr, err := netip.ParseAddr(literal); err == nil && addr.Is6() {
		addr = addr.Unmap()
		return addr.IsLoopback() || addr.IsUnspecified()
	}
	if i := strings.LastIndexByte(host, ':'); i > 0 && strings.Trim(host[i+1:], "0123456789") == "" {
		host = host[:i]
	}
	if isLoopback(host) || host == "0.0.0.0" || !strings.Contains(host, ".") {
		return true
	}
	for label := range strings.SplitSeq(host, ".") {
		switch label {
		case "example", "localhost", "test", "invalid", "local", "foo", "bar", "foobar", "docker", "mycompany", "your", "domain", "host":
			return true
		}
	}
	return false
}

// isLoopback reports whether a host is an IPv4 address of the own machine, perhaps a short one such as
// 127.1, and not a name that only begins like one.
func isLoopback(host string) bool {
	after := strings.TrimLeft(host, "0123456789.")
	return strings.HasPrefix(host, "127.") && (after == "" || !wordByte(after[0]) && after[0] != '-' && after[0] != '%' && after[0] < 0x80)
}

// isUUID reports whether a text is a UUID of RFC 9562: 32 hexadecimal digits in five groups with
// dashes between them, with or without braces around them.
func isUUID(text string) bool {
	text = strings.Trim(text, "{}")
	if len(text) != 36 {
		return false
	}
	for i := range len(text) {
		isValid := hexByte(text[i])
		if i == 8 || i == 13 || i == 18 || i == 23 {
			isValid = text[i] == '-'
		}
		if !isValid {
			return false
		}
	}
	return true
}

// isHex reports whether a text is hexadecimal digits.
func isHex(text string) bool {
	return text != "" && strings.Trim(text, "0123456789abcdefABCDEF") == ""
}
