package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/apply"
	"github.com/agent-airlock/airlock/internal/markdown"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/text"
)

// maxRows is the largest number of rows in a table of the summary. Nobody reads more there, and
// the report's JSON contains all of them.
const maxRows = 100

// Summary returns the job summary, at most limit bytes: what was asked and done in one line,
// then the details.
func (r *Report) Summary(limit int) string {
	var b strings.Builder
	b.WriteString("## Airlock: " + r.Headline() + "\n\n")
	b.WriteString(r.countsLine() + "\n")

	if rows := r.rows(apply.Applied, apply.Adopted); len(rows) > 0 {
		section(&b, "Done", []string{"Line", "Request", "Result"}, rows, doneCells)
	}
	if r.DryRun && r.plan != nil && len(r.plan.Operations) > 0 {
		r.writePlan(&b)
		r.writeTexts(&b)
	} else if rows := r.rows(apply.Staged); len(rows) > 0 {
		section(&b, "Planned, not written", []string{"Line", "Request", "What would be done"}, rows, stagedCells)
		r.writeTexts(&b)
	}
	if rows := r.notDone(); len(rows) > 0 {
		section(&b, "Not done", []string{"", "Line", "Request", "Why, and what to do"}, rows, notDoneCells)
	}
	r.writeOwn(&b)
	r.writeEarlier(&b)
	r.writeEnabling(&b)
	r.writeFallbacks(&b)
	if rows := r.cleaned(); len(rows) > 0 {
		fold(&b, "What was cleaned or repaired", len(rows), func() {
			table(&b, []string{"Line", "Request", "What"}, rows, cleanedCells)
		})
	}
	// Cut counts UTF-16 code units, each of which takes at most three bytes.
	out, _ := markdown.Cut(b.String(), limit/3, "*The rest was cut: the job summary is full. The results' JSON contains everything.*")
	return out
}

// Headline returns in a few words how the run ended.
func (r *Report) Headline() string {
	c := r.Counts
	switch {
	case c.Asked == 0 && len(r.Own) > 0:
		return r.ownHeadline()
	case c.Asked == 0:
		return "the agent asked for nothing"
	case c.Accepted > 0 || len(r.Results) == 0 && r.plan == nil:
		return fmt.Sprintf("%d of %s accepted", c.Accepted, text.Count(c.Asked, "line"))
	case r.DryRun || c.Staged == c.Asked:
		already := ""
		switch c.Done() {
		case 0:
		case 1:
			already = ", 1 is done already"
		default:
			already = fmt.Sprintf(", %d are done already", c.Done())
		}
		return fmt.Sprintf("%d of %s would be done%s, nothing was written", c.Staged, text.Count(c.Asked, "request"), already)
	case c.Staged > 0:
		return fmt.Sprintf("%d of %s done, %d only planned", c.Done(), text.Count(c.Asked, "request"), c.Staged)
	case c.NotDone() == 0 && c.Asked > 1:
		return fmt.Sprintf("all %s done", text.Count(c.Asked, "request"))
	}
	return fmt.Sprintf("%d of %s done", c.Done(), text.Count(c.Asked, "request"))
}

// ownHeadline returns the headline where no agent asked for anything.
func (r *Report) ownHeadline() string {
	own := r.ownResults()
	n := apply.Count(own)
	done := n[apply.Applied] + n[apply.Adopted]
	switch {
	case onlyTicks(own):
		return fmt.Sprintf("the boxes of %d of %s are ticked", done, text.Count(len(own), "issue"))
	case len(own) == 0:
		return "the checks had nothing new to report"
	case n[apply.Failed] > 0:
		return fmt.Sprintf("%d of %s of the checks could not be delivered", n[apply.Failed], text.Count(len(own), "message"))
	case n[apply.Staged] > 0:
		return fmt.Sprintf("%s of the checks planned, nothing was written", text.Count(n[apply.Staged], "message"))
	}
	return fmt.Sprintf("%d of %s of the checks delivered", done, text.Count(len(own), "message"))
}

// onlyTicks reports whether Airlock's own items are about the boxes of verified criteria alone,
// which come after a merge, without checks.
func onlyTicks(own []apply.Result) bool {
	return len(own) > 0 && !slices.ContainsFunc(own, func(res apply.Result) bool { return res.Kind != safeoutput.KindTickBoxes })
}

// countsLine lists the states that occur, then the event and its subject.
func (r *Report) countsLine() string {
	var parts []string
	for _, p := range r.Counts.named() {
		parts = append(parts, fmt.Sprintf("%s **%d** %s", icon(p.state), p.n, p.name))
	}
	if r.where != "" {
		parts = append(parts, markdown.EscapeText(r.safe(r.where)))
	}
	return strings.Join(parts, " · ")
}

// namedCount is the number of items in a state, and the state's name for people.
type namedCount struct {
	state, name string
	n           int
}

// named returns the counts of the states that occur.
func (c Counts) named() []namedCount {
	return slices.DeleteFunc([]namedCount{
		{"accepted", "accepted", c.Accepted},
		{string(apply.Applied), "applied", c.Applied},
		{string(apply.Adopted), "already there", c.Adopted},
		{string(apply.Staged), "planned", c.Staged},
		{string(apply.Failed), "failed", c.Failed},
		{rejected, "rejected", c.Rejected},
		{string(apply.Denied), "denied", c.Denied},
		{string(apply.Skipped), "skipped", c.Skipped},
		{dropped, "over the limit", c.Dropped},
	}, func(c namedCount) bool { return c.n == 0 })
}

// icon returns a symbol for a state. The state's name is always next to it.
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

// writePlan writes the plan as a table, with the exact requests.
func (r *Report) writePlan(b *strings.Builder) {
	b.WriteString("\n### Planned, not written\n\n")
	header, rows := r.plan.Table()
	for i, row := range rows[:min(len(rows), maxRows)] {
		cells := make([]string, len(row))
		last := len(row) - 1
		// In a dry run everything is staged: the heading is enough.
		notes := strings.TrimSpace(strings.TrimPrefix(row[last], apply.StagedRemark))
		row[last] = strings.Join(append([]string{notes}, r.itemNotes(r.plan.Operations[i])...), "\n")
		for j, cell := range row {
			var lines []string
			for line := range strings.SplitSeq(strings.TrimSpace(cell), "\n") {
				lines = append(lines, escaped(r.plain(line)))
			}
			cells[j] = strings.Join(lines, "<br>")
		}
		rows[i] = cells
	}
	b.WriteString(markdown.Table(header, rows[:min(len(rows), maxRows)]))
	writeMore(b, len(rows))
	for _, u := range r.plan.Unchecked {
		b.WriteString("\nUnchecked: " + escaped(r.plain(u)) + "\n")
	}
}

// itemNotes returns, for each of an operation's items, the notes on it, and before them its message
// if it is applied without a write.
func (r *Report) itemNotes(op apply.Operation) []string {
	var notes []string
	for _, m := range op.Items {
		if m.Outcome == apply.OutcomeApply && m.Reason != "" {
			notes = append(notes, m.Reason)
		}
		notes = append(notes, r.notes[m.Index]...)
	}
	return notes
}

// writeMore writes how many of n rows are not shown.
func writeMore(b *strings.Builder, n int) {
	if more := n - maxRows; more > 0 {
		b.WriteString("\n*… and " + itoa(more) + " more, in the results' JSON.*\n")
	}
}

// writeEarlier lists what the collecting job refused. Its own summary may be on another page.
func (r *Report) writeEarlier(b *strings.Builder) {
	if len(r.Earlier) == 0 {
		return
	}
	fold(b, "Refused when the lines were collected", len(r.Earlier), func() {
		for _, e := range r.Earlier[:min(len(r.Earlier), maxRows)] {
			b.WriteString("- " + escaped(r.safe(e)) + "\n")
		}
		writeMore(b, len(r.Earlier))
	})
}

// fold writes a section that is shown when the reader opens it.
func fold(b *strings.Builder, title string, n int, write func()) {
	fmt.Fprintf(b, "\n<details><summary>%s (%d)</summary>\n\n", title, n)
	write()
	b.WriteString("\n</details>\n")
}

// writeFallbacks shows the texts that were not delivered, so that none is lost. They are
// sanitized Markdown already. Each is quoted, so that no heading, open element or table in it
// can pose as a part of the summary.
func (r *Report) writeFallbacks(b *strings.Builder) {
	first := true
	for _, res := range r.Results {
		f := res.Fallback
		if f == nil {
			continue
		}
		if first {
			b.WriteString("\n### Not delivered, shown here instead\n")
			first = false
		}
		title := cmp.Or(f.Title, string(res.Kind))
		if f.Path != "" {
			title = f.Path + ":" + itoa(f.Line)
		}
		b.WriteString("\n#### " + escaped(r.safe(title)) + "\n\n")
		for line := range strings.Lines(strings.TrimRight(f.Text, "\n") + markdown.CloseOpen(f.Text)) {
			b.WriteString(strings.TrimRight("> "+strings.TrimRight(line, "\n"), " ") + "\n")
		}
	}
}

// PlainBlock returns Markdown that shows plain text, such as an error, exactly as it is.
func PlainBlock(s string) string { return markdown.Fence("text", s) + "\n" }

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
	return []string{itoa(r.line), request(r), lines(strings.Join(where, " "), r.reasons())}
}

func notDoneCells(r row) []string {
	why := escaped(r.why)
	if r.code != "" {
		why = "**" + escaped(r.code) + "**: " + why
	}
	cell := lines(why, r.notes)
	if link := objectLink(r.obj); link != "" {
		cell += "<br>" + link
	}
	if r.file != "" {
		cell += "<br>Stored as " + markdown.CodeSpan(r.file)
	}
	return []string{icon(r.state) + " " + r.state, nonZero(r.line), request(r), cell}
}

func stagedCells(r row) []string {
	return []string{itoa(r.line), markdown.CodeSpan(r.kind), lines(escaped(r.asked), r.reasons())}
}

// lines returns a cell with one text a line: the first is Markdown, the others are plain text.
func lines(first string, more []string) string {
	var parts []string
	if first != "" {
		parts = append(parts, first)
	}
	for _, m := range more {
		parts = append(parts, escaped(m))
	}
	return strings.Join(parts, "<br>")
}

func cleanedCells(r row) []string {
	return []string{itoa(r.line), markdown.CodeSpan(r.kind), escaped(r.why)}
}

// request names what was asked for: the kind, and a short description.
func request(r row) string {
	kind := "–"
	if r.kind != "" {
		kind = markdown.CodeSpan(r.kind)
	}
	if r.asked == "" {
		return kind
	}
	return kind + " " + escaped(r.asked)
}

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
	link := escaped(name)
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

// linkDestination escapes a URL of GitHub's for a Markdown link.
func linkDestination(url string) string {
	return strings.NewReplacer("(", "%28", ")", "%29", " ", "%20", "<", "%3C", ">", "%3E", "|", "%7C", "\\", "%5C").Replace(url)
}

// escaped returns Markdown that shows plain text.
func escaped(s string) string { return markdown.EscapeText(s) }

// unconfigured explains why nothing was written, and how to change that.
const unconfigured = "There is no configuration, so nothing was written. Name the kinds that the agent may use"

// writeEnabling writes what the repository's owner has to add so that the plan can be carried out:
// the configuration if there is none, and the permissions after a dry run or if one was missing.
func (r *Report) writeEnabling(b *strings.Builder) {
	permissions := r.permissionsToGrant()
	if r.Unconfigured {
		b.WriteString("\n### How to enable it\n\n" + unconfigured + " in the action's input `config`:\n\n" + markdown.Fence("yaml", r.kindsAsked()) + "\n")
		if permissions != "" {
			b.WriteString("\nand give the job what they need:\n\n" + markdown.Fence("yaml", permissions) + "\n")
		}
		return
	}
	if permissions != "" {
		b.WriteString("\n### Permissions\n\nThe job needs:\n\n" + markdown.Fence("yaml", permissions) + "\n")
	}
}

// kindsAsked returns a configuration that enables the kinds of the items that were asked for; an
// example if none of them has to be enabled.
func (r *Report) kindsAsked() string {
	asked := map[safeoutput.Kind]bool{}
	for _, res := range r.Results {
		asked[res.Kind] = true
	}
	var b strings.Builder
	for _, spec := range safeoutput.Kinds() {
		switch {
		case !asked[spec.Kind], spec.AlwaysAllowed:
		case spec.Kind == safeoutput.KindUpdateIssue:
			b.WriteString(string(spec.Kind) + ":\n  status:\n  title:\n  body:\n")
		default:
			b.WriteString(string(spec.Kind) + ":\n")
		}
	}
	if b.Len() == 0 {
		return string(safeoutput.KindCreateIssue) + ":\n" + string(safeoutput.KindAddIssueComment) + ":\n"
	}
	return b.String()
}

// permissionsToGrant returns the permissions block that the plan needs, after a dry run or if a
// permission was missing; otherwise "".
func (r *Report) permissionsToGrant() string {
	if r.plan == nil || len(r.plan.Permissions) == 0 || !r.DryRun && !r.lacksPermission() {
		return ""
	}
	return apply.PermissionsBlock(r.plan.Permissions)
}

func (r *Report) lacksPermission() bool {
	return slices.ContainsFunc(r.Results, func(res apply.Result) bool { return res.Code == apply.CodeNoPermission })
}

// ownTitle returns the heading of the results of Airlock's own items.
func (r *Report) ownTitle() string {
	if onlyTicks(r.Own) {
		return "Boxes of verified criteria"
	}
	return "What the checks reported"
}

// writeOwn writes the results of Airlock's own items. The table is folded if all of them were
// delivered, because then the pull request shows them.
func (r *Report) writeOwn(b *strings.Builder) {
	header := []string{"", "What", "Result"}
	rows := r.ownRows()
	delivered := func(r row) bool { return r.state == string(apply.Applied) || r.state == string(apply.Adopted) }
	switch {
	case len(rows) == 0:
	case slices.ContainsFunc(rows, func(r row) bool { return !delivered(r) }):
		section(b, r.ownTitle(), header, rows, ownCells)
	default:
		fold(b, r.ownTitle(), len(rows), func() { table(b, header, rows, ownCells) })
	}
}

func ownCells(r row) []string {
	cell := lines(objectLink(r.obj), r.reasons())
	if r.code != "" {
		cell = lines("**"+escaped(r.code)+"**: "+escaped(r.why), r.notes)
	}
	return []string{icon(r.state) + " " + r.state, request(r), cell}
}
