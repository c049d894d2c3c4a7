package verdictreport

import (
	"fmt"
	"strings"

	"github.com/agent-airlock/airlock/internal/acceptance"
	"github.com/agent-airlock/airlock/internal/checkreport"
	"github.com/agent-airlock/airlock/internal/markdown"
	"github.com/agent-airlock/airlock/internal/text"
)

// Limits of a text for people. The document contains everything.
const (
	maxRows    = 100
	maxCell    = 300    // characters
	maxComment = 30_000 // UTF-16 units
)

// Headline sums the verdict up in one line, without a stranger's text.
func (d *Document) Headline() string {
	if d.Response == nil {
		return "no acceptance criteria"
	}
	count := map[acceptance.Status]int{}
	for _, r := range d.Response.Results {
		count[r.Status]++
	}
	line := fmt.Sprintf("%s, %d of %d criteria verified", d.Response.Verdict, count[acceptance.Pass], len(d.Response.Results))
	if d.Response.Verdict == acceptance.VerdictPass && !d.Passed() {
		line += ", but a gate does not let the task pass"
	}
	return line
}

// Summary returns the job summary, the verdict and a table of criteria, in at most limit bytes.
func (d *Document) Summary(safe checkreport.SafeText, required bool, limit int) string {
	p := &page{d: d, safe: safe}
	p.writeCriteria("##", required)
	// Cut counts UTF-16 units, each of which is at most three bytes.
	out, _ := markdown.Cut(p.b.String(), limit/3, "*The rest was cut: a job summary is limited in size. The verdict document contains everything.*")
	return out
}

// Comment returns the text of the one comment on a pull request.
func (d *Document) Comment(safe checkreport.SafeText, required bool, head, summaryURL string) string {
	p := &page{d: d, safe: safe, stale: d.isStale(head)}
	p.writeCriteria("###", required)
	out, _ := markdown.Cut(p.b.String(), maxComment, "*The rest was cut: the job summary has it.*")
	if summaryURL != "" && d.Response != nil {
		out += fmt.Sprintf("\n[The job summary](%s) has the same, and the job the evidence.\n", summaryURL)
	}
	return out
}

// isStale reports whether the verdict is about another commit than head.
func (d *Document) isStale(head string) bool {
	return d.Response != nil && head != "" && d.Head != head
}

// judgeGate is the number of the judge's gate. The decisions of the gates before it are in the
// claims and the verdict.
const judgeGate = 3

// staleTitle stands before the headline of a verdict about another commit.
const staleTitle = "another commit was verified: "

// page writes Markdown.
type page struct {
	d     *Document
	safe  checkreport.SafeText
	stale bool // another commit was verified
	b     strings.Builder
}

func (p *page) printf(format string, args ...any) { fmt.Fprintf(&p.b, format, args...) }

// text returns a stranger's text as Markdown that shows it. It masks secrets before it cuts.
func (p *page) text(s string) string {
	return markdown.EscapeText(text.Truncate(p.safe.Line(s), maxCell))
}

func (p *page) writeCriteria(level string, required bool) {
	icon, headline := "✅", p.d.Headline()
	switch {
	case p.stale:
		icon, headline = "❌", staleTitle+headline
	case p.d.Failed(required):
		icon = "❌"
	case p.d.Response == nil:
		icon = "⏭️"
	}
	p.printf("%s %s Airlock acceptance: %s\n\n", level, icon, headline)
	if p.d.Response == nil {
		p.writeNoCriteria(required)
		return
	}
	if len(p.d.Head) >= 7 {
		p.printf("Verified commit %s.", markdown.CodeSpan(p.d.Head[:7]))
	}
	if p.stale {
		p.b.WriteString(" That is not the pull request's head, so the verdict does not count for it.")
	}
	p.origin()
	p.table()
	p.claims()
	p.notes()
}

// notes lists what else a reader has to know.
func (p *page) notes() {
	if len(p.d.Notes) == 0 {
		return
	}
	p.b.WriteString("\n")
	for _, note := range p.d.Notes {
		p.printf("- %s\n", p.text(note))
	}
}

// writeNoCriteria writes that there are no criteria, what to do if they are required, and the
// notes.
func (p *page) writeNoCriteria(required bool) {
	p.b.WriteString("Neither the workflow nor an issue that the pull request closes states acceptance criteria.")
	if required {
		p.b.WriteString(" They are required: add a task list under the heading \"Acceptance criteria\" to the issue, and close the issue by the pull request (`Closes #1`).")
	}
	p.b.WriteString("\n")
	p.notes()
}

// origin writes where the criteria come from, and who changed them last.
func (p *page) origin() {
	for _, i := range p.d.Issues {
		switch {
		case i.EditedBy != "":
			p.printf(" The criteria are those of #%d, last edited by %s", i.Number, p.text(i.EditedBy))
			if i.EditedAt != "" {
				p.printf(" at %s", p.text(i.EditedAt))
			}
			p.b.WriteString(".")
		case i.Author != "":
			p.printf(" The criteria are those of #%d, by %s.", i.Number, p.text(i.Author))
		default:
			p.printf(" The criteria are those of #%d.", i.Number)
		}
	}
	if p.d.Source == FromWorkflow {
		p.b.WriteString(" The criteria are those of the workflow.")
	}
	p.b.WriteString("\n\n")
}

// icon marks a status; the word comes after it.
func icon(s acceptance.Status) string {
	switch s {
	case acceptance.Pass:
		return "✅"
	case acceptance.Fail:
		return "❌"
	case acceptance.Skip:
		return "⏭️"
	}
	return "⚠️"
}

// table writes at most maxRows criteria. Those that did not pass come before those that did.
func (p *page) table() {
	descriptions := map[string]string{}
	for _, c := range p.d.Criteria {
		descriptions[c.ID] = c.Description
	}
	var rows, passed [][]string
	for _, r := range p.d.Response.Results {
		evidence := p.text(r.Evidence)
		if r.Remediation != "" && r.Status != acceptance.Pass {
			evidence += " **" + p.text(r.Remediation) + "**"
		}
		row := []string{icon(r.Status) + " " + string(r.Status), p.text(r.ID), p.text(descriptions[r.ID]), evidence}
		if r.Status == acceptance.Pass {
			passed = append(passed, row)
		} else {
			rows = append(rows, row)
		}
	}
	rows = append(rows, passed...)
	more := len(rows) - maxRows
	p.b.WriteString(markdown.Table([]string{"Result", "Id", "Criterion", "Evidence"}, rows[:min(len(rows), maxRows)]))
	if more > 0 {
		p.printf("\n*… and %d more, in the verdict document.*\n", more)
	}
}

// claims lists the claims that do not hold, and what the judge says.
func (p *page) claims() {
	for _, c := range p.d.Response.Claims {
		if c.Status == acceptance.Fail {
			p.printf("\n- ❌ The claim “%s” does not hold: %s", p.text(c.Claim), p.text(c.Evidence))
		}
	}
	for _, g := range p.d.Response.Gates {
		if g.Number == judgeGate {
			p.printf("\n- %s %s", icon(g.Status), p.text(g.Evidence))
		}
	}
	p.b.WriteString("\n")
}
