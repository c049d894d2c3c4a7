package phase

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/toolreport"
)

// describe words a finding as the spec's examples do, on one line, with its
// place at the end.
func describe(f finding.Finding) string {
	text := strings.Join(strings.Fields(f.Message), " ")
	if !strings.HasSuffix(text, "..") { // the sentence goes on with its place
		text = strings.TrimSuffix(text, ".")
	}
	if f.Rule != "" {
		text += " [" + f.Rule + "]"
	}
	switch {
	case f.Path == "":
	case f.Range.StartLine > 0:
		text += fmt.Sprintf(" at %s:%d", f.Path, f.Range.StartLine)
	default:
		text += " at " + f.Path
	}
	return text
}

// maxProblems bounds how many problems of a check the output names.
const maxProblems = 200

// list words findings, and says how many it leaves out.
func list(findings []finding.Finding) []string {
	var said []string
	for i, f := range findings {
		if i == maxProblems {
			return append(said, fmt.Sprintf(leftOut, len(findings)-i))
		}
		said = append(said, describe(f))
	}
	return said
}

// leftOut says in the output how many problems it does not name.
const leftOut = "and %d more"

// LeftOut returns how many problems a text of the output stands for, where it stands
// for those that the output does not name.
func LeftOut(text string) (n int, ok bool) {
	if _, err := fmt.Sscanf(text, leftOut, &n); err != nil || n < 1 {
		return 0, false
	}
	return n, text == fmt.Sprintf(leftOut, n)
}

// lacking says for people which tool is missing and what to do.
func lacking(m MissingTool) string {
	return fmt.Sprintf("The tool '%s' is missing, which '%s' needs: install it, use the image that holds the toolchains, or set %s to another command", m.Tool, m.Command, m.Override)
}

// ended says how a run ended that did not pass.
func ended(c commandLine, a attempt, limit fmt.Stringer) string {
	switch {
	case a.fault != "":
		return fmt.Sprintf("'%s' could not be run: %s", c.line, a.fault)
	case a.result.TimedOut:
		return fmt.Sprintf("'%s' was ended after %s, the time limit of a command; raise time-limit if it needs longer", c.line, limit)
	case a.result.Signal != "":
		return fmt.Sprintf("'%s' was ended by a signal: %s", c.line, a.result.Signal)
	case a.result.ExitCode == 0:
		return fmt.Sprintf("'%s' printed something, which means failure", c.line)
	}
	return fmt.Sprintf("'%s' ended with exit code %d", c.line, a.result.ExitCode)
}

// maxGist is how many lines a gist holds.
const maxGist = 4

// gist is the first lines of an excerpt that say something, for output that tells no
// findings. What a package manager says of its own work comes in only where there is
// nothing else.
func gist(excerpt string) string {
	var told, chatter []string
	for line := range strings.SplitSeq(excerpt, "\n") {
		line = strings.Trim(strings.Join(strings.Fields(line), " "), "= ")
		switch {
		case !strings.ContainsFunc(line, isWord):
		case chatters(line):
			chatter = append(chatter, line)
		default:
			told = append(told, line)
		}
	}
	if len(told) == 0 {
		told = chatter
	}
	if len(told) == 0 {
		return ""
	}
	return ": " + strings.Join(told[:min(len(told), maxGist)], " / ")
}

// isWord reports whether a character is of a word, not of a rule or of a mark below code.
func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// chatters reports whether a line is about fetching and progress, or a mark of Maven's
// without a word behind it.
func chatters(line string) bool {
	for _, start := range []string{"npm warn", "npm notice", "npm WARN", "Downloading ", "Downloaded ", "Progress ", "[INFO]", "[WARNING]"} {
		if strings.HasPrefix(line, start) {
			return true
		}
	}
	return line == "[ERROR]"
}

// flaky says what failed and passed when it was repeated: the tests by name, as far as
// they are known.
func flaky(failures []toolreport.Failure) string {
	const most = 5
	var names []string
	for _, f := range failures[:min(len(failures), most)] {
		name := strings.Join(strings.Fields(cmp.Or(f.Name, f.Unit)), " ")
		if f.Path != "" && f.Line > 0 {
			name += fmt.Sprintf(" (%s:%d)", f.Path, f.Line)
		}
		names = append(names, name)
	}
	if more := len(failures) - most; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	if len(names) == 0 {
		names = []string{"it"}
	}
	return "flaky: " + strings.Join(names, ", ") + " failed, and passed when it was repeated unchanged"
}
