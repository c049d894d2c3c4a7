package reviewer

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/agent-airlock/airlock/internal/finding"
)

// Code reviews files for slips: what was left over, what is silent, what is too
// long. It works as Security does. It also judges the change as a whole, such as
// new code without a test.
func (r *Reviewer) Code(ctx context.Context, files []File) (Result, error) {
	return r.each(ctx, files, r.code, r.whole(files)...)
}

// codeFile is a file under code review.
type codeFile struct {
	*source
	uses  func(*Rule) bool
	rules map[string]*Rule
	added int // lines that the change added or modified
	found []finding.Finding
}

// code reviews one file.
func (r *Reviewer) code(f File) reviewed {
	var out reviewed
	c := &codeFile{source: &source{path: f.Path}, uses: r.uses, rules: r.codeRules}
	switch {
	case f.Generated:
		return reviewed{skipped: "a generated file: only the security review looked at it"}
	case f.Vendored:
		return out // the security review lists it
	case f.Binary:
		if f.Size > largestBinary {
			c.reportLine("large-binary", 0)
		}
		return reviewed{findings: c.found}
	case r.unreadable(f) != "":
		return reviewed{skipped: r.unreadable(f)}
	}
	lang := f.language()
	if lang == nil || hasLineOver(f.Text, longestLine) {
		c.source = &source{path: f.Path, text: f.Text, lines: lineStarts(f.Text)}
		c.conflicts()
		return reviewed{findings: c.found, ignores: ignores(f.Text, nil)}
	}
	c.source = scan(f.Path, f.Text, lang)
	if c.added = f.changedLines(); f.Changed == nil {
		c.added = len(c.lines)
	}
	c.conflicts()
	if c.copied() {
		return reviewed{findings: c.found, ignores: ignores(f.Text, c.source), skipped: "a copy of a library or made by a compiler, as its beginning says: only conflicts were looked for"}
	}
	c.leftovers()
	c.swallowed()
	c.unreachable()
	c.comments()
	c.lengths()
	return reviewed{findings: c.found, ignores: ignores(f.Text, c.source)}
}

// largestBinary is the size in bytes over which a binary file is reported.
const largestBinary = 1 << 20

// report adds a finding at the bytes from start to end, if its rule is used.
func (c *codeFile) report(id string, start, end int32, sink string) {
	if rule := c.rules[id]; rule != nil && c.uses(rule) {
		c.found = append(c.found, c.finding(rule, start, end, strings.ReplaceAll(rule.Message, "{sink}", sink)))
	}
}

// reportLine adds a finding about a whole line, or the whole file (line 0).
func (c *codeFile) reportLine(id string, line int) {
	if rule := c.rules[id]; rule != nil && c.uses(rule) {
		c.found = append(c.found, finding.Finding{Check: CodeReview, Tool: Tool, Rule: id, Severity: rule.Severity, Message: rule.Message, Path: c.path,
			Range: finding.Range{StartLine: line, EndLine: line}})
	}
}

// conflicts finds the three markers of a merge conflict in their order.
func (c *codeFile) conflicts() {
	begun, parted := 0, false
	number := 0
	for line := range strings.Lines(c.text) {
		number++
		switch {
		case strings.HasPrefix(line, "<<<<<<< "):
			begun, parted = number, false
		case strings.TrimRight(line, "\r\n") == "=======":
			parted = begun > 0
		case strings.HasPrefix(line, ">>>>>>> ") && parted:
			c.reportLine("conflict-marker", begun)
			begun, parted = 0, false
		}
	}
}

var testPath = regexp.MustCompile(`(?i)(^|/)(tests?|specs?|__tests__|testdata|e2e)/|(_tests?|_spec|\.test|\.spec)\.[a-z]+$|(^|/)(test_[^/]*\.(py|rb)|conftest\.py|[^/]*(Tests?|IT)\.java|tests?\.(rs|go))$`)

// taskPath are files that developers run by hand, or once, such as migrations and what
// makes a release: nobody else's input comes there.
var taskPath = regexp.MustCompile(`(^|/)db/migrate/|(^|/)(models|db|database|sql)/(\w+_)?migrations?/|(^|/)migrations/(versions/|\d)|(^|/)Rakefile$|\.rake$|(^|/)releas(e|er|ing)\.[a-z]+$`)

// fewestLines is how many changed lines of code ask for a test.
const fewestLines = 30

// whole judges the change as a whole.
func (r *Reviewer) whole(files []File) []finding.Finding {
	lines, most, at := 0, 0, ""
	for _, f := range files {
		if testPath.MatchString(f.Path) || f.changesRustTests() {
			return nil
		}
		if f.Binary || f.Generated || f.Vendored || f.language() == nil {
			continue
		}
		n := f.changedLines()
		if lines += n; n > most {
			most, at = n, f.Path
		}
	}
	rule := r.codeRules["no-test-change"]
	if lines < fewestLines || !r.uses(rule) {
		return nil
	}
	return []finding.Finding{{Check: CodeReview, Tool: Tool, Rule: rule.ID, Severity: rule.Severity, Path: at,
		Message: fmt.Sprintf("%d lines of code were changed and no test was.", lines)}}
}

// changesRustTests reports whether a line behind #[cfg(test)] was changed: Rust's
// tests stand in the file that they try.
func (f File) changesRustTests() bool {
	at := strings.Index(f.Text, "#[cfg(test)]")
	if at < 0 || !strings.HasSuffix(f.Path, ".rs") {
		return false
	}
	line := strings.Count(f.Text[:at], "\n") + 1
	for _, s := range f.Changed {
		if s.Last >= line {
			return true
		}
	}
	return false
}

// changedLines counts the lines that the change is known to have added or modified.
func (f File) changedLines() int {
	n := 0
	for _, s := range f.Changed {
		n += s.Last - s.First + 1
	}
	return n
}

var (
	licensed  = regexp.MustCompile(`(?i)\blicen[cs]e|\bcopyright\b|\(c\)`)
	published = regexp.MustCompile(`\b\d+\.\d+`)
	// compiled matches what compilers write at the beginning of a module.
	compiled = regexp.MustCompile(`Object\.defineProperty\(exports, ["']__esModule["']`)
)

// copied reports whether a file is a library of somebody else that was copied into the
// repository, or what a compiler made, which nobody here will mend: a very long script that begins with the comment
// of published ones, "/*!" or one with a version, and with a licence. Its weaknesses count
// all the same.
func (c *codeFile) copied() bool {
	if c.lang.name == "javascript" && compiled.MatchString(c.text[:min(len(c.text), longestSource)]) {
		return true
	}
	if c.lang.name != "javascript" || len(c.lines) <= longestFile || len(c.source.comments) == 0 || len(c.tokens) == 0 {
		return false
	}
	first := c.source.comments[0]
	said := c.text[first.start:min(first.end, first.start+longestSource)]
	return first.start < c.tokens[0].start && licensed.MatchString(said) && (strings.HasPrefix(said, "/*!") || published.MatchString(said))
}

const (
	longestFunction = 200  // lines that hold code
	longestFile     = 1500 // lines
)

// lengths finds functions and files that are very long. Half of such a file has to be
// code. In tests and tasks they may
// be: those are lists. Of a function only the lines count that hold code and are in
// no function inside it, so that a module's wrapper is as short as it looks.
func (c *codeFile) lengths() {
	if testPath.MatchString(c.path) || taskPath.MatchString(c.path) {
		return
	}
	if n := len(c.lines); n > longestFile && n-c.added <= longestFile && c.codeLines() > longestFile/2 {
		c.reportLine("long-file", 0)
	}
	scope := newScopes(c.source, nil)
	var open []openFunction
	for i, t := range c.tokens {
		scope.enter(i)
		same := 0 // how many of the functions are those of the token before
		for same < len(open) && same < len(scope.nested) && open[same].begin == scope.nested[same].begin {
			same++
		}
		for len(open) > same {
			open = c.endFunction(open)
		}
		for _, f := range scope.nested[same:] {
			open = append(open, openFunction{begin: f.begin})
		}
		if t.first && len(open) > 0 {
			open[len(open)-1].lines++
		}
	}
	for len(open) > 0 {
		open = c.endFunction(open)
	}
}

// codeLines counts the lines that a token begins: not those that say what the code does.
func (c *codeFile) codeLines() int {
	n := 0
	for _, t := range c.tokens {
		if t.first {
			n++
		}
	}
	return n
}

// openFunction is a function that is being read.
type openFunction struct {
	begin int // index of the token that begins it
	lines int // with code, in no function inside it
}

// endFunction ends the innermost function.
func (c *codeFile) endFunction(open []openFunction) []openFunction {
	last := len(open) - 1
	if f := open[last]; f.lines > longestFunction {
		c.report("long-function", c.tokens[f.begin].start, c.tokens[f.begin].end, "")
	}
	return open[:last]
}
