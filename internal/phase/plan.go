package phase

import (
	"slices"
	"strings"
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
	skip       string // why it does not run and counts as passing; "" if it runs
	refuse     string // why it cannot run and so fails; "" if it can
}

// rootRun is a root with its checks.
type rootRun struct {
	root
	plans []plan
	began snapshot // of the changed files, when the checks began
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
	for _, r := range roots {
		rr := &rootRun{root: r}
		defaults := p.defaults(r)
		for _, check := range []Check{Formatter, Linter, Build, Tests} {
			override := overrides[check]
			switch {
			case check == Build && in.SkipBuild:
				rr.plans = append(rr.plans, plan{check: check, skip: "skip_build is set"})
			case check == Tests && in.SkipTests:
				rr.plans = append(rr.plans, plan{check: check, skip: "skip_tests is set"})
			case override != "" && r.dir == ".":
				rr.plans = append(rr.plans, p.overridden(check, override, r, defaults))
			case override == "" && (r.dir != "." || !ownersOnly):
				rr.plans = append(rr.plans, standard(check, defaults, r.language))
			}
		}
		all = append(all, rr)
	}
	return all
}

// standard plans a check with the language's own commands.
func standard(check Check, c commands, l Language) plan {
	pl := plan{check: check, candidates: c.byCheck[check]}
	switch {
	case c.err != nil:
		pl.refuse = "package.json cannot be read: " + c.err.Error()
	case len(pl.candidates) == 0:
		pl.skip = "there is nothing to build in " + string(l)
		if l.family() == JavaScript {
			pl.skip = "package.json has no build script"
		}
	}
	return pl
}

// overridden plans a check with the owner's command. If that only writes, and so could
// never fail, its check form replaces it.
func (p *project) overridden(check Check, line string, r root, c commands) plan {
	candidates := c.byCheck[check]
	if check == Formatter {
		for _, c := range candidates {
			if c.fix.line == line {
				return plan{check: check, candidates: []candidate{c}}
			}
		}
	}
	command, err := given(line, p.filesOf(r))
	if err != nil {
		return plan{check: check, refuse: err.Error()}
	}
	own := candidate{check: command}
	switch check {
	case Formatter:
		own.writes = true // it may: only its owner knows
		if len(candidates) > 0 {
			own.fix = candidates[0].fix
		}
	case Linter:
		own.fix = fixOf(command, candidates)
	}
	return plan{check: check, candidates: []candidate{own}}
}

// fixOf returns the fix of the candidate whose tool an overriding linter names, otherwise
// the override itself if it fixes what it finds, otherwise none.
func fixOf(override commandLine, candidates []candidate) commandLine {
	words := strings.Fields(override.line)
	for _, c := range candidates {
		if c.fix.line != "" && slices.Contains(words, c.check.tool) {
			return c.fix
		}
	}
	if strings.Contains(override.line, "--fix") {
		return override
	}
	return commandLine{}
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
