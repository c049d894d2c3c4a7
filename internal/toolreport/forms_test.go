package toolreport_test

import (
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/toolreport"
	"github.com/google/go-cmp/cmp"
)

func TestExplained(t *testing.T) {
	t.Parallel()
	const stylish = "\n/src/a.js\n  1:1  error  Bad  semi\n\n✖ 1 problem (1 error, 0 warnings)\n"
	for name, c := range map[string]struct {
		command, stdout, stderr string
		exit                    toolreport.Exit
		want                    bool
	}{
		"findings":              {"eslint .", stylish, "", toolreport.Exit{Code: 1}, true},
		"nothing":               {"eslint .", "", "", toolreport.Exit{}, true},
		"failed without a word": {"eslint .", "", "", toolreport.Exit{Code: 1}, false},
		"another exit code":     {"eslint .", stylish, "", toolreport.Exit{Code: 2}, false},
		"crashed as well":       {"eslint .", stylish, "Oops! Something went wrong! :(\n", toolreport.Exit{Code: 1}, false},
		"time was over":         {"eslint .", stylish, "", toolreport.Exit{Code: 1, TimedOut: true}, false},
		"ended by a signal":     {"eslint .", stylish, "", toolreport.Exit{Code: -1}, false},
		"an unknown tool":       {"make lint", "a.go:1:1: odd\n", "", toolreport.Exit{Code: 1}, false},
		"known by its output":   {"make lint", stylish, "", toolreport.Exit{Code: 1}, false},
		"known by the echo":     {"yarn lint", "$ eslint .\n" + stylish, "", toolreport.Exit{Code: 1}, true},
		"code is the count":     {"checkstyle -c x.xml .", "[ERROR] /src/A.java:1: Bad. [Rule]\n", "", toolreport.Exit{Code: 7}, true},
	} {
		got := read(t, toolreport.Tool{Command: strings.Fields(c.command), Roots: []string{"/src"}},
			output{Stdout: strings.NewReader(c.stdout), Stderr: strings.NewReader(c.stderr), Exit: c.exit})
		if got.Explained != c.want {
			t.Errorf("%s: explained %v, by %q", name, got.Explained, got.Tool)
		}
	}
}

// TestMixed asserts that a report is mixed if a command starts several programs and not all are
// known, or if it changes its directory on the way or to one that is not known.
func TestMixed(t *testing.T) {
	t.Parallel()
	const stylish = "\n/src/a.js\n  1:1  warning  Bad  semi\n\n✖ 1 problem (0 errors, 1 warning)\n"
	const npm = "\n> app@1.0.0 lint\n> "
	for name, c := range map[string]struct {
		command, stdout string
		want            bool
	}{
		"one that is known":           {"eslint .", stylish, false},
		"a script that is known":      {"npm run lint", npm + "eslint .\n" + stylish, false},
		"two that are known":          {"npm run lint", npm + "prettier --check . && eslint .\n" + stylish, false},
		"another after it":            {"npm run lint", npm + "eslint . && node style.js\n" + stylish, true},
		"another, by the line itself": {"eslint . ; stylelint src", stylish, true},
		"scripts of a script":         {"npm run lint", npm + "npm run js && npm run css\n" + npm + "eslint .\n" + stylish + npm + "stylelint .\n", true},
		"by yarn":                     {"yarn lint", "$ eslint . && knip\n" + stylish, true},
		"a quotation is not a script": {"npm run lint", npm + "eslint .\n" + stylish + "\n> run it with --fix\n", false},
		"a known directory":           {"cd web && eslint .", stylish, false},
		"directories on the way":      {"eslint . && cd web && eslint .", stylish, true},
		"a hyphen in its name":        {"cd my-web && eslint .", stylish, false},
		"an unknown directory":        {"cd $DIR && eslint .", stylish, true},
		"the directory before":        {"cd - && eslint .", stylish, true},
	} {
		got := read(t, toolreport.Tool{Command: []string{c.command}, Roots: []string{"/src"}},
			output{Stdout: strings.NewReader(c.stdout), Exit: toolreport.Exit{Code: 1}})
		if got.Mixed != c.want {
			t.Errorf("%s: mixed %v", name, got.Mixed)
		}
	}
}

// TestAFormOfSeveralTools asserts that a line in the form of several tools is one finding, whether or
// not the command names one of them.
func TestAFormOfSeveralTools(t *testing.T) {
	t.Parallel()
	const commands = "::error file=a.js,line=1,col=2,title=semi::Bad\n::error file=a.js,line=1,col=3,title=semi::Bad\n"
	for _, command := range []string{"make lint", "biome ci", "oxlint ."} {
		got := read(t, toolreport.Tool{Command: strings.Fields(command), Roots: []string{"/src"}}, output{Stdout: strings.NewReader(commands), Exit: toolreport.Exit{Code: 1}})
		if len(got.Findings) != 2 {
			t.Errorf("%s: %d findings, want 2: %+v", command, len(got.Findings), got.Findings)
		}
	}
}

func TestDirectoriesThatACommandChangesTo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ command, stdout, want string }{
		"none":           {"go vet ./...", "./a.go:1:2: odd\n", "app/a.go"},
		"cd":             {"cd web && go vet ./...", "./a.go:1:2: odd\n", "app/web/a.go"},
		"cd, a hyphen":   {"cd my-web && go vet ./...", "./a.go:1:2: odd\n", "app/my-web/a.go"},
		"cd of yarn":     {"yarn lint", "$ cd web && go vet ./...\n./a.go:1:2: odd\n", "app/web/a.go"},
		"make":           {"make lint", "make[1]: Entering directory '/src/app/lib'\na.go:1:2: odd\n", "app/lib/a.go"},
		"make, in it":    {"make lint", "make[1]: Entering directory '/src/lib'\na.go:1:2: odd\nmake[1]: Leaving directory '/src/lib'\n", "lib/a.go"},
		"make, left":     {"make lint", "make: Entering directory '/src/lib'\nmake: Leaving directory '/src/lib'\na.go:1:2: odd\n", "app/a.go"},
		"make, back":     {"make lint", "make[1]: Entering directory '/src/lib'\nmake[2]: Entering directory '/src/lib/in'\nmake[2]: Leaving directory '/src/lib/in'\na.go:1:2: odd\n", "lib/a.go"},
		"make, siblings": {"make -j lint", "make[1]: Entering directory '/src/lib'\nmake[1]: Entering directory '/src/web'\nmake[1]: Leaving directory '/src/lib'\na.go:1:2: odd\n", "web/a.go"},
		"make, all left": {"make lint", "make[1]: Entering directory '/src/lib'\nmake[2]: Entering directory '/src/lib/in'\nmake[2]: Leaving directory '/src/lib/in'\nmake[1]: Leaving directory '/src/lib'\na.go:1:2: odd\n", "app/a.go"},
		"ninja":          {"meson compile -C build", "ninja: Entering directory `/src/app/build'\n../a.go:1:2: odd\n", "app/a.go"},
		"make, outside":  {"make lint", "make: Entering directory '/etc'\na.go:1:2: odd\n", "app/a.go"},
		"make, the root": {"make -C .. lint", "make: Entering directory '/src'\na.go:1:2: odd\n", "a.go"},
	} {
		got := read(t, toolreport.Tool{Command: []string{c.command}, Roots: []string{"/src"}, Dir: "app"},
			output{Stdout: strings.NewReader(c.stdout), Exit: toolreport.Exit{Code: 1}})
		if len(got.Findings) != 1 || got.Findings[0].Path != c.want {
			t.Errorf("%s: %+v, want it in %s", name, got.Findings, c.want)
		}
	}
}

func TestTestsThatPrintWhatARunnerPrints(t *testing.T) {
	t.Parallel()
	const npm, two = "\n> x@1.0.0 test\n> mocha\n", "  1 passing (3ms)\n  2 failing\n\n  1) one:\n     Error: no\n\n  2) two:\n     Error: no\n"
	for name, c := range map[string]struct {
		command, stdout string
		code, failed    int
		listed          int
		none            bool
	}{
		"jest's document in mocha":      {"npm test", npm + `{"numFailedTests":0,"testResults":[]}` + "\n" + two, 2, 2, 2, false},
		"go's events in mocha":          {"npm test", npm + `{"Action":"pass","Package":"x"}` + "\n" + two, 2, 2, 2, false},
		"the same without a name":       {"make test", `{"numFailedTests":0,"testResults":[]}` + "\n" + two, 2, 2, 2, false},
		"mocha's totals in a document":  {"mocha --reporter json", "  5 passing (1ms)\n" + `{"stats":{"tests":1},"passes":[],"failures":[{"fullTitle":"a"}]}` + "\n", 1, 1, 1, false},
		"no tests, in one of them only": {"npm test", npm + `{"numFailedTests":0,"testResults":[]}` + "\n  1 passing (3ms)\n", 0, 0, 0, false},
		"totals that pytest repeats": {"pytest", "=== test session starts ===\n=== FAILURES ===\n___ test_a ___\n=== short test summary info ===\nFAILED x.py::z - no\n9 failed in 1s\n" +
			"FAILED y.py::z\na.py:3: AssertionError\n=== 7 failed in 0.1s ===\n=== short test summary info ===\nFAILED a.py::test_a[x - y] - assert 0\nFAILED a.py::test_b - assert 0\n=== 2 failed in 0.02s ===\n", 1, 2, 2, false},
		"totals before those of pytest -q": {"pytest -q", "no tests ran in 1s\n3 passed in 0.1s\n2 failed in 0.02s\n", 1, 2, 0, false},
		"totals that cargo repeats": {"cargo test", "test a ... FAILED\ntest b ... ok\n\nfailures:\n\n---- a stdout ----\ntest q ... FAILED\ntest result: FAILED. 0 passed; 9 failed; 0 ignored; 0 measured\n" +
			"\nfailures:\n    a\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured\n", 101, 1, 1, false},
		"totals that a test of Maven's prints": {"mvn test", "[INFO] --- surefire:3.2.5:test (default-test) @ a ---\n[ERROR] Tests run: 9, Failures: 9, Errors: 0, Skipped: 0\n[ERROR] qz -- Time elapsed: 0.1 s <<< FAILURE!\n" +
			"[ERROR] Tests run: 2, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.1 s <<< FAILURE! - in a.T\n[ERROR] one(a.T)  Time elapsed: 0 s  <<< FAILURE!\n[INFO] Results:\n[ERROR] Tests run: 2, Failures: 1, Errors: 0, Skipped: 0\n" +
			"[INFO] --- surefire:3.2.5:test (default-test) @ b ---\n[ERROR] Tests run: 1, Failures: 0, Errors: 1, Skipped: 0, Time elapsed: 0.1 s <<< FAILURE! - in b.T\n[ERROR] two(b.T)  Time elapsed: 0 s  <<< ERROR!\n[ERROR] Tests run: 1, Failures: 0, Errors: 1, Skipped: 0\n[INFO] BUILD FAILURE\n", 1, 2, 2, false},
		"output of a cargo test that passed":       {"cargo test -- --show-output", "\nrunning 1 test\ntest a ... ok\n\nsuccesses:\n\n---- a stdout ----\nhello\n\n\nsuccesses:\n    a\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured\n", 0, 0, 0, false},
		"a target that a test of cargo's ends":     {"cargo test", "\nrunning 2 tests\ntest a ... ok\n\nrunning 1 test\ntest b ... FAILED\n\nfailures:\n\n---- b stdout ----\nrunning 7 tests\n\nfailures:\n    b\n\ntest result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured\n", 101, 2, 2, false},
		"an example that a test of rspec's prints": {"rspec", "rspec ./x.rb:3 # z\n\nFailures:\n\n  1) A fakes\n     Failure/Error: no\n\n1 example, 1 failure\n\nFailed examples:\n\nrspec ./spec/a_spec.rb:2 # A fakes\n", 1, 1, 1, false},
		"a second run of node's test runner": {"npm test", npm + "node --test two.js; node --test three.js\n\n✖ adds (117.660278ms)\n▶ group\n  ✖ inner (58.044783ms)\n  ✔ sound (0.495835ms)\n✖ group (79.102191ms)\nℹ tests 3\nℹ fail 2\nℹ cancelled 0\nℹ duration_ms 4977.56\n" +
			"\n✖ failing tests:\n\ntest at two.js:2:1\n✖ adds (117.660278ms)\n  AssertionError [ERR_ASSERTION]: 2 == 3\n\ntest at two.js:2:62\n✖ inner (58.044783ms)\n  Error: no\n" +
			"✖ divides z (37.857176ms)\n✔ sound (0.207458ms)\nℹ tests 2\nℹ fail 1\nℹ cancelled 0\nℹ duration_ms 3817.03\n\n✖ failing tests:\n\ntest at three.js:2:1\n✖ divides (37.857176ms)\n  Error: by zero\n", 1, 3, 3, false},
		"Maven prints only that tests failed": {"mvn -q test", "[INFO] BUILD FAILURE\n[ERROR] Failed to execute goal org.apache.maven.plugins:maven-surefire-plugin:3.2.5:test (default-test) on project app: There are test failures.\n", 1, 1, 0, false},
		"no tests at all":                     {"npm test", npm + "  0 passing (3ms)\n", 0, 0, 0, true},
	} {
		got := read(t, toolreport.Tool{Command: []string{c.command}, Check: "tests"},
			output{Stdout: strings.NewReader(c.stdout), Exit: toolreport.Exit{Code: c.code}})
		if got.Tests.Failed != c.failed || got.Tests.None != c.none || len(got.Tests.Failing) != c.listed {
			t.Errorf("%s: %+v, want %d failed, %d of them listed, none: %v", name, got.Tests, c.failed, c.listed, c.none)
		}
		// Tests print the names that end in z. The message of test_a[x - y] begins after the second " - ".
		for _, f := range got.Tests.Failing {
			if strings.HasSuffix(f.Name, "z") || strings.Contains(f.Name, "x - y") && f.Message != "assert 0" {
				t.Errorf("%s: %+v is not a test that failed", name, f)
			}
		}
	}
}

func TestMochaNamesOnlyFilesThatItPrints(t *testing.T) {
	t.Parallel()
	for printed, want := range map[string]string{" Exception during run: /src/a.js:3\n": "a.js", " Exception during run: Error: load\n": ""} {
		got := read(t, toolreport.Tool{Command: []string{"mocha"}, Check: "tests", Roots: []string{"/src"}},
			output{Stderr: strings.NewReader(printed), Exit: toolreport.Exit{Code: 1}})
		if f := got.Tests.Failing; len(f) != 1 || f[0].Path != want {
			t.Errorf("%q: %+v", printed, f)
		}
	}
}

func TestARunThatEndsBeforeItsTotals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		command, stdout string
		code            int
		noted           bool
	}{
		"ended by a test":     {"mocha", "\n  ✔ ok\n", 0, true},
		"to its end":          {"mocha", "\n  ✔ ok\n\n  1 passing (2ms)\n", 0, false},
		"failed":              {"pytest", "", 1, false},
		"a runner not known":  {"node test.js", "", 0, false},
		"a target that ended": {"cargo test", "running 1 test\n\nrunning 1 test\ntest a ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured\n", 0, true},
		"totals not printed":  {"mvn -q test", "", 0, false},
	} {
		got := read(t, toolreport.Tool{Command: []string{c.command}, Check: "tests"},
			output{Stdout: strings.NewReader(c.stdout), Exit: toolreport.Exit{Code: c.code}})
		if noted := len(got.Notes) == 1 && strings.Contains(got.Notes[0], "without its totals"); noted != c.noted || len(got.Notes) > 1 {
			t.Errorf("%s: %q", name, got.Notes)
		}
	}
}

func TestDiffsBecomeSuggestions(t *testing.T) {
	t.Parallel()
	const head = "--- a/app.py\t2026-11-22 00:00:00\n+++ b/app.py\n"
	for name, c := range map[string]struct {
		hunks string
		want  []finding.Finding
	}{
		"a line":                     {"@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", []finding.Finding{{Range: span(2, 0, 2, 0), Suggestion: "B"}}},
		"two runs":                   {"@@ -1,5 +1,4 @@\n-a\n+A\n b\n-c\n-d\n+CD\n e\n", []finding.Finding{{Range: span(1, 0, 1, 0), Suggestion: "A"}, {Range: span(3, 0, 4, 0), Suggestion: "CD"}}},
		"only added":                 {"@@ -2,2 +2,3 @@\n a\n+\n b\n", []finding.Finding{{Range: span(2, 0, 3, 0), Suggestion: "a\n\nb"}}},
		"added before an empty line": {"@@ -2,3 +2,4 @@\n a\n+\n \n b\n", []finding.Finding{{Range: span(2, 0, 3, 0), Suggestion: "a\n\n"}}},
		"added at the start":         {"@@ -0,0 +1 @@\n+x\n", []finding.Finding{{Range: span(1, 0, 0, 0)}}},
		"added, no context":          {"@@ -7,0 +8,2 @@\n+x\n+y\n", []finding.Finding{{Range: span(7, 0, 0, 0)}}},
		"removed":                    {"@@ -3,2 +3 @@\n-a\n b\n", []finding.Finding{{Range: span(3, 0, 4, 0), Suggestion: "b"}}},
		"removed, alone":             {"@@ -3 +2,0 @@\n-a\n", []finding.Finding{{Range: span(3, 0, 3, 0)}}},
		"a line too long":            {"@@ -1 +1 @@\n-a\n+" + strings.Repeat("x", 9000) + "\n", []finding.Finding{{Range: span(1, 0, 1, 0)}}},
		"very many lines":            {"@@ -1 +1,1200 @@\n-a\n" + strings.Repeat("+x\n", 1200), []finding.Finding{{Range: span(1, 0, 1, 0)}}},
		"a hunk in parts":            {"@@ -1,3000 +1 @@\n" + strings.Repeat("-"+strings.Repeat("x", 2_000)+"\n", 3_000) + "+B\n", []finding.Finding{{Range: span(1, 0, 2097, 0)}, {Range: span(2098, 0, 3000, 0)}}},
		"looks like a head":          {"@@ -1,2 +1,2 @@\n--- x\n+++ y\n z\n", []finding.Finding{{Range: span(1, 0, 1, 0), Suggestion: "++ y"}}},
		"no hunk":                    {"@@ -x,2 +1 @@\n-a\n", nil},
	} {
		got := read(t, toolreport.Tool{Name: "black"}, output{Stdout: strings.NewReader(head + c.hunks), Exit: toolreport.Exit{Code: 1}})
		for i := range got.Findings {
			f := &got.Findings[i]
			if f.Path != "app.py" || f.Severity != finding.Low || f.Message == "" || f.Tool != "black" {
				t.Errorf("%s: %+v", name, f)
			}
			*f = finding.Finding{Range: f.Range, Suggestion: f.Suggestion}
		}
		if diff := cmp.Diff(c.want, got.Findings); diff != "" {
			t.Errorf("%s\n%s", name, diff)
		}
	}
}

// TestRustfmtsLongHunk checks that a hunk that is too long to be kept becomes two findings without a
// suggestion, and that the next one has its suggestion.
func TestRustfmtsLongHunk(t *testing.T) {
	t.Parallel()
	diff := "Diff in a.rs:1:\n" + strings.Repeat("-"+strings.Repeat("x", 2_000)+"\n", 3_000) + "+B\nDiff in b.rs:7:\n-c\n+C\n"
	got := read(t, toolreport.Tool{Name: "rustfmt"}, output{Stdout: strings.NewReader(diff), Exit: toolreport.Exit{Code: 1}})
	var suggestions []string
	for _, f := range got.Findings {
		suggestions = append(suggestions, f.Path+": "+f.Suggestion)
	}
	if diff := cmp.Diff([]string{"a.rs: ", "a.rs: ", "b.rs: C"}, suggestions); diff != "" {
		t.Error(diff)
	}
}

// In TestTAP, tests that were planned and did not run count as one failure.
func TestTAP(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tap    string
		failed int
		known  bool
	}{
		"plan first":         {"1..2\nok 1 - a\nnot ok 2 - b\n", 1, true},
		"plan last":          {"ok 1\nnot ok 2\n1..2\n", 1, true},
		"subtests":           {"TAP version 14\n    not ok 1 - x\n    ok 2 - y\n    1..2\nnot ok 1 - parent\nnot ok 2 - alone\n1..2\n", 2, true},
		"deep subtests":      {"TAP version 14\n        not ok 1 - x\n    not ok 1 - y\nnot ok 1 - z\nok 2\n1..2\n", 1, true},
		"fewer than planned": {"1..3\nok 1\nok 2\n", 1, false},
		"bail out":           {"1..3\nnot ok 1\nBail out! No disk\n", 2, false},
		"quoted tests":       {"TAP version 13\nnot ok 1 - a\n  ---\n  error: |-\n    not ok 5\n\n    ok 6\n  code: 'X'\n  ...\n    not ok 1 - s\n      ---\n      stack: |-\n        not ok 7 - z\n      ...\nnot ok 2 - b\nnot ok 3 - c # TODO\n  ---\n  error: |-\n    not ok 8\n  ...\n1..3\n", 2, true},
		"a block cut off":    {"1..3\nnot ok 1\n  ---\n  error: 'x'\nnot ok 2\nok 3\n", 2, true},
		"no block":           {"1..2\nok 1 - a\n  printed\n  ---\n    not ok 1 - x\nnot ok 2 - b\n", 1, true},
		"directives":         {"1..3\nnot ok 1 - a # TODO later\nnot ok 2 - b # SKIP no\nnot ok 3 - c \\# TODO\n", 1, true},
		"directives alone":   {"1..4\nnot ok 1 # TODO later\nnot ok # SKIP\nnot ok 3 - # todo\nnot ok 4 # of four\n", 1, true},
	} {
		got := read(t, toolreport.Tool{Command: []string{"make", "test"}, Check: "tests"},
			output{Stdout: strings.NewReader(c.tap), Exit: toolreport.Exit{Code: 1}})
		if got.Tool != "tap" || got.Tests.Failed != c.failed || got.Tests.Known != c.known {
			t.Errorf("%s: %s: %+v, want %d failed, known %v", name, got.Tool, got.Tests, c.failed, c.known)
		}
	}
}

func TestCutOffEvents(t *testing.T) {
	t.Parallel()
	const events = `{"Action":"fail","Package":"p","Test":"TestA"}` + "\n" + `{"Action":"fail","Package":"p"}` + "\n"
	for _, cut := range []bool{false, true} {
		out := events
		if cut {
			out += `{"Action":"run","Pack`
		}
		got := read(t, toolreport.Tool{Command: []string{"go", "test", "-json"}, Check: "tests"},
			output{Stdout: strings.NewReader(out), Exit: toolreport.Exit{Code: 1}})
		if got.Tests.Failed != 1 || (len(got.Notes) > 0) != cut {
			t.Errorf("cut %v: %+v, notes %v", cut, got.Tests, got.Notes)
		}
	}
}

// TestLongNamesKeepTheirMessages asserts that a name which is cut leads to what was printed of it.
func TestLongNamesKeepTheirMessages(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 3000)
	event := func(members string) string { return "{" + strings.ReplaceAll(members, "LONG", long) + "}\n" }
	for name, events := range map[string]string{
		"a test": event(`"Action":"run","Package":"p","Test":"TestLONG"`) + event(`"Action":"output","Package":"p","Test":"TestLONG","Output":"    a_test.go:3: wrong\n"`) +
			event(`"Action":"fail","Package":"p","Test":"TestLONG"`) + event(`"Action":"fail","Package":"p"`),
		"a build": event(`"Action":"build-output","ImportPath":"LONG","Output":"a_test.go:3: wrong\n"`) + event(`"Action":"build-fail","ImportPath":"LONG"`) +
			event(`"Action":"fail","Package":"p","FailedBuild":"LONG"`),
	} {
		got := read(t, toolreport.Tool{Command: []string{"go", "test", "-json"}, Check: "tests"}, output{Stdout: strings.NewReader(events), Exit: toolreport.Exit{Code: 1}})
		if len(got.Tests.Failing) != 1 || !strings.Contains(got.Tests.Failing[0].Message, "wrong") {
			t.Errorf("%s: %.300v", name, got.Tests.Failing)
		}
	}
}

func TestJUnit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		xml  string
		want []toolreport.Failure
	}{
		"a test": {`<testsuites><testsuite name="s" failures="1"><testcase classname="c" name="t" file="a.py" line="3"><failure message="no">at</failure></testcase><testcase name="ok"/></testsuite></testsuites>`, []toolreport.Failure{{Name: "c t", Unit: "s", Cause: toolreport.Failed, Path: "a.py", Line: 3, Message: "no"}}},
		"node's test that is to do": {`<testsuites><testcase name="a" classname="test" failure="no"><failure message="no"/></testcase><testsuite name="s" failures="1"><testsuite name="i" failures="2"><testcase name="b"><skipped type="todo" message="true"/><failure message="t"/></testcase><testcase name="c"><failure message="t"/><skipped type="todo"/></testcase></testsuite></testsuite></testsuites>`,
			[]toolreport.Failure{{Name: "test a", Cause: toolreport.Failed, Message: "no"}}},
		"a suite":     {`<testsuite name="s" errors="1" file="a.py"></testsuite>`, []toolreport.Failure{{Unit: "s", Cause: toolreport.Crash, Path: "a.py"}}},
		"two reports": {`<?xml version="1.0"?><testsuite name="a"><testcase name="x"><error/></testcase></testsuite>` + "\n" + `<?xml version="1.0"?><testsuite name="b"><testcase name="y"><failure>text</failure></testcase></testsuite>`, []toolreport.Failure{{Name: "x", Unit: "a", Cause: toolreport.Failed}, {Name: "y", Unit: "b", Cause: toolreport.Failed, Message: "text"}}},
	} {
		got := read(t, toolreport.Tool{Check: "tests"}, output{Stdout: strings.NewReader(c.xml + "\n"), Exit: toolreport.Exit{Code: 1}})
		if diff := cmp.Diff(c.want, got.Tests.Failing); diff != "" || !got.Tests.Known {
			t.Errorf("%s: known %v\n%s", name, got.Tests.Known, diff)
		}
	}
}

// TestFilesThatCannotBeParsed asserts that a report lists the files that a tool could not parse if
// the tool reads each file on its own. Files with errors of types are not listed, because such errors
// may come from another file.
func TestFilesThatCannotBeParsed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		command, stdout, stderr string
		code                    int
		want                    []string
		broken                  bool
	}{
		"rustfmt":             {"cargo fmt --check", "", "error: this file contains an unclosed delimiter\n --> /src/src/broken.rs:1:9\n  |\n1 | fn x( {\n\nError writing files: failed to resolve mod `broken`: cannot parse /src/src/broken.rs\n", 1, []string{"src/broken.rs"}, false},
		"rustfmt at the root": {"cargo fmt --check", "", "error[E0765]: unterminated double quote string\n --> /src/src/main.rs:2:23\n", 101, []string{"src/main.rs"}, false},
		"ruff format":         {"ruff format --check .", "Would reformat: a.py\n1 file would be reformatted\n", "error: Failed to parse b.py:1:5: Expected an expression\n", 2, []string{"b.py"}, false},
		"go vet":              {"go vet ./...", "", "# m/a\nvet: a/a.go:2:9: expected ')', found '{'\nb/b.go:3:24: fmt.Printf is odd\n", 1, []string{"a/a.go"}, false},
		"go vet's types":      {"go vet ./...", "", "# m/a\nvet: a/a.go:2:9: undefined: x\n", 1, nil, true},
		"biome":               {"biome lint .", "::error title=parse,file=./b.js,line=1,endLine=1,col=7,endColumn=8::Expected%2C found\n::error title=lint/x,file=./a.js,line=1,endLine=1,col=2,endColumn=2::bad\n", "", 1, []string{"b.js"}, false},
		"standard":            {"standard", "  /src/b.js:1:7: Parsing error: Unexpected token = (null)\n", "standard: Use JavaScript Standard Style (https://standardjs.com)\n", 1, []string{"b.js"}, false},
		"a denied lint":       {"cargo clippy --message-format=json", `{"reason":"compiler-message","message":{"level":"error","message":"unused variable","code":{"code":"unused_variables"},"spans":[{"file_name":"src/a.rs","line_start":1,"line_end":1,"column_start":1,"column_end":2,"is_primary":true}],"children":[]}}` + "\n", "", 101, nil, false},
		"a compiler's error":  {"cargo clippy --message-format=json", `{"reason":"compiler-message","message":{"level":"error","message":"mismatched types","code":{"code":"E0308"},"spans":[{"file_name":"src/a.rs","line_start":1,"line_end":1,"column_start":1,"column_end":2,"is_primary":true}],"children":[]}}` + "\n", "", 101, nil, true},
	} {
		got := read(t, toolreport.Tool{Command: strings.Fields(c.command), Roots: []string{"/src"}, Check: "linter"},
			output{Stdout: strings.NewReader(c.stdout), Stderr: strings.NewReader(c.stderr), Exit: toolreport.Exit{Code: c.code}})
		if diff := cmp.Diff(c.want, got.Unparsed); diff != "" || got.Broken != c.broken || !got.Explained {
			t.Errorf("%s: broken %v, explained %v\n%s\n%+v", name, got.Broken, got.Explained, diff, got.Findings)
		}
	}
}
