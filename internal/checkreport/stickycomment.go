package checkreport

import (
	"fmt"
	"strings"

	"github.com/agent-airlock/airlock/internal/markdown"
	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/text"
)

// maxLinks is how many review comments of one check the sticky comment links to.
const maxLinks = 10

// comment returns the text of the sticky comment: how the checks of the pull request ended, in a
// table that links to the findings without repeating them.
func (v *Delivery) comment() string {
	p := &page{d: v.doc, safe: v.in.SafeText}
	p.heading("###")
	v.table(p, false)
	p.missing()
	p.unknownShort()
	p.newSuppressionsShort()
	out, _ := markdown.Cut(p.b.String(), maxComment, "*The rest was cut: the job summary has it.*")
	if v.in.SummaryURL != "" {
		out += fmt.Sprintf("\n[The job summary](%s) has the output, and everything that is not counted.\n", v.in.SummaryURL)
	}
	return out
}

// table writes the six checks, each with links to its findings, or with why it did not run or is
// flaky. inRun is set for the text of the check run, which GitHub shows next to its annotations.
func (v *Delivery) table(p *page, inRun bool) {
	var rows [][]string
	for _, r := range v.doc.rows() {
		where := v.locationCell(p, r, inRun)
		if r.status != phase.Fail {
			where = p.first(r) // why it did not run or is flaky, or ""
		}
		rows = append(rows, []string{r.icon() + " " + checkName(r.check), r.graded(), duration(r.time), where})
	}
	p.b.WriteString(markdown.Table([]string{"Check", "Result", "Time", "Where"}, rows))
}

// locationCell returns the cell that says where the findings of a check that failed are.
func (v *Delivery) locationCell(p *page, r row, inRun bool) string {
	var links, parts []string
	var alertsURL string
	comments, alerts, annotations, placed := 0, 0, 0, 0
	seen := map[string]bool{}
	for i, f := range v.shown {
		if !f.isOf(r.check) {
			continue
		}
		shown := v.places[i]
		if shown.on != inSummary {
			placed++
		}
		switch shown.on {
		case inReview:
			comments++
			name := link(markdown.CodeSpan(p.safe.cutLine(f.place(), maxCell)), shown.url)
			if !seen[name] && len(links) < maxLinks {
				links = append(links, name)
			}
			seen[name] = true
		case inAlert:
			alerts, alertsURL = alerts+1, shown.url
		case inCheckRun:
			annotations++
		}
	}
	if len(links) > 0 {
		list := "on " + strings.Join(links, ", ")
		if more := len(seen) - len(links); more > 0 {
			list += fmt.Sprintf(" and %d more", more)
		}
		parts = append(parts, list)
	}
	if alerts > 0 {
		parts = append(parts, count(alerts, link("code scanning", alertsURL)))
	}
	switch {
	case annotations > 0 && inRun:
		parts = append(parts, text.Count(annotations, "annotation"))
	case annotations > 0:
		parts = append(parts, link(text.Count(annotations, "annotation"), v.run.URL)+" of the check run")
	}
	if rest := v.total(r) - placed; rest > 0 || placed == 0 {
		switch {
		case inRun:
			parts = append(parts, "below")
		case v.run.isPlaced():
			parts = append(parts, count(rest, link("the check run", v.run.URL)))
		default:
			parts = append(parts, count(rest, link("the job summary", v.in.SummaryURL)))
		}
	}
	return strings.Join(parts, "<br>")
}

// count describes how many findings a surface shows. It names only the surface if n is not positive.
func count(n int, surface string) string {
	if n <= 0 {
		return surface
	}
	return fmt.Sprintf("%d in %s", n, surface)
}

// link returns Markdown that links to url, or only the text if there is none.
func link(title, url string) string {
	if url == "" {
		return title
	}
	return "[" + title + "](" + url + ")"
}

// total returns how many findings and other problems a check that failed has.
func (v *Delivery) total(r row) int {
	findings := 0
	for _, f := range v.shown {
		if f.isOf(r.check) {
			findings++
		}
	}
	switch {
	case r.check == phase.Tests:
		return max(findings, r.failing, len(r.problems)+r.unlisted)
	case findings == 0:
		return len(r.problems) + r.unlisted
	}
	others, unlisted := v.doc.beyondFindings(r)
	return findings + len(others) + unlisted
}

// writeUnplaced writes, for each check that failed, what neither a comment, an alert nor an
// annotation shows, and the part of the output where the failure begins.
func (v *Delivery) writeUnplaced(p *page) {
	for _, r := range v.doc.failedRows() {
		if problems, unlisted, complete := v.unplaced(r); !complete {
			r.unlisted = unlisted
			p.failure(r, problems)
		}
	}
}

// unplaced returns the problems of a check that no other surface shows, and how many more there are
// that are not listed; complete is set where all are shown elsewhere.
func (v *Delivery) unplaced(r row) (problems []string, unlisted int, complete bool) {
	findings := 0
	problems, unlisted = v.doc.beyondFindings(r)
	for i, f := range v.shown {
		if !f.isOf(r.check) {
			continue
		}
		findings++
		if v.places[i].on == inSummary {
			problems = append(problems, strings.TrimSpace(f.place()+" "+f.Message))
		}
	}
	if findings == 0 {
		return r.problems, r.unlisted, false
	}
	if r.check == phase.Tests { // those without a place are not findings
		for _, c := range v.doc.Checks {
			if c.Check != phase.Tests || c.Status != phase.Fail {
				continue
			}
			nowhere := c
			nowhere.Failures, nowhere.Problems = nil, nil
			for _, f := range c.Failures {
				if f.Path == "" || f.Line == 0 {
					nowhere.Failures = append(nowhere.Failures, f)
				}
			}
			problems = append(problems, testProblems(nowhere)...)
		}
	}
	return problems, unlisted, len(problems)+unlisted == 0
}
