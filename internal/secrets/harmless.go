package secrets

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
)

// placeholderWords are words of placeholders for secrets.
var placeholderWords = []string{
	"example", "placeholder", "redacted", "changeme", "change_me", "change-me", "your_", "your-", "yourtoken", "yourkey", "yoursecret",
	"dummy", "notareal", "not_a_real", "not-a-real", "xxxxxx", "......", "******", "<your", "${", "{{",
}

// isPlaceholder reports whether a text is a placeholder for a secret: it has such a word
// (EXAMPLE, your-token), or its characters are too few or follow each other.
func isPlaceholder(secret string) bool {
	lower := strings.ToLower(secret)
	for _, word := range placeholderWords {
		if strings.Contains(lower, word) {
			return true
		}
	}
	if strings.Trim(secret, "*") == "" {
		return true
	}
	random := secret // what follows the vendor's prefix, such as ghp_
	if i := strings.LastIndexAny(secret[:len(secret)*2/3], "_-."); i >= 0 {
		random = secret[i+1:]
	}
	return len(random) >= 8 && (isPadded(random) || isSequence(random))
}

// isPadded reports whether equal characters fill up the end of a text, as in
// PersonalAccessToken00000000. The end of Base64 does not count.
func isPadded(text string) bool {
	const fewest = 8 // no random secret ends in as many
	last := text[len(text)-1]
	return last != '=' && len(text)-len(strings.TrimRight(text, string(rune(last)))) >= fewest
}

// isSequence reports whether a text has three characters or less, or two thirds of them
// repeat or continue the one before, as in xxxx, 0000 and abcdefgh123456.
func isSequence(text string) bool {
	var seen [256]bool
	kinds, steps := 0, 0
	for i := range len(text) {
		if !seen[text[i]] {
			seen[text[i]] = true
			kinds++
		}
		if i > 0 && continues(text[i-1], text[i]) {
			steps++
		}
	}
	return kinds <= 3 || steps*3 >= (len(text)-1)*2
}

// continues reports whether a character repeats or continues the one before, in any case;
// 9 is followed by 0 or a, z by a or 0.
func continues(before, c byte) bool {
	lowerBefore, lower := unicode.ToLower(rune(before)), unicode.ToLower(rune(c))
	return c == before || c == before+1 || lower == lowerBefore+1 ||
		before == '9' && (c == '0' || lower == 'a') || lowerBefore == 'z' && (lower == 'a' || c == '0')
}

// hasKey reports whether there is a key in a PEM block: forty characters of Base64 in
// runs of sixteen or more, each with digits and letters of both cases. Mentioning the two
// boundary lines is not enough.
func hasKey(block string) bool {
	const allKinds = 1 | 2 | 4 // digits, upper and lower case
	total, length, kinds := 0, 0, 0
	for i := range len(block) + 1 {
		if i < len(block) && encodedByte(block[i]) && block[i] != '-' && block[i] != '_' {
			length++
			switch c := block[i]; {
			case digit(c):
				kinds |= 1
			case upper(c):
				kinds |= 2
			case 'a' <= c && c <= 'z':
				kinds |= 4
			}
			continue
		}
		if length >= 16 && kinds == allKinds {
			total += length
		}
		length, kinds = 0, 0
	}
	return total >= 40
}

var (
	// codeName matches names as they are written in code: words of two letters or more,
	// numbers and dots.
	codeName = lazily(`^(?:[A-Z]?[a-z]{2,}|[A-Z]{2,}|[0-9]+|[._])+$`)
	// digestName matches names of what is public although it looks random.
	digestName = lazily(`(?i)fingerprint|thumbprint|checksum|digest|sha-?[0-9]`)
	// digestPrefix matches what stands before the digest of a module or a package in a
	// lock file, such as h1: and sha512-.
	digestPrefix = lazily(`(?:\bh1:|\b(?i:md5|sha(?:1|224|256|384|512))[:=-])$`)
	// commitName matches the name of a commit, as git writes it.
	commitName = lazily(`^[0-9a-f]{40}$`)
)

// lazily compiles an expression when it is first needed.
func lazily(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

// isDigest reports whether text[start:end] is the digest of something: a prefix stands
// before it, or it begins with one.
func isDigest(text string, start, end int) bool {
	value := text[start:end]
	prefix := value[:strings.IndexAny(value, ":=-")+1]
	return digestPrefix().MatchString(text[max(0, start-len("sha512-")-1):start]) || digestPrefix().MatchString(prefix)
}

// isNameInCode reports whether text[start:end] is the name of a variable or a type, such as
// ed25519.PrivateKey: not quoted, and of three words or more.
func isNameInCode(text string, start, end int) bool {
	if start > 0 && strings.IndexByte("\"'`", text[start-1]) >= 0 {
		return false
	}
	words, before := 0, byte('.')
	for i := start; i < end; i++ {
		c := text[i]
		if isLetter := wordByte(c) && c != '_' && !digit(c); isLetter && (!wordByte(before) || before == '_' || digit(before) || upper(c) && !upper(before)) {
			words++
		}
		before = c
	}
	return words >= 3 && codeName().MatchString(text[start:end])
}

// wordByte reports what \w matches.
func wordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || upper(c) || digit(c) || c == '_'
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

func upper(c byte) bool { return 'A' <= c && c <= 'Z' }
