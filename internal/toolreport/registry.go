package toolreport

import (
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/finding"
)

// lineReader reads the lines of one stream.
type lineReader interface {
	line(line string)
	end() // after the last line
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
	name string
	// words are the command's words that name it: a program, with a subcommand if it has
	// several uses.
	words []string
	open  opener
	// exits are the codes other than 0 with which it ends when its output is complete.
	exits []int
	// counts is set if its exit code is the number of its findings.
	counts bool
	tests  bool // it runs tests
	quiet  bool // it may succeed without printing totals
	// flags make it print the format that toolreport can read the most from.
	flags []string
}

// rows is the registry. JSON and XML need no row: they are known by their form, whichever
// tool printed them.
func rows() []row {
	return []row{
		{name: "gofmt", words: []string{"gofmt", "go fmt", "goimports", "gofumpt"}, open: openGofmt, exits: []int{1, 2}, flags: []string{"-d"}},
		{name: "go vet", words: []string{"go vet"}, open: text(form{formats: goFormats(), prefix: "vet: ", more: []string{"\t"}, unparsed: goSyntax}), exits: []int{1}},
		{name: "go build", words: []string{"go build", "go install", "go run"}, open: bothStreams(goCompiler), exits: []int{1}},
		{name: "golangci-lint", words: []string{"golangci-lint"}, exits: []int{1}, flags: []string{"--output.json.path=stdout"},
			open: text(form{formats: goFormats(), rule: `^(?s)(?P<message>.*) \((?P<rule>[a-z0-9_-]+)\)$`, ignore: []string{": # "}, broken: func(f finding.Finding) bool { return f.Rule == "typecheck" }, closing: []string{"# issues:"}, crash: []string{"level=error", "Error: can't"}})},
		{name: "eslint", words: []string{"eslint"}, open: bothStreams(newStylish), exits: []int{1}, flags: []string{"--format", "json"}},
		{name: "tsc", words: []string{"tsc", "vue-tsc"}, exits: []int{1, 2}, flags: []string{"--pretty", "false"},
			open: text(form{formats: []string{`%f(%l,%c): %trror %m`, `%f(%l,%c): %tarning %m`, `%f:%l:%c - %trror %m`}, rule: `^(?s)(?P<rule>TS\d+): (?P<message>.*)$`,
				more: []string{"  "}, severity: finding.High, broken: isError, closing: []string{"error TS"}, crash: []string{"error TS5", "error TS6", "error TS18003"}})},
		{name: "biome", words: []string{"biome"}, open: annotations("format", "parse"), exits: []int{1}, flags: []string{"--reporter=github", "--max-diagnostics=none"}},
		{name: "oxlint", words: []string{"oxlint"}, open: annotations("", "oxlint"), exits: []int{1}, flags: []string{"--format=github"}},
		{name: "standard", words: []string{"standard", "semistandard", "ts-standard"}, exits: []int{1},
			open: text(form{formats: []string{`  %f:%l:%c: %m`}, rule: `^(?s)(?P<message>.*?) \((?P<rule>[\w@/-]+)\)(?: \(warning\))?$`,
				unparsed: func(f finding.Finding) bool { return f.Rule == "null" }, closing: []string{"standard: Use JavaScript Standard Style"}})},
		{name: "prettier", words: []string{"prettier"}, open: bothStreams(newPrettier), exits: []int{1, 2}},
		{name: "oxfmt", words: []string{"oxfmt"}, open: bothStreams(newOxfmt), exits: []int{1, 2}},
		{name: "black", words: []string{"black"}, open: bothStreams(newBlack), exits: []int{1, 123}, flags: []string{"--diff"}},
		{name: "ruff", words: []string{"ruff"}, open: bothStreams(newRuff), exits: []int{1, 2}, flags: []string{"--output-format=json"}},
		{name: "flake8", words: []string{"flake8", "pycodestyle", "pyflakes"}, exits: []int{1},
			open: text(form{formats: goFormats(), rule: pythonRule, unparsed: pythonSyntax})},
		{name: "mypy", words: []string{"mypy", "dmypy"}, exits: []int{1}, flags: []string{"--show-column-numbers"},
			open: text(form{formats: []string{`%f:%l:%c: %t%*[a-z]: %m`, `%f:%l: %t%*[a-z]: %m`}, rule: `^(?s)(?P<message>.*?)  \[(?P<rule>[a-z0-9-]+)\]$`,
				broken: isError, closing: []string{"Found ", "Success: no issues"}, crash: []string{"usage: mypy", "mypy: "}})},
		{name: "rubocop", words: []string{"rubocop", "standardrb"}, exits: []int{1}, flags: []string{"--format", "json"},
			open: text(form{formats: []string{`%f:%l:%c: %t: %m`}, rule: `^(?s)(?:\[Correctable\] )?(?P<rule>[A-Z]\w*(?:/\w+)+): (?P<message>.*)$`,
				unparsed: func(f finding.Finding) bool { return f.Rule == "Lint/Syntax" }, closing: []string{"# file inspected", "# files inspected"}, crash: []string{"invalid option"}})},
		{name: "javac", words: []string{"javac"}, open: text(javacForm()), exits: []int{1}},
		{name: "checkstyle", words: []string{"checkstyle"}, counts: true, flags: []string{"-f", "xml"},
			open: text(form{formats: []string{`[%tRROR] %f:%l:%c: %m`, `[%tARN] %f:%l:%c: %m`, `[%tNFO] %f:%l:%c: %m`, `[%tRROR] %f:%l: %m`, `[%tARN] %f:%l: %m`, `[%tNFO] %f:%l: %m`},
				rule: `^(?s)(?P<message>.*) \[(?P<rule>\w+)\]$`, closing: []string{"Audit done.", "Starting audit..."}})},
		{name: "cargo", words: []string{"cargo build", "cargo check", "cargo clippy", "rustc"}, open: bothStreams(newRustc), exits: []int{101}, flags: []string{"--message-format=json"}},
		{name: "rustfmt", words: []string{"cargo fmt", "rustfmt"}, open: bothStreams(newRustfmt), exits: []int{1, 101}},

		{name: "go test", words: []string{"go test", "gotestsum"}, open: openGoTest, exits: []int{1}, tests: true, flags: []string{"-json"}},
		{name: "pytest", words: []string{"pytest", "py.test"}, open: bothStreams(newPytest), exits: []int{1, 2}, tests: true},
		{name: "unittest", words: []string{"unittest"}, open: bothStreams(newUnittest), exits: []int{1}, tests: true},
		{name: "jest", words: []string{"jest"}, open: bothStreams(newJest), exits: []int{1}, tests: true},
		{name: "vitest", words: []string{"vitest"}, open: openVitest, exits: []int{1}, tests: true},
		{name: "mocha", words: []string{"mocha"}, open: bothStreams(newMocha), counts: true, tests: true},
		{name: "ava", words: []string{"ava"}, open: bothStreams(newAVA), exits: []int{1}, tests: true},
		{name: "bun", words: []string{"bun test"}, open: bothStreams(bunForm.open), exits: []int{1}, tests: true},
		{name: "deno", words: []string{"deno test"}, open: bothStreams(denoForm.open), exits: []int{1}, tests: true},
		{name: "jasmine", words: []string{"jasmine"}, open: bothStreams(jasmineForm.open), exits: []int{3}, tests: true},
		{name: "playwright", words: []string{"playwright test"}, open: bothStreams(playwrightForm.open), exits: []int{1}, tests: true},
		{name: "node", words: []string{"node --test"}, open: bothStreams(newNodeSpec), exits: []int{1}, tests: true},
		{name: "tap", words: []string{"tap", "prove", "node --test"}, open: bothStreams(newTAP), exits: []int{1}, tests: true, quiet: true},
		{name: "cargo test", words: []string{"cargo test"}, open: openCargoTest, exits: []int{101}, tests: true, flags: []string{"--no-fail-fast"}},
		{name: "rspec", words: []string{"rspec"}, open: bothStreams(newRSpec), exits: []int{1}, tests: true},
		{name: "minitest", words: []string{"rake test", "rails test", "m"}, open: bothStreams(newMinitest), exits: []int{1}, tests: true},
		{name: "maven", words: []string{"mvn", "mvnw"}, open: bothStreams(newMaven), exits: []int{1}, tests: true, quiet: true},
		{name: "gradle", words: []string{"gradle", "gradlew"}, open: openGradle, exits: []int{1}, tests: true, quiet: true},
	}
}

// goFormats are those of Go's tools, and many others.
func goFormats() []string { return []string{`%f:%l:%c: %m`, `%f:%l: %m`} }

// goSyntax reports whether an error is a syntax error in one file, despite which Go's tools
// examine other packages. An error in a package clause ends the run, and is not one of these.
func goSyntax(f finding.Finding) bool {
	return f.Severity == finding.High && !strings.HasPrefix(f.Message, "expected 'package'") &&
		(strings.HasPrefix(f.Message, "expected ") || strings.HasPrefix(f.Message, "syntax error") || strings.HasPrefix(f.Message, "illegal ") || strings.HasSuffix(f.Message, " not terminated"))
}

// pythonRule separates the code that Python's linters begin a message with.
const pythonRule = `^(?s)(?P<rule>[A-Z]+[0-9]+):? (?:\[\*\] )?(?P<message>.*)$`

// pythonSyntax reports whether a finding of Python's linters is a syntax error.
func pythonSyntax(f finding.Finding) bool {
	return strings.HasPrefix(f.Rule, "E9") || f.Rule == "" && strings.Contains(f.Message, "yntax")
}

func javacForm() form {
	return form{formats: []string{`%f:%l: %trror: %m`, `%f:%l: %tarning: %m`}, rule: `^(?s)\[(?P<rule>[a-z-]+)\] (?P<message>.*)$`,
		more: []string{"  symbol:", "  location:"}, between: true, broken: isError, severity: finding.High, closing: []string{"# error", "# warning"}}
}

// Names returns the names of the tools that are known.
func Names() []string {
	var names []string
	for _, r := range rows() {
		names = append(names, r.name)
	}
	return names
}

// FindsWith reports whether an exit code means that a tool has found something. Every code
// of an unknown tool may mean that.
func FindsWith(name string, code int) bool {
	for _, r := range rows() {
		if r.name == name {
			return r.counts || slices.Contains(r.exits, code)
		}
	}
	return true
}

// Flags returns the flags with which a tool prints the format that toolreport can read the
// most from, without changing its exit code. They follow the tool's name and subcommand.
func Flags(name string) []string {
	for _, r := range rows() {
		if r.name == name {
			return r.flags
		}
	}
	return nil
}
