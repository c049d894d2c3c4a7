package reviewer

import (
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/changes"
)

func TestCodeReview(t *testing.T) {
	lines := func(n int) string { return strings.Repeat("\tf()\n", n) }
	for name, c := range map[string]struct {
		file File
		want string // the rules found, in order
	}{
		"a conflict without its end":       {File{Path: "a.txt", Text: "<<<<<<< a\n=======\n"}, ""},
		"a conflict in any text":           {File{Path: "a.txt", Text: "<<<<<<< a\n=======\n>>>>>>> b\n"}, "conflict-marker"},
		"a debugger statement":             {File{Path: "a.ts", Text: "function f() {\n  debugger;\n}\n"}, "breakpoint"},
		"a name like it":                   {File{Path: "a.ts", Text: "x.debugger = 1;\ndebugger.start();\n"}, ""},
		"except and pass":                  {File{Path: "a.py", Text: "try:\n    f()\nexcept Exception:\n    pass\ng()\n"}, "swallowed-error"},
		"except of one error":              {File{Path: "a.py", Text: "try:\n    f()\nexcept KeyError:\n    pass\n"}, ""},
		"except with a reason":             {File{Path: "a.py", Text: "try:\n    f()\nexcept Exception:\n    pass  # gone already\n"}, ""},
		"except that does more than pass":  {File{Path: "a.py", Text: "try:\n    f()\nexcept Exception:\n    pass\n    g()\n"}, ""},
		"code behind a return in Python":   {File{Path: "a.py", Text: "def f():\n    return 1\n    g()\n"}, "unreachable-code"},
		"code behind an inner return":      {File{Path: "a.py", Text: "def f():\n    if a:\n        return (1 +\n            2)\n    g()\n"}, ""},
		"code behind a return in Go":       {File{Path: "a.go", Text: "func f() int {\n\treturn 1\n\tg()\n}\n"}, "unreachable-code"},
		"a return over two lines":          {File{Path: "a.go", Text: "func f() int {\n\treturn 1 +\n\t\tg()\n}\n"}, ""},
		"a bare return in Python":          {File{Path: "a.py", Text: "def f():\n    if a:\n        return\n    g()\n    if b:\n        g()\n        return\n    h()\n"}, ""},
		"code behind a bare return":        {File{Path: "a.py", Text: "def f():\n    return\n    g()\n"}, "unreachable-code"},
		"a return held by a backslash":     {File{Path: "a.py", Text: "def f():\n    return a + \\\n    b\n"}, ""},
		"code behind a bare return in Go":  {File{Path: "a.go", Text: "func f() {\n\treturn\n\tg()\n}\n"}, "unreachable-code"},
		"an empty catch with a reason":     {File{Path: "a.js", Text: "try { f(); } catch (e) {} // f is not there on Windows\n"}, ""},
		"an empty catch of the ignored":    {File{Path: "a.java", Text: "try { f(); } catch (InterruptedException ignored) {}\n"}, ""},
		"an empty catch of cleaning up":    {File{Path: "a.js", Text: "try { this.socket.close(); } catch (e) {}\n"}, ""},
		"cleaning up in Python":            {File{Path: "a.py", Text: "try:\n    os.unlink(name)\nexcept Exception:\n    pass\n"}, ""},
		"cleaning up and more":             {File{Path: "a.js", Text: "try { save(); socket.close(); } catch (e) {}\n"}, "swallowed-error"},
		"a call of no such name":           {File{Path: "a.js", Text: "try { socket.open(); } catch (e) {}\n"}, "swallowed-error"},
		"a wrapper with many comments":     {File{Path: "a.js", Text: "module.exports = function (a) {\n" + strings.Repeat("// About f.\n", 205) + "};\n"}, ""},
		"a skipped test with a reason":     {File{Path: "test_a.py", Text: "@unittest.skip(\"There is no cache to ask.\")\ndef test_a(): ...\n"}, ""},
		"a skipped test without a reason":  {File{Path: "test_a.py", Text: "@pytest.mark.skip\ndef test_a(): ...\n\n@unittest.skip(\"broken\")\ndef test_b(): ...\n"}, "disabled-test disabled-test"},
		"except and pass in a test":        {File{Path: "tests/a.py", Text: "try:\n    f()\nexcept Exception:\n    pass\n"}, ""},
		"two methods in Python":            {File{Path: "a.py", Text: "class A:\n" + strings.Repeat("    def f(self):\n"+strings.Repeat("        f()\n", 150), 2)}, ""},
		"a long method between others":     {File{Path: "a.py", Text: "def f():\n    g()\ndef g():\n" + strings.Repeat("    f()\n", 205) + "def h():\n    g()\n"}, "long-function"},
		"a module's wrapper":               {File{Path: "a.js", Text: "module.exports = function (a) {\n" + strings.Repeat("function f() {\n"+lines(150)+"}\n", 2) + "};\n"}, ""},
		"a long function in a wrapper":     {File{Path: "a.js", Text: "module.exports = function (a) {\nfunction f() {\n" + lines(205) + "}\n};\n"}, "long-function"},
		"a long test":                      {File{Path: "a_test.go", Text: "func TestA(t *testing.T) {\n" + lines(1600) + "}\n"}, ""},
		"a file that was long before":      {File{Path: "a.go", Text: strings.Repeat("var a = f()\n", 1600), Changed: []changes.Span{{First: 1, Last: 20}}}, ""},
		"a file that the change made long": {File{Path: "a.go", Text: strings.Repeat("var a = f()\n", 1600), Changed: []changes.Span{{First: 1, Last: 20}, {First: 100, Last: 220}}}, "long-file no-test-change"},
		"a long function":                  {File{Path: "a.go", Text: "func f() {\n" + lines(205) + "}\n"}, "long-function"},
		"two functions":                    {File{Path: "a.go", Text: strings.Repeat("func f() {\n"+lines(150)+"}\n", 2)}, ""},
		"a long file":                      {File{Path: "a.go", Text: strings.Repeat("var a = f()\n", 1600)}, "long-file"},
		"a large binary":                   {File{Path: "a.bin", Binary: true, Size: 2 << 20}, "large-binary"},
		"a small binary":                   {File{Path: "a.bin", Binary: true, Size: 1 << 20}, ""},
		"a focused name outside tests":     {File{Path: "a.js", Text: "fit(curve);\n"}, ""},
		"much code and no test":            {File{Path: "a.go", Text: lines(50), Changed: []changes.Span{{First: 1, Last: 40}}}, "no-test-change"},
		"a little code and no test":        {File{Path: "a.go", Text: lines(50), Changed: []changes.Span{{First: 1, Last: 4}}}, ""},
		"a test":                           {File{Path: "a_test.go", Text: lines(50), Changed: []changes.Span{{First: 1, Last: 40}}}, ""},
		"a test beside Rust's code":        {File{Path: "a.rs", Text: "fn f() {}\n#[cfg(test)]\nmod tests {\n" + lines(50) + "}\n", Changed: []changes.Span{{First: 1, Last: 40}}}, ""},
		"Rust's code beside a test":        {File{Path: "a.rs", Text: lines(50) + "#[cfg(test)]\nmod tests {\n}\n", Changed: []changes.Span{{First: 1, Last: 40}}}, "no-test-change"},
		"a generated file":                 {File{Path: "a.go", Text: "// TODO\n", Generated: true}, ""},
		"commented code, by default":       {File{Path: "a.js", Text: "// a = f(b);\n// g(a);\n// h(a);\n"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, f := range codeReview(t, Config{}, c.file).Findings {
				got = append(got, f.Rule)
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("found %v, want %q", got, c.want)
			}
		})
	}
}
