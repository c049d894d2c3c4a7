// Package airlock_test holds the table of packages and what each may import.
package airlock_test

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/agent-airlock/airlock"

// layers is the table of docs/project-layout.md as data: a package imports what
// its row names and nothing else of ours, and a row names only packages above it.
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
	{"internal/lazyregexp", ""},
	{"internal/exitcode", ""},
	{"internal/crash", ""},
	{"internal/shorttest", ""},
	{"internal/markdown", ""},
	{"internal/markdown/cmarkgfm", ""},
	{"internal/schema", "schemas text"},
	{"internal/sanitize", "markdown"},
	{"internal/sarif", "text finding schema"},
	{"internal/secrets", "token"},
	{"internal/toolreport", "finding sarif safeoutput"},
	{"internal/command", "text crash"},
	{"internal/branchname", ""},
	{"internal/githubapi", "text token branchname"},
	{"internal/githubtest", ""},
	{"internal/githubtest/githubserver", "githubtest"},
	{"internal/githubtest/cutopenapi", ""},
	{"internal/intake", "text safeoutput jsonrepair schema sanitize sarif crash"},
	{"internal/gitrepo", "text command token branchname"},
	{"internal/gitrepo/gittest", "command gitrepo"},
	{"internal/agentchanges", "text gitrepo"},
	{"internal/isolate", "text command secrets crash"},
	{"internal/exposure", "text secrets lazyregexp"},
	{"internal/changes", "text gitrepo"},
	{"internal/reviewer", "text finding changes secrets crash lazyregexp"},
	{"internal/policy/tree", "text"},
	{"internal/policy", "text safeoutput intake event schema policy/tree branchname"},
	{"internal/phase", "text finding changes command toolreport schema crash"},
	{"internal/plugin", "text safeoutput finding jsonrepair changes command toolreport phase crash"},
	{"internal/apply", "text safeoutput policy policy/tree event changes sarif finding markdown sanitize secrets githubapi gitrepo agentchanges branchname crash lazyregexp"},
	{"internal/report", "text safeoutput finding event markdown sarif intake policy apply"},
	{"internal/fixloop", "text finding markdown"},
	{"internal/loopref", "fixloop githubapi"},
	{"internal/checkreport", "text safeoutput finding markdown sarif schema intake phase fixloop"},
	{"internal/acceptance", "text crash schema lazyregexp"},
	{"internal/verdictreport", "text safeoutput markdown schema intake checkreport acceptance"},
	{"internal/action", "text event token"},
	{"internal/config", "text safeoutput intake sanitize policy policy/tree finding secrets phase reviewer plugin"},
	{"internal/doors", "exitcode token event safeoutput githubapi gitrepo agentchanges changes secrets sanitize intake policy apply report checkreport verdictreport action config crash"},
	{"internal/guide", "text safeoutput sanitize policy config schemas"},
	{"internal/checks", "exitcode event finding secrets command githubapi gitrepo agentchanges isolate exposure changes reviewer phase plugin checkreport config doors crash"},
	{"internal/loopturn", "event safeoutput markdown githubapi intake fixloop loopref checkreport"},
	{"internal/store", ""},
	{"internal/store/storetest", ""},
	{"internal/engine", "crash store"},
	{"internal/loops", "crash engine fixloop store"},
	{"internal/verify", "exitcode text acceptance gitrepo command config doors phase checks"},
	{"internal/fixer", "agentchanges command fixloop gitrepo isolate text"},
	{"internal/step", "exitcode token event safeoutput finding markdown githubapi gitrepo intake phase apply report checkreport action config doors checks acceptance verdictreport verify crash loopturn"},
	{"internal/agents", "text schema store"},
	{"internal/access", "store"},
	{"internal/runs", "text schema command store engine agents"},
	{"internal/httpapi", "crash schema access agents fixloop loops runs"},
	{"internal/server", "text crash safeoutput guide doors"},
	{"internal/cli", "*"},
	{"cmd/airlock", "cli exitcode"},
}

// onlyImporter names the one package that may use a third-party or standard
// package outside tests, so that a trap is handled in one place.
var onlyImporter = map[string]string{
	"os/exec":                                                 "internal/command",
	"github.com/bmatcuk/doublestar/v4":                        "internal/policy/tree",
	"github.com/google/go-github/v60/github":                  "internal/githubapi",
	"github.com/sethvargo/go-githubactions":                   "internal/action",
	"github.com/owenrumney/go-sarif/v2/sarif":                 "internal/sarif",
	"github.com/santhosh-tekuri/jsonschema/v5":                "internal/schema",
	"github.com/spf13/cobra":                                  "internal/cli",
	"github.com/zricethezav/gitleaks/v8/config":               "internal/secrets",
	"github.com/pelletier/go-toml/v2":                         "internal/secrets",
	"github.com/reviewdog/errorformat":                        "internal/toolreport",
	"modernc.org/sqlite":                                      "internal/store",
	"github.com/jackc/pgx/v5/pgxpool":                         "internal/store",
	"github.com/dbos-inc/dbos-transact-golang/dbos":           "internal/engine",
	"github.com/dbos-inc/dbos-transact-golang/dbos/internals": "internal/engine",
	"github.com/rogpeppe/go-internal/diff":                    "internal/toolreport",
	"github.com/modelcontextprotocol/go-sdk/mcp":              "internal/server",
	"github.com/prometheus/client_golang/prometheus":          "internal/httpapi",
	"golang.org/x/time/rate":                                  "internal/httpapi",
	// Nobody: no text of an agent can become a program (rule R15).
	"text/template": "no package",
	"html/template": "no package",
	"plugin":        "no package",
}

type listed struct {
	ImportPath string
	Imports    []string
}

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
		pkg := strings.TrimPrefix(p.ImportPath, module+"/")
		allowed, ok := rows[pkg]
		if !ok {
			t.Errorf("package %s has no row in the table", pkg)
			continue
		}
		for _, imported := range p.Imports {
			if own, isOurs := strings.CutPrefix(imported, module+"/"); isOurs && !slices.Contains(allowed, own) && !slices.Contains(allowed, "internal/*") {
				t.Errorf("%s imports %s, which its row does not name", pkg, own)
			}
			if only, ok := onlyImporter[imported]; ok && only != pkg && !testSupport(pkg) {
				t.Errorf("%s imports %s, which only %s may", pkg, imported, only)
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
		if testSupport(dep) || strings.Contains(dep, "kin-openapi") || strings.Contains(dep, "goldmark") || strings.Contains(dep, "gqlparser") {
			t.Errorf("the binary links %s", dep)
		}
	}
}

func list(t *testing.T) []listed {
	t.Helper()
	out, err := exec.Command("go", "list", "-e", "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var packages []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); dec.More(); {
		var p listed
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		if p.ImportPath != module {
			packages = append(packages, p)
		}
	}
	return packages
}
