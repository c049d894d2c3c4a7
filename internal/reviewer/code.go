package reviewer

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/changes"
	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/lazyregexp"
)

// Code reviews files for slips: what was left over, what is silent, what is too long. It works as
// Security does. It also judges all files together, as for new code without a test.
func (r *Reviewer) Code(ctx context.Context, files []File) (Result, error) {
	return r.each(ctx, files, r.code, r.missingTest(files)...)
}

const (
	largestBinary   = 1 << 20 // bytes of a binary file
	longestFunction = 200     // lines that have code
	longestFile     = 1500    // lines
	fewestLines     = 30      // changed lines of code that need a test
)

// codeFile is a file under code review.
type codeFile struct {
	*source
	uses  func(*Rule) bool
	rules map[string]*Rule
	found []finding.Finding
}

// code reviews one file.
func (r *Reviewer) code(f File) reviewed {
	c := &codeFile{source: &source{path: f.Path}, uses: r.uses, rules: r.byID}
	switch {
	case f.Generated:
		return reviewed{skipped: "a generated file: only the security review looked at it"}
	case f.Vendored:
		return reviewed{} // the security review lists it
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
		c.source = unscanned(f)
		c.conflicts()
		return reviewed{findings: c.found, ignores: ignores(f.Text, nil)}
	}
	c.source = scan(f.Path, f.Text, lang)
	c.conflicts()
	if c.isCopied() {
		return reviewed{findings: c.found, ignores: ignores(f.Text, c.source), skipped: "a copy of a library or made by a compiler, as its beginning shows: only conflicts were looked for"}
	}
	c.leftovers()
	c.swallowed()
	c.unreachable()
	c.notes()
	c.commentedCode()
	c.longFile(f)
	c.longFunctions()
	return reviewed{findings: c.found, ignores: ignores(f.Text, c.source)}
}

// unscanned returns a file without tokens, of which only lines are known.
func unscanned(f File) *source {
	return &source{path: f.Path, text: f.Text, lines: lineStarts(f.Text)}
}

// report adds a finding at the bytes from start to end, if its rule is used.
func (c *codeFile) report(id string, start, end int32, sink string) {
	if rule := c.rules[id]; c.uses(rule) {
		c.found = append(c.found, rule.finding(c.path, sink, c.rangeOf(start, end)))
	}
}

// reportToken adds a finding at the token at index i, if its rule is used.
func (c *codeFile) reportToken(id string, i int, sink string) {
	c.report(id, c.tokens[i].start, c.tokens[i].end, sink)
}

// reportLine adds a finding about a line, or about the file (line 0), if its rule is used.
func (c *codeFile) reportLine(id string, line int) {
	if rule := c.rules[id]; c.uses(rule) {
		c.found = append(c.found, rule.finding(c.path, "", finding.Range{StartLine: line, EndLine: line}))
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

var (
	// testPath matches the paths of tests.
	testPath = lazyregexp.New(`(?i)(^|/)(tests?|specs?|__tests__|testdata|test[-_]?(utils?|helpers?|support)|e2e)/|(_tests?|_spec|\.test|\.spec)\.[a-z]+$|(^|/)(test_[^/]*\.(py|rb)|conftest\.py|[^/]*(Tests?|IT)\.java|tests?\.(rs|go))$`)
	// taskPath matches files that developers run by hand, or once, such as migrations and
	// what makes a release: no stranger's input comes there.
	taskPath = lazyregexp.New(`(^|/)db/migrate/|(^|/)(models|db|database|sql)/(\w+_)?migrations?/|(^|/)migrations/(versions/|\d)|(^|/)Rakefile$|\.rake$|(^|/)releas(e|er|ing)\.[a-z]+$`)
)

// missingTest finds a change of much code and of no test.
func (r *Reviewer) missingTest(files []File) []finding.Finding {
	lines, most, path := 0, 0, ""
	for _, f := range files {
		if testPath.MatchString(f.Path) || f.changesRustTests() {
			return nil
		}
		if f.Binary || f.Generated || f.Vendored || f.language() == nil {
			continue
		}
		n := f.changedLines()
		if lines += n; n > most {
			most, path = n, f.Path
		}
	}
	rule := r.byID["no-test-change"]
	if lines < fewestLines || !r.uses(rule) {
		return nil
	}
	found := rule.finding(path, "", finding.Range{})
	found.Message = fmt.Sprintf("%d lines of code were changed and no test was.", lines)
	return []finding.Finding{found}
}

// changesRustTests reports whether a line after #[cfg(test)] was changed: Rust's tests
// stand in the file that they try.
func (f File) changesRustTests() bool {
	offset := strings.Index(f.Text, "#[cfg(test)]")
	if offset < 0 || !strings.HasSuffix(f.Path, ".rs") {
		return false
	}
	line := strings.Count(f.Text[:offset], "\n") + 1
	return slices.ContainsFunc(f.Changed, func(s changes.Span) bool { return s.Last >= line })
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
	licensed  = lazyregexp.New(`(?i)\blicen[cs]e|\bcopyright\b|\(c\)`)
	published = lazyregexp.New(`\b\d+\.\d+`)
	// compiled matches what compilers write at the beginning of a module.
	compiled = lazyregexp.New(`Object\.defineProperty\(exports, ["']__esModule["']`)
)

// isCopied reports whether a file is not edited here: a compiler made it, or it is a library that
// was copied into the repository, which is a very long script whose first comment has a licence,
// and begins with "/*!" or has a version. Its weaknesses count all the same.
func (c *codeFile) isCopied() bool {
	if c.lang.name != "javascript" {
		return false
	}
	if compiled.MatchString(c.text[:min(len(c.text), longestSource)]) {
		return true
	}
	if len(c.lines) <= longestFile || len(c.comments) == 0 || len(c.tokens) == 0 {
		return false
	}
	first := c.comments[0]
	text := c.text[first.start:min(first.end, first.start+longestSource)]
	return first.start < c.tokens[0].start && licensed.MatchString(text) && (strings.HasPrefix(text, "/*!") || published.MatchString(text))
}

// mayBeLong reports whether a file is a list by nature, such as a test or a migration.
func (c *codeFile) mayBeLong() bool {
	return testPath.MatchString(c.path) || taskPath.MatchString(c.path)
}

// longFile finds a file that the change made very long. Half of it has to be code.
func (c *codeFile) longFile(f File) {
	added := f.changedLines()
	if f.Changed == nil {
		added = len(c.lines)
	}
	if n := len(c.lines); c.mayBeLong() || n <= longestFile || n-added > longestFile {
		return
	}
	withCode := 0
	for _, t := range c.tokens {
		if t.first {
			withCode++
		}
	}
	if withCode > longestFile/2 {
		c.reportLine("long-file", 0)
	}
}

// longFunctions finds functions that are very long. Only lines with code count, and not those of
// a function inside the function, so that a module's wrapper is as short as it looks.
func (c *codeFile) longFunctions() {
	if c.mayBeLong() {
		return
	}
	type openFunction struct{ begin, lines int }
	var open []openFunction
	end := func() {
		last := len(open) - 1
		if open[last].lines > longestFunction {
			c.reportToken("long-function", open[last].begin, "")
		}
		open = open[:last]
	}
	scope := newScopes(c.source, &pack{})
	for i, t := range c.tokens {
		scope.enter(i)
		same := 0 // how many functions also contain the token before
		for same < len(open) && same < len(scope.nested) && open[same].begin == scope.nested[same].begin {
			same++
		}
		for len(open) > same {
			end()
		}
		for _, f := range scope.nested[same:] {
			open = append(open, openFunction{begin: f.begin})
		}
		if t.first && len(open) > 0 {
			open[len(open)-1].lines++
		}
	}
	for len(open) > 0 {
		end()
	}
}
