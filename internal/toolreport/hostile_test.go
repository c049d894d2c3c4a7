package toolreport_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/toolreport"
	"github.com/google/go-cmp/cmp"
)

func TestPaths(t *testing.T) {
	t.Parallel()
	for printed, want := range map[string]string{
		"app.go": "sub/app.go", "./app.go": "sub/app.go", "../app.go": "app.go", "/copy/x/app.go": "x/app.go", "/src/app.go": "app.go",
		"/src/../etc/passwd": "", "../../app.go": "", "/etc/passwd": "", "/srcs/app.go": "", "/src": "", "<stdin>": "", "/copy": "",
		"/src/a/./b/../app.go": "a/app.go",
	} {
		got := read(t, toolreport.Tool{Name: "go vet", Roots: []string{"/src", "/copy/"}, Dir: "sub"},
			output{Stderr: strings.NewReader(printed + ":3:1: message\n"), Exit: toolreport.Exit{Code: 1}})
		switch {
		case want == "" && (len(got.Findings) != 0 || got.Outside != 1):
			t.Errorf("%s: %+v", printed, got)
		case want != "" && (len(got.Findings) != 1 || got.Findings[0].Path != want):
			t.Errorf("%s: %+v, want %s", printed, got.Findings, want)
		}
	}
}

func TestControlSequencesAreRemoved(t *testing.T) {
	t.Parallel()
	for printed, want := range map[string]string{
		"\x1b[1;31ma.go\x1b[0m:1:2: \x1b]8;;https://example.com\x07red\x1b]8;;\x1b\\": "red",
		"10%\r100%\ra.go:1:2: over\r": "over",
		"a.go:1:2: bell\a\x00 \x7f":   "bell",
		"a.go:1:2: bad \xff":          "bad \uFFFD",
		"a.go:1:2: open \x1b[":        "open",
		"a.go:1:2: short\x1b(B end":   "short end",
	} {
		got := read(t, toolreport.Tool{Name: "go vet"}, output{Stdout: strings.NewReader(printed)})
		if len(got.Findings) != 1 || got.Findings[0].Message != want || got.Findings[0].Path != "a.go" {
			t.Errorf("%q: %+v", printed, got.Findings)
		}
	}
}

// flood is a reader of the same line, again and again.
type flood struct {
	line string
	left int // bytes to read
}

func (f *flood) Read(p []byte) (int, error) {
	if f.left <= 0 {
		return 0, io.EOF
	}
	n := 0
	for n+len(f.line) <= len(p) && f.left > 0 {
		n += copy(p[n:], f.line)
		f.left -= len(f.line)
	}
	return n, nil
}

func TestFloods(t *testing.T) {
	t.Parallel()
	numbered := &strings.Builder{}
	for i := range toolreport.MaxFindings + 50 {
		fmt.Fprintf(numbered, "a.go:%d:1: message\n", i+1)
	}
	for name, c := range map[string]struct {
		in                io.Reader
		findings, omitted int
	}{
		"many findings":     {strings.NewReader(numbered.String()), toolreport.MaxFindings, 50},
		"one finding often": {&flood{line: "a.go:1:1: message\n", left: 4 << 20}, 1, 0},
		"one endless line":  {&flood{line: "a.go:1:1: message ", left: 16 << 20}, 1, 0},
		"empty lines":       {&flood{line: "\n", left: 1 << 20}, 0, 0},
	} {
		got := read(t, toolreport.Tool{Name: "go vet"}, output{Stdout: c.in, Exit: toolreport.Exit{Code: 1}})
		if len(got.Findings) != c.findings || got.Omitted != c.omitted || len(got.FirstFailures) > 20_000 {
			t.Errorf("%s: %d findings, %d omitted, %d bytes of excerpt", name, len(got.Findings), got.Omitted, len(got.FirstFailures))
		}
		for _, f := range got.Findings {
			if len(f.Message) > 2_000 {
				t.Errorf("%s: a message of %d bytes", name, len(f.Message))
			}
		}
	}
}

// TestManyLinesLikeAScripts checks that only the first lines that look like a script's command
// line are parsed, because parsing takes long. If there are more such lines, the report is Mixed.
func TestManyLinesLikeAScripts(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]bool{100: false, 200_000: true} {
		echoes := &flood{line: "$ eslint .\n", left: n * len("$ eslint .\n")}
		got := read(t, toolreport.Tool{Command: []string{"yarn lint"}},
			output{Stdout: io.MultiReader(strings.NewReader("$ eslint .\n"), echoes), Exit: toolreport.Exit{Code: 1}})
		if got.Mixed != want {
			t.Errorf("%d: mixed %v", n, got.Mixed)
		}
	}
}

func TestMoreFailuresThanAreKept(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		line, end string
		n         int
		known     bool
	}{
		"go test -json": {`{"Action":"fail","Package":"p","Test":"Test%d"}`, `{"Action":"fail","Package":"p"}`, 12_000, false},
		"go test":       {"--- FAIL: Test%d (0.00s)", "FAIL\tp\t0.1s", 5_000, true},
		"tap":           {"not ok %d - test", "1..5000", 5_000, true},
		"unittest":      {"======\nFAIL: test_%[1]d (t.T.test_%[1]d)\n", "Ran 5000 tests in 1s\n\nFAILED (failures=5000)", 5_000, true},
	} {
		var b strings.Builder
		for i := range c.n {
			fmt.Fprintf(&b, c.line+"\n", i)
		}
		tool, _, _ := strings.Cut(name, " -")
		got := read(t, toolreport.Tool{Name: tool, Check: "tests"},
			output{Stdout: strings.NewReader(b.String() + c.end + "\n"), Exit: toolreport.Exit{Code: 1}})
		if got.Tests.Failed != c.n || got.Tests.Known != c.known || len(got.Tests.Failing) != toolreport.MaxFailures {
			t.Errorf("%s: %d failed, known %v, %d named", name, got.Tests.Failed, got.Tests.Known, len(got.Tests.Failing))
		}
	}
}

func TestDocumentOfTooManyObjects(t *testing.T) {
	t.Parallel()
	doc := io.MultiReader(strings.NewReader("[{}"), &flood{line: ",{}", left: 3_300_000}, strings.NewReader("]"))
	got := read(t, toolreport.Tool{Command: []string{"eslint"}}, output{Stdout: doc, Exit: toolreport.Exit{Code: 1}})
	if got.Explained || !strings.Contains(strings.Join(got.Notes, "\n"), "the document in the output was not read in full: it has more than 1,000,000 objects and elements of lists") {
		t.Errorf("%+v", got.Notes)
	}
}

// TestBracesThatAreNotObjects asserts that braces and commas in texts, in XML and after a document
// do not count as objects or elements of lists.
func TestBracesThatAreNotObjects(t *testing.T) {
	t.Parallel()
	braces := strings.Repeat("{", 1_000_001)
	junit := `<testsuite name="s"><testcase name="a"><failure message="no">x</failure></testcase><system-out>` + braces + `</system-out></testsuite>`
	for name, out := range map[string]output{
		"JUnit's XML in a file":       {Reports: []string{junit}},
		"JUnit's XML, a comment":      {Reports: []string{"<!--" + braces + "-->" + junit}},
		"JUnit's XML":                 {Stdout: strings.NewReader(junit)},
		"JSON in a file, a text":      {Reports: []string{`{"examples":[{"full_description":"a","status":"failed","exception":{"message":"\"` + braces + `\\"}}],"summary":{},"summary_line":"1 example, 1 failure"}`}},
		"JSON in a file, a name":      {Reports: []string{`{"` + braces + `":0,"examples":[{"full_description":"a","status":"failed"}],"summary":{},"summary_line":"1 example, 1 failure"}`}},
		"JSON in a file, commas":      {Reports: []string{`{"examples":[{"full_description":"a","status":"failed","exception":{"message":"[` + strings.Repeat("0,", 1_000_001) + `"}}],"summary":{},"summary_line":"1 example, 1 failure"}`}},
		"as many as are read":         {Reports: []string{`{"examples": [ {"full_description":"a","status":"failed"} ],"x":[0` + strings.Repeat(" , null", 999_996) + `],"summary":{},"summary_line":"1 example, 1 failure"}`}},
		"JSON in a file, colons":      {Reports: []string{`{"examples":[{"full_description":"a","status":"failed","exception":{"message":"` + strings.Repeat(`\":`, 2_000_001) + `"}}],"summary":{},"summary_line":"1 example, 1 failure"}`}},
		"as many members as are read": {Reports: []string{`{"examples": [ {"full_description":"a","status" : "failed"} ],"x":{"a":0` + strings.Repeat(` , "b" : 0`, 1_999_993) + `},"summary":{},"summary_line":"1 example, 1 failure"}`}},
		"JSON in a file, then a text": {Reports: []string{`{"examples":[{"full_description":"a","status":"failed"}],"summary":{},"summary_line":"1 example, 1 failure"} ` + braces}},
	} {
		out.Exit.Code = 1
		got := read(t, toolreport.Tool{Command: []string{"make test"}, Check: "tests"}, out)
		if got.Tests.Failed != 1 || !got.Tests.Known || len(got.Tests.Failing) != 1 || len(got.Notes) > 0 {
			t.Errorf("%s: %+v, notes %q", name, got.Tests, got.Notes)
		}
	}
}

// TestReportsBeyondALimit asserts that the note about a report which exceeds a limit names the
// limit.
func TestReportsBeyondALimit(t *testing.T) {
	t.Parallel()
	objects, members := strings.Repeat("{},", 1_000_000), strings.Repeat(`,"b":0`, 2_000_000)
	for _, c := range []struct{ report, want string }{
		{`{"examples":[` + objects + `{}],"summary":{},"summary_line":""}`, "the test report 0.xml was not read in full: it has more than 1,000,000 objects and elements of lists"},
		{`[` + objects + `{}]`, "the test report 0.xml was not read in full: it has more than 1,000,000 objects and elements of lists"},
		{`{"examples":[],"summary":{},"summary_line":""}[` + objects + `{}]`, "the test report 0.xml was not read in full: it has more than 1,000,000 objects and elements of lists"},
		{`{"a":0` + members + `}`, "the test report 0.xml was not read in full: its objects have more than 2,000,000 members"},
		{`{"examples":[{"a":0` + members + `}],"summary":{},"summary_line":""}`, "the test report 0.xml was not read in full: its objects have more than 2,000,000 members"},
		{`{"examples":[],"summary":{},"summary_line":""}{"a":{"b":0` + members + `}}`, "the test report 0.xml was not read in full: its objects have more than 2,000,000 members"},
		{strings.ReplaceAll(`[`+objects+`{}]`, ",", " "), "the test report 0.xml has no form that is known"}, // not JSON
		{`<testsuite name="` + strings.Repeat("{", 2<<20) + `"/>`, "the test report 0.xml was not read in full: it has a tag of more than 1048576 bytes"},
		{strings.Repeat("<a>", 300), "the test report 0.xml was not read in full: its elements are nested more deeply than 200"},
		{"<testsuite>" + strings.Repeat("<a>", 300), "the test report 0.xml was not read in full: its elements are nested more deeply than 200"},
		{"<testsuite>", "the test report 0.xml is incomplete: XML syntax error on line 1: unexpected EOF"},
		{"{", "the test report 0.xml has no form that is known"},
	} {
		got := read(t, toolreport.Tool{Command: []string{"make test"}, Check: "tests"}, output{Reports: []string{c.report}, Exit: toolreport.Exit{Code: 1}})
		if diff := cmp.Diff([]string{c.want}, got.Notes); diff != "" || got.Tests.Known {
			t.Errorf("%.50s: %+v (-want +got):\n%s", c.report, got.Tests, diff)
		}
	}
}

func TestCustomFormats(t *testing.T) {
	t.Parallel()
	tool := toolreport.Tool{Name: "mine", Formats: []string{"%t|%f|%l|%m", "in %f at line %l: %m"}}
	got := read(t, tool, output{Stdout: strings.NewReader("E|a.go|3|broken\nin b.go at line 12: odd\nother\n")})
	want := []finding.Finding{
		{Tool: "mine", Path: "a.go", Range: span(3, 0, 0, 0), Message: "broken", Severity: finding.High},
		{Tool: "mine", Path: "b.go", Range: span(12, 0, 0, 0), Message: "odd", Severity: finding.Medium},
	}
	if diff := cmp.Diff(want, got.Findings); diff != "" {
		t.Error(diff)
	}
	for _, wrong := range []string{"%E%f:%l", "%", "%*[a", "%y"} {
		if _, err := toolreport.New(toolreport.Tool{Formats: []string{wrong}}); err == nil {
			t.Errorf("the format %q is taken", wrong)
		}
	}
	if _, err := toolreport.New(toolreport.Tool{Name: "no such tool"}); err == nil || !strings.Contains(err.Error(), "golangci-lint") {
		t.Errorf("error %v names no known tool", err)
	}
}

func FuzzRead(f *testing.F) {
	for _, c := range captures(f) {
		for _, s := range []io.Reader{c.output(f).Stdout, c.output(f).Stderr} {
			raw, err := io.ReadAll(s)
			if err != nil {
				f.Fatal(err)
			}
			if len(raw) > 0 && len(raw) < 1500 {
				f.Add(raw, c.check, c.command, c.exit.Code)
			}
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte, check, command string, code int) {
		for _, words := range [][]string{strings.Fields(command), nil} {
			got := read(t, toolreport.Tool{Command: words, Check: check, Roots: []string{"/src"}},
				output{Stdout: strings.NewReader(string(raw)), Stderr: strings.NewReader(string(raw)), Exit: toolreport.Exit{Code: code}})
			for _, fd := range got.Findings {
				if fd.Path == "" || strings.HasPrefix(fd.Path, "/") || strings.HasPrefix(fd.Path, "../") || len(fd.Message) > 2_000 {
					t.Fatalf("finding %+v", fd)
				}
			}
			if check == "tests" && code != 0 && got.Tests.Failed < 1 && !got.Tests.None || got.Tests.Failed < len(got.Tests.Failing) {
				t.Fatalf("tests %+v", got.Tests)
			}
		}
	})
}

func BenchmarkRead(b *testing.B) {
	const line = "2026/11/22 00:00:00 app.go: a line of a log that says nothing of interest, 42 times\n"
	for name, tool := range map[string]toolreport.Tool{
		"known":   {Command: []string{"go", "test", "./..."}, Check: "tests"},
		"linter":  {Command: []string{"golangci-lint", "run"}, Check: "linter"},
		"unknown": {Command: []string{"make", "check"}, Check: "tests"},
	} {
		for kind, line := range map[string]string{"log": line, "tiny": "x\n", "short": "line 42\n"} {
			b.Run(name+"/"+kind, func(b *testing.B) {
				b.SetBytes(8 << 20)
				b.ReportAllocs()
				for b.Loop() {
					read(b, tool, output{Stdout: &flood{line: line, left: 8 << 20}})
				}
			})
		}
	}
}
