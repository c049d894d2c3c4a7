package toolreport

import (
	"slices"
)

// lineReader reads the lines of one stream.
type lineReader interface {
	line(line string) // of at most maxText bytes, unless the row has diffs
	end()             // after the last line
}

// opener returns the readers of standard output and standard error, which share a
// collector.
type opener func(c *collector) [2]lineReader

// bothStreams returns an opener whose readers read both streams in the same way.
func bothStreams(open func(c *collector) lineReader) opener {
	return func(c *collector) [2]lineReader { return [2]lineReader{open(c), open(c)} }
}

// row is what is known of one tool.
type row struct {
	name  string
	words []string // of a command that starts it: a program, with a subcommand if it has several uses
	open  opener
	// exits are the codes other than 0 with which the tool ends after it has printed everything.
	exits  []int
	counts bool // the exit code is the number of findings
	tests  bool // the tool runs tests
	quiet  bool // the tool may succeed without printing totals
	diffs  bool // the tool prints diffs, whose lines are read in full
	// flags make the tool print the format that toolreport can read the most from.
	flags []string
}

// rows returns the registry. JSON and XML need no row: they are recognised by their form,
// whichever tool printed them.
func rows() []row {
	return []row{
		{name: "gofmt", words: []string{"gofmt", "go fmt", "goimports", "gofumpt"}, open: openGofmt, exits: []int{1, 2}, diffs: true, flags: []string{"-d"}},
		{name: "go vet", words: []string{"go vet"}, open: bothStreams(goVetForm.reader), exits: []int{1}},
		{name: "go build", words: []string{"go build", "go install", "go run"}, open: bothStreams(goCompilerForm.reader), exits: []int{1}},
		{name: "golangci-lint", words: []string{"golangci-lint"}, open: bothStreams(golangciForm.reader), exits: []int{1}, flags: []string{"--output.json.path=stdout"}},
		{name: "eslint", words: []string{"eslint"}, open: bothStreams(newStylish), exits: []int{1}, flags: []string{"--format", "json"}},
		{name: "tsc", words: []string{"tsc", "vue-tsc"}, open: bothStreams(tscForm.reader), exits: []int{1, 2}, flags: []string{"--pretty", "false"}},
		{name: "biome", words: []string{"biome"}, open: annotations("format", "parse"), exits: []int{1}, flags: []string{"--reporter=github", "--max-diagnostics=none"}},
		{name: "oxlint", words: []string{"oxlint"}, open: annotations("", "oxlint"), exits: []int{1}, flags: []string{"--format=github"}},
		{name: "standard", words: []string{"standard", "semistandard", "ts-standard"}, open: bothStreams(standardForm.reader), exits: []int{1}},
		{name: "prettier", words: []string{"prettier"}, open: bothStreams(newPrettier), exits: []int{1, 2}},
		{name: "oxfmt", words: []string{"oxfmt"}, open: bothStreams(newOxfmt), exits: []int{1, 2}},
		{name: "deno fmt", words: []string{"deno fmt"}, open: bothStreams(newDeno), exits: []int{1}},
		{name: "deno lint", words: []string{"deno lint"}, open: bothStreams(newDeno), exits: []int{1}, flags: []string{"--compact"}},
		{name: "black", words: []string{"black"}, open: bothStreams(newBlack), exits: []int{1, 123}, diffs: true, flags: []string{"--diff"}},
		{name: "ruff", words: []string{"ruff"}, open: bothStreams(newRuff), exits: []int{1, 2}, flags: []string{"--output-format=json"}},
		{name: "flake8", words: []string{"flake8", "pycodestyle", "pyflakes"}, open: bothStreams(flake8Form.reader), exits: []int{1}},
		{name: "mypy", words: []string{"mypy", "dmypy"}, open: bothStreams(mypyForm.reader), exits: []int{1}, flags: []string{"--show-column-numbers"}},
		{name: "rubocop", words: []string{"rubocop", "standardrb"}, open: bothStreams(rubocopForm.reader), exits: []int{1}, flags: []string{"--format", "json"}},
		{name: "javac", words: []string{"javac"}, open: bothStreams(javacForm.reader), exits: []int{1}},
		{name: "checkstyle", words: []string{"checkstyle"}, open: bothStreams(checkstyleForm.reader), counts: true, flags: []string{"-f", "xml"}},
		{name: "cargo", words: []string{"cargo build", "cargo check", "cargo clippy", "rustc"}, open: bothStreams(newRustc), exits: []int{101}, flags: []string{"--message-format=json"}},
		{name: "rustfmt", words: []string{"cargo fmt", "rustfmt"}, open: bothStreams(newRustfmt), exits: []int{1, 101}, diffs: true},

		{name: "go test", words: []string{"go test", "gotestsum"}, open: openGoTest, exits: []int{1}, tests: true, flags: []string{"-json"}},
		{name: "pytest", words: []string{"pytest", "py.test"}, open: bothStreams(newPytest), exits: []int{1, 2}, tests: true},
		{name: "unittest", words: []string{"unittest"}, open: bothStreams(newUnittest), exits: []int{1}, tests: true},
		{name: "jest", words: []string{"jest"}, open: bothStreams(newJest), exits: []int{1}, tests: true},
		{name: "vitest", words: []string{"vitest"}, open: openVitest, exits: []int{1}, tests: true},
		{name: "mocha", words: []string{"mocha"}, open: bothStreams(newMocha), counts: true, tests: true},
		{name: "ava", words: []string{"ava"}, open: bothStreams(newAVA), exits: []int{1}, tests: true},
		{name: "bun", words: []string{"bun test"}, open: bothStreams(bunForm.reader), exits: []int{1}, tests: true},
		{name: "deno", words: []string{"deno test"}, open: bothStreams(denoForm.reader), exits: []int{1}, tests: true},
		{name: "jasmine", words: []string{"jasmine"}, open: bothStreams(jasmineForm.reader), exits: []int{3}, tests: true},
		{name: "playwright", words: []string{"playwright test"}, open: bothStreams(playwrightForm.reader), exits: []int{1}, tests: true},
		{name: "node", words: []string{"node --test"}, open: bothStreams(newNodeSpec), exits: []int{1}, tests: true},
		{name: "tap", words: []string{"tap", "prove", "node --test"}, open: bothStreams(newTAP), exits: []int{1}, tests: true, quiet: true},
		{name: "cargo test", words: []string{"cargo test"}, open: openCargoTest, exits: []int{101}, tests: true, flags: []string{"--no-fail-fast"}},
		{name: "rspec", words: []string{"rspec"}, open: bothStreams(newRSpec), exits: []int{1}, tests: true},
		{name: "minitest", words: []string{"rake test", "rails test", "m"}, open: bothStreams(newMinitest), exits: []int{1}, tests: true},
		{name: "maven", words: []string{"mvn", "mvnw"}, open: bothStreams(newMaven), exits: []int{1}, tests: true, quiet: true},
		{name: "ctest", words: []string{"ctest"}, open: bothStreams(ctestForm.reader), exits: []int{8}, tests: true, quiet: true},
		{name: "meson", words: []string{"meson test"}, open: bothStreams(mesonForm.reader), exits: []int{1}, tests: true, quiet: true},
		{name: "phpunit", words: []string{"phpunit"}, open: bothStreams(phpunitForm.reader), exits: []int{1, 2}, tests: true, quiet: true},
		{name: "gradle", words: []string{"gradle", "gradlew"}, open: openGradle, exits: []int{1}, tests: true, quiet: true},
	}
}

// Names returns the names of the known tools.
func Names() []string {
	var names []string
	for _, r := range rows() {
		names = append(names, r.name)
	}
	return names
}

// FindsWith reports whether an exit code other than 0 means that a tool has found something. It is
// true for every code of an unknown tool, and of a tool whose exit code is the number of findings.
func FindsWith(name string, code int) bool {
	r, ok := rowNamed(name)
	return !ok || r.counts || slices.Contains(r.exits, code)
}

// Flags returns the flags with which a tool prints the format that toolreport can read the
// most from. They follow the tool's name and subcommand. They may change the exit code: for a
// file that is not formatted, a recent gofmt ends with 0 without -d, and with 1 with it.
func Flags(name string) []string {
	r, _ := rowNamed(name)
	return r.flags
}

func rowNamed(name string) (r row, ok bool) {
	known := rows()
	i := slices.IndexFunc(known, func(r row) bool { return r.name == name })
	if i < 0 {
		return row{}, false
	}
	return known[i], true
}
