package phase_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/google/go-cmp/cmp"
)

// rootsOf validates a project whose commands are all absent, and returns the roots that were found:
// their directory, language and number of checks.
func rootsOf(t *testing.T, contents map[string]string, in phase.Input, listed ...phase.Root) ([]string, error) {
	t.Helper()
	repository := files(t, contents)
	dir := filepath.Join(repository, in.WorkingDirectory)
	in.WorkingDirectory = dir
	r, err := phase.Validate(t.Context(), phase.Job{Input: in, Repository: repository}, phase.Config{Roots: listed}, newStage(t, dir, nil).deps())
	var got []string
	for _, root := range r.Roots {
		got = append(got, fmt.Sprintf("%s %s %d", root.Dir, root.Language, len(root.Checks)))
	}
	return got, err
}

// empty returns files without a text.
func empty(names ...string) map[string]string {
	m := map[string]string{}
	for _, n := range names {
		m[n] = ""
	}
	return m
}

func TestLanguageAndRoots(t *testing.T) {
	t.Parallel()
	cargo := map[string]string{
		"Cargo.toml":   "[package]\nexclude = [\"a\"]\n\n[workspace]\nmembers = [\n    \"a\",\n]\n# apart\nexclude = [\"fuzz\", 'old']\nexclude-none = 1\n\n[dependencies]\n",
		"a/Cargo.toml": "[package]\n", "fuzz/Cargo.toml": "[package]\n", "old/deep/Cargo.toml": "[package]\n", "own/Cargo.toml": "[package]\n\n[workspace]\n",
	}
	nested := map[string]string{
		"Cargo.toml": "[workspace]\nmembers = [\n\t\"mid/d\", \"mid/f\", # [\"mid/e\"]\n]\nexclude = ['mid/e']\n", "other/Cargo.toml": "[workspace]\nmembers = [\"../mid/g\"]\n",
		"mid/Cargo.toml":   "[workspace]\nmembers = [\"c\", \"c2\", \"./i/j\"]\nexclude = [\"d\", # \"c\"]\n\"e\", \"i\"]\n\n[workspace.package]\nexclude = [\"c\"]\n",
		"mid/c/Cargo.toml": "[package]\n", "mid/c2/Cargo.toml": "[package]\n", "mid/c2/setup.py": "", "mid/d/Cargo.toml": "[package]\n", "mid/e/Cargo.toml": "[package]\nversion.workspace = true\n",
		"mid/f/Cargo.toml": "[package]\nworkspace = '../..' # not mid\n", "mid/g/Cargo.toml": "[package]\nworkspace = \"../../other\"\n",
		"mid/h/k/Cargo.toml": "[package]\nworkspace = \"..\"\n", "mid/i/j/Cargo.toml": "[package]\n",
	}
	packages := map[string]string{
		"package.json": `{"workspaces":["web", "any/**", "libs/*", "!**/no/**", "gone"]}`, "libs/x/package.json": `{"scripts":{"test":"x"}}`, "other/tsconfig.json": "",
	}
	for _, dir := range strings.Fields("web any/x/y/z any/no/z libs/y libs/no libs/x/inner/deep libs/y/inner other") {
		packages[dir+"/package.json"] = "{}"
	}
	members := map[string]string{
		"w/Cargo.toml":       "workspace.members = ['a', \"in/*\", \"any/**/[!yz]\"]\nworkspace.exclude = ['apart']\nworkspace.dependencies.shared = { path = 'shared' }\nworkspace.dependencies.unused = { path = 'unused' }\n[patch.crates-io]\nx = { path = 'patched' }\n",
		"w/a/Cargo.toml":     "[package]\n[dependencies]\nb = { version = '1', path = '../b' }\nshared.workspace = true\nunused = '1'\n[target.'cfg(windows)'.build-dependencies.c]\npath = '../c'\n[dev-dependencies]\napart = { path = '../apart' }\n",
		"w/b/Cargo.toml":     "[package]\n[dependencies]\nd = { path = '../deep/d' }\n",
		"w/apart/Cargo.toml": "[package]\n[dependencies]\ne = { path = '../e' }\n",
	}
	for _, dir := range strings.Fields("c deep/d e shared unused patched in/x in/x/y any/x any/y any/z/x other") {
		members["w/"+dir+"/Cargo.toml"] = "[package]\n"
	}
	implied := map[string]string{"w/Cargo.toml": "[package]\n[workspace.dependencies]\na = { path = 'a' }\n[dependencies]\na.workspace = true\n", "w/a/Cargo.toml": "[package]\n"}
	workspace := map[string]string{
		"go.work":  "go 1.24\n\nuse (\n\t./a // the base\n\t./b\n\t\"./c\"\n)\n\nuse ./d\n",
		"a/go.mod": "module x.example/a\n", "b/go.mod": "module x.example/b\n\nrequire x.example/a v0.0.0\n",
		"c/go.mod": "module x.example/c\n\nrequire (\n\tx.example/b v1.0.0 // indirect\n)\n", "d/go.mod": "module x.example/d\n",
		"unused/go.mod": "module x.example/e\n\nrequire x.example/a v0.0.0\n",
	}
	below := map[string]string{
		"backend/go.work": "go 1.24\n\nuse (\n\t./a\n\t./b\n\t../other\n)\n", "backend/a/go.mod": "module x.example/a\n", "backend/b/go.mod": "module x.example/b\n\nrequire x.example/a v0.0.0\n",
		"go.work": "go 1.24\n\nuse (\n\t./copy/a\n\t./other\n)\n", "copy/a/go.mod": "module x.example/a\n", "other/go.mod": "module x.example/o\n\nrequire x.example/a v0.0.0\n",
	}
	above := map[string]string{
		"go.work": "go 1.24\n\nuse (\n\t./in/a\n\t./b\n\t./in/c\n)\n", "in/a/go.mod": "module x.example/a\n", "b/go.mod": "module x.example/b\n\nrequire x.example/a v0.0.0\n",
		"in/c/go.mod": "module x.example/c\n\nrequire x.example/b v0.0.0\n",
	}
	mixed := map[string]string{
		"go.work": "go 1.24\n\nuse (\n\t./a\n\t./b\n)\n", "a/go.mod": "module x.example/a\n", "a/Cargo.toml": "", "b/go.mod": "module x.example/b\n\nrequire x.example/a v0.0.0\n",
	}
	tests := []struct {
		name    string
		files   map[string]string
		changed []string
		input   phase.Input
		want    []string
	}{
		{"explicit", empty("go.mod"), nil, phase.Input{Language: phase.Ruby}, []string{". ruby 4"}},
		{"javascript", map[string]string{"package.json": "{}"}, nil, phase.Input{}, []string{". javascript 4"}},
		{"typescript", map[string]string{"package.json": "{}", "tsconfig.json": ""}, nil, phase.Input{}, []string{". typescript 4"}},
		{"python", empty("setup.py"), nil, phase.Input{}, []string{". python 4"}},
		{"a gemspec", empty("x.gemspec"), nil, phase.Input{}, []string{". ruby 4"}},
		{"gradle", empty("build.gradle.kts"), nil, phase.Input{}, []string{". java 4"}},
		{"several: the order", empty("Cargo.toml", "go.mod"), nil, phase.Input{}, []string{". go 4"}},
		{"several: the majority first, and each that changed", empty("Cargo.toml", "go.mod", "setup.py"), []string{"a.rs", "b.rs", "c.go", "README.md"}, phase.Input{}, []string{". rust 4", ". go 4"}},
		{"several: only markers count", empty("Cargo.toml", "go.mod"), []string{"a.py", "b.py", "c.rs"}, phase.Input{}, []string{". rust 4"}},
		{"several, and overrides run once", empty("Cargo.toml", "go.mod"), []string{"a.rs", "b.rs", "c.go"}, phase.Input{TestCommand: "make test"}, []string{". rust 4", ". go 3"}},
		{"several below the top", empty("a/Cargo.toml", "a/go.mod", "b/go.mod"), []string{"a/a.rs", "a/c.go", "b/b.go"}, phase.Input{}, []string{"a go 4", "a rust 4", "b go 4"}},
		{"the nearest above the files", empty("a/b/go.mod", "c/go.mod"), []string{"a/b/x/y.go"}, phase.Input{}, []string{"a/b go 4"}},
		{"a monorepo", empty("a/go.mod", "b/Cargo.toml", "b/c/setup.py"), []string{"b/c/x.py", "a/x.go", "b/x.rs", "README.md"}, phase.Input{}, []string{"a go 4", "b rust 4", "b/c python 4"}},
		{"a crate below a Cargo.toml without a package", empty("Cargo.toml", "crates/a/Cargo.toml"), []string{"crates/a/x.rs"}, phase.Input{}, []string{". rust 4"}},
		{"a crate that the workspace excludes", cargo, []string{"fuzz/x.rs", "old/deep/x.rs"}, phase.Input{}, []string{". rust 4", "fuzz rust 4", "old/deep rust 4"}},
		{"a workspace of its own", cargo, []string{"own/x.rs"}, phase.Input{}, []string{". rust 4", "own rust 4"}},
		{"a member of the workspace", cargo, []string{"a/x.rs"}, phase.Input{}, []string{". rust 4"}},
		{"a crate below a package without a workspace", map[string]string{"Cargo.toml": "[package]\n", "a/Cargo.toml": "[package]\n"}, []string{"a/x.rs"}, phase.Input{}, []string{". rust 4", "a rust 4"}},
		{"a Go workspace: what requires a changed module, also through another", workspace, []string{"a/a.go"}, phase.Input{}, []string{"a go 4", "b go 2", "c go 2"}},
		{"a Go workspace: nothing requires it", workspace, []string{"c/c.go"}, phase.Input{}, []string{"c go 4"}},
		{"a Go workspace: tests and documents break no other module", workspace, []string{"a/a_test.go", "a/README.md"}, phase.Input{}, []string{"a go 4"}},
		{"a Go workspace: both changed", workspace, []string{"a/a.go", "b/b.go"}, phase.Input{}, []string{"a go 4", "b go 4", "c go 2"}},
		{"a Go workspace: itself", workspace, []string{"go.work"}, phase.Input{}, []string{"a go 2", "b go 2", "c go 2", "d go 2"}},
		{"a Go workspace: documents above its modules", workspace, []string{"README.md"}, phase.Input{}, []string{".  4"}},
		{"a Go workspace: another language has the majority in the changed module", mixed, []string{"a/a.rs", "a/b.rs", "a/c.go"}, phase.Input{}, []string{"a rust 4", "a go 4", "b go 2"}},
		{"a Go workspace: another language has the majority, and itself", mixed, []string{"a/a.rs", "a/b.rs", "a/c.go", "go.work"}, phase.Input{}, []string{"a rust 4", "a go 4", "b go 2"}},
		{"a Go workspace: only another language, and itself", mixed, []string{"a/a.rs", "go.work"}, phase.Input{}, []string{"a rust 4", "a go 2", "b go 2"}},
		{"a Go workspace: only another language", mixed, []string{"a/a.rs"}, phase.Input{}, []string{"a rust 4"}},
		{"a Go workspace: another language has the majority, and only tests of Go", mixed, []string{"a/a.rs", "a/b.rs", "a/c_test.go"}, phase.Input{}, []string{"a rust 4", "a go 4"}},
		{"a Go workspace: another language has the majority at the top", map[string]string{
			"go.work": "go 1.24\n\nuse (\n\t.\n\t./b\n)\n", "go.mod": "module x.example/a\n", "Cargo.toml": "", "b/go.mod": "module x.example/b\n\nrequire x.example/a v0.0.0\n",
		}, []string{"a.rs", "b.rs", "c.go"}, phase.Input{}, []string{". rust 4", ". go 4", "b go 2"}},
		{"a Go workspace: code outside its modules breaks none", workspace, []string{"a/a_test.go", "x.rs"}, phase.Input{}, []string{"a go 4"}},
		{"a Go workspace below the top", below, []string{"backend/a/a.go"}, phase.Input{}, []string{"backend/a go 4", "backend/b go 2"}},
		{"a Go workspace below the top: itself", below, []string{"backend/go.work.sum"}, phase.Input{}, []string{"backend/a go 2", "backend/b go 2"}},
		{"a Go workspace below the top: a module that another one uses, too", below, []string{"other/o.go"}, phase.Input{}, []string{"other go 4"}},
		{"a Go workspace below the top: modules of the same path", below, []string{"copy/a/a.go"}, phase.Input{}, []string{"copy/a go 4", "other go 2"}},
		{"a Go workspace in the working directory", below, []string{"a/a.go"}, phase.Input{WorkingDirectory: "backend"}, []string{"a go 4", "b go 2"}},
		{"a Go workspace above the working directory", above, []string{"a/a.go"}, phase.Input{WorkingDirectory: "in"}, []string{"a go 4", "c go 2"}},
		{"a Go workspace with a module next to it", map[string]string{
			"w/go.work": "go 1.24\n\nuse (\n\t.\n\t../shared\n)\n", "w/go.mod": "module x.example/w\n\nrequire x.example/s v0.0.0\n", "shared/go.mod": "module x.example/s\n",
		}, []string{"shared/s.go"}, phase.Input{}, []string{"shared go 4", "w go 2"}},
		{"Go modules do not belong to the root", empty("go.mod", "tools/go.mod"), []string{"tools/x.go"}, phase.Input{}, []string{". go 4", "tools go 4"}},
		{"another language does not belong to the root", empty("go.mod", "py/setup.py"), []string{"py/x.py"}, phase.Input{}, []string{". go 4", "py python 4"}},
		{"an inner project of the root's language and of another", map[string]string{"setup.py": "", "a/setup.py": "", "a/go.mod": ""}, []string{"a/x.py", "a/y.py", "a/c.go", "a/README.md"}, phase.Input{}, []string{". python 4", "a go 4"}},
		{"an inner project of another language and of the root's", map[string]string{"setup.py": "", "a/setup.py": "", "a/go.mod": ""}, []string{"a/x.py", "a/b.go", "a/c.go"}, phase.Input{}, []string{". python 4", "a go 4"}},
		{"a Go file next to a package.json belongs to the module above", map[string]string{"m/go.mod": "", "m/web/package.json": "{}"}, []string{"m/web/embed.go"}, phase.Input{}, []string{"m go 4"}},
		{"a Go file and others next to a package.json", map[string]string{"m/go.mod": "", "m/web/package.json": "{}"}, []string{"m/web/embed.go", "m/web/a.js", "m/web/a.css"}, phase.Input{}, []string{"m go 4", "m/web javascript 4"}},
		{"a script of a language without a project above", map[string]string{"m/web/package.json": "{}", "m/setup.cfg": ""}, []string{"m/web/a.rb"}, phase.Input{}, []string{"m/web javascript 4"}},
		{"a script below a workspace in another project", map[string]string{"m/package.json": `{"workspaces":["*"]}`, "m/api/setup.py": ""}, []string{"m/api/a.js"}, phase.Input{}, []string{"m javascript 4"}},
		{"a script below a package.json for tools in another project", map[string]string{"package.json": "{}", "api/setup.py": ""}, []string{"api/a.js"}, phase.Input{}, []string{"api python 4"}},
		{"packages without a workspace", map[string]string{"package.json": "{}", "web/package.json": "{}"}, []string{"web/a.js"}, phase.Input{}, []string{"web javascript 4"}},
		{"packages without a top", map[string]string{"a/package.json": "{}", "b/package.json": "{}"}, []string{"a/a.js", "b/b.js"}, phase.Input{}, []string{"a javascript 4", "b javascript 4"}},
		{"packages without a workspace, and their top", map[string]string{"package.json": "{}", "web/package.json": "{}"}, []string{"web/a.js", "package.json"}, phase.Input{}, []string{". javascript 4", "web javascript 4"}},
		{"packages of a workspace", map[string]string{"package.json": `{"workspaces":["web"]}`, "web/package.json": "{}"}, []string{"web/a.js"}, phase.Input{}, []string{". javascript 4"}},
		{"packages of pnpm's workspace", map[string]string{"package.json": "{}", "pnpm-workspace.yaml": "packages: [web]", "web/package.json": "{}"}, []string{"web/a.js"}, phase.Input{}, []string{". javascript 4"}},
		{"packages that a workspace does not list, below another one", map[string]string{
			"package.json": `{"workspaces":["web"]}`, "web/package.json": "{}", "tools/package.json": `{"workspaces":["c"]}`, "tools/c/package.json": "{}",
		}, []string{"tools/c/a.js", "web/a.js"}, phase.Input{}, []string{". javascript 4", "tools/c javascript 4"}},
		{"packages that a workspace lists by patterns", packages, []string{"web/a.js", "any/x/y/z/a.js", "libs/x/a.js", "libs/x/inner/deep/a.js"}, phase.Input{}, []string{". javascript 4"}},
		{"packages that a workspace does not list", packages, []string{"any/no/z/a.js", "libs/no/a.js", "libs/y/inner/a.js", "libs/z/node_modules/a.js", "other/a.ts"}, phase.Input{},
			[]string{". javascript 4", "any/no/z javascript 4", "libs/no javascript 4", "libs/y/inner javascript 4", "other typescript 4"}},
		{"packages that a workspace with a test script does not list", map[string]string{"package.json": `{"workspaces":["web"],"scripts":{"test":"x"}}`, "web/package.json": "{}", "tools/package.json": "{}"}, []string{"tools/a.js"}, phase.Input{}, []string{". javascript 4"}},
		{"packages in the form of Yarn 1", map[string]string{"package.json": `{"workspaces":{"packages":["./a/"]}}`, "a/package.json": "{}", "b/package.json": "{}"}, []string{"a/a.js", "b/a.js"}, phase.Input{}, []string{". javascript 4", "b javascript 4"}},
		{"packages that only the other package manager lists: npm", map[string]string{"package.json": `{"workspaces":["a"]}`, "pnpm-workspace.yaml": "packages: [b]", "a/package.json": "{}", "b/package.json": "{}"}, []string{"a/a.js", "b/a.js"}, phase.Input{}, []string{". javascript 4", "b javascript 4"}},
		{"packages that only the other package manager lists: pnpm", map[string]string{"package.json": `{"workspaces":["a"]}`, "pnpm-workspace.yaml": "packages: [b]", "pnpm-lock.yaml": "", "a/package.json": "{}", "b/package.json": "{}"}, []string{"a/a.js", "b/a.js"}, phase.Input{}, []string{". javascript 4", "a javascript 4"}},
		{"settings of pnpm's without packages", map[string]string{"package.json": "{}", "pnpm-workspace.yaml": "", "web/package.json": "{}"}, []string{"web/a.js"}, phase.Input{}, []string{". javascript 4", "web javascript 4"}},
		{"packages that the top tests", map[string]string{"package.json": `{"scripts":{"test":"x"}}`, "web/package.json": "{}"}, []string{"web/a.js"}, phase.Input{}, []string{". javascript 4"}},
		{"a package.json for tools", map[string]string{"package.json": "{}", "go.mod": ""}, []string{"README.md"}, phase.Input{}, []string{". go 4"}},
		{"a package.json for tools with the majority", map[string]string{"package.json": "{}", "go.mod": ""}, []string{"a.js"}, phase.Input{}, []string{". javascript 4"}},
		{"an empty package.json next to another project", map[string]string{"package.json": "{}", "go.mod": ""}, []string{"a.js", "a.go", "b.go"}, phase.Input{}, []string{". go 4"}},
		{"a package.json with tests next to another project", map[string]string{"package.json": `{"scripts":{"test":"x"}}`, "go.mod": ""}, []string{"a.js", "a.go", "b.go"}, phase.Input{}, []string{". go 4", ". javascript 4"}},
		{"a package.json with tests", map[string]string{"package.json": `{"scripts":{"test":"x"}}`, "go.mod": ""}, []string{"README.md"}, phase.Input{}, []string{". javascript 4"}},
		{"Deno", empty("deno.json", "sub/deno.jsonc"), []string{"sub/a.ts", "b.ts"}, phase.Input{}, []string{". typescript 4"}},
		{"Deno below the top", empty("a/deno.json", "b/deno.jsonc"), []string{"a/x.ts", "b/y.ts"}, phase.Input{}, []string{"a typescript 4", "b typescript 4"}},
		{"Deno for one function of a package", map[string]string{"package.json": "{}", "functions/deno.json": ""}, []string{"functions/a.ts"}, phase.Input{}, []string{". javascript 4"}},
		{"Deno for a script next to another project", empty("go.mod", "deno.json"), []string{"a.ts", "a.go"}, phase.Input{}, []string{". go 4"}},
		{"a package in a project of Deno's", map[string]string{"deno.json": "", "web/package.json": `{"scripts":{"test":"x"}}`}, []string{"web/a.js", "b.ts"}, phase.Input{}, []string{". typescript 4", "web javascript 4"}},
		{"a module of a Maven build below the top", map[string]string{
			"be/pom.xml": "<project><modules><module>a</module><module>b/deep</module></modules></project>", "be/a/pom.xml": "<project/>", "be/b/deep/pom.xml": "<project/>", "be/own/pom.xml": "<project/>", "fe/package.json": "{}",
		}, []string{"be/a/A.java", "be/b/deep/B.java", "be/own/C.java", "fe/a.js"}, phase.Input{}, []string{"be java 4", "be/own java 4", "fe javascript 4"}},
		{"a module of Maven's with a package of its own", map[string]string{
			"pom.xml": "<project><modules><module>web</module></modules></project>", "web/pom.xml": "<project/>", "web/package.json": "{}",
		}, []string{"web/A.java", "web/a.js"}, phase.Input{}, []string{". java 4", "web javascript 4"}},
		{"a crate of a workspace below the top", map[string]string{
			"rs/Cargo.toml": "[workspace]\nmembers = [\"a\", \"py\"]\nexclude = [\"fuzz\"]\n", "rs/a/Cargo.toml": "[package]\n", "rs/fuzz/Cargo.toml": "[package]\n", "rs/py/Cargo.toml": "[package]\n", "rs/py/pyproject.toml": "",
		}, []string{"rs/a/src/a.rs", "rs/fuzz/a.rs", "rs/py/a.py", "rs/py/a.rs"}, phase.Input{}, []string{"rs rust 4", "rs/fuzz rust 4", "rs/py python 4"}},
		{"a crate of a workspace below another one", nested, []string{"mid/c/x.rs"}, phase.Input{}, []string{". rust 4", "mid rust 4"}},
		{"a crate that the nearest workspace excludes", nested, []string{"mid/d/x.rs"}, phase.Input{}, []string{". rust 4"}},
		{"a crate that all workspaces exclude", nested, []string{"mid/e/x.rs"}, phase.Input{}, []string{". rust 4", "mid/e rust 4"}},
		{"a crate that names a workspace further above", nested, []string{"mid/f/x.rs"}, phase.Input{}, []string{". rust 4"}},
		{"a crate that names a workspace elsewhere", nested, []string{"mid/g/x.rs"}, phase.Input{}, []string{". rust 4", "mid/g rust 4"}},
		{"a crate that names a workspace that excludes it", map[string]string{
			"Cargo.toml": "[workspace]\nmembers = [\"a\"]\nexclude = [\"fuzz\"]\n", "a/Cargo.toml": "[package]\n", "fuzz/Cargo.toml": "[package]\nworkspace = \"..\"\n",
		}, []string{"fuzz/x.rs"}, phase.Input{}, []string{". rust 4", "fuzz rust 4"}},
		{"a crate that names a directory without a workspace", nested, []string{"mid/h/k/x.rs"}, phase.Input{}, []string{". rust 4", "mid/h/k rust 4"}},
		{"a crate that a workspace excludes with its directory, and has as a member", nested, []string{"mid/i/j/x.rs"}, phase.Input{}, []string{". rust 4", "mid rust 4"}},
		{"a file of two languages' directory, in a workspace below another one", nested, []string{"mid/c2/README.md"}, phase.Input{}, []string{". rust 4", "mid/c2 rust 4"}},
		{"crates that a workspace has: listed, by a path, in place of others", members, []string{"w/a/x.rs", "w/b/x.rs", "w/c/x.rs", "w/deep/d/x.rs", "w/shared/x.rs", "w/patched/x.rs", "w/in/x/x.rs", "w/any/x/x.rs", "w/any/z/x/x.rs"}, phase.Input{}, []string{"w rust 4"}},
		{"crates that a workspace does not have", members, []string{"w/apart/x.rs", "w/e/x.rs", "w/unused/x.rs", "w/in/x/y/x.rs", "w/any/y/x.rs", "w/other/x.rs"}, phase.Input{}, []string{"w/any/y rust 4", "w/apart rust 4", "w/e rust 4", "w/in/x/y rust 4", "w/other rust 4", "w/unused rust 4"}},
		{"a crate that the workspace at the top does not have", map[string]string{"Cargo.toml": "[workspace]\nmembers = []\n", "a/Cargo.toml": "[package]\n"}, []string{"a/x.rs"}, phase.Input{}, []string{". rust 4", "a rust 4"}},
		{"a workspace that another table implies", implied, []string{"w/a/x.rs"}, phase.Input{}, []string{"w rust 4"}},
		{"a crate below a Cargo.toml that cannot be read", map[string]string{"w/Cargo.toml": "[workspace]\nmembers = ['a'\n", "w/a/Cargo.toml": "[package]\n"}, []string{"w/a/x.rs"}, phase.Input{}, []string{"w/a rust 4"}},
		{"a part of a Gradle build below the top", empty("app/settings.gradle.kts", "app/build.gradle.kts", "app/core/build.gradle.kts"), []string{"app/core/A.java", "app/B.java"}, phase.Input{}, []string{"app java 4"}},
		{"Maven builds below another one", map[string]string{
			"pom.xml": "<project><modules><module>a</module></modules></project>", "a/pom.xml": "<project><modules><module>b</module></modules></project>", "a/b/pom.xml": "<project/>", "own/pom.xml": "<project><modules><module>c</module></modules></project>", "own/c/pom.xml": "<project/>",
		}, []string{"a/b/A.java", "own/c/B.java"}, phase.Input{}, []string{". java 4", "own java 4"}},
		{"Gradle builds below another one", empty("settings.gradle", "core/build.gradle", "own/settings.gradle.kts", "own/app/build.gradle"), []string{"core/A.java", "own/app/B.java"}, phase.Input{}, []string{". java 4", "own java 4"}},
		{"builds of Maven and Gradle below each other", map[string]string{"pom.xml": "<project/>", "android/settings.gradle": "", "android/app/build.gradle": "", "android/docs/pom.xml": ""}, []string{"android/app/A.java", "android/docs/B.java"}, phase.Input{}, []string{". java 4", "android java 4", "android/docs java 4"}},
		{"parts of a Gradle build without settings", empty("build.gradle", "own/build.gradle"), []string{"own/A.java"}, phase.Input{}, []string{". java 4", "own java 4"}},
		{"fixtures of tests", map[string]string{"Gemfile": "", "spec/fixtures/p/package.json": "{", "web/__fixtures__/go.mod": ""}, []string{"spec/fixtures/p/a.js", "web/__fixtures__/a.go"}, phase.Input{}, []string{". ruby 4"}},
		{"a template of a project", empty("pom.xml", "src/main/resources/archetype-resources/package.json"), []string{"src/main/resources/archetype-resources/a.js"}, phase.Input{}, []string{". java 4"}},
		{"a Maven build next to a package with tests: files of inner projects do not decide the order", map[string]string{
			"pom.xml": "<project><modules><module>a</module></modules></project>", "a/pom.xml": "<project/>", "own/pom.xml": "", "package.json": `{"scripts":{"test":"x"}}`,
		}, []string{"a/A.java", "own/B.java", "src/a.js"}, phase.Input{}, []string{". javascript 4", ". java 4", "own java 4"}},
		{"a workspace without a test script next to another project", map[string]string{"go.mod": "", "package.json": `{"workspaces":["web"]}`, "web/package.json": "{}"}, []string{"a.go", "web/a.js"}, phase.Input{}, []string{". go 4", ". javascript 4"}},
		{"a Gradle build of several projects", empty("settings.gradle.kts", "app/build.gradle.kts"), []string{"app/src/A.java"}, phase.Input{}, []string{". java 4"}},
		{"projects in test data and in others' code are not checked", empty("go.mod", "a/testdata/p/go.mod", "vendor/q/go.mod"), []string{"a/testdata/p/x.go", "vendor/q/x.go"}, phase.Input{}, []string{". go 4"}},
		{"overrides run once, at the top", empty("a/go.mod", "b/go.mod"), []string{"a/x.go", "b/x.go"}, phase.Input{TestCommand: "make test"}, []string{". go 1", "a go 3", "b go 3"}},
	}
	for _, tt := range tests {
		tt.input.ChangedFiles = tt.changed
		got, err := rootsOf(t, tt.files, tt.input)
		if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", tt.name, err, diff)
		}
	}
}

func TestProjects(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		files string
		want  []string
	}{
		"the top":            {"go.mod web/package.json", []string{"."}},
		"below the top":      {"web/package.json api/go.mod api/tools/go.mod apps/x/y/Cargo.toml", []string{"api", "apps/x/y", "web"}},
		"too far below":      {"a/b/c/d/go.mod", nil},
		"others' code":       {"vendor/go.mod web/node_modules/x/package.json .venv/setup.py x/testdata/go.mod", nil},
		"without a language": {"README.md docs/a.md", nil},
	}
	for name, tt := range tests {
		got, err := phase.Projects(files(t, empty(strings.Fields(tt.files)...)))
		if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
	if _, err := phase.Projects(filepath.Join(t.TempDir(), "gone")); err == nil {
		t.Error("a directory that is gone has projects")
	}
}

func TestALanguageIsNeverGuessed(t *testing.T) {
	t.Parallel()
	for _, changed := range [][]string{nil, {"a.go", "b.go"}, {"deep/x/y.py"}} {
		_, err := rootsOf(t, map[string]string{"a.go": "", "deep/x/y.py": "", "other/go.mod": ""}, phase.Input{ChangedFiles: changed})
		var invalid *phase.InvalidInput
		if !errors.As(err, &invalid) || invalid.Error() != "Cannot detect programming language. Please provide explicit 'language' parameter." {
			t.Errorf("%v: %v", changed, err)
		}
	}
}

// TestNothingInAProject asserts that only configured commands run, and nothing fails, if no changed
// file is in a project and none is code or a marker. In a repository without projects, all changed
// files have to be documents. Files whose directory was deleted do not count. Anything else, also
// no changed file, still needs a language.
func TestNothingInAProject(t *testing.T) {
	t.Parallel()
	monorepo := map[string]string{"api/go.mod": "", "web/package.json": "{}", "README.md": "", "docs/a.rst": "", "Makefile": "", ".github/workflows/ci.yml": "", "tool.py": "", "logo.png": ""}
	for _, tt := range []struct {
		contents map[string]string
		changed  []string
		input    phase.Input
		idle     bool
	}{
		{monorepo, []string{"README.md", "docs/a.rst"}, phase.Input{}, true},
		{monorepo, []string{"Makefile", ".github/workflows/ci.yml", "logo.png"}, phase.Input{}, true},
		{monorepo, []string{"old/go.mod", "old/main.go"}, phase.Input{}, true}, // deleted with their directory
		{monorepo, []string{"README.md"}, phase.Input{FormatCommand: "true"}, true},
		{monorepo, []string{"tool.py"}, phase.Input{}, false},
		{monorepo, []string{"README.md", "gone.py"}, phase.Input{}, false},
		{monorepo, []string{"go.mod"}, phase.Input{}, false}, // deleted: the project has lost its marker
		{monorepo, nil, phase.Input{}, false},
		{map[string]string{"README.md": ""}, []string{"README.md"}, phase.Input{}, true},
		{map[string]string{"Makefile": ""}, []string{"Makefile"}, phase.Input{}, false},
		{map[string]string{"main.c": ""}, []string{"main.c"}, phase.Input{}, false},
	} {
		dir := files(t, tt.contents)
		tt.input.WorkingDirectory, tt.input.ChangedFiles = dir, tt.changed
		r, err := phase.Validate(t.Context(), phase.Job{Input: tt.input, Repository: dir}, phase.Config{}, newStage(t, dir, map[string][]step{"true": ok}).deps())
		var invalid *phase.InvalidInput
		if !tt.idle {
			if !errors.As(err, &invalid) || !invalid.NoLanguage() {
				t.Errorf("%v: %v", tt.changed, err)
			}
			continue
		}
		if err != nil || r.Output.Status != phase.Pass || r.Output.Checks.Build.Status != phase.Skipped || r.Output.Checks.Tests.Status != phase.Skipped {
			t.Errorf("%v: %v\n%+v", tt.changed, err, r.Output)
		}
		if got := checkOf(r, phase.Linter); got.Status != phase.Pass || got.NotRun != phase.NotAsked || len(got.Notes) != 1 || got.Command != "" {
			t.Errorf("%v: the linter: %+v", tt.changed, got)
		}
		if got, want := checkOf(r, phase.Formatter).Command, tt.input.FormatCommand; got != want {
			t.Errorf("%v: the formatter ran %q, want %q", tt.changed, got, want)
		}
	}
}

func TestListedRootsReplaceThoseThatAreFound(t *testing.T) {
	t.Parallel()
	contents := map[string]string{"go.mod": "", "api/go.mod": "", "api/Cargo.toml": "", "api/gen/go.mod": "", "web/package.json": "{}", "bare/x.txt": "", "testdata/p/setup.py": ""}
	list := func(dirs ...string) (roots []phase.Root) {
		for _, d := range dirs {
			roots = append(roots, phase.Root{Dir: d})
		}
		return roots
	}
	tests := []struct {
		name  string
		input phase.Input
		roots []phase.Root
		want  []string
		err   string
	}{
		{"only these", phase.Input{ChangedFiles: []string{"x.go", "api/x.go"}}, list("web", "api"), []string{"api go 4", "web javascript 4"}, ""},
		{"twice the same", phase.Input{}, list("api", "./api/"), []string{"api go 4"}, ""},
		{"the majority of its own files", phase.Input{ChangedFiles: []string{"api/a.rs", "api/gen/a.go", "api/gen/b.go"}}, list("api/gen", "api"), []string{"api rust 4", "api/gen go 4"}, ""},
		{"the repository and one in it", phase.Input{}, list("api", "."), []string{". go 4", "api go 4"}, ""},
		{"where detection would not look", phase.Input{}, list("testdata/p"), []string{"testdata/p python 4"}, ""},
		{"with a language", phase.Input{}, []phase.Root{{Dir: "bare", Language: phase.Ruby}}, []string{"bare ruby 4"}, ""},
		{"the input's language", phase.Input{Language: phase.Java}, list("bare", "api"), []string{"api java 4", "bare java 4"}, ""},
		{"a root's own language wins over the input's", phase.Input{Language: phase.Java}, []phase.Root{{Dir: "api", Language: phase.Rust}}, []string{"api rust 4"}, ""},
		{"overrides run at the top", phase.Input{TestCommand: "make test"}, list("api", "web"), []string{". go 1", "api go 3", "web javascript 3"}, ""},
		{"below the repository", phase.Input{WorkingDirectory: "api"}, list("web", "api", "api/gen"), []string{". go 4", "gen go 4"}, ""},
		{"none there", phase.Input{WorkingDirectory: "bare"}, list("api"), nil, "none of the configured roots is in the working directory"},
		{"no such directory", phase.Input{}, list("api", "gone", "go.mod"), nil, "the root 'gone' is configured, but there is no such directory; Validation failed: the root 'go.mod'"},
		{"out of the repository", phase.Input{}, list("../x"), nil, "none of the configured roots"},
		{"no language", phase.Input{}, list("bare"), []string{".  4"}, "Cannot detect programming language. Please provide explicit 'language' parameter. (the configured root 'bare' has no package.json, go.mod or the like)"},
	}
	for _, tt := range tests {
		got, err := rootsOf(t, contents, tt.input, tt.roots...)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s:\n%s", tt.name, diff)
		}
		var invalid *phase.InvalidInput
		if tt.err == "" && err != nil || tt.err != "" && (!errors.As(err, &invalid) || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.err)
		}
	}
}
