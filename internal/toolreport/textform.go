package toolreport

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/reviewdog/errorformat"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/text"
)

// form describes how a tool prints a finding as text.
type form struct {
	// formats are errorformat patterns of one line each; the first that matches wins. A
	// pattern with %t gives the severity.
	formats []string
	// rule separates the rule from the message: groups "rule" and "message".
	rule string
	// severity is that of a finding whose line does not contain one.
	severity finding.Severity
	// isBroken reports whether a finding means that code could not be compiled or type-checked.
	isBroken func(finding.Finding) bool
	// isUnparsed reports whether a finding means that only its own file could not be parsed: the
	// tool reads each file by itself.
	isUnparsed func(finding.Finding) bool
	// errorPrefix is the beginning of the line of an error that keeps code from being compiled. It
	// is not part of the path.
	errorPrefix string
	// anyPlace reports that a finding's line may name its place in any way.
	anyPlace bool
	// ignored are the beginnings of messages that are left out.
	ignored []string
	// continuations are the beginnings of lines that belong to the message before them.
	continuations []string
	// interrupted reports that other lines, such as the source line, may come before a
	// continuation.
	interrupted bool
	// wrapped reports that a message may go on in the next lines, which are not indented, until its
	// rule ends it.
	wrapped bool
	// own are the beginnings of lines that only this tool prints; a "#" stands for a number.
	own []string
	// crashes are the beginnings of lines with which the tool reports that it failed itself.
	crashes []string

	once     sync.Once
	compiled patterns
}

// patterns are those of a form, compiled.
type patterns struct {
	efms []*errorformat.Efm
	rule *regexp.Regexp // nil for none
}

// patterns compiles the form's patterns when they are first needed. They are part of the
// program, or were checked by custom; a test compiles them all.
func (f *form) patterns() patterns {
	f.once.Do(func() {
		for _, p := range f.formats {
			if efm, err := errorformat.NewEfm(p); err == nil {
				f.compiled.efms = append(f.compiled.efms, efm)
			}
		}
		if f.rule != "" {
			f.compiled.rule = regexp.MustCompile(f.rule)
		}
	})
	return f.compiled
}

func (f *form) reader(c *collector) lineReader { return &textReader{form: f, collector: c} }

// textReader reads one stream in a form.
type textReader struct {
	*form
	*collector
	pending *finding.Finding
	dir     string // where pending's tool ran, which later lines may change
}

func (t *textReader) line(line string) {
	switch {
	case startsWithAny(line, t.own):
		t.recognised = true
	case startsWithAny(line, t.crashes):
		t.crashed = true
	}
	if t.pending != nil && startsWithAny(line, t.continuations) {
		t.pending.Message = text.TruncateBytes(t.pending.Message+"\n"+strings.TrimSpace(line), maxMessage)
		return
	}
	rest, prefixed := strings.CutPrefix(line, t.errorPrefix)
	m := t.match(rest)
	if m == nil {
		if t.wrapped && t.goesOn(line) {
			before := strings.TrimSpace(t.pending.Message)
			t.pending.Message = " " + line // the rule is in one line: reading all of them again would be slow
			t.separateRule(t.pending)
			t.pending.Message = text.TruncateBytes(strings.TrimSpace(before+" "+strings.TrimSpace(t.pending.Message)), maxMessage)
			return
		}
		if !t.interrupted {
			t.end()
		}
		return
	}
	if (m.T|0x20) == 'n' && t.pending != nil { // a note on the finding before
		t.pending.Message = text.TruncateBytes(t.pending.Message+"\nnote: "+m.M, maxMessage)
		return
	}
	t.end()
	if startsWithAny(m.M, t.ignored) {
		return
	}
	f := finding.Finding{Path: m.F, Message: m.M, Severity: severityOf(m.T, t.severity)}
	f.Range = finding.Range{StartLine: m.L, StartColumn: m.C, EndLine: m.E, EndColumn: m.K}
	t.separateRule(&f)
	if prefixed && t.errorPrefix != "" {
		f.Severity = finding.High
		t.broken = t.broken || t.isUnparsed == nil || !t.isUnparsed(f)
	}
	t.pending, t.dir = &f, t.places.current
}

// goesOn reports whether a line without a place may be the rest of a wrapped message.
func (t *textReader) goesOn(line string) bool {
	return t.pending != nil && t.pending.Rule == "" && line != "" && line[0] != ' ' && !startsWithAny(line, t.own)
}

// separateRule takes the rule out of a finding's message, where the form has one.
func (t *textReader) separateRule(f *finding.Finding) {
	if rule := t.patterns().rule; rule != nil {
		if g := rule.FindStringSubmatch(f.Message); g != nil {
			f.Rule, f.Message = g[rule.SubexpIndex("rule")], g[rule.SubexpIndex("message")]
		}
	}
}

func (t *textReader) end() {
	if t.pending == nil {
		return
	}
	t.broken = t.broken || t.isBroken != nil && t.isBroken(*t.pending)
	current := t.places.current
	t.places.current = t.dir
	if t.isUnparsed != nil && t.isUnparsed(*t.pending) {
		t.addUnparsed(*t.pending)
	} else {
		t.add(*t.pending)
	}
	t.places.current, t.pending = current, nil
}

// match matches a line that names a place. A path may contain spaces if it is all that
// comes before its line number.
func (t *textReader) match(line string) *errorformat.Match {
	place := t.places.placeIn(line)
	if place < 0 && !t.anyPlace {
		return nil
	}
	if m := t.matchFormats(line); m != nil {
		return m
	}
	path := line[:max(place, 0)]
	if !strings.Contains(path, " ") || strings.ContainsAny(path, ":(\"'`") || path[0] == ' ' || path[0] == '\t' {
		return nil
	}
	m := t.matchFormats(strings.ReplaceAll(path, " ", `\ `) + line[place:])
	if m != nil {
		m.F = strings.ReplaceAll(m.F, `\ `, " ")
	}
	return m
}

func (t *textReader) matchFormats(line string) *errorformat.Match {
	for _, efm := range t.patterns().efms {
		if m := efm.Match(line); m != nil && m.F != "" {
			return m
		}
	}
	return nil
}

// isError reports whether a compiler's finding is an error, not a warning.
func isError(f finding.Finding) bool { return f.Severity == finding.High }

// severityOf returns the severity for the first letter of a tool's word, such as error, warning or
// note. For any other letter it returns fallback or, if that is "", medium.
func severityOf(letter byte, fallback finding.Severity) finding.Severity {
	switch letter | 0x20 {
	case 'e', 'f':
		return finding.High
	case 'w':
		return finding.Medium
	case 'i', 'n', 'c', 'r', 'h':
		return finding.Low
	}
	return cmp.Or(fallback, finding.Medium)
}

// startsWithAny reports whether a line begins with one of the beginnings. A "#" at the
// start of one stands for a number.
func startsWithAny(line string, beginnings []string) bool {
	for _, b := range beginnings {
		rest := line
		if strings.HasPrefix(b, "#") {
			n := digits(line, 0)
			if n == 0 {
				continue
			}
			b, rest = b[1:], line[n:]
		}
		if strings.HasPrefix(rest, b) {
			return true
		}
	}
	return false
}

// placeIn returns the index of the ":", "(" or "[" between what looks like a path and its line
// number, or -1. Most lines have no such place. No pattern is tried on them, unless the form has
// anyPlace.
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

// placeEnds reports whether the text after the line number's digits fits: "3: ",
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

// atoi returns a line number or a count as a number, 0 if it is not one.
func atoi(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// custom returns the opener of a form with patterns of the configuration, one line each. Patterns
// of several lines are refused: what they keep has no bound.
func custom(formats []string) (opener, error) {
	for _, p := range formats {
		if len(p) > 1 && p[0] == '%' && strings.IndexByte("DXAEWICZGOPQ+-", p[1]) >= 0 {
			return nil, fmt.Errorf("invalid format %q: %s begins a pattern of several lines; each format must match one line", p, p[:2])
		}
		if err := checkPattern(p); err != nil {
			return nil, err
		}
	}
	f := &form{formats: formats, anyPlace: true}
	return func(c *collector) [2]lineReader {
		c.recognised = true // no line is known that only this tool prints
		return bothStreams(f.reader)(c)
	}, nil
}

// checkPattern returns an error for an invalid pattern. The library indexes after the end of
// some that are cut off.
func checkPattern(pattern string) (err error) {
	defer func() {
		if recover() != nil {
			err = fmt.Errorf("invalid format %q: it is cut off", pattern)
		}
	}()
	if _, err := errorformat.NewEfm(pattern); err != nil {
		return fmt.Errorf("invalid format %q: %w", pattern, err)
	}
	return nil
}
