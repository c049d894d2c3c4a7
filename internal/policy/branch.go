package policy

import (
	"strings"

	"github.com/agent-airlock/airlock/internal/policy/tree"
	"github.com/agent-airlock/airlock/internal/text"
)

// branch returns the name of a pull request's new branch as the owner's settings
// leave it, "" where whoever makes the branch names it, or why there may be none.
func (n *notes) branch(s ChangeSettings, asked string) (string, *refusal) {
	if s.Branch != "" {
		if asked != "" && asked != s.Branch {
			n.add(RuleBranch, "the branch %q was asked for; the configuration sets %q", asked, s.Branch)
		}
		return s.Branch, nil
	}
	name := asked
	if name != "" && !strings.HasPrefix(name, s.BranchPrefix) {
		name = s.BranchPrefix + name
		n.add(RuleBranch, "the branch %q was asked for; with the configured prefix it is %q", asked, name)
	}
	if s.AllowedBranches == nil {
		return name, nil
	}
	words := "none is allowed"
	if len(s.AllowedBranches) > 0 {
		words = "allowed: " + text.QuoteList(s.AllowedBranches)
	}
	if name == "" {
		return "", refuse(RuleAllowedBranches, "'branch' is missing, and only branches of the list may be made; %s", words)
	}
	if !BranchAllowed(s, name) {
		return "", refuse(RuleAllowedBranches, "the branch %q may not be made; %s", name, words)
	}
	return name, nil
}

// BranchAllowed reports whether AllowedBranches lets create-pull-request make a
// branch of the name, the prefix included.
func BranchAllowed(s ChangeSettings, name string) bool {
	return s.AllowedBranches == nil || tree.MatchesAny(s.AllowedBranches, name)
}
