package toolreport

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// nameIn reports whether a command's words name the row's tool, in any of the
// commands that a shell would make of them.
func nameIn(r row, words []string) bool {
	if len(r.words) == 0 {
		return false
	}
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

// caller returns what findings are called after whose tool does not say its name.
func caller(t Tool) string {
	if name := cmp.Or(t.Called, t.Name); name != "" {
		return name
	}
	if all := commands(t.Command); len(all) > 0 {
		return clip(all[0][0], maxName)
	}
	return "unknown"
}

// commands splits words into simple commands, each without what only starts it:
// variables, and runners such as npx or bundle exec. Options are left out.
func commands(words []string) [][]string {
	var all [][]string
	for _, words := range simple(words) {
		if c := program(words); len(c) > 0 {
			all = append(all, c)
		}
	}
	return all
}

// simple splits words into simple commands, at what a shell splits them.
func simple(words []string) [][]string {
	var all [][]string
	var now []string
	flush := func() {
		if len(now) > 0 {
			all = append(all, now)
		}
		now = nil
	}
	split := strings.NewReplacer("&&", " ; ", "||", " ; ", "|", " ; ", ";", " ; ", "(", " ; ", ")", " ; ", "\n", " ; ", "'", " ", `"`, " ")
	for _, w := range words {
		for word := range strings.FieldsSeq(split.Replace(clip(w, maxText))) {
			if word == ";" || word == "&" {
				flush()
			} else if len(now) < 1000 {
				now = append(now, word)
			}
		}
	}
	flush()
	return all
}

// foreign returns those of the words' simple commands that may fail by themselves:
// no words of the shell, and no runners that say which command they run. strange
// reports whether one of them is no tool that is known.
func foreign(words []string) (programs int, strange bool) {
	for _, c := range simple(words) {
		if slices.Contains([]string{"cd", "echo", "printf", "export", "set", "true", ":", "exit", "npm-run-all", "run-s", "run-p"}, c[0]) || runsScript(c) {
			continue
		}
		programs++
		strange = strange || !slices.ContainsFunc(rows(), func(r row) bool { return nameIn(r, c) })
	}
	return programs, strange
}

// runsScript reports whether a command runs a script of package.json, which then
// is echoed.
func runsScript(words []string) bool {
	has := func(any ...string) bool {
		return slices.ContainsFunc(words[1:], func(w string) bool { return slices.Contains(any, w) })
	}
	switch words[0] {
	case "npm":
		return has("run", "run-script", "test", "t", "start")
	case "pnpm", "yarn", "bun":
		return !has("exec", "dlx", "x")
	}
	return false
}

// program takes off what only starts a program.
func program(words []string) []string {
	starters := []string{"sudo", "env", "time", "nice", "exec", "npx", "bunx", "pnpx", "xvfb-run", "cross-env", "run", "sh", "bash", "-c"}
	for len(words) > 0 {
		first := strings.TrimSuffix(strings.TrimSuffix(path.Base(slashed(words[0])), ".exe"), ".cmd")
		second := ""
		if len(words) > 1 {
			second = words[1]
		}
		isPython := first == "py" || strings.HasPrefix(first, "python")
		switch {
		case slices.Contains(starters, first), strings.Contains(words[0], "=") && !strings.HasPrefix(words[0], "-"), strings.HasPrefix(words[0], "-"):
			words = words[1:]
		case slices.Contains([]string{"bundle", "poetry", "pipenv", "uv", "hatch", "pdm", "rye"}, first) && (second == "exec" || second == "run"),
			slices.Contains([]string{"yarn", "pnpm", "npm", "bun"}, first) && (second == "exec" || second == "dlx" || second == "x"),
			isPython && second == "-m", first == "go" && second == "tool":
			words = words[2:]
		case slices.Contains([]string{"yarn", "pnpm", "bun"}, first) && second != "" && second != "run" && second != "test":
			words = words[1:]
		case (first == "node" || first == "ruby" || isPython) && second != "" && !strings.HasPrefix(second, "-") && !strings.Contains(path.Base(second), "."):
			words = words[1:]
		default:
			rest := slices.DeleteFunc(slices.Clone(words[1:]), func(w string) bool { return strings.HasPrefix(w, "-") && w != "--test" && w != "-jar" })
			return append([]string{first}, rest...)
		}
	}
	return nil
}

// echo returns the words of a command that a script runner prints before it
// runs it: "> eslint ." of npm and pnpm, "$ eslint ." of yarn and others.
func echo(line string) ([]string, bool) {
	for _, sign := range []string{"> ", "$ ", "+ "} {
		if rest, ok := strings.CutPrefix(line, sign); ok && len(rest) < maxText {
			return strings.Fields(rest), true
		}
	}
	return nil, false
}
