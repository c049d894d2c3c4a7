package phase

import (
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/lazyregexp"
)

// candidate is one way of doing a check. Of several, the first whose tool is installed
// decides.
type candidate struct {
	check commandLine
	fix   fixing // its line is "" if the tool cannot fix anything
	// writes reports that the check has no form that leaves files alone. The files that it changes
	// were not as they should be.
	writes bool
	// part reports whether a finding of this rule belongs to the check, nil if all do.
	part func(rule string) bool
}

// fixing is a command that fixes.
type fixing struct {
	commandLine
	// own reports that the command is the project's or the owner's own, which may change any file.
	// Any other command is to fix only the changed files: {files} in it stands for them. If it has
	// no {files}, it fixes all files, and the other files are put back.
	own     bool
	endings []string // of the files that {files} may stand for; "" is the ending of any file
}

// ownFix returns a fix by the project's or the owner's own command.
func ownFix(c commandLine) fixing { return fixing{commandLine: c, own: true} }

// commands are the commands of a project in one language.
type commands struct {
	style map[Check]choice // of the formatter and the linter
	build []candidate      // in order of preference
	tests []candidate
	// noBuild is why there is nothing to build; "" stands for the reason of the language.
	noBuild string
	err     error // why the project's own settings cannot be read
	// noTests is why there are no tests; "" stands for the reason of the language. lostTests is the
	// fault of a change that takes them away.
	noTests, lostTests string
	// adapt is how the project words the commands of its language.
	adapt wording
}

// checksOnly returns candidates that fix nothing.
func checksOnly(lines ...commandLine) []candidate {
	var all []candidate
	for _, c := range lines {
		all = append(all, candidate{check: c})
	}
	return all
}

// commands returns the commands of a root, as the project's own files decide.
func (p *project) commands(r root) commands {
	c := p.commandsOf(r)
	if len(c.tests) > 0 && p.isUntested(r) {
		c.tests, c.noTests = nil, noTestsFound
	}
	return c
}

// commandsOf returns the commands of a root, also those of tests that it does not have.
func (p *project) commandsOf(r root) commands {
	switch r.language {
	case JavaScript, TypeScript:
		return p.nodeCommands(r.dir)
	case Python:
		return commands{style: p.style(r.dir, Python, wording{}), tests: p.pythonTests(r.dir)}
	case Go:
		return commands{style: p.style(r.dir, Go, wording{}), build: checksOnly(known("go build", "go build", "./...")), tests: checksOnly(known("go test", "go test", "./..."))}
	case Rust:
		return p.rustCommands(r.dir)
	case Ruby:
		return p.rubyCommands(r.dir)
	case Java:
		return p.javaCommands(r.dir)
	}
	return commands{}
}

// pythonTests returns the commands for a Python project's tests, the preferred one first. They are
// looked for in the project's own environment and in PATH. If Poetry keeps the environment
// elsewhere, a command of Poetry comes first.
func (p *project) pythonTests(dir string) []candidate {
	tests := checksOnly(known("pytest", "pytest", ""), known("pytest", "python -m pytest", ""),
		known("pytest", "python3 -m pytest", ""), known("unittest", "python -m unittest", ""), known("unittest", "python3 -m unittest", ""))
	if p.has(dir, "poetry.lock") && !p.has(dir, ".venv") && !p.has(dir, "venv") {
		return append(checksOnly(known("pytest", "poetry run pytest", "")), tests...)
	}
	return tests
}

// rustCommands returns cargo's commands. In a workspace they are about all of its members. cargo
// needs an option for that if the root is a package, or if the workspace has default members. The
// option has hardly an effect elsewhere, so it is also given where only cargo may read Cargo.toml.
func (p *project) rustCommands(dir string) commands {
	c := p.crate(dir)
	all, fmtAll := "", ""
	if c.broken || c.isWorkspace && (c.isPackage || c.hasDefaultMembers) {
		all, fmtAll = "--workspace", " --all"
	}
	own := p.clippyOptions(dir)
	w := wording{replace: [][2]string{
		{"cargo fmt", "cargo fmt" + fmtAll},
		{"cargo clippy --fix --allow-dirty --allow-no-vcs {flags}", "cargo clippy --fix --allow-dirty --allow-no-vcs {flags}" + own.cargoOptions(all)},
		{"cargo clippy {flags}", "cargo clippy {flags}" + own.cargoOptions(all)},
	}}
	style := p.style(dir, Rust, w)
	for i := range style[Linter].candidates {
		c := &style[Linter].candidates[i].check
		c.strict = own.strict
		c.args = append(c.args, own.lints(false)...)
		c.line = strings.Join(append([]string{c.line}, own.lints(true)...), " ")
	}
	return commands{style: style, adapt: w, build: checksOnly(known("cargo", "cargo build", all)), tests: checksOnly(known("cargo test", "cargo test", all))}
}

// clippyOptions are the options with which a project runs Clippy.
type clippyOptions struct {
	cargo []string // before "--"
	lint  []string // levels after "--", such as "-D", "warnings"
	// strict reports that each warning makes the check fail. Clippy is not told to deny warnings:
	// the first one would end the compilation, and nobody would see the warnings of the crates
	// that depend on the crate with that one.
	strict bool
}

var (
	clippyRun  = lazyregexp.New(`(?m)\bcargo(?: \+\S+)? clippy\b([^\n|;&#"']*)`)
	deniedFlag = lazyregexp.New(`RUSTFLAGS["']?\s*[:=].*(?:-D\s*|--deny[ =])warnings`)
	lintName   = lazyregexp.New(`^[a-z][a-z0-9_-]*(?:::[a-z][a-z0-9_-]*)?$`)
)

// clippyOptions returns the options of Clippy's command in the project's scripts, hooks and CI. If
// there are several commands, the first with lints counts, or else the first. If there is a command,
// and RUSTFLAGS denies warnings in one of these places, so do the options.
func (p *project) clippyOptions(dir string) clippyOptions {
	text := p.commandTexts(dir)
	var found clippyOptions
	for i, m := range clippyRun.FindAllStringSubmatch(text, -1) {
		o := readClippyOptions(m[1])
		if i == 0 || len(found.lint) == 0 && len(o.lint) > 0 {
			found = o
		}
	}
	if clippyRun.MatchString(text) && deniedFlag.MatchString(text) && !found.strict {
		found.strict, found.lint = true, append(found.lint, "-D", "warnings")
	}
	return found
}

// readClippyOptions reads the options without a value that change which code Clippy looks at,
// "--locked", and the levels of lints. It leaves out other options, such as "--features" and those
// for the output.
func readClippyOptions(line string) (o clippyOptions) {
	before, after, _ := strings.Cut(line+" ", " -- ")
	cargo := []string{"--all-targets", "--all-features", "--no-default-features", "--tests", "--benches", "--examples", "--lib", "--bins", "--no-deps", "--locked", "--workspace", "--all"}
	for _, word := range strings.Fields(before) {
		if slices.Contains(cargo, word) && !slices.Contains(o.cargo, word) {
			o.cargo = append(o.cargo, word)
		}
	}
	words := strings.Fields(after)
	for i := 0; i < len(words); i++ {
		flag, name := levelFlag(words[i])
		if flag != "" && name == "" && i+1 < len(words) {
			i++
			name = words[i]
		}
		if !lintName.MatchString(name) {
			continue
		}
		o.lint = append(o.lint, flag, name)
		o.strict = o.strict || name == "warnings" && (flag == "-D" || flag == "-F")
	}
	return o
}

// levelFlag returns the flag by which a word sets the level of a lint, such as "-D" for "--deny",
// and the name of the lint if that is in the same word, as in "-Dwarnings" and "--deny=warnings". Both
// are "" for any other word.
func levelFlag(word string) (flag, name string) {
	if long, isLong := strings.CutPrefix(word, "--"); isLong {
		level, name, _ := strings.Cut(long, "=")
		switch level {
		case "deny":
			return "-D", name
		case "warn":
			return "-W", name
		case "allow":
			return "-A", name
		case "forbid":
			return "-F", name
		}
		return "", ""
	}
	if len(word) >= 2 && word[0] == '-' && strings.IndexByte("DWAF", word[1]) >= 0 {
		return word[:2], word[2:]
	}
	return "", ""
}

// cargoOptions returns the options of cargo after a space, or "" if there are none.
// workspaceOption, which may be "", comes first, unless the others name all members of a workspace
// already.
func (o clippyOptions) cargoOptions(workspaceOption string) string {
	if slices.Contains(o.cargo, "--workspace") || slices.Contains(o.cargo, "--all") {
		workspaceOption = ""
	}
	return strings.TrimRight(" "+strings.Join(append([]string{workspaceOption}, o.cargo...), " "), " ")
}

// lints returns the levels of lints, as people write them or as they run.
func (o clippyOptions) lints(shown bool) []string {
	if len(o.lint) == 0 {
		return nil
	}
	lints := []string{"--"}
	for i := 0; i+1 < len(o.lint); i += 2 {
		flag, name := o.lint[i], o.lint[i+1]
		if o.strict && !shown && (flag == "-D" || flag == "-F") {
			flag = "-W"
		}
		lints = append(lints, flag, name)
	}
	return lints
}
