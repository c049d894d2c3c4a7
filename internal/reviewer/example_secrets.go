package reviewer

import (
	"encoding/asn1"
	"encoding/base64"
	"hash/crc32"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/lazyregexp"
)

// This file distinguishes secrets from values that only look like them.

// isExampleSecret reports whether a value cannot be a secret. A private key cannot be one if its
// content is missing or, in a test, too short. Any other value cannot be one if it repeats itself,
// is blotted, counts letters, is a token of Slack with too short a number or, in a test, has a
// wrong checksum. A file's own words about a value do not count, because whoever adds a secret
// could write them as well.
func isExampleSecret(path, rule, value string) bool {
	if rule == privateKey {
		return !containsKey(value) || testPath.MatchString(path) && isCutKey(value)
	}
	return repeatsItself(value) || isBlotted(value) || countsLetters(value) || rule == "slack-token" && shortNumber.MatchString(value) || testPath.MatchString(path) && hasWrongChecksum(value)
}

// shortNumber matches a token of Slack whose first number has at most seven digits. The numbers of
// workspaces have at least nine.
var shortNumber = lazyregexp.New(`^xox[a-z](?:\.xox[a-z])?-\d{1,7}-`)

// isWording reports whether a value consists of words, such as dropboxoauthkey, DropboxSync and
// sk_live_secret_value, and is not random. It contains only letters, _ and -, and its words are
// long enough on average. A capital, _ or - begins a word.
func isWording(value string) bool {
	const fewest = 4 // letters of a word, on average
	words := 1
	for i := range len(value) {
		switch c := value[i]; {
		case 'A' <= c && c <= 'Z' && i > 0, c == '_', c == '-':
			words++
		case (c < 'a' || c > 'z') && (c < 'A' || c > 'Z'):
			return false
		}
	}
	return words*fewest <= len(value)
}

var (
	// keyBegins matches the first line of a private key with its content after it, in whatever way a
	// language joins lines.
	keyBegins = lazyregexp.New("(?i)^-----BEGIN[^\\n-]*-----(?:[\\s\"'`+,.;()<>#*/|&%-]|\\\\+[nrtu]?|br>|(?:Proc-Type|DEK-Info|Version|Comment|Charset|Hash|MessageID): [^\\n\\\\]*)*[A-Z0-9+/=]{24}")
	// keyLine matches a line that is as long as those of keys.
	keyLine = lazyregexp.New(`[A-Za-z0-9+/=]{60,}`)
)

// containsKey reports whether the text of a private key has random characters after its first line, or
// in lines of their own. Code that looks for keys, and its reports, contain the first line only.
func containsKey(value string) bool {
	if keyBegins.MatchString(value) {
		return true
	}
	const fewest = 16 // characters for each slash: an address has more slashes
	for _, line := range keyLine.FindAllString(value, -1) {
		if strings.ToLower(line) != line && strings.ToUpper(line) != line && strings.Count(line, "/")*fewest <= len(line) {
			return true
		}
	}
	return false
}

var (
	// asn1Key matches a private key whose content is that of ASN.1.
	asn1Key = lazyregexp.New(`(?s)BEGIN (RSA |EC |DSA |ENCRYPTED )?PRIVATE KEY-----(.*?)-----END`)
	// notBase64 matches what stands between the lines of a key, in whatever way a language joins them.
	notBase64 = lazyregexp.New("[\"'`][\\s+.,&]*[\"'`]|\\\\+[nrtu]|[^A-Za-z0-9+/]")
)

// isMadeUpKey reports whether the content of a private key contradicts its title, as in tests of
// code that removes keys from texts. The content is not Base64, or not as long as its first bytes
// say. Or it begins with a sequence, as a certificate does, although a key that is not encrypted
// begins with a number.
func isMadeUpKey(value string) bool {
	m := asn1Key.FindStringSubmatch(value)
	if m == nil || strings.Contains(m[2], "Proc-Type") {
		return false
	}
	der, err := base64.RawStdEncoding.DecodeString(notBase64.ReplaceAllString(m[2], ""))
	if err != nil {
		return true
	}
	var content asn1.RawValue
	rest, err := asn1.Unmarshal(der, &content)
	const sequence = 0x30
	return err != nil || len(rest) > 0 || len(content.Bytes) == 0 || content.Bytes[0] == sequence && m[1] != "ENCRYPTED "
}

// isBlotted reports whether letters of a value were replaced by a row of the letter x: what is left
// is valid nowhere.
func isBlotted(value string) bool {
	return strings.Contains(value, "XXX") || strings.Contains(value, "xxxx")
}

// countsLetters reports whether a value has a row of letters in the order of the alphabet, as no
// random one has: T12345678/abcdefghijkl.
func countsLetters(value string) bool {
	const suspicious = 8 // letters
	row := 1
	for i := 1; i < len(value); i++ {
		if 'a' <= value[i]|0x20 && value[i]|0x20 <= 'z' && value[i] == value[i-1]+1 {
			row++
		} else {
			row = 1
		}
		if row >= suspicious {
			return true
		}
	}
	return false
}

// isCutKey reports whether the text of a private key between its first and its last line is shorter
// than that of any key: the 48 bytes of one for Ed25519 take 64 characters.
func isCutKey(value string) bool {
	const shortest = 64
	_, body, begins := strings.Cut(value, "KEY-----")
	body, _, ends := strings.Cut(body, "-----END")
	return begins && ends && len(strings.Join(strings.Fields(body), "")) < shortest
}

// repeatsItself reports whether a value has the same few characters again and again, as no random
// one has.
func repeatsItself(value string) bool {
	const size, most = 5, 4 // bytes, and how often they may occur
	seen := map[string]int{}
	for i := 0; i+size <= len(value) && i < longestCredential; i++ {
		if seen[value[i:i+size]]++; seen[value[i:i+size]] > most {
			return true
		}
	}
	return false
}

const (
	base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	// checksumSize is how many characters at the end of a token are its checksum.
	checksumSize = 6
)

// checkedPrefixes begin the tokens of GitHub that end with their own checksum.
var checkedPrefixes = strings.Fields("ghp_ gho_ ghu_ ghs_ ghr_")

// hasWrongChecksum reports whether a value looks like a token of checkedPrefixes but cannot be one,
// because its last characters are not the CRC-32 of the random characters before them.
// https://github.blog/engineering/platform-security/behind-githubs-new-authentication-token-formats/
func hasWrongChecksum(value string) bool {
	const prefixSize, length = 4, 40 // of a prefix, and of all with 30 random characters and the checksum
	if len(value) != length || !slices.Contains(checkedPrefixes, value[:prefixSize]) {
		return false
	}
	random, checksum := value[prefixSize:length-checksumSize], value[length-checksumSize:]
	return checksum != inBase62(crc32.ChecksumIEEE([]byte(random)))
}

// inBase62 returns a number with as many digits as a checksum has.
func inBase62(n uint32) string {
	digits := make([]byte, checksumSize)
	for i := range digits {
		digits[len(digits)-1-i] = base62[n%62]
		n /= 62
	}
	return string(digits)
}
