package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/text"
)

// warnOfContradictions warns of restrictions of one kind that nothing can meet together. They
// deny what the owner seems to allow, and nobody would know before the first item.
func warnOfContradictions(d *decoder, kind policy.Kind, given *node, kc policy.KindConfig) {
	warn := func(key, format string, args ...any) {
		at := given
		if i := indexOf(given.entries, key); i >= 0 {
			at = given.entries[i].keyNode()
		}
		d.warn(at, "%s: %s", kind, fmt.Sprintf(format, args...))
	}
	acts := safeoutput.SpecOf(kind).ActsOn
	if len(acts) > 0 && !slices.ContainsFunc(acts, func(t safeoutput.Target) bool { return !slices.Contains(kc.Excludes, t) }) {
		d.warn(given, "%s: all that it acts on is excluded, so every item is denied; take one \"false\" away", kind)
	}
	if kind == "add-issue-label" && kc.AllowedLabels != nil && !slices.ContainsFunc(kc.AllowedLabels, func(l string) bool { return canBeAsked(kc, l) }) {
		warn("allowed", "%s, so every item is denied; name a label in allowed that blocked does not have", emptyOr(kc.AllowedLabels, "allowed", "blocked has every label of allowed"))
	}
	if kind == "add-issue-label" && kc.AllowedLabels == nil && slices.Contains(kc.BlockedLabels, "*") {
		warn("blocked", "blocked has every label, so every item is denied; name the labels that no item may ask for")
	}
	if !safeoutput.SpecOf(kind).CarriesCode {
		return
	}
	changes := kc.Changes
	if kind == "create-pull-request" && changes.Branch == "" && changes.AllowedBranches != nil && !slices.ContainsFunc(changes.AllowedBranches, func(p string) bool { return canBranch(p, changes.BranchPrefix) }) {
		why := "new branches have names of letters, digits and \"._/-\", which none of allowed-branches matches"
		if changes.BranchPrefix != "" {
			why = fmt.Sprintf("every new branch begins with branch-prefix, %s, and none of allowed-branches (%s) matches such a name", quote(changes.BranchPrefix), text.QuoteList(changes.AllowedBranches))
		}
		warn("allowed-branches", "%s, so every item is denied; change allowed-branches", emptyOr(changes.AllowedBranches, "allowed-branches", why))
	}
	if kind == "create-pull-request" && changes.Branch != "" && changes.Branch == changes.Base {
		warn("branch", "branch and base-branch are both %s, so that no pull request can be opened; name another branch", quote(changes.Branch))
	}
	if changes.OnViolation == policy.ViolationRefuse && changes.Files.Allowed != nil && !changes.Files.CanPass(changes.Excluded) {
		warn("allowed-files", "%s, so every change is denied; change allowed-files, or name files below \"exclude\" of protected-files", emptyOr(changes.Files.Allowed, "allowed-files", "all files of allowed-files are protected or excluded"))
	}
}

// emptyOr says that a list is empty, or else why nothing in it counts.
func emptyOr[T any](list []T, name, why string) string {
	if len(list) == 0 {
		return name + " is empty"
	}
	return why
}

// canBeAsked reports whether an item may ask for a label that a pattern of the allowed ones
// matches.
func canBeAsked(kc policy.KindConfig, pattern string) bool {
	some := strings.ReplaceAll(pattern, "*", "\x01") // a text that no pattern names
	return !policy.AnyLabelMatches(kc.BlockedLabels, some)
}

// canBranch reports whether a pattern can match the name of a new branch, which begins with
// the prefix. What follows braces is not read, and a class is any character.
func canBranch(pattern, prefix string) bool {
	offsets := len(prefix) + 1
	here := make([]bool, offsets) // which beginnings of the prefix the pattern matches so far
	here[0] = true
	for i := 0; i < len(pattern); i++ {
		next := make([]bool, offsets)
		switch c := pattern[i]; {
		case c == '{' || strings.HasPrefix(pattern[i:], "**"):
			return slices.Contains(here, true)
		case c == '*':
			for at, ok := range here {
				for to := at; ok && to < offsets; to++ {
					next[to] = true
					if to < len(prefix) && prefix[to] == '/' {
						break
					}
				}
			}
		default:
			isOne := c == '?' || c == '['
			for ; c == '[' && i < len(pattern)-1 && pattern[i] != ']'; i++ {
				if pattern[i] == '\\' {
					i++
				}
			}
			if c == '\\' {
				i++
				c = pattern[i]
			}
			for at, ok := range here {
				switch {
				case !ok:
				case at == len(prefix):
					next[at] = isOne || isPlainInBranch(c)
				case prefix[at] == c || isOne && prefix[at] != '/':
					next[at+1] = true
				}
			}
		}
		here = next
	}
	return here[len(prefix)]
}

// isPlainInBranch reports whether new branches have such a character in their names.
func isPlainInBranch(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || strings.IndexByte("._/-", c) >= 0
}
