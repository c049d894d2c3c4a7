package phase

import (
	"encoding/json"
	"path"
	"strings"
)

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
