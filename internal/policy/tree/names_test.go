package tree

import (
	"slices"
	"strings"
	"testing"
)

// pathCases returns a case for each path: adding a file there breaks the rule, or no rule if the
// rule is "".
func pathCases(rule string, paths ...string) (cases []treeCase) {
	for _, p := range paths {
		c := treeCase{name: p, settings: Config{Protected: []string{}}, tree: Tree{Changes: added(p)}}
		if rule != "" {
			c.want = []string{strings.TrimSpace(rule + " " + p)}
		}
		cases = append(cases, c)
	}
	return cases
}

func TestPathsThatMeanGitsOwnFiles(t *testing.T) {
	judgeCases(t, pathCases(RulePath, "git~11", "git~14/x", "git~2")) // other files' short names
	judgeCases(t, pathCases(RuleGitPath, ".git", ".git/config", "a/.GIT/config", "git~1/x", "a/GIT~1", ".g\u200cit/config", "\ufeff.git/x"))
	for _, p := range []string{".git./x", ".git /x", ".git. . /x", ".git::$INDEX_ALLOCATION/x", `a\.git\config`, ".git:x", "git~1 ", ".GIT\u200d./x"} {
		if got := broken(Config{}, Tree{Changes: added(p)}); !slices.Contains(got, strings.TrimSpace("git-path "+p)) {
			t.Errorf("%q breaks only %q", p, got)
		}
	}
	judgeCases(t, pathCases("", ".gitignore", ".gitkeep", "a.git/x", "git/x", "x/git", ".gi", ".gitx", "git-1", "..git"))
}

func TestModulesInEverySpelling(t *testing.T) {
	for _, p := range []string{".gitmodules", ".GITMODULES", ".gitmodules ", ".gitmodules.", "gitmod~1", "GITMOD~4", "gi7eba~1", "gi7eb~10", "GI7E~123", ".git\u200cmodules", ".gitmodules::$DATA", `x\.gitmodules`} {
		if !isModulesName(p) {
			t.Errorf("%q is not known as .gitmodules", p)
		}
	}
	for _, p := range []string{"gitmodules", ".gitmodule", "gitmod~5", "gitmod~", "gi7eba~0", "gi7ebax~1", "gi7e~1", "gi7ea~10", ".gitmodulesx"} {
		if isModulesName(p) {
			t.Errorf("%q is taken for .gitmodules", p)
		}
	}
}

func TestPathsThatAreInvalidOnSomeSystems(t *testing.T) {
	judgeCases(t, pathCases(RulePath, "", "/a", "a//b", "a/", "./a", "a/../b", "..", "a\x00b", "aux", "a/NUL.txt", "Com1", "lpt9.log", "COM¹", "con .x", "CONIN$",
		"a:b", `a\b`, "a?", "a*", "a|b", "<a", `a"b`, "a.", "a /b", "a\nb", "a\x7fb", "a\u202eb", "a\u2066b", "a\xffb", "PROGRA~1/x", "a~1.txt",
		strings.Repeat("x", 256), strings.Repeat("a/", 2048)+"x"))
	judgeCases(t, pathCases("", "com", "com10", "console", "nul_", "auxiliary.c", "a b", ".a", "-rf", "$HOME", "`x`", "a~", "backup~12345678", "x~1.conf", "café", "cafe\u0301", "👩\u200d💻.md",
		strings.Repeat("x", 255), strings.Repeat("a/", 2047)+"x"))
	judgeCases(t, []treeCase{
		{"a name that was there before may stay", Config{}, Tree{Changes: edited("drivers/aux.c", "a:b", "x\xff")}, nil},
		{"a bad name may go", Config{}, Tree{Changes: []Change{deletion("aux.c"), deletion("a/../b")}}, nil},
	})
}

func TestPathsThatCollideOnSomeSystems(t *testing.T) {
	judgeCases(t, []treeCase{
		{"case", Config{}, Tree{Changes: added("readme.md"), Paths: []string{"README.md", "readme.md"}}, []string{"path-collision readme.md"}},
		{"case of a directory", Config{}, Tree{Changes: added("src/a"), Paths: []string{"Src/A", "src/a"}}, []string{"path-collision src/a"}},
		{"Unicode", Config{}, Tree{Changes: added("cafe\u0301"), Paths: []string{"café", "cafe\u0301"}}, []string{"path-collision cafe\u0301"}},
		{"both are new", Config{}, Tree{Changes: added("a", "A")}, []string{"path-collision A", "path-collision a"}}, // sorted
		{"a file and a directory", Config{}, Tree{Changes: added("Lib"), Paths: []string{"lib/a", "Lib"}}, []string{"path-collision Lib"}},
		{"a directory and a file", Config{}, Tree{Changes: added("Lib/a"), Paths: []string{"lib", "Lib/a"}}, []string{"path-collision Lib/a"}},
		{"directories that differ in case, without a common name", Config{}, Tree{Changes: added("Src/b"), Paths: []string{"src/a", "Src/b"}}, nil},
		{"a change of case alone", Config{}, Tree{Changes: []Change{deletion("Readme"), added("README")[0]}, Paths: []string{"README"}}, nil},
		{"what collided before", Config{}, Tree{Changes: edited("xt_mark.h"), Paths: []string{"xt_MARK.h", "xt_mark.h"}}, nil},
		{"ordinary neighbours", Config{}, Tree{Changes: added("a/b", "a/bc"), Paths: []string{"a/b", "a/bc", "a/c", "b"}}, nil},
	})
}
