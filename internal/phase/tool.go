package phase

import (
	"math"
	"path"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/toolreport"
)

// tool is a formatter or a linter: the signs of it in a project's files, and its commands.
//
// A command is written as people type it. In it, {files} stands for the changed files, and {flags}
// for options that are not shown: with them, the tool prints in the form from which toolreport
// reads most. "npx" is shown but not run, because nothing is to be downloaded: the tool has to be
// in the project's node_modules or in PATH.
type tool struct {
	check Check  // Formatter or Linter
	name  string // as people call it
	// signs are the signs of the tool in a project's files; one is enough. A tool without signs is
	// part of its language, and does the check if no other tool is named.
	signs []sign
	// usual reports that it does the check where no tool is named, if it is installed.
	usual bool
	// formats reports that the linter formats as well, or checks the format. If such a linter is
	// named, a usual formatter would contradict it.
	formats bool
	// reads is toolreport's name for the tool's output, "" if toolreport recognises the output by
	// its form.
	reads string
	// flags are those for {flags}; nil for toolreport's.
	flags []string
	// run are commands of the check. The first whose program is installed decides.
	run []string
	// write is the command by which an owner would have the tool write all files of the project, ""
	// if there is none. If an owner gives it for the check, run replaces it, because a command that
	// only writes could never fail.
	write string
	// fix is the command that fixes the changed files, "" if the tool cannot fix. A fix without
	// {files} writes other files, too, and these are put back.
	fix string
	// endings are those of the files that {files} in fix may stand for; nil for those of the
	// language.
	endings []string
	silent  bool // any standard output means failure
	// part reports whether a finding of this rule belongs to the check, where one run does
	// both checks; nil if all do.
	part func(rule string) bool
}

// anyFile is the value of endings for a tool that itself leaves out files it cannot format.
var anyFile = []string{""}

// toolsOf returns the tools of a language, in the order in which they are looked for.
func toolsOf(l Language) []tool {
	for _, row := range languages {
		if row.language == l {
			return row.tools()
		}
	}
	return nil
}

// command returns one of a tool's commands, as a project words it.
func (t tool) command(line string, w wording) commandLine {
	flags := t.flags
	if flags == nil {
		flags = toolreport.Flags(t.reads)
	}
	c := commandLine{tool: t.reads, silent: t.silent}
	var shown []string
	for _, word := range strings.Fields(w.apply(line)) {
		switch {
		case word == "{flags}":
			c.args = append(c.args, flags...)
		case word == "npx":
			shown = append(shown, word)
		default:
			shown, c.args = append(shown, word), append(c.args, word)
		}
	}
	c.line = strings.Join(shown, " ")
	return c
}

// wording is how a project's commands differ from the usual ones: beginnings of lines, and their
// replacements.
type wording struct{ replace [][2]string }

// apply returns a command as the project words it.
func (w wording) apply(line string) string {
	for _, r := range w.replace {
		if rest, ok := strings.CutPrefix(line, r[0]); ok {
			return r[1] + rest
		}
	}
	return line
}

// candidates returns a tool's candidates for a check.
func (t tool) candidates(l Language, w wording) []candidate {
	var all []candidate
	for _, line := range t.run {
		all = append(all, candidate{check: t.command(line, w), fix: t.fixing(l, w), part: t.part})
	}
	return all
}

// fixing returns the command that fixes changed files, with "" as its line if there is none.
func (t tool) fixing(l Language, w wording) fixing {
	endings := t.endings
	if endings == nil {
		endings = endingsOf(l)
	}
	return fixing{commandLine: t.command(t.fix, w), endings: endings}
}

// program returns the name of the tool's program; for one that cargo, Maven or Gradle runs, the
// subcommand or task.
func (t tool) program() string {
	words := strings.Fields(strings.TrimPrefix(t.run[0], "npx "))
	if words[0] == "cargo" || words[0] == "mvn" || words[0] == "gradle" {
		return words[1]
	}
	return words[0]
}

// isNamedIn reports whether a command line names the tool.
func (t tool) isNamedIn(line string) bool {
	words := strings.Fields(line)
	return slices.ContainsFunc(words, func(word string) bool { return path.Base(word) == t.program() })
}

// choice is how a check is done, as far as a project's files say so.
type choice struct {
	candidates []candidate
	// optional reports that the candidates are usual tools, which no file names. If none of them is
	// installed, the check is not configured.
	optional bool
	// unconfigured is why the check is not configured, if it is not, and what to do.
	unconfigured string
	// others are the names of further tools that the files name, which do not run.
	others []string
}

// namedTool is a tool that a project's files name.
type namedTool struct {
	tool
	// above is how many directories above the project the nearest of these files is, -1 if a
	// command or a plugin names it.
	above int
	// isStale reports that the packages that the project lists do not have it, as after a move to
	// another tool.
	isStale bool
}

// named reports whether the files of a project's directory, or of those above it, name a tool. If
// so, n has the tool, where the nearest of these files is, and whether the project still lists the tool.
func (p *project) named(dir string, t tool) (n namedTool, ok bool) {
	for _, s := range t.signs {
		if found, above := p.shows(dir, s); found {
			if !ok || above < n.above {
				n.above = above
			}
			ok = true
		}
	}
	n.tool = t
	if packages := npmPackages[t.name]; ok && packages != nil {
		listsSome := false
		listsIt := p.walkUp(dir, func(p *project, dir string) bool {
			m := p.manifest(dir)
			listsSome = listsSome || len(m.depends) > 0
			return slices.ContainsFunc(packages, func(name string) bool { return m.depends[name] })
		})
		n.isStale = listsSome && !listsIt
	}
	return n, ok
}

// inUseFirst orders tools that a project's files name. Tools that are missing from the project's
// packages come last. Apart from that, tools that the nearest files, a command or a plugin name
// come first. Otherwise the order stays.
func inUseFirst(tools []namedTool) {
	nearest := math.MaxInt
	for _, t := range tools {
		if t.above >= 0 {
			nearest = min(nearest, t.above)
		}
	}
	rank := func(t namedTool) (rank int) {
		if t.isStale {
			rank += 2
		}
		if t.above > nearest {
			rank++
		}
		return rank
	}
	slices.SortStableFunc(tools, func(a, b namedTool) int { return rank(a) - rank(b) })
}

// npmPackages has the packages of some tools of JavaScript, by the names of the tools. A project
// that uses one of these tools lists its package in package.json.
var npmPackages = map[string][]string{
	"Prettier": {"prettier"}, "Biome": {"@biomejs/biome"}, "dprint": {"dprint"}, "Oxfmt": {"oxfmt"}, "ESLint": {"eslint"}, "Oxlint": {"oxlint"},
}

// style returns how the checks Formatter and Linter of a project's directory are done.
func (p *project) style(dir string, l Language, w wording) map[Check]choice {
	tools := toolsOf(l)
	named := map[Check][]namedTool{}
	formats := ""
	for _, t := range tools {
		n, ok := p.named(dir, t)
		if !ok {
			continue
		}
		if !slices.ContainsFunc(named[t.check], func(o namedTool) bool { return o.name == t.name }) {
			named[t.check] = append(named[t.check], n)
		}
		if t.formats {
			formats = t.name
		}
	}
	choices := map[Check]choice{}
	for _, check := range []Check{Formatter, Linter} {
		all := named[check]
		if len(all) == 0 {
			choices[check] = chooseUnnamed(tools, check, formats, l, w)
			continue
		}
		inUseFirst(all)
		c := choice{candidates: all[0].candidates(l, w)}
		for _, other := range all[1:] {
			c.others = append(c.others, other.name)
		}
		choices[check] = c
	}
	return choices
}

// chooseUnnamed returns how a check is done where the project's files name no tool for it: by the
// tool that is part of the language, otherwise by the usual ones. formats is the linter that makes
// a usual formatter superfluous, "" if there is none.
func chooseUnnamed(tools []tool, check Check, formats string, l Language, w wording) (c choice) {
	var usual []string
	for _, t := range tools {
		switch {
		case t.check != check:
		case len(t.signs) == 0 && len(c.candidates) == 0:
			c.candidates = t.candidates(l, w)
		case t.usual && (check != Formatter || formats == ""):
			c.candidates = append(c.candidates, t.candidates(l, w)...)
			c.optional, usual = true, append(usual, t.name)
		}
	}
	c.unconfigured = unconfigured(check, usual, formats)
	return c
}

// unconfigured explains that no tool does a check, and how to have one. usual are those
// that would do it if they were installed; formats is the linter that makes a usual
// formatter superfluous.
func unconfigured(check Check, usual []string, formats string) string {
	why := "the project's files name no " + string(check) + " that is known"
	switch {
	case check == Formatter && formats != "":
		why += ", and a usual one could contradict " + formats
	case len(usual) == 1:
		why += ", and " + usual[0] + ", the usual one, is not installed"
	case len(usual) > 1:
		why += ", and none of the usual ones is installed (" + strings.Join(usual, ", ") + ")"
	}
	return "not configured: " + why + "; add a tool's configuration (docs/check-tools.md lists them), or set " + overrideName(check)
}
