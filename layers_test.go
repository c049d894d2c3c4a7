// Package airlock_test checks what each package imports, and what the documents say.
package airlock_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/agent-airlock/airlock"

// layers is the table of docs/project-layout.md as data. Of our packages, a package imports only
// those that its row names, and internal/lazyregexp. A row names only packages above it; "*" stands
// for all of them.
var layers = []struct {
	pkg     string
	imports string
}{
	{"schemas", ""},
	{"internal/jsonrepair", ""},
	{"internal/safeoutput", "jsonrepair"},
	{"internal/finding", ""},
	{"internal/event", ""},
	{"internal/token", ""},
	{"internal/text", ""},
	{"internal/nofollow", "text"},
	{"internal/lazyregexp", ""},
	{"internal/exitcode", ""},
	{"internal/crash", ""},
	{"internal/shorttest", ""},
	{"internal/markdown", ""},
	{"internal/markdown/cmarkgfm", ""},
	{"internal/tasklist", "markdown"},
	{"internal/schema", "schemas text"},
	{"internal/sanitize", "markdown"},
	{"internal/sarif", "text finding schema"},
	{"internal/secrets", "text token"},
	{"internal/textdiff", ""},
	{"internal/manpage", ""},
	{"internal/terminal", ""},
	{"internal/toolreport", "text finding sarif safeoutput textdiff"},
	{"internal/command", "text crash"},
	{"internal/branchname", ""},
	{"internal/githubapi", "text token branchname"},
	{"internal/githubtest", ""},
	{"internal/githubtest/githubserver", "githubtest"},
	{"internal/githubtest/cutopenapi", ""},
	{"internal/intake", "text safeoutput jsonrepair schema sanitize sarif crash"},
	{"internal/tempdir", ""},
	{"internal/filelock", ""},
	{"internal/gitrepo", "tempdir text command token branchname nofollow"},
	{"internal/gitrepo/gittest", "command gitrepo"},
	{"internal/agentchanges", "text gitrepo crash"},
	{"internal/isolate", "tempdir text command secrets crash"},
	{"internal/exposure", "text secrets"},
	{"internal/changes", "text gitrepo"},
	{"internal/reviewer", "text finding changes secrets crash"},
	{"internal/policy/tree", "text"},
	{"internal/policy", "text safeoutput intake event schema policy/tree branchname"},
	{"internal/phase", "text finding changes command toolreport schema crash nofollow"},
	{"internal/plugin", "text safeoutput finding jsonrepair changes command toolreport phase crash"},
	{"internal/apply", "text safeoutput policy policy/tree event changes sarif finding markdown tasklist sanitize secrets githubapi gitrepo agentchanges branchname crash"},
	{"internal/fixloop", "text finding markdown"},
	{"internal/pages", "text crash schema sanitize fixloop"},
	{"internal/githubtest/pullpage", "githubtest pages"},
	{"internal/action", "text event token filelock nofollow"},
	{"internal/report", "text safeoutput finding event markdown sarif intake policy apply action pages"},
	{"internal/loopref", "fixloop githubapi"},
	{"internal/checkreport", "text safeoutput finding markdown sarif schema intake phase fixloop pages"},
	{"internal/acceptance", "text crash markdown tasklist schema"},
	{"internal/verdictreport", "text safeoutput markdown schema intake fixloop checkreport acceptance"},
	{"internal/config", "text branchname safeoutput intake sanitize policy policy/tree finding secrets phase reviewer plugin"},
	{"internal/doors", "exitcode text token event safeoutput githubapi gitrepo agentchanges changes secrets sanitize sarif intake policy apply report checkreport verdictreport action config crash pages"},
	{"internal/guide", "text safeoutput sanitize policy config schema schemas"},
	{"internal/scaffold", "text textdiff safeoutput gitrepo phase apply action config"},
	{"internal/doctor", "exitcode text crash event safeoutput policy exposure githubapi gitrepo apply action config"},
	{"internal/checks", "exitcode event action finding secrets command githubapi gitrepo agentchanges isolate exposure changes reviewer phase plugin checkreport config doors crash nofollow"},
	{"internal/fixer", "agentchanges command config fixloop gitrepo isolate policy/tree safeoutput secrets text nofollow"},
	{"internal/loopturn", "text event safeoutput markdown githubapi gitrepo intake apply config secrets fixloop fixer loopref checkreport verdictreport"},
	{"internal/store", "exitcode filelock"},
	{"internal/store/storetest", ""},
	{"internal/engine", "crash store"},
	{"internal/loops", "crash engine fixloop store"},
	{"internal/verify", "action exitcode text acceptance gitrepo command config doors phase checks nofollow"},
	{"internal/step", "exitcode token event safeoutput finding markdown githubapi gitrepo intake phase apply report checkreport action config doors checks acceptance verdictreport verify crash loopturn"},
	{"internal/agents", "text schema store"},
	{"internal/access", "store"},
	{"internal/runs", "exitcode text crash schema command store agents"},
	{"internal/httpapi", "text crash schema store access agents fixloop loops runs pages"},
	{"internal/server", "exitcode text crash safeoutput schema guide doors"},
	{"internal/loopwork", "acceptance action checkreport checks command config doors engine event exitcode fixer fixloop gitrepo loops phase store text verdictreport verify"},
	{"internal/builtin", "acceptance action agents checks config doors engine exitcode fixloop intake loopwork phase schema verify"},
	{"internal/client", "agents exitcode httpapi runs schema token"},
	{"internal/node", "access action agents builtin config doors engine exitcode httpapi loops runs secrets server store token"},
	{"internal/usage", "action exitcode manpage text"},
	{"internal/cli", "*"},
	{"cmd/airlock", "cli exitcode"},
}

// onlyImporter names the packages, most often one, that may use a third-party or standard package
// outside tests, because its pitfalls are to be handled in one place.
var onlyImporter = map[string]string{
	"os/exec":                                                 "internal/command",
	"github.com/bmatcuk/doublestar/v4":                        "internal/policy/tree",
	"github.com/google/go-github/v60/github":                  "internal/githubapi",
	"github.com/sethvargo/go-githubactions":                   "internal/action",
	"github.com/owenrumney/go-sarif/v2/sarif":                 "internal/sarif",
	"github.com/santhosh-tekuri/jsonschema/v5":                "internal/schema",
	"github.com/spf13/cobra":                                  "internal/cli internal/usage",
	"github.com/zricethezav/gitleaks/v8/config":               "internal/secrets",
	"github.com/pelletier/go-toml/v2":                         "internal/phase internal/secrets",
	"github.com/reviewdog/errorformat":                        "internal/toolreport",
	"modernc.org/sqlite":                                      "internal/store",
	"github.com/jackc/pgx/v5/pgxpool":                         "internal/store",
	"github.com/dbos-inc/dbos-transact-golang/dbos":           "internal/engine",
	"github.com/dbos-inc/dbos-transact-golang/dbos/internals": "no package", // nobody promises anything about it
	"github.com/rhysd/actionlint":                             "internal/doctor internal/reviewer",
	"github.com/rogpeppe/go-internal/diff":                    "internal/textdiff",
	"github.com/modelcontextprotocol/go-sdk/mcp":              "internal/server",
	"github.com/prometheus/client_golang/prometheus":          "internal/httpapi",
	"golang.org/x/time/rate":                                  "internal/httpapi",
	// Templates are files of ours, and only data comes from agents.
	"html/template": "internal/pages",
	// Nobody: no text of an agent can become a program (rule R15).
	"text/template": "no package",
	"plugin":        "no package",
}

type listed struct {
	Dir        string
	ImportPath string
	Imports    []string
	GoFiles    []string
}

// everywhere is the package that any other may import: it stands for the standard library's
// regexp.
const everywhere = "internal/lazyregexp"

func TestPackagesImportOnlyWhatTheirRowNames(t *testing.T) {
	rows := map[string][]string{}
	for i, l := range layers {
		var allowed []string
		for _, name := range strings.Fields(l.imports) {
			path := "internal/" + name
			if name == "schemas" {
				path = name
			}
			if name != "*" && !slices.ContainsFunc(layers[:i], func(above struct{ pkg, imports string }) bool { return above.pkg == path }) {
				t.Errorf("%s names %s, which does not stand above it", l.pkg, path)
			}
			allowed = append(allowed, path)
		}
		rows[l.pkg] = allowed
	}
	for _, p := range list(t) {
		if p.ImportPath == module {
			continue // it has only these tests
		}
		pkg := strings.TrimPrefix(p.ImportPath, module+"/")
		allowed, ok := rows[pkg]
		if !ok {
			t.Errorf("package %s has no row in the table", pkg)
			continue
		}
		for _, imported := range p.Imports {
			if own, isOurs := strings.CutPrefix(imported, module+"/"); isOurs && own != everywhere && !slices.Contains(allowed, own) && !slices.Contains(allowed, "internal/*") {
				t.Errorf("%s imports %s, which its row does not name", pkg, own)
			}
			if only, ok := onlyImporter[imported]; ok && !slices.Contains(strings.Fields(only), pkg) && !testSupport(pkg) {
				t.Errorf("%s imports %s, which may be imported by %s", pkg, imported, only)
			}
		}
	}
}

// testSupport reports whether a package is never linked into the binary.
func testSupport(pkg string) bool {
	return strings.Contains(pkg, "githubtest") || strings.HasSuffix(pkg, "/shorttest") || strings.HasSuffix(pkg, "/cmarkgfm") || strings.HasSuffix(pkg, "/gittest") || strings.HasSuffix(pkg, "/storetest")
}

func TestBinaryLinksNoTestSupport(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "./cmd/airlock").Output()
	if err != nil {
		t.Fatalf("go list -deps: %v", err)
	}
	for dep := range strings.FieldsSeq(string(out)) {
		if testSupport(dep) || strings.Contains(dep, "kin-openapi") || strings.Contains(dep, "gqlparser") || strings.Contains(dep, "chromedp") {
			t.Errorf("the binary links %s", dep)
		}
	}
}

// TestWhatShortLeavesOutExists asserts that each test that -short leaves out exists in its package.
func TestWhatShortLeavesOutExists(t *testing.T) {
	left := 0
	for _, p := range list(t) {
		dir := strings.TrimPrefix(p.ImportPath, module+"/")
		files, err := filepath.Glob(filepath.Join(p.Dir, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		tests, named := map[string]bool{}, []string{}
		for _, name := range files {
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.FuncDecl:
					tests[n.Name.Name] = true
				case *ast.CallExpr:
					if fun, ok := n.Fun.(*ast.SelectorExpr); ok && fun.Sel.Name == "LeaveOut" {
						for _, arg := range n.Args {
							name, _ := strconv.Unquote(arg.(*ast.BasicLit).Value)
							named = append(named, name)
						}
					}
				}
				return true
			})
		}
		for _, name := range named {
			if !tests[name] {
				t.Errorf("%s: -short leaves out %s, which does not exist", dir, name)
			}
		}
		left += len(named)
	}
	if left == 0 {
		t.Error("no call of shorttest.LeaveOut was found")
	}
}

// TestStartCompilesNoExpression fails on a variable of a package that compiles a regular
// expression, because every start of the program would wait for it. It also fails on an invalid
// expression, because this would be noticed only when the expression is used.
func TestStartCompilesNoExpression(t *testing.T) {
	for _, p := range list(t) {
		if testSupport(p.ImportPath) {
			continue
		}
		for _, name := range p.GoFiles {
			files := token.NewFileSet()
			file, err := parser.ParseFile(files, filepath.Join(p.Dir, name), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok || len(call.Args) != 1 {
					return true
				}
				made, ok := call.Fun.(*ast.SelectorExpr)
				expression, isLiteral := call.Args[0].(*ast.BasicLit)
				if !ok || !isLiteral || made.Sel.Name != "New" || fmt.Sprint(made.X) != "lazyregexp" {
					return true
				}
				if text, err := strconv.Unquote(expression.Value); err != nil {
					t.Error(err)
				} else if _, err := regexp.Compile(text); err != nil {
					t.Errorf("%s: %v", files.Position(call.Pos()), err)
				}
				return true
			})
			for _, decl := range file.Decls {
				if _, isFunction := decl.(*ast.FuncDecl); isFunction {
					continue
				}
				ast.Inspect(decl, func(n ast.Node) bool {
					_, isFunction := n.(*ast.FuncLit)
					if f, ok := n.(*ast.SelectorExpr); ok && f.Sel.Name == "MustCompile" {
						t.Errorf("%s compiles an expression at the start of the program: make it with lazyregexp.New", files.Position(f.Pos()))
					}
					return !isFunction
				})
			}
		}
	}
}

// list returns the packages of this module.
func list(t *testing.T) []listed {
	t.Helper()
	packages, err := listOnce()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	return packages
}

var listOnce = sync.OnceValues(func() (packages []listed, err error) {
	out, err := exec.Command("go", "list", "-e", "-json=Dir,ImportPath,Imports,GoFiles", "./...").Output()
	if err != nil {
		return nil, err
	}
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
		var p listed
		if err := dec.Decode(&p); err != nil {
			return nil, err
		}
		packages = append(packages, p)
	}
	return packages, nil
})
