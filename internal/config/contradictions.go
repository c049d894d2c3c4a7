package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/text"
)

// warnOfContradictions warns if no item of the kind can meet all of its restrictions at once. Such
// restrictions deny what the owner seems to allow, and nobody would notice before the first item.
func warnOfContradictions(d *decoder, kind policy.Kind, given *node, kc policy.KindConfig) {
	warn := func(key, format string, args ...any) {
		at := given
		if i := indexOf(given.entries, key); i >= 0 {
			at = given.entries[i].keyNode()
		}
		d.warn(at, "%s: %s", kind, fmt.Sprintf(format, args...))
	}
	spec, changes := safeoutput.SpecOf(kind), kc.Changes
	if len(spec.ActsOn) > 0 && none(spec.ActsOn, func(t safeoutput.Target) bool { return !slices.Contains(kc.Excludes, t) }) {
		d.warn(given, "%s: all that it acts on is excluded, so every item is denied; take one \"false\" away", kind)
	}
	switch kind {
	case "add-issue-label":
		if kc.AllowedLabels != nil && none(kc.AllowedLabels, func(l string) bool { return canBeAsked(kc, l) }) {
			warn("allowed", "%s, so every item is denied; name a label in allowed that blocked does not have", emptyOr(kc.AllowedLabels, "allowed", "blocked has every label of allowed"))
		}
		if kc.AllowedLabels == nil && slices.Contains(kc.BlockedLabels, "*") {
			warn("blocked", "blocked has every label, so every item is denied; name the labels that no item may ask for")
		}
	case "create-pull-request":
		if changes.Branch == "" && changes.AllowedBranches != nil && none(changes.AllowedBranches, func(p string) bool { return canBranch(p, changes.BranchPrefix) }) {
			why := "new branches have names of letters, digits and \"._/-\", which none of allowed-branches matches"
			if changes.BranchPrefix != "" {
				why = fmt.Sprintf("every new branch begins with branch-prefix, %s, and none of allowed-branches (%s) matches such a name", quote(changes.BranchPrefix), text.QuoteList(changes.AllowedBranches))
			}
			warn("allowed-branches", "%s, so every item is denied; change allowed-branches", emptyOr(changes.AllowedBranches, "allowed-branches", why))
		}
		if changes.Branch != "" && changes.Branch == changes.Base {
			warn("branch", "branch and base-branch are both %s, so that no pull request can be opened; name another branch", quote(changes.Branch))
		}
	}
	if !spec.CarriesCode {
		return
	}
	if changes.OnViolation == policy.ViolationRefuse && changes.Files.Allowed != nil && !changes.Files.CanPass(changes.Excluded) {
		warn("allowed-files", "%s, so every change is denied; change allowed-files, or name files below \"exclude\" of protected-files", emptyOr(changes.Files.Allowed, "allowed-files", "all files of allowed-files are protected or excluded"))
	}
}

// none reports whether no element of a list is accepted.
func none[T any](list []T, accept func(T) bool) bool { return !slices.ContainsFunc(list, accept) }

// emptyOr describes why nothing in a list counts: it is empty, or the given reason.
func emptyOr[T any](list []T, name, why string) string {
	if len(list) == 0 {
		return name + " is empty"
	}
	return why
}

// canBeAsked reports whether a pattern, which is one of the allowed labels, matches a label that
// is not blocked.
func canBeAsked(kc policy.KindConfig, pattern string) bool {
	// \x01 stands for any text. A blocked pattern matches it only with a wildcard of its own.
	example := strings.ReplaceAll(pattern, "*", "\x01")
	return !policy.AnyLabelMatches(kc.BlockedLabels, example)
}

// canBranch reports whether a pattern can match the name of a new branch, which begins with the
// prefix. It takes everything from braces or "**" on to match, and a class to match any character.
func canBranch(pattern, prefix string) bool {
	// reached[n] is whether the pattern so far matches the first n bytes of the prefix. The last
	// element also stands for all names that are longer.
	reached := make([]bool, len(prefix)+1)
	reached[0] = true
	for pattern != "" {
		switch {
		case pattern[0] == '{' || strings.HasPrefix(pattern, "**"):
			return slices.Contains(reached, true)
		case pattern[0] == '*':
			for n := range len(prefix) {
				if reached[n] && prefix[n] != '/' {
					reached[n+1] = true
				}
			}
			pattern = pattern[1:]
		default:
			c, anyCharacter, width := patternCharacter(pattern)
			reached = afterCharacter(reached, prefix, c, anyCharacter)
			pattern = pattern[width:]
		}
	}
	return reached[len(prefix)]
}

// patternCharacter returns the character that a pattern begins with, and how many bytes of the
// pattern stand for it. anyCharacter reports that they stand for any character.
func patternCharacter(pattern string) (c byte, anyCharacter bool, width int) {
	switch pattern[0] {
	case '?':
		return 0, true, 1
	case '\\':
		return pattern[1], false, 2
	case '[':
		end := 1
		for end < len(pattern)-1 && pattern[end] != ']' {
			if pattern[end] == '\\' {
				end++
			}
			end++
		}
		return 0, true, min(end+1, len(pattern))
	}
	return pattern[0], false, 1
}

// afterCharacter returns the value of reached in canBranch after one more character of the
// pattern.
func afterCharacter(reached []bool, prefix string, c byte, anyCharacter bool) []bool {
	next := make([]bool, len(reached))
	for n, ok := range reached {
		switch {
		case !ok:
		case n == len(prefix):
			next[n] = next[n] || anyCharacter || isPlainInBranch(c)
		case prefix[n] == c || anyCharacter && prefix[n] != '/':
			next[n+1] = true
		}
	}
	return next
}

// isPlainInBranch reports whether the name of a new branch may contain the character.
func isPlainInBranch(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || strings.IndexByte("._/-", c) >= 0
}
