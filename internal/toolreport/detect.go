package toolreport

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/text"
)

// isNamedBy reports whether a command's words name the tool in any of the simple commands that they
// consist of.
func (r row) isNamedBy(words []string) bool {
	for _, command := range commands(words) {
		for _, w := range r.words {
			want := strings.Fields(w)
			if len(command) >= len(want) && slices.Equal(command[:len(want)], want) {
				return true
			}
		}
	}
	return false
}

// callerName returns the name of the tool in findings whose form does not name it.
func callerName(t Tool) string {
	if name := cmp.Or(t.Called, t.Name); name != "" {
		return name
	}
	if all := commands(t.Command); len(all) > 0 {
		return text.TruncateBytes(all[0][0], maxName)
	}
	return "unknown"
}

// commands splits words into simple commands, each in the form that program returns.
func commands(words []string) [][]string {
	var all [][]string
	for _, words := range simpleCommands(words) {
		if c := program(words); len(c) > 0 {
			all = append(all, c)
		}
	}
	return all
}

// simpleCommands splits words into simple commands at a shell's operators. It also splits within
// quotation marks, because they may contain a script, as in sh -c 'cd a && eslint .'.
func simpleCommands(words []string) [][]string {
	var all [][]string
	var current []string
	flush := func() {
		if len(current) > 0 {
			all = append(all, current)
		}
		current = nil
	}
	split := strings.NewReplacer("&&", " ; ", "||", " ; ", "|", " ; ", ";", " ; ", "(", " ; ", ")", " ; ", "\n", " ; ", "'", " ", `"`, " ")
	for _, w := range words {
		for word := range strings.FieldsSeq(split.Replace(text.TruncateBytes(w, maxText))) {
			if word == ";" || word == "&" {
				flush()
			} else if len(current) < 1000 {
				current = append(current, word)
			}
		}
	}
	flush()
	return all
}

// programs splits words into commands and counts those that may fail by themselves. It leaves out
// commands of the shell, and runners that print which command they run. unknown reports whether
// one of the counted commands is not a tool of the registry.
func programs(words []string) (n int, unknown bool) {
	for _, c := range simpleCommands(words) {
		if slices.Contains([]string{"cd", "echo", "printf", "export", "set", "true", ":", "exit", "npm-run-all", "run-s", "run-p"}, c[0]) || runsScript(c) {
			continue
		}
		n++
		unknown = unknown || !slices.ContainsFunc(rows(), func(r row) bool { return r.isNamedBy(c) })
	}
	return n, unknown
}

// runsScript reports whether a command may run a script of package.json, which is then
// printed.
func runsScript(words []string) bool {
	has := func(subcommands ...string) bool {
		return slices.ContainsFunc(words[1:], func(w string) bool { return slices.Contains(subcommands, w) })
	}
	switch words[0] {
	case "npm":
		return has("run", "run-script", "test", "t", "start")
	case "pnpm", "yarn", "bun":
		return !has("exec", "dlx", "x")
	}
	return false
}

// program returns the name of a command's program and the arguments after it. It leaves out words
// that only start the program, such as variables, npx or bundle exec. It also leaves out options
// other than --test and -jar.
func program(words []string) []string {
	for len(words) > 0 {
		starting := startingWords(words)
		if starting == 0 {
			rest := slices.DeleteFunc(slices.Clone(words[1:]), func(w string) bool { return isOption(w) && w != "--test" && w != "-jar" })
			return append([]string{programName(words[0])}, rest...)
		}
		words = words[starting:]
	}
	return nil
}

// startingWords returns how many words at the beginning of a command only start its program, which
// comes after them; 0 if the first word is the program. There may be more such words after those.
func startingWords(words []string) int {
	first, second := programName(words[0]), ""
	if len(words) > 1 {
		second = words[1]
	}
	is := func(word string, names ...string) bool { return slices.Contains(names, word) }
	isPython := first == "py" || strings.HasPrefix(first, "python")
	switch {
	case isOption(words[0]), strings.Contains(words[0], "="): // a variable
		return 1
	case is(first, "sudo", "env", "time", "nice", "exec", "npx", "bunx", "pnpx", "xvfb-run", "cross-env", "run", "sh", "bash", "nyc", "c8"):
		return 1
	case is(first, "bundle", "poetry", "pipenv", "uv", "hatch", "pdm", "rye") && is(second, "exec", "run"),
		is(first, "yarn", "pnpm", "npm", "bun") && is(second, "exec", "dlx", "x"),
		isPython && second == "-m", first == "go" && second == "tool", first == "coverage" && second == "run":
		return 2
	case is(first, "yarn", "pnpm", "bun") && !is(second, "", "run", "test"): // as in "yarn eslint"
		return 1
	case (is(first, "node", "ruby") || isPython) && second != "" && !isOption(second) && !strings.Contains(path.Base(second), "."):
		return 1 // as in "node node_modules/.bin/eslint"
	}
	return 0
}

// programName returns the name of a program without its directory and without .exe or .cmd.
func programName(word string) string {
	return strings.TrimSuffix(strings.TrimSuffix(path.Base(slashed(word)), ".exe"), ".cmd")
}

func isOption(word string) bool { return strings.HasPrefix(word, "-") }

// inPackage matches the line that pnpm prints before it runs a script of a package in a workspace.
var inPackage = containing("$ ", `^[^\s$>+]+ [\w:.-]+\$ (.+)$`)

// echoed returns the words of the command in a line that a script runner prints before the command
// runs. "> eslint ." is such a line of npm and pnpm, "$ eslint ." of yarn and others, "+ eslint ."
// of a shell that traces its commands, and "packages/a lint$ eslint ." of pnpm in a workspace.
func echoed(line string) ([]string, bool) {
	if m := inPackage.match(line); m != nil && len(line) < maxText {
		return strings.Fields(m[1]), true
	}
	for _, sign := range []string{"> ", "$ ", "+ "} {
		if rest, ok := strings.CutPrefix(line, sign); ok && len(rest) < maxText {
			return strings.Fields(rest), true
		}
	}
	return nil, false
}
