//go:build projects

package phase_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/changes"
	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/reviewer"
	"github.com/agent-airlock/airlock/internal/secrets"
)

var (
	projectsDir  = flag.String("projects.dir", "", "where the fetched projects lie, or are fetched to")
	projectsOnly = flag.String("projects.only", "", "a pattern of the projects to check")
)

// fetched is a real project at one version, and how a person checks it.
type fetched struct {
	name, version string // as its registry knows them
	from          string // go, npm or deb
	pkg           string // of Go files: the package's name
	style         string // of JavaScript files
	into          string // the directory or file that changes are made in
	test          string // the test file that grows, "" for a new one
	// The commands that a person runs; "" for a check that the project does not have.
	format, lint, build, tests string
}

const (
	gofmtByHand = "! gofmt -l . | grep ."
	goBuild     = "go build ./..."
	goTests     = "go test ./..."
)

var fetchedProjects = []fetched{
	{"github.com/google/uuid", "v1.6.0", "go", "uuid", "", ".", "", gofmtByHand, "go vet ./...", goBuild, goTests},
	{"github.com/gorilla/mux", "v1.8.1", "go", "mux", "", ".", "", gofmtByHand, "golangci-lint run", goBuild, goTests},
	{"github.com/spf13/pflag", "v1.0.6", "go", "pflag", "", ".", "", gofmtByHand, "golangci-lint run", goBuild, goTests},
	{"github.com/BurntSushi/toml", "v1.4.0", "go", "toml", "", ".", "", gofmtByHand, "go vet ./...", goBuild, goTests},
	{"github.com/fatih/structtag", "v1.2.0", "go", "structtag", "", ".", "", gofmtByHand, "go vet ./...", goBuild, goTests},
	{"github.com/rivo/uniseg", "v0.4.7", "go", "uniseg", "", ".", "", gofmtByHand, "go vet ./...", goBuild, goTests},
	{"fastq", "1.17.1", "npm", "", "standard", ".", "test/test.js", "", "npm run lint", "", "npm test"},
	{"split2", "4.2.0", "npm", "", "standard", ".", "test.js", "", "npm run lint", "", "npm test"},
	{"minimist", "1.2.8", "npm", "", "tabs", ".", "test/num.js", "", "npm run lint", "", "npm test"},
	{"node-commander", "9.4.1-1", "deb", "", "semicolons", "lib", "tests/args.literal.test.js", "", "npm run lint", "", "npm test"},
	{"toolz", "0.12.0-1", "deb", "", "", "toolz", "", "black --check .", "flake8", "", "pytest"},
	{"rust-fnv", "1.0.7-1", "deb", "", "", "lib.rs", "", "cargo fmt --check", "cargo clippy", "cargo build", "cargo test"},
}

// change is one of the seven: a text that becomes a file, or the end of one.
type change struct{ name, file, text string }

var changeNames = []string{"clean", "format", "lint", "build", "tests", "weakness", "documents"}

// changesOf returns the seven changes of a project.
func changesOf(t *testing.T, p fetched, dir string) []change {
	t.Helper()
	texts := map[string]string{}
	file, test := filepath.Join(p.into, "zz_airlock"), p.test
	switch {
	case p.from == "go":
		file, test = file+".go", "zz_airlock_test.go"
		head := "package " + p.pkg + "\n\n"
		texts["clean"] = head + "// AirlockAdd adds.\nfunc AirlockAdd(a, b int) int { return a + b }\n"
		texts["format"] = head + "// AirlockAdd adds.\nfunc AirlockAdd(a,b int) int { return a+b }\n"
		texts["lint"] = head + "import \"fmt\"\n\n// AirlockPrint prints.\nfunc AirlockPrint() { fmt.Printf(\"%d\\n\", \"x\") }\n"
		texts["build"] = head + "// AirlockText returns a text.\nfunc AirlockText() string { return 1 }\n"
		texts["tests"] = head + "import \"testing\"\n\nfunc TestAirlock(t *testing.T) { t.Fatal(\"airlock\") }\n"
		texts["weakness"] = head + "import (\n\t\"net/http\"\n\t\"os/exec\"\n)\n\n// AirlockList lists a directory.\nfunc AirlockList(_ http.ResponseWriter, r *http.Request) error {\n\treturn exec.Command(\"sh\", \"-c\", \"ls \"+r.URL.Query().Get(\"dir\")).Run()\n}\n"
	case p.name == "toolz":
		file, test = file+".py", "toolz/tests/test_zz_airlock.py"
		texts["clean"] = "def airlock_add(a, b):\n    return a + b\n"
		texts["format"] = "def airlock_add( a,b ):\n    return a+b\n"
		texts["lint"] = "import os\n\n\ndef airlock_add(a, b):\n    return a + b\n"
		texts["build"] = "def airlock_add(a, b:\n    return a + b\n"
		texts["tests"] = "def test_airlock():\n    assert 1 + 1 == 3\n"
		texts["weakness"] = "import os\n\nfrom flask import request\n\n\ndef airlock_list():\n    os.system(\"ls \" + request.args[\"dir\"])\n"
	case p.name == "rust-fnv":
		file, test = p.into, p.into
		texts["clean"] = "\n/// Adds.\npub fn airlock_add(a: u32, b: u32) -> u32 {\n    a + b\n}\n"
		texts["format"] = "\n/// Adds.\npub fn airlock_add( a: u32, b: u32 ) -> u32 { a+b }\n"
		texts["lint"] = "\n/// Adds.\n#[deny(clippy::needless_return)]\npub fn airlock_add(a: u32, b: u32) -> u32 {\n    return a + b;\n}\n"
		texts["build"] = "\n/// Adds.\npub fn airlock_add(a: u32, b: u32) -> u32 {\n    \"x\"\n}\n"
		texts["tests"] = "\n#[test]\nfn airlock() {\n    assert_eq!(1 + 1, 3);\n}\n"
		texts["weakness"] = "\n/// The key of the store.\npub const AIRLOCK_KEY: &str = \"" + madeUpKey() + "\";\n"
	default:
		file += ".js"
		js := func(args, body string) string {
			switch p.style {
			case "standard":
				return "'use strict'\n\nmodule.exports = function airlock (" + args + ") {\n  " + body + "\n}\n"
			case "tabs":
				return "'use strict';\n\nmodule.exports = function airlock(" + args + ") {\n\t" + body + ";\n};\n"
			}
			return "module.exports = function airlock(" + args + ") {\n  " + body + ";\n};\n"
		}
		texts["clean"], texts["format"] = js("a, b", "return a + b"), strings.ReplaceAll(js("a, b", "return a + b"), "(a, b)", "( a,b )")
		texts["lint"], texts["build"] = js("a, b", "var unused = 1"), js("a, b", "return (")
		texts["tests"] = map[string]string{
			"standard": "\ntest('airlock', function (t) {\n  t.plan(1)\n  t.equal(1 + 1, 3)\n})\n", "tabs": "\ntest('airlock', function (t) {\n\tt.equal(1 + 1, 3);\n\tt.end();\n});\n",
			"semicolons": "\ntest('airlock', () => {\n  expect(1 + 1).toBe(3);\n});\n",
		}[p.style]
		texts["weakness"] = js("req, res", "require('child_process').exec('ls ' + req.query.dir)")
	}
	readme := "README.md"
	for _, name := range []string{"Readme.md", "README.rst"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			readme = name
		}
	}
	var all []change
	for _, name := range changeNames {
		c := change{name, filepath.Clean(file), texts[name]}
		switch name {
		case "tests":
			c.file = test
		case "documents":
			c.file, c.text = readme, "\nOne more line.\n"
		}
		all = append(all, c)
	}
	return all
}

// madeUpKey returns what has the form of a live key and never was one.
func madeUpKey() string {
	return "sk_" + "live_" + strings.Repeat("4eC39HqLyjWD", 2)
}

// apply makes a change in a directory, and returns it as a pull request's diff.
func (c change) apply(t *testing.T, dir string) changes.ChangedFile {
	t.Helper()
	path := filepath.Join(dir, c.file)
	before, err := os.ReadFile(path)
	status := changes.Modified
	if errors.Is(err, os.ErrNotExist) {
		before, err, status = nil, nil, changes.Added
	}
	if err == nil && len(before) > 0 && before[len(before)-1] != '\n' {
		before = append(before, '\n')
	}
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o755)
	}
	if err == nil {
		err = os.WriteFile(path, append(before, c.text...), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	lines, old := strings.Split(strings.TrimSuffix(c.text, "\n"), "\n"), strings.Count(string(before), "\n")
	patch := fmt.Sprintf("@@ -%d,0 +%d,%d @@\n+%s\n", old, old+1, len(lines), strings.Join(lines, "\n+"))
	return changes.ChangedFile{Path: filepath.ToSlash(c.file), Status: status, Patch: patch}
}

// TestFetchedProjects compares the six checks with the tools run by hand, on each project
// with each of the seven changes, as for a pull request. It writes the table of
// docs/check-projects.md with -update.
func TestFetchedProjects(t *testing.T) {
	root := *projectsDir
	if root == "" {
		t.Fatal("-projects.dir is required: script/check-projects gives it")
	}
	only := regexp.MustCompile(*projectsOnly)
	var table strings.Builder
	table.WriteString("| project | commands by hand | " + strings.Join(changeNames, " | ") + " |\n|" + strings.Repeat(" --- |", 2+len(changeNames)) + "\n")
	equal, compared := 0, 0
	for _, p := range fetchedProjects {
		if !only.MatchString(p.name) {
			continue
		}
		base := p.fetch(t, root)
		hand := []string{p.format, p.lint, p.build, p.tests}
		atBase := make([]handRun, len(hand))
		clean := p.copy(t, base)
		for i, line := range hand {
			atBase[i] = p.byHand(t, clean, line)
		}
		var shown []string
		for _, line := range hand {
			if line != "" {
				shown = append(shown, "`"+strings.ReplaceAll(line, "|", `\|`)+"`")
			}
		}
		fmt.Fprintf(&table, "| %s %s | %s |", p.name, p.version, strings.Join(shown, ", "))
		for _, c := range changesOf(t, p, base) {
			want := p.wanted(t, base, c, hand, atBase)
			got := p.checked(t, base, c)
			var failed []string
			for _, check := range []phase.Check{phase.Formatter, phase.Linter, phase.Build, phase.Tests, phase.CodeReview, phase.SecurityReview} {
				compared++
				switch {
				case got[check] == want[check]:
					equal++
				default:
					t.Errorf("%s, %s: %s %s, and by hand %s", p.name, c.name, check, got[check], want[check])
					failed = append(failed, fmt.Sprintf("**%s differs**", check))
				}
				if got[check] == phase.Fail {
					failed = append(failed, strings.ReplaceAll(string(check), "_", " "))
				}
			}
			if len(failed) == 0 {
				failed = []string{"–"}
			}
			fmt.Fprintf(&table, " %s |", strings.Join(failed, ", "))
		}
		table.WriteString("\n")
	}
	t.Logf("%d of %d checks are equal\n%s", equal, compared, table.String())
	if *update {
		table.WriteString(fmt.Sprintf("\n%d of %d checks are equal.\n", equal, compared))
		writeProjects(t, table.String())
	}
}

func writeProjects(t *testing.T, table string) {
	t.Helper()
	const path = "../../docs/check-projects.md"
	raw, err := os.ReadFile(path)
	if err == nil {
		raw = regexp.MustCompile(`(?s)(<!-- projects -->\n).*?(<!-- end -->)`).ReplaceAllLiteral(raw, []byte("<!-- projects -->\n"+table+"<!-- end -->"))
		err = os.WriteFile(path, raw, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// namesSource matches what names a source file. A tool that failed before the change without
// naming one could not be run, as for a configuration of another version.
var namesSource = regexp.MustCompile(`\.(?:go|js|ts|py|rs)\b`)

// handRun is a command that a person ran.
type handRun struct {
	ok      bool
	printed string
}

// byHand runs a command as a person does, in a directory. One that the project does not
// have is well.
func (p fetched) byHand(t *testing.T, dir, line string) handRun {
	t.Helper()
	if line == "" {
		return handRun{ok: true}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", line)
	cmd.Dir, cmd.Env = dir, append(realDeps(t).Env, "PATH="+filepath.Join(dir, "node_modules/.bin")+":"+os.Getenv("PATH"))
	printed, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return handRun{err == nil, strings.ReplaceAll(string(printed), dir+"/", "")}
}

// hasNew reports whether a line names the file and stood in nothing of what an earlier run
// printed.
func (h handRun) hasNew(earlier handRun, file string) bool {
	known := strings.Split(earlier.printed, "\n")
	for line := range strings.SplitSeq(h.printed, "\n") {
		if strings.Contains(line, file) && !slices.Contains(known, line) {
			return true
		}
	}
	return false
}

// wanted returns how each check ends by hand: a formatter or a linter fails if it fails,
// and if it did not fail before the change or says something new of the changed file; build and tests if
// they fail. There is nothing to run by hand for the reviews: the weakness is what the
// security review has to find.
func (p fetched) wanted(t *testing.T, base string, c change, hand []string, before []handRun) map[phase.Check]phase.Status {
	t.Helper()
	dir := p.copy(t, base)
	c.apply(t, dir)
	want := map[phase.Check]phase.Status{phase.CodeReview: phase.Pass, phase.SecurityReview: phase.Pass}
	for i, check := range []phase.Check{phase.Formatter, phase.Linter, phase.Build, phase.Tests} {
		after := p.byHand(t, dir, hand[i])
		isStyle := check == phase.Formatter || check == phase.Linter
		switch {
		case hand[i] == "" && check == phase.Build:
			want[check] = phase.Skipped
		case after.ok, isStyle && !before[i].ok && namesSource.MatchString(before[i].printed) && !after.hasNew(before[i], c.file):
			want[check] = phase.Pass
		default:
			want[check] = phase.Fail
		}
	}
	if c.name == "weakness" {
		want[phase.SecurityReview] = phase.Fail
	}
	return want
}

// checked returns how each check ends.
func (p fetched) checked(t *testing.T, base string, c change) map[phase.Check]phase.Status {
	t.Helper()
	dir := p.copy(t, base)
	diff := c.apply(t, dir)
	deps := realDeps(t)
	deps.Run = func(ctx context.Context, spec command.Spec) (command.Result, error) {
		spec.Env = append(slices.Clip(spec.Env), "PATH="+os.Getenv("PATH"))
		return command.Run(ctx, spec)
	}
	built, err := reviewer.New(reviewer.Config{}, secrets.New(nil))
	if err != nil {
		t.Fatal(err)
	}
	deps.CodeReview, deps.SecurityReview = reading(built.Code), reading(built.Security)
	in := phase.Input{WorkingDirectory: dir, ChangedFiles: []string{diff.Path}, MaxRetries: 0}
	r := validate(t, phase.Job{Input: in, Diff: []changes.ChangedFile{diff}}, phase.Config{CheckOnly: true, Scratch: true, Suggest: true, NewOnly: true, TimeLimit: 10 * time.Minute}, deps)
	t.Logf("%s, %s\n%s", p.name, c.name, describe(r))
	o := r.Output.Checks
	return map[phase.Check]phase.Status{phase.Formatter: o.Formatter.Status, phase.Linter: o.Linter.Status, phase.Build: o.Build.Status, phase.Tests: o.Tests.Status,
		phase.CodeReview: o.CodeReview.Status, phase.SecurityReview: o.SecurityReview.Status}
}

// copy copies a project; what its package manager has installed is linked.
func (p fetched) copy(t *testing.T, base string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), filepath.Base(base))
	sh(t, ".", `mkdir "$1" && cd "$0" && tar cf - --exclude ./node_modules --exclude ./target . | tar xf - -C "$1" && chmod -R u+w "$1" && if [ -d node_modules ]; then ln -s "$0/node_modules" "$1/node_modules"; fi`, base, dir)
	return dir
}

// fetch fetches a project by its registry's own client, unless it lies there already, and
// installs what it needs.
func (p fetched) fetch(t *testing.T, root string) string {
	t.Helper()
	root, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, strings.NewReplacer("/", "_").Replace(p.name+"@"+p.version))
	if _, err := os.Stat(filepath.Join(dir, ".fetched")); err == nil {
		return dir
	}
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	switch p.from {
	case "go":
		sh(t, root, `cd "$(mktemp -d)" && from=$(GOFLAGS=-mod=mod go mod download -json "$0@$1" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p') && cp -r "$from/." "$2" && chmod -R u+w "$2"`, p.name, p.version, dir)
	case "npm":
		sh(t, root, `cd "$2" && tar xzf "$(npm pack --silent "$0@$1")" --strip-components=1 && rm -f ./*.tgz`, p.name, p.version, dir)
	case "deb":
		sh(t, root, `cd "$(mktemp -d)" && mkdir -p lists/partial cache/archives/partial && echo 'deb-src http://deb.debian.org/debian bookworm main' >list && apt="apt-get -qq -o Dir::Etc::sourcelist=$PWD/list -o Dir::Etc::sourceparts=- -o Dir::State::lists=$PWD/lists -o Dir::Cache=$PWD/cache -o APT::Sandbox::User=root" &&
			$apt update && $apt source --download-only "$0=$1" && tar xf ./*.orig.tar.* -C "$2" --strip-components=1`, p.name, p.version, dir)
	}
	if _, err := os.Stat(filepath.Join(dir, "package.json")); err == nil {
		sh(t, dir, `npm install --ignore-scripts --no-audit --no-fund --silent`)
	}
	sh(t, dir, `touch .fetched`)
	return dir
}

// sh runs a script of a shell, whose $0 is the first argument.
func sh(t *testing.T, dir, script string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", append([]string{"-c", script}, args...)...)
	cmd.Dir = dir
	if printed, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %q: %v\n%s", script, args, err, printed)
	}
}
