package tree

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// checkNames checks that every path of the changes, except deletions, is the same file on all
// systems. A file that existed before may keep a name that is invalid on some systems.
func (j *judgement) checkNames() {
	for _, c := range j.tree.Changes {
		if c.NewMode == "" {
			continue
		}
		if len(c.Path) > maxPath {
			j.report(RulePath, c.Path, "is longer than %d bytes; shorten it", maxPath)
			continue
		}
		for name := range strings.SplitSeq(c.Path, "/") {
			if rule, why := badName(name, c.OldMode == ""); rule != "" {
				j.report(rule, c.Path, "%s", why)
			}
		}
	}
}

// badName returns the rule that a name breaks and the message about its path; "" if it breaks none.
// Only the name of an added file has to be portable.
func badName(name string, added bool) (rule, why string) {
	switch {
	case isGitName(name):
		return RuleGitPath, "leads into git's own files, at least on some systems; files of the work tree are allowed"
	case name == "" || name == "." || name == ".." || strings.ContainsRune(name, 0):
		return RulePath, "is not a path below the repository's root; write directory/file"
	case added:
		if why := unportable(name); why != "" {
			return RulePath, why
		}
	}
	return "", ""
}

// cutName divides a path into its directory, "" for the root, and its name.
func cutName(path string) (dir, name string) {
	i := strings.LastIndexByte(path, '/')
	return path[:max(i, 0)], path[i+1:]
}

// isGitName reports whether some file system takes a name for .git. The name may differ in case,
// in code points that are ignored, or in dots and spaces that Windows drops. It may also be NTFS's
// short name, or name a stream. These are git's own rules; git enforces some of them only on some
// systems.
func isGitName(name string) bool { return isDotName(name, "git", "git~1", "") }

// isModulesName reports the same about .gitmodules.
func isModulesName(name string) bool { return isDotName(name, "gitmodules", "gitmod~", "gi7eba") }

// isDotName reports whether a name is "." and the word in any spelling, or one of the short names
// that NTFS gives it. If hash is "", the only short name is shortName, such as "git~1". Otherwise
// a short name is shortName and a digit from 1 to 4, such as "gitmod~2". Once these four are
// taken, a short name begins with the beginning of hash.
func isDotName(name, word, shortName, hash string) bool {
	// Windows reads "\" as a slash and what follows ":" as a stream.
	for part := range strings.SplitSeq(name, `\`) {
		part, _, _ = strings.Cut(part, ":")
		part = strings.TrimRight(foldProtected(strings.TrimRight(part, ". ")), ". ")
		if part == "."+word {
			return true
		}
		if hash == "" {
			if part == shortName {
				return true
			}
			continue
		}
		if digit, ok := strings.CutPrefix(part, shortName); ok && len(digit) == 1 && '1' <= digit[0] && digit[0] <= '4' {
			return true
		}
		if isHashedShortName(part, hash) {
			return true
		}
	}
	return false
}

// isHashedShortName reports whether a name is eight characters such as "gi7eba~1" or
// "gi7e~123": the beginning of hash, "~" and a number.
func isHashedShortName(name, hash string) bool {
	begin, number, ok := strings.Cut(name, "~")
	return ok && len(name) == 8 && strings.HasPrefix(hash, begin) &&
		number != "" && number[0] != '0' && strings.Trim(number, "0123456789") == ""
}

// The longest name on common file systems and the longest path on Linux, in bytes.
const (
	maxName = 255
	maxPath = 4096
)

// unportable returns why a name causes trouble on some system: the file cannot be checked out
// there, it is another file there, or the name has an invisible character. It returns "" for a
// sound name. The text continues a sentence about the path and ends with what would be allowed.
func unportable(name string) string {
	switch {
	case !utf8.ValidString(name):
		return "is not UTF-8; write the name in UTF-8"
	case len(name) > maxName:
		return fmt.Sprintf("contains a name of more than %d bytes; shorten it", maxName)
	case isReserved(name):
		return fmt.Sprintf("contains %q, which is a device on Windows; use another name", name)
	case isShortName(name):
		return fmt.Sprintf("contains %q, which is another file's short name on Windows; use a name without \"~\"", name)
	case strings.TrimRight(name, ". ") != name:
		return fmt.Sprintf("contains %q, whose last character Windows drops; end the name with a letter or digit", name)
	}
	for _, r := range name {
		switch {
		case strings.ContainsRune(`<>:"|?*\`, r):
			return fmt.Sprintf("contains %q, which a name on Windows cannot contain; use letters, digits, \"-\", \"_\" and \".\"", r)
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r) && r != '\u200c' && r != '\u200d':
			return fmt.Sprintf("contains the invisible character %U; remove it", r)
		}
	}
	return ""
}

// isReserved reports whether Windows takes a name for a device, whatever its extension.
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

// isShortName reports whether a name looks like a short name that Windows makes for old programs:
// up to eight characters that end in "~" and a number, and an extension of up to three. NTFS opens
// the file that has this short name.
func isShortName(name string) bool {
	base, extension, _ := strings.Cut(name, ".")
	tilde := strings.LastIndexByte(base, '~')
	return tilde > 0 && len(base) <= 8 && len(extension) <= 3 && tilde+1 < len(base) &&
		base[tilde+1] != '0' && strings.Trim(base[tilde+1:], "0123456789") == ""
}
