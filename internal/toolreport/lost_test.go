package toolreport

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

// TestFramesOfJavaScript asserts that the place of a failure is a file in the stack trace, with
// its entire path, and not a part of node.
func TestFramesOfJavaScript(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"      at Context.<anonymous> (test/a.test.js:4:12)":                      "test/a.test.js:4",
		"      at test/a.test.js:4:12":                                            "test/a.test.js:4",
		"      at async test/a.test.js:4:12":                                      "test/a.test.js:4",
		"      at Context.<anonymous> (file:///src/my app/a.test.js:4:12)":        "file:///src/my app/a.test.js:4",
		"      at my app/a b.test.js:4:12":                                        "my app/a b.test.js:4",
		"    at Object.add [as sum] (app/(auth)/sign in.test.ts:4:12)":            "app/(auth)/sign in.test.ts:4",
		"    at C:\\src\\a.test.js:4:12":                                          "C:\\src\\a.test.js:4",
		"      at process.processImmediate (node:internal/timers:483:21)":         "",
		"      at async node:internal/timers:483:21":                              "",
		"    at eval (eval at <anonymous> (a.js:1:2), <anonymous>:1:1)":           "",
		"    at process.processTicksAndRejections (node:internal/a b/queue:95:5)": "",
		"    see test/a.test.js:4:12 for details at once":                         "",
	} {
		got := ""
		if m := jsFrame.match(line); m != nil && !inLibrary(m[1]) {
			got = m[1] + ":" + m[2]
		}
		if got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

// failuresOf returns the failures that a command's standard output shows.
func failuresOf(t *testing.T, command, output string, exit int, files ...string) []Failure {
	t.Helper()
	r, err := New(Tool{Command: []string{command}, Check: "tests", Roots: []string{"/src"}, Module: "example.org/x", Exists: func(p string) bool { return slices.Contains(files, p) }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(r.Stdout(), output); err != nil {
		t.Fatal(err)
	}
	return r.Report(Exit{Code: exit}).Tests.Failing
}

// TestFramesOfVitest asserts that a path in a frame may have spaces and parentheses, with or without
// the name of a function before it.
func TestFramesOfVitest(t *testing.T) {
	t.Parallel()
	const file = "app/(auth)/a b.test.js"
	for _, frame := range []string{file, "sign in " + file, "Object.<anonymous> " + file} {
		output := strings.NewReplacer("FILE", file, "FRAME", frame).Replace(`
⎯⎯⎯⎯⎯⎯⎯ Failed Tests 1 ⎯⎯⎯⎯⎯⎯⎯

 FAIL  FILE > adds
AssertionError: expected 1 to be 2
 ❯ FRAME:4:12

 Test Files  1 failed (1)
      Tests  1 failed (1)
`)
		got := failuresOf(t, "vitest run", output, 1, file)
		if len(got) != 1 || got[0].Path != file || got[0].Line != 4 {
			t.Errorf("%s: %+v", frame, got)
		}
	}
}

// TestDetailsOfBunStayWithTheirTest asserts that a test which fails without an error does not get
// the error of the test before it. That test is not listed, because an earlier one has its name.
func TestDetailsOfBunStayWithTheirTest(t *testing.T) {
	t.Parallel()
	const output = "error: one\n(fail) same [0.1ms]\nerror: two\n(fail) same [0.1ms]\n(fail) slow [5000.1ms]\n\n 0 pass\n 3 fail\nRan 3 tests across 2 files. [5.10s]\n"
	got := failuresOf(t, "bun test", output, 1)
	if len(got) != 2 || got[0].Message != "error: one" || got[1].Name != "slow" || got[1].Message != "" {
		t.Errorf("%+v", got)
	}
}

// TestHiddenByTestMain asserts that failures are counted although a TestMain hides them by its exit
// code.
func TestHiddenByTestMain(t *testing.T) {
	t.Parallel()
	for _, output := range []string{
		`{"Action":"run","Package":"example.org/x","Test":"TestA"}
{"Action":"output","Package":"example.org/x","Test":"TestA","Output":"    a_test.go:4: bad\n"}
{"Action":"fail","Package":"example.org/x","Test":"TestA","Elapsed":0}
{"Action":"pass","Package":"example.org/x","Elapsed":0.1}
`,
		"=== RUN   TestA\n    a_test.go:4: bad\n--- FAIL: TestA (0.00s)\nFAIL\nok  \texample.org/x\t0.1s\n",
	} {
		got := failuresOf(t, "go test -v ./...", output, 0)
		if len(got) != 1 || got[0].Name != "TestA" {
			t.Errorf("%s%+v", output, got)
		}
	}
}

// TestDirectoriesNamedLikeSidesOfADiff asserts that "a/" belongs to a file's path, except in git's form.
func TestDirectoriesNamedLikeSidesOfADiff(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ command, head, want string }{
		{"gofmt -d .", "diff a/x.go.orig a/x.go\n--- a/x.go.orig\n+++ a/x.go\n", "a/x.go"},
		{"gofmt -d .", "diff b/x.go.orig b/x.go\n--- b/x.go.orig\n+++ b/x.go\n", "b/x.go"},
		{"black --diff .", "--- a/x.py\t2026-01-01 00:00:00\n+++ a/x.py\t2026-01-02 00:00:00\n", "a/x.py"},
		{"black --diff .", "--- a/x.py\n+++ b/x.py\n", "x.py"},
		{"black --diff .", "--- a/a/x.py\n+++ b/a/x.py\n", "a/x.py"},
	} {
		r, err := New(Tool{Command: strings.Fields(c.command), Check: "formatter"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(r.Stdout(), c.head+"@@ -1 +1 @@\n-x  y\n+x y\n"); err != nil {
			t.Fatal(err)
		}
		if got := r.Report(Exit{Code: 1}).Findings; len(got) != 1 || got[0].Path != c.want {
			t.Errorf("%q: %+v", c.head, got)
		}
	}
}

// TestDocumentsWithEscapes asserts that no escape sequence of a document gets into a name or a message.
func TestDocumentsWithEscapes(t *testing.T) {
	t.Parallel()
	got := failuresOf(t, "mocha --reporter json", `{"stats":{"tests":1},"failures":[{"fullTitle":"a \u001b[1mb\u001b[0m","file":"/src/a.js","err":{"message":"\u001b[31mred\u001b[0m"}}],"passes":[],"pending":[],"tests":[]}`, 1)
	if len(got) != 1 || got[0].Name != "a b" || got[0].Message != "red" {
		t.Errorf("%+v", got)
	}
	for _, escape := range []string{"#x1B", "&amp;#27;"} { // as pytest and Surefire write it
		report := fmt.Sprintf(`<testsuites><testsuite name="a" tests="1" failures="1"><testcase classname="a" name="b"><failure message="%[1]s[31mred%[1]s[0m"></failure></testcase></testsuite></testsuites>`, escape)
		if got := failuresOf(t, "make test", report, 1); len(got) != 1 || got[0].Message != "red" {
			t.Errorf("%+v", got)
		}
	}
	r, err := New(Tool{Command: []string{"eslint"}, Check: "linter", Roots: []string{"/src"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(r.Stdout(), `[{"filePath":"/src/a.js","messages":[{"ruleId":"x","severity":2,"line":1,"column":1,"message":"\u001b[31mred\u001b[39m."}],"errorCount":1}]`); err != nil {
		t.Fatal(err)
	}
	if findings := r.Report(Exit{Code: 1}).Findings; len(findings) != 1 || findings[0].Message != "red." {
		t.Errorf("%+v", findings)
	}
}

// TestRSpecEndedEarly asserts that an example is counted as a failure if it ended the run by a call of
// exit. rspec then prints totals without failures.
func TestRSpecEndedEarly(t *testing.T) {
	t.Parallel()
	got := failuresOf(t, "rspec --format json", `{"version":"3.12.0","examples":[{"id":"./spec/a_spec.rb[1:1]","description":"a","full_description":"x a","status":"","file_path":"./spec/a_spec.rb","line_number":2,"run_time":0.0001,"pending_message":null}],"summary":{"duration":0.001,"example_count":1,"failure_count":0,"pending_count":0,"errors_outside_of_examples_count":0},"summary_line":"1 example, 0 failures"}`, 0, "spec/a_spec.rb")
	if len(got) != 1 || got[0].Name != "x a" || got[0].Cause != Crash || got[0].Path != "spec/a_spec.rb" {
		t.Errorf("%+v", got)
	}
}

// TestMessageWithoutFramesOfNode asserts that node's own frames, which come before the test's
// frame, do not become part of the failure's message.
func TestMessageWithoutFramesOfNode(t *testing.T) {
	t.Parallel()
	const output = "FAIL ./a.test.js\n  ● reads\n\n    ENOENT: no such file\n\n      at Object.openSync (node:fs:573:18)\n      at Object.<anonymous> (a.test.js:3:6)\n\nTests:       1 failed, 1 total\n"
	got := failuresOf(t, "jest", output, 1, "a.test.js")
	if len(got) != 1 || got[0].Message != "ENOENT: no such file" || got[0].Path != "a.test.js" || got[0].Line != 3 {
		t.Errorf("got %+v", got)
	}
}

// TestLongFrameOfVitest asserts that a hostile frame of very many words causes at most 1000
// look-ups of files.
func TestLongFrameOfVitest(t *testing.T) {
	t.Parallel()
	looked := 0
	exists := func(string) bool { looked++; return false }
	v := &vitestReader{vitestRun: &vitestRun{collector: &collector{places: &places{exists: exists}}}}
	if got := v.framePath(strings.Repeat("a ", 100_000) + "b.js"); got != "b.js" || looked > 1000 {
		t.Errorf("%q after looking for %d files", got, looked)
	}
}

// TestLongMessageWrappedByMypy asserts that the rule is found after a message of any length.
func TestLongMessageWrappedByMypy(t *testing.T) {
	t.Parallel()
	r, err := New(Tool{Command: []string{"mypy", "."}, Check: "linter"})
	if err != nil {
		t.Fatal(err)
	}
	output := "m.py:4: error: Argument\n" + strings.Repeat("of a type\n", maxMessage) + "that is wrong  [arg-type]\nFound 1 error in 1 file (checked 1 source file)\n"
	if _, err := io.WriteString(r.Stdout(), output); err != nil {
		t.Fatal(err)
	}
	if f := r.Report(Exit{Code: 1}).Findings; len(f) != 1 || f[0].Rule != "arg-type" || len(f[0].Message) > maxMessage {
		t.Errorf("got %+v", f)
	}
}

// TestMessagesWrappedByMypy asserts that messages which mypy wraps, with its setting pretty, are read
// to their end, and the source lines are not.
func TestMessagesWrappedByMypy(t *testing.T) {
	t.Parallel()
	r, err := New(Tool{Command: []string{"mypy", "."}, Check: "linter"})
	if err != nil {
		t.Fatal(err)
	}
	const output = `m.py:4: error: Argument 1 to "f" has incompatible type "str"; expected "int" 
[arg-type]
      "a"
      ^~~
m.py:6: error: Dict entry 0 has incompatible type "str": "str"; expected "str":
"int"  [dict-item]
    x
    ^
m.py:8: error: Name "nope" is not defined  [name-defined]
    q = nope
        ^
m.py:9: error: Something without a code
    q
Found 4 errors in 1 file (checked 1 source file)
`
	if _, err := io.WriteString(r.Stdout(), output); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range r.Report(Exit{Code: 1}).Findings {
		got = append(got, f.Rule+": "+f.Message)
	}
	want := []string{
		`arg-type: Argument 1 to "f" has incompatible type "str"; expected "int"`,
		`dict-item: Dict entry 0 has incompatible type "str": "str"; expected "str": "int"`,
		`name-defined: Name "nope" is not defined`,
		": Something without a code",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
