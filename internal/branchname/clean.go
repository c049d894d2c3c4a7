package branchname

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/agent-airlock/airlock/internal/lazyregexp"
)

// maxClean is the longest name that Clean leaves as it is, in bytes, and maxKept how much of
// another one it keeps.
const (
	maxClean = 100
	maxKept  = 60
)

// digits is how many hexadecimal digits of a hash distinguish names that are the same but for
// what was replaced in them.
const digits = 8

// Clean returns the name of a branch for one that an agent asks for. The result consists of
// ASCII letters, digits and "._/-", has at most 100 bytes, passes Check, and can be stored by
// every file system. A name like that is returned as it is. In another one, letters lose their
// accents and everything else becomes "-"; a hash of the name follows, so that different names
// have different results.
//
// A name comes back to programs: workflows paste github.head_ref into shell commands, and
// people complete it on a command line.
func Clean(asked string) string {
	asked = strings.TrimSpace(visible(asked))
	if isClean(asked) {
		return asked
	}
	var parts []string
	for part := range strings.SplitSeq(transliterate(asked), "/") {
		part = others.ReplaceAllString(part, "-")
		part = dots.ReplaceAllString(dashes.ReplaceAllString(part, "-"), ".")
		part = strings.Trim(part, "-.")
		if strings.HasSuffix(strings.ToLower(part), ".lock") {
			part = part[:len(part)-len(".lock")] + "-lock"
		}
		if isDevice(part) {
			part = "_" + part
		}
		if part != "" {
			parts = append(parts, part)
		}
	}
	for len(parts) > 1 && (parts[0] == "refs" || parts[0] == "heads") {
		parts = parts[1:]
	}
	name := strings.Join(parts, "/")
	if len(name) > maxKept {
		name = name[:maxKept]
	}
	if name = strings.TrimRight(name, "-./"); name == "" {
		name = "changes"
	}
	sum := sha256.Sum256([]byte(asked))
	return name + "-" + hex.EncodeToString(sum[:])[:digits]
}

var (
	others = lazyregexp.New(`[^A-Za-z0-9._-]+`)
	dashes = lazyregexp.New(`-{2,}`)
	dots   = lazyregexp.New(`\.{2,}`)
	safe   = lazyregexp.New(`^[A-Za-z0-9._/-]+$`)
)

// isClean reports whether a name can be used as it is.
func isClean(name string) bool {
	if len(name) > maxClean || !safe.MatchString(name) || Check(name) != nil {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part[0] == '-' || strings.HasSuffix(part, ".") || strings.HasSuffix(strings.ToLower(part), ".lock") || isDevice(part) {
			return false
		}
	}
	return true
}

// device matches the names that mean devices on Windows, whatever follows their first dot.
var device = lazyregexp.New(`(?i)^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)`)

func isDevice(part string) bool { return device.MatchString(part) }

// Slug returns the letters and digits of a title as a part of a branch name: lower case, at
// most max of them, everything else as single dashes. It is "changes" for a title without any
// that ASCII has.
func Slug(title string, max int) string {
	var b strings.Builder
	count := 0
	for _, r := range strings.ToLower(transliterate(title)) {
		if r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			if b.Len() > 0 && !strings.HasSuffix(b.String(), "-") {
				b.WriteByte('-')
			}
			continue
		}
		if count++; count > max {
			break
		}
		b.WriteRune(r)
	}
	if s := strings.Trim(b.String(), "-"); s != "" {
		return s
	}
	return "changes"
}

// visible returns a text without invisible characters and without what is not UTF-8.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "-"))
}

// transliterate replaces letters by those that ASCII has for them, where Unicode or custom
// knows any. Other characters stay.
func transliterate(s string) string {
	s = letters.Replace(s)
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFKD.String(s))
}

// letters are those that Unicode does not take apart.
var letters = strings.NewReplacer("ß", "ss", "ẞ", "SS", "æ", "ae", "Æ", "AE", "œ", "oe", "Œ", "OE", "ø", "o", "Ø", "O", "đ", "d", "Đ", "D", "ð", "d", "Ð", "D",
	"þ", "th", "Þ", "Th", "ł", "l", "Ł", "L", "ı", "i", "ħ", "h", "Ħ", "H")
