package reviewer

import (
	"slices"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/changes"
)

// offByDefault are rules of the code review that these tests try although they are off by default.
// The rule disabled-test is off only for new tests.
var offByDefault = []string{"long-function", "long-file", "no-test-change", "swallowed-error", "large-binary", "disabled-test"}

func TestCodeReview(t *testing.T) {
	lines := func(n int) string { return strings.Repeat("\tif a { f() }\n", n) }
	for name, c := range map[string]struct {
		file File
		want string // the rules found, in order
	}{
		"a conflict without its end":       {File{Path: "a.txt", Text: "<<<<<<< a\n=======\n"}, ""},
		"a conflict in any text":           {File{Path: "a.txt", Text: "<<<<<<< a\n=======\n>>>>>>> b\n"}, "conflict-marker"},
		"a debugger statement":             {File{Path: "a.ts", Text: "function f() {\n  debugger;\n}\n"}, "breakpoint"},
		"a debugger that is asked for":     {File{Path: "a.js", Text: "function f() {\n  if (process.env.BREAK) {\n    debugger;\n  }\n}\n"}, ""},
		"a logger of all arguments":        {File{Path: "a.js", Text: "const log = (...args) => console.log('here', ...args);\n"}, ""},
		"output of a mark":                 {File{Path: "a.js", Text: "console.log('here', a);\n"}, "debug-output"},
		"a name like debugger":             {File{Path: "a.ts", Text: "x.debugger = 1;\ndebugger.start();\n"}, ""},
		"except and pass":                  {File{Path: "a.py", Text: "try:\n    f()\nexcept Exception:\n    pass\ng()\n"}, "swallowed-error"},
		"except of one error":              {File{Path: "a.py", Text: "try:\n    f()\nexcept KeyError:\n    pass\n"}, ""},
		"except with a reason":             {File{Path: "a.py", Text: "try:\n    f()\nexcept Exception:\n    pass  # gone already\n"}, ""},
		"except that does more than pass":  {File{Path: "a.py", Text: "try:\n    f()\nexcept Exception:\n    pass\n    g()\n"}, ""},
		"code after a return in Python":    {File{Path: "a.py", Text: "def f():\n    return 1\n    g()\n"}, "unreachable-code"},
		"code after an inner return":       {File{Path: "a.py", Text: "def f():\n    if a:\n        return (1 +\n            2)\n    g()\n"}, ""},
		"code after a return in Go":        {File{Path: "a.go", Text: "func f() int {\n\treturn 1\n\tg()\n}\n"}, "unreachable-code"},
		"a return over two lines":          {File{Path: "a.go", Text: "func f() int {\n\treturn 1 +\n\t\tg()\n}\n"}, ""},
		"a bare return in Python":          {File{Path: "a.py", Text: "def f():\n    if a:\n        return\n    g()\n    if b:\n        g()\n        return\n    h()\n"}, ""},
		"code after a bare return":         {File{Path: "a.py", Text: "def f():\n    return\n    g()\n"}, "unreachable-code"},
		"a return held by a backslash":     {File{Path: "a.py", Text: "def f():\n    return a + \\\n    b\n"}, ""},
		"code after a bare return in Go":   {File{Path: "a.go", Text: "func f() {\n\treturn\n\tg()\n}\n"}, "unreachable-code"},
		"an empty catch with a reason":     {File{Path: "a.js", Text: "try { f(); } catch (e) {} // f is not there on Windows\n"}, ""},
		"a catch that ends the file":       {File{Path: "a.js", Text: "try { f(); } catch (e)"}, ""},
		"a bare catch that ends the file":  {File{Path: "a.js", Text: "try { f(); } catch"}, ""},
		"a caught error named ignored":     {File{Path: "a.java", Text: "try { f(); } catch (InterruptedException ignored) {}\n"}, ""},
		"an empty catch of cleaning up":    {File{Path: "a.js", Text: "try { this.socket.close(); } catch (e) {}\n"}, ""},
		"cleaning up in Python":            {File{Path: "a.py", Text: "try:\n    os.unlink(name)\nexcept Exception:\n    pass\n"}, ""},
		"cleaning up and more":             {File{Path: "a.js", Text: "try { save(); socket.close(); } catch (e) {}\n"}, "swallowed-error"},
		"a call that cleans nothing up":    {File{Path: "a.js", Text: "try { socket.open(); } catch (e) {}\n"}, "swallowed-error"},
		"a wrapper with many comments":     {File{Path: "a.js", Text: "module.exports = function (a) {\n" + strings.Repeat("// About f.\n", 205) + "};\n"}, ""},
		"a skipped test with a reason":     {File{Path: "test_a.py", Text: "@unittest.skip(\"There is no cache to ask.\")\ndef test_a(): ...\n"}, ""},
		"a skipped test without a reason":  {File{Path: "test_a.py", Text: "@pytest.mark.skip\ndef test_a(): ...\n\n@unittest.skip(\"broken\")\ndef test_b(): ...\n"}, "disabled-test disabled-test"},
		"except and pass in a test":        {File{Path: "tests/a.py", Text: "try:\n    f()\nexcept Exception:\n    pass\n"}, ""},
		"two methods in Python":            {File{Path: "a.py", Text: "class A:\n" + strings.Repeat("    def f(self):\n"+strings.Repeat("        f()\n", 150), 2)}, ""},
		"a long method between others":     {File{Path: "a.py", Text: "def f():\n    g()\ndef g():\n" + strings.Repeat("    if a: f()\n", 205) + "def h():\n    g()\n"}, "long-function"},
		"a module's wrapper":               {File{Path: "a.js", Text: "module.exports = function (a) {\n" + strings.Repeat("function f() {\n"+lines(150)+"}\n", 2) + "};\n"}, ""},
		"a long function in a wrapper":     {File{Path: "a.js", Text: "module.exports = function (a) {\nfunction f() {\n" + lines(205) + "}\n};\n"}, "long-function"},
		"a long test":                      {File{Path: "a_test.go", Text: "func TestA(t *testing.T) {\n" + lines(1600) + "}\n"}, ""},
		"a file that was long before":      {File{Path: "a.go", Text: strings.Repeat("var a = f()\n", 1600), Changed: []changes.Span{{First: 1, Last: 20}}}, ""},
		"a file that the change made long": {File{Path: "a.go", Text: strings.Repeat("if a { f() }\n", 1600), Changed: []changes.Span{{First: 1, Last: 20}, {First: 100, Last: 220}}}, "long-file no-test-change"},
		"a long function":                  {File{Path: "a.go", Text: "func f() {\n" + lines(205) + "}\n"}, "long-function"},
		"two functions":                    {File{Path: "a.go", Text: strings.Repeat("func f() {\n"+lines(150)+"}\n", 2)}, ""},
		"a long file":                      {File{Path: "a.go", Text: strings.Repeat("if a { f() }\n", 1600)}, "long-file"},
		"a long list of calls":             {File{Path: "a.go", Text: "func f() {\n" + strings.Repeat("\tg(\"a\")\n", 1600) + "}\n"}, ""},
		"a long file of tests":             {File{Path: "a.rs", Text: "fn f() {}\n#[cfg(test)]\nmod tests {\n" + strings.Repeat("fn a() { if a { f() } }\n", 1600) + "}\n"}, ""},
		"a large binary":                   {File{Path: "a.bin", Binary: true, Size: 2 << 20}, "large-binary"},
		"a small binary":                   {File{Path: "a.bin", Binary: true, Size: 1 << 20}, ""},
		"a focused name outside tests":     {File{Path: "a.js", Text: "fit(curve);\n"}, ""},
		"much code and no test":            {File{Path: "a.go", Text: lines(50), Changed: []changes.Span{{First: 1, Last: 40}}}, "no-test-change"},
		"a little code and no test":        {File{Path: "a.go", Text: lines(50), Changed: []changes.Span{{First: 1, Last: 4}}}, ""},
		"a test":                           {File{Path: "a_test.go", Text: lines(50), Changed: []changes.Span{{First: 1, Last: 40}}}, ""},
		"a test next to Rust's code":       {File{Path: "a.rs", Text: "fn f() {}\n#[cfg(test)]\nmod tests {\n" + lines(50) + "}\n", Changed: []changes.Span{{First: 1, Last: 40}}}, ""},
		"Rust's code next to a test":       {File{Path: "a.rs", Text: lines(50) + "#[cfg(test)]\nmod tests {\n}\n", Changed: []changes.Span{{First: 1, Last: 40}}}, "no-test-change"},
		"a generated file":                 {File{Path: "a.go", Text: "// TODO\n", Generated: true}, ""},
		"commented code, by default":       {File{Path: "a.js", Text: "// a = f(b);\n// g(a);\n// h(a);\n"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := rulesOf(codeReview(t, Config{On: offByDefault}, c.file).Findings); strings.Join(got, " ") != c.want {
				t.Errorf("found %v, want %q", got, c.want)
			}
		})
	}
}

// TestRustTestsWithoutADiff asserts that the tests in a Rust file count as changed if it is not known
// which lines of the file changed.
func TestRustTestsWithoutADiff(t *testing.T) {
	code := File{Path: "a.rs", Text: strings.Repeat("\tif a { f() }\n", 50), Changed: []changes.Span{{First: 1, Last: 40}}}
	for text, want := range map[string]string{"fn g() {}\n": "no-test-change", "fn g() {}\n#[cfg(test)]\nmod tests {\n}\n": ""} {
		got := rulesOf(codeReview(t, Config{On: []string{"no-test-change"}}, code, File{Path: "b.rs", Text: text}).Findings)
		if strings.Join(got, " ") != want {
			t.Errorf("next to %q: found %v, want %q", text, got, want)
		}
	}
}

// codeCase is code, and the rules that the code review finds in it, in order.
type codeCase struct{ path, code, want string }

func testCodeRules(t *testing.T, config Config, cases map[string]codeCase) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := rulesOf(codeReview(t, config, File{Path: c.path, Text: c.code}).Findings); strings.Join(got, " ") != c.want {
				t.Errorf("found %v, want %q", got, c.want)
			}
		})
	}
}

// TestNoteIsNamedByItsWord asserts that the message about a note contains its word alone, without the
// characters around it.
func TestNoteIsNamedByItsWord(t *testing.T) {
	for code, word := range map[string]string{"# (XXX) slow\n": "XXX", "# - XXX: slow\n": "XXX", "# é XXX slow\n": "XXX", "# a FIXME\n": "FIXME"} {
		got := codeReview(t, Config{On: offByDefault}, File{Path: "a.py", Text: code}).Findings
		if want := word + " without an issue: "; len(got) != 1 || !strings.HasPrefix(got[0].Message, want) {
			t.Errorf("%q: got %+v, want the message %q", code, got, want)
		}
	}
}

func TestLeftovers(t *testing.T) {
	testCodeRules(t, everyRule(t), map[string]codeCase{
		"Ruby's debugger":                     {"a.rb", "def f\n  debugger\n  binding.irb if x\nend\n", "breakpoint breakpoint"},
		"a Ruby name like it":                 {"a.rb", "debugger = Debugger.new\ndebugger.start\n", ""},
		"Python's wdb":                        {"a.py", "import wdb\nwdb.set_trace()\n", "breakpoint"},
		"Rust's dbg":                          {"a.rs", "fn f() {\n    dbg!(x);\n}\n", "debug-output"},
		"Go's spew":                           {"a.go", "func f() {\n\tspew.Dump(x)\n}\n", "debug-output"},
		"a variable under its name in Go":     {"a.go", "func f() {\n\tfmt.Printf(\"x.y = %+v\\n\", x.y)\n}\n", "debug-output"},
		"a variable under another name":       {"lib/a.go", "func f() {\n\tfmt.Printf(\"%d files\\n\", n)\n}\n", "print-call"},
		"a variable for a user in Go":         {"lib/a.go", "func f() {\n\tfmt.Printf(\"cpu: %s\\n\", cpu)\n}\n", "print-call"},
		"a program that prints":               {"cmd/a/a.go", "func f() {\n\tfmt.Printf(\"%d files\\n\", n)\n}\n", ""},
		"a variable under its name in Python": {"a.py", "def f():\n    print(f\"{x=}\")\n", "debug-output"},
		"an f-string that is not printed":     {"a.py", "def f():\n    log(f\"{x=}\")\n    return f\"{x}\"\n", ""},
		"here in Ruby":                        {"a.rb", "def f\n  puts \">>> here 2\"\nend\n", "debug-output"},
		"here in Java":                        {"A.java", "class A { void f() { System.out.println(\"got here\"); } }", "debug-output"},
		"a variable under its name in Rust":   {"src/a.rs", "fn f() {\n    println!(\"n: {:?}\", n);\n}\n", "debug-output"},
		"a method that is named like puts":    {"a.rb", "def puts(x)\n  @out.puts(x)\nend\n", ""},
		"output in a test":                    {"a_test.go", "func f() {\n\tfmt.Println(\"here\")\n}\n", ""},
		"a skipped test in Go":                {"a_test.go", "func TestA(t *testing.T) {\n\tt.Skip(\"flaky\")\n\tf()\n}\n", "disabled-test"},
		"a test in Go that may be skipped":    {"a_test.go", "func TestA(t *testing.T) {\n\tif testing.Short() {\n\t\tt.Skip(\"slow\")\n\t}\n\tf()\n}\n", ""},
		"a skipped test that names an issue":  {"a_test.go", "func TestA(t *testing.T) {\n\tt.Skip(\"flaky: #12\")\n\tf()\n}\n", ""},
		"an ignored test in Rust":             {"tests/a.rs", "#[test]\n#[ignore]\nfn f() {}\n", "disabled-test"},
		"a test in Rust ignored for an issue": {"tests/a.rs", "#[test]\n#[ignore = \"see #12\"]\nfn f() {}\n", ""},
		"a reason in Chinese":                 {"ATest.java", "@Disabled // \u4e34\u65f6\u7981\u7528\uff0c\u6682\u65f6\u4e0d\u4fee\u590d\uff0c\u7b49\u91cd\u6784\u540e\u89e3\u51b3\nclass ATest {\n  @Test void f() { g(); }\n}\n", ""},
		"too few words in Chinese":            {"ATest.java", "@Disabled // \u4e34\u65f6\u6ce8\u91ca\nclass ATest {\n  @Test void f() { g(); }\n}\n", "disabled-test"},
		"a reason after the mark":             {"ATest.java", "class ATest {\n  @Disabled // because the service has no sandbox\n  @Test void f() { g(); }\n}\n", ""},
		"what a setting for debugging prints": {"a.go", "package a\n\nfunc f() {\n\tif terminalDebug {\n\t\tfmt.Printf(\"n = %v\\n\", n)\n\t}\n}\n", "print-call"},
		"a disabled test in Java":             {"ATest.java", "class ATest {\n  @Disabled\n  @Test void f() { g(); }\n}\n", "disabled-test"},
		"a disabled test in Python":           {"test_a.py", "@pytest.mark.skip(reason='slow')\ndef test_a():\n    f()\n", "disabled-test"},
		"a conditional skip in Python":        {"test_a.py", "@pytest.mark.skipif(WINDOWS, reason='x')\ndef test_a():\n    f()\n", ""},
		"a test in Python that skips at once": {"test_a.py", "def test_a():\n    pytest.skip('slow')\n    f()\n", "disabled-test"},
		"a focused test in Ruby":              {"spec/a_spec.rb", "fit 'works' do\n  f\nend\nit 'too', :focus do\n  f\nend\nit 'three', focus: true do\n  f\nend\n", "focused-test focused-test focused-test"},
		"a test in Ruby that may be skipped":  {"a_spec.rb", "it 'works' do\n  skip 'no tool' unless tool?\n  f\nend\n", ""},
		"a skipped test in Ruby":              {"spec/a_spec.rb", "xit 'works' do\n  f\nend\nit 'too' do\n  skip 'slow'\n  f\nend\n", "disabled-test disabled-test"},
		"code after a return in Ruby":         {"a.rb", "def f\n  return 1\n  g\nend\n", "unreachable-code"},
		"a return in Ruby with a condition":   {"a.rb", "def f\n  return 1 if x\n  raise A unless y\n  return [1,\n    2] if z\n  g\nend\n", ""},
		"a return in Ruby before a branch":    {"a.rb", "def f\n  if x\n    return 1\n  else\n    raise\n  end\n  g\nrescue\n  return 2\nensure\n  h\nend\n", ""},
		"a break that ends with its line":     {"a.js", "switch (a) {\n  case 1:\n    break\n  case 2:\n    f();\n    g();\n    break\n}\n", ""},
		"a test that throws":                  {"a.test.js", "it('stops', async () => {\n  throw new Error();\n  g();\n});\n", ""},
		"a title that says why":               {"a.test.js", "it.skip(`skipped because ${path} is there`, () => {});\n", ""},
		"a member of a type called break":     {"a.ts", "type A = {\n  break?: boolean;\n  b?: number;\n};\n", ""},
		"code after a return in Rust":         {"a.rs", "fn f() -> u8 {\n    if x {\n    }\n    return 1;\n    g();\n}\n", "unreachable-code"},
		"a Ruby name that is a Go keyword":    {"a.rb", "continue = f\ng\nnext\n", ""},
		"a function after a return in Rust":   {"a.rs", "fn f() -> u8 {\n    return g();\n    fn g() -> u8 { 1 }\n}\n", ""},
		"Ginkgo's focused and pending tests":  {"a_test.go", "var _ = FDescribe(\"a\", func() {\n\tPIt(\"b\", f)\n})\n", "focused-test disabled-test"},
	})
}

func TestSwallowedErrors(t *testing.T) {
	for name, c := range map[string]struct {
		path, code string
		want       bool
	}{
		"Go":                                {"a.go", "func f() {\n\tif err != nil {\n\t}\n}\n", true},
		"Go with a call":                    {"a.go", "func f() {\n\tif err := g(); err != nil {\n\t}\n}\n", true},
		"Go that returns":                   {"a.go", "func f() error {\n\tif err != nil {\n\t\treturn err\n\t}\n}\n", false},
		"Go with a reason":                  {"a.go", "func f() {\n\tif err != nil {\n\t\t// gone already\n\t}\n}\n", false},
		"Ruby":                              {"a.rb", "begin\n  f\nrescue\nend\n", true},
		"Ruby with a name":                  {"a.rb", "begin\n  f\nrescue StandardError => e\nend\n", true},
		"Ruby that gives nil":               {"a.rb", "begin\n  f\nrescue StandardError => e\n  nil\nend\n", false},
		"Ruby of one error":                 {"a.rb", "begin\n  f\nrescue KeyError\nend\n", false},
		"Ruby with a reason":                {"a.rb", "begin\n  f\nrescue\n  # gone already\nend\n", false},
		"Ruby that gives a value":           {"a.rb", "x = f rescue nil\n", false},
		"Ruby that logs":                    {"a.rb", "begin\n  f\nrescue => e\n  log(e)\nend\n", false},
		"Rust":                              {"a.rs", "fn f() {\n    match g() {\n        Ok(x) => h(x),\n        Err(_) => {}\n    }\n}\n", true},
		"Rust with an empty value":          {"a.rs", "fn f() {\n    match g() {\n        Ok(x) => h(x),\n        Err(_) => (),\n    }\n}\n", true},
		"Rust in an if":                     {"a.rs", "fn f() {\n    if let Err(_) = g(1) {}\n}\n", true},
		"Rust that returns":                 {"a.rs", "fn f() {\n    match g() {\n        Ok(x) => h(x),\n        Err(_) => return,\n    }\n}\n", false},
		"Java":                              {"A.java", "class A { void f() { try { g(); } catch (IOException e) {} } }", true},
		"Java that says so with a name":     {"A.java", "class A { void f() { try { g(); } catch (IOException ignored) {} } }", false},
		"Rust for the errors that are left": {"a.rs", "fn f() {\n    match g() {\n        Err(e) if h(&e) => return,\n        Err(_) => {}\n    }\n}\n", false},
		"Java's error that cannot happen":   {"A.java", "class A { void f() { try { g(); } catch (UnsupportedEncodingException e) {} } }", false},
		"Java that returns another value":   {"A.java", "class A { int f() { if (a) { try { return g(); } catch (IOException e) {} } return 0; } }", false},
		"JavaScript that says so by name":   {"a.js", "try { f(); } catch (_) {}\n", false},
		"a reason before the handler":       {"a.js", "try {\n  f();\n  // not there: as it was\n} catch (e) {}\n", false},
		"a reason before two handlers":      {"A.java", "class A { void f() { try { g(); }\n// not there\ncatch (IOException e) {}\ncatch (RuntimeException e) {}\n} }", false},
		"a comment about something else":    {"a.js", "try {\n  // about f\n  f();\n} catch (e) {}\n", true},
		"a reason before except":            {"a.py", "try:\n    f()\n# not there: as it was\nexcept Exception:\n    pass\n", false},
		"JavaScript with an unused name":    {"a.js", "try { f(); } catch (_error) {}\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			got := rulesOf(codeReview(t, Config{On: offByDefault}, File{Path: c.path, Text: c.code}).Findings)
			if slices.Contains(got, "swallowed-error") != c.want {
				t.Errorf("found %v, want swallowed-error among them: %v", got, c.want)
			}
		})
	}
}

// TestWhatFreshDrawsShowed asserts that the rules accept code of the kinds in which they found
// something wrongly in the fresh draws of docs/review-rules.md, and still report similar code that is
// wrong.
func TestWhatFreshDrawsShowed(t *testing.T) {
	testCodeRules(t, Config{On: offByDefault}, map[string]codeCase{
		"a skip under a condition":             {"a.test.js", "test('a', () => {\n  test.skip(isWindows, 'needs a terminal');\n  test.skip(!tool);\n  test.fixme(({ name }) => name === 'b', 'c');\n});\n", ""},
		"a skip below an if":                   {"a.test.js", "test('a', () => {\n  if (isWindows) {\n    test.skip();\n  }\n  if (b) test.skip('c');\n});\n", ""},
		"a skip of the test that it is in":     {"a.test.js", "test('a', () => {\n  test.skip();\n});\n", "disabled-test"},
		"a skipped test with its title":        {"a.test.js", "test.skip('a', () => {});\nit.skip(title, () => {});\ntest.skip(`a ${b}`, async ({ c }) => {});\n", "disabled-test disabled-test disabled-test"},
		"an inherited test that is disabled":   {"ATest.java", "class ATest extends B {\n  @Override\n  @Disabled\n  @Test void f() { g(); }\n\n  @Test @Ignore @Override public void h() { g(); }\n}\n", ""},
		"a disabled test that has nothing":     {"ATest.java", "class ATest extends B {\n  @Disabled @Test public void f() {\n  }\n}\n", ""},
		"a disabled test after another":        {"ATest.java", "class ATest extends B {\n  @Override public void f() { g(); }\n  @Disabled @Test public void h() { g(); }\n}\n", "disabled-test"},
		"a generator that gives nothing":       {"a.py", "def f():\n    return\n    yield\n", ""},
		"code that Java's compiler refuses":    {"A.java", "class A { int f() {\n  return 1;\n  g();\n} }\n", ""},
		"a value that is asked for":            {"a.js", "let a;\ntry { a = JSON.parse(b); } catch (e) {}\nif (!a) g();\n", ""},
		"a value that was given before":        {"a.js", "let a = 'b';\ntry {\n  a = f();\n} catch {}\ng(a);\n", ""},
		"a value that nobody asks for":         {"a.js", "try { this.a = f(); } catch (e) {}\nif (b) g();\n", "swallowed-error"},
		"a value that is null in Java":         {"A.java", "class A { void f() {\n  B b = null;\n  try {\n    b = g();\n  } catch (IOException e) {\n  }\n  h(b);\n} }\n", ""},
		"a value that is None in Python":       {"a.py", "def f():\n    a = None\n    try:\n        a = g()\n    except Exception:\n        pass\n    h(a)\n", ""},
		"work that fails unseen in Python":     {"a.py", "def f():\n    try:\n        a = g()\n        save(a)\n    except Exception:\n        pass\n    h()\n", "swallowed-error"},
		"a conflict that a test quotes":        {"a_test.go", "const a = `\n<<<<<<< a\nb\n=======\nc\n>>>>>>> d\n`\n", ""},
		"a conflict in a test":                 {"a_test.go", "const a = 1\n<<<<<<< a\nb\n=======\nc\n>>>>>>> d\n", "conflict-marker"},
		"a mark that a runner asks for":        {"spec/a.rb", "quiet unless example.metadata.key?(:focus)\n", ""},
		"a test by which a runner tries skips": {"test/a.spec.js", "it.skip('should not run', function () {});\nit.skip('runs', function () {});\n", "disabled-test"},
		"a fixture of a runner":                {"test/fixtures/a.js", "it.only('a', function () {});\n", ""},
		"a failure that is announced":          {"a.py", "def f():\n    # Wait for the end, but ignore what went wrong.\n    try:\n        g()\n    except Exception:\n        pass\n", ""},
		"a failure that has another branch":    {"a.py", "def f():\n    try:\n        a = g()\n    except Exception:\n        pass\n    else:\n        h(a)\n", ""},
		"a transaction that is rolled back":    {"a.js", "try { await runner.rollbackTransaction(); } catch (e) {}\n", ""},
		"what runs if the work failed":         {"a.js", "function f() {\n  try {\n    go(g(a));\n    return;\n  } catch (e) {}\n  tell(a);\n}\n", ""},
		"an answer that is sought elsewhere":   {"a.py", "def f():\n    try:\n        return g()\n    except Exception:\n        pass\n    a = h()\n    return a\n", ""},
		"a job that fails in an example":       {"examples/a.rb", "def f\n  raise 'a'\n  g\nend\n", ""},
		"a value that is asked for in Ruby":    {"a.rb", "begin\n  a = f\nrescue\nend\ng if a\n", ""},
		"a value that nobody asks for in Ruby": {"a.rb", "begin\n  a = f\nrescue\nend\ng\n", "swallowed-error"},
	})
}

// TestWhatHeldOutSourcesShowed asserts for the held-out sources of docs/review-rules.md what
// TestWhatFreshDrawsShowed asserts for the fresh draws.
func TestWhatHeldOutSourcesShowed(t *testing.T) {
	long := strings.Repeat("  if (a) { f(); }\n", 210)
	testCodeRules(t, Config{On: offByDefault}, map[string]codeCase{
		"a class after a decorator":          {"a.ts", "@injectable()\nexport class A {\n" + long + "}\n", ""},
		"a class after an annotation":        {"A.java", "@A({\"b\"})\npublic class A {\n" + long + "}\n", ""},
		"a list of objects":                  {"a.ts", "f([\n  g(['a']),\n  {\n" + long + "  },\n]);\n", ""},
		"a method with a type":               {"a.ts", "class A {\n  f(a: B): Promise<void> {\n" + long + "  }\n}\n", "long-function"},
		"a method that throws":               {"A.java", "class A {\n  void f(B a) throws C, D {\n" + long + "  }\n}\n", "long-function"},
		"a case that tries":                  {"a.js", "switch (a) {\ncase f(x): try {\n" + long + "} finally { g(); }\n}\n", ""},
		"elements that end":                  {"a.tsx", "class A {\n  f = () => {\n    return <>{rows.map(r => <div>{g(r)}</div>)}</>;\n  };\n\n  private b: C;\n}\n", ""},
		"an argument named throw":            {"a.py", "def f():\n    hook(\n        throw=True,\n        node=n,\n    )\n", ""},
		"code after a raise":                 {"a.py", "def f():\n    raise A()\n    g()\n", "unreachable-code"},
		"a bundle":                           {"a.js", "/******/ (() => { // webpackBootstrap\ntry { f(); } catch (e) {}\n", ""},
		"a variable that is called skip":     {"a_test.rb", "def initialize(skip)\n  @skip = skip\nend\n", ""},
		"a skip that a comment explains":     {"a.test.js", "// Skipped in Node, which has no arrayBuffer.\nit.skip('a', () => {});\n", ""},
		"a filter of tests":                  {"spec/spec_helper.rb", "RSpec.configure do |config|\n  config.filter_run focus: true\nend\n", ""},
		"a skip with a reason":               {"a_test.rb", "test \"a\" do\n  skip \"a b c\"\n  f\nend\n", ""},
		"a skip without a reason":            {"a_test.rb", "test \"a\" do\n  skip\n  f\nend\n", "disabled-test"},
		"a disabled test with a reason":      {"ATest.java", "class ATest {\n  @Disabled(\"Needs a server\")\n  void a() {}\n}\n", ""},
		"a default that Python returns":      {"a.py", "def f():\n    try:\n        if g(): return 1\n    except Exception:\n        pass\n    return 0\n", ""},
		"a very long page of documentation":  {"a.go", strings.Repeat("// About f.\n", 1400) + strings.Repeat("var a = f()\n", 200), ""},
		"a library with its licence":         {"a.js", "/*! A 1.2 | MIT license */\n" + strings.Repeat("try { f(); } catch (e) {}\n", 1600), ""},
		"a long script of one's own":         {"a.js", "/* About f. */\n" + strings.Repeat("if (a) f();\n", 1600), "long-file"},
		"a library that is not so long":      {"a.js", "/*! A 1.2 | MIT license */\ntry { f(); } catch (e) {}\n", "swallowed-error"},
		"an error that is raised later":      {"a.rb", "run do\n  f\nrescue => error\nend\nraise error if error\n", ""},
		"an error with a name and no use":    {"a.rb", "run do\n  f\nrescue => error\nend\ng\n", "swallowed-error"},
		"a text that is not a number":        {"A.java", "class A { void f() { try { n = Integer.valueOf(a); } catch (NumberFormatException e) {} } }", ""},
		"a cancellation that is awaited":     {"a.js", "async function f() { try { await reader.cancel(); } catch {} }\n", ""},
		"a value that is returned instead":   {"a.js", "function f() {\n  try {\n    return new URL(a);\n  } catch {}\n  return a;\n}\n", ""},
		"a result that is not used":          {"a.js", "function f() {\n  try {\n    b = g(a);\n  } catch {}\n  return a;\n}\n", "swallowed-error"},
		"a close under a condition":          {"A.java", "class A { void f() {\n  try {\n    if (s != null) {\n      s.close();\n      s = null;\n    }\n  } catch (Exception e) {}\n} }", ""},
		"a close of what is cast":            {"A.java", "class A { void f() { try { ((B) s.get()).close(); } catch (Exception e) {} } }", ""},
		"a close before a del":               {"a.py", "try:\n    if sock:\n        sock.close()\n        del sock\nexcept Exception:\n    pass\n", ""},
		"a save under a condition":           {"A.java", "class A { void f() {\n  try {\n    if (s != null) {\n      s.save();\n      s.close();\n    }\n  } catch (Exception e) {}\n} }", "swallowed-error"},
		"a name that is given a value":       {"A.java", "class A { void f() { try { s.close(); a = b; } catch (Exception e) {} } }", "swallowed-error"},
		"a class that may not be there":      {"A.java", "class A { void f() { try { c = Class.forName(\"B\"); m.put(c, d); } catch (Exception e) {} } }", ""},
		"an error that has another branch":   {"a.go", "func f() {\n\tif err := g(); err != nil {\n\t} else if a {\n\t\th()\n\t}\n}\n", ""},
		"code after a raise in a test":       {"test_a.py", "def test_f():\n    with f():\n        raise A()\n        g()\n", ""},
		"what a compiler made":               {"dist/a.js", "\"use strict\";\nObject.defineProperty(exports, \"__esModule\", { value: true });\n// TODO: f\n", ""},
		"a stub of an editor":                {"a.java", "// TODO Auto-generated method stub\n", ""},
		"a note over two lines, and another": {"a.py", "# XXX this is slow\n# XXX and wrong\nf()\n# TODO: g\n", "todo-without-issue todo-without-issue"},
		"a note below one with an issue":     {"a.py", "# TODO(#3): this is slow\n# TODO: and wrong\n", "todo-without-issue"},
		"a version that is required":         {"a.rs", "// TODO: use strip_suffix when we require Rust 1.45\n", ""},
		"an issue by its number":             {"a.py", "# XXX not used because of issue6542\n", ""},
		"a pull request that is waited for":  {"a.rs", "// FIXME: say the cause once rust/pull/87704 is merged\n", ""},
		"the word in quotation marks":        {"a.rb", "# enumerate 'TODO|FIXME'\n", ""},
		"a note that points at another":      {"a.go", "// FIXME: CUT-BUG, search this tag to see details\n", ""},
		"a test that is run by hand":         {"tests/a.rs", "#[test]\n#[ignore = \"must be run manually, with an old cargo\"]\nfn f() {}\n", ""},
		"a test with its issue above":        {"ATest.java", "class ATest {\n  /**\n   * Measures, for https://example.com/issues/3\n   */\n  @Ignore\n  @Test void f() { g(); }\n}\n", ""},
		"a test with its mark in between":    {"tests/a.rs", "// It needs a file that is up to date: cargo test -- --ignored\n#[test]\n#[ignore]\nfn f() {}\n", ""},
		"a test whose comment does not help": {"tests/a.rs", "// Broken.\n#[test]\n#[ignore]\nfn f() {}\n", "disabled-test"},
		"a test that was tried by hand":      {"test_a.py", "# Fails, but not if it is tested manually.\n@pytest.mark.skip\ndef test_a(): ...\n", "disabled-test"},
	})
}
