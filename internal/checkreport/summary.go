package checkreport

import (
	"fmt"
	"strings"

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
	d     *Document
	words Words
	b     strings.Builder
}

// Summary returns the job summary: how the six checks ended in one table, then what
// failed, then what else is to be known, at most limit bytes.
func (d *Document) Summary(words Words, limit int) string {
	p := &page{d: d, words: words}
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
func (p *page) text(s string) string { return markdown.EscapeText(p.words.Line(s)) }

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
			p.b.WriteString(markdown.CodeSpan(p.words.Code(cut(r.command, 500))) + "\n\n")
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
	fmt.Fprintf(&p.b, "\n<details><summary>%s</summary>\n\n%s\n\n</details>\n", title, markdown.Fence("text", cut(p.words.Code(text), limit)))
}

// more says how many of n entries are not shown.
func (p *page) more(n, most int) {
	if n > most {
		fmt.Fprintf(&p.b, "\n*… and %d more, in the findings document.*\n", n-most)
	}
}
