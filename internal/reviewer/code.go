package reviewer

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/agent-airlock/airlock/internal/changes"
	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/lazyregexp"
)

// Code reviews files for slips, such as code that was left over from debugging, errors that are
// ignored, and functions that are too long. It works as Security does. It also looks at all files
// together, to find new code without a test.
func (r *Reviewer) Code(ctx context.Context, files []File) (Result, error) {
	return r.reviewAll(ctx, files, r.code, r.missingTest(files)...)
}

const (
	largestBinary   = 1 << 20 // bytes of a binary file
	longestFunction = 200     // lines that have code
	longestFile     = 1500    // lines
	listedFunction  = 15      // lines for each branch in a long function; with more lines it is a list
	listedFile      = 30      // lines with code for each branch in a long file; with more lines it is data
	fewestLines     = 30      // changed lines of code that need a test
)

// codeFile is a file under code review.
type codeFile struct {
	*source
	reviewer *Reviewer
	file     File
	found    []finding.Finding
	tests    []int // where tests begin, once focusPrecision has read them
	// excuses and announced are what comments say, once they were read: see readExcuse and isAnnounced.
	excuses   map[run]excuse
	announced map[run]bool
	// importsIC reports that a file of Python imports ic, which prints its argument.
	importsIC bool
}

// code reviews one file.
func (r *Reviewer) code(f File) reviewed {
	c := &codeFile{source: &source{path: f.Path}, reviewer: r, file: f}
	switch {
	case f.Generated:
		return reviewed{skipped: "a generated file: the built-in code review leaves it out"}
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
	if lang == nil || f.isMinified() || f.isPacked() {
		c.source = unscanned(f)
		c.conflicts()
		return reviewed{findings: c.found, ignores: ignores(f.Text, nil)}
	}
	c.source = scan(f.Path, f.Text, lang)
	c.conflicts()
	if c.copiedUntil() > 0 {
		return reviewed{findings: c.found, ignores: ignores(f.Text, c.source), skipped: "a copy of a library or made by a compiler, as its beginning shows: the built-in code review only looked for conflicts"}
	}
	c.leftovers()
	c.swallowed()
	c.unreachable()
	c.notes()
	c.commentedCode()
	c.longFile()
	c.longFunctions()
	return reviewed{findings: c.found, ignores: ignores(f.Text, c.source)}
}

// unscanned returns the source of a file without its tokens. It knows only where the lines begin.
func unscanned(f File) *source {
	return &source{path: f.Path, text: f.Text, lines: lineStarts(f.Text)}
}

// report adds a finding at the bytes from start to end, if its rule is used.
func (c *codeFile) report(id string, start, end int32, sink string) {
	c.reportForm(id, c.reviewer.byID[id].Precision, start, end, sink)
}

// reportForm is report for a form of a rule, whose precision may differ from the rule's.
func (c *codeFile) reportForm(id string, form finding.Precision, start, end int32, sink string) {
	if rule := c.reviewer.byID[id]; c.reviewer.config.selects(rule, form) {
		c.found = append(c.found, rule.finding(c.path, sink, c.rangeOf(start, end)))
	}
}

// reportToken adds a finding at the token at index i, if its rule is used.
func (c *codeFile) reportToken(id string, i int, sink string) {
	c.report(id, c.tokens[i].start, c.tokens[i].end, sink)
}

// reportLine adds a finding about a line, or about the file (line 0), if its rule is used.
func (c *codeFile) reportLine(id string, line int) {
	if rule := c.reviewer.byID[id]; c.reviewer.uses(rule) {
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
		case strings.HasPrefix(line, "<<<<<<< ") && !c.quotes(number):
			begun, parted = number, false
		case strings.TrimRight(line, "\r\n") == "=======":
			parted = begun > 0
		case strings.HasPrefix(line, ">>>>>>> ") && parted:
			c.reportLine("conflict-marker", begun)
			begun, parted = 0, false
		}
	}
}

// quotes reports whether a line begins inside a string of a test. The tests of a parser of conflicts,
// for example, have such strings.
func (c *codeFile) quotes(line int) bool {
	if !testPath.MatchString(c.path) {
		return false
	}
	start := c.lines[line-1]
	i := sort.Search(len(c.tokens), func(i int) bool { return c.tokens[i].end > start })
	return i < len(c.tokens) && c.tokens[i].kind == stringText && c.tokens[i].start < start
}

var (
	// testPath matches the paths of tests, and of Go's packages that help them, such as httptest.
	testPath = lazyregexp.New(`(?i)(^|/)(t|tests?|specs?|__tests__|testdata|testing|testsuites?|conformance|test[-_]?(utils?|helpers?|support|environments?)|e2e|features/(support|step_definitions)|tests?[-_]\w+|\w+[-_]tests?|testkit|testing[-_]\w+|cypress|playwright|fixtures?|__mocks__|mocks?)/|(_tests?|_spec|\.test|\.spec)\.[a-z]+$|(^|/)(test[-_][^/]*\.(py|rb|rs)|conftest\.py|[^/]*(Tests?|IT)\.java|tests?\.(rs|go))$|(^|/)[a-z0-9]*[^aenot]test/[^/]*\.go$`)
	// examplePath matches the directories of examples and manuals; isExample judges a path.
	examplePath = lazyregexp.New(`(?i)(^|/)(([\w.]+-)?(examples?|samples?|demos?)(-[\w.]+)*|docs?)/|^book/`)
	// taskPath matches files that developers run by hand, or once, such as migrations and the scripts
	// that make a release. They get no input of strangers.
	taskPath = lazyregexp.New(`(^|/)db/(migrate|seeds|default)/|(^|/)alembic/versions/|(^|/)(models|db|database|sql)/(\w+_)?migrations?/|(^|/)migrations?/(versions/|v?\d)|^(scripts?|extra|hack|\.?ci|devtools?|capistrano|bench(marks?)?)/|(^|/)Rakefile$|\.rake$|(^|/)releas(e|er|ing)\.[a-z]+$`)
)

// isExample reports whether a file belongs to an example or a manual, which nobody runs as it is.
// Names of Java packages do not count, because generators name a program's own package
// com.example.demo.
func isExample(name string) bool {
	for _, root := range []string{"/java/", "/com/example/"} {
		if above, _, isPackage := strings.Cut("/"+name, root); isPackage && strings.HasSuffix(name, ".java") {
			name = above[min(1, len(above)):] + "/"
		}
	}
	return examplePath.MatchString(name)
}

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

// changesRustTests reports whether the line of #[cfg(test)], or one after it, counts as changed:
// Rust's tests are in the file that they test.
func (f File) changesRustTests() bool {
	offset := strings.Index(f.Text, "#[cfg(test)]")
	if offset < 0 || !strings.HasSuffix(f.Path, ".rs") {
		return false
	}
	line := strings.Count(f.Text[:offset], "\n") + 1
	return f.Changed == nil || slices.ContainsFunc(f.Changed, func(s changes.Span) bool { return s.Last >= line })
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
	versioned = lazyregexp.New(`\b\d+\.\d+`)
	// compiled matches what compilers and bundlers write at the beginning of a module.
	compiled = lazyregexp.New(`Object\.defineProperty\(exports, ["']__esModule["']|webpackBootstrap|__webpack_require__|__nccwpck_require__|\bSystem\.register\(\[`)
	// universal matches the head of a script that is published for every kind of loader.
	universal = lazyregexp.New(`typeof define\s*={2,3}\s*["']function["']\s*&&\s*define\.amd`)
)

// copiedUntil looks at the beginning of a file for a sign that the file is not written in this
// repository: a compiler made it, or it is a copied library. It returns the offset of the sign's end,
// or 0 if there is none. Such a library is a very long script. Its beginning contains tests for module
// loaders, or its first comments contain a licence and either "/*!" or a version.
func (s *source) copiedUntil() int {
	if s.lang.name != "javascript" || strings.HasSuffix(s.path, ".ts") || strings.HasSuffix(s.path, ".tsx") {
		return 0 // libraries are published as JavaScript
	}
	head := s.text[:min(len(s.text), longestSource)]
	if m := compiled.FindStringIndex(head); m != nil {
		return m[1]
	}
	if len(s.lines) <= longestFile {
		return 0
	}
	if m := universal.FindStringIndex(head); m != nil {
		return m[1]
	}
	if len(s.comments) == 0 || len(s.tokens) == 0 || s.comments[0].start > s.tokens[0].start {
		return 0
	}
	from := s.comments[0].start
	to := min(s.tokens[0].start, from+2*longestSource)
	if text := s.text[from:to]; licensed.MatchString(text) && (strings.Contains(text, "/*!") || versioned.MatchString(text)) {
		return int(to)
	}
	return 0
}

// mayBeLong reports whether a file is a test, is one that developers run by hand, such as a
// migration, or was copied from Go itself.
func (c *codeFile) mayBeLong() bool {
	return testPath.MatchString(c.path) || taskPath.MatchString(c.path) || c.lang.name == "go" && strings.Contains(c.text[:min(len(c.text), longestSource)], "The Go Authors")
}

// branching are words that begin a branch or a loop. Code with few of them for its length is a list
// of options, records or markup, which people read from top to bottom.
var branching = wordSetOf("if elif elsif unless for foreach while until loop catch except rescue ensure")

// testsBegin returns the offset at which the module of tests in a Rust file begins, or the length of
// the text if there is none. By custom that module is the last thing in its file.
func (c *codeFile) testsBegin() int {
	if begin := strings.Index(c.text, "#[cfg(test)]\nmod "); begin >= 0 && c.lang.name == "rust" {
		return begin
	}
	return len(c.text)
}

// longFile finds a file that the change made very long. More than longestFile/2 of its lines
// have code, with enough branches not to be data. Rust's tests do not count.
func (c *codeFile) longFile() {
	added := c.file.changedLines()
	if c.file.Changed == nil {
		added = len(c.lines)
	}
	own := c.testsBegin()
	n := c.line(int32(max(0, own-1)))
	if c.mayBeLong() || n <= longestFile || n-added > longestFile {
		return
	}
	withCode, branches := 0, 0
	for i, t := range c.tokens {
		if int(t.start) >= own {
			break
		}
		if t.first {
			withCode++
		}
		if t.kind == word && branching[c.written(i)] {
			branches++
		}
	}
	if withCode > longestFile/2 && branches*listedFile >= withCode {
		c.reportLine("long-file", 0)
	}
}

// longFunctions finds functions that are very long and are not just lists. Only lines with code
// count. The lines of an inner function do not count for the outer one, so that a module's wrapper
// is not long.
func (c *codeFile) longFunctions() {
	if c.mayBeLong() {
		return
	}
	type openFunction struct{ begin, lines, branches int }
	var open []openFunction
	end := func() {
		f := open[len(open)-1]
		if f.lines > longestFunction && f.branches*listedFunction >= f.lines {
			c.reportToken("long-function", f.begin, "")
		}
		open = open[:len(open)-1]
	}
	scope := newScopes(c.source, &pack{})
	for i, t := range c.tokens {
		scope.enter(i)
		same := min(len(open), len(scope.nested)) // how many functions contain both this token and the one before
		for same > 0 && open[same-1].begin != scope.nested[same-1].begin {
			same--
		}
		for len(open) > same {
			end()
		}
		for _, f := range scope.nested[same:] {
			open = append(open, openFunction{begin: f.begin})
		}
		if len(open) == 0 {
			continue
		}
		if t.first {
			open[len(open)-1].lines++
		}
		if t.kind == word && branching[c.written(i)] {
			open[len(open)-1].branches++
		}
	}
	for len(open) > 0 {
		end()
	}
}
