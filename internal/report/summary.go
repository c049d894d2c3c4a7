package report

import (
	"fmt"
	"strings"

	"github.com/agent-airlock/airlock/internal/apply"
	"github.com/agent-airlock/airlock/internal/markdown"
)

// maxRows is how many rows a table of the summary has at most: what is below
// nobody reads there, and the report's JSON holds all of it.
const maxRows = 100

// Summary writes the job summary: what was asked and done in one line, then the
// details, at most limit bytes.
func (r *Report) Summary(limit int) string {
	var b strings.Builder
	b.WriteString("## Airlock: " + r.Headline() + "\n\n")
	b.WriteString(r.countsLine() + "\n")

	if rows := r.rows(apply.Applied, apply.Adopted); len(rows) > 0 {
		section(&b, "Done", []string{"Line", "Request", "Result"}, rows, doneCells)
	}
	if r.DryRun && r.plan != nil && len(r.plan.Operations) > 0 {
		r.writePlan(&b)
	} else if rows := r.rows(apply.Staged); len(rows) > 0 {
		section(&b, "Planned, not written", []string{"Line", "Request", "What would be done"}, rows, stagedCells)
	}
	if rows := r.notDone(); len(rows) > 0 {
		section(&b, "Not done", []string{"", "Line", "Request", "Why, and what to do"}, rows, notDoneCells)
	}
	r.writeOwn(&b)
	r.writeEarlier(&b)
	r.writeEnabling(&b)
	r.writeFallbacks(&b)
	if rows := r.cleaned(); len(rows) > 0 {
		b.WriteString("\n<details><summary>What was cleaned or repaired (" + itoa(len(rows)) + ")</summary>\n\n")
		table(&b, []string{"Line", "Request", "What"}, rows, cleanedCells)
		b.WriteString("\n</details>\n")
	}
	out, _ := markdown.Cut(b.String(), limit/3, "*The rest was cut: a job summary holds no more. The results' JSON holds everything.*")
	return out
}

// Headline says in a few words how it ended.
func (r *Report) Headline() string {
	c := r.Counts
	switch {
	case c.Asked == 0 && len(r.Own) > 0:
		return r.ownHeadline()
	case c.Asked == 0:
		return "the agent asked for nothing"
	case c.Accepted > 0 || len(r.Results) == 0 && r.plan == nil:
		return fmt.Sprintf("%d of %s accepted", c.Accepted, plural(c.Asked, "line"))
	case r.DryRun || c.Staged == c.Asked:
		already := ""
		switch c.Done() {
		case 0:
		case 1:
			already = ", 1 is done already"
		default:
			already = fmt.Sprintf(", %d are done already", c.Done())
		}
		return fmt.Sprintf("%d of %s would be done%s, nothing was written", c.Staged, plural(c.Asked, "request"), already)
	case c.Staged > 0:
		return fmt.Sprintf("%d of %s done, %d only planned", c.Done(), plural(c.Asked, "request"), c.Staged)
	case c.NotDone() == 0 && c.Asked > 1:
		return fmt.Sprintf("all %s done", plural(c.Asked, "request"))
	}
	return fmt.Sprintf("%d of %s done", c.Done(), plural(c.Asked, "request"))
}

// countsLine lists the states that occur.
func (r *Report) countsLine() string {
	var parts []string
	for _, p := range r.Counts.named() {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%s **%d** %s", icon(p.state), p.n, p.words))
		}
	}
	if r.where != "" {
		parts = append(parts, markdown.EscapeText(r.words(r.where)))
	}
	return strings.Join(parts, " · ")
}

type namedCount struct {
	state, words string
	n            int
}

func (c Counts) named() []namedCount {
	return []namedCount{
		{"accepted", "accepted", c.Accepted},
		{string(apply.Applied), "applied", c.Applied},
		{string(apply.Adopted), "already there", c.Adopted},
		{string(apply.Staged), "planned", c.Staged},
		{string(apply.Failed), "failed", c.Failed},
		{rejected, "rejected", c.Rejected},
		{string(apply.Denied), "denied", c.Denied},
		{string(apply.Skipped), "skipped", c.Skipped},
		{dropped, "over the limit", c.Dropped},
	}
}

// icon marks a state so that the eye finds it; the word always stands beside it.
func icon(state string) string {
	switch state {
	case string(apply.Applied), string(apply.Adopted), "accepted":
		return "✅"
	case string(apply.Staged):
		return "📝"
	case string(apply.Failed):
		return "❌"
	case string(apply.Skipped):
		return "⏭️"
	}
	return "🚫"
}

func section(b *strings.Builder, title string, header []string, rows []row, cells func(row) []string) {
	b.WriteString("\n### " + title + "\n\n")
	table(b, header, rows, cells)
}

func table(b *strings.Builder, header []string, rows []row, cells func(row) []string) {
	var lines [][]string
	for _, r := range rows[:min(len(rows), maxRows)] {
		lines = append(lines, cells(r))
	}
	b.WriteString(markdown.Table(header, lines))
	writeMore(b, len(rows))
}

func doneCells(r row) []string {
	var where []string
	if link := objectLink(r.obj); link != "" {
		where = append(where, link)
	}
	if r.state == string(apply.Adopted) {
		where = append(where, "(already there)")
	}
	if r.file != "" {
		where = append(where, markdown.CodeSpan(r.file))
	}
	return []string{itoa(r.line), request(r), lines(strings.Join(where, " "), r.because())}
}

func notDoneCells(r row) []string {
	why := text(r.why)
	if r.code != "" {
		why = "**" + text(r.code) + "**: " + why
	}
	cell := lines(why, r.notes)
	if link := objectLink(r.obj); link != "" {
		cell += "<br>" + link
	}
	if r.file != "" {
		cell += "<br>Stored as " + markdown.CodeSpan(r.file)
	}
	return []string{icon(r.state) + " " + r.state, itoa(r.line), request(r), cell}
}

func stagedCells(r row) []string {
	return []string{itoa(r.line), markdown.CodeSpan(r.kind), lines(text(r.asked), r.because())}
}

// lines puts texts below each other in one cell: the first is Markdown, the others
// are plain text.
func lines(first string, more []string) string {
	var parts []string
	if first != "" {
		parts = append(parts, first)
	}
	for _, m := range more {
		parts = append(parts, text(m))
	}
	return strings.Join(parts, "<br>")
}

func cleanedCells(r row) []string {
	return []string{itoa(r.line), markdown.CodeSpan(r.kind), text(r.why)}
}

// request names what was asked for: the kind, and a few words of it.
func request(r row) string {
	kind := "–"
	if r.kind != "" {
		kind = markdown.CodeSpan(r.kind)
	}
	if r.asked == "" {
		return kind
	}
	return kind + " " + text(r.asked)
}

// objectLink links to what was made.
func objectLink(o *apply.Object) string {
	if o == nil {
		return ""
	}
	name := strings.ReplaceAll(o.Type, "-", " ")
	switch {
	case o.Type == "branch" && o.Branch != "":
		name += " " + o.Branch
	case o.Type == "commit" && len(o.SHA) >= 7:
		name += " " + o.SHA[:7]
	case o.Number == 0:
	case o.Type == "issue" || o.Type == "discussion" || o.Type == "pull-request":
		name += " #" + itoa(o.Number)
	default:
		name += " on #" + itoa(o.Number)
	}
	link := text(name)
	if o.URL != "" {
		link = "[" + link + "](" + linkDestination(o.URL) + ")"
	}
	switch {
	case o.Branch == "":
	case o.Type == "pull-request":
		link += " from " + markdown.CodeSpan(o.Branch)
	case o.Type == "commit":
		link += " on " + markdown.CodeSpan(o.Branch)
	}
	return link
}

// linkDestination writes a URL that GitHub gave us so that Markdown takes it whole.
func linkDestination(url string) string {
	return strings.NewReplacer("(", "%28", ")", "%29", " ", "%20", "<", "%3C", ">", "%3E", "|", "%7C", "\\", "%5C").Replace(url)
}

// text shows plain text in Markdown.
func text(s string) string { return markdown.EscapeText(s) }

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return itoa(n) + " " + word + "s"
}
