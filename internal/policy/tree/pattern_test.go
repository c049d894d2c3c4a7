package tree

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestPatternsAreChecked(t *testing.T) {
	for _, p := range []string{"docs/**", "**", "**/*.md", "*.{md,txt}", "/a", "a/", "./a", "[a-z]?", "[!a]b", `\*`, `\{x`, "a{b,{c,d}}", "src/**/test/*.go", "日本/*"} {
		if err := CheckPattern(p); err != nil {
			t.Errorf("%q: %v", p, err)
		}
	}
	for p, want := range map[string]string{
		"": "is empty", "!a": "negation", "/": "empty name", "a//b": "empty name", "../a": "root", "a/./b": "root", "[a": "unpaired", "[]": "unpaired", "{a": "unpaired", "a}": "unpaired", `a\`: "unpaired",
		"a**": "entire directories", "**.md": "entire directories", "a/***/b": "entire directories", "{**/a,b}": "entire directories", "[z-a]": "wrong way", "[+-9]": "slash", "[{]": "in a class", "[a-}]": "in a class", `[a-\}]`: "in a class", "{[+-,]a,b}": "in a class",
		"a\nb": "not a pattern", "\xff": "not a pattern", strings.Repeat("x", 501): "500", strings.Repeat("{a,b}", 9): "256",
	} {
		if err := CheckPattern(p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, want an error with %q", p, err, want)
		}
	}
}

func TestBuiltInPatternsAreSound(t *testing.T) {
	for name, list := range map[string][]string{"protected": ProtectedByDefault(), "manifests": Manifests()} {
		seen := map[string]bool{}
		for _, p := range list {
			if err := CheckPattern(p); err != nil || seen[p] {
				t.Errorf("%s: %q: twice: %t, %v", name, p, seen[p], err)
			}
			seen[p] = true
			if file := strings.Trim(strings.ReplaceAll(p, "*", ""), "/"); !Matcher(list)(file) {
				t.Errorf("%s: %q protects no file named %q", name, p, file)
			}
		}
	}
}

func TestPatternsByUse(t *testing.T) {
	for _, c := range []struct {
		use           use
		pattern, path string
		want          bool
	}{
		{allowing, "docs/**", "docs/a/b", true}, {allowing, "docs/**", "docs", false}, {allowing, "docs/", "docs/a", true}, {allowing, "*.md", "a/b.md", false}, {allowing, "**/*.md", "b.md", true},
		{allowing, "**", "a/b", true}, {allowing, "/a", "a", true}, {allowing, "A", "a", false}, {allowing, "a/**/b", "a/b", true}, {allowing, "a/**/b", "a/x/y/b", true}, {allowing, "a?c", "a/c", false}, {allowing, "{a,b}/x", "b/x", true},
		{allowing, `\[a]`, "[a]", true}, {allowing, "[!a]", "b", true}, {allowing, "ä?", "äö", true},
		{allowing, "docs[[!a]x", "docs/x", false}, {allowing, "docs[[!a]x", "docs!x", true}, {allowing, "docs[![]x", "docs/x", false}, {allowing, "docs[![]x", "docs.x", true},
		{allowing, `docs[\[^a]x`, "docs/x", false}, {allowing, "docs[!]x", "docs/x", false},
		{protecting, "x", "a/X/b", true}, {protecting, "/x", "a/x", false}, {protecting, "/x", "x/y", true}, {protecting, "a/x", "A/x/y", true}, {protecting, "a/x/**", "a/x", true}, {protecting, "*.Lock", "d/y.lock/z", true},
		{protecting, "x/", "a/x/b", true}, {protecting, "CAFE\u0301", "café", true}, {protecting, "ab", "abc", false}, {protecting, "a/b*", "x/a/b", false},
		{freeing, "x", "a/x", true}, {freeing, "x", "x/a", false}, {freeing, "x/", "a/x/b", true}, {freeing, "x/**", "x/b", true}, {freeing, "x", "X", false},
		// With stars at the end of a name, and braces.
		{protecting, ".env*", ".env", true}, {protecting, ".env*", "a/.ENV/b", true}, {protecting, ".env*", "a.env", false}, {protecting, "/a/b*", "a/b", true}, {protecting, "a/*/**", "a/b", true}, {protecting, "a/**/**", "a", true},
		{protecting, "a*{,.bak}", "x/a", true}, {protecting, "{a,b*}", "b", true}, {protecting, "{a/,b/}", "b/c", true}, {protecting, "{a,b}/**", "b", true}, {protecting, `\{a,b\}`, "{a,b}/c", true}, {protecting, `\{a,b\}`, "a", false},
		{protecting, "{a,{b,c}d}", "cd", true}, {protecting, "{a,b}{c,d}", "bd", true}, {protecting, "{,a}", "b", false},
		{allowing, "a*{,.md}", "a", true}, {allowing, "docs/{,a.md}", "docs/b", false}, {allowing, "docs/{,a.md}", "docs/a.md", true},
		{freeing, ".env*", "a/.env", true}, {freeing, "docs/{,a.md}", "docs/b", false},
	} {
		if _, got := newPatternSet(c.use, []string{c.pattern}).find(c.path); got != c.want {
			t.Errorf("use %d: %q matches %q: %t", c.use, c.pattern, c.path, got)
		}
	}
}

// TestPatternsAreRegularExpressions asserts that short patterns match the same paths as the regular
// expressions into which the test translates them.
func TestPatternsAreRegularExpressions(t *testing.T) {
	var patterns, paths []string
	names := []string{"a", "b", "*", "?", "[ab]", "[!a]", "{a,b*}", "{a*,}b", "{*,b}"}
	for _, first := range names {
		for _, second := range names {
			for _, p := range []string{first, first + second, first + "/" + second, "**/" + first + second, first + "/**/" + second, first + second + "/**"} {
				if !slices.Contains(patterns, p) {
					patterns = append(patterns, p)
				}
			}
		}
	}
	for _, first := range []string{"a", "b", "ab", "c"} {
		for _, rest := range []string{"", "a", "ba", "/a", "/bb", "/a/b", "/c/ab"} {
			paths = append(paths, first+rest)
		}
	}
	syntax := strings.NewReplacer("/**/", "/(?:.*/)?", "**/", "(?:.*/)?", "/**", "/.+", "**", ".*", "*", "[^/]*", "?", "[^/]", "[!a]", "[^a/]", "{", "(?:", ",", "|", "}", ")")
	for _, p := range patterns {
		whole := regexp.MustCompile("^" + syntax.Replace(p) + "$")
		begin := ""
		if !strings.Contains(p, "/") {
			begin = "(?:.*/)?"
		}
		above := regexp.MustCompile("^" + begin + syntax.Replace(strings.TrimSuffix(p, "/**")) + "(?:/.*)?$")
		allowed, protected := newPatternSet(allowing, []string{p}), newPatternSet(protecting, []string{p})
		for _, path := range paths {
			if _, got := allowed.find(path); got != whole.MatchString(path) {
				t.Errorf("allowing: %q matches %q: %t", p, path, got)
			}
			if _, got := protected.find(path); got != above.MatchString(path) {
				t.Errorf("protecting: %q matches %q: %t", p, path, got)
			}
		}
	}
}
