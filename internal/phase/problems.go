package phase

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/text"
	"github.com/agent-airlock/airlock/internal/toolreport"
)

// maxProblems bounds how many problems of a check the output lists.
const maxProblems = 200

// list describes the first maxProblems findings and reports how many more there are.
func list(findings []finding.Finding) []string {
	var problems []string
	for i, f := range findings {
		if i == maxProblems {
			return append(problems, fmt.Sprintf(leftOut, len(findings)-i))
		}
		problems = append(problems, Describe(f))
	}
	return problems
}

// leftOut is the format of the last entry of a list that leaves out problems.
const leftOut = "and %d more"

// LeftOut reads an entry of the output's problems. If the entry says how many problems were left
// out, LeftOut returns their number. Otherwise, ok is false.
func LeftOut(problem string) (n int, ok bool) {
	if _, err := fmt.Sscanf(problem, leftOut, &n); err != nil || n < 1 {
		return 0, false
	}
	return n, problem == fmt.Sprintf(leftOut, n)
}

// Describe describes a finding as the spec's examples do, on one line, with its place at
// the end. It is the finding's entry in the output's problems.
func Describe(f finding.Finding) string {
	problem := text.OneLine(f.Message)
	if !strings.HasSuffix(problem, "..") { // an ellipsis stays
		problem = strings.TrimSuffix(problem, ".")
	}
	if f.Rule != "" {
		problem += " [" + f.Rule + "]"
	}
	switch {
	case f.Path == "":
	case f.Range.StartLine > 0:
		problem += fmt.Sprintf(" at %s:%d", f.Path, f.Range.StartLine)
	default:
		problem += " at " + f.Path
	}
	return problem
}

// unformatted and stillUnformatted are the formats of the problem that a file is not formatted.
const (
	unformatted      = "File %s has formatting issues"
	stillUnformatted = "File %s still has formatting issues after %d retries"
)

// Unformatted reports whether an entry of the output's problems is that a file is not formatted.
func Unformatted(problem string) bool {
	rest, ok := strings.CutPrefix(problem, "File ")
	return ok && (strings.HasSuffix(rest, " has formatting issues") || strings.Contains(rest, " still has formatting issues after "))
}

// maxGist is how many lines of an excerpt a problem repeats at most.
const maxGist = 4

// summarise returns the first lines of an excerpt that contain words, for output without
// findings. What a package manager prints about its own work is used only if there is
// nothing else.
func summarise(excerpt string) string {
	lines, chatter := splitChatter(excerpt)
	if len(lines) == 0 {
		lines = chatter
	}
	return joinGist(lines[:min(len(lines), maxGist)])
}

// summariseEnd returns the last lines of an excerpt that contain words, for tests whose totals are
// not known: at the end of its output, after the names of tests that passed, a runner prints why it
// failed.
func summariseEnd(excerpt string) string {
	lines, _ := splitChatter(excerpt)
	if len(lines) == 0 {
		return summarise(excerpt)
	}
	return joinGist(lines[max(0, len(lines)-maxGist):])
}

// joinGist returns lines as the end of a problem, after a colon; "" for none.
func joinGist(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return ": " + strings.Join(lines, " / ")
}

// splitChatter returns the lines of an excerpt that contain words: as chatter those of which
// isChatter is true, and as lines all others.
func splitChatter(excerpt string) (lines, chatter []string) {
	for line := range strings.SplitSeq(excerpt, "\n") {
		line = strings.Trim(strings.Join(strings.Fields(line), " "), "= ")
		switch {
		case !strings.ContainsFunc(line, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }):
		case isChatter(line):
			chatter = append(chatter, line)
		default:
			lines = append(lines, line)
		}
	}
	return lines, chatter
}

// isChatter reports whether a line does not say what the problem is. Such a line is about downloads
// or progress, or is the report of a package manager or of make that a program failed, or a line of
// Maven's [ERROR] without a message or with general advice.
func isChatter(line string) bool {
	starts := []string{
		"npm warn", "npm notice", "npm WARN", "Downloading ", "Downloaded ", "Progress ", "[INFO]", "[WARNING]",
		"npm ERR!", "npm error", "ELIFECYCLE", "ERR_PNPM_RECURSIVE_RUN", "error Command failed with exit code", "info Visit https://yarnpkg.com", "make: ***",
		"error: script \"", "ERROR: \"", "Exit status ", "[ERROR] -> [Help", "[ERROR] Re-run", "[ERROR] To see the full", "[ERROR] For more information",
	}
	return slices.ContainsFunc(starts, func(start string) bool { return strings.HasPrefix(line, start) }) ||
		line == "[ERROR]" || strings.HasPrefix(line, "make[") && strings.Contains(line, "]: ***")
}

// flakyNote names what failed and then passed: the tests, if they are known.
func flakyNote(failures []toolreport.Failure) string {
	const maxNames = 5
	if len(failures) == 0 {
		return "flaky: it failed, and passed when it was repeated unchanged"
	}
	var names []string
	for _, f := range failures[:min(len(failures), maxNames)] {
		name := text.OneLine(cmp.Or(f.Name, f.Unit))
		if f.Path != "" && f.Line > 0 {
			name += fmt.Sprintf(" (%s:%d)", f.Path, f.Line)
		}
		names = append(names, name)
	}
	if more := len(failures) - maxNames; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return "flaky: " + strings.Join(names, ", ") + " failed, and passed when it was repeated unchanged"
}

// missingProblem explains to people which tool is missing and what to do.
func missingProblem(m MissingTool) string {
	return fmt.Sprintf("The tool '%s' is missing, which '%s' needs: install it, use the image that contains the toolchains, or set %s to another command", m.Tool, m.Command, m.Override)
}
