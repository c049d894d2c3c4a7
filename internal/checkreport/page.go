package checkreport

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/markdown"
	"github.com/agent-airlock/airlock/internal/phase"
)

// How much of each list a text for people holds; the document has all of it.
const (
	maxFirst   = 3   // first failures in the table
	maxListed  = 30  // problems of one check
	maxRows    = 100 // of any other list
	maxCell    = 200 // bytes of one failure in the table
	maxExcerpt = 8 << 10
)

// page writes Markdown for one reader.
type page struct {
	d    *Document
	safe SafeText
	b    strings.Builder
}

// Summary returns the job summary: how the six checks ended in one table, then what
// failed, then what else is to be known, at most limit bytes.
func (d *Document) Summary(safe SafeText, limit int) string {
	p := &page{d: d, safe: safe}
	p.heading("##")
	p.table()
	p.failures(maxListed, maxExcerpt)
	p.missing()
	p.notes()
	p.old()
	p.suppressed()
	p.skipped()
	out, _ := markdown.Cut(p.b.String(), limit/3, "*The rest was cut: a job summary holds no more. The findings document holds everything.*")
	return out
}

// text shows a stranger's text in Markdown.
func (p *page) text(s string) string { return markdown.EscapeText(p.safe.Line(s)) }

func (p *page) heading(level string) {
	icon := "✅"
	if p.d.Failed() {
		icon = "❌"
	}
	fmt.Fprintf(&p.b, "%s %s Airlock checks: %s\n\n", level, icon, p.d.Headline())
	if len(p.d.Head) >= 7 {
		fmt.Fprintf(&p.b, "Checked commit %s in %s.\n\n", markdown.CodeSpan(p.d.Head[:7]), duration(ms(p.d.Output.Time)))
	}
	if p.d.Output.Critical {
		p.b.WriteString("**The security review found a critical vulnerability.**\n\n")
	}
}

// icon marks how a check ended so that the eye finds it; the word stands beside it.
func (r row) icon() string {
	switch {
	case r.status == phase.Skipped:
		return "⏭️"
	case r.status == phase.Pass && r.flaky, r.status == phase.Fail && r.informational:
		return "⚠️"
	case r.status == phase.Pass:
		return "✅"
	}
	return "❌"
}

// table is the six checks with what failed first.
func (p *page) table() {
	var rows [][]string
	for _, r := range p.d.rows() {
		result := r.result()
		if r.severity.Rank() > 0 {
			result += upTo(len(r.problems)+r.more) + string(r.severity)
		}
		if r.informational && r.status == phase.Fail {
			result += " (only informs)"
		}
		rows = append(rows, []string{r.icon() + " " + name(r.check), result, duration(r.time), fmt.Sprint(r.retries), p.first(r)})
	}
	p.b.WriteString(markdown.Table([]string{"Check", "Result", "Time", "Retries", "First failures"}, rows))
}

// upTo stands before the severity of a number of problems.
func upTo(problems int) string {
	if problems == 1 {
		return ", "
	}
	return ", up to "
}

// first returns the first failures of a check, or why it was skipped, as a cell.
func (p *page) first(r row) string {
	list, unlisted := r.problems, r.more
	if r.status != phase.Fail {
		list, unlisted = nil, 0
		if r.status == phase.Skipped || r.flaky {
			list = r.notes
		}
	}
	var lines []string
	for _, t := range list[:min(len(list), maxFirst)] {
		lines = append(lines, p.text(cut(t, maxCell)))
	}
	if more := max(len(list)-maxFirst, 0) + unlisted; more > 0 {
		lines = append(lines, fmt.Sprintf("… and %d more", more))
	}
	return strings.Join(lines, "<br>")
}

// failures lists, for each check that failed, its problems, and the part of the
// output in which failing began.
func (p *page) failures(most, excerpt int) {
	for _, r := range p.d.rows() {
		if r.status != phase.Fail {
			continue
		}
		fmt.Fprintf(&p.b, "\n### %s: %s\n\n", name(r.check), r.result())
		if r.command != "" {
			p.b.WriteString(markdown.CodeSpan(p.safe.Code(cut(r.command, 500))) + "\n\n")
		}
		for _, t := range r.problems[:min(len(r.problems), most)] {
			p.b.WriteString("- " + p.text(cut(t, 1000)) + "\n")
		}
		p.more(len(r.problems)+r.more, min(len(r.problems), most))
		for _, c := range p.d.Checks {
			if c.Check == r.check && c.Status == phase.Fail {
				p.output(c, excerpt)
			}
		}
	}
}

// output folds the part of a check's output that explains it.
func (p *page) output(c Check, limit int) {
	text := strings.TrimSpace(c.output())
	if limit == 0 || text == "" {
		return
	}
	title := "Output"
	if c.Root != "." {
		title += " in " + p.text(c.Root)
	}
	fmt.Fprintf(&p.b, "\n<details><summary>%s</summary>\n\n%s\n\n</details>\n", title, markdown.Fence("text", cut(p.safe.Code(text), limit)))
}

// more says how many of n entries are not shown.
func (p *page) more(n, most int) {
	if n > most {
		fmt.Fprintf(&p.b, "\n*… and %d more, in the findings document.*\n", n-most)
	}
}

func ms(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// missing says which tools lack, and what to do.
func (p *page) missing() {
	if len(p.d.Missing) == 0 {
		return
	}
	p.b.WriteString("\n### Missing tools\n\n")
	for _, m := range p.d.Missing[:min(len(p.d.Missing), maxRows)] {
		fmt.Fprintf(&p.b, "- %s, for the %s check: use an image that has it, install it before, or %s\n",
			markdown.CodeSpan(p.safe.Line(m.Tool)), name(m.Check), markdown.EscapeText(p.safe.Line(m.instead())))
	}
	p.more(len(p.d.Missing), maxRows)
}

// notes lists what people should know beside the failures.
func (p *page) notes() {
	notes := slices.Clone(p.d.Notes)
	for _, r := range p.d.rows() {
		for _, n := range r.notes {
			notes = append(notes, name(r.check)+": "+n)
		}
	}
	p.folded("Notes", notes)
}

// old lists the findings that do not count, because the pull request did not change
// their lines.
func (p *page) old() {
	var lines []string
	for _, f := range p.d.Findings {
		if !f.Blocking {
			lines = append(lines, strings.TrimSpace(f.place()+" "+f.Message)+" ("+name(f.Check)+")")
		}
	}
	p.folded("On lines that did not change, not counted", lines)
}

func (p *page) suppressed() {
	var lines []string
	for _, s := range p.d.Suppressed {
		lines = append(lines, fmt.Sprintf("%s:%d %s: %s (reason given: %s)", s.Path, s.Line, s.Rule, s.Message, s.Reason))
	}
	p.folded("Suppressed by a comment in the code", lines)
}

func (p *page) skipped() {
	var lines []string
	for _, s := range p.d.Skipped {
		lines = append(lines, s.Path+": "+s.Reason)
	}
	p.folded("Changed files that were not reviewed", lines)
}

// folded writes a list that opens on a click.
func (p *page) folded(title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(&p.b, "\n<details><summary>%s (%d)</summary>\n\n", title, len(lines))
	for _, l := range lines[:min(len(lines), maxRows)] {
		p.b.WriteString("- " + p.text(cut(l, 500)) + "\n")
	}
	p.more(len(lines), maxRows)
	p.b.WriteString("\n</details>\n")
}

// maxCommentListed is how many problems of one check a comment lists: a comment is
// read in a conversation, and the summary has the rest.
const maxCommentListed = 10

// Comment returns the text of the one comment that tells a pull request's people
// how the checks ended. It holds no output of programs: that is in the job summary,
// to which the link leads, if there is one.
func (d *Document) Comment(safe SafeText, summaryURL string) string {
	p := &page{d: d, safe: safe}
	p.heading("###")
	p.table()
	if d.Failed() {
		p.b.WriteString("\n<details><summary>What failed</summary>\n")
		p.failures(maxCommentListed, 0)
		p.missing()
		p.b.WriteString("\n</details>\n")
	}
	if summaryURL != "" {
		fmt.Fprintf(&p.b, "\n[The job summary](%s) has the output, and everything that is not counted.\n", summaryURL)
	}
	out, _ := markdown.Cut(p.b.String(), 30_000, "*The rest was cut: the job summary has it.*")
	return out
}
