package checkreport

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/lazyregexp"
	"github.com/agent-airlock/airlock/internal/pages"
	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/text"
)

// SafeText makes strangers' texts safe to show. Both functions are required.
type SafeText struct {
	// Line is for a text of one line: no control character, no live mention, no secret.
	Line func(string) string
	// Code is for many lines of code or of a program's output, which are shown as they are:
	// no control character, no secret.
	Code func(string) string
}

// cutLine returns at most n characters of a text as Line shows it. It masks before it cuts, so that
// secrets are recognised even in what Document.Mask leaves out, such as paths.
func (s SafeText) cutLine(t string, n int) string { return text.Truncate(s.Line(t), n) }

// textsOf returns the results of f for the entries of a list.
func textsOf[T any](list []T, f func(T) string) []string {
	out := make([]string, len(list))
	for i, entry := range list {
		out[i] = f(entry)
	}
	return out
}

// head returns the first entries of a list, at most limit, and how many are left.
func head[T any](list []T, limit int) (first []T, left int) {
	n := min(len(list), limit)
	return list[:n], len(list) - n
}

// firstTexts returns the results of f for the first entries of a list, at most limit, and
// "N more" for those that are left.
func firstTexts[T any](list []T, limit int, f func(T) string) []string {
	first, left := head(list, limit)
	texts := textsOf(first, f)
	if left > 0 {
		texts = append(texts, fmt.Sprintf("%d more", left))
	}
	return texts
}

// Failures returns a line for each check that failed and blocks: its name and its first
// problem, with how many more there are.
func (d *Document) Failures(show SafeText) []string {
	var lines []string
	for _, r := range d.rows() {
		if r.status != phase.Fail || r.informational {
			continue
		}
		line := string(r.check)
		if len(r.problems) > 0 {
			line += ": " + show.Line(r.problems[0])
		}
		if more := len(r.problems) + r.unlisted - 1; more > 0 {
			line += fmt.Sprintf(" (and %d more)", more)
		}
		lines = append(lines, line)
	}
	return lines
}

// Headline describes in one line how the checks ended and, if they did not fail, which languages of
// changed files none of them knows.
func (d *Document) Headline() string {
	ended := d.ended()
	unknown := d.unknown()
	if d.Failed() || len(unknown) == 0 {
		return ended
	}
	return fmt.Sprintf("%s; none knows the language of %s (%s)", ended, text.Count(len(unknown), "changed file"), strings.Join(languages(unknown), ", "))
}

// unknown returns the changed files in languages that none of the checks knows.
func (d *Document) unknown() (files []Skipped) {
	for _, s := range d.Skipped {
		if s.Language != "" {
			files = append(files, s)
		}
	}
	return files
}

// languages returns the languages of files, each once: of many, the first few.
func languages(files []Skipped) []string {
	const most = 4
	names := textsOf(files, func(s Skipped) string {
		if !languageName.MatchString(s.Language) { // the document may be forged
			return "another"
		}
		return s.Language
	})
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) > most {
		names = append(names[:most], "and others")
	}
	return names
}

// languageName matches names of languages. What it matches means nothing special in Markdown.
var languageName = lazyregexp.New(`^[A-Za-z][A-Za-z +#-]{0,30}$`)

// ended describes in one line how the checks ended, whatever they looked at.
func (d *Document) ended() string {
	var blocking, informing []phase.Check
	skipped := 0
	notRun := map[phase.NotRun]int{}
	for _, r := range d.rows() {
		switch {
		case r.status == phase.Skipped:
			skipped++
		case r.notRun != "":
			notRun[r.notRun]++
		case r.status == phase.Fail && r.informational:
			informing = append(informing, r.check)
		case r.status == phase.Fail:
			blocking = append(blocking, r.check)
		}
	}
	switch {
	case len(blocking) > 0:
		return fmt.Sprintf("%d of 6 checks failed: %s", len(blocking), checkNames(blocking))
	case d.Failed():
		return "the checks failed"
	case len(informing) > 0:
		inform := "informs"
		if len(informing) > 1 {
			inform = "inform"
		}
		return "the checks passed, except for " + checkNames(informing) + ", which only " + inform
	case skipped > 0 || len(notRun) > 0:
		passed := 6 - skipped
		others := ""
		for _, why := range []phase.NotRun{phase.NotConfigured, phase.NotAsked} {
			if n := notRun[why]; n > 0 {
				passed, others = passed-n, others+fmt.Sprintf(", %d %s", n, why)
			}
		}
		if skipped > 0 {
			others += fmt.Sprintf(", %d skipped", skipped)
		}
		return text.Count(passed, "check") + " passed" + others
	}
	return "all 6 checks passed"
}

// row is the result of one of the six checks over all roots, for people.
type row struct {
	check         phase.Check
	status        phase.Status
	notRun        phase.NotRun // why it passes although nothing has run in any root; "" otherwise
	informational bool
	flaky         bool
	time          time.Duration
	retries       int
	command       string
	problems      []string
	unlisted      int              // how many problems the list leaves out
	failing       int              // failing tests
	severity      finding.Severity // of a review
	notes         []string
}

// outputRows returns the six checks with the members of the output alone.
func (d *Document) outputRows() []row {
	o := d.Output.Checks
	return []row{
		{check: phase.Formatter, status: o.Formatter.Status, time: millis(o.Formatter.Time), retries: o.Formatter.Retries, command: o.Formatter.Command, problems: o.Formatter.Issues},
		{check: phase.Linter, status: o.Linter.Status, time: millis(o.Linter.Time), retries: o.Linter.Retries, command: o.Linter.Command, problems: o.Linter.Issues},
		{check: phase.Build, status: o.Build.Status, time: millis(o.Build.Time), retries: o.Build.Retries, command: o.Build.Command, problems: o.Build.Errors},
		{check: phase.Tests, status: o.Tests.Status, time: millis(o.Tests.Time), retries: o.Tests.Retries, command: o.Tests.Command, failing: o.Tests.Failing},
		{check: phase.CodeReview, status: o.CodeReview.Status, time: millis(o.CodeReview.Time), problems: o.CodeReview.Findings, severity: o.CodeReview.Severity},
		{check: phase.SecurityReview, status: o.SecurityReview.Status, time: millis(o.SecurityReview.Time), problems: o.SecurityReview.Vulnerabilities, severity: o.SecurityReview.Severity},
	}
}

// rows returns the six checks with what the document says of them in each root.
func (d *Document) rows() []row {
	rows := d.outputRows()
	for i := range rows {
		r := &rows[i]
		ran := false
		for _, c := range d.Checks {
			if c.Check != r.check {
				continue
			}
			ran = ran || c.NotRun == ""
			if r.status == phase.Pass {
				r.notRun = c.NotRun
			}
			r.informational, r.flaky = r.informational || c.Informational, r.flaky || c.Flaky
			for _, n := range c.Notes {
				r.notes = append(r.notes, inRoot(c.Root, n))
			}
			if note := c.rewrittenNote(); note != "" {
				r.notes = append(r.notes, inRoot(c.Root, note))
			}
			if c.Check == phase.Tests && c.Status == phase.Fail {
				r.problems = append(r.problems, testProblems(c)...)
			}
		}
		if ran {
			r.notRun = ""
		}
		r.problems, r.unlisted = withoutLeftOut(r.problems)
	}
	return rows
}

// failedRows returns the checks that failed, the most severe first.
func (d *Document) failedRows() []row {
	rows := slices.DeleteFunc(d.rows(), func(r row) bool { return r.status != phase.Fail })
	slices.SortStableFunc(rows, func(a, b row) int { return b.sortSeverity().Rank() - a.sortSeverity().Rank() })
	return rows
}

// sortSeverity returns the severity by which failed checks are sorted: a review's own, otherwise
// what a failure of the check usually means. A check that only informs is low.
func (r row) sortSeverity() finding.Severity {
	switch {
	case r.informational:
		return finding.Low
	case r.severity.Rank() > 0:
		return r.severity
	case r.check == phase.Build, r.check == phase.Tests:
		return finding.High
	}
	return finding.Medium
}

// withoutLeftOut returns a list without the entry that says how many problems were left out of it,
// and that number.
func withoutLeftOut(list []string) (problems []string, unlisted int) {
	for _, p := range list {
		if n, ok := phase.LeftOut(p); ok {
			unlisted += n
			continue
		}
		problems = append(problems, p)
	}
	return problems, unlisted
}

// blocking returns the blocking findings of a check.
func (d *Document) blocking(check phase.Check) []Finding {
	return slices.DeleteFunc(slices.Clone(d.Findings), func(f Finding) bool { return !f.Blocking || f.Check != check })
}

// beyondFindings divides the problems of a failed check that has findings: it returns those that
// describe none of them, such as that a reviewer did not work, and how many problems are neither
// listed nor findings. Of the tests it returns none, because their problems are the failed tests.
// The problems of the formatter are files, which may have several findings.
func (d *Document) beyondFindings(r row) (problems []string, unlisted int) {
	findings := d.blocking(r.check)
	left := len(r.problems) + r.unlisted - len(findings)
	if r.check == phase.Tests || left == 0 && r.check != phase.Formatter {
		return nil, 0
	}
	described := map[string]bool{} // without the places, which differ where a finding was moved to Head
	for _, f := range findings {
		described[phase.Describe(finding.Finding{Rule: f.Rule, Message: f.Message})] = true
	}
	problems = slices.DeleteFunc(slices.Clone(r.problems), func(problem string) bool {
		if described[problem] || phase.Unformatted(problem) {
			return true
		}
		for i := range problem {
			if strings.HasPrefix(problem[i:], " at ") && described[problem[:i]] {
				return true
			}
		}
		return false
	})
	return problems, max(left-len(problems), 0)
}

// rewrittenNote lists the files that a fix or the command itself has changed, so that nobody
// commits by accident what they did not write. It is "" if there are none, or if the check failed
// because of them.
func (c Check) rewrittenNote() string {
	const most = 10
	writer := "the fix"
	switch {
	case len(c.Rewritten) == 0:
		return ""
	case c.Retries == 0 && c.Status == phase.Pass:
		writer = "the command" // which writes as it checks
	case c.Retries == 0: // it failed because of these files
		return ""
	}
	first, more := head(c.Rewritten, most)
	note := writer + " has changed " + strings.Join(first, ", ")
	if more > 0 {
		note += fmt.Sprintf(" and %d more", more)
	}
	return note
}

// testProblems lists the failed tests. If no test failed, or the command timed out, it also
// says how the command ended.
func testProblems(c Check) []string {
	var problems []string
	for _, f := range c.Failures {
		problem := cmp.Or(strings.TrimSpace(f.Name), f.Unit)
		if f.Path != "" && f.Line > 0 {
			problem += fmt.Sprintf(" at %s:%d", f.Path, f.Line)
		}
		if first, _, _ := strings.Cut(strings.TrimSpace(f.Message), "\n"); first != "" {
			problem = strings.TrimPrefix(problem+": "+first, ": ")
		}
		problems = append(problems, inRoot(c.Root, cmp.Or(problem, "a test failed")))
	}
	if len(problems) > 0 && !c.TimedOut {
		return problems
	}
	for _, p := range c.Problems {
		problems = append(problems, inRoot(c.Root, p))
	}
	return problems
}

// inRoot puts the root in front of a text, unless the root is the working directory itself.
func inRoot(root, text string) string {
	if root == "." || root == "" {
		return text
	}
	return root + ": " + text
}

// result describes in a word or two how a check ended.
func (r row) result() string {
	switch {
	case r.status == phase.Skipped:
		return "skipped"
	case r.notRun != "":
		return string(r.notRun)
	case r.status == phase.Pass && r.flaky:
		return "flaky"
	case r.status == phase.Pass:
		return "pass"
	case r.check == phase.Tests && r.failing > 0:
		return text.Count(r.failing, "failure")
	case r.check != phase.Formatter && len(r.problems) > 0:
		return text.Count(len(r.problems)+r.unlisted, "problem")
	}
	return "fail"
}

// level returns the level at which pages show a check's result.
func (r row) level() pages.Level {
	switch {
	case r.status == phase.Skipped, r.notRun != "":
		return pages.Idle
	case r.status == phase.Pass && r.flaky, r.status == phase.Fail && r.informational:
		return pages.Warn
	case r.status == phase.Pass:
		return pages.OK
	}
	return pages.Bad
}

// checkName returns a check's name for people.
func checkName(c phase.Check) string { return strings.ReplaceAll(string(c), "_", " ") }

func checkNames(checks []phase.Check) string {
	return strings.Join(textsOf(checks, checkName), ", ")
}

func millis(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// duration returns a time for people: "0.4 s", "12 s", "3 min 5 s".
func duration(d time.Duration) string {
	switch {
	case d < 50*time.Millisecond:
		return "0.0 s"
	case d.Round(time.Second/10) < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	d = d.Round(time.Second)
	if d < time.Minute {
		return fmt.Sprintf("%d s", d/time.Second)
	}
	return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
}

// place returns where a finding is, "" if it names no file.
func (f Finding) place() string {
	switch {
	case f.Path == "" || f.StartLine == 0:
		return f.Path
	case f.EndLine > f.StartLine:
		return fmt.Sprintf("%s:%d-%d", f.Path, f.StartLine, f.EndLine)
	}
	return fmt.Sprintf("%s:%d", f.Path, f.StartLine)
}

// alternative describes what an owner without the tool can do.
func (m MissingTool) alternative() string {
	check, ok := strings.CutSuffix(m.Override, "_command")
	if !ok { // of a reviewer that plugs in
		return "change " + m.Override + " in the configuration"
	}
	return fmt.Sprintf("name another command by %s-command under checks in the configuration, or by the flag --%[1]s-command", check)
}

// Output is what a failed check printed: the part where the failure begins, and the end.
type Output struct{ Title, Text string }

// Outputs returns what the failed checks printed, safe to show.
func (d *Document) Outputs(safe SafeText) []Output {
	var out []Output
	for _, c := range d.Checks {
		if printed := strings.TrimSpace(c.output()); c.Status == phase.Fail && printed != "" {
			title := checkName(c.Check) + ": output of " + safe.Line(text.Truncate(c.Command, 120))
			out = append(out, Output{inRoot(safe.Line(c.Root), title), safe.Code(text.Truncate(printed, maxExcerpt))})
		}
	}
	return out
}

// output returns the part of a check's output that people can read. JSON is for programs:
// if it was understood, the messages of the failures replace it.
func (c Check) output() string {
	printed := strings.TrimSpace(c.Excerpt)
	if len(c.Problems) == 0 {
		return printed
	}
	var b strings.Builder
	if strings.HasPrefix(printed, "{") || strings.HasPrefix(printed, "[") {
		for _, f := range c.Failures {
			if message := strings.Trim(f.Message, "\n"); message != "" {
				b.WriteString("--- " + strings.TrimSpace(f.Unit+" "+f.Name) + "\n" + message + "\n")
			}
		}
		return b.String()
	}
	for line := range strings.Lines(printed) {
		if !strings.HasPrefix(line, `[{"`) { // a linter's list, after what npx prints about itself
			b.WriteString(line)
		}
	}
	return strings.TrimSpace(b.String())
}
