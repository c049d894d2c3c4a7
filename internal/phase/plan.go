package phase

import (
	"path"
	"slices"
)

// Check is one of the six checks, in the output's words.
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

// plan is how one check of a root is done.
type plan struct {
	check      Check
	candidates []candidate
	skip       string // why it is not run and counts as passing; "" if it is run
	refuse     string // why it cannot be run and so fails; "" if it can
}

// rootPlan is a root with its checks.
type rootPlan struct {
	root
	plans []plan
}

// plan plans the checks of the roots, outer ones first.
func (p *project) plan(in Input, roots []root) []rootPlan {
	top := roots[0].dir == "." // else it has the owner's commands only
	overrides := map[Check]string{Formatter: in.FormatCommand, Linter: in.LintCommand, Build: in.BuildCommand, Tests: in.TestCommand}
	if roots[0].dir != "." && (in.FormatCommand+in.LintCommand+in.BuildCommand+in.TestCommand) != "" {
		// The owner's commands run once, where the owner says that the project is.
		roots = slices.Insert(roots, 0, root{dir: ".", language: roots[0].language, files: in.ChangedFiles})
	}
	var all []rootPlan
	for _, r := range roots {
		rp := rootPlan{root: r}
		defaults := p.defaults(r)
		for _, check := range []Check{Formatter, Linter, Build, Tests} {
			override := overrides[check]
			switch {
			case check == Build && in.SkipBuild:
				rp.plans = append(rp.plans, plan{check: check, skip: "skip_build is set"})
			case check == Tests && in.SkipTests:
				rp.plans = append(rp.plans, plan{check: check, skip: "skip_tests is set"})
			case override != "" && r.dir == ".":
				rp.plans = append(rp.plans, p.overridden(check, override, r, defaults))
			case override == "" && (r.dir != "." || top):
				rp.plans = append(rp.plans, standard(check, defaults, r.language))
			}
		}
		all = append(all, rp)
	}
	return all
}

// standard plans a check with the language's own commands.
func standard(check Check, t table, l Language) plan {
	pl := plan{check: check, candidates: t.of(check)}
	switch {
	case t.fault != nil:
		pl.refuse = "package.json cannot be read: " + t.fault.Error()
	case len(pl.candidates) == 0:
		pl.skip = "there is nothing to build in " + string(l)
		if l.family() == JavaScript {
			pl.skip = "package.json has no build script"
		}
	}
	return pl
}

// overridden plans a check with the owner's command. A command that only writes,
// and so could never fail, is taken in its check form.
func (p *project) overridden(check Check, line string, r root, t table) plan {
	candidates := t.of(check)
	if check == Formatter {
		for _, c := range candidates {
			if c.fix.line == line {
				return plan{check: check, candidates: []candidate{c}}
			}
		}
	}
	c, err := given(line, p.filesOf(r))
	if err != nil {
		return plan{check: check, refuse: err.Error()}
	}
	own := candidate{check: c}
	switch check {
	case Formatter:
		own.writes = true // it may: nobody but its owner knows
		if len(candidates) > 0 {
			own.fix = candidates[0].fix
		}
	case Linter:
		own.fix = mends(c, candidates)
	}
	return plan{check: check, candidates: []candidate{own}}
}

func (t table) of(check Check) []candidate {
	switch check {
	case Formatter:
		return t.format
	case Linter:
		return t.lint
	case Build:
		return t.build
	}
	return t.test
}

// filesOf returns a root's changed files that are there and in its language, if that
// is known, relative to the root.
func (p *project) filesOf(r root) []string {
	var files []string
	for _, f := range r.files {
		if r.language != "" && languageOfFile(f).family() != r.language.family() {
			continue
		}
		if info, err := p.at.Lstat(f); err == nil && info.Mode().IsRegular() {
			files = append(files, within(r.dir, f))
		}
	}
	return files
}

// within makes a path that lies below dir relative to it.
func within(dir, file string) string {
	if dir == "." {
		return file
	}
	return file[len(path.Clean(dir))+1:]
}
