//go:build projects

package phase_test

import (
	"cmp"
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
	changesOnly  = flag.String("projects.changes", "", "a pattern of the changes to make")
)

// fetched is a real project at one version, and how a person checks it.
type fetched struct {
	// name and version are those of its registry; for GitHub, the version is a tag. If one project
	// is prepared in two ways, a space and a word for the way follow the name.
	name, version string
	from          string // go, npm or github
	language      string
	style         string // of Go and Java files the package's name, of JavaScript files their style, of Ruby "minitest" or "" for RSpec
	into          string // the directory or file that changes are made in
	test          string // the test file that grows; a new one, if it does not exist
	// prepare is a script that lets the project run on this machine, for example with a package of
	// Debian in place of one whose registry cannot be reached.
	prepare string
	// The commands that a person runs; "" for a check that the project does not have.
	format, lint, build, tests string
}

const (
	gofmtByHand = "! gofmt -l . | grep ."
	goBuild     = "go build ./..."
	goTests     = "go test ./..."
	goTest      = "zz_airlock_test.go"
)

// reducedPom makes a pom that needs only those plugins of Maven that Debian has, and takes them
// from Debian.
const reducedPom = `mkdir -p .mvn && printf '%s\n' -o -B -s /etc/maven/settings-debian.xml -Dmaven.repo.local=/usr/share/maven-repo >.mvn/maven.config && echo '<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>reduced</groupId><artifactId>reduced</artifactId><version>1</version>
  <properties>
    <maven.compiler.source>8</maven.compiler.source><maven.compiler.target>8</maven.compiler.target>
    <project.build.sourceEncoding>iso-8859-1</project.build.sourceEncoding>
  </properties>
  <dependencies><dependency><groupId>junit</groupId><artifactId>junit</artifactId><version>4.x</version><scope>test</scope></dependency></dependencies>
</project>' >pom.xml`

// reducedGradle removes the plugins for publishing, because Debian's Gradle 4.4 lacks some, the
// wrapper, because it would fetch another Gradle, and the part that needs EasyMock. JUnit comes
// from Debian. It also removes a test which expects that a file cannot be read, because root can
// read it.
const reducedGradle = `rm -r gradlew gradlew.bat gradle hamcrest/src/test/java/org/hamcrest/io/FileMatchersTest.java &&
sed -i "/enableFeaturePreview\|'hamcrest-integration'/d; s/'hamcrest-library',/'hamcrest-library'/" settings.gradle &&
sed -i "/^def pomConfigurationFor/,\$d; /'osgi'\|'maven-publish'\|'signing'/d; s|mavenCentral()|maven { url 'file:///usr/share/maven-repo' }|" build.gradle &&
sed -i "/'osgi'/d; /instruction/,/\*'''/d; s/'4.12'/'4.x'/" */*.gradle && echo org.gradle.daemon=false >gradle.properties`

// smallPackages removes packages from a workspace, except for some whose tests need no registry.
const smallPackages = `for d in */; do case $d in better-path-resolve/|is-subdir/|promise-share/|make-empty-dir/|realpath-missing/|path-absolute/|write-yaml-file/) ;; *) rm -r "$d";; esac; done &&
for d in */; do (cd "$d" && npm pkg delete mos scripts.md devDependencies.mos devDependencies.mos-plugin-readme); done && npm pkg delete devDependencies && `

// reducedURL removes from a workspace of Rust the tests that need crates which Debian lacks. A macro
// replaces one such crate, and the crates that the workspace still needs come from Debian.
const reducedURL = `sed -i '/^\[dev-dependencies\]/,/^$/d; /^\[\[bench\]\]/,/^$/d; /^\[\[test\]\]/,/^$/d' */Cargo.toml && rm -r */benches url/fuzz url/tests/data.rs url/tests/debugger_visualizer.rs idna/tests data-url/tests &&
sed -i '/^#\[macro_use\]$/{N;s/.*assert_matches;/macro_rules! assert_matches { ($e:expr, $p:pat) => { assert!(matches!($e, $p)) } }/}' idna/src/lib.rs &&
mkdir .cargo && printf '[source.crates-io]\nreplace-with = "debian"\n[source.debian]\ndirectory = "/usr/share/cargo/registry"\n[net]\noffline = true\n' >.cargo/config.toml`

var fetchedProjects = []fetched{
	{"github.com/google/uuid", "v1.6.0", "go", "go", "uuid", ".", goTest, "", gofmtByHand, "go vet ./...", goBuild, goTests},
	{"github.com/gorilla/mux", "v1.8.1", "go", "go", "mux", ".", goTest, "", gofmtByHand, "golangci-lint run", goBuild, goTests},
	{"github.com/spf13/pflag", "v1.0.6", "go", "go", "pflag", ".", goTest, "", gofmtByHand, "golangci-lint run", goBuild, goTests},
	{"github.com/BurntSushi/toml", "v1.4.0", "go", "go", "toml", ".", goTest, "", gofmtByHand, "go vet ./...", goBuild, goTests},
	{"github.com/fatih/structtag", "v1.2.0", "go", "go", "structtag", ".", goTest, "", gofmtByHand, "go vet ./...", goBuild, goTests},
	{"github.com/rivo/uniseg", "v0.4.7", "go", "go", "uniseg", ".", goTest, "", gofmtByHand, "go vet ./...", goBuild, goTests},
	{"fastq", "1.17.1", "npm", "javascript", "standard", ".", "test/test.js", "", "", "npm run lint", "", "npm test"},
	{"split2", "4.2.0", "npm", "javascript", "standard", ".", "test.js", "", "", "npm run lint", "", "npm test"},
	{"minimist", "1.2.8", "npm", "javascript", "tabs", ".", "test/num.js", "", "", "npm run lint", "", "npm test"},
	{"pytoolz/toolz", "0.12.0", "github", "python", "", "toolz", "toolz/tests/test_zz_airlock.py", "", "black --check .", "flake8", "", "pytest"},
	{"pallets/itsdangerous", "2.1.2", "github", "python", "", "src/itsdangerous", "tests/test_zz_airlock.py", `sed -i 's/^\[tool:pytest\]/&\npythonpath = src/' setup.cfg`, "black --check .", "flake8", "", "pytest"},
	{"dry-rb/dry-inflector", "v1.1.0", "github", "ruby", "", "lib/dry/inflector", "spec/unit/zz_airlock_spec.rb",
		`rm Gemfile.devtools spec/support/warnings.rb && printf '# frozen_string_literal: true\n\nsource "https://rubygems.org"\n\ngemspec\n' >Gemfile`, "rubocop --only Layout,Lint/Syntax", "rubocop --except Layout", "", "rspec"},
	{"apache/commons-cli", "cli-1.4", "github", "java", "org.apache.commons.cli", "src/main/java/org/apache/commons/cli", "src/test/java/org/apache/commons/cli/ZzAirlockTest.java", reducedPom, "", "", "mvn compile", "mvn test"},
	{"hamcrest/JavaHamcrest", "v2.1", "github", "java", "org.hamcrest", "hamcrest/src/main/java/org/hamcrest", "hamcrest/src/test/java/org/hamcrest/ZzAirlockTest.java", reducedGradle, "", "", "gradle build", "gradle test"},
	{"servo/rust-fnv", "v1.0.7", "github", "rust", "", "lib.rs", "lib.rs", "", "cargo fmt --check", "cargo clippy", "cargo build", "cargo test"},
	{"SergioBenitez/version_check", "v0.9.5", "github", "rust", "", "src/lib.rs", "src/lib.rs", "", "cargo fmt --check", "cargo clippy", "cargo build", "cargo test"},
	{"go-chi/chi", "v5.3.2", "github", "go", "chi", ".", goTest, "", gofmtByHand, "go vet ./...", goBuild, goTests},
	{"lukeed/dset", "v3.1.4", "github", "javascript", "uvu", "src", "test/index.js", "", "", "", "npm run build", "npm test"},
	{"tkem/cachetools", "v7.0.6", "github", "python", "", "src/cachetools", "tests/test_zz_airlock.py", `printf '[tool.pytest.ini_options]\npythonpath = "src"\n' >>pyproject.toml`, "", "flake8", "", "pytest"},
	{"ku1ik/rainbow", "v3.1.1", "github", "ruby", "", "lib/rainbow", "spec/unit/zz_airlock_spec.rb", `sed -i '1,4d' spec/spec_helper.rb`, "rubocop --only Layout,Lint/Syntax", "rubocop --except Layout", "", "rspec"},
	{"leejarvis/slop", "v4.9.3", "github", "ruby", "minitest", "lib/slop", "test/zz_airlock_test.rb", "", "", "", "", "rake test"},
	{"ljharb/qs", "v6.13.0", "github", "javascript", "spaces", "lib", "test/utils.js", `npm pkg delete scripts.posttest scripts.postlint scripts.readme devDependencies.evalmd devDependencies.eclint && npm pkg set scripts.pretest="npm run --silent lint"`, "", "npm run lint", "", "npm test"},
	{"pypa/packaging", "21.3", "github", "python", "", "packaging", "tests/test_zz_airlock.py", "", "black --check .", "flake8", "", "pytest"},
	{"knadh/koanf", "v2.3.5", "github", "go", "maps", "maps", "maps/" + goTest, "", gofmtByHand, "(cd maps && go vet ./...) && go vet ./...", "go build ./... && cd maps && go build ./...", "go test ./... && cd maps && go test ./..."},
	{"servo/rust-url", "v2.3.1", "github", "rust", "", "form_urlencoded/src/lib.rs", "url/tests/unit.rs", reducedURL, "cargo fmt --check", "cargo clippy", "cargo build", "cargo test"},
	{"collectiveidea/interactor", "v3.2.0", "github", "ruby", "", "lib/interactor", "spec/zz_airlock_spec.rb", "", "standardrb --only Layout,Lint/Syntax", "standardrb --except Layout", "", "rspec"},
	{"zkochan/packages by pnpm", "render-help/1.0.1", "github", "javascript", "standard", "promise-share", "promise-share/test.js", smallPackages + `pnpm install --ignore-scripts --no-frozen-lockfile`, "", "", "", "pnpm --recursive test"},
	{"zkochan/packages by yarn 4", "render-help/1.0.1", "github", "javascript", "standard", "promise-share", "promise-share/test.js", smallPackages + `rm pnpm-*.yaml && npm pkg set 'workspaces[]=*' && npm pack --silent @yarnpkg/cli-dist@4.9.2 && tar xzf yarnpkg-cli-dist-4.9.2.tgz && rm *.tgz && mkdir -p .yarn/releases && mv package/bin/yarn.js .yarn/releases/yarn-4.9.2.cjs && rm -r package && printf 'nodeLinker: node-modules\nyarnPath: .yarn/releases/yarn-4.9.2.cjs\nenableTelemetry: false\nenableScripts: false\n' >.yarnrc.yml && touch yarn.lock && yarn install --no-immutable`, "", "", "", "yarn workspaces foreach --all run test"},
	{"zkochan/packages by bun", "render-help/1.0.1", "github", "javascript", "standard", "promise-share", "promise-share/test.js", smallPackages + `rm pnpm-*.yaml && npm pkg set 'workspaces[]=*' && bun install --ignore-scripts`, "", "", "", "bun run --filter '*' test"},
}

// change is one of the seven: a text that becomes a file, or the end of one.
type change struct{ name, file, text string }

var changeNames = []string{"clean", "format", "lint", "build", "tests", "weakness", "documents"}

// changesOf returns the seven changes of a project.
func changesOf(p fetched, dir string) []change {
	texts := map[string]string{}
	file, test := filepath.Join(p.into, "zz_airlock"), p.test
	switch {
	case p.language == "go":
		file += ".go"
		head := "package " + p.style + "\n\n"
		texts["clean"] = head + "// AirlockAdd adds.\nfunc AirlockAdd(a, b int) int { return a + b }\n"
		texts["format"] = head + "// AirlockAdd adds.\nfunc AirlockAdd(a,b int) int { return a+b }\n"
		texts["lint"] = head + "import \"fmt\"\n\n// AirlockPrint prints.\nfunc AirlockPrint() { fmt.Printf(\"%d\\n\", \"x\") }\n"
		texts["build"] = head + "// AirlockText returns a text.\nfunc AirlockText() string { return 1 }\n"
		texts["tests"] = head + "import \"testing\"\n\nfunc TestAirlock(t *testing.T) { t.Fatal(\"airlock\") }\n"
		texts["weakness"] = head + "import (\n\t\"net/http\"\n\t\"os/exec\"\n)\n\n// AirlockList lists a directory.\nfunc AirlockList(_ http.ResponseWriter, r *http.Request) error {\n\treturn exec.Command(\"sh\", \"-c\", \"ls \"+r.URL.Query().Get(\"dir\")).Run()\n}\n"
	case p.language == "python":
		file += ".py"
		texts["clean"] = "def airlock_add(a, b):\n    return a + b\n"
		texts["format"] = "def airlock_add( a,b ):\n    return a+b\n"
		texts["lint"] = "import os\n\n\ndef airlock_add(a, b):\n    return a + b\n"
		texts["build"] = "def airlock_add(a, b:\n    return a + b\n"
		texts["tests"] = "def test_airlock():\n    assert 1 + 1 == 3\n"
		texts["weakness"] = "import os\n\nfrom flask import request\n\n\ndef airlock_list():\n    os.system(\"ls \" + request.args[\"dir\"])\n"
	case p.language == "ruby":
		file += ".rb"
		method := func(head, body string) string {
			return "# frozen_string_literal: true\n\n# What Airlock adds\nmodule ZzAirlock\n  def self." + head + "\n    " + body + "\n  end\nend\n"
		}
		texts["clean"], texts["format"] = method("add(one, two)", "one + two"), method("add( one,two )", "one+two")
		texts["lint"], texts["build"] = method("add(one, two)", "unused = one + two"), method("add(one, two", "one + two")
		texts["tests"] = "# frozen_string_literal: true\n\nRSpec.describe \"Airlock\" do\n  it \"adds\" do\n    expect(1 + 1).to eq(3)\n  end\nend\n"
		if p.style == "minitest" {
			texts["tests"] = "require 'test_helper'\n\ndescribe 'Airlock' do\n  it 'adds' do\n    assert_equal 3, 1 + 1\n  end\nend\n"
		}
		texts["weakness"] = method("list(params)", "system(\"ls #{params[:dir]}\")")
	case p.language == "java":
		file = filepath.Join(p.into, "ZzAirlock.java")
		class := func(head, body string) string {
			return "package " + p.style + ";\n\n/** What Airlock adds. */\npublic class ZzAirlock\n{\n    " + head + "\n    {\n        " + body + "\n    }\n}\n"
		}
		texts["clean"], texts["format"] = class("public static int add(int a, int b)", "return a + b;"), class("public static int add( int a,int b )", "return a+b;")
		texts["lint"], texts["build"] = class("public static int add(int a, int b)", "int unused = 1; return a + b;"), class("public static int add(int a, int b)", "return \"x\";")
		texts["tests"] = "package " + p.style + ";\n\nimport static org.junit.Assert.assertEquals;\n\nimport org.junit.Test;\n\npublic class ZzAirlockTest\n{\n    @Test\n    public void adds()\n    {\n        assertEquals(3, 1 + 1);\n    }\n}\n"
		texts["weakness"] = class("public static String key()", "return \""+madeUpKey()+"\";")
	case p.language == "rust":
		file = p.into
		texts["clean"] = "\n/// Adds.\npub fn airlock_add(a: u32, b: u32) -> u32 {\n    a + b\n}\n"
		texts["format"] = "\n/// Adds.\npub fn airlock_add( a: u32, b: u32 ) -> u32 { a+b }\n"
		texts["lint"] = "\n/// Adds.\n#[deny(clippy::needless_return)]\npub fn airlock_add(a: u32, b: u32) -> u32 {\n    return a + b;\n}\n"
		texts["build"] = "\n/// Adds.\npub fn airlock_add(a: u32, b: u32) -> u32 {\n    \"x\"\n}\n"
		texts["tests"] = "\n#[test]\nfn airlock() {\n    assert_eq!(1 + 1, 3);\n}\n"
		texts["weakness"] = "\n/// The key of the store.\npub const AIRLOCK_KEY: &str = \"" + madeUpKey() + "\";\n"
	default:
		file += ".js"
		js := func(args, body string) string {
			if p.style == "standard" {
				return "'use strict'\n\nmodule.exports = function airlock (" + args + ") {\n  " + body + "\n}\n"
			}
			indent := map[string]string{"spaces": "    "}[p.style]
			return "'use strict';\n\nmodule.exports = function airlock(" + args + ") {\n" + cmp.Or(indent, "\t") + body + ";\n};\n"
		}
		texts["clean"], texts["format"] = js("a, b", "return a + b"), strings.ReplaceAll(js("a, b", "return a + b"), "(a, b)", "( a,b )")
		texts["lint"], texts["build"] = js("a, b", "var unused = 1"), js("a, b", "return (")
		tape := "\ntest('airlock', function (t) {\n\tt.equal(1 + 1, 3);\n\tt.end();\n});\n"
		texts["tests"] = map[string]string{
			"standard": "\ntest('airlock', function (t) {\n  t.plan(1)\n  t.equal(1 + 1, 3)\n})\n", "tabs": tape, "spaces": strings.ReplaceAll(tape, "\t", "    "),
			"uvu": "\nconst airlock = suite('airlock');\nairlock('adds', () => {\n\tif (1 + 1 !== 3) throw new Error('airlock');\n});\nairlock.run();\n",
		}[p.style]
		texts["weakness"] = js("req, res", "require('child_process').exec('ls ' + req.query.dir)")
	}
	readme := "README.md"
	for _, name := range []string{"Readme.md", "readme.md", "README.rst", "README.markdown"} {
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
		clean := copyProject(t, base)
		for i, line := range hand {
			atBase[i] = byHand(t, clean, line)
		}
		var shown []string
		for _, line := range hand {
			if line != "" {
				shown = append(shown, "`"+strings.ReplaceAll(line, "|", `\|`)+"`")
			}
		}
		fmt.Fprintf(&table, "| %s %s | %s |", p.name, p.version, strings.Join(shown, ", "))
		for _, c := range changesOf(p, base) {
			if !regexp.MustCompile(*changesOnly).MatchString(c.name) {
				continue
			}
			want := wanted(t, base, c, hand, atBase)
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
		fmt.Fprintf(&table, "\n%d of %d checks are equal.\n", equal, compared)
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

// namesSource matches output that names a source file. A tool that failed before the change without
// naming one could not work, for example because its configuration is for another version.
var namesSource = regexp.MustCompile(`\.(?:go|js|ts|py|rs|rb|java)\b`)

// handRun is a command that a person ran.
type handRun struct {
	ok      bool
	printed string
}

// byHand runs a command as a person does, in a directory. "", which stands for one that the
// project does not have, succeeds.
func byHand(t *testing.T, dir, line string) handRun {
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

// hasNew reports whether h printed a line that names the file and that the earlier run did not
// print.
func (h handRun) hasNew(earlier handRun, file string) bool {
	known := strings.Split(earlier.printed, "\n")
	for line := range strings.SplitSeq(h.printed, "\n") {
		if strings.Contains(line, file) && !slices.Contains(known, line) {
			return true
		}
	}
	return false
}

// wanted returns how each check ends by hand. Build and tests fail if their command does. Formatter
// and linter fail if their command does, unless it also failed before the change, named a source
// file then, and reports nothing new about the changed file. A build without a command is skipped.
// The reviews have no command: only the security review fails, and only for the change
// "weakness".
func wanted(t *testing.T, base string, c change, hand []string, before []handRun) map[phase.Check]phase.Status {
	t.Helper()
	dir := copyProject(t, base)
	c.apply(t, dir)
	want := map[phase.Check]phase.Status{phase.CodeReview: phase.Pass, phase.SecurityReview: phase.Pass}
	for i, check := range []phase.Check{phase.Formatter, phase.Linter, phase.Build, phase.Tests} {
		after := byHand(t, dir, hand[i])
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

// checked returns how each check of Airlock ends.
func (p fetched) checked(t *testing.T, base string, c change) map[phase.Check]phase.Status {
	t.Helper()
	dir := copyProject(t, base)
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

// copyProject copies a project. It links what the package manager has installed, after it removes
// from there what tools have cached about another copy.
func copyProject(t *testing.T, base string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), filepath.Base(base))
	sh(t, ".", `mkdir "$1" && cd "$0" && tar cf - --exclude ./node_modules --exclude ./target . | tar xf - -C "$1" && chmod -R u+w "$1" && if [ -d node_modules ]; then rm -rf node_modules/.cache; ln -s "$0/node_modules" "$1/node_modules"; fi`, base, dir)
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
	dir := filepath.Join(root, strings.NewReplacer("/", "_", " ", "_").Replace(p.name+"@"+p.version))
	exists := func(name string) bool {
		_, err := os.Stat(filepath.Join(dir, name))
		return err == nil
	}
	if exists(".fetched") {
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
	case "github":
		sh(t, dir, `git init -q && git fetch -q --depth 1 "https://github.com/$0" "refs/tags/$1" && git checkout -q FETCH_HEAD && rm -rf .git`, strings.Fields(p.name)[0], p.version)
	}
	if p.prepare != "" {
		sh(t, dir, p.prepare)
	}
	if exists("package.json") && !exists("node_modules") {
		sh(t, dir, `npm install --ignore-scripts --no-audit --no-fund --silent --no-package-lock`)
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
