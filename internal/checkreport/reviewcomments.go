package checkreport

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/markdown"
	"github.com/agent-airlock/airlock/internal/phase"
)

// maxSuggestion is how many bytes a suggestion may have; a longer one is for the
// formatter itself to make.
const maxSuggestion = 4 << 10

// inline returns the findings that become review comments: those that count and
// have a line, the most severe first, of one line the first of each check only. What a
// tool says in the same words of several lines of a file is one comment, unless it has a
// suggestion or is about security, where each place is judged by itself.
func (d *Document) inline(most int) []told {
	type spot struct {
		path, check string
		line        int
	}
	type wording struct{ path, check, tool, rule, message string }
	seen, first := map[spot]bool{}, map[wording]int{}
	var out []told
	for _, f := range d.distinct() {
		at := spot{f.Path, string(f.Check), f.StartLine}
		same := wording{f.Path, string(f.Check), f.Tool, f.Rule, f.Message}
		i, known := first[same]
		switch {
		case !placeable(f.Path) || f.StartLine == 0 || seen[at]:
			continue
		case f.Suggestion != "", f.Check == phase.SecurityReview:
		case known:
			seen[at] = true
			out[i].lines = append(out[i].lines, f.StartLine)
			continue
		case len(out) < most:
			first[same], f.lines = len(out), []int{f.StartLine}
		}
		if len(out) >= most {
			continue
		}
		seen[at] = true
		out = append(out, f)
	}
	return out
}

// placeable reports whether a comment can name a path: GitHub's forms take none with
// characters that people cannot see.
func placeable(path string) bool {
	return path != "" && !strings.ContainsFunc(path, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) })
}

// commentBody is a finding as a review comment: what is wrong, what to do, and the
// suggestion that mends it.
func commentBody(f told, rules finding.Rules, safe SafeText) string {
	var b strings.Builder
	b.WriteString("**" + severityWord(f.Severity) + "** " + markdown.EscapeText(safe.Line(cut(f.Message, 4000))) + "\n\n")
	if len(f.lines) > 1 {
		b.WriteString("Found on lines " + listed(f.lines) + ".\n\n")
	}
	rule, known := rules(f.Tool, f.Rule)
	if known && rule.Short != "" && rule.Short != f.Message {
		b.WriteString(markdown.EscapeText(safe.Line(cut(rule.Short, 1000))) + "\n\n")
	}
	// What has been said is not said again.
	if help := strings.TrimSpace(strings.Replace(rule.Help, rule.Short, "", 1)); known && help != "" {
		b.WriteString("<details><summary>More</summary>\n\n" + cut(help, 8000) + "\n\n</details>\n\n")
	}
	if s := f.Suggestion; s != "" && len(s) <= maxSuggestion && safe.Code(s) == s {
		b.WriteString(markdown.Fence("suggestion", s) + "\n\n")
	}
	b.WriteString("<sub>" + strings.Join(sources(f, safe), " · ") + "</sub>\n")
	return b.String()
}

// listed names lines: "3, 5 and 9".
func listed(lines []int) string {
	const most = 20
	var names []string
	for _, n := range lines[:min(len(lines), most)] {
		names = append(names, strconv.Itoa(n))
	}
	last := names[len(names)-1]
	if more := len(lines) - most; more > 0 {
		names, last = append(names, ""), strconv.Itoa(more)+" more"
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + last
}

// sources says who noticed a finding: the check, the tool and the rule, and the other
// checks that say the same.
func sources(f told, safe SafeText) []string {
	out := []string{name(f.Check)}
	if f.Tool != "" && f.Tool != string(f.Check) {
		out = append(out, markdown.EscapeText(safe.Line(f.Tool)))
	}
	if f.Rule != "" {
		out = append(out, markdown.CodeSpan(safe.Line(f.Rule)))
	}
	var also []string
	for _, check := range f.also {
		also = append(also, name(check))
	}
	if len(also) > 0 {
		out = append(out, "also "+strings.Join(also, ", "))
	}
	return out
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

// told is a finding that is told at its lines, once.
type told struct {
	Finding
	name  string        // by which its comment is found again
	also  []phase.Check // other checks that say the same of the same line
	lines []int         // of a comment that tells of several lines: all of them
}

// distinct returns the findings that count, in their order. What several checks say
// in the same words of the same line is there once, where it is most severe: a file
// that does not compile fails the linter, the build and the tests alike.
func (d *Document) distinct() []told {
	type wording struct {
		path, message string
		line          int
	}
	var out []told
	first := map[wording]int{}
	names := d.names()
	for at, f := range d.Findings {
		if !f.Blocking {
			continue
		}
		key := wording{f.Path, f.Message, f.StartLine}
		i, known := first[key]
		switch {
		case f.Path == "" || f.StartLine == 0 || !known:
			first[key] = len(out)
			out = append(out, told{Finding: f, name: names[at]})
		case out[i].Check == f.Check: // the same word at another column
			out = append(out, told{Finding: f, name: names[at]})
		case !slices.Contains(out[i].also, f.Check):
			out[i].also = append(out[i].also, f.Check)
		}
	}
	return out
}
