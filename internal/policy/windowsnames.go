package policy

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The longest name that common file systems hold, in bytes, and the longest path
// that Linux opens.
const (
	maxName = 255
	maxPath = 4096
)

// unportable says why a file of that name cannot be checked out on some system,
// or is another file there; "" if it can be everywhere. The text continues a
// sentence about the path and ends with what would be allowed.
func unportable(name string) string {
	switch {
	case !utf8.ValidString(name):
		return "is not UTF-8; write the name in UTF-8"
	case len(name) > maxName:
		return fmt.Sprintf("holds a name of more than %d bytes; shorten it", maxName)
	case isReserved(name):
		return fmt.Sprintf("holds %q, which is a device on Windows; use another name", name)
	case isShortName(name):
		return fmt.Sprintf("holds %q, which is another file's short name on Windows; use a name without \"~\"", name)
	case strings.TrimRight(name, ". ") != name:
		return fmt.Sprintf("holds %q, whose last character Windows drops; end the name with a letter or digit", name)
	}
	for _, r := range name {
		switch {
		case strings.ContainsRune(`<>:"|?*\`, r):
			return fmt.Sprintf("holds %q, which no name on Windows can hold; use letters, digits, \"-\", \"_\" and \".\"", r)
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r) && r != '\u200c' && r != '\u200d':
			return fmt.Sprintf("holds the character %U, which cannot be seen; leave it out", r)
		}
	}
	return ""
}

// isReserved reports whether Windows takes a name for a device, whatever its ending.
func isReserved(name string) bool {
	base, _, _ := strings.Cut(name, ".")
	base = strings.ToUpper(strings.TrimRight(base, " "))
	switch base {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}
	for _, port := range []string{"COM", "LPT"} {
		if digit, ok := strings.CutPrefix(base, port); ok && utf8.RuneCountInString(digit) == 1 && strings.Contains("0123456789¹²³", digit) {
			return true
		}
	}
	return false
}

// isShortName reports whether a name looks like those that Windows makes for old
// programs: up to eight characters that end in "~" and a number, and an ending of
// up to three. NTFS opens the file that it stands for.
func isShortName(name string) bool {
	base, ending, _ := strings.Cut(name, ".")
	tilde := strings.LastIndexByte(base, '~')
	return tilde > 0 && len(base) <= 8 && len(ending) <= 3 && tilde+1 < len(base) &&
		base[tilde+1] != '0' && strings.Trim(base[tilde+1:], "0123456789") == ""
}
