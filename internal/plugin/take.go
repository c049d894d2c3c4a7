package plugin

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/toolreport"
)

// take takes over what a run reported, as far as it is about changed files.
func (w *work) take(r toolreport.Report) {
	w.outside += r.Outside
	w.omitted += r.Omitted
	for _, n := range r.Notes {
		w.note("%s: %s", w.cfg.Name, strings.TrimPrefix(plain(n), w.cfg.Name+" "))
	}
	for _, rule := range r.Rules {
		rule.Tool, rule.ID = w.called(rule.Tool), oneLine(rule.ID)
		if rule.Precision == finding.PrecisionUnknown {
			rule.Precision = w.cfg.Precision
		}
		w.out.Rules = append(w.out.Rules, rule)
	}
	for _, f := range r.Findings {
		file, changed := w.byPath[f.Path]
		if !changed {
			w.elsewhere++
			continue
		}
		f = sound(f, file.Lines)
		f.Tool = w.called(f.Tool)
		if s, ok := w.cfg.Severity[f.Rule]; ok {
			f.Severity = s
		}
		if f.Severity.Rank() < w.cfg.MinSeverity.Rank() {
			w.minor++
			continue
		}
		if f.Check = string(w.check()); len(w.out.Findings) == toolreport.MaxFindings {
			w.omitted++
			continue
		}
		w.out.Findings = append(w.out.Findings, f)
	}
}

// called returns the name of a tool, which is never that of the built-in reviewer.
func (w *work) called(tool string) string {
	if tool = oneLine(tool); tool == "" || strings.EqualFold(tool, builtIn) {
		return w.cfg.Name
	}
	return tool
}

// countLeftOut notes how many findings are left out, and why.
func (w *work) countLeftOut() {
	for _, c := range []struct {
		n   int
		why string
	}{
		{w.elsewhere, "about files that did not change"},
		{w.minor, "below the severity that is asked for"},
		{w.outside, "about files outside the repository, or about none"},
		{w.omitted, "over the limit"},
	} {
		if c.n > 0 {
			w.note("%s: left out what is %s: %s", w.cfg.Name, c.why, count(c.n, "finding"))
		}
	}
}

// count is a number with the word for what it counts.
func count(n int, word string) string {
	if n != 1 {
		word += "s"
	}
	return fmt.Sprint(n, " ", word)
}

// sound makes a finding's texts plain and takes out a place that cannot be in a
// file of so many lines, and a suggestion with it.
func sound(f finding.Finding, lines int) finding.Finding {
	f.Rule, f.Message = oneLine(f.Rule), plain(f.Message)
	last := max(f.Range.StartLine, f.Range.EndLine)
	switch {
	case lines == 0 || last <= lines:
	case f.Range.StartLine > lines:
		f.Range, f.Suggestion = finding.Range{}, ""
	default:
		f.Range.EndLine, f.Range.EndColumn, f.Suggestion = lines, 0, ""
	}
	return f
}

// escapes are sequences by which a terminal is controlled.
var escapes = regexp.MustCompile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)?|[ -/]*[0-~])?")

// plain takes out what controls a terminal.
func plain(s string) string {
	s = escapes.ReplaceAllString(s, "")
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, s)
}

func oneLine(s string) string { return strings.Join(strings.Fields(plain(s)), " ") }
