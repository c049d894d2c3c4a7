package secrets

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
)

// placeholder reports whether a text only stands where a secret would: it says so
// (EXAMPLE, your-token), or its characters are too few or follow each other.
func placeholder(secret string) bool {
	lower := strings.ToLower(secret)
	for _, word := range []string{
		"example", "placeholder", "redacted", "changeme", "change_me", "change-me", "your_", "your-", "yourtoken", "yourkey", "yoursecret",
		"dummy", "notareal", "not_a_real", "not-a-real", "xxxxxx", "......", "******", "<your", "${", "{{",
	} {
		if strings.Contains(lower, word) {
			return true
		}
	}
	if strings.Trim(secret, "*") == "" {
		return true
	}
	// Of what follows the vendor's prefix, most characters repeat or continue the
	// one before, as in ghp_xxxx, 0000 and abcdefgh123456.
	tail := secret
	if i := strings.LastIndexAny(secret[:len(secret)*2/3], "_-."); i >= 0 {
		tail = secret[i+1:]
	}
	if len(tail) < 8 {
		return false
	}
	if last := tail[len(tail)-1]; last != '=' && len(tail)-len(strings.TrimRight(tail, string(rune(last)))) >= filling {
		return true
	}
	var distinct [256]bool
	kinds, steps := 0, 0
	for i := range len(tail) {
		if !distinct[tail[i]] {
			distinct[tail[i]] = true
			kinds++
		}
		if i > 0 && (tail[i] == tail[i-1] || tail[i] == tail[i-1]+1 || follows(tail[i-1], tail[i])) {
			steps++
		}
	}
	return kinds <= 3 || steps*3 >= (len(tail)-1)*2
}

// filling is how many equal characters at its end fill up the example of a secret,
// such as ghp_PersonalAccessToken00000000; no random secret ends in as many.
const filling = 8

// follows reports the steps of a row that are no successor in ASCII: 9 to 0 or a,
// z to a or 0.
func follows(a, b byte) bool {
	la, lb := unicode.ToLower(rune(a)), unicode.ToLower(rune(b))
	return a == '9' && (b == '0' || lb == 'a') || la == 'z' && (lb == 'a' || b == '0') || la+1 == lb
}

// keyBody reports whether a PEM block holds a key: forty characters of Base64 in
// runs of sixteen or more, which the mere mention of two boundary lines has not.
func keyBody(block string) bool {
	total, run, kinds := 0, 0, 0
	for i := range len(block) + 1 {
		if i < len(block) && encodedByte(block[i]) && block[i] != '-' && block[i] != '_' {
			run++
			kinds |= kindOf(block[i])
			continue
		}
		if run >= 16 && kinds&7 == 7 {
			total += run
		}
		run, kinds = 0, 0
	}
	return total >= 40
}

// kindOf returns a bit for digits, one for upper and one for lower case.
func kindOf(c byte) int {
	switch {
	case digit(c):
		return 1
	case upper(c):
		return 2
	case 'a' <= c && c <= 'z':
		return 4
	}
	return 0
}

// codeName matches names as they are written in code: words of two letters or more,
// numbers and dots.
var codeName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:[A-Z]?[a-z]{2,}|[A-Z]{2,}|[0-9]+|[._])+$`)
})

// digestName matches names of what is public although it looks random.
var digestName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)fingerprint|thumbprint|checksum|digest|sha-?[0-9]`)
})

// commit reports whether a secret is written as git writes the name of a commit:
// 40 hexadecimal digits in lower case.
func commit(secret string) bool {
	if len(secret) != 40 {
		return false
	}
	for i := range len(secret) {
		if c := secret[i]; !digit(c) && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// checksum matches what stands before the digest of a module or a package in a lock
// file, such as h1: and sha512-.
var checksum = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:\bh1:|\b(?i:md5|sha(?:1|224|256|384|512))[:=-])$`)
})

// digest reports whether what stands at start is the digest of something.
func digest(text string, start, end int) bool {
	return checksum().MatchString(text[max(0, start-len("sha512-")-1):start]) || checksum().MatchString(firstPart(text[start:end]))
}

// firstPart returns the beginning of a value up to its first colon, dash or equals
// sign.
func firstPart(value string) string {
	return value[:strings.IndexAny(value, ":=-")+1]
}

// nameInCode reports whether what is assigned at start is the name of a variable or
// a type, such as ed25519.PrivateKey: not quoted, and of three words or more.
func nameInCode(text string, start, end int) bool {
	if start > 0 && strings.IndexByte("\"'`", text[start-1]) >= 0 {
		return false
	}
	words, before := 0, byte('.')
	for i := start; i < end; i++ {
		c := text[i]
		letter := wordByte(c) && c != '_' && !digit(c)
		if letter && (!wordByte(before) || before == '_' || digit(before) || upper(c) && !upper(before)) {
			words++
		}
		before = c
	}
	return words >= 3 && codeName().MatchString(text[start:end])
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

func upper(c byte) bool { return 'A' <= c && c <= 'Z' }
