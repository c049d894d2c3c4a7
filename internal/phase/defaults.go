package phase

import (
	"encoding/json"
	"path"
	"strings"
)

// candidate is one way of doing a check. Of several, the first whose tool is
// there decides.
type candidate struct {
	check commandLine
	fix   commandLine // its line is "" where the tool cannot mend anything
	// writes reports that the check has no form that leaves files alone: what it
	// changes was not formatted.
	writes bool
}

// table is the commands of one language, in the check's order of preference.
type table struct {
	format, lint, build, test []candidate
	fault                     error // why what the project itself says cannot be known
}

// plain makes candidates that fix nothing.
func plain(commands ...commandLine) []candidate {
	var all []candidate
	for _, c := range commands {
		all = append(all, candidate{check: c})
	}
	return all
}

// defaults returns the commands of a root's language, as the project's own files
// say.
func (p *project) defaults(r root) table {
	switch r.language {
	case JavaScript, TypeScript:
		return p.nodeTable(r.dir)
	case Python:
		return table{
			format: []candidate{{check: known("black", "black --check", "."), fix: known("", "black", ".")}},
			lint: []candidate{
				{check: known("ruff", "ruff check", "."), fix: known("ruff", "ruff check --fix", ".")},
				{check: known("flake8", "flake8", "")},
			},
			test: plain(known("pytest", "pytest", ""), known("pytest", "python -m pytest", ""), known("pytest", "python3 -m pytest", ""),
				known("unittest", "python -m unittest", ""), known("unittest", "python3 -m unittest", "")),
		}
	case Go:
		unformatted := known("gofmt", "gofmt -l", ".")
		unformatted.silent = true
		return table{
			format: []candidate{{check: unformatted, fix: known("", "go fmt", "./...")}},
			lint: []candidate{
				{check: known("golangci-lint", "golangci-lint run", ""), fix: known("golangci-lint", "golangci-lint run --fix", "")},
				{check: known("go vet", "go vet", "./...")},
			},
			build: plain(known("go build", "go build", "./...")),
			test:  plain(known("go test", "go test", "./...")),
		}
	case Rust:
		return table{
			format: []candidate{{check: known("rustfmt", "cargo fmt --check", ""), fix: known("", "cargo fmt", "")}},
			lint:   []candidate{{check: known("cargo", "cargo clippy", ""), fix: known("cargo", "cargo clippy --fix --allow-dirty --allow-no-vcs", "")}},
			build:  plain(known("cargo", "cargo build", "")),
			test:   plain(known("cargo test", "cargo test", "")),
		}
	case Ruby:
		return p.rubyTable(r.dir)
	case Java:
		return p.javaTable(r.dir)
	}
	return table{}
}

func (p *project) nodeTable(dir string) table {
	n := p.node(dir)
	t := table{format: []candidate{n.formatting()}, test: plain(n.test()), fault: n.fault}
	if n.scripts["lint"] != "" {
		t.lint = []candidate{{check: n.run("lint", ""), fix: n.run("lint", "--fix")}}
	} else {
		t.lint = []candidate{{check: known("eslint", "npx eslint", "."), fix: known("eslint", "npx eslint --fix", ".")}}
	}
	if n.scripts["build"] != "" {
		t.build = plain(n.run("build", ""))
	}
	return t
}

func (p *project) rubyTable(dir string) table {
	bundle := ""
	if p.has(dir, "Gemfile.lock") {
		bundle = "bundle exec "
	}
	rubocop := candidate{check: known("rubocop", bundle+"rubocop", ""), fix: known("rubocop", bundle+"rubocop -a", "")}
	tests := plain(known("rspec", bundle+"rspec", ""), known("minitest", bundle+"rake test", ""))
	if !p.has(dir, "spec") && p.has(dir, "Rakefile") {
		tests = tests[1:] // rspec without a folder spec runs nothing
	}
	return table{format: []candidate{rubocop}, lint: []candidate{rubocop}, test: tests}
}

// javaTable takes Maven's commands where a pom.xml stands, else Gradle's: the
// wrapper's, or the installed Gradle's in a project that has no wrapper.
func (p *project) javaTable(dir string) table {
	tool, program, names := "maven", "mvn", []string{"spotless:check", "spotless:apply", "checkstyle:check", "compile", "test"}
	if !p.has(dir, "pom.xml") {
		tool, program, names = "gradle", "gradle", []string{"spotlessCheck", "spotlessApply", "check", "build", "test"}
		if p.has(dir, "gradlew") {
			program = "./gradlew"
		}
	}
	command := func(i int) commandLine { return known(tool, program, names[i]) }
	return table{
		format: []candidate{{check: command(0), fix: command(1)}},
		lint:   plain(command(2)), build: plain(command(3)), test: plain(command(4)),
	}
}

// mends returns the fix of the candidate whose tool an overriding linter names,
// the override itself if it fixes what it finds, or none.
func mends(override commandLine, candidates []candidate) commandLine {
	for _, c := range candidates {
		if c.fix.line == "" {
			continue
		}
		for w := range strings.FieldsSeq(override.line) {
			if w == c.check.tool {
				return c.fix
			}
		}
	}
	if strings.Contains(override.line, "--fix") {
		return override
	}
	return commandLine{}
}

// node is what a package.json and the lock file beside it say.
type node struct {
	manager string            // npm, pnpm, yarn or bun
	scripts map[string]string // of package.json
	fault   error             // package.json is there and cannot be read
}

func (p *project) node(dir string) node {
	n := node{manager: p.manager(dir)}
	if !p.has(dir, "package.json") {
		return n
	}
	raw, err := p.read(path.Join(dir, "package.json"))
	if err == nil {
		var doc struct {
			Scripts map[string]string `json:"scripts"`
		}
		err = json.Unmarshal(raw, &doc)
		n.scripts = doc.Scripts
	}
	n.fault = err
	return n
}

// manager tells the package manager by the nearest lock file.
func (p *project) manager(dir string) string {
	for ; ; dir = path.Dir(dir) {
		for _, lock := range [][2]string{
			{"package-lock.json", "npm"}, {"pnpm-lock.yaml", "pnpm"}, {"yarn.lock", "yarn"}, {"bun.lock", "bun"}, {"bun.lockb", "bun"},
		} {
			if p.has(dir, lock[0]) {
				return lock[1]
			}
		}
		if dir == "." {
			return "npm"
		}
	}
}

// run returns the command that runs one of the scripts. npm alone asks for a
// "--" before the script's own arguments.
func (n node) run(name, arguments string) commandLine {
	line := n.manager + " run " + name
	if arguments != "" && n.manager == "npm" {
		arguments = "-- " + arguments
	}
	line = strings.TrimSpace(line + " " + arguments)
	return commandLine{line: line, args: strings.Fields(line)}
}

func (n node) test() commandLine {
	line := n.manager + " test"
	if n.manager == "bun" {
		line = "bun run test" // "bun test" is bun's own test runner
	}
	return commandLine{line: line, args: strings.Fields(line)}
}

// formatting returns how the files' format is checked and written. A format
// script writes; its check form is another script, or Prettier's own option. For
// any other, what it changes tells whether files were formatted.
func (n node) formatting() candidate {
	if n.scripts["format"] == "" {
		return candidate{check: known("prettier", "npx prettier --check", "."), fix: known("prettier", "npx prettier --write", ".")}
	}
	c := candidate{fix: n.run("format", "")}
	for _, name := range []string{"format:check", "format-check", "check:format", "check-format"} {
		if n.scripts[name] != "" {
			c.check = n.run(name, "")
			return c
		}
	}
	words := strings.Fields(strings.TrimPrefix(n.scripts["format"], "npx "))
	written := false
	for i, w := range words {
		if w == "--write" || w == "-w" {
			words[i], written = "--check", true
		}
	}
	if written && words[0] == "prettier" && !strings.ContainsAny(n.scripts["format"], "|&;<>") {
		c.check = script("npx " + strings.Join(words, " "))
		return c
	}
	c.check, c.writes = c.fix, true
	return c
}
