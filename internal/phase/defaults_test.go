package phase_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/google/go-cmp/cmp"
)

// shown runs a project in which every command fails, and returns what each of
// the four checks' commands is shown as, and all that ran.
func shown(t *testing.T, contents map[string]string, in phase.Input, config phase.Config, fails ...string) (lines, ran []string, r phase.Result) {
	t.Helper()
	dir := files(t, contents)
	in.WorkingDirectory, in.MaxRetries = dir, 1
	steps := map[string][]step{}
	for _, f := range fails {
		steps[f] = []step{{code: 1}}
	}
	s := newStage(t, dir, steps)
	r = validate(t, phase.Job{Input: in}, config, s.deps())
	c := r.Output.Checks
	return []string{c.Formatter.Command, c.Linter.Command, c.Build.Command, c.Tests.Command}, s.ran, r
}

func TestTheTableOfCommands(t *testing.T) {
	t.Parallel()
	pkg := func(scripts string) string { return `{"scripts":{` + scripts + `}}` }
	tests := []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{"npm", map[string]string{"package.json": pkg(`"build":"x"`)}, []string{"npx prettier --check .", "npx eslint .", "npm run build", "npm test"}},
		{"pnpm", map[string]string{"package.json": pkg(`"lint":"x","build":"x"`), "pnpm-lock.yaml": ""}, []string{"npx prettier --check .", "pnpm run lint", "pnpm run build", "pnpm test"}},
		{"yarn", map[string]string{"package.json": pkg(`"lint":"x"`), "yarn.lock": ""}, []string{"npx prettier --check .", "yarn run lint", "", "yarn test"}},
		{"bun", map[string]string{"package.json": pkg(``), "bun.lockb": ""}, []string{"npx prettier --check .", "npx eslint .", "", "bun run test"}},
		{"a format script and its check", map[string]string{"package.json": pkg(`"format":"x -w","format:check":"x"`)}, []string{"npm run format:check", "npx eslint .", "", "npm test"}},
		{"a format script of Prettier's", map[string]string{"package.json": pkg(`"format":"prettier --write 'src/**'"`)}, []string{"npx prettier --check 'src/**'", "npx eslint .", "", "npm test"}},
		{"python", map[string]string{"setup.py": ""}, []string{"black --check .", "ruff check .", "", "pytest"}},
		{"rust", map[string]string{"Cargo.toml": ""}, []string{"cargo fmt --check", "cargo clippy", "cargo build", "cargo test"}},
		{"ruby", map[string]string{"Gemfile": ""}, []string{"rubocop", "rubocop", "", "rspec"}},
		{"ruby with a lock file", map[string]string{"Gemfile": "", "Gemfile.lock": "", "Rakefile": ""}, []string{"bundle exec rubocop", "bundle exec rubocop", "", "bundle exec rake test"}},
		{"maven", map[string]string{"pom.xml": ""}, []string{"mvn spotless:check", "mvn checkstyle:check", "mvn compile", "mvn test"}},
		{"gradle's wrapper", map[string]string{"build.gradle": "", "gradlew": ""}, []string{"./gradlew spotlessCheck", "./gradlew check", "./gradlew build", "./gradlew test"}},
		{"gradle without one", map[string]string{"build.gradle": ""}, []string{"gradle spotlessCheck", "gradle check", "gradle build", "gradle test"}},
	}
	for _, tt := range tests {
		got, _, _ := shown(t, tt.files, phase.Input{}, phase.Config{})
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s:\n%s", tt.name, diff)
		}
	}
}

func TestFixes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		files map[string]string
		input phase.Input
		fails string
		fix   string // "" for none
	}{
		{"npm's scripts take arguments after --", map[string]string{"package.json": `{"scripts":{"lint":"x"}}`}, phase.Input{}, "npm run lint", "npm run lint -- --fix"},
		{"other managers' do not", map[string]string{"package.json": `{"scripts":{"lint":"x"}}`, "yarn.lock": ""}, phase.Input{}, "yarn run lint", "yarn run lint --fix"},
		{"clippy", map[string]string{"Cargo.toml": ""}, phase.Input{}, "cargo clippy --message-format=json", "cargo clippy --fix --allow-dirty --allow-no-vcs --message-format=json"},
		{"an override of the formatter", map[string]string{"Cargo.toml": ""}, phase.Input{FormatCommand: "make fmt"}, "make fmt", "cargo fmt"},
		{"an override of a known linter", map[string]string{"setup.py": ""}, phase.Input{LintCommand: "ruff check src"}, "ruff check src", "ruff check --fix --output-format=json ."},
		{"an override that fixes", map[string]string{"setup.py": ""}, phase.Input{LintCommand: "mine --fix"}, "mine --fix", "mine --fix"},
		{"an unknown linter", map[string]string{"setup.py": ""}, phase.Input{LintCommand: "mine"}, "mine", ""},
		{"a writing override", map[string]string{"Cargo.toml": ""}, phase.Input{FormatCommand: "cargo fmt"}, "cargo fmt --check", "cargo fmt"},
	}
	for _, tt := range tests {
		_, ran, r := shown(t, tt.files, tt.input, phase.Config{}, tt.fails, tt.fix)
		at := slices.Index(ran, tt.fails)
		switch {
		case at < 0:
			t.Errorf("%s: %q did not run: %q", tt.name, tt.fails, ran)
		case tt.fix == "" && r.Output.TotalRetries != 0:
			t.Errorf("%s: %q is repeated though nothing fixes it", tt.name, ran)
		case tt.fix != "" && (ran[at+1] != tt.fix || ran[at+2] != tt.fails || r.Output.TotalRetries != 1):
			t.Errorf("%s: %q, want the fix %q and the check again", tt.name, ran, tt.fix)
		}
	}
}

func TestChangedFilesAsArguments(t *testing.T) {
	t.Parallel()
	contents := map[string]string{"go.mod": "", "a b.go": "", "-x.go": "", "$(id).go": "", "c.py": ""}
	in := phase.Input{ChangedFiles: []string{"a b.go", "-x.go", "$(id).go", "c.py", "gone.go"}}
	for line, want := range map[string]string{
		"lint '--a b' {files}": "[lint --a b a b.go ./-x.go $(id).go]",
		`lint \$x {files} "y"`: "[lint $x a b.go ./-x.go $(id).go y]",
	} {
		in.LintCommand = line
		dir := files(t, contents)
		in.WorkingDirectory = dir
		s := newStage(t, dir, nil)
		validate(t, phase.Job{Input: in}, phase.Config{}, s.deps())
		spec := s.specs[slices.IndexFunc(s.ran, func(l string) bool { return strings.HasPrefix(l, "lint") })]
		if got := "[" + strings.Join(append([]string{spec.Program}, spec.Args...), " ") + "]"; got != want {
			t.Errorf("%s runs %s, want %s", line, got, want)
		}
	}
	for _, line := range []string{"lint {files} | cat", "lint --files={files}", "lint 'x {files}", "{files}", "lint {files} > x", `lint {files} \`, "lint $HOME {files}"} {
		in.LintCommand = line
		_, ran, r := shown(t, contents, in, phase.Config{})
		if c := checkOf(r, phase.Linter); c.Status != phase.Fail || len(c.Problems) != 1 || !strings.Contains(c.Problems[0], "{files}") {
			t.Errorf("%s: %+v ran %q", line, c, ran)
		}
	}
	in.ChangedFiles, in.LintCommand = []string{"c.py"}, "lint {files}"
	if _, _, r := shown(t, contents, in, phase.Config{}); checkOf(r, phase.Linter).Status != phase.Pass || len(checkOf(r, phase.Linter).Notes) != 1 {
		t.Error("without a file of the language nothing is run, and that is noted")
	}
}

func TestAFormatterThatOnlyWrites(t *testing.T) {
	t.Parallel()
	contents := map[string]string{"package.json": `{"scripts":{"format":"biome format --write"}}`, "a.js": "x"}
	writes := func(t *testing.T, dir string) {
		if err := os.WriteFile(filepath.Join(dir, "a.js"), []byte("longer"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		name   string
		config phase.Config
		status phase.Status
		ran    bool
		wrote  []string
	}{
		{"in place it fixes", phase.Config{}, phase.Pass, true, []string{"a.js"}},
		{"in a copy it is judged by what it changes", phase.Config{CheckOnly: true, Scratch: true}, phase.Fail, true, []string{"a.js"}},
		{"where nothing may be written it cannot be judged", phase.Config{CheckOnly: true}, phase.Fail, false, nil},
	}
	for _, tt := range tests {
		dir := files(t, contents)
		s := newStage(t, dir, map[string][]step{"npm run format": {{do: writes}}})
		r := validate(t, phase.Job{Input: phase.Input{WorkingDirectory: dir}}, tt.config, s.deps())
		c := checkOf(r, phase.Formatter)
		if c.Status != tt.status || slices.Contains(s.ran, "npm run format") != tt.ran || !slices.Equal(c.Rewritten, tt.wrote) {
			t.Errorf("%s: %+v ran %q", tt.name, c, s.ran)
		}
	}
}

func TestAPackageThatCannotBeRead(t *testing.T) {
	t.Parallel()
	lines, ran, r := shown(t, map[string]string{"package.json": "{oops"}, phase.Input{}, phase.Config{})
	if len(ran) != 0 || r.Output.Status != phase.Fail || !strings.Contains(r.Output.Checks.Build.Errors[0], "package.json cannot be read") {
		t.Errorf("%q ran %q: %+v", lines, ran, r.Output)
	}
}
