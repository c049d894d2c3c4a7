package phase

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-airlock/airlock/internal/lazyregexp"
	"github.com/agent-airlock/airlock/internal/toolreport"
)

// testsNamed returns how the tests of one name run in a root: the language's own test
// command with the option that selects tests. The name is an argument of the command, which no
// shell starts. For the shell that rake itself starts, it is quoted.
func (p *project) testsNamed(name string, in Input, r root) plan {
	planned := plan{check: Tests}
	switch {
	case in.SkipTests:
		planned.refuse = "the tests are left out by skip_tests"
		return planned
	case in.TestCommand != "":
		planned.refuse = fmt.Sprintf("'%s' replaces the language's tests, and how it selects one is not known: use a command instead of test:%s", in.TestCommand, name)
		return planned
	case strings.HasPrefix(name, "-"):
		planned.refuse = "the name of a test does not begin with '-'"
		return planned
	}
	own := p.commands(r)
	if own.err != nil {
		planned.refuse = "package.json cannot be read: " + own.err.Error()
		return planned
	}
	for _, c := range own.tests {
		selecting := selection(c.check, p.testScriptText(r), name)
		if selecting == nil {
			continue
		}
		line := c.check
		line.args = slices.Concat(c.check.args, selecting)
		if line.tool == "go test" { // flags stand before packages
			line.args = slices.Concat([]string{"go", "test"}, toolreport.Flags(line.tool), selecting, []string{"./..."})
		}
		line.line = shown(strings.Fields(c.check.line), selecting)
		planned.candidates = append(planned.candidates, candidate{check: line})
	}
	switch {
	case len(own.tests) == 0:
		planned.refuse = cmp.Or(own.lostTests, own.noTests, "package.json has no test script")
	case len(planned.candidates) == 0:
		planned.refuse = fmt.Sprintf("how '%s' selects a test is not known: use a command instead of test:%s", own.tests[0].check.line, name)
	}
	return planned
}

// testScriptText returns the test script of a root's package.json. The scripts that run before and
// after it precede it in the text, because scriptRunner takes the last command for the one that gets
// the arguments. The text is blank if there are no such scripts.
func (p *project) testScriptText(r root) string {
	if r.language.family() != JavaScript {
		return ""
	}
	m := p.manifest(r.dir)
	name := m.testScript()
	return strings.Join([]string{m.scripts["post"+name], m.scripts["pre"+name], m.scripts[name]}, "\n")
}

// selection returns the arguments by which a test command runs only the tests of one name, nil if
// they are not known. Some runners also run tests whose longer names contain the name.
func selection(c commandLine, script, name string) []string {
	switch c.tool {
	case "go test":
		var parts []string
		for part := range strings.SplitSeq(strings.ReplaceAll(name, " ", "_"), "/") {
			parts = append(parts, "^"+regexp.QuoteMeta(part)+"$")
		}
		return []string{"-run", strings.Join(parts, "/")}
	case "pytest":
		if isPytestNode(name) {
			return []string{pytestEscaped(name)}
		}
		return []string{"-rfEp", "-k", pytestKeywords(name)} // -rfEp prints the names of tests that passed, for namesPassed
	case "unittest":
		var patterns []string
		for _, pattern := range unittestPatterns(name) {
			patterns = append(patterns, "-k", pattern)
		}
		return patterns
	case "cargo test":
		return []string{"--", name}
	case "rspec":
		return []string{"-E", asWords(name)}
	case "minitest":
		return []string{"TESTOPTS=" + shown(nil, []string{"--name=" + name})} // rake puts it into a command of a shell
	case "maven":
		return []string{"-Dtest=" + strings.Join(mavenPatterns(name), ","), "-DfailIfNoTests=false", "-Dsurefire.failIfNoSpecifiedTests=false"} // as other modules have none
	case "gradle":
		if strings.Contains(name, "*") {
			return []string{"--tests", name}
		}
		return []string{"--tests", name, "--tests", "*." + name, "--tests", "*." + name + "[*]"} // the last are tests with parameters
	}
	var option []string
	switch scriptRunner(script) {
	case "jest", "vitest":
		option = []string{"-t", asWords(name)}
	case "mocha":
		option = []string{"-g", asWords(name)}
	case "node --test":
		option = []string{"--test-name-pattern=" + asWords(name)}
	default:
		return nil
	}
	if c.args[0] == "npm" {
		return append([]string{"--"}, option...)
	}
	return option
}

var (
	betweenCommands = lazyregexp.New(`&&|\|\||[;|&\n]`)
	// runnerCommand matches a command of a test runner. Nothing before the runner's name may be quoted.
	// A command of node's runner may not name files, because it takes no options after them.
	runnerCommand = lazyregexp.New("^[^'\"`()#]*?\\b(?:(jest|vitest|mocha)\\b|node(?: -\\S+)* --test(?: -\\S+)*$)")
	// runsCode matches commands that do not pass on their arguments as they are.
	runsCode = lazyregexp.New(`^(?:sh|bash|zsh|eval|echo|printf|true|exit|:)\b|(?:^|\s)#|\)$`)
	// mayTest matches commands that may run tests, too.
	mayTest = lazyregexp.New(`\b(?:jest|vitest|mocha|ava|tap|tape|jasmine|cypress|playwright|karma)\b|\b(?:node|npm|pnpm|yarn|bun|deno|make)\b.*(?:test|spec|unit|e2e)`)
)

// scriptRunner returns the test runner that gets the arguments of a script: its last command gets
// them. It returns "" if the last command is not one of a known runner, or if another command may
// run tests, too: the arguments would not select among those, and their results would count as the
// named test's.
func scriptRunner(script string) string {
	commands := betweenCommands.Split(script, -1)
	last := strings.TrimSpace(commands[len(commands)-1])
	m := runnerCommand.FindStringSubmatch(last)
	switch {
	case m == nil, runsCode.MatchString(last), slices.ContainsFunc(commands[:len(commands)-1], mayTest.MatchString):
		return ""
	case m[1] != "":
		return m[1]
	}
	return "node --test"
}

// asWords returns a regular expression for names that contain a name as entire words: "test_login"
// does not match "test_login_expired". The expression is valid in Go, JavaScript and Ruby, where \w
// matches only letters of ASCII: the ranges are those of other letters.
func asWords(name string) string {
	const other = `[^\wÀ-῿⺀-￿]`
	return `(^|` + other + `)` + regexp.QuoteMeta(name) + `(` + other + `|$)`
}

// isPytestNode reports whether a name is that of a file for pytest, or begins with it.
func isPytestNode(name string) bool {
	return strings.Contains(name, ".py::") || strings.HasSuffix(name, ".py")
}

// pytestKeywords returns the expression of pytest's option -k that selects the tests of a name, and
// others with longer names. A name that is an expression stays as it is.
func pytestKeywords(name string) string {
	function, _, _ := strings.Cut(name, "[") // the option does not read what stands for parameters
	parts := strings.FieldsFunc(function, func(r rune) bool { return strings.ContainsRune(":./", r) })
	if len(parts) == 0 || strings.ContainsAny(function, " ()") {
		return name
	}
	return strings.Join(parts, " and ")
}

// pytestEscaped writes the parameters in a name as pytest does, which escapes letters that are not
// of ASCII.
func pytestEscaped(name string) string {
	function, _, _ := strings.Cut(name, "[")
	var b strings.Builder
	for _, r := range name[len(function):] {
		switch {
		case r < 0x80:
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	return function + b.String()
}

// unittestPatterns returns the patterns of unittest's option -k that match the tests, classes and
// modules of a name. A pattern without a '*' would match a part of a name.
func unittestPatterns(name string) []string {
	literal := strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]").Replace(name)
	patterns := []string{"*." + literal, "*." + literal + ".*", literal + ".*"}
	if strings.Contains(name, ".") { // it may begin with the module
		patterns = append(patterns, "*"+literal)
	}
	return patterns
}

// mavenPatterns returns the patterns of Surefire that match the classes and tests of a name, also
// tests with parameters.
func mavenPatterns(name string) []string {
	if strings.ContainsAny(name, "#*?,!%[") { // a pattern of its own
		return []string{name}
	}
	patterns := []string{name, "*#" + name, "*#" + name + "[*]"}
	if i := strings.LastIndexByte(name, '.'); i > 0 {
		test := name[:i] + "#" + name[i+1:]
		patterns = append(patterns, test, test+"[*]")
	}
	return patterns
}

// shown writes a command as people would.
func shown(words, selecting []string) string {
	for _, w := range selecting {
		if strings.ContainsAny(w, " \t\n'\"$&|;<>(){}*?[]#~`\\") {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		words = append(words, w)
	}
	return strings.Join(words, " ")
}

var (
	// passedAny matches text that JavaScript's test runners, pytest and cargo print only if a test has
	// passed. If no test has the name, JavaScript's end with exit code 0, and count all tests as
	// skipped.
	passedAny = lazyregexp.New(`\b[1-9][0-9]* (?:passed|passing)\b|\bpass [1-9]`)
	// passedNames match the names of tests that passed, as runners print them that select tests by a
	// part of the name.
	passedNames = map[string]*lazyregexp.Regexp{
		"pytest":     lazyregexp.New(`(?m)^PASSED (.+)$`),
		"cargo test": lazyregexp.New(`(?m)^test (.+) \.\.\. ok$`),
	}
	// ranTotals match the totals of runners: how many tests there were, and how many of them were
	// skipped or failed as expected.
	ranTotals = map[string]*lazyregexp.Regexp{
		"unittest": lazyregexp.New(`(?m)^Ran (\d+) tests? in .*\s+OK(?: \((?:skipped=(\d+))?(?:, )?(?:expected failures=(\d+))?\))?$`),
		"rspec":    lazyregexp.New(`(?m)^(\d+) examples?, \d+ failures?(?:, (\d+) pending)?`),
		"minitest": lazyregexp.New(`(?m)^(\d+) (?:runs|tests), .* errors, (?:(\d+) skips|(\d+) pendings, (\d+) omissions)`),
		"maven":    lazyregexp.New(`Tests run: (\d+), Failures: \d+, Errors: \d+, Skipped: (\d+)`),
	}
	colour = lazyregexp.New(`\x1b\[[0-9;]*m`)
)

// isWords reports whether a runner that selects tests by a part of their names is given such a part,
// not an expression or a file.
func isWords(tool, name string) bool {
	function, _, _ := strings.Cut(name, "[")
	return !strings.ContainsAny(function, " \t()") && (tool != "pytest" || !isPytestNode(name))
}

// isNamed reports whether a test has a name, as entire words. Runners join the parts of a name in
// other ways than people do.
func isNamed(test, name string) bool {
	joined := strings.NewReplacer(".py::", ".", "::", ".", "/", ".")
	test = joined.Replace(test)
	inFile := strings.Replace(test, " ", ".", 1) // a report in a file has a blank after the class
	return slices.ContainsFunc([]string{name, pytestEscaped(name)}, func(name string) bool {
		named := regexp.MustCompile(asWords(joined.Replace(name)))
		return named.MatchString(test) || named.MatchString(inFile)
	})
}

// namesPassed reports whether one of the tests that a runner has printed as passed has a name, as
// isNamed decides.
func namesPassed(tool, printed, name string) bool {
	return slices.ContainsFunc(passedNames[tool].FindAllStringSubmatch(printed, -1), func(m []string) bool { return isNamed(m[1], name) })
}

// onlyOthersFailed reports whether the tests of one name passed in a run that failed, because only
// tests with longer names failed.
func (w *run) onlyOthersFailed(name string) bool {
	result, tests, tool := w.last.result, w.last.report.Tests, w.chosen.check.tool
	if passedNames[tool] == nil || !isWords(tool, name) || !tests.Known || tests.Failed != len(tests.Failing) ||
		slices.ContainsFunc(tests.Failing, func(f toolreport.Failure) bool {
			return f.Name == "" || f.Cause != toolreport.Failed || isNamed(f.Name, name)
		}) {
		return false
	}
	printed := colour.ReplaceAllString(result.Stdout.String()+"\n"+result.Stderr.String(), "")
	endedEarly := strings.Contains(printed, "stopping after ") // pytest, with the option -x
	return len(tests.Failing) > 0 && !endedEarly && toolreport.FindsWith(tool, result.ExitCode) && namesPassed(tool, printed, name)
}

// selectedNone reports whether a run of the tests of one name, which passed, has run none of them.
func (w *run) selectedNone(name string) bool {
	result, tool := w.last.result, w.chosen.check.tool
	printed := colour.ReplaceAllString(result.Stdout.String()+"\n"+result.Stderr.String(), "")
	isCut := result.Stdout.Truncated() || result.Stderr.Truncated() // the name may be in the part that was cut
	switch tool {
	case "go test":
		return !isCut && !goTestPassed(printed, name)
	case "pytest", "cargo test":
		if !isWords(tool, name) {
			return !passedAny.MatchString(printed)
		}
		return !isCut && !namesPassed(tool, printed, name)
	}
	if totals, ok := ranTotals[tool]; ok {
		matches := totals.FindAllStringSubmatch(printed, -1)
		if tool == "maven" && len(matches) == 0 { // it may be quiet; then its reports count
			return !w.last.report.Tests.Known
		}
		return len(matches) > 0 && !slices.ContainsFunc(matches, func(m []string) bool {
			ran, _ := strconv.Atoi(m[1])
			for _, n := range m[2:] {
				skipped, _ := strconv.Atoi(n) // "" is none
				ran -= skipped
			}
			return ran > 0
		})
	}
	return w.root.language.family() == JavaScript && !passedAny.MatchString(printed)
}

// goTestPassed reports whether the events of go test show that a test passed. If no subtest has the
// name, go test runs the test around it, which passes although no subtest has run.
func goTestPassed(printed, name string) bool {
	quoted, err := json.Marshal(strings.ReplaceAll(name, " ", "_"))
	return err == nil && regexp.MustCompile(`"Action":"pass","Package":"[^"]*","Test":`+regexp.QuoteMeta(string(quoted))+`[,}]`).MatchString(printed)
}
