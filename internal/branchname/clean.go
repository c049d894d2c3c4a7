package branchname

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"

	"golang.org/x/text/runes"
	"golang.org/x/text/unicode/norm"

	"github.com/agent-airlock/airlock/internal/lazyregexp"
)

const (
	maxClean   = 100 // the longest name, in bytes, that Clean leaves as it is
	maxKept    = 60  // how many bytes of a changed name it keeps
	hashDigits = 8   // how many hexadecimal digits of a hash it adds to a changed name
)

// Clean makes the name of a branch from the name that an agent asks for. The result consists of
// ASCII letters, digits and "._/-", has at most 100 bytes, passes Check, and can be stored by every
// file system. Space around the name and invisible characters are removed first. A name that then
// meets these rules is returned as it is. In any other, letters lose their accents and what is not
// allowed becomes "-" or vanishes; a hash of the name follows, so that different names have
// different results.
//
// The rules are that strict because the name is used again: workflows paste github.head_ref into
// shell commands, and people complete it on a command line.
func Clean(asked string) string {
	asked = strings.TrimSpace(visible(asked))
	if isClean(asked) {
		return asked
	}
	var parts []string
	for part := range strings.SplitSeq(transliterate(asked), "/") {
		if part = cleanPart(part); part != "" {
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
	return name + "-" + hex.EncodeToString(sum[:])[:hashDigits]
}

// cleanPart returns what becomes of a part between slashes; "" if nothing of it is left.
func cleanPart(part string) string {
	part = unsafeRun.ReplaceAllString(part, "-")
	part = dots.ReplaceAllString(part, ".")
	part = strings.Trim(part, "-.")
	if strings.HasSuffix(strings.ToLower(part), ".lock") {
		part = part[:len(part)-len(".lock")] + "-lock"
	}
	if device.MatchString(part) {
		part = "_" + part
	}
	return part
}

var (
	unsafeRun = lazyregexp.New(`[^A-Za-z0-9._]+`) // with "-", so that several become one
	dots      = lazyregexp.New(`\.{2,}`)
	safeName  = lazyregexp.New(`^[A-Za-z0-9._/-]+$`)
)

// isClean reports whether a name can be used as it is.
func isClean(name string) bool {
	if len(name) > maxClean || !safeName.MatchString(name) || Check(name) != nil {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part[0] == '-' || strings.HasSuffix(part, ".") || strings.HasSuffix(strings.ToLower(part), ".lock") || device.MatchString(part) {
			return false
		}
	}
	return true
}

// device matches the names that mean devices on Windows, whatever follows their first dot.
var device = lazyregexp.New(`(?i)^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)`)

// Slug returns the ASCII letters and digits of a title as a part of a branch name: in lower case,
// at most limit of them, with one dash for whatever stands between two of them. Letters lose their
// accents first. For a title without any of these letters and digits it returns "changes".
func Slug(title string, limit int) string {
	var b strings.Builder
	count := 0
	for _, r := range strings.ToLower(transliterate(title)) {
		if r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			if b.Len() > 0 && !strings.HasSuffix(b.String(), "-") {
				b.WriteByte('-')
			}
			continue
		}
		if count++; count > limit {
			break
		}
		b.WriteRune(r)
	}
	if s := strings.Trim(b.String(), "-"); s != "" {
		return s
	}
	return "changes"
}

// visible returns a text without invisible characters, and with "-" for what is not UTF-8.
func visible(s string) string {
	return runes.Remove(runes.In(unicode.Cf)).String(strings.ToValidUTF8(s, "-"))
}

// transliterate replaces letters by the ASCII letters that Unicode takes them apart into, or that
// people write for them. It takes other characters apart in the same way, such as "½" into "1⁄2",
// and removes combining marks. What cannot be taken apart stays.
func transliterate(s string) string {
	return runes.Remove(runes.In(unicode.Mn)).String(norm.NFKD.String(letters.Replace(s)))
}

// letters replaces letters that Unicode does not decompose.
var letters = strings.NewReplacer("ß", "ss", "ẞ", "SS", "æ", "ae", "Æ", "AE", "œ", "oe", "Œ", "OE", "ø", "o", "Ø", "O", "đ", "d", "Đ", "D", "ð", "d", "Ð", "D",
	"þ", "th", "Þ", "Th", "ł", "l", "Ł", "L", "ı", "i", "ħ", "h", "Ħ", "H")
