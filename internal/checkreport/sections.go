package checkreport

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/markdown"
)

func ms(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// missing says which tools lack, and what to do.
func (p *page) missing() {
	if len(p.d.Missing) == 0 {
		return
	}
	p.b.WriteString("\n### Missing tools\n\n")
	for _, m := range p.d.Missing[:min(len(p.d.Missing), maxRows)] {
		fmt.Fprintf(&p.b, "- %s, for the %s check: use an image that has it, install it before, or %s\n",
			markdown.CodeSpan(p.words.Line(m.Tool)), name(m.Check), markdown.EscapeText(p.words.Line(m.instead())))
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
		if !f.Gating {
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
