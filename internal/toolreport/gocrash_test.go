package toolreport

import (
	"fmt"
	"strings"
	"testing"
)

// goEventsOf returns a package's events as go test -json prints them. A line is "run TestA", "fail
// TestA" or, for output, "TestA| text". Without a test's name it is about the package.
func goEventsOf(lines ...string) string {
	var b strings.Builder
	for _, line := range lines {
		if test, output, ok := strings.Cut(line, "| "); ok {
			fmt.Fprintf(&b, `{"Action":"output","Package":"example.org/x/p","Test":%q,"Output":%q}`+"\n", test, output+"\n")
			continue
		}
		action, test, _ := strings.Cut(line, " ")
		fmt.Fprintf(&b, `{"Action":%q,"Package":"example.org/x/p","Test":%q}`+"\n", action, test)
	}
	return b.String()
}

// TestGoCrash asserts that a panic or an exit is counted for the test in which it happened, if that
// is known, and a panic at its place in the repository, whatever failed before it. A trace that is
// only printed does not count.
func TestGoCrash(t *testing.T) {
	t.Parallel()
	const trace = "X| panic: bad [recovered, repanicked]\nX| \nX| goroutine 7 [running]:\nX| testing.tRunner.func1()\nX| \t/usr/local/go/src/testing/testing.go:1 +0x2\nX| example.org/y.F()\nX| \t/src/vendor/example.org/y/y.go:2 +0x2\nX| example.org/x/p.help(...)\nX| \t/src/p/my help.go:3\nX| example.org/x/p.TestB()\nX| \t/src/p/p_test.go:4 +0x25\nX| created by testing.(*T).Run in goroutine 1"
	lines := func(test, trace string) []string {
		return strings.Split(strings.ReplaceAll(trace, "X|", test+"|"), "\n")
	}
	other := strings.Replace(trace, " [recovered, repanicked]", "", 1)
	trimmed := strings.NewReplacer("/usr/local/go/src/", "", "/src/vendor/", "", "/src/p/", "example.org/x/p/").Replace(trace)
	before := []string{"run TestA", "TestA|     p_test.go:9: no", "fail TestA"}
	const first, crash = "TestA p/p_test.go:9", "TestB p/my help.go:3"
	for _, c := range []struct {
		name   string
		events []string
		want   []string
	}{
		{"in a test", append(append([]string{"run TestB"}, lines("TestB", trace)...), "fail TestB", "fail "), []string{crash}},
		{"trimmed", append(append([]string{"run TestB"}, lines("TestB", trimmed)...), "fail TestB", "fail "), []string{crash}},
		{"in a subtest", append(append([]string{"run TestB", "run TestB/c", "fail TestB/c"}, lines("TestB", trace)...), "fail TestB", "fail "), []string{"TestB/c p/my help.go:3"}},
		{"after a failure", append(append(append(before, "run TestB"), lines("TestB", trace)...), "fail TestB", "fail "), []string{first, crash}},
		{"in another goroutine", append(append(append(before, "run TestB"), lines("TestB", other)...), "fail "), []string{first, crash}},
		{"by an exit", append(append([]string{}, before...), "run TestB", "TestB| bye", "fail "), []string{first, "TestB :0"}},
		{"while another test runs", append(append(append(before, "run TestB", "run TestC"), lines("TestB", trace)...), "fail TestB", "fail "), []string{first, crash}},
		{"in another goroutine, of either test", append(append(append(before, "run TestB", "run TestC"), lines("TestC", other)...), "fail "), []string{first, " p/my help.go:3"}},
		{"only printed", append(append([]string{"run TestB"}, lines("TestB", trace)...), "pass TestB", "run TestA", "TestA|     p_test.go:9: no", "fail TestA", "fail "), []string{first}},
		{"only printed, at the end", append(append(before, lines("TestA", other)...), "| FAIL", "fail "), []string{first}},
	} {
		var got []string
		for _, f := range failuresOf(t, "go test -json ./...", goEventsOf(c.events...), 1, "p/my help.go", "p/p_test.go", "vendor/example.org/y/y.go") {
			got = append(got, fmt.Sprintf("%s %s:%d", f.Name, f.Path, f.Line))
		}
		if strings.Join(got, ", ") != strings.Join(c.want, ", ") {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	text := strings.ReplaceAll(trace, "X| ", "")
	for output, want := range map[string]int{
		"--- FAIL: TestA (0.00s)\n    p_test.go:9: no\n--- FAIL: TestB (0.00s)\n" + text + "\nFAIL\texample.org/x/p\t0.1s\n":                              2,
		"--- FAIL: TestA (0.00s)\n    p_test.go:9: no\n" + strings.ReplaceAll(other, "X| ", "") + "\nFAIL\texample.org/x/p\t0.1s\n":                       2,
		strings.ReplaceAll(other, "X| ", "") + "\n--- FAIL: TestA (0.00s)\n    p_test.go:9: no\nFAIL\nFAIL\texample.org/x/p\t0.1s\n":                      1,
		"panic: test timed out after 1s\n\trunning tests:\n\t\tTestB (1s)\n\n" + strings.ReplaceAll(other, "X| ", "") + "\nFAIL\texample.org/x/p\t1.1s\n": 1,
	} {
		got := failuresOf(t, "go test ./...", output, 1, "p/my help.go", "p/p_test.go")
		if len(got) != want || !strings.HasPrefix(output, "panic") && got[len(got)-1].Line == 0 {
			t.Errorf("%s\n%+v, want %d", output, got, want)
		}
	}
}
