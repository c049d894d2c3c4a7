package reviewer

import (
	"slices"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/secrets"
)

// TestWhatHeldOutSourcesShowed has, for each pattern of wrong findings in the held-out
// sources, code that is accepted since, and code like it that is still found.
func TestWhatHeldOutSourcesShowed(t *testing.T) {
	long := strings.Repeat("  f();\n", 210)
	for name, c := range map[string]struct {
		path, code string
		want       string // the rules found, in order
	}{
		"a class behind a decorator":         {"a.ts", "@injectable()\nexport class A {\n" + long + "}\n", ""},
		"a class behind an annotation":       {"A.java", "@A({\"b\"})\npublic class A {\n" + long + "}\n", ""},
		"a list of objects":                  {"a.ts", "f([\n  g(['a']),\n  {\n" + long + "  },\n]);\n", ""},
		"a method with a type":               {"a.ts", "class A {\n  f(a: B): Promise<void> {\n" + long + "  }\n}\n", "long-function"},
		"a method that throws":               {"A.java", "class A {\n  void f(B a) throws C, D {\n" + long + "  }\n}\n", "long-function"},
		"a case that tries":                  {"a.js", "switch (a) {\ncase f(x): try {\n" + long + "} finally { g(); }\n}\n", ""},
		"elements that end":                  {"a.tsx", "class A {\n  f = () => {\n    return <>{rows.map(r => <div>{g(r)}</div>)}</>;\n  };\n\n  private b: C;\n}\n", ""},
		"an argument named throw":            {"a.py", "def f():\n    hook(\n        throw=True,\n        node=n,\n    )\n", ""},
		"code behind a raise":                {"a.py", "def f():\n    raise A()\n    g()\n", "unreachable-code"},
		"a very long page of documentation":  {"a.go", strings.Repeat("// About f.\n", 1400) + strings.Repeat("var a = f()\n", 200), ""},
		"a library with its licence":         {"a.js", "/*! A 1.2 | MIT license */\n" + strings.Repeat("try { f(); } catch (e) {}\n", 1600), ""},
		"a long script of one's own":         {"a.js", "/* About f. */\n" + strings.Repeat("f();\n", 1600), "long-file"},
		"a library that is not so long":      {"a.js", "/*! A 1.2 | MIT license */\ntry { f(); } catch (e) {}\n", "swallowed-error"},
		"an error that is raised later":      {"a.rb", "run do\n  f\nrescue => error\nend\nraise error if error\n", ""},
		"an error with a name and no use":    {"a.rb", "run do\n  f\nrescue => error\nend\ng\n", "swallowed-error"},
		"a text that is no number":           {"A.java", "class A { void f() { try { n = Integer.valueOf(a); } catch (NumberFormatException e) {} } }", ""},
		"an end that is awaited":             {"a.js", "async function f() { try { await reader.cancel(); } catch {} }\n", ""},
		"a value that is returned instead":   {"a.js", "function f() {\n  try {\n    return new URL(a);\n  } catch {}\n  return a;\n}\n", ""},
		"a value that goes on":               {"a.js", "function f() {\n  try {\n    b = g(a);\n  } catch {}\n  return a;\n}\n", "swallowed-error"},
		"an end under a condition":           {"A.java", "class A { void f() {\n  try {\n    if (s != null) {\n      s.close();\n      s = null;\n    }\n  } catch (Exception e) {}\n} }", ""},
		"an end of what is cast":             {"A.java", "class A { void f() { try { ((B) s.get()).close(); } catch (Exception e) {} } }", ""},
		"an end and a name that is left":     {"a.py", "try:\n    if sock:\n        sock.close()\n        del sock\nexcept Exception:\n    pass\n", ""},
		"a condition and work":               {"A.java", "class A { void f() {\n  try {\n    if (s != null) {\n      s.save();\n      s.close();\n    }\n  } catch (Exception e) {}\n} }", "swallowed-error"},
		"a name that is given a value":       {"A.java", "class A { void f() { try { s.close(); a = b; } catch (Exception e) {} } }", "swallowed-error"},
		"a class that may not be there":      {"A.java", "class A { void f() { try { c = Class.forName(\"B\"); m.put(c, d); } catch (Exception e) {} } }", ""},
		"an error that has another branch":   {"a.go", "func f() {\n\tif err := g(); err != nil {\n\t} else if a {\n\t\th()\n\t}\n}\n", ""},
		"code behind a raise in a test":      {"test_a.py", "def test_f():\n    with f():\n        raise A()\n        g()\n", ""},
		"what a compiler made":               {"dist/a.js", "\"use strict\";\nObject.defineProperty(exports, \"__esModule\", { value: true });\n// TODO: f\n", ""},
		"a stub of an editor":                {"a.java", "// TODO Auto-generated method stub\n", ""},
		"lines that begin with the word":     {"a.py", "# XXX this is slow\n# XXX and wrong\nf()\n# TODO: g\n", "todo-without-issue todo-without-issue"},
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
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, f := range codeReview(t, Config{}, File{Path: c.path, Text: c.code}).Findings {
				got = append(got, f.Rule)
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("found %v, want %q", got, c.want)
			}
		})
	}
}

// TestPathsWhereNobodySendsAnything holds the paths that weaknesses are not looked for in.
func TestPathsWhereNobodySendsAnything(t *testing.T) {
	const code = "def f(a):\n    os.system('ls ' + a)\n"
	for path, want := range map[string]bool{
		"app/migrations/0001_first.py":       false,
		"app/sql/migrations/versions/1.py":   false,
		"app/db/legacy_migrations/a.py":      false,
		"services/migrations/from_github.py": true,
		"tools/releaser.py":                  false,
		"app/releases.py":                    true,
	} {
		if got := len(security(t, Config{}, File{Path: path, Text: code}).Findings) > 0; got != want {
			t.Errorf("%s: found is %v", path, got)
		}
	}
}

// TestSecretsThatTestsMake holds that a token is a secret, save where a test has signed it.
func TestSecretsThatTestsMake(t *testing.T) {
	const token = "eyJhbGciOiJIUzI1NiJ9.eyJpZCI6IjRxMXhsY2xtZmxva3UzMyIsInR5cGUiOiJhdXRoUmVjb3JkIn0.w2S9qKe8Zt4mVb1nXc7yLr5pTd3hGf6jQkUaOiEsBzM"
	r, err := New(Config{}, secrets.New(nil))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{"api/client.go": true, "api/client_test.go": false, "tests/app.ini.tmpl": false} {
		found, err := r.Security(t.Context(), []File{{Path: path, Text: "token = \"" + token + "\"\n"}})
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.ContainsFunc(found.Findings, func(f finding.Finding) bool { return f.Rule == secretRule.ID }); got != want {
			t.Errorf("%s: found is %v", path, got)
		}
	}
}
