package toolreport

import (
	"io"
	"strings"
	"testing"
)

// reportOf returns the report on a command of tests that ended with exit code 0 and wrote
// the output to its standard output.
func reportOf(t *testing.T, command, output string) Report {
	t.Helper()
	r, err := New(Tool{Command: []string{command}, Check: "tests"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(r.Stdout(), output); err != nil {
		t.Fatal(err)
	}
	return r.Report(Exit{})
}

// TestAllSkipped asserts that a run is known to have run no test if all tests were skipped, as they
// are if no name matches a filter, but not if one test ran, even one of another runner.
func TestAllSkipped(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ command, skipped, ran string }{
		{"jest", "Tests:       3 skipped, 3 total\n", "Tests:       2 skipped, 1 passed, 3 total\n"},
		{"jest --json", `{"numFailedTests":0,"numTotalTests":1,"testResults":[{"name":"/a.js","status":"passed","assertionResults":[{"fullName":"a","status":"pending"}]}]}`,
			`{"numFailedTests":0,"numTotalTests":2,"testResults":[{"name":"/a.js","status":"passed","assertionResults":[{"fullName":"a","status":"pending"},{"fullName":"b","status":"passed"}]}]}`},
		{"vitest run", " Test Files  1 skipped (1)\n      Tests  3 skipped (3)\n", " Test Files  1 passed (1)\n      Tests  1 passed | 2 skipped (3)\n"},
		{"mocha", "\n  0 passing (4ms)\n  1 pending\n", "\n  1 passing (4ms)\n  1 pending\n"},
		{"mocha --reporter json", `{"stats":{"tests":1,"passes":0,"pending":1},"failures":[],"passes":[]}`, `{"stats":{"tests":2,"passes":1,"pending":1},"failures":[],"passes":[{}]}`},
		{"node --test", "TAP version 13\n# Subtest: a\n    ok 1 - b # SKIP test name does not match pattern\n    1..1\nok 1 - a\n1..1\n", "TAP version 13\n# Subtest: a\n    ok 1 - b # SKIP\n    ok 2 - c\n    1..2\nok 1 - a\n1..1\n"},
		{"node --test", "ℹ tests 2\nℹ fail 0\nℹ skipped 2\nℹ duration_ms 3\n", "ℹ tests 2\nℹ fail 0\nℹ skipped 1\nℹ duration_ms 3\n"},
		{"prove t", "t/a.t .. skipped: no db\nFiles=1, Tests=0,  1 wallclock secs\nResult: NOTESTS\n", "t/a.t .. ok\nAll tests successful.\nFiles=1, Tests=1,  1 wallclock secs\nResult: PASS\n"},
		{"prove -v t", "t/a.t .. \n1..0 # SKIP no db\nskipped: no db\nResult: NOTESTS\n", "t/a.t .. \n1..2\nok 1 # SKIP no\nok 2\nok\nResult: PASS\n"},
		{"cargo test", "running 1 test\ntest a ... ignored\n\ntest result: ok. 0 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out\n", "running 2 tests\ntest a ... ignored\ntest b ... ok\n\ntest result: ok. 1 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out\n"},
		{"pytest", "2 skipped, 3 deselected in 0.01s\n", "1 xfailed, 2 skipped in 0.01s\n"},
		{"python3 -m unittest", "Ran 2 tests in 0.001s\n\nOK (skipped=2)\n", "Ran 2 tests in 0.001s\n\nOK (skipped=1)\n"},
		{"rake test", "2 runs, 0 assertions, 0 failures, 0 errors, 2 skips\n", "2 runs, 1 assertions, 0 failures, 0 errors, 1 skips\n"},
		{"rake test", "2 tests, 0 assertions, 0 failures, 0 errors, 1 pendings, 1 omissions, 0 notifications\n", "2 tests, 1 assertions, 0 failures, 0 errors, 0 pendings, 1 omissions, 0 notifications\n"},
		{"rspec", "2 examples, 0 failures, 2 pending\n", "2 examples, 0 failures, 1 pending\n"},
		{"rspec --format json", `{"examples":[{"status":"pending"}],"summary":{},"summary_line":""}`, `{"examples":[{"status":"pending"},{"status":"passed"}],"summary":{},"summary_line":""}`},
		{"mvn test", "[WARNING] Tests run: 2, Failures: 0, Errors: 0, Skipped: 2\n[INFO] BUILD SUCCESS\n", "[WARNING] Tests run: 2, Failures: 0, Errors: 0, Skipped: 1\n[INFO] BUILD SUCCESS\n"},
		{"go test -json ./...", `{"Action":"skip","Package":"x","Test":"TestA"}` + "\n" + `{"Action":"pass","Package":"x"}` + "\n", `{"Action":"skip","Package":"x","Test":"TestA/b"}` + "\n" + `{"Action":"pass","Package":"x","Test":"TestA"}` + "\n" + `{"Action":"pass","Package":"x"}` + "\n"},
		{"make test", `<testsuite name="a" tests="2"><testcase name="a"><skipped/></testcase><testcase name="b"><skipped type="pytest.skip"/></testcase></testsuite>`,
			`<testsuite name="a" tests="2"><testcase name="a"><skipped/></testcase><testcase name="b"><skipped type="pytest.xfail"/></testcase></testsuite>`},
		{"deno test --filter x", "ok | 0 passed | 0 failed | 3 filtered out (2ms)\n", "ok | 1 passed | 0 failed | 2 filtered out (2ms)\n"},
		{"make test", "No tests were found!!!\n", "No tests were found!!!\n100% tests passed, 0 tests failed out of 2\n"},
		{"make test", "No suitable tests defined.\n", "Ok:                 1   \nFail:               0   \n"},
		{"ctest", "100% tests passed, 0 tests failed out of 2\n\nTotal Test time (real) =   0.01 sec\n\nThe following tests did not run:\n\t  1 - a (Skipped)\n\t  2 - b (Skipped)\n",
			"100% tests passed, 0 tests failed out of 2\n\nThe following tests did not run:\n\t  1 - a (Skipped)\n"},
		{"meson test", "Ok:                 0   \nExpected Fail:      0   \nFail:               0   \nUnexpected Pass:    0   \nSkipped:            2   \nTimeout:            0   \n",
			"Ok:                 0   \nExpected Fail:      1   \nFail:               0   \nSkipped:            2   \n"},
		{"phpunit", "OK, but incomplete, skipped, or risky tests!\nTests: 2, Assertions: 0, Skipped: 1, Incomplete: 1.\n", "OK, but incomplete, skipped, or risky tests!\nTests: 2, Assertions: 1, Skipped: 1.\n"},
		{"vendor/bin/phpunit --filter x", "No tests executed!\n", "OK (1 test, 1 assertion)\n"},
	} {
		if got := reportOf(t, c.command, c.skipped); !got.Tests.None || got.Tests.Failed > 0 {
			t.Errorf("%s: %+v\n%s", c.command, got.Tests, c.skipped)
		}
		if got := reportOf(t, c.command, c.ran); got.Tests.None || got.Tests.Failed > 0 {
			t.Errorf("%s: %+v\n%s", c.command, got.Tests, c.ran)
		}
		if both := reportOf(t, "make test", c.skipped+strings.Repeat("-", 10)+"\nRan 1 test in 0.001s\n\nOK\n"); !strings.Contains(c.skipped, "{") && !strings.HasPrefix(c.skipped, "<") && both.Tests.None {
			t.Errorf("%s, then another runner: %+v", c.command, both.Tests)
		}
	}
}

// TestGradleSkipped asserts that no test of Gradle counts as run if its reports show that all were
// skipped, or if no task had tests. Tests that are up to date count as run, and a note says so if
// there are no others.
func TestGradleSkipped(t *testing.T) {
	t.Parallel()
	const skipped = `<testsuite name="ATest" tests="1" skipped="1"><testcase name="a"><skipped/></testcase></testsuite>`
	const passed = `<testsuite name="BTest" tests="1"><testcase name="b"/></testsuite>`
	const begin, end = "> Task :compileTestJava\n> Task :processTestResources NO-SOURCE\n", "BUILD SUCCESSFUL in 1s\n"
	for _, c := range []struct {
		output  string
		reports []string
		none    bool
		noted   bool
	}{
		{"> Task :test\n", []string{skipped}, true, false},
		{":app:test\n", []string{skipped, passed}, false, false},
		{"> Task :app:testDebugUnitTest\n", nil, false, false},
		{"> Task :test UP-TO-DATE\n", nil, false, true},
		{":app:jvmTest FROM-CACHE\n", nil, false, true},
		{"> Task :a:test UP-TO-DATE\n> Task :b:test\n", []string{passed}, false, false},
		{"> Task :test NO-SOURCE\n", nil, true, false},
		{"", nil, true, false},
		{"> Task :test\n" + end + "Ran 1 test in 0.001s\n\nOK\n", []string{skipped}, false, false},
	} {
		r, err := New(Tool{Command: []string{"make test"}, Check: "tests"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(r.Stdout(), begin+c.output+end); err != nil {
			t.Fatal(err)
		}
		for _, report := range c.reports {
			r.AddReport(ReportFile{Name: "TEST-a.xml"}, strings.NewReader(report))
		}
		if got := r.Report(Exit{}); got.Tests.None != c.none || (len(got.Notes) > 0) != c.noted {
			t.Errorf("%q: none %t, notes %q", c.output, got.Tests.None, got.Notes)
		}
	}
}
