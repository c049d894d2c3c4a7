package tree

import "strings"

// CanPass reports whether a changed path can be allowed and neither protected nor excluded. It
// tries a path for each of the allowed patterns. It assumes that a pattern for which sample has no
// path lets something through, and that something passes if there is no list of allowed patterns.
func (c Config) CanPass(excluded []string) bool {
	if c.Allowed == nil {
		return true
	}
	r, isExcluded := newRules(c), Matcher(excluded)
	for _, pattern := range c.Allowed {
		path, ok := sample(pattern)
		if !ok {
			return true
		}
		if _, isProtected := r.protects(path); !isProtected && !isExcluded(path) {
			return true
		}
	}
	return false
}

// sample returns a path that a pattern matches, with names that no other pattern is likely to
// have. ok is false if it has none, as for patterns with braces, classes or backslashes.
func sample(pattern string) (path string, ok bool) {
	path = strings.NewReplacer("**", "~1/~2", "*", "~3", "?", "~").Replace(strings.TrimPrefix(strings.TrimPrefix(pattern, "./"), "/"))
	return path, !strings.ContainsAny(pattern, `{[\`) && MatchesAny([]string{pattern}, path)
}
