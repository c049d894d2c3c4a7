package reviewer

import (
	"slices"
	"strings"
	"testing"
)

func TestLeftovers(t *testing.T) {
	for name, c := range map[string]struct {
		path, code string
		want       string // the rules found, in order
	}{
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
		"a text with a hole in Python":        {"a.py", "def f():\n    log(f\"{x=}\")\n    return f\"{x}\"\n", ""},
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
		"a disabled test in Java":             {"ATest.java", "class ATest {\n  @Disabled\n  @Test void f() { g(); }\n}\n", "disabled-test"},
		"a disabled test in Python":           {"test_a.py", "@pytest.mark.skip(reason='slow')\ndef test_a():\n    f()\n", "disabled-test"},
		"a conditional skip in Python":        {"test_a.py", "@pytest.mark.skipif(WINDOWS, reason='x')\ndef test_a():\n    f()\n", ""},
		"a test in Python that skips at once": {"test_a.py", "def test_a():\n    pytest.skip('slow')\n    f()\n", "disabled-test"},
		"a focused test in Ruby":              {"spec/a_spec.rb", "fit 'works' do\n  f\nend\nit 'too', :focus do\n  f\nend\nit 'three', focus: true do\n  f\nend\n", "focused-test focused-test focused-test"},
		"a test in Ruby that may be skipped":  {"a_spec.rb", "it 'works' do\n  skip 'no tool' unless tool?\n  f\nend\n", ""},
		"a skipped test in Ruby":              {"spec/a_spec.rb", "xit 'works' do\n  f\nend\nit 'too' do\n  skip 'slow'\n  f\nend\n", "disabled-test disabled-test"},
		"code behind a return in Ruby":        {"a.rb", "def f\n  return 1\n  g\nend\n", "unreachable-code"},
		"a return in Ruby that may not be":    {"a.rb", "def f\n  return 1 if x\n  raise A unless y\n  return [1,\n    2] if z\n  g\nend\n", ""},
		"a return in Ruby before a branch":    {"a.rb", "def f\n  if x\n    return 1\n  else\n    raise\n  end\n  g\nrescue\n  return 2\nensure\n  h\nend\n", ""},
		"code behind a return in Rust":        {"a.rs", "fn f() -> u8 {\n    if x {\n    }\n    return 1;\n    g();\n}\n", "unreachable-code"},
		"a Ruby name like a word of others":   {"a.rb", "continue = f\ng\nnext\n", ""},
		"a function behind a return in Rust":  {"a.rs", "fn f() -> u8 {\n    return g();\n    fn g() -> u8 { 1 }\n}\n", ""},
		"a focused test in Ginkgo":            {"a_test.go", "var _ = FDescribe(\"a\", func() {\n\tPIt(\"b\", f)\n})\n", "focused-test disabled-test"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, f := range codeReview(t, everyRule(t), File{Path: c.path, Text: c.code}).Findings {
				got = append(got, f.Rule)
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("found %v, want %q", got, c.want)
			}
		})
	}
}

func TestSwallowedErrors(t *testing.T) {
	for name, c := range map[string]struct {
		path, code string
		want       bool
	}{
		"Go":                              {"a.go", "func f() {\n\tif err != nil {\n\t}\n}\n", true},
		"Go with a call":                  {"a.go", "func f() {\n\tif err := g(); err != nil {\n\t}\n}\n", true},
		"Go that returns":                 {"a.go", "func f() error {\n\tif err != nil {\n\t\treturn err\n\t}\n}\n", false},
		"Go with a reason":                {"a.go", "func f() {\n\tif err != nil {\n\t\t// gone already\n\t}\n}\n", false},
		"Ruby":                            {"a.rb", "begin\n  f\nrescue\nend\n", true},
		"Ruby with a name":                {"a.rb", "begin\n  f\nrescue StandardError => e\n  nil\nend\n", true},
		"Ruby of one error":               {"a.rb", "begin\n  f\nrescue KeyError\nend\n", false},
		"Ruby with a reason":              {"a.rb", "begin\n  f\nrescue\n  # gone already\nend\n", false},
		"Ruby that gives a value":         {"a.rb", "x = f rescue nil\n", false},
		"Ruby that logs":                  {"a.rb", "begin\n  f\nrescue => e\n  log(e)\nend\n", false},
		"Rust":                            {"a.rs", "fn f() {\n    match g() {\n        Ok(x) => h(x),\n        Err(_) => {}\n    }\n}\n", true},
		"Rust with an empty value":        {"a.rs", "fn f() {\n    match g() {\n        Ok(x) => h(x),\n        Err(_) => (),\n    }\n}\n", true},
		"Rust in an if":                   {"a.rs", "fn f() {\n    if let Err(_) = g(1) {}\n}\n", true},
		"Rust that returns":               {"a.rs", "fn f() {\n    match g() {\n        Ok(x) => h(x),\n        Err(_) => return,\n    }\n}\n", false},
		"Java":                            {"A.java", "class A { void f() { try { g(); } catch (IOException e) {} } }", true},
		"Java that says so with a name":   {"A.java", "class A { void f() { try { g(); } catch (IOException ignored) {} } }", false},
		"JavaScript that says so by name": {"a.js", "try { f(); } catch (_) {}\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, f := range codeReview(t, Config{}, File{Path: c.path, Text: c.code}).Findings {
				got = append(got, f.Rule)
			}
			if slices.Contains(got, "swallowed-error") != c.want {
				t.Errorf("found %v", got)
			}
		})
	}
}
