package tree

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
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

// TestNestedBraces asserts that braces count for as many patterns as they stand for.
func TestNestedBraces(t *testing.T) {
	list := func(n int, more string) string { return "{" + strings.Repeat("x,", n) + more + "}" }
	for p, want := range map[string]int{
		list(127, "{y,z}"): 129, list(127, "{y,z},w"): 130, list(127, "{y,z}{y,z}"): 131, list(126, "{y,{z,{v,w}}}"): 130, "a{b,{c,d}}{e,f}": 6, "{{a,b},{c,d}}": 4, `{\{,a[x]\,b}`: 2, "{}": 1,
		strings.Repeat("{a,b}", 8): 256, "{" + strings.Repeat("{a,b}", 7) + "," + strings.Repeat("{a,b}", 7) + "}": 256,
		list(0, strings.Repeat("{a,b}", 8)+","): 257, "{{a,b},c}" + strings.Repeat("{a,b}", 7): 384, strings.Repeat("{a,b}", 80): 257,
	} {
		err := CheckPattern(p)
		if (err == nil) != (want <= maxChoices) || err != nil && !strings.Contains(err.Error(), "more than 256 patterns") {
			t.Errorf("%q stands for %d patterns: %v", p, want, err)
		}
		if err == nil && len(expandBraces(p)) != want {
			t.Errorf("%q: %d patterns, want %d", p, len(expandBraces(p)), want)
		}
	}
}

// TestClassesAreDoublestars asserts that a class which is accepted matches the characters that it
// matches for doublestar, other than a slash, and that a class is refused only for the ranges that
// doublestar sees in it.
func TestClassesAreDoublestars(t *testing.T) {
	classes := []string{""}
	for range 4 {
		for _, begin := range classes {
			for _, next := range []string{"!", "^", "-", "a", "+", "z", `\-`, `\!`} {
				if !slices.Contains(classes, begin+next) {
					classes = append(classes, begin+next)
				}
			}
		}
	}
	accepted := 0
	for _, class := range classes[1:] {
		p := "[" + class + "]"
		if !doublestar.ValidatePattern(p) {
			continue
		}
		if CheckPattern(p) != nil {
			continue // for a range
		}
		accepted++
		set := newPatternSet(allowing, []string{p})
		for c := rune(' '); c <= '~'; c++ {
			want, err := doublestar.Match(p, string(c))
			if _, got := set.find(string(c)); got != (want && c != '/') || err != nil {
				t.Errorf("%s matches %q: %t, %v", p, c, got, err)
			}
		}
	}
	if accepted < len(classes)/2 {
		t.Errorf("%d of %d are accepted", accepted, len(classes))
	}
	for _, p := range []string{"[!-a]", "[^-a]", "[!-~]", "[!-]", "[^^-a]", `[!\--]`} {
		if err := CheckPattern(p); err != nil {
			t.Errorf("%q: %v", p, err)
		}
	}
	for _, p := range []string{"[!z-a]", "[!--z]", "[!!-~]", "[^+-9]"} {
		if CheckPattern(p) == nil {
			t.Errorf("%q is accepted", p)
		}
	}
}

// TestFoldedClasses asserts that a class in a protecting pattern matches a character if doublestar
// matches it in upper or in lower case; and that a negated class matches what doublestar matches.
func TestFoldedClasses(t *testing.T) {
	var classes []string
	ends := []string{"A", "M", "Z", "_", "a", "m", "z", "0", "~", `\[`, `\]`, "[", "ö", "Ö", "Å"}
	for _, first := range ends {
		classes = append(classes, first, "-"+first, first+"-", "x"+first+"B")
		for _, second := range ends {
			if isASCII(first) != isASCII(second) {
				continue // signs between them are equal to other characters than those of their case
			}
			classes = append(classes, first+"-"+second, "X"+first+"-"+second+"-", "-"+first+"-"+second+"Ä")
		}
	}
	accepted := 0
	for _, class := range classes {
		for _, p := range []string{"[" + class + "]", "[!" + class + "]", "[^" + class + "]"} {
			if !doublestar.ValidatePattern(p) || CheckPattern(p) != nil {
				continue // for the order of a range
			}
			accepted++
			matches := Matcher([]string{p})
			for c := rune(' '); c <= 'ÿ'; c++ {
				if c == '/' || c > '~' && !unicode.IsLetter(c) || strings.ContainsRune("ªºµßÿ", c) {
					continue
				}
				want := doublestar.MatchUnvalidated(p, string(c))
				if !isNegated(p) {
					want = want || doublestar.MatchUnvalidated(p, string(unicode.ToUpper(c))) || doublestar.MatchUnvalidated(p, string(unicode.ToLower(c)))
				}
				if got := matches(string(c)); got != want {
					t.Errorf("%s matches %q: %t", p, c, got)
				}
				if got := matches("xx/" + string(c) + "/xx"); got != want {
					t.Errorf("%s matches xx/%c/xx: %t", p, c, got)
				}
			}
			if Matcher([]string{"x" + p + "x"})("x/x") {
				t.Errorf("%s matches a slash", p)
			}
		}
	}
	if accepted < 500 {
		t.Errorf("%d are accepted", accepted)
	}
}

// TestFoldingNeverMatchesLess asserts that a protecting pattern matches each path that it matches
// for doublestar. It asserts that the pattern also matches an ASCII path in upper case, unless a
// class is negated.
func TestFoldingNeverMatchesLess(t *testing.T) {
	var patterns []string
	parts := []string{"A", "b", "*", "?", "[!A]", "[Y-_]", "[!Y-_]", "ß", "[ß]", "[À-Ö]", "e\u0301", "[e\u0301]", "\u200d", "\\\u200d", "＊", "［", "\\［", "＼", "｛", "／", "℀", "[＋-．]", "[！]", `\*`, `\A`, `\[`}
	for _, first := range parts {
		for _, second := range append(parts, "") {
			patterns = append(patterns, first+second, first+"/"+second+"b", "/"+first+second)
		}
	}
	names := []string{"A", "b", "Z", "_", "^", "ß", "À", "e\u0301", "é", "\u200d", "＊", "［", "＼", "｛", "／", "℀", "－", "！", "*", "["}
	var paths []string
	for _, first := range names {
		for _, second := range append(names, "") {
			paths = append(paths, first+second, first+"/"+second+"b")
		}
	}
	matched := 0
	for _, p := range patterns {
		if CheckPattern(p) != nil {
			t.Fatalf("%q is refused", p)
		}
		reference, matches := "**/"+p, Matcher([]string{p})
		if strings.Contains(p, "/") {
			reference = strings.TrimPrefix(p, "/")
		}
		for _, path := range paths {
			if !doublestar.MatchUnvalidated(reference, path) {
				continue
			}
			matched++
			if !matches(path) || !matches(path+"/x") {
				t.Errorf("%q does not match %q", p, path)
			}
			if isASCII(path) && !strings.Contains(p, "[!") && !matches(strings.ToUpper(path)) {
				t.Errorf("%q matches %q, but not in upper case", p, path)
			}
		}
	}
	if matched < 1000 {
		t.Errorf("%d paths are matched", matched)
	}
	for p, path := range map[string]string{"[À-ß]x": "àX", "[０-９]": "5", "[Ａ-Ｚ]": "b", "[K]": "\u212a", "[x｛]": "{", "℀": "X/℀", "＊": "*", "/a／b": "A／B", `docs\/`: "DOCS/x", `docs\/**`: "Docs", `D*\/`: "docs/x"} {
		if !Matcher([]string{p})(path) {
			t.Errorf("%q does not match %q", p, path)
		}
	}
}

// TestFoldedRunesAreAll asserts that no character after the last one that foldedRunes looks at is
// one other character in its folded form.
func TestFoldedRunesAreAll(t *testing.T) {
	for r := foldedRunes()[len(foldedRunes())-1].from + 1; r <= unicode.MaxRune; r++ {
		if to := []rune(foldProtected(string(r))); len(to) == 1 && to[0] != r && utf8.ValidRune(r) {
			t.Errorf("%U folds to %U", r, to[0])
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
