package toolreport_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/toolreport"
)

// TestFormsThatNoCommandNames checks which totals count where the command names no test runner, or
// names another tool as well, or where the tests or a reporter print another form.
func TestFormsThatNoCommandNames(t *testing.T) {
	t.Parallel()
	const (
		eslint = "\n/src/a.js\n  1:1  warning  Bad  semi\n\n✖ 1 problem (0 errors, 1 warning)\n\n"
		mocha  = "  1 passing (3ms)\n  2 failing\n\n  1) a\n       one:\n     Error: no\n\n  2) a\n       two:\n     Error: no\n"
		jest   = "FAIL a.test.js\n  ● one\n\n    no\n\nTest Suites: 1 failed, 1 total\nTests:       4 failed, 4 total\n"
		npm    = "\n> x@1.0.0 test\n> "
	)
	for name, c := range map[string]struct {
		command, stdout string
		failed          int
	}{
		"a linter is named":                     {"npm test", npm + "eslint . && nyc --reporter lcov mocha\n" + eslint + mocha, 2},
		"a linter is named in the command":      {"flake8 . && ./cov.sh", "== 2 failed, 1 passed in 0.02s ==\n", 2},
		"a linter's JSON comes first":           {"npm test", npm + "eslint -f json . ; ./test.sh\n" + `[{"filePath":"/src/a.js","messages":[]}]` + "\n" + mocha, 2},
		"a reporter prints another form":        {"mocha --reporter tap", "1..3\nok 1 a\nnot ok 2 b\nnot ok 3 c\n", 2},
		"after a wrapper that is known":         {"coverage run -m pytest -q", "2 failed, 1 passed in 0.02s\n", 2},
		"a second runner in an unknown program": {"npm test", npm + "mocha && ./e2e.sh\n" + mocha + jest, 6},
		"what a test of mocha's prints":         {"npm test", npm + "mocha\n" + jest + mocha, 2},
		"what a test of mocha's logs":           {"npm test", npm + "mocha\n[server] " + strings.ReplaceAll(mocha, "\n", "\n[server] ") + "\n" + mocha, 2},
		"a label in a prefix":                   {"turbo run test", "web:test: [unit]   1 passing (1ms)\nweb:test: [unit]   3 failing\nweb:test: [api] 2 failed, 1 passed in 0.02s\n", 5},
		"a frame":                               {"pnpm -r test", "packages/a test$ mocha\n│   1 passing (1ms)\n│   3 failing\n└─ Failed in 1s\n", 3},
		"services":                              {"docker compose up", "web-1  |   1 passing (1ms)\nweb-1  |   3 failing\nlonger | 1 failed in 1s\n", 4},
		"no runner":                             {"make test", "[a] 3 files in 1s\nb: 42 modules in 3s\n7 chunks in 3s\n", 1},
	} {
		got := read(t, toolreport.Tool{Command: []string{c.command}, Check: "tests", Roots: []string{"/src"}},
			output{Stdout: strings.NewReader(c.stdout), Exit: toolreport.Exit{Code: 1}})
		if got.Tests.Failed != c.failed {
			t.Errorf("%s: %+v by %q, want %d", name, got.Tests, got.Tool, c.failed)
		}
	}
}

// TestPlacesOfTasks checks that a path that a task prints is not taken for another file's where the
// task's directory is not known.
func TestPlacesOfTasks(t *testing.T) {
	t.Parallel()
	const failure = "  0 passing (1ms)\n  1 failing\n\n  1) a:\n     Error: no\n      at Context.<anonymous> (%s:3:9)\n"
	exists := func(name string) bool {
		return name == "web/packages/a" || name == "web/packages/a/test/a.js" || name == "web/own.js"
	}
	for name, c := range map[string]struct{ prefix, printed, want string }{
		"pnpm names the directory": {"packages/a test: ", "test/a.js", "web/packages/a/test/a.js"},
		"turbo does not":           {"a:test: ", "test/a.js", ""},
		"an absolute path":         {"a:test: ", "/src/web/packages/a/test/a.js", "web/packages/a/test/a.js"},
		"below the command's":      {"[unit] ", "own.js", "web/own.js"},
		"out of the root":          {"[unit] ", "../../etc/passwd", ""},
	} {
		out := c.prefix + strings.ReplaceAll(fmt.Sprintf(failure, c.printed), "\n", "\n"+c.prefix) + "\n"
		got := read(t, toolreport.Tool{Command: []string{"npm-run-all x"}, Check: "tests", Roots: []string{"/src"}, Dir: "web", Exists: exists},
			output{Stdout: strings.NewReader(out), Exit: toolreport.Exit{Code: 1}})
		if len(got.Tests.Failing) != 1 || got.Tests.Failing[0].Path != c.want {
			t.Errorf("%s: %+v", name, got.Tests)
		}
	}
}

// TestMoreTasksThanAreRead checks that all lines of a test runner are read even if lines of very
// many other tasks come between them.
func TestMoreTasksThanAreRead(t *testing.T) {
	t.Parallel()
	noise := &strings.Builder{}
	for i := range 20_000 {
		fmt.Fprintf(noise, "worker%d: busy\n", i)
	}
	const began, ended = "[a]   1 passing (1ms)\n[a]   2 failing\n", "[a]   1) x:\n[a]      Error: no\n[a]   2) y:\n[a]      Error: no\n"
	got := read(t, toolreport.Tool{Command: []string{"make test"}, Check: "tests"},
		output{Stdout: io.MultiReader(strings.NewReader(began), strings.NewReader(noise.String()), strings.NewReader(ended)), Exit: toolreport.Exit{Code: 1}})
	if got.Tests.Failed != 2 || len(got.Tests.Failing) != 2 {
		t.Errorf("%+v", got.Tests)
	}
}

// TestExcerptsBeginWhereItFails checks that the names of tests that passed are not taken
// for failures.
func TestExcerptsBeginWhereItFails(t *testing.T) {
	t.Parallel()
	for _, passed := range []string{
		"    ✔ throws Error: no number", "  ✓ reports FAILED runs", "ok 3 - an error: kept", "PASS  src/Error: x.test.ts", "--- PASS: TestFAIL (0.00s)",
		"test_error ... ok", "t.py::test_FAILED PASSED [ 10%]", "web:test:   ✔ rejects error: x",
	} {
		out := passed + "\n" + strings.Repeat("one more line\n", 60) + "  1 failing\nThe reason\n"
		got := read(t, toolreport.Tool{Command: []string{"make test"}, Check: "tests"}, output{Stdout: strings.NewReader(out), Exit: toolreport.Exit{Code: 1}})
		if strings.Contains(got.FirstFailures, passed) || !strings.Contains(got.FirstFailures, "The reason") {
			t.Errorf("%s:\n%s", passed, got.FirstFailures)
		}
	}
}
