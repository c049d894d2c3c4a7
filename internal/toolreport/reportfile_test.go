package toolreport_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/toolreport"
	"github.com/google/go-cmp/cmp"
)

// suite returns a report of JUnit with failing tests and one passing test.
func suite(failing int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<?xml version="1.0"?><testsuites><testsuite name="s" tests="%d" failures="%d"><testcase name="ok"/>`, failing+1, failing)
	for i := range failing {
		fmt.Fprintf(&b, `<testcase classname="c" name="t%d"><failure message="no %d">x</failure></testcase>`, i, i)
	}
	return b.String() + "</testsuite></testsuites>"
}

// TestReportsAgainstWhatWasPrinted asserts that if a report and the printed output differ, the worse
// of the two counts, because the code under test writes the report.
func TestReportsAgainstWhatWasPrinted(t *testing.T) {
	t.Parallel()
	const mocha = "  1 passing (3ms)\n  2 failing\n\n  1) a\n       one:\n     Error: no\n\n  2) a\n       two:\n     Error: no\n"
	for name, c := range map[string]struct {
		stdout  string
		code    int
		reports []string
		failed  int
		known   bool
		none    bool
		noted   string
	}{
		"only a report":                     {"", 1, []string{suite(5)}, 5, true, false, ""},
		"two reports":                       {"", 1, []string{suite(5), suite(1)}, 6, true, false, ""},
		"both agree":                        {mocha, 2, []string{suite(2)}, 2, true, false, ""},
		"the report has more":               {mocha, 2, []string{suite(3)}, 3, true, false, ""},
		"a forged report has fewer":         {mocha, 2, []string{suite(1)}, 2, true, false, ""},
		"a forged report has none":          {mocha, 2, []string{suite(0)}, 2, true, false, ""},
		"a forged report without tests":     {mocha, 2, []string{`<testsuites></testsuites>`}, 2, true, false, ""},
		"it fails, and the report has none": {"", 1, []string{suite(0)}, 1, false, false, ""},
		"it passes, and the report does":    {"", 0, []string{suite(0)}, 0, true, false, ""},
		"it passes, and the report fails":   {"", 0, []string{suite(2)}, 2, true, false, "reports failing tests (2), although the command ended with exit code 0"},
		"no tests":                          {"", 0, []string{`<testsuite name="s" tests="0"/>`}, 0, true, true, ""},
		"tests were printed":                {"  1 passing (3ms)\n", 0, []string{`<testsuite name="s" tests="0"/>`}, 0, true, false, ""},
		"cut off":                           {mocha, 2, []string{suite(5)[:300]}, 2, true, false, "0.xml is incomplete"},
		"cut off, and more than printed":    {"", 1, []string{suite(9)[:600]}, 6, false, false, "0.xml is incomplete"},
		"cut off before a test":             {"", 1, []string{`<testsuite>`}, 1, false, false, "0.xml is incomplete"},
		"cut off, and it passes":            {"", 0, []string{`<testsuite name="s">`}, 0, false, false, "0.xml is incomplete"},
		"cut off after one that is skipped": {"", 1, []string{`<testsuites><testsuite><testcase name="a"><skipped/></testcase>`}, 1, false, false, "0.xml is incomplete"},
		"cut off, next to one of no tests":  {"", 1, []string{`<testsuite tests="0"/>`, `<testsuite>`}, 1, false, false, "1.xml is incomplete"},
		"no form, next to one of no tests":  {"", 1, []string{"hello", `<testsuite tests="0"/>`}, 1, false, false, "0.xml has no form that is known"},
		"no tests, and it fails":            {"", 5, []string{`<testsuite tests="0"/>`}, 0, true, true, ""},
		"printed and cut off":               {"<testsuite>\n", 1, nil, 1, false, false, "the document in the output is incomplete"},
		"printed, cut off after a failure":  {"<testsuite><testcase name='a'><failure/></testcase>\n", 1, nil, 1, false, false, "the document in the output is incomplete"},
		"not a report":                      {mocha, 2, []string{"hello"}, 2, true, false, "0.xml has no form that is known"},
		"another form of XML":               {mocha, 2, []string{`<checkstyle><file name="a"/></checkstyle>`}, 2, true, false, "0.xml has no form that is known"},
		"rspec's JSON":                      {"", 1, []string{`{"examples":[{"full_description":"a","status":"failed","file_path":"./a_spec.rb","line_number":3,"exception":{"message":"no"}},{"full_description":"b","status":"passed"}],"summary":{},"summary_line":"2 examples, 1 failure"}`}, 1, true, false, ""},
		"nested suites":                     {"", 1, []string{`<testsuites><testsuite name="a" failures="1"><testsuite name="b" failures="1"><testcase name="x"><failure/></testcase></testsuite></testsuite></testsuites>`}, 1, true, false, ""},
		"a suite that crashed in another":   {"", 1, []string{`<testsuites><testsuite name="a" failures="1"><testsuite name="b" errors="1"></testsuite></testsuite></testsuites>`}, 1, true, false, ""},
		"a test twice in pytest's":          {"", 1, []string{`<testsuite name="pytest"><testcase classname="t" name="x"><failure/></testcase><testcase classname="t" name="x"><error/></testcase></testsuite>`}, 1, true, false, ""},
	} {
		got := read(t, toolreport.Tool{Command: []string{"make test"}, Check: "tests"},
			output{Stdout: strings.NewReader(c.stdout), Reports: c.reports, Exit: toolreport.Exit{Code: c.code}})
		tests := got.Tests
		if tests.Failed != c.failed || tests.Known != c.known || tests.None != c.none {
			t.Errorf("%s: %+v, want %d failed, known %v, none %v", name, tests, c.failed, c.known, c.none)
		}
		if notes := strings.Join(got.Notes, "\n"); !strings.Contains(notes, c.noted) || (notes == "") != (c.noted == "") {
			t.Errorf("%s: notes %q", name, notes)
		}
	}
}

// TestPlacesInReports checks that a failure's place is found in what each language's runner
// writes about it, and only if it is a file of the repository.
func TestPlacesInReports(t *testing.T) {
	t.Parallel()
	files := map[string]bool{"app/tests/test_a.py": true, "app/src/test/java/com/x/ATest.java": true, "app/test/a.test.js": true, "app/lib/a.js": true}
	for name, c := range map[string]struct{ test, text, want string }{
		"pytest":                 {`classname="tests.test_a.TestA" name="test_x[1]"`, "def test_x():\n    helper()\n\ntests/test_a.py:7: \n_ _ _\n/usr/lib/python3/x.py:9: in f\ntests/test_a.py:3: AssertionError", "tests/test_a.py::TestA::test_x[1] app/tests/test_a.py:3"},
		"pytest without a trace": {`classname="tests.test_a" name="test_x"`, "", "tests/test_a.py::test_x app/tests/test_a.py:0"},
		"Surefire":               {`classname="com.x.ATest" name="adds"`, "java.lang.AssertionError: no\n\tat org.junit.Assert.fail(Assert.java:87)\n\tat com.x.Help.check(Help.java:3)\n\tat com.x.ATest.adds(ATest.java:12)\n", "com.x.ATest adds app/src/test/java/com/x/ATest.java:12"},
		"an inner class":         {`classname="com.x.ATest$Inner" name="adds"`, "\tat app//com.x.ATest$Inner.adds(ATest.java:14)\n", "com.x.ATest$Inner adds app/src/test/java/com/x/ATest.java:14"},
		"node":                   {`classname="test" name="adds"`, "[Error]\n    at TestContext.<anonymous> (/src/app/test/a.test.js:3:30)\n    at Test.run (node:internal/x:1:1)\n", "test adds app/test/a.test.js:3"},
		"of the repository":      {`classname="c" name="n"`, "    at f (/etc/passwd.js:3:30)\n    at f (/src/app/node_modules/a.js:1:1)\n    at g (/src/app/lib/a.js:9:1)\n", "c n app/lib/a.js:9"},
		"none":                   {`classname="c" name="n"`, "../../../etc/test.py:3: Error\n", "c n :0"},
		"attributes":             {`classname="c" name="n" file="lib/a.js" line="4"`, "    at f (/src/app/test/a.test.js:3:30)\n", "c n app/lib/a.js:4"},
		"an attribute's lie":     {`classname="c" name="n" file="/etc/passwd" line="4"`, "", "c n :0"},
	} {
		suiteName := "s"
		if strings.HasPrefix(name, "pytest") {
			suiteName = "pytest"
		}
		tool := toolreport.Tool{Command: []string{"make test"}, Check: "tests", Roots: []string{"/src"}, Dir: "app", Exists: func(name string) bool { return files[name] }}
		report := fmt.Sprintf(`<testsuite name="%s"><testcase %s><failure>%s</failure></testcase></testsuite>`, suiteName, c.test, strings.ReplaceAll(c.text, "<", "&lt;"))
		got := read(t, tool, output{Reports: []string{report}, Exit: toolreport.Exit{Code: 1}})
		if len(got.Tests.Failing) != 1 {
			t.Fatalf("%s: %+v", name, got.Tests)
		}
		f := got.Tests.Failing[0]
		if place := fmt.Sprintf("%s %s:%d", f.Name, f.Path, f.Line); place != c.want {
			t.Errorf("%s: %s, want %s", name, place, c.want)
		}
	}
}

// TestTextOfAFailureIsBounded asserts that a place beyond the first 64 KiB of a failure's text is not
// found, even if a comment divides the text in two.
func TestTextOfAFailureIsBounded(t *testing.T) {
	t.Parallel()
	filler := strings.Repeat(strings.Repeat("x", 99)+"\n", 400)
	for name, c := range map[string]struct {
		text string
		line int
	}{
		"within": {filler + "<!-- -->    at g (/src/app/lib/a.js:9:1)\n", 9},
		"beyond": {filler + "<!-- -->" + filler + "    at g (/src/app/lib/a.js:9:1)\n", 0},
	} {
		tool := toolreport.Tool{Command: []string{"make test"}, Check: "tests", Roots: []string{"/src"}, Dir: "app", Exists: func(name string) bool { return name == "app/lib/a.js" }}
		report := `<testsuite name="s"><testcase classname="c" name="n"><failure>` + c.text + `</failure></testcase></testsuite>`
		got := read(t, tool, output{Reports: []string{report}, Exit: toolreport.Exit{Code: 1}})
		if len(got.Tests.Failing) != 1 || got.Tests.Failing[0].Line != c.line {
			t.Errorf("%s: %+v, want line %d", name, got.Tests.Failing, c.line)
		}
	}
}

// TestHostileReports checks that a report which was made to do harm hides nothing of what was printed,
// and, unless it claims failures, adds nothing to it.
func TestHostileReports(t *testing.T) {
	t.Parallel()
	const printed = "5 failed in 0.1s\n"
	for name, report := range map[string]string{
		"an entity bomb":        `<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]><testsuite name="&b;"><testcase name="&b;"/></testsuite>`,
		"an external entity":    `<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><testsuite><testcase name="&a;"><failure/></testcase></testsuite>`,
		"deep elements":         `<testsuite>` + strings.Repeat("<a>", 1<<20),
		"deep suites":           strings.Repeat("<testsuite>", 1<<18),
		"very many attributes":  `<testsuite ` + strings.Repeat(`a="" `, 1<<20) + `/>`,
		"an endless attribute":  `<testsuite name="` + strings.Repeat("x", 4<<20) + `"/>`,
		"an open comment":       `<!--` + strings.Repeat("<", 4<<20),
		"an open CDATA":         `<testsuite><![CDATA[` + strings.Repeat("]", 4<<20),
		"a great claim":         `<testsuite name="a" errors="99999999999999999999" failures="-3"/>`,
		"deep JSON":             strings.Repeat(`[`, 1<<20),
		"a count out of range":  `{"examples":[],"summary":{"errors_outside_of_examples_count":-5},"summary_line":""}`,
		"NUL":                   strings.Repeat("\x00", 4<<20),
		"wide text":             "\xff\xfe<\x00t\x00e\x00s\x00t\x00",
		"other encoding's name": `<?xml version="1.0" encoding="utf-7"?><testsuite><testcase name="+ADw-"/></testsuite>`,
		"a JSON linter's":       `[{"filePath":"/src/a.js","messages":[{"ruleId":"x","message":"planted","line":1}]}]`,
	} {
		got := read(t, toolreport.Tool{Command: []string{"make test"}, Check: "tests", Roots: []string{"/src"}},
			output{Stdout: strings.NewReader(printed), Reports: []string{report}, Exit: toolreport.Exit{Code: 1}})
		if got.Tests.Failed < 5 || got.Tests.Failed > 5 && name != "a great claim" || len(got.Findings) > 0 {
			t.Errorf("%s: %+v %+v", name, got.Tests, got.Findings)
		}
	}
}

// TestReportsOfTestsThatPrintAnything checks that what tests print does not make a report
// illegible.
func TestReportsOfTestsThatPrintAnything(t *testing.T) {
	t.Parallel()
	const report = "<testsuite name=\"s\"><testcase name=\"a&#27;[31m\xff\"><failure message=\"&#x0;&#xD800;caf\xe9 &#233;&#x1F600;&#10;two\">\x1b[0m\x00&#xFFFF;&lt;</failure></testcase></testsuite>"
	got := read(t, toolreport.Tool{Command: []string{"make test"}, Check: "tests"}, output{Reports: []string{report}, Exit: toolreport.Exit{Code: 1}})
	want := []toolreport.Failure{{Name: "a [31m\uFFFD", Unit: "s", Cause: toolreport.Failed, Message: "  caf\uFFFD é\U0001F600\ntwo"}}
	if diff := cmp.Diff(want, got.Tests.Failing); diff != "" || !got.Tests.Known {
		t.Errorf("%+v\n%s", got.Notes, diff)
	}
}

func TestReportsThatAreTooLong(t *testing.T) {
	t.Parallel()
	r, err := toolreport.New(toolreport.Tool{Command: []string{"make test"}, Check: "tests"})
	if err != nil {
		t.Fatal(err)
	}
	r.AddReport(toolreport.ReportFile{Name: "a.xml"}, io.MultiReader(strings.NewReader(suite(3)), &flood{line: "\n", left: toolreport.MaxDocument}))
	got := r.Report(toolreport.Exit{Code: 1})
	if got.Tests.Failed != 1 || len(got.Notes) != 1 || !strings.Contains(got.Notes[0], "a.xml was not read: it is longer than 64 MiB") {
		t.Errorf("%+v, %q", got.Tests, got.Notes)
	}
}
