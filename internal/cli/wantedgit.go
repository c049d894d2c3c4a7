package cli

import (
	"regexp"
	"slices"

	"github.com/agent-airlock/airlock/internal/phase"
)

// wantedGit reports whether a command that failed may have missed git's folder, which
// is never taken along: it speaks of git.
func wantedGit(r phase.Result) bool {
	git := regexp.MustCompile(`(?i)\b(git|vcs)\b`)
	for _, root := range r.Roots {
		for _, c := range root.Checks {
			if c.Status == phase.Fail && (git.MatchString(c.Excerpt) || slices.ContainsFunc(c.Problems, git.MatchString)) {
				return true
			}
		}
	}
	return false
}
