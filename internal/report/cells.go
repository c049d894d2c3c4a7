package report

import (
	"strings"

	"github.com/agent-airlock/airlock/internal/apply"
	"github.com/agent-airlock/airlock/internal/markdown"
)

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
	return []string{icon(r.state) + " " + r.state, itoa(r.line), request(r), cell}
}

func stagedCells(r row) []string {
	return []string{itoa(r.line), markdown.CodeSpan(r.kind), lines(escaped(r.asked), r.because())}
}

// lines puts texts below each other in one cell: the first is Markdown, the others
// are plain text.
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

// request names what was asked for: the kind, and a few words of it.
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

// linkDestination writes a URL that GitHub gave us so that Markdown takes it whole.
func linkDestination(url string) string {
	return strings.NewReplacer("(", "%28", ")", "%29", " ", "%20", "<", "%3C", ">", "%3E", "|", "%7C", "\\", "%5C").Replace(url)
}

// escaped shows plain text in Markdown.
func escaped(s string) string { return markdown.EscapeText(s) }
