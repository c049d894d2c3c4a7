package tree

import "strings"

// CanPass reports whether a changed path can be allowed and neither protected nor excluded. It
// tries the samples of each of the allowed patterns. It assumes that a pattern without samples lets
// something through, and that something passes if there is no list of allowed patterns.
func (c Config) CanPass(excluded []string) bool {
	if c.Allowed == nil {
		return true
	}
	r, isExcluded := newRules(c), Matcher(excluded)
	for _, pattern := range c.Allowed {
		paths := samples(pattern)
		if len(paths) == 0 {
			return true
		}
		for _, path := range paths {
			if _, isProtected := r.protects(path); !isProtected && !isExcluded(path) {
				return true
			}
		}
	}
	return false
}

// samples returns paths that a pattern matches, with names that no other pattern is likely to have:
// each "**" stands for no directory, one or two. There are none for patterns with braces, classes or
// backslashes.
func samples(pattern string) []string {
	if strings.ContainsAny(pattern, `{[\`) {
		return nil
	}
	pattern = strings.TrimPrefix(strings.TrimPrefix(pattern, "./"), "/")
	var paths []string
	for _, directories := range []string{"", "~1/", "~1/~2/"} {
		path := strings.NewReplacer("**/", directories, "**", directories+"~3", "*", "~4", "?", "~").Replace(pattern)
		if MatchesAny([]string{pattern}, path) {
			paths = append(paths, path)
		}
	}
	return paths
}
