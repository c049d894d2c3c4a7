package toolreport

import (
	"regexp"
	"strings"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/reviewdog/errorformat"
)

// form says how a tool prints a finding as text.
type form struct {
	// formats are errorformat patterns of one line each; the first that matches
	// wins. A pattern with %t gives the severity.
	formats []string
	// rule takes the rule off the message: groups "rule" and "message".
	rule string
	// severity is what a finding has where its line does not say.
	severity finding.Severity
	// broken reports that a finding is an error of compiling, parsing or types.
	broken func(finding.Finding) bool
	// prefix is left out at the beginning of a line; what stands behind it is broken.
	prefix string
	// any reports that a finding's line may name its place in any way.
	any bool
	// ignore begins the messages that say nothing.
	ignore []string
	// more begins the lines that go on with the message of the line before.
	more []string
	// between reports that other lines may stand before those: the source line.
	between bool
	// closing are what only this tool prints, at the beginning of a line or,
	// after a number, behind it ("# problems").
	closing []string
	// crash begins the lines by which the tool says that it failed itself.
	crash []string
}

// textReader reads one stream in a form.
type textReader struct {
	form
	c       *collector
	efms    []*errorformat.Efm
	ruleExp *regexp.Regexp
	pending *finding.Finding
	at      string // where pending's tool ran, which later lines may change
}

// text returns the readers of a form. Its patterns are part of the program; a
// test compiles them all.
func text(f form) opener {
	return each(func(c *collector) lineReader {
		t := &textReader{form: f, c: c}
		for _, p := range f.formats {
			if efm, err := errorformat.NewEfm(p); err == nil {
				t.efms = append(t.efms, efm)
			}
		}
		if f.rule != "" {
			t.ruleExp = regexp.MustCompile(f.rule)
		}
		return t
	})
}

func (t *textReader) line(line string) {
	line = clip(line, maxText)
	switch {
	case startsWithAny(line, t.closing):
		t.c.recognised = true
	case startsWithAny(line, t.crash):
		t.c.crashed = true
	}
	if t.pending != nil && startsWithAny(line, t.more) {
		t.pending.Message = clip(t.pending.Message+"\n"+strings.TrimSpace(line), maxMessage)
		return
	}
	rest, prefixed := strings.CutPrefix(line, t.prefix)
	m := t.match(rest)
	if m == nil {
		if !t.between {
			t.end()
		}
		return
	}
	if (m.T|0x20) == 'n' && t.pending != nil { // a note on the finding before
		t.pending.Message = clip(t.pending.Message+"\nnote: "+m.M, maxMessage)
		return
	}
	t.end()
	if startsWithAny(m.M, t.ignore) {
		return
	}
	f := finding.Finding{Path: m.F, Message: m.M, Severity: severityOf(m.T, t.severity)}
	f.Range = finding.Range{StartLine: m.L, StartColumn: m.C, EndLine: m.E, EndColumn: m.K}
	if t.ruleExp != nil {
		if g := t.ruleExp.FindStringSubmatch(m.M); g != nil {
			f.Rule, f.Message = g[t.ruleExp.SubexpIndex("rule")], g[t.ruleExp.SubexpIndex("message")]
		}
	}
	if prefixed && t.prefix != "" {
		f.Severity = finding.High
		t.c.broken = true
	}
	t.pending, t.at = &f, t.c.places.now
}

func (t *textReader) end() {
	if t.pending != nil {
		t.c.broken = t.c.broken || t.form.broken != nil && t.form.broken(*t.pending)
		now := t.c.places.now
		t.c.places.now = t.at
		t.c.add(*t.pending)
		t.c.places.now, t.pending = now, nil
	}
}

// match matches a line that names a place. A path with blanks is one that
// stands alone before its line number.
func (t *textReader) match(line string) *errorformat.Match {
	place := placeIn(line)
	if place < 0 && !t.any {
		return nil
	}
	for _, efm := range t.efms {
		if m := efm.Match(line); m != nil && m.F != "" {
			return m
		}
	}
	path := line[:max(place, 0)]
	if !strings.Contains(path, " ") || strings.ContainsAny(path, ":(\"'`") || path[0] == ' ' || path[0] == '\t' {
		return nil
	}
	line = strings.ReplaceAll(path, " ", `\ `) + line[place:]
	for _, efm := range t.efms {
		if m := efm.Match(line); m != nil && m.F != "" {
			m.F = strings.ReplaceAll(m.F, `\ `, " ")
			return m
		}
	}
	return nil
}

// isError takes a compiler's errors for broken, and not its warnings.
func isError(f finding.Finding) bool { return f.Severity == finding.High }

// severityOf reads a severity's first letter.
func severityOf(letter byte, otherwise finding.Severity) finding.Severity {
	switch letter | 0x20 {
	case 'e', 'f':
		return finding.High
	case 'w':
		return finding.Medium
	case 'i', 'n', 'c', 'r', 'h':
		return finding.Low
	}
	if otherwise == "" {
		return finding.Medium
	}
	return otherwise
}

// startsWithAny reports whether a line begins with one of the beginnings; a "#"
// in front of one stands for a number.
func startsWithAny(line string, beginnings []string) bool {
	for _, b := range beginnings {
		rest := line
		if strings.HasPrefix(b, "#") {
			b = b[1:]
			if rest = strings.TrimLeft(line, "0123456789"); len(rest) == len(line) {
				continue
			}
		}
		if strings.HasPrefix(rest, b) {
			return true
		}
	}
	return false
}
