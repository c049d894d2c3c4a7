package phase

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/lazyregexp"
)

// Check is one of the six checks, as the output calls it.
type Check string

// The checks, in the order in which they run.
const (
	Formatter      Check = "formatter"
	Linter         Check = "linter"
	Build          Check = "build"
	Tests          Check = "tests"
	CodeReview     Check = "code_review"
	SecurityReview Check = "security_review"
)

// CheckNamed returns the check of a name, in which "-" may replace "_".
func CheckNamed(name string) (check Check, ok bool) {
	switch c := Check(strings.ReplaceAll(name, "-", "_")); c {
	case Formatter, Linter, Build, Tests, CodeReview, SecurityReview:
		return c, true
	}
	return "", false
}

// plan is how one check of a root is done.
type plan struct {
	check      Check
	candidates []candidate
	skip       string // why it does not run and counts as passing; "" if it may run
	refuse     string // why it cannot run and so fails; "" if it can
	// unconfigured says why a formatter or linter does not run if no file names one, and what to
	// do. If there are candidates, it is used only if none of them is installed.
	unconfigured string
	others       []string // further tools that the project names; they do not run
}

// noProject is why nothing runs where no changed file is in a project.
const noProject = "no changed file is in a project: there is nothing to run"

// rootRun is a root with its checks.
type rootRun struct {
	root
	plans []plan
	began map[string]stamp  // of the changed files, when the checks began
	texts map[string][]byte // of the changed files then, if fixes are to be carried over
	runs  []*run
}

// plan plans the checks of the roots, outer ones first.
func (p *project) plan(in Input, roots []root) []*rootRun {
	overrides := map[Check]string{Formatter: in.FormatCommand, Linter: in.LintCommand, Build: in.BuildCommand, Tests: in.TestCommand}
	ownersOnly := roots[0].dir != "." // the working directory has only the owner's commands
	if ownersOnly && (in.FormatCommand+in.LintCommand+in.BuildCommand+in.TestCommand) != "" {
		// The owner's commands run once, in the directory that the owner gives as the project's.
		roots = slices.Insert(roots, 0, root{dir: ".", language: roots[0].language, files: in.ChangedFiles})
	}
	var all []*rootRun
	for i, r := range roots {
		planned := &rootRun{root: r}
		atTop := r.dir == "." && i == 0 // later roots at the top are for further languages
		defaults := p.commands(r)
		for _, check := range []Check{Formatter, Linter, Build, Tests} {
			override := overrides[check]
			var way plan
			switch {
			case check == Build && in.SkipBuild:
				way = plan{check: check, skip: "skip_build is set"}
			case check == Tests && in.SkipTests:
				way = plan{check: check, skip: "skip_tests is set"}
			case override != "" && atTop:
				way = p.overridden(check, override, r, defaults)
			case r.idle:
				way = plan{check: check, skip: noProject}
			case r.dependent && (check == Formatter || check == Linter): // none of its files has changed
				continue
			case override == "" && (r.dir != "." || !ownersOnly):
				way = standard(check, defaults, r.language)
			default: // the owner's command runs at the top, or there is none for the top
				continue
			}
			planned.plans = append(planned.plans, way)
		}
		all = append(all, planned)
	}
	vetApart(all)
	return all
}

// standard plans a check with the project's or the language's own commands.
func standard(check Check, c commands, l Language) plan {
	planned := plan{check: check}
	if c.err != nil {
		planned.refuse = "package.json cannot be read: " + c.err.Error()
		return planned
	}
	switch check {
	case Build:
		planned.candidates = c.build
		if len(c.build) == 0 {
			planned.skip = cmp.Or(c.noBuild, "there is nothing to build in "+string(l))
		}
	case Tests:
		planned.candidates, planned.refuse = c.tests, c.lostTests
		if len(c.tests) == 0 && planned.refuse == "" {
			planned.skip = cmp.Or(c.noTests, "package.json has no test script; add one, or set test_command")
		}
	default:
		chosen := c.style[check]
		planned.candidates, planned.others = chosen.candidates, chosen.others
		if chosen.optional || len(chosen.candidates) == 0 {
			planned.unconfigured = chosen.unconfigured
		}
	}
	return planned
}

// overridden plans a check with the owner's command. A command that only writes could never fail,
// and so its check form replaces it.
func (p *project) overridden(check Check, line string, r root, c commands) plan {
	for _, t := range toolsOf(r.language) {
		written := []string{t.write, strings.TrimPrefix(t.write, "npx "), t.command(t.write, c.adapt).line} // all ways to write it
		if check == Formatter && t.check == check && slices.Contains(written, line) {
			return plan{check: check, candidates: t.candidates(r.language, c.adapt)}
		}
	}
	for _, own := range c.style[check].candidates {
		if check == Formatter && own.fix.own && own.fix.line == line {
			return plan{check: check, candidates: []candidate{own}} // the project's script
		}
	}
	command, err := ownersCommand(line, p.filesOf(r))
	if err != nil {
		return plan{check: check, refuse: err.Error()}
	}
	command.silent = check == Formatter && onlyPrints.MatchString(line) && !strings.Contains(line+" ", " -w ") // which mends what it prints
	own := candidate{check: command}
	if check == Formatter || check == Linter {
		own.writes = check == Formatter // it may: only its owner knows
		own.fix = fixOf(check, command, r.language, c)
	}
	return plan{check: check, candidates: []candidate{own}}
}

// onlyPrints matches a formatter's command that ends with exit code 0 whatever it finds: what it
// prints is what is wrong. With a pipe or the like, the shell's exit code decides.
var onlyPrints = lazyregexp.New("^(?:go tool )?(?:\\S*/)?(?:(?:gofmt|gofumpt|goimports)(?: [^|&;<>()$`]*)? -[ld]|(?:black|isort)(?: [^|&;<>()$`]*)? --diff)(?: [^|&;<>()$`]*)?$")

// fixOf returns the fix for a command of the owner's. If the command names a tool, it is the tool's
// fix. Otherwise a formatter has the fix of the project's formatter, and a linter the command
// itself, if that has an option to fix.
func fixOf(check Check, override commandLine, l Language, c commands) fixing {
	for _, t := range toolsOf(l) {
		if t.check == check && t.fix != "" && t.isNamedIn(override.line) {
			return t.fixing(l, c.adapt)
		}
	}
	if check == Linter {
		if strings.Contains(override.line, "--fix") {
			return ownFix(override)
		}
		return fixing{}
	}
	if own := c.style[Formatter].candidates; len(own) > 0 {
		return own[0].fix
	}
	return fixing{}
}

// filesOf returns a root's changed files that exist and are in its language, if that is
// known, relative to the root.
func (p *project) filesOf(r root) []string {
	var files []string
	for _, f := range r.files {
		if r.language != "" && languageOfFile(f).family() != r.language.family() {
			continue
		}
		if info, err := p.root.Lstat(f); err == nil && info.Mode().IsRegular() {
			files = append(files, strings.TrimPrefix(f, r.dir+"/"))
		}
	}
	return files
}
