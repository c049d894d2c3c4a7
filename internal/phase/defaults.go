package phase

import (
	"encoding/json"
	"path"
	"slices"
	"strings"
)

// candidate is one way of doing a check. Of several, the first whose tool is installed
// decides.
type candidate struct {
	check commandLine
	fix   commandLine // its line is "" if the tool cannot fix anything
	// writes reports that the check has no form that leaves files alone: what it changes was
	// not formatted.
	writes bool
}

// commands are the commands of a project in one language.
type commands struct {
	byCheck map[Check][]candidate // in order of preference
	err     error                 // why the project's own settings cannot be read
}

// checksOnly returns candidates that fix nothing.
func checksOnly(lines ...commandLine) []candidate {
	var all []candidate
	for _, c := range lines {
		all = append(all, candidate{check: c})
	}
	return all
}

// defaults returns the commands of a root's language, as the project's own files decide.
func (p *project) defaults(r root) commands {
	switch r.language {
	case JavaScript, TypeScript:
		return p.nodeCommands(r.dir)
	case Python:
		return commands{byCheck: map[Check][]candidate{
			Formatter: {{check: known("black", "black --check", "."), fix: known("", "black", ".")}},
			Linter: {
				{check: known("ruff", "ruff check", "."), fix: known("ruff", "ruff check --fix", ".")},
				{check: known("flake8", "flake8", "")},
			},
			Tests: checksOnly(known("pytest", "pytest", ""), known("pytest", "python -m pytest", ""), known("pytest", "python3 -m pytest", ""),
				known("unittest", "python -m unittest", ""), known("unittest", "python3 -m unittest", "")),
		}}
	case Go:
		unformatted := known("gofmt", "gofmt -l", ".")
		unformatted.silent = true
		return commands{byCheck: map[Check][]candidate{
			Formatter: {{check: unformatted, fix: known("", "go fmt", "./...")}},
			Linter: {
				{check: known("golangci-lint", "golangci-lint run", ""), fix: known("golangci-lint", "golangci-lint run --fix", "")},
				{check: known("go vet", "go vet", "./...")},
			},
			Build: checksOnly(known("go build", "go build", "./...")),
			Tests: checksOnly(known("go test", "go test", "./...")),
		}}
	case Rust:
		return commands{byCheck: map[Check][]candidate{
			Formatter: {{check: known("rustfmt", "cargo fmt --check", ""), fix: known("", "cargo fmt", "")}},
			Linter:    {{check: known("cargo", "cargo clippy", ""), fix: known("cargo", "cargo clippy --fix --allow-dirty --allow-no-vcs", "")}},
			Build:     checksOnly(known("cargo", "cargo build", "")),
			Tests:     checksOnly(known("cargo test", "cargo test", "")),
		}}
	case Ruby:
		return p.rubyCommands(r.dir)
	case Java:
		return p.javaCommands(r.dir)
	}
	return commands{}
}

func (p *project) rubyCommands(dir string) commands {
	bundle := ""
	if p.has(dir, "Gemfile.lock") {
		bundle = "bundle exec "
	}
	rubocop := []candidate{{check: known("rubocop", bundle+"rubocop", ""), fix: known("rubocop", bundle+"rubocop -a", "")}}
	tests := checksOnly(known("rspec", bundle+"rspec", ""), known("minitest", bundle+"rake test", ""))
	if !p.has(dir, "spec") && p.has(dir, "Rakefile") {
		tests = tests[1:] // rspec without a directory spec runs nothing
	}
	return commands{byCheck: map[Check][]candidate{Formatter: rubocop, Linter: rubocop, Tests: tests}}
}

// javaCommands returns Maven's commands if there is a pom.xml, otherwise those of Gradle's
// wrapper, or of the installed Gradle if the project has no wrapper.
func (p *project) javaCommands(dir string) commands {
	tool, program, names := "maven", "mvn", []string{"spotless:check", "spotless:apply", "checkstyle:check", "compile", "test"}
	if !p.has(dir, "pom.xml") {
		tool, program, names = "gradle", "gradle", []string{"spotlessCheck", "spotlessApply", "check", "build", "test"}
		if p.has(dir, "gradlew") {
			program = "./gradlew"
		}
	}
	command := func(i int) commandLine { return known(tool, program, names[i]) }
	return commands{byCheck: map[Check][]candidate{
		Formatter: {{check: command(0), fix: command(1)}},
		Linter:    checksOnly(command(2)), Build: checksOnly(command(3)), Tests: checksOnly(command(4)),
	}}
}

func (p *project) nodeCommands(dir string) commands {
	n := node{manager: p.packageManager(dir)}
	var err error
	if p.has(dir, "package.json") {
		n.scripts, err = p.scripts(dir)
	}
	c := commands{err: err, byCheck: map[Check][]candidate{
		Formatter: {n.formatting()},
		Linter:    {{check: known("eslint", "npx eslint", "."), fix: known("eslint", "npx eslint --fix", ".")}},
		Tests:     checksOnly(n.test()),
	}}
	if n.scripts["lint"] != "" {
		c.byCheck[Linter] = []candidate{{check: n.run("lint", ""), fix: n.run("lint", "--fix")}}
	}
	if n.scripts["build"] != "" {
		c.byCheck[Build] = checksOnly(n.run("build", ""))
	}
	return c
}

// scripts returns the scripts of a package.json.
func (p *project) scripts(dir string) (map[string]string, error) {
	raw, err := p.read(path.Join(dir, "package.json"))
	if err != nil {
		return nil, err
	}
	var doc struct {
		Scripts map[string]string `json:"scripts"`
	}
	err = json.Unmarshal(raw, &doc)
	return doc.Scripts, err
}

// packageManager returns the package manager of the nearest lock file.
func (p *project) packageManager(dir string) string {
	for ; ; dir = path.Dir(dir) {
		for _, lock := range []struct{ file, manager string }{
			{"package-lock.json", "npm"}, {"pnpm-lock.yaml", "pnpm"}, {"yarn.lock", "yarn"}, {"bun.lock", "bun"}, {"bun.lockb", "bun"},
		} {
			if p.has(dir, lock.file) {
				return lock.manager
			}
		}
		if dir == "." {
			return "npm"
		}
	}
}

// node is what a package.json and the lock file next to it contain.
type node struct {
	manager string            // npm, pnpm, yarn or bun
	scripts map[string]string // of package.json
}

// run returns the command that runs one of the scripts. Only npm needs a "--" before the
// script's own arguments.
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

// formatting returns how the files' format is checked and fixed. A format script writes;
// its check form is another script, or Prettier's own option. Any other script is judged
// by what it changes.
func (n node) formatting() candidate {
	if n.scripts["format"] == "" {
		return candidate{check: known("prettier", "npx prettier --check", "."), fix: known("prettier", "npx prettier --write", ".")}
	}
	fix := n.run("format", "")
	for _, name := range []string{"format:check", "format-check", "check:format", "check-format"} {
		if n.scripts[name] != "" {
			return candidate{check: n.run(name, ""), fix: fix}
		}
	}
	words := strings.Fields(strings.TrimPrefix(n.scripts["format"], "npx "))
	writes := slices.ContainsFunc(words, func(word string) bool { return word == "--write" || word == "-w" })
	if writes && words[0] == "prettier" && !strings.ContainsAny(n.scripts["format"], "|&;<>") {
		for i, word := range words {
			if word == "--write" || word == "-w" {
				words[i] = "--check"
			}
		}
		return candidate{check: script("npx " + strings.Join(words, " ")), fix: fix}
	}
	return candidate{check: fix, fix: fix, writes: true}
}
