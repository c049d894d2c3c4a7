package policy

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func added(paths ...string) (changes []TreeChange) {
	for _, p := range paths {
		changes = append(changes, TreeChange{Path: p, NewMode: "100644", NewOID: "new " + p, Size: 10})
	}
	return changes
}

func edited(paths ...string) (changes []TreeChange) {
	for _, c := range added(paths...) {
		c.OldMode, c.OldOID = "100644", "old "+c.Path
		changes = append(changes, c)
	}
	return changes
}

func gone(path string) TreeChange {
	return TreeChange{Path: path, OldMode: "100644", OldOID: "old " + path}
}

func newLink(path, target string) []TreeChange {
	return []TreeChange{{Path: path, NewMode: "120000", Link: target}}
}

// broken lists violations as "rule path".
func broken(s ChangeSettings, t Tree) (list []string) {
	for _, v := range JudgeTree(s, t) {
		list = append(list, strings.TrimSpace(v.Rule+" "+v.Path))
	}
	return list
}

// treeCase is a tree and the rules that it breaks, as "rule path".
type treeCase struct {
	name     string
	settings ChangeSettings
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

func TestFilesAreHeldAgainstTheLists(t *testing.T) {
	docs := ChangeSettings{AllowedFiles: []string{"docs/**", "*.md"}}
	judgeCases(t, []treeCase{
		{"nothing changed", ChangeSettings{}, Tree{}, nil},
		{"an ordinary change", ChangeSettings{}, Tree{Changes: append(edited("a.go"), added("docs/ünïcode 'q'.md", "日本/語.txt")...)}, nil},
		{"allowed", docs, Tree{Changes: edited("docs/a/b.txt", "README.md")}, nil},
		{"not allowed", docs, Tree{Changes: edited("src/a.go", "src/README.md", "docs")}, []string{"allowed-files docs", "allowed-files src/README.md", "allowed-files src/a.go"}},
		{"allowed means the very case", docs, Tree{Changes: edited("Docs/a.txt")}, []string{"allowed-files Docs/a.txt"}},
		{"a removed file counts", docs, Tree{Changes: []TreeChange{gone("src/a.go")}}, []string{"allowed-files src/a.go"}},
		{"a move counts at both ends", docs, Tree{Changes: []TreeChange{gone("src/a.md"), added("docs/a.md")[0]}}, []string{"allowed-files src/a.md"}},
		{"an empty list allows none", ChangeSettings{AllowedFiles: []string{}}, Tree{Changes: edited("a")}, []string{"allowed-files a"}},
		{"a negated class matches no slash", ChangeSettings{AllowedFiles: []string{"src[!x]main.go"}}, Tree{Changes: edited("src/main.go", "src-main.go")}, []string{"allowed-files src/main.go"}},
		{"workflows", ChangeSettings{}, Tree{Changes: edited(".github/workflows/ci.yml")}, []string{"protected-files .github/workflows/ci.yml"}},
		{"workflows in any case", ChangeSettings{}, Tree{Changes: edited(".GitHub/Workflows/ci.yml")}, []string{"protected-files .GitHub/Workflows/ci.yml"}},
		{"workflows with what HFS+ passes over", ChangeSettings{}, Tree{Changes: added(".git\u200chub/workflows/ci.yml")}, []string{"protected-files .git\u200chub/workflows/ci.yml"}},
		{"a removed workflow", ChangeSettings{}, Tree{Changes: []TreeChange{gone(".github/workflows/ci.yml")}}, []string{"protected-files .github/workflows/ci.yml"}},
		{"a file in place of the folder", ChangeSettings{}, Tree{Changes: added(".github")}, []string{"protected-files .github"}},
		{"owners", ChangeSettings{}, Tree{Changes: edited("CODEOWNERS", "docs/CODEOWNERS", "src/CODEOWNERS")}, []string{"protected-files CODEOWNERS", "protected-files docs/CODEOWNERS"}},
		{"agents' instructions anywhere", ChangeSettings{}, Tree{Changes: edited("AGENTS.md", "a/b/claude.MD", "x/go.instructions.md", ".cursor/rules/a.mdc")},
			[]string{"protected-files .cursor/rules/a.mdc", "protected-files AGENTS.md", "protected-files a/b/claude.MD", "protected-files x/go.instructions.md"}},
		{"manifests are not protected", ChangeSettings{}, Tree{Changes: edited("go.mod", "web/package.json")}, nil},
		{"manifests by option", ChangeSettings{ProtectManifests: true}, Tree{Changes: edited("go.mod", "web/package.json", "requirements-dev.txt", "App.CSPROJ")},
			[]string{"protected-files App.CSPROJ", "protected-files go.mod", "protected-files requirements-dev.txt", "protected-files web/package.json"}},
		{"an own list replaces the built-in one", ChangeSettings{ProtectedFiles: []string{"db/migrations"}}, Tree{Changes: edited("AGENTS.md", "db/migrations/1.sql", "x/db/migrations/1.sql")}, []string{"protected-files db/migrations/1.sql"}},
		{"an empty list protects nothing", ChangeSettings{ProtectedFiles: []string{}}, Tree{Changes: edited(".github/workflows/ci.yml")}, nil},
		{"more than the built-in list", ChangeSettings{AlsoProtectedFiles: []string{"*.sql"}}, Tree{Changes: edited("a/b.sql", "AGENTS.md", "c.go")}, []string{"protected-files AGENTS.md", "protected-files a/b.sql"}},
		{"less than the built-in list", ChangeSettings{UnprotectedFiles: []string{"AGENTS.md", ".github/ISSUE_TEMPLATE/"}}, Tree{Changes: edited("AGENTS.md", ".github/ISSUE_TEMPLATE/a.md", ".github/x.yml")}, []string{"protected-files .github/x.yml"}},
		{"a folder is freed by its slash only", ChangeSettings{UnprotectedFiles: []string{".github"}}, Tree{Changes: edited(".github/x.yml")}, []string{"protected-files .github/x.yml"}},
		{"allowed is not unprotected", ChangeSettings{AllowedFiles: []string{"**"}}, Tree{Changes: edited("AGENTS.md")}, []string{"protected-files AGENTS.md"}},
		{"what a protected link leads to", ChangeSettings{}, Tree{Changes: edited("docs/bot.md", "rules/a/b.md"), Links: map[string]string{"CLAUDE.md": "docs/bot.md", ".cursor/rules": "../rules"}},
			[]string{"protected-files docs/bot.md", "protected-files rules/a/b.md"}},
		{"a pattern that is none lets nothing through", ChangeSettings{AllowedFiles: []string{"docs/[a"}}, Tree{Changes: edited("docs/a")}, []string{"allowed-files", "allowed-files docs/a"}},
	})
}

func TestChangesAreLimited(t *testing.T) {
	many := func(n int) (paths []string) {
		for i := range n {
			paths = append(paths, fmt.Sprintf("f%d", i))
		}
		return paths
	}
	large := func(kib int64) []TreeChange {
		c := added("a")
		c[0].Size = kib << 10
		return c
	}
	moved := []TreeChange{gone("a"), {Path: "b", NewMode: "100644", NewOID: "old a", Size: 1 << 40}}
	judgeCases(t, []treeCase{
		{"as many files as may be", ChangeSettings{}, Tree{Changes: edited(many(100)...)}, nil},
		{"one too many", ChangeSettings{}, Tree{Changes: edited(many(101)...)}, []string{"max-patch-files"}},
		{"an own limit", ChangeSettings{MaxFiles: 2}, Tree{Changes: edited(many(3)...)}, []string{"max-patch-files"}},
		{"no limit", ChangeSettings{MaxFiles: -1}, Tree{Changes: edited(many(1000)...)}, nil},
		{"as large as may be", ChangeSettings{}, Tree{Changes: large(1024)}, nil},
		{"too large", ChangeSettings{}, Tree{Changes: append(large(1024), added("b")...)}, []string{"max-patch-size"}},
		{"no limit of the size", ChangeSettings{MaxSizeKB: -1}, Tree{Changes: large(1 << 40)}, nil},
		{"of two like files one moved", ChangeSettings{MaxFiles: 1}, Tree{Changes: append(slices.Clone(moved), TreeChange{Path: "c", OldMode: "100644", OldOID: "old a"})}, []string{"max-patch-files"}},
		{"a moved file is one, and nothing new", ChangeSettings{MaxFiles: 1, MaxSizeKB: 1}, Tree{Changes: moved}, nil},
	})
}

func TestOnlyFilesAndLinksMayChange(t *testing.T) {
	change := func(path, from, to string) Tree {
		return Tree{Changes: []TreeChange{{Path: path, OldMode: from, NewMode: to, OldOID: "1", NewOID: "2", Link: "b"}}}
	}
	pointer := added("big.bin")
	pointer[0].LFS = true
	movedPointer := []TreeChange{gone("old.bin"), {Path: "new.bin", NewMode: "100644", NewOID: "old old.bin", LFS: true}}
	judgeCases(t, []treeCase{
		{"executable", ChangeSettings{}, change("run", "100644", "100755"), nil},
		{"a new submodule", ChangeSettings{}, change("lib", "", "160000"), []string{"submodule lib"}},
		{"a moved submodule", ChangeSettings{}, change("lib", "160000", "160000"), []string{"submodule lib"}},
		{"a removed submodule", ChangeSettings{}, change("lib", "160000", ""), []string{"submodule lib"}},
		{"a submodule becomes a file", ChangeSettings{}, change("lib", "160000", "100644"), []string{"submodule lib"}},
		{"the list of submodules", ChangeSettings{ProtectedFiles: []string{}}, change(".gitmodules", "100644", "100644"), []string{"submodule .gitmodules"}},
		{"the list of submodules, by case", ChangeSettings{ProtectedFiles: []string{}}, change("a/.GitModules", "", "100644"), []string{"submodule a/.GitModules"}},
		{"the list of submodules, by its short name", ChangeSettings{}, change("gi7eba~1", "", "100644"), []string{"path gi7eba~1", "submodule gi7eba~1"}},
		{"a file becomes a link", ChangeSettings{}, change("a", "100644", "120000"), []string{"mode a"}},
		{"a link becomes a file", ChangeSettings{}, change("a", "120000", "100644"), []string{"mode a"}},
		{"a mode that git does not write", ChangeSettings{}, change("a", "", "100664"), []string{"mode a"}},
		{"set-user-id", ChangeSettings{}, change("a", "100644", "104755"), []string{"mode a"}},
		{"a tree as a file", ChangeSettings{}, change("a", "", "040000"), []string{"mode a"}},
		{"a new LFS pointer", ChangeSettings{}, Tree{Changes: pointer}, []string{"lfs big.bin"}},
		{"a moved LFS pointer", ChangeSettings{}, Tree{Changes: movedPointer}, nil},
	})
}

// Every violation names its rule and path and says what would be allowed.
func TestViolationsExplainThemselves(t *testing.T) {
	tree := Tree{Changes: slices.Concat(edited("AGENTS.md", "src/a.md"), newLink("evil\nlink", "/etc/passwd"), added("aux.c", ".git/config", "B", "b"))}
	violations := JudgeTree(ChangeSettings{AllowedFiles: []string{"*.md"}, MaxFiles: 1}, tree)
	if len(violations) < 8 {
		t.Fatalf("only %d violations", len(violations))
	}
	for _, v := range violations {
		if !strings.HasPrefix(v.Message, v.Rule+": ") || strings.ContainsAny(v.Message, "\r\n") || !strings.Contains(v.Message, quotePath(v.Path)) && v.Path != "" {
			t.Errorf("%+v", v)
		}
		if !strings.Contains(v.Message, "; ") && !strings.Contains(v.Message, "allowed") {
			t.Errorf("%s says nothing of what would be allowed", v.Message)
		}
	}
}

func TestNotesOfExecutables(t *testing.T) {
	tree := Tree{Changes: []TreeChange{
		{Path: "b", NewMode: "100755"}, {Path: "a", OldMode: "100644", NewMode: "100755"}, {Path: "c", OldMode: "100755", NewMode: "100755"}, {Path: "d", NewMode: "100644"},
	}}
	want := []Note{{RuleExecutable, `made executable: "a", "b"`}}
	if diff := cmp.Diff(want, TreeNotes(tree)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if notes := TreeNotes(Tree{}); notes != nil {
		t.Errorf("notes about nothing: %v", notes)
	}
}

// The order of changes and paths makes no difference.
func TestJudgementKnowsNoOrder(t *testing.T) {
	tree := hostileTree()
	settings := ChangeSettings{AllowedFiles: []string{"**/*.md", "a/**"}, MaxFiles: 3}
	want := JudgeTree(settings, tree)
	if len(want) < 10 {
		t.Fatalf("only %d violations to compare", len(want))
	}
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		r.Shuffle(len(tree.Changes), func(i, j int) { tree.Changes[i], tree.Changes[j] = tree.Changes[j], tree.Changes[i] })
		r.Shuffle(len(tree.Paths), func(i, j int) { tree.Paths[i], tree.Paths[j] = tree.Paths[j], tree.Paths[i] })
		if diff := cmp.Diff(want, JudgeTree(settings, tree)); diff != "" {
			t.Fatalf("seed %d (-want +got)\n%s", seed, diff)
		}
	}
}

// hostileTree breaks every rule at once.
func hostileTree() Tree {
	changes := slices.Concat(
		edited("AGENTS.md", "src/main.go"), added("a/File", "a/file", "A/FILE", "dir/x", "aux", "a/b\\c", ".git/hooks/x", "GIT~1/y", "x//y", "../up"),
		newLink("l1", "l2"), newLink("l2", "../x"), newLink("l3", "l3"), newLink("L2", "ok"),
		[]TreeChange{gone("moved"), {Path: "new", NewMode: "100755", NewOID: "old moved"}, {Path: "sub", NewMode: "160000"}, {Path: "m", OldMode: "120000", NewMode: "100644"}},
	)
	return Tree{Changes: changes, Paths: []string{"Dir", "a/fILE", "l4", "src/main.go"}, Links: map[string]string{"l4": "l1/../..", "L5": "sub/../.git"}}
}
