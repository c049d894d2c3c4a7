package reviewer

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/lazyregexp"
	"github.com/agent-airlock/airlock/internal/text"
)

// testCount is which tests a change takes out of a file, and which it adds to it, by their names.
type testCount struct {
	removed map[string][]int // the lines of the new file where they stood, 0 if it is gone
	added   map[string]int
}

// testForm is how the tests of a language are recognized. An attempt to match its expressions does
// not go past the beginning of another test: if the attempt for each test went on to the end of the
// file, that would take quadratic time.
type testForm struct {
	endings   []string
	collected *lazyregexp.Regexp // matches the files that test runners look into
	test      *lazyregexp.Regexp // matches the beginning of a test; the last group that takes part is the name
}

var testForms = []testForm{
	{[]string{".go"}, lazyregexp.New(`_test\.go$`), lazyregexp.New(`(?m)^func ((?:Test|Fuzz|Example)\w*)\(`)},
	{[]string{".py"}, lazyregexp.New(`(^|/)(test_?[^/]*|[^/]*_tests?)\.py$`), lazyregexp.New(`(?m)^[ \t]*(?:async[ \t]+)?def (test\w*)\(`)},
	{[]string{".rb"}, lazyregexp.New(`(_spec|_test)\.rb$|(^|/)test_[^/]*\.rb$`),
		lazyregexp.New(`(?m)^[ \t]*(?:(?:it|specify|scenario|test|should|example)[ (]+["']([^"'\n]+)|def (test_\w+))`)},
	{[]string{".js", ".jsx", ".cjs", ".mjs", ".ts", ".tsx", ".cts", ".mts"}, lazyregexp.New(`(\.|-|_|^|/)(test|spec)s?\.[cm]?[jt]sx?$|(^|/)(__tests__|tests?|spec)/`),
		lazyregexp.New("(?m)^[ \\t]*(?:it|test|specify|Deno\\.test)(?:\\.\\w+)*\\(\\s*[\"'`]([^\"'`\\n]+)")},
	{[]string{".java", ".kt", ".groovy"}, lazyregexp.New(`(Tests?|TestCase|IT|Spec)\.\w+$`),
		lazyregexp.New(`@(?:Parameterized|Repeated)?Test\b(?:\([^()]*\))?(?:\s*@[\w.]+(?:\([^()]*\))?)*[^(){};@]*?\b(\w+)\s*\(`)},
	{[]string{".rs"}, lazyregexp.New(`\.rs$`), lazyregexp.New(`#\[(?:\w+::)*test\b[^\]]*\]\s*(?:#\[[^\]]*\]\s*)*(?:pub\s+)?(?:async\s+)?fn (\w+)`)},
}

// passedOver matches paths in directories that no runner enters.
var passedOver = lazyregexp.New(`(^|/)(testdata|node_modules|\.[^/]*|_[^_/][^/]*)/`)

// testsIn returns the lines on which the names of a file's tests are, by these names; nil for a file
// that no test runner collects.
func testsIn(name, code string) map[string][]int {
	i := slices.IndexFunc(testForms, func(form testForm) bool {
		return slices.Contains(form.endings, path.Ext(name)) && form.collected.MatchString(name)
	})
	if i < 0 || passedOver.MatchString(name) {
		return nil
	}
	found := map[string][]int{}
	line, read := 1, 0
	for _, at := range testForms[i].test.FindAllStringSubmatchIndex(code, -1) {
		for group := len(at) - 2; group > 0; group -= 2 {
			if at[group] >= 0 {
				line += strings.Count(code[read:at[group]], "\n")
				read = at[group]
				test := code[at[group]:at[group+1]]
				found[test] = append(found[test], line)
				break
			}
		}
	}
	return found
}

// tests compares the tests of a file with those that it had before the change.
func (f *File) tests() testCount {
	name := cmp.Or(f.Previous, f.Path)
	head := testsIn(f.Path, f.Text)
	count := testCount{removed: map[string][]int{}, added: map[string]int{}}
	if f.Patch == "" && f.Previous == "" && !f.Deleted {
		if f.Changed == nil { // every line of it is new
			for test, lines := range head {
				count.added[test] = len(lines)
			}
		}
		return count
	}
	if len(head) == 0 && testsIn(name, "") == nil {
		return count
	}
	code, at, ok := f.base()
	if !ok {
		return count
	}
	base := testsIn(name, code)
	for test, lines := range base {
		if less := len(lines) - len(head[test]); less > 0 {
			for _, line := range lines[:less] {
				if line >= len(at) || at[line].removed || at[line].blank { // otherwise the line after the name is left: the test has another name now
					count.removed[test] = append(count.removed[test], at[line-1].now)
				}
			}
		}
	}
	for test, lines := range head {
		if more := len(lines) - len(base[test]); more > 0 {
			count.added[test] = more
		}
	}
	return count
}

// fewerTests returns the tests that a change takes out, as one silence for each file. A test that is
// in another file now was moved.
func fewerTests(files []File, counts []testCount) []Silence {
	moved := map[string]int{}
	for _, count := range counts {
		for test, n := range count.added {
			moved[test] += n
		}
	}
	var found []Silence
	for i, count := range counts {
		var names []string
		first := 0
		for _, test := range slices.Sorted(maps.Keys(count.removed)) {
			for _, line := range count.removed[test] {
				if moved[test] > 0 {
					moved[test]--
					continue
				}
				if names = append(names, test); first == 0 || line < first {
					first = line
				}
			}
		}
		if len(names) == 0 {
			continue
		}
		one := silencer{Tool: "the test runner"}.silence(first, text.Count(len(names), "test")+": "+strings.Join(names, ", "), ScopeFile)
		one.TakesOut, one.Path = true, cmp.Or(files[i].Path, files[i].Previous)
		found = append(found, one)
	}
	return found
}
