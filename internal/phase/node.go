package phase

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/agent-airlock/airlock/internal/changes"
	"github.com/agent-airlock/airlock/internal/lazyregexp"
	"github.com/agent-airlock/airlock/internal/text"
)

// node is the scripts of a package.json, and how they are run.
type node struct {
	manager string            // npm, pnpm, yarn or bun
	pin     string            // "manager@version", or "": see packageManager
	scripts map[string]string // of package.json
	adapt   wording
}

func (p *project) nodeCommands(dir string) commands {
	if p.isDeno(dir) {
		return p.denoCommands(dir)
	}
	m := p.manifest(dir)
	var w wording
	if p.walkUp(dir, func(p *project, dir string) bool { return p.has(dir, ".pnp.cjs") }) {
		w.replace = [][2]string{{"npx ", "yarn run "}} // the project has no node_modules
	}
	n := node{scripts: m.scripts, adapt: w}
	n.manager, n.pin = p.packageManager(dir)
	c := commands{err: m.err, noBuild: "package.json has no build script", style: p.style(dir, JavaScript, w), adapt: w}
	p.setNodeTests(dir, n, m, &c)
	if formatter := c.style[Formatter]; formatter.optional && len(m.depends) > 0 && !m.depends["prettier"] {
		// If Prettier is in node_modules nevertheless, only another package needs it.
		c.style[Formatter] = choice{unconfigured: unconfigured(Formatter, nil, "")}
	}
	if own, ok := n.formatting(c.style[Formatter].candidates); ok {
		c.style[Formatter] = choice{candidates: []candidate{own}}
	}
	if own, ok := n.linting(); ok {
		c.style[Linter] = choice{candidates: []candidate{own}}
	} else if idle := first(m.idle, lintScripts...); idle != "" {
		c.style[Linter] = choice{unconfigured: fmt.Sprintf("not configured: the script '%s' runs nothing (%s); let it run a linter, or set lint_command", idle, shortScript(m.idle[idle]))}
	}
	if n.scripts["build"] != "" {
		c.build = checksOnly(n.run("build", ""))
	}
	p.addPackages(dir, n, &c)
	return c
}

// setNodeTests sets how the scripts of a package.json run its tests, or why there are none.
func (p *project) setNodeTests(dir string, n node, m *manifest, c *commands) {
	name, idle := m.testScript(), first(m.idle, testScripts...)
	if name != "" {
		c.tests = checksOnly(n.test(name))
		return
	}
	loses := p.losesTests(dir)
	if idle == "" {
		if loses {
			c.tests = checksOnly(n.test("test"))
		}
		return
	}
	runs := runsSomething(m.idle[idle])
	switch {
	case loses && runs:
		// The placeholder of npm init fails and says why.
		c.tests = checksOnly(n.test(idle))
	case loses:
		c.lostTests = fmt.Sprintf("the change to package.json may remove tests, and leaves the script '%s', which runs no tests (%s): let it run them", idle, shortScript(m.idle[idle]))
	case !runs:
		c.noTests = fmt.Sprintf("the script '%s' runs nothing (%s); let it run the tests, or set test_command", idle, shortScript(m.idle[idle]))
	}
}

// shortScript returns a script as a message quotes it.
func shortScript(script string) string { return text.Truncate(text.OneLine(script), 80) }

// losesTests reports whether the change may have removed the tests from a directory's package.json.
// Then their check is not skipped. Without a diff, every line of a changed package.json counts as
// changed.
func (p *project) losesTests(dir string) bool {
	name := path.Join(p.prefix, dir, "package.json")
	i := slices.IndexFunc(p.diff, func(f changes.ChangedFile) bool { return f.Path == name })
	if i < 0 {
		return p.diff == nil && slices.Contains(p.changed, name)
	}
	f := p.diff[i]
	if f.Status == changes.Added {
		return false
	}
	return f.PatchMissing || f.Binary || p.losesTestsIn(dir, f.Patch)
}

// losesTestsIn reports whether a patch of a directory's package.json may remove tests. It may if it
// changes the line of "scripts", removes a test script, or adds an idle one whose name occurs
// twice, because only the last of two members counts.
func (p *project) losesTestsIn(dir, patch string) bool {
	raw, _ := p.read(path.Join(dir, "package.json")) // if it cannot be read, the plan says so
	for line := range strings.Lines(patch) {
		for _, m := range testsMember.FindAllStringSubmatch(line, -1) {
			name, script := m[1], m[2]
			isAdded, isRemoved := line[0] == '+', line[0] == '-'
			isIdle := !runsSomething(script) || strings.Contains(script, noTestSpecified)
			switch {
			case name == "scripts" && (isAdded || isRemoved):
				return true
			case isRemoved && !isIdle:
				return true
			case isAdded && isIdle && bytes.Count(raw, []byte(`"`+name+`"`)) > 1:
				return true
			}
		}
	}
	return false
}

// testsMember matches a script of tests with its text, or the name of the member "scripts".
var testsMember = lazyregexp.New(`"(scripts|tests?\b[^"]*|unit[^"]*)"\s*:(?:\s*"((?:[^"\\]|\\.)*)")?`)

// isWorkspace reports whether the package.json of a directory is that of a workspace.
func (p *project) isWorkspace(dir string) bool {
	return p.has(dir, "pnpm-workspace.yaml") || p.manifest(dir).has("workspaces")
}

// addPackages adds, for a workspace whose root lacks a script, the command that runs the script in
// each package. Outside of a workspace, a root without a test script has no tests if packages below
// it have some.
func (p *project) addPackages(dir string, n node, c *commands) {
	hasTests := p.manifest(dir).testScript() != ""
	if c.err != nil || hasTests && n.scripts["build"] != "" && n.scripts["lint"] != "" {
		return
	}
	patterns := []string{"*"}
	if p.isWorkspace(dir) {
		patterns = p.workspacePatterns(dir)
	} else if hasTests {
		return
	}
	below := p.packages(dir, patterns)
	has := func(script string) bool {
		return n.scripts[script] == "" && slices.ContainsFunc(below, func(dir string) bool { return p.manifest(dir).scripts[script] != "" })
	}
	if !p.isWorkspace(dir) {
		if has("test") {
			c.tests, c.noTests, c.lostTests = nil, "package.json has no test script, and the packages below it have their own", ""
		}
		return
	}
	modern := p.has(dir, ".yarnrc.yml") || strings.HasPrefix(n.pin, "yarn@") && !strings.HasPrefix(n.pin, "yarn@1.")
	if has("test") {
		c.tests, c.lostTests = checksOnly(n.runAll("test", modern)), ""
	}
	if has("build") {
		c.build = checksOnly(n.runAll("build", modern))
	}
	if linter := c.style[Linter]; has("lint") && (linter.optional || len(linter.candidates) == 0) {
		c.style[Linter] = choice{candidates: checksOnly(n.runAll("lint", modern))}
	}
}

// workspacePatterns returns how a workspace names the directories of its packages, in the file that
// its package manager reads, or in the other if there is only that.
func (p *project) workspacePatterns(dir string) (patterns []string) {
	raw, inManifest := p.manifest(dir).members["workspaces"]
	var listed struct{ Packages []string }
	manager, _ := p.packageManager(dir)
	if p.has(dir, "pnpm-workspace.yaml") && (manager == "pnpm" || !inManifest) {
		if raw, err := p.read(path.Join(dir, "pnpm-workspace.yaml")); err != nil || yaml.Unmarshal(raw, &listed) != nil {
			return nil
		}
		return listed.Packages
	}
	if json.Unmarshal(raw, &patterns) != nil && json.Unmarshal(raw, &listed) == nil {
		patterns = listed.Packages
	}
	return patterns
}

// packages returns the directories below dir that have a package.json and match one of the
// patterns, and none of the patterns that begin with "!". It leaves out node_modules. Of very many
// patterns or directories, it may leave some out.
func (p *project) packages(dir string, patterns []string) (found []string) {
	const (
		mostPatterns = 200
		most         = 2000 // directories of a pattern
	)
	var excluding []string
	for _, pattern := range patterns {
		if name, excludes := strings.CutPrefix(pattern, "!"); excludes {
			excluding = append(excluding, path.Join(dir, name))
		}
	}
	if len(excluding) > mostPatterns {
		return nil
	}
	isLeftOut := func(dir string) bool {
		return !p.has(dir, "package.json") || slices.Contains(strings.Split(dir, "/"), "node_modules") ||
			slices.ContainsFunc(excluding, func(pattern string) bool { return matchesPath(pattern, dir) })
	}
	for _, pattern := range patterns[:min(len(patterns), mostPatterns)] {
		if !strings.HasPrefix(pattern, "!") {
			found = append(found, slices.DeleteFunc(p.directoriesLike(path.Join(dir, pattern), most), isLeftOut)...)
		}
	}
	return found
}

// workspaceReaches reports whether the commands of a workspace also check a package below it:
// whether the workspace lists the package, or one around it that has a test script, which may test
// the packages in it.
func (p *project) workspaceReaches(workspace, inner string) bool {
	listed := cached(p.packageDirs, workspace, func(workspace string) []string { return p.packages(workspace, p.workspacePatterns(workspace)) })
	return slices.ContainsFunc(listed, func(dir string) bool {
		return dir == inner || dir != workspace && isIn(dir, inner) && p.manifest(dir).testScript() != ""
	})
}

// runAll returns the command that runs a script in those packages of a workspace that have the
// script. modern reports whether yarn is of version 2 or later. Yarn 1 fails at a package without
// the script, and stops at the first failure. npm runs the scripts in its place, because it reads
// the same workspace.
func (n node) runAll(script string, modern bool) commandLine {
	var line string
	switch {
	case n.manager == "pnpm":
		line = "pnpm --recursive run --if-present " + script
	case n.manager == "bun":
		line = "bun run --filter * " + script
	case n.manager == "yarn" && modern:
		line = "yarn workspaces foreach --all run " + script
	default:
		line, n.pin = "npm run "+script+" --workspaces --if-present", ""
	}
	c := commandLine{line: line, args: strings.Fields(line), pin: n.pin}
	if n.manager == "pnpm" { // a package that fails hides no other
		c.args = slices.Insert(c.args, 2, "--no-bail")
		if script == "lint" { // and its findings are read as the linter prints them
			c.args = slices.Insert(c.args, 2, "--reporter-hide-prefix", "--workspace-concurrency=1")
		}
	}
	return c
}

// packageManager returns the package manager that the nearest package.json names, otherwise that of
// the nearest lock file, otherwise npm. pin is "manager@version" if package.json names an exact
// version of another manager than npm.
func (p *project) packageManager(dir string) (manager, pin string) {
	p.walkUp(dir, func(p *project, dir string) bool {
		pinned, _, _ := strings.Cut(p.manifest(dir).manager, "+") // a digest comes after it
		name, version, _ := strings.Cut(pinned, "@")
		if slices.Contains([]string{"npm", "pnpm", "yarn", "bun"}, name) {
			manager = name
			if isVersion(version) && name != "npm" { // the installed npm runs, in any version
				pin = pinned
			}
		}
		return manager != ""
	})
	if manager == "" {
		p.walkUp(dir, func(p *project, dir string) bool {
			for _, lock := range []struct{ file, manager string }{
				{"package-lock.json", "npm"}, {"pnpm-lock.yaml", "pnpm"}, {"yarn.lock", "yarn"}, {"bun.lock", "bun"}, {"bun.lockb", "bun"},
			} {
				if manager == "" && p.has(dir, lock.file) {
					manager = lock.manager
				}
			}
			return manager != ""
		})
	}
	return cmp.Or(manager, "npm"), pin
}

// isVersion reports whether a text is an exact version, such as 9.1.0 or 4.0.0-rc.42.
func isVersion(text string) bool {
	return text != "" && text[0] >= '0' && text[0] <= '9' && strings.Count(text, ".") >= 2 &&
		!strings.ContainsFunc(text, func(r rune) bool { return !strings.ContainsRune("0123456789.-abcdefghijklmnopqrstuvwxyz", r) })
}

// run returns the command that runs one of the scripts. Only npm needs a "--" before the
// script's own arguments.
func (n node) run(name, arguments string) commandLine {
	line := n.manager + " run " + name
	if arguments != "" && n.manager == "npm" {
		arguments = "-- " + arguments
	}
	line = strings.TrimSpace(line + " " + arguments)
	return commandLine{line: line, args: strings.Fields(line), pin: n.pin}
}

// test returns the command that runs a script of tests.
func (n node) test(name string) commandLine {
	if name != "test" {
		return n.run(name, "")
	}
	line := n.manager + " test"
	if n.manager == "bun" {
		line = "bun run test" // "bun test" is bun's own test runner
	}
	return commandLine{line: line, args: strings.Fields(line), pin: n.pin}
}

// formatting returns how the project's own scripts check and fix the format; ok is false if none
// does. A script that writes is replaced by its check form: another script, or the tool's own
// option. A script without a check form is judged by the files that it changes. The first of tools
// fixes if no script does. What a script runs counts, not its name: "format" may only check.
func (n node) formatting(tools []candidate) (c candidate, ok bool) {
	writing := maps.Clone(n.scripts)
	maps.DeleteFunc(writing, func(_, text string) bool { return readScript(text).onlyChecksFormat() })
	writes := first(writing, "format", "fmt", "format:write", "format:fix", "prettier:write", "prettier:fix", "prettier", "prettify")
	check := first(n.scripts, "format:check", "format-check", "check:format", "check-format", "fmt:check", "check:fmt", "prettier:check", "check:prettier", "lint:format", "lint:prettier", "format:ci", "format:test", "test:format")
	if check == "" {
		for _, name := range slices.Sorted(maps.Keys(n.scripts)) {
			if readScript(n.scripts[name]).onlyChecksFormat() {
				check = name
				break
			}
		}
	}
	if check != "" {
		c = candidate{check: n.run(check, "")}
		if writes != "" {
			c.fix = ownFix(n.run(writes, ""))
		} else if len(tools) > 0 {
			c.fix = tools[0].fix
		}
		return c, true
	}
	if writes == "" {
		return candidate{}, false
	}
	run := n.run(writes, "")
	if s := readScript(n.scripts[writes]); s.formats() && s.writes() {
		return candidate{check: s.checking(n.adapt), fix: ownFix(run)}, true
	}
	return candidate{check: run, fix: ownFix(run), writes: true}, true
}

// lintScripts are the names of the script that lints, the usual one first.
var lintScripts = []string{"lint", "lint:check", "lint:ci", "lint:js", "lint:ts", "lint:eslint", "eslint", "lint:all", "lint:src", "check:lint"}

// linting returns how the project's own scripts lint; ok is false if none does. A script that fixes
// is replaced by the same command without the option to fix. If that is not possible, it is judged
// by the files that it changes.
func (n node) linting() (c candidate, ok bool) {
	name := first(n.scripts, lintScripts...)
	if name == "" {
		return candidate{}, false
	}
	s := readScript(n.scripts[name])
	switch fix := first(n.scripts, "lint:fix", "lint-fix", "fix:lint", "eslint:fix"); {
	case !s.writes() && fix != "":
		return candidate{check: n.run(name, ""), fix: ownFix(n.run(fix, ""))}, true
	case !s.writes():
		return candidate{check: n.run(name, ""), fix: ownFix(n.run(name, "--fix"))}, true
	case s.lints():
		return candidate{check: s.checking(n.adapt), fix: ownFix(n.run(name, ""))}, true
	}
	return candidate{check: n.run(name, ""), fix: ownFix(n.run(name, "")), writes: true}, true
}

// first returns the first of the names that a script has, "" if none has.
func first(scripts map[string]string, names ...string) string {
	for _, name := range names {
		if scripts[name] != "" {
			return name
		}
	}
	return ""
}

// nodeScript is a script of package.json.
type nodeScript struct {
	words []string // of its command without "npx"; none if it is not one command, or needs a shell
	text  string
}

func readScript(text string) nodeScript {
	if strings.ContainsAny(text, "|&;<>$`\n") {
		return nodeScript{text: text}
	}
	words := strings.Fields(text)
	if len(words) > 1 && words[0] == "npx" {
		words = words[1:]
	}
	return nodeScript{words, text}
}

// program returns the tool that the script runs, "" if it is not one command.
func (s nodeScript) program() string {
	if len(s.words) == 0 {
		return ""
	}
	return path.Base(s.words[0])
}

// formats reports whether the script is one command of a formatter.
func (s nodeScript) formats() bool {
	switch s.program() {
	case "prettier":
		return slices.ContainsFunc(s.words, func(w string) bool {
			return slices.Contains([]string{"--check", "-c", "--list-different", "-l", "--write", "-w"}, w)
		})
	case "oxfmt":
		return true
	case "biome":
		return len(s.words) > 1 && slices.Contains([]string{"format", "fmt"}, s.words[1])
	case "dprint":
		return len(s.words) > 1 && slices.Contains([]string{"format", "fmt", "check"}, s.words[1])
	}
	return false
}

// lints reports whether the script is one command of a linter that takes its fixing option
// as a word of its own.
func (s nodeScript) lints() bool {
	return slices.Contains([]string{"eslint", "standard", "xo", "oxlint", "biome", "ts-standard", "semistandard"}, s.program())
}

// fixingOptions are the words with which formatters and linters write files.
var fixingOptions = []string{"--write", "-w", "--fix", "--apply", "--fix=true"}

// writes reports whether the script writes files, by its options or because its tool does.
func (s nodeScript) writes() bool {
	switch {
	case s.program() == "dprint" && len(s.words) > 1 && s.words[1] == "fmt":
		return true
	case s.program() == "oxfmt": // unless it is told otherwise
		return !slices.Contains(s.words, "--check") && !slices.Contains(s.words, "--list-different")
	}
	return slices.ContainsFunc(strings.Fields(s.text), func(w string) bool { return slices.Contains(fixingOptions, w) })
}

// onlyChecksFormat reports whether the script is one command that checks the format.
func (s nodeScript) onlyChecksFormat() bool { return s.formats() && !s.writes() }

// checking returns the script's command in a form that writes nothing.
func (s nodeScript) checking(adapt wording) commandLine {
	var words []string
	for i, w := range s.words {
		switch {
		case slices.Contains(fixingOptions, w) && s.program() == "prettier":
			words = append(words, "--check")
		case slices.Contains(fixingOptions, w):
		case s.program() == "oxfmt" && i == 0:
			words = append(words, w, "--check")
		case s.program() == "dprint" && i == 1:
			words = append(words, "check")
		default:
			words = append(words, w)
		}
	}
	line := strings.Join(words, " ")
	if len(adapt.replace) > 0 {
		return script(adapt.apply("npx " + line))
	}
	return commandLine{line: "npx " + line, shell: line}
}
