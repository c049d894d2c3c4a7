package checkreport

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/markdown"
	"github.com/agent-airlock/airlock/internal/pages"
	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/text"
)

// Limits of the lists in a text for people. The document contains everything.
const (
	maxFirst   = 3       // first failures in the table
	maxListed  = 30      // problems of one check
	maxRows    = 100     // of any other list
	maxCell    = 200     // characters of one failure in the table
	maxExcerpt = 8 << 10 // characters
	maxComment = 30_000  // UTF-16 units
)

// Summary returns the job summary: a table of how the six checks ended, then what
// failed, then what else there is to know, at most limit bytes.
func (d *Document) Summary(safe SafeText, limit int) string {
	p := &page{d: d, safe: safe}
	p.heading("##")
	p.table()
	p.failures()
	p.missing()
	p.notes()
	p.old()
	p.suppressed()
	p.newSuppressions()
	p.skipped()
	// Cut counts UTF-16 units, each of which is at most three bytes.
	out, _ := markdown.Cut(p.b.String(), limit/3, "*The rest was cut: a job summary is limited in size. The findings document contains everything.*")
	return out
}

// page writes Markdown.
type page struct {
	d    *Document
	safe SafeText
	b    strings.Builder
}

func (p *page) printf(format string, args ...any) { fmt.Fprintf(&p.b, format, args...) }

// text returns a stranger's text as Markdown that shows it.
func (p *page) text(s string) string { return markdown.EscapeText(p.safe.Line(s)) }

func (p *page) heading(level string) {
	icon := "✅"
	if p.d.Failed() {
		icon = "❌"
	}
	p.printf("%s %s Airlock checks: %s\n\n", level, icon, p.d.Headline())
	if len(p.d.Head) >= 7 {
		p.printf("Checked commit %s in %s.\n\n", markdown.CodeSpan(p.d.Head[:7]), duration(millis(p.d.Output.Time)))
	}
	if p.d.Output.Critical {
		p.b.WriteString("**The security review found a critical vulnerability.**\n\n")
	}
}

// icon marks how a check ended. The next column says it in words.
func (r row) icon() string {
	return map[pages.Level]string{pages.Idle: "⏭️", pages.Warn: "⚠️", pages.OK: "✅", pages.Bad: "❌"}[r.level()]
}

// table writes the six checks, each with its first failures.
func (p *page) table() {
	var rows [][]string
	for _, r := range p.d.rows() {
		rows = append(rows, []string{r.icon() + " " + checkName(r.check), r.graded(), duration(r.time), fmt.Sprint(r.retries), p.first(r)})
	}
	p.b.WriteString(markdown.Table([]string{"Check", "Result", "Time", "Retries", "First failures"}, rows))
}

// graded returns the row's result with the highest severity of a review's findings, and says if a
// check that failed only informs.
func (r row) graded() string {
	result := r.result()
	if r.severity.Rank() > 0 {
		upTo := ", up to "
		if len(r.problems)+r.unlisted == 1 {
			upTo = ", "
		}
		result += upTo + string(r.severity)
	}
	if r.informational && r.status == phase.Fail {
		result += " (only informs)"
	}
	return result
}

// first returns, as a cell, the first failures of a check or, if it did not fail, why it did not run
// or is flaky.
func (p *page) first(r row) string {
	list, unlisted := r.problems, r.unlisted
	if r.status != phase.Fail {
		list, unlisted = nil, 0
		if r.status == phase.Skipped || r.flaky || r.notRun != "" {
			list = r.notes
		}
	}
	shown, left := head(list, maxFirst)
	lines := textsOf(shown, func(s string) string { return p.text(text.Truncate(s, maxCell)) })
	if more := left + unlisted; more > 0 {
		lines = append(lines, fmt.Sprintf("… and %d more", more))
	}
	return strings.Join(lines, "<br>")
}

// failures writes the checks that failed, the most severe first.
func (p *page) failures() {
	for _, r := range p.d.failedRows() {
		p.failure(r, r.problems)
	}
}

// failure writes a check that failed: its command, problems, and the part of the output where the
// failure begins.
func (p *page) failure(r row, problems []string) {
	p.printf("\n### %s: %s\n\n", checkName(r.check), r.result())
	if r.command != "" {
		p.b.WriteString(markdown.CodeSpan(p.safe.Code(text.Truncate(r.command, 500))) + "\n\n")
	}
	listed, left := head(problems, maxListed)
	for _, t := range listed {
		p.b.WriteString("- " + p.text(text.Truncate(t, 1000)) + "\n")
	}
	p.writeOmitted(left + r.unlisted)
	for _, c := range p.d.Checks {
		if c.Check == r.check && c.Status == phase.Fail {
			p.output(c)
		}
	}
}

// output writes, folded, the part of what a failed check printed that people can read.
func (p *page) output(c Check) {
	printed := strings.TrimSpace(c.output())
	if printed == "" {
		return
	}
	title := "Output"
	if c.Root != "." {
		title += " in " + markdown.EscapeHTML(p.safe.Line(c.Root))
	}
	p.printf("\n<details><summary>%s</summary>\n\n%s\n\n</details>\n", title, markdown.Fence("text", text.Truncate(p.safe.Code(printed), maxExcerpt)))
}

// missing lists which tools are missing, and what to do.
func (p *page) missing() {
	if len(p.d.Missing) == 0 {
		return
	}
	p.b.WriteString("\n### Missing tools\n\n")
	listed, left := head(p.d.Missing, maxRows)
	for _, m := range listed {
		p.printf("- %s, for the %s check: use an image that has it, install it before, or %s\n",
			markdown.CodeSpan(p.safe.Line(m.Tool)), checkName(m.Check), p.text(m.alternative()))
	}
	p.writeOmitted(left)
}

// notes lists what else people should know.
func (p *page) notes() {
	notes := slices.Clone(p.d.Notes)
	for _, r := range p.d.rows() {
		for _, n := range r.notes {
			notes = append(notes, checkName(r.check)+": "+n)
		}
	}
	p.folded("Notes", notes)
}

// old lists the findings that do not count, because the pull request did not change their
// lines or their check passed.
func (p *page) old() {
	var lines []string
	for _, f := range p.d.Findings {
		if !f.Blocking {
			lines = append(lines, strings.TrimSpace(f.place()+" "+f.Message)+" ("+checkName(f.Check)+")")
		}
	}
	p.folded("Not counted: on lines that did not change, or of a check that passed", lines)
}

// suppressedTitle is the title of the list of suppressed findings.
const suppressedTitle = "Suppressed by a comment in the code or by the configuration"

// reason returns the reason why a finding is suppressed, as people read it.
func (s Suppressed) reason() string {
	if s.New {
		return "a new comment gives the reason: " + s.Reason
	}
	return "reason given: " + s.Reason
}

func (p *page) suppressed() {
	p.folded(suppressedTitle, textsOf(p.d.Suppressed, func(s Suppressed) string {
		return fmt.Sprintf("%s:%d %s: %s (%s)", s.Path, s.Line, s.Rule, s.Message, s.reason())
	}))
}

// newSuppressionsTitle and takenOutTitle are the titles of the two lists of new suppressions.
const (
	newSuppressionsTitle = "New suppressions, which tell tools to be silent"
	takenOutTitle        = "Tests, and settings of tools, that the change takes out"
)

// place returns the file and the line of the suppression.
func (s NewSuppression) place() string {
	if s.Line == 0 {
		return s.Path
	}
	return fmt.Sprintf("%s:%d", s.Path, s.Line)
}

// line describes the suppression as people read it.
func (s NewSuppression) line() string {
	scope := ""
	if s.Scope != "line" && !s.TakesOut {
		scope = ", for the whole " + s.Scope
	}
	return fmt.Sprintf("%s %s (%s%s)", s.place(), s.Text, s.Tool, scope)
}

// suppressions divides the new suppressions into what the change adds, and the tests and settings
// that it takes out.
func (d *Document) suppressions() (adds, takesOut []NewSuppression) {
	for _, s := range d.NewSuppressions {
		if s.TakesOut {
			takesOut = append(takesOut, s)
		} else {
			adds = append(adds, s)
		}
	}
	return adds, takesOut
}

func (p *page) newSuppressions() {
	adds, takesOut := p.d.suppressions()
	p.folded(newSuppressionsTitle, textsOf(adds, NewSuppression.line))
	p.folded(takenOutTitle, textsOf(takesOut, NewSuppression.line))
}

// newSuppressionsShort writes the new suppressions as lines of the comment.
func (p *page) newSuppressionsShort() {
	adds, takesOut := p.d.suppressions()
	p.suppressionsShort("adds "+text.Count(len(adds), "suppression"), adds)
	what := "a test or a setting of a tool"
	if len(takesOut) > 1 {
		what = "tests or settings of tools, in " + text.Count(len(takesOut), "place")
	}
	p.suppressionsShort("takes out "+what, takesOut)
}

// suppressionsShort writes what the change does and in which places, unless the list is empty.
func (p *page) suppressionsShort(does string, list []NewSuppression) {
	if len(list) == 0 {
		return
	}
	places := firstTexts(list, maxFirst, func(s NewSuppression) string {
		return markdown.CodeSpan(p.safe.cutLine(s.place(), maxCell)) + " " + p.text(s.Tool)
	})
	p.printf("\nThe change %s: %s.\n", does, strings.Join(places, ", "))
}

// unknownShort names the changed files whose language none of the checks knows.
func (p *page) unknownShort() {
	unknown := p.d.unknown()
	if len(unknown) == 0 {
		return
	}
	files := firstTexts(unknown, maxFirst, func(s Skipped) string {
		return markdown.CodeSpan(p.safe.cutLine(s.Path, maxCell)) + " (" + p.text(s.Language) + ")"
	})
	p.printf("\nThe result does not cover %s, whose language no check knows: %s. Only secrets were looked for there.\n", text.Count(len(unknown), "changed file"), strings.Join(files, ", "))
}

// skippedTitle is the title of the list of skipped files.
const skippedTitle = "Changed files that were not reviewed"

// line describes the skipped file as people read it.
func (s Skipped) line() string { return s.Path + ": " + s.Reason }

func (p *page) skipped() { p.folded(skippedTitle, textsOf(p.d.Skipped, Skipped.line)) }

// folded writes a list that opens on a click.
func (p *page) folded(title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	p.printf("\n<details><summary>%s (%d)</summary>\n\n", title, len(lines))
	shown, left := head(lines, maxRows)
	for _, l := range shown {
		p.b.WriteString("- " + markdown.EscapeText(p.safe.cutLine(l, 500)) + "\n")
	}
	p.writeOmitted(left)
	p.b.WriteString("\n</details>\n")
}

// writeOmitted writes how many entries are not shown.
func (p *page) writeOmitted(n int) {
	if n > 0 {
		p.printf("\n*… and %d more, in the findings document.*\n", n)
	}
}
