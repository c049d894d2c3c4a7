package reviewer

import (
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/lazyregexp"
)

const (
	shortestCredential = 4   // bytes
	longestCredential  = 128 // bytes
)

var (
	// standIn matches placeholders for a credential: changeme, ${PASSWORD}.
	standIn = lazyregexp.New(`(?i)example|oauth|placeholder|redacted|anonymous|bogus|dead_?beef|d3adb33f|ssword|change_?-?(me|it)|your|dummy|not_?-?a_?-?real|replace|xxx|\?\?|\.\.\.|\*\*\*|<|>|\[|\]|\$|\{|\}|%[sdv(]|pass_?(word|wd|phrase)|secret|^test|test$|^(p|pw|pwd|pass|passwd|user|username|token|key|apikey|foo|bar|baz|abc|none|null|nil|true|false|undefined|string|required|optional|hidden|x+|0+|1+|me|my)\d*$`)
	// methodName matches names of algorithms, formats and form fields: sha256, oauth2, input1.
	methodName = lazyregexp.New(`(?i)^(md[245]|sha-?\d+|[bs]crypt\d*|argon2\w*|pbkdf2\w*|utf-?(8|16)|base(32|64)|oauth2?|[hrep]s\d{3}|x509|v\d+(\.\d+)*|u?int\d+|text\d*|input\d*|field\d*|aes-?\d+[\w-]*)$`)
	// identifier matches names of one or more words: keys of translations, names of settings.
	identifier = lazyregexp.New(`^([a-z]+|[A-Z]+|[A-Z][a-z]+)([._:-]?([a-z]+|[A-Z][a-z]*|[A-Z]+|\d))*$`)
	// wordAndDigits matches texts such as hunter2.
	wordAndDigits = lazyregexp.New(`^[A-Za-z]*[0-9]+$`)
	// passwordName matches names of passwords. A mixed text under such a name is seldom an
	// identifier.
	passwordName = lazyregexp.New(`(?i)pass_?(word|wd|phrase)?$|pwd$`)
	// codePart matches a call, an index, and a name with its type or package, in code, and a path.
	codePart = lazyregexp.New(`\w[(\[]\w*[)\]]|::|->|^[/.]`)
	// commonPasswords are passwords of letters only that attackers try first.
	commonPasswords = wordSetOf("letmein qwerty welcome admin root toor tiger iloveyou monkey dragon swordfish sunshine master superman")
)

// isPlausible reports whether a text can be a credential, in a place where one is expected.
func isPlausible(text string) bool {
	return len(text) >= shortestCredential && len(text) <= longestCredential && !strings.ContainsAny(text, " \t\n\\") && !standIn.MatchString(text) && !isCounted(text)
}

// isCounted reports whether a text repeats one character, or counts in digits as 12345678 and
// 87654321 do. Examples have such texts in place of a password.
func isCounted(text string) bool {
	return strings.Trim(text, text[:1]) == "" || strings.Contains("01234567890123456789", text) || strings.Contains("98765432109876543210", text)
}

// isCredible reports whether a text, which a name like password has as its value, looks like
// a secret: a common password, six or more digits and signs, or letters with digits or signs,
// unlike a name of something else. compared is set where the program compares the name with
// the text.
func isCredible(name, text string, compared bool) bool {
	if commonPasswords[text] && !strings.Contains(strings.ToLower(name), "key") {
		return true
	}
	if !isPlausible(text) || strings.Contains(text, "/") || methodName.MatchString(text) || strings.ContainsAny(text[:1], ".#$@:-&?[(!") || strings.EqualFold(name, text) {
		return false
	}
	hasSign := strings.ContainsAny(text, "!@#^&*+=?~")
	hasDigit := strings.ContainsAny(text, "0123456789")
	hasLetter := strings.ContainsAny(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
	switch {
	case !hasLetter: // 483920
		return hasDigit && len(text) >= 6 && !strings.ContainsAny(text, ".:,")
	case strings.ContainsAny(text, "()[];"): // code
		return false
	case hasSign, compared && hasDigit:
		return true
	}
	return hasDigit && (!identifier.MatchString(text) || wordAndDigits.MatchString(text) || passwordName.MatchString(name) && isMixed(text) || strings.Contains(strings.ToLower(name), "secret") && isRandom(text))
}

// isStrong reports whether a text, in a place where only a password can be, is one: letters of both
// cases with signs, such as "Lvt+;wF^n!z(", or with digits in parts of fewer than 2.5 characters
// on average, as names are not.
func isStrong(text string) bool {
	const shortest = 8
	hasBothCases := strings.ToLower(text) != text && strings.ToUpper(text) != text
	if len(text) < shortest || !hasBothCases || !isPlausible(text) || methodName.MatchString(text) || codePart.MatchString(text) {
		return false
	}
	return strings.ContainsAny(text, "!@#^&*+=?~;()[]") || strings.ContainsAny(text, "0123456789") && 2*len(text) < 5*parts(text)
}

// parts counts the parts of a text: capital letters with the small ones after them, small letters,
// digits, and other characters.
func parts(text string) int {
	class := func(c byte) int {
		switch {
		case isDigit(c):
			return 1
		case 'a' <= c && c <= 'z':
			return 2
		case 'A' <= c && c <= 'Z':
			return 3
		}
		return 0
	}
	count := 1
	for i := 1; i < len(text); i++ {
		if before, c := class(text[i-1]), class(text[i]); c != before && !(before == 3 && c == 2) {
			count++
		}
	}
	return count
}

// isMixed reports whether letters and digits take turns in a text, as in "x9Kd82mQ": an
// identifier is not written so.
func isMixed(text string) bool { return len(text) >= 8 && turns(text) >= 3 }

// isRandom reports whether a text looks random, whatever is around it: it is long and mixed, is not
// a placeholder, and either has letters of both cases or has at least 32 characters and none of
// "-_.:".
func isRandom(text string) bool {
	hasBothCases := strings.ToLower(text) != text && strings.ToUpper(text) != text
	return len(text) >= 16 && turns(text) >= 6 && (hasBothCases || len(text) >= 32 && !strings.ContainsAny(text, "-_.:")) && !standIn.MatchString(text)
}

// turns counts the places in a text where a digit is next to a character that is not one.
func turns(text string) int {
	turns := 0
	for i := 1; i < len(text); i++ {
		if isDigit(text[i]) != isDigit(text[i-1]) {
			turns++
		}
	}
	return turns
}

var (
	// madeUpHosts are placeholders for hosts, and names of the machine itself.
	madeUpHosts = append(strings.Fields("localhost host hostname server servername domain ip addr address [::1] 0.0.0.0 foo bar a b x test"), "")
	// madeUpHostParts matches parts of such names.
	madeUpHostParts = lazyregexp.New(`^(127\.|your|my)|example|bogus|[${}%*]|(\.test|\.invalid|\.localhost|host\.com|domain\.com)$`)
)

// isServiceDefault reports whether a password looks like the one with which a service is installed:
// a short word, such as root in postgres://app:root@db:5432. The host's name has no dots, so it is
// known on its own network only.
func isServiceDefault(password, host string) bool {
	const longest = 8 // letters
	return !strings.Contains(host, ".") && len(password) <= longest && strings.Trim(password, "abcdefghijklmnopqrstuvwxyz") == ""
}

// isMadeUpHost reports whether a host does not exist, or is the machine itself.
func isMadeUpHost(host string) bool {
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
		host = host[:i]
	}
	host = strings.ToLower(host)
	return slices.Contains(madeUpHosts, host) || madeUpHostParts.MatchString(host)
}
