package tree

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func added(paths ...string) (changes []Change) {
	for _, p := range paths {
		changes = append(changes, Change{Path: p, NewMode: "100644", NewOID: "new " + p, Size: 10})
	}
	return changes
}

func edited(paths ...string) (changes []Change) {
	for _, c := range added(paths...) {
		c.OldMode, c.OldOID = "100644", "old "+c.Path
		changes = append(changes, c)
	}
	return changes
}

func deletion(path string) Change {
	return Change{Path: path, OldMode: "100644", OldOID: "old " + path}
}

func newLink(path, target string) []Change {
	return []Change{{Path: path, NewMode: "120000", Link: target}}
}

func changedLink(path, target string) []Change {
	return []Change{{Path: path, OldMode: "120000", NewMode: "120000", Link: target}}
}

// broken lists violations as "rule path", in the order of the paths.
func broken(s Config, t Tree) (list []string) {
	for _, v := range Judge(s, t) {
		list = append(list, strings.TrimSpace(v.Rule+" "+v.Path))
	}
	return list
}

// treeCase is a tree and the rules that it breaks, as "rule path".
type treeCase struct {
	name     string
	settings Config
	tree     Tree
	want     []string
}

func judgeCases(t *testing.T, cases []treeCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, broken(c.settings, c.tree)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestAllowedAndProtectedFiles(t *testing.T) {
	docs := Config{Allowed: []string{"docs/**", "*.md"}}
	judgeCases(t, []treeCase{
		{"nothing changed", Config{}, Tree{}, nil},
		{"an ordinary change", Config{}, Tree{Changes: append(edited("a.go"), added("docs/ünïcode 'q'.md", "日本/語.txt")...)}, nil},
		{"allowed", docs, Tree{Changes: edited("docs/a/b.txt", "README.md")}, nil},
		{"not allowed", docs, Tree{Changes: edited("src/a.go", "src/README.md", "docs")}, []string{"allowed-files docs", "allowed-files src/README.md", "allowed-files src/a.go"}},
		{"allowed means the very case", docs, Tree{Changes: edited("Docs/a.txt")}, []string{"allowed-files Docs/a.txt"}},
		{"a removed file counts", docs, Tree{Changes: []Change{deletion("src/a.go")}}, []string{"allowed-files src/a.go"}},
		{"a move counts at both ends", docs, Tree{Changes: []Change{deletion("src/a.md"), added("docs/a.md")[0]}}, []string{"allowed-files src/a.md"}},
		{"an empty list allows none", Config{Allowed: []string{}}, Tree{Changes: edited("a")}, []string{"allowed-files a"}},
		{"a negated class matches no slash", Config{Allowed: []string{"src[!x]main.go"}}, Tree{Changes: edited("src/main.go", "src-main.go")}, []string{"allowed-files src/main.go"}},
		{"the policy", Config{}, Tree{Changes: edited(".Airlock/policy.yml")}, []string{"protected-files .Airlock/policy.yml"}},
		{"not the policy", Config{}, Tree{Changes: edited("docs/.airlock/policy.yml")}, nil},
		{"workflows", Config{}, Tree{Changes: edited(".github/workflows/ci.yml")}, []string{"protected-files .github/workflows/ci.yml"}},
		{"workflows in any case", Config{}, Tree{Changes: edited(".GitHub/Workflows/ci.yml")}, []string{"protected-files .GitHub/Workflows/ci.yml"}},
		{"workflows with what HFS+ passes over", Config{}, Tree{Changes: added(".git\u200chub/workflows/ci.yml")}, []string{"protected-files .git\u200chub/workflows/ci.yml"}},
		{"a removed workflow", Config{}, Tree{Changes: []Change{deletion(".github/workflows/ci.yml")}}, []string{"protected-files .github/workflows/ci.yml"}},
		{"a file in place of the directory", Config{}, Tree{Changes: added(".github")}, []string{"protected-files .github"}},
		{"owners", Config{}, Tree{Changes: edited("CODEOWNERS", "docs/CODEOWNERS", "src/CODEOWNERS")}, []string{"protected-files CODEOWNERS", "protected-files docs/CODEOWNERS"}},
		{"agents' instructions anywhere", Config{}, Tree{Changes: edited("AGENTS.md", "a/b/claude.MD", "x/go.instructions.md", ".cursor/rules/a.mdc")},
			[]string{"protected-files .cursor/rules/a.mdc", "protected-files AGENTS.md", "protected-files a/b/claude.MD", "protected-files x/go.instructions.md"}},
		{"manifests are not protected", Config{}, Tree{Changes: edited("go.mod", "web/package.json")}, nil},
		{"manifests by option", Config{ProtectManifests: true}, Tree{Changes: edited("go.mod", "web/package.json", "requirements-dev.txt", "App.CSPROJ")},
			[]string{"protected-files App.CSPROJ", "protected-files go.mod", "protected-files requirements-dev.txt", "protected-files web/package.json"}},
		{"an own list replaces the built-in one", Config{Protected: []string{"db/migrations"}}, Tree{Changes: edited("AGENTS.md", "db/migrations/1.sql", "x/db/migrations/1.sql")}, []string{"protected-files db/migrations/1.sql"}},
		{"an empty list protects nothing", Config{Protected: []string{}}, Tree{Changes: edited(".github/workflows/ci.yml")}, nil},
		{"more than the built-in list", Config{AlsoProtected: []string{"*.sql"}}, Tree{Changes: edited("a/b.sql", "AGENTS.md", "c.go")}, []string{"protected-files AGENTS.md", "protected-files a/b.sql"}},
		{"less than the built-in list", Config{Unprotected: []string{"AGENTS.md", ".github/ISSUE_TEMPLATE/"}}, Tree{Changes: edited("AGENTS.md", ".github/ISSUE_TEMPLATE/a.md", ".github/x.yml")}, []string{"protected-files .github/x.yml"}},
		{"a directory is freed by its slash only", Config{Unprotected: []string{".github"}}, Tree{Changes: edited(".github/x.yml")}, []string{"protected-files .github/x.yml"}},
		{"allowed is not unprotected", Config{Allowed: []string{"**"}}, Tree{Changes: edited("AGENTS.md")}, []string{"protected-files AGENTS.md"}},
		{"what a protected link leads to", Config{}, Tree{Changes: edited("docs/bot.md", "rules/a/b.md"), Links: map[string]string{"CLAUDE.md": "docs/bot.md", ".cursor/rules": "../rules"}},
			[]string{"protected-files docs/bot.md", "protected-files rules/a/b.md"}},
		{"where a protected link leads, changed on the way", Config{}, Tree{Changes: slices.Concat(changedLink("current", "docs/other.md"), changedLink("tools", "vendor/other"), changedLink("free", "docs/other.md")),
			Links: map[string]string{"CLAUDE.md": "current", ".claude": "tools/claude", "README.md": "free"}},
			[]string{"protected-files current", "protected-files tools"}},
		{"a link on the way that becomes a directory", Config{}, Tree{Changes: append(added("tools/claude/a.md"), Change{Path: "tools", OldMode: "120000"}), Links: map[string]string{".claude": "tools/claude"}},
			[]string{"protected-files tools", "protected-files tools/claude/a.md"}},
		{"a link on the way that is removed", Config{}, Tree{Changes: []Change{{Path: "tools", OldMode: "120000"}, {Path: "free", OldMode: "120000"}}, Links: map[string]string{".claude": "tools/claude"}},
			[]string{"protected-files tools"}},
		{"links in what a protected link leads to", Config{Unprotected: []string{"/skills/free.md"}}, Tree{Changes: edited("docs/a.md", "docs/b.md", "docs/free.md", "guide/c.md"),
			Links: map[string]string{".claude/skills": "../skills", "skills/a.md": "../docs/a.md", "skills/free.md": "../docs/free.md", "skills/more": "../guide", "guide/b.md": "../docs/b.md"}},
			[]string{"protected-files docs/a.md", "protected-files docs/b.md", "protected-files guide/c.md"}},
		{"a directory of a protected path is a link", Config{AlsoProtected: []string{"config/deploy/**", "config/*.yml", "web/[ab]/x", "config/[Y-_]"}, Unprotected: []string{"/settings/live/free.yml"}},
			Tree{Changes: edited("settings/live/deploy/a", "settings/live/b.yml", "settings/live/free.yml", "settings/live/c.txt", "settings/live/z", "settings/live/a", "settings/deploy/a", "apps/1*/a/x", "apps/12/a/x"),
				Links: map[string]string{"config": "settings/current", "settings/current": "live", "web": "apps/1*"}},
			[]string{"protected-files apps/1*/a/x", "protected-files settings/live/b.yml", "protected-files settings/live/deploy/a", "protected-files settings/live/z"}},
		{"a link in a protected path with brackets and backslashes", Config{AlsoProtected: []string{"a]b/config/*.yml", `x\*/config/*.yml`}},
			Tree{Changes: edited("one/A.YML", "one/a.txt", "two/A.YML", "two/b.yml"), Links: map[string]string{"a]b/config": "../one", "x*/config": "../two"}},
			[]string{"protected-files one/A.YML", "protected-files two/A.YML", "protected-files two/b.yml"}},
		{"a link on a protected path is changed, made and removed", Config{AlsoProtected: []string{"config/deploy/**", "a/b/*.yml", "x/y"}},
			Tree{Changes: slices.Concat(changedLink("config", "mine"), newLink("a/b", "mine"), []Change{{Path: "x", OldMode: "120000"}}, newLink("free", "mine")), Links: map[string]string{"free/y": "config"}},
			[]string{"protected-files a/b", "protected-files config", "protected-files x"}},
		{"a protected path without links", Config{AlsoProtected: []string{"config/deploy/**", "*/x"}}, Tree{Changes: edited("settings/deploy/a"), Links: map[string]string{"current": "settings", "conf": "settings"}}, nil},
		{"an invalid pattern lets nothing through", Config{Allowed: []string{"docs/[a"}}, Tree{Changes: edited("docs/a")}, []string{"allowed-files", "allowed-files docs/a"}},
	})
}

func TestChangesAreLimited(t *testing.T) {
	many := func(n int) (paths []string) {
		for i := range n {
			paths = append(paths, fmt.Sprintf("f%d", i))
		}
		return paths
	}
	large := func(kib int64) []Change {
		c := added("a")
		c[0].Size = kib << 10
		return c
	}
	moved := []Change{deletion("a"), {Path: "b", NewMode: "100644", NewOID: "old a", Size: 1 << 40}}
	judgeCases(t, []treeCase{
		{"as many files as may be", Config{}, Tree{Changes: edited(many(100)...)}, nil},
		{"one too many", Config{}, Tree{Changes: edited(many(101)...)}, []string{"max-patch-files"}},
		{"an own limit", Config{MaxFiles: 2}, Tree{Changes: edited(many(3)...)}, []string{"max-patch-files"}},
		{"no limit", Config{MaxFiles: -1}, Tree{Changes: edited(many(1000)...)}, nil},
		{"as large as may be", Config{}, Tree{Changes: large(1024)}, nil},
		{"too large", Config{}, Tree{Changes: append(large(1024), added("b")...)}, []string{"max-patch-size"}},
		{"no limit of the size", Config{MaxSizeKB: -1}, Tree{Changes: large(100 << 10)}, nil},
		{"no limit of the size but GitHub's", Config{MaxSizeKB: -1}, Tree{Changes: large(100<<10 + 1)}, []string{"max-patch-size a"}},
		{"of two equal files, one is moved and one removed", Config{MaxFiles: 1}, Tree{Changes: append(slices.Clone(moved), Change{Path: "c", OldMode: "100644", OldOID: "old a"})}, []string{"max-patch-files"}},
		{"a moved file counts as one, of no size", Config{MaxFiles: 1, MaxSizeKB: 1}, Tree{Changes: moved}, nil},
	})
}

func TestOnlyFilesAndLinksMayChange(t *testing.T) {
	change := func(path, from, to string) Tree {
		return Tree{Changes: []Change{{Path: path, OldMode: from, NewMode: to, OldOID: "1", NewOID: "2", Link: "b"}}}
	}
	pointer := added("big.bin")
	pointer[0].LFS = true
	movedPointer := []Change{deletion("old.bin"), {Path: "new.bin", NewMode: "100644", NewOID: "old old.bin", LFS: true}}
	judgeCases(t, []treeCase{
		{"executable", Config{}, change("run", "100644", "100755"), nil},
		{"a new submodule", Config{}, change("lib", "", "160000"), []string{"submodule lib"}},
		{"a moved submodule", Config{}, change("lib", "160000", "160000"), []string{"submodule lib"}},
		{"a removed submodule", Config{}, change("lib", "160000", ""), []string{"submodule lib"}},
		{"a submodule becomes a file", Config{}, change("lib", "160000", "100644"), []string{"submodule lib"}},
		{"the list of submodules", Config{Protected: []string{}}, change(".gitmodules", "100644", "100644"), []string{"submodule .gitmodules"}},
		{"the list of submodules, by case", Config{Protected: []string{}}, change("a/.GitModules", "", "100644"), []string{"submodule a/.GitModules"}},
		{"the list of submodules, by its short name", Config{}, change("gi7eba~1", "", "100644"), []string{"path gi7eba~1", "submodule gi7eba~1"}},
		{"a file becomes a link", Config{}, change("a", "100644", "120000"), []string{"mode a"}},
		{"a link becomes a file", Config{}, change("a", "120000", "100644"), []string{"mode a"}},
		{"a mode that git does not write", Config{}, change("a", "", "100664"), []string{"mode a"}},
		{"set-user-id", Config{}, change("a", "100644", "104755"), []string{"mode a"}},
		{"a tree as a file", Config{}, change("a", "", "040000"), []string{"mode a"}},
		{"a new LFS pointer", Config{}, Tree{Changes: pointer}, []string{"lfs big.bin"}},
		{"a moved LFS pointer", Config{}, Tree{Changes: movedPointer}, nil},
	})
}

// TestViolationsExplainThemselves asserts that the message of every violation names its rule and
// path, and what would be allowed.
func TestViolationsExplainThemselves(t *testing.T) {
	tree := Tree{Changes: slices.Concat(edited("AGENTS.md", "src/a.md"), newLink("evil\nlink", "/etc/passwd"), added("aux.c", ".git/config", "B", "b"))}
	violations := Judge(Config{Allowed: []string{"*.md"}, MaxFiles: 1}, tree)
	if len(violations) < 8 {
		t.Fatalf("only %d violations", len(violations))
	}
	for _, v := range violations {
		if !strings.HasPrefix(v.Message, v.Rule+": ") || strings.ContainsAny(v.Message, "\r\n") || !strings.Contains(v.Message, quotePath(v.Path)) && v.Path != "" {
			t.Errorf("%+v", v)
		}
		if !strings.Contains(v.Message, "; ") && !strings.Contains(v.Message, "allowed") {
			t.Errorf("%s does not name what would be allowed", v.Message)
		}
	}
}

// TestRemediesOfProtectedFiles asserts that the message about a protected file names a remedy that
// the configuration allows. There can be no "exclude" next to a list that the owner gives, unless
// the list is empty.
func TestRemediesOfProtectedFiles(t *testing.T) {
	const list = "change the list of protected-files"
	linked := Tree{Changes: edited("docs/a.md"), Links: map[string]string{"CLAUDE.md": "docs/a.md"}}
	for name, c := range map[string]struct {
		settings Config
		tree     Tree
		want     string
	}{
		"built-in list":  {Config{}, Tree{Changes: edited("AGENTS.md")}, `name it under "exclude"`},
		"include":        {Config{AlsoProtected: []string{"*.md"}}, Tree{Changes: edited("a.md")}, `name it under "exclude"`},
		"a list":         {Config{Protected: []string{"*.md"}}, Tree{Changes: edited("a.md")}, list},
		"and manifests":  {Config{Protected: []string{"*.md"}, ProtectManifests: true}, Tree{Changes: edited("go.mod")}, list},
		"only manifests": {Config{Protected: []string{}, ProtectManifests: true}, Tree{Changes: edited("go.mod")}, `name it under "exclude"`},
		"a link":         {Config{}, linked, `name the link under "exclude"`},
		"a link, a list": {Config{Protected: []string{"CLAUDE.md"}}, linked, list},
	} {
		violations := Judge(c.settings, c.tree)
		if !slices.ContainsFunc(violations, func(v Violation) bool { return strings.Contains(v.Message, "; to allow it, "+c.want) }) {
			t.Errorf("%s: %+v", name, violations)
		}
	}
}

// TestCollidingPathsLookDifferent asserts that two paths look different in a message, even if they
// differ only in the form of Unicode.
func TestCollidingPathsLookDifferent(t *testing.T) {
	violations := Judge(Config{}, Tree{Changes: added("caf\u00e9.md", "cafe\u0301.md")})
	if len(violations) == 0 {
		t.Error("the paths do not collide")
	}
	for _, v := range violations {
		if !strings.Contains(v.Message, `"caf\u00e9.md"`) && !strings.Contains(v.Message, `"cafe\u0301.md"`) {
			t.Errorf("%s", v.Message)
		}
	}
}

func TestNotesOfExecutables(t *testing.T) {
	tree := Tree{Changes: []Change{
		{Path: "b", NewMode: "100755"}, {Path: "a", OldMode: "100644", NewMode: "100755"}, {Path: "c", OldMode: "100755", NewMode: "100755"}, {Path: "d", NewMode: "100644"},
	}}
	want := []string{`made executable: "a", "b"`}
	if diff := cmp.Diff(want, Notes(tree)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if notes := Notes(Tree{}); notes != nil {
		t.Errorf("notes about nothing: %v", notes)
	}
}

func TestOrderOfChangesAndPathsDoesNotMatter(t *testing.T) {
	tree := hostileTree()
	settings := Config{Allowed: []string{"**/*.md", "a/**"}, MaxFiles: 3}
	want := Judge(settings, tree)
	if len(want) < 10 {
		t.Fatalf("only %d violations to compare", len(want))
	}
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		r.Shuffle(len(tree.Changes), func(i, j int) { tree.Changes[i], tree.Changes[j] = tree.Changes[j], tree.Changes[i] })
		r.Shuffle(len(tree.Paths), func(i, j int) { tree.Paths[i], tree.Paths[j] = tree.Paths[j], tree.Paths[i] })
		if diff := cmp.Diff(want, Judge(settings, tree)); diff != "" {
			t.Fatalf("seed %d (-want +got)\n%s", seed, diff)
		}
	}
}

// hostileTree returns a tree that breaks every rule at once, under the settings of
// TestOrderOfChangesAndPathsDoesNotMatter.
func hostileTree() Tree {
	changes := slices.Concat(
		edited("AGENTS.md", "src/main.go"), added("a/File", "a/file", "A/FILE", "dir/x", "aux", "a/b\\c", ".git/hooks/x", "GIT~1/y", "x//y", "../up"),
		newLink("l1", "l2"), newLink("l2", "../x"), newLink("l3", "l3"), newLink("L2", "ok"),
		[]Change{deletion("moved"), {Path: "new", NewMode: "100755", NewOID: "old moved"}, {Path: "sub", NewMode: "160000"}, {Path: "m", OldMode: "120000", NewMode: "100644"}, {Path: "big", NewMode: "100644", NewOID: "big", Size: 2 << 20, LFS: true}},
	)
	return Tree{Changes: changes, Paths: []string{"Dir", "a/fILE", "l4", "src/main.go"}, Links: map[string]string{"l4": "l1/../..", "L5": "sub/../.git"}}
}

// FuzzJudge: for any paths, target and pattern, Judge returns, reports a path with .git or .., and
// its result does not depend on the order of changes.
func FuzzJudge(f *testing.F) {
	f.Add("a/b", "A/b", "../x", "docs/**")
	f.Add(".git/config", "git~1", "l/../..", "[!a]*.{md,txt}")
	f.Add("a\x00\xffb", "caf\u00e9", "C:\\x", "**/{a,{b,c}}/[a-z]?")
	f.Add("CON.txt", "cafe\u0301/", "", "\\")
	f.Fuzz(func(t *testing.T, first, second, target, pattern string) {
		tree := Tree{
			Changes: slices.Concat(added(first), newLink(second, target), edited(first+second)),
			Paths:   []string{first, second, target},
			Links:   map[string]string{target: first, "l": target},
		}
		settings := Config{Allowed: []string{pattern}, AlsoProtected: []string{pattern}, Unprotected: []string{pattern}}
		got := Judge(settings, tree)
		slices.Reverse(tree.Changes)
		slices.Reverse(tree.Paths)
		if diff := cmp.Diff(got, Judge(settings, tree)); diff != "" {
			t.Errorf("the result depends on the order (-first +reversed)\n%s", diff)
		}
		for name := range strings.SplitSeq(strings.ToLower(first), "/") {
			if (name == ".git" || name == "..") && !slices.ContainsFunc(got, func(v Violation) bool {
				return v.Path == first && (v.Rule == RuleGitPath || v.Rule == RulePath)
			}) {
				t.Errorf("%q was let through", first)
			}
		}
		for _, v := range got {
			if strings.ContainsAny(v.Message, "\r\n") {
				t.Errorf("%q is not one line", v.Message)
			}
		}
	})
}

// BenchmarkJudge judges trees of ordinary paths and of paths that collide, at two sizes. The
// difference of the times shows whether the time is linear.
func BenchmarkJudge(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		for name, path := range map[string]func(i int) string{
			"ordinary":  func(i int) string { return fmt.Sprintf("internal/pkg%d/sub/file%d.go", i%100, i) },
			"colliding": func(i int) string { return caseVariant("abcdefghijklmnopqrst", i) },
		} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				var tree Tree
				for i := range n {
					tree.Paths = append(tree.Paths, path(i))
				}
				tree.Changes = slices.Concat(added(tree.Paths...), newLink("l", "a/../b"))
				settings := Config{ProtectManifests: true, Allowed: []string{"internal/**/*.go", "[a-t]*", "l"}, MaxFiles: -1, MaxSizeKB: -1}
				b.ReportAllocs()
				for b.Loop() {
					Judge(settings, tree)
				}
			})
		}
	}
}

// caseVariant writes a name in the i-th of its mixtures of upper and lower case.
func caseVariant(name string, i int) string {
	b := []byte(name)
	for k := range b {
		if i>>k&1 == 1 {
			b[k] -= 'a' - 'A'
		}
	}
	return string(b)
}
