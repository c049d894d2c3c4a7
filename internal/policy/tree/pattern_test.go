package tree

import (
	"strings"
	"testing"
)

func TestPatternsAreChecked(t *testing.T) {
	for _, p := range []string{"docs/**", "**", "**/*.md", "*.{md,txt}", "/a", "a/", "./a", "[a-z]?", "[!a]b", `\*`, `\{x`, "a{b,{c,d}}", "[]", "src/**/test/*.go", "日本/*"} {
		err := CheckPattern(p)
		if wrong := p == "[]"; (err != nil) != wrong {
			t.Errorf("%q: %v", p, err)
		}
	}
	for p, want := range map[string]string{
		"": "is empty", "!a": "negation", "/": "empty name", "a//b": "empty name", "../a": "root", "a/./b": "root", "[a": "unpaired", "{a": "unpaired", "a}": "unpaired", `a\`: "unpaired",
		"a**": "entire directories", "**.md": "entire directories", "a/***/b": "entire directories", "{**/a,b}": "entire directories", "[z-a]": "wrong way", "[+-9]": "slash", "[{]": "in a class",
		"a\nb": "not a pattern", "\xff": "not a pattern", strings.Repeat("x", 501): "500", strings.Repeat("{a,b}", 9): "256",
	} {
		if err := CheckPattern(p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, not %q", p, err, want)
		}
	}
}

func TestBuiltInPatternsAreSound(t *testing.T) {
	for how, list := range map[string][]string{"protected": ProtectedByDefault(), "manifests": Manifests()} {
		seen := map[string]bool{}
		for _, p := range list {
			if err := CheckPattern(p); err != nil || seen[p] {
				t.Errorf("%s: %q: twice: %t, %v", how, p, seen[p], err)
			}
			seen[p] = true
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
		{protecting, "x", "a/X/b", true}, {protecting, "/x", "a/x", false}, {protecting, "/x", "x/y", true}, {protecting, "a/x", "A/x/y", true}, {protecting, "a/x/**", "a/x", true}, {protecting, "*.Lock", "d/y.lock/z", true},
		{protecting, "x/", "a/x/b", true}, {protecting, "CAFE\u0301", "café", true}, {protecting, "ab", "abc", false}, {protecting, "a/b*", "x/a/b", false},
		{freeing, "x", "a/x", true}, {freeing, "x", "x/a", false}, {freeing, "x/", "a/x/b", true}, {freeing, "x/**", "x/b", true}, {freeing, "x", "X", false},
	} {
		_, got := newPatternSet(c.use, []string{c.pattern}).find(c.path)
		if got != c.want {
			t.Errorf("use %d: %q matches %q: %t", c.use, c.pattern, c.path, got)
		}
	}
}
