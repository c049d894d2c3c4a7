package toolreport

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/reviewdog/errorformat"

	"github.com/agent-airlock/airlock/internal/finding"
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

// placeIn returns where a line number seems to begin: behind a ":", "(" or "[",
// with what every form has behind it. It is -1 where there is none, so that most
// lines are not matched at all.
func placeIn(line string) int {
	for i := 1; i+1 < len(line); i++ {
		c := line[i]
		if c != ':' && c != '(' && c != '[' {
			continue
		}
		end := digits(line, i+1)
		if end > i+1 && end < len(line) && placeEnds(line, c, end) {
			return i
		}
	}
	return -1
}

// placeEnds reports whether what follows the line number's digits fits: "3: ",
// "3:14: ", "3:14 - ", "(3,14)" and "[3]".
func placeEnds(line string, opening byte, end int) bool {
	rest := line[end:]
	if opening != ':' {
		return rest[0] == ',' || rest[0] == ')' || rest[0] == ']'
	}
	if rest[0] != ':' || len(rest) == 1 {
		return false
	}
	column := digits(rest, 1)
	if column == 1 {
		return rest[1] == ' '
	}
	return strings.HasPrefix(rest[column:], ":") || strings.HasPrefix(rest[column:], " - ")
}

// digits returns where the digits that begin at i end.
func digits(s string, i int) int {
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	return i
}

// number reads digits; 0 for none and for what is no line number.
func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// custom reads with patterns of the configuration, one line each. Patterns over
// several lines are refused: what they keep has no bound.
func custom(formats []string) (opener, error) {
	for _, p := range formats {
		if len(p) > 1 && p[0] == '%' && strings.IndexByte("DXAEWICZGOPQ+-", p[1]) >= 0 {
			return nil, fmt.Errorf("the format %q is one of several lines (%s); each format must match one whole line", p, p[:2])
		}
		if err := compiles(p); err != nil {
			return nil, err
		}
	}
	f := form{formats: formats, any: true}
	return func(c *collector) [2]lineReader {
		c.recognised = true
		return text(f)(c)
	}, nil
}

// compiles reports why a pattern is none. The library indexes behind the end of
// some that are cut off.
func compiles(pattern string) (err error) {
	defer func() {
		if recover() != nil {
			err = fmt.Errorf("the format %q is cut off", pattern)
		}
	}()
	if _, err := errorformat.NewEfm(pattern); err != nil {
		return fmt.Errorf("the format %q is wrong: %w", pattern, err)
	}
	return nil
}
