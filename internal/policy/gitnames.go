package policy

import "strings"

// isGitName reports whether some file system takes a name for .git: by case, by
// code points that HFS+ passes over, by NTFS's short name, by the dots and blanks
// that Windows drops, or by a stream. These are git's own rules, which git
// enforces only where it thinks that it needs them.
func isGitName(name string) bool { return isDotName(name, "git", "git~1", "") }

// isModulesName reports the same about .gitmodules.
func isModulesName(name string) bool { return isDotName(name, "gitmodules", "gitmod~", "gi7eba") }

// isDotName reports whether a name is "." and the word in any spelling. short is
// its short name on NTFS, without a digit where there are four of them; hashed
// begins the short name that NTFS makes when those are taken.
func isDotName(name, word, short, hashed string) bool {
	// Windows reads "\" as a slash and what follows ":" as a stream.
	for part := range strings.SplitSeq(name, `\`) {
		part, _, _ = strings.Cut(part, ":")
		part = strings.ToLower(withoutIgnored(strings.TrimRight(part, ". ")))
		if part == "."+word || hashed == "" && part == short {
			return true
		}
		if digit, ok := strings.CutPrefix(part, short); ok && len(digit) == 1 && '1' <= digit[0] && digit[0] <= '4' {
			return true
		}
		if hashed != "" && isHashedShortName(part, hashed) {
			return true
		}
	}
	return false
}

// isHashedShortName reports whether a name is eight characters of the kind
// "gi7eba~1" or "gi7e~123".
func isHashedShortName(name, hashed string) bool {
	begin, number, ok := strings.Cut(name, "~")
	return ok && len(name) == 8 && strings.HasPrefix(hashed, begin) &&
		number != "" && number[0] != '0' && strings.Trim(number, "0123456789") == ""
}
