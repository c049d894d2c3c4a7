package checkreport

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/markdown"
	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/text"
)

// maxSuggestion bounds a suggestion, in bytes. Larger changes are left to the formatter.
const maxSuggestion = 4 << 10

// complete returns the checks that finished and reported everything that they found. An earlier
// finding that such a check does not report is gone.
func (d *Document) complete() []phase.Check {
	var complete []phase.Check
	for _, check := range []phase.Check{phase.Formatter, phase.Linter, phase.Build, phase.Tests, phase.CodeReview, phase.SecurityReview} {
		if d.hasCheck(check) && !d.isPartial(check) {
			complete = append(complete, check)
		}
	}
	return complete
}

// hasCheck reports whether the document says anything about a check.
func (d *Document) hasCheck(check phase.Check) bool {
	return slices.ContainsFunc(d.Checks, func(c Check) bool { return c.Check == check })
}

// isPartial reports whether a check may have left something unreported: its tool is missing, it was
// skipped or cut short, a reviewer did not work, or it failed without a blocking finding.
func (d *Document) isPartial(check phase.Check) bool {
	if slices.ContainsFunc(d.Missing, func(m MissingTool) bool { return m.Check == check }) {
		return true
	}
	found := slices.ContainsFunc(d.Findings, func(f Finding) bool { return f.Check == check && f.Blocking })
	skipped := d.hasCheck(check)
	for _, c := range d.Checks {
		if c.Check != check {
			continue
		}
		if c.TimedOut || c.Status == phase.Fail && !found || slices.ContainsFunc(c.Problems, isNotReviewed) {
			return true
		}
		skipped = skipped && c.Status == phase.Skipped
	}
	return skipped
}

// isNotReviewed reports whether a problem is that a reviewer failed.
func isNotReviewed(problem string) bool {
	_, ok := phase.NotReviewed(problem)
	return ok
}

// shownFinding is a finding that is shown at its lines, once.
type shownFinding struct {
	Finding
	index int           // among all findings
	name  string        // by which its comment is found again
	also  []phase.Check // other checks that report the same for the same line
	lines []int         // of a comment: the lines that it is about; nil if each place is judged by itself
	more  []Finding     // what else the check reports for the line of the comment
	about []int         // of a comment: the positions, among those shown, of its findings; its own first
}

// isOf reports whether a check reports the finding.
func (f shownFinding) isOf(check phase.Check) bool {
	return f.Check == check || slices.Contains(f.also, check)
}

// distinct returns the blocking findings, in their order. If several checks report a finding in the
// same words for the same line, as happens if a file does not compile, only the first of them is
// returned, which is the most severe.
func (d *Document) distinct() []shownFinding {
	type wording struct {
		path, message string
		line          int
	}
	var shown []shownFinding
	first := map[wording]int{}
	names := d.names()
	for i, f := range d.Findings {
		if !f.Blocking {
			continue
		}
		key := wording{f.Path, f.Message, f.StartLine}
		same, known := first[key]
		switch {
		case f.Path == "" || f.StartLine == 0 || !known:
			first[key] = len(shown)
			shown = append(shown, shownFinding{Finding: f, index: i, name: names[i]})
		case shown[same].Check == f.Check: // the same at another column
			shown = append(shown, shownFinding{Finding: f, index: i, name: names[i]})
		case !slices.Contains(shown[same].also, f.Check):
			shown[same].also = append(shown[same].also, f.Check)
		}
	}
	return shown
}

// groupComments returns at most limit review comments, the most severe first, for the findings that
// have a line and a placeable path, and for whose position wants returns true. Each check has one
// comment for a line, with all its findings there. A tool's findings with the same words for
// several lines of a file are one comment. Findings that have a suggestion or are about security
// are not, because each place is judged by itself.
func groupComments(shown []shownFinding, limit int, wants func(int) bool) []shownFinding {
	type spot struct {
		path  string
		check phase.Check
		line  int
	}
	type wording struct {
		path                string
		check               phase.Check
		tool, rule, message string
	}
	at, first := map[spot]int{}, map[wording]int{}
	var comments []shownFinding
	for i, f := range shown {
		here := spot{f.Path, f.Check, f.StartLine}
		key := wording{f.Path, f.Check, f.Tool, f.Rule, f.Message}
		if !isPlaceable(f.Path) || f.StartLine == 0 || !wants(i) {
			continue
		}
		if own, ok := at[here]; ok {
			comments[own].add(f.Finding)
			comments[own].about = append(comments[own].about, i)
			continue
		}
		byItself := f.Suggestion != "" || f.Check == phase.SecurityReview
		if same, known := first[key]; known && !byItself {
			comments[same].lines, comments[same].about = append(comments[same].lines, f.StartLine), append(comments[same].about, i)
			continue
		}
		if len(comments) >= limit {
			continue
		}
		if !byItself {
			first[key], f.lines = len(comments), []int{f.StartLine}
		}
		f.about = []int{i}
		at[here] = len(comments)
		comments = append(comments, f)
	}
	return comments
}

// add adds another finding of the comment's line, unless the comment has it in the same words. It
// adds the suggestion, too, if the comment has none and is about the same lines.
func (f *shownFinding) add(also Finding) {
	same := func(of Finding) bool {
		return of.Tool == also.Tool && of.Rule == also.Rule && of.Message == also.Message
	}
	if same(f.Finding) || slices.ContainsFunc(f.more, same) {
		return
	}
	f.more = append(f.more, also)
	if f.Suggestion == "" && f.lastLine() == also.lastLine() && len(f.lines) < 2 {
		f.Suggestion = also.Suggestion
	}
}

// isPlaceable reports whether a comment can be placed on a path: intake accepts it, and it has no
// invisible characters, which GitHub does not accept.
func isPlaceable(path string) bool {
	return intake.IsFilePath(path) && !strings.ContainsFunc(path, func(r rune) bool { return unicode.Is(unicode.Cf, r) })
}

// commentBody returns a finding as a review comment: what is wrong, what to do, and the
// suggestion that fixes it.
func (f shownFinding) commentBody(rules finding.Rules, safe SafeText) string {
	var b strings.Builder
	b.WriteString("**" + severityWord(f.Severity) + "** " + markdown.EscapeText(safe.Line(text.Truncate(f.Message, 4000))) + "\n\n")
	if len(f.lines) > 1 {
		b.WriteString("Found on lines " + lineList(f.lines) + ".\n\n")
	}
	rule, _ := rules(f.Tool, f.Rule)
	if rule.Short != "" && rule.Short != f.Message {
		b.WriteString(markdown.EscapeText(safe.Line(text.Truncate(rule.Short, 1000))) + "\n\n")
	}
	if help := withoutParagraph(rule.Help, rule.Short); help != "" {
		help, _ = markdown.Cut(help, maxHelp, "*The rest was cut: the findings document has it.*")
		b.WriteString("<details><summary>More</summary>\n\n" + help + markdown.CloseOpen(help) + "\n\n</details>\n\n")
	}
	b.WriteString(f.alsoHere(safe))
	if s := f.Suggestion; s != "" && len(s) <= maxSuggestion && safe.Code(s) == s {
		b.WriteString(markdown.Fence("suggestion", s+"\n") + "\n\n")
	}
	b.WriteString("<sub>" + strings.Join(f.sources(safe), " · ") + "</sub>\n")
	return b.String()
}

// maxHelp bounds the help of a rule in a comment, in UTF-16 units.
const maxHelp = 8000

// withoutParagraph returns Markdown without the first paragraph that is exactly this text.
func withoutParagraph(md, paragraph string) string {
	paragraphs := strings.Split(strings.TrimSpace(strings.ReplaceAll(md, "\r\n", "\n")), "\n\n")
	if i := slices.Index(paragraphs, paragraph); i >= 0 && paragraph != "" { // blank lines may be code
		paragraphs = slices.Delete(paragraphs, i, i+1)
	}
	return strings.TrimSpace(strings.Join(paragraphs, "\n\n"))
}

// maxMore bounds the further findings of its line that a comment lists.
const maxMore = 5

// alsoHere lists the check's other findings for the comment's line.
func (f shownFinding) alsoHere(safe SafeText) string {
	if len(f.more) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("Also on this line:\n\n")
	listed, left := head(f.more, maxMore)
	for _, m := range listed {
		b.WriteString("- **" + severityWord(m.Severity) + "** " + markdown.EscapeText(safe.Line(text.Truncate(m.Message, 1000))))
		if m.Rule != "" {
			b.WriteString(" " + markdown.CodeSpan(safe.Line(m.Rule)))
		}
		b.WriteString("\n")
	}
	if left > 0 {
		b.WriteString("- and " + strconv.Itoa(left) + " more, which the findings document lists\n")
	}
	return b.String() + "\n"
}

// lineList writes line numbers: "3, 5 and 9".
func lineList(lines []int) string {
	names := firstTexts(lines, 20, strconv.Itoa)
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// sources lists the sources of a finding: the check, the tool and the rule, and the other checks
// with the same finding.
func (f shownFinding) sources(safe SafeText) []string {
	sources := []string{checkName(f.Check)}
	if f.Tool != "" && f.Tool != string(f.Check) {
		sources = append(sources, markdown.EscapeText(safe.Line(f.Tool)))
	}
	if f.Rule != "" {
		sources = append(sources, markdown.CodeSpan(safe.Line(f.Rule)))
	}
	if len(f.also) > 0 {
		sources = append(sources, "also "+checkNames(f.also))
	}
	return sources
}

func severityWord(s finding.Severity) string {
	switch s {
	case finding.Critical:
		return "🔴 Critical:"
	case finding.High:
		return "🟠 High:"
	case finding.Medium:
		return "🟡 Medium:"
	}
	return "⚪ Low:"
}
