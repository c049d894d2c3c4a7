package reviewer

import (
	"fmt"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/changes"
)

// TestNewSuppressionsAreListed asserts that comments and settings which a change adds to make tools
// silent are listed with what they cover, and that similar text is not listed. What covers more is
// listed first.
func TestNewSuppressionsAreListed(t *testing.T) {
	for _, c := range []struct{ path, text, want string }{
		{"a.js", "// eslint-disable-next-line no-eval\nf();\n", "ESLint line 1"},
		{"a.js", "/* eslint-disable */\nf();\n", "ESLint file 1"},
		{"a.js", "/* eslint no-eval: \"off\" */\n", "ESLint file 1"},
		{"a.js", "f(); // eslint-disable-line\n", "ESLint line 1"},
		{"a.ts", "// @ts-ignore\nf();\n// @ts-expect-error later\n", "TypeScript line 1, TypeScript line 3"},
		{"a.ts", "// @ts-nocheck\n", "TypeScript file 1"},
		{"a.ts", "// biome-ignore lint/a: because\n", "Biome line 1"},
		{"a.py", "import a  # noqa: F401\n", "Flake8 and Ruff line 1"},
		{"a.py", "# ruff: noqa\n", "Flake8 and Ruff file 1"},
		{"a.py", "x = f()  # type: ignore  # noqa\n", "a type checker of Python line 1, Flake8 and Ruff line 1"},
		{"a.py", "# pylint: disable=missing-docstring\n", "Pylint line 1"},
		{"a.py", "subprocess.run(x)  # nosec B602\n", "Bandit or gosec line 1"},
		{"a.go", "package a\n\nvar x = f() //nolint:errcheck // fine\n", "golangci-lint line 3"},
		{"a.go", "package a\n\nvar x = f() // #nosec G104\n", "Bandit or gosec line 3"},
		{"a.go", "package a\n\n//lint:file-ignore SA1019 old\n", "Staticcheck file 3"},
		{"a.rb", "# rubocop:disable Security/Eval\n", "RuboCop line 1"},
		{"a.rs", "#[allow(unused)]\nfn f() {}\n", "rustc and Clippy line 1"},
		{"a.rs", "#![allow(clippy::all)]\n", "rustc and Clippy file 1"},
		{"A.java", "class A {\n  @SuppressWarnings(\"unchecked\")\n  void f() {} // NOSONAR\n}\n", "the Java compiler line 2, Sonar line 3"},
		{"A.kt", "@Suppress(\"UNCHECKED_CAST\")\nfun f() {}\n", "the Java compiler line 1"},
		{"a.cs", "#pragma warning disable CS1591\n", "a compiler line 1"},
		{"a.cpp", "int x; // NOLINT(google-runtime-int)\n", "clang-tidy line 1"},
		{"a.sh", "# shellcheck disable=SC2086\n", "ShellCheck line 1"},
		{"Dockerfile", "# hadolint ignore=DL3008\n", "Hadolint line 1"},
		{"a.py", "key = 'x'  # gitleaks:allow\n", "a scanner for secrets line 1"},
		{"a.js", "// airlock:ignore javascript/xss the text is ours\n", "Airlock line 1"},
		{".eslintrc.json", "{\n  \"rules\": {\n    \"no-eval\": \"off\",\n    \"semi\": \"error\"\n  }\n}\n", "ESLint project 3"},
		{"eslint.config.js", "export default [{\n  rules: { 'no-eval': 0 },\n  ignores: ['dist/'],\n}];\n", "ESLint project 2, ESLint project 3"},
		{".eslintignore", "# ours\nsrc/old\n", "a linter project 2"},
		{"pyproject.toml", "[tool.ruff.lint]\nselect = [\"E\"]\nignore = [\n  \"E501\",\n]\nline-length = 100\n", "a linter of Python project 4"},
		{"setup.cfg", "[flake8]\nmax-line-length = 100\nextend-ignore = E203\n", "a linter of Python project 3"},
		{".golangci.yml", "linters:\n  enable:\n    - gosec\n  disable:\n    - errcheck\n", "golangci-lint project 5"},
		{".rubocop.yml", "Security/Eval:\n  Enabled: false\nStyle/A:\n  Exclude:\n  - a.rb\n", "RuboCop project 2, RuboCop project 5"},
		{"Cargo.toml", "[lints.clippy]\nunwrap_used = \"allow\"\n", "Clippy project 2"},
		{"tsconfig.json", "{ \"compilerOptions\": {\n  \"strict\": false\n} }\n", "TypeScript project 2"},

		{"a.js", "/* eslint \"no-eval\": \"off\" */\n/* eslint eqeqeq: \"error\", no-eval: [0] */\n", "ESLint file 1, ESLint file 2"},
		{"a.js", "/* eslint\n  eqeqeq: 2,\n  no-eval: 0\n*/\n/*\n  eslint-disable\n*/\n", "ESLint file 1, ESLint file 6"},
		{"a.jsx", "const a = <p>Don't {/* eslint-disable-line */} see it`s</p>;\nf(); // eslint-disable-line\n", "ESLint line 1, ESLint line 2"},
		{"a.vue", "<p>{{ x }}</p><!-- eslint-disable-line vue/no-v-html -->\n<script>\nf();/* eslint-disable-line */\nf('a # b'); // eslint-disable-line\n</script>\n", "ESLint line 1, ESLint line 3, ESLint line 4"},
		{"a.html", "<b></b><!-- prettier-ignore -->\n<!-- prettier-ignore-start -->\n<!-- prettier-ignore-attribute -->\n", "Prettier line 1, Prettier line 2, Prettier line 3"},
		{"a.js", "// dprint-ignore-file\n// dprint-ignore\n// oxfmt-ignore\n// oxlint-disable-next-line no-eval\n/* oxlint-disable */\n", "dprint file 1, oxlint file 5, dprint line 2, Oxfmt line 3, oxlint line 4"},
		{"a.ts", "// deno-fmt-ignore-file\n// deno-lint-ignore no-eval\n", "Deno file 1, Deno line 2"},
		{"a.py", "import a  # NOQA\nimport b  # NoQA : F401\n# flake8: nOqA\n", "Flake8 and Ruff file 3, Flake8 and Ruff line 1, Flake8 and Ruff line 2"},
		{"a.py", "import a  # NoQa\n", "Flake8 and Ruff line 1"},
		{"a.py", "a = 1  # we know, pylint: disable=invalid-name\n", "Pylint line 1"},
		{"a.py", "# fmt:off\n# fmt: skip\n# yapf: disable\n# autopep8: off\n# ruff: isort: off\n# ruff: disable[F401]\n", "Black line 1, Black line 2, Black line 3, Black line 4, Black line 5, Flake8 and Ruff line 6"},
		{"a.py", "# mypy: allow-untyped-defs\n# pyright: reportMissingImports=false\n# ty: ignore\n", "a type checker of Python file 1, a type checker of Python line 2, a type checker of Python line 3"},
		{"a.go", "package a\n\n//gosec:disable G104\nvar x = f() // skipcq: GO-R1005\n", "Bandit or gosec line 3, DeepSource line 4"},
		{"a.rb", "# rubocop : disable Security/Eval\nx = 1 # rubocop: todo Style/A\n# :nodoc: rubocop:disable all\n", "RuboCop line 1, RuboCop line 2"},
		{"a.rs", "#![cfg_attr(\n    test,\n    allow(unused)\n)]\n#[\n  allow(dead_code)\n]\n# [rustfmt::skip]\nfn f(#[expect(unused)] x: u8) {}\n#[cfg_attr(rustfmt, rustfmt_skip)]\nfn g() {}\n",
			"rustc and Clippy file 1, rustc and Clippy line 5, rustc and Clippy line 8, rustc and Clippy line 9, rustc and Clippy line 10"},
		{"A.java", "class A {\n  @java.lang.SuppressWarnings(\"x\") void f() {}\n  @ SuppressWarnings void g() {}\n}\n", "the Java compiler line 2, the Java compiler line 3"},
		{"A.java", "// spotless:off\n// @formatter:off\nint x; // seen, NOPMD\nint y; // a ticket: NOSONAR\n// for the tool: CHECKSTYLE:OFF\n", "Spotless line 1, a formatter line 2, PMD line 3, Sonar line 4, Checkstyle line 5"},
		{"A.java", "// CHECKSTYLE IGNORE MagicNumber FOR NEXT 2 LINES\nint x = 42;\n", "Checkstyle line 1"},
		{"a.py", "key = f()  # pragma: whitelist secret\n", "a scanner for secrets line 1"},
		{"a.rb", "# rubocop:push\n", "RuboCop line 1"},
		{"a.py", "# RUFF: DISABLE[F401]\n", "Flake8 and Ruff line 1"},
		{"eslint.config.ts", "export default [\n  globalIgnores([\n    'src/old',\n  ]),\n];\n", "ESLint project 2, ESLint project 3"},
		{"biome.json", "{\n  \"files\": {\n    \"ignore\": [\n      \"src/a\"\n    ],\n    \"includes\": [\"**\", \"!src/b\"]\n  }\n}\n", "a tool of JavaScript project 4, a tool of JavaScript project 6"},
		{"deno.json", "{\n  \"lint\": {\n    \"exclude\": [\"src/a\"]\n  }\n}\n", "a tool of JavaScript project 3"},
		{"package.json", "{\n  \"private\": false,\n  \"eslintIgnore\": [\n    \"src\"\n  ]\n}\n", "a tool of JavaScript project 4"},
		{"pyproject.toml", "[tool.black]\nforce-exclude = '''\nsrc/a\n'''\n\n[tool.ruff]\nlint.ignore = [\"E5\"]\n\n[tool.ruff.lint.per-file-ignores]\n\"a.py\" = [\"F401\"]\n\n[tool.mypy]\nfollow_imports = \"skip\"\nstrict = true\n",
			"a linter of Python project 3, a linter of Python project 7, a linter of Python project 10, a linter of Python project 13"},
		{"pytest.ini", "[pytest]\naddopts = -q --ignore=tests/a\n", "a linter of Python project 2"},
		{".golangci.yml", "run:\n  tests: false\nlinters:\n  exclusions:\n    paths:\n      - src/a\n", "golangci-lint project 2, golangci-lint project 6"},
		{"tsconfig.json", "{\n  \"exclude\": [\n    \"src/a\"\n  ]\n}\n", "TypeScript project 3"},
		{"rustfmt.toml", "max_width = 100\nignore = [\"src/a.rs\"]\n", "rustfmt project 2"},
		{"pom.xml", "<configuration>\n  <skip>true</skip>\n  <failsOnError>false</failsOnError>\n  <encoding>x</encoding>\n</configuration>\n", "a tool of Java project 2, a tool of Java project 3"},
		{"build.gradle.kts", "checkstyle {\n  isIgnoreFailures = true\n}\n", "a tool of Java project 2"},

		{"a.js", "/* eslint no-eval: 2 */\n// eslint is nice: off we go\nconst s = `\n// eslint-disable\n`;\n", ""},
		{"a.tsx", "const s = <a href=\"https://eslint-disable.example\">'// eslint-disable-line'</a>;\n", ""},
		{"A.java", "@Suppressed class A {}\n", ""},
		{"a.js", "// we never use eslint-disable here\nconst s = '// eslint-disable-line';\n", ""},
		{"a.py", "s = '# noqa'\n# the word ignore alone is nothing\n", ""},
		{"a.go", "package a\n\n// nolints are counted elsewhere\nvar nolint = 1\n", ""},
		{"a.rs", "#[derive(Debug)]\n#[warn(unused)]\nfn f() {}\n", ""},
		{"A.java", "class A { String s = \"@SuppressWarnings\"; }\n", ""},
		{"pyproject.toml", "[project]\nname = \"a\"\n", ""},
		{"notes.txt", "please ignore this, or disable it\n", ""},
	} {
		var got []string
		for _, s := range security(t, Config{}, File{Path: c.path, Text: c.text}).Silences {
			got = append(got, fmt.Sprintf("%s %s %d", s.Tool, s.Scope, s.Line))
			if s.Path != c.path || s.Text == "" {
				t.Errorf("%+v", s)
			}
		}
		if diff := gocmp.Diff(c.want, strings.Join(got, ", ")); diff != "" {
			t.Errorf("%s\n%s(-want +got):\n%s", c.path, c.text, diff)
		}
	}
}

// TestSuppressionsInOneLine asserts that only a few of many suppressions in one line are listed,
// wherever they stand in it.
func TestSuppressionsInOneLine(t *testing.T) {
	for line, want := range map[string]int{
		"a # noqa # nosec // pylint: disable":                                     3,
		"a <!-- b --> " + strings.Repeat("% ", 2000) + "<!-- prettier-ignore -->": 1,
		"a" + strings.Repeat(" # noqa", 500):                                      mostInLine,
		strings.Repeat("/* eslint-disable */ ", 200):                              1, // another is looked for only after # or //
		"off" + strings.Repeat(" #", 2000):                                        0,
	} {
		if got := security(t, Config{}, File{Path: "a.unknown", Text: line + "\n"}).Silences; len(got) != want {
			t.Errorf("%.80s: %d are listed, want %d", line, len(got), want)
		}
	}
}

// TestOldSuppressionsAreNotListed asserts that a suppression that the base has, also on another
// line, does not count as one of the change.
func TestOldSuppressionsAreNotListed(t *testing.T) {
	file := File{Path: "a.py", Text: "a()  # noqa\nb()  # noqa: E1\nc()  # nosec\n", Changed: []changes.Span{{First: 2, Last: 3}},
		Patch: "@@ -1,3 +1,3 @@\n a()  # noqa\n-    b()  # noqa: E1\n-c()\n+b()  # noqa: E1\n+c()  # nosec\n"}
	got := security(t, Config{}, file).Silences
	if len(got) != 1 || got[0].Line != 3 || got[0].Tool != "Bandit or gosec" {
		t.Errorf("%+v", got)
	}
	attribute := File{Path: "a.rs", Text: "#![allow(\n    unused,\n    dead_code,\n)]\n#![allow(\n    missing_docs,\n)]\n", Changed: []changes.Span{{First: 3, Last: 3}}, Patch: "@@ -2,0 +3 @@\n+    dead_code,\n"}
	if got := security(t, Config{}, attribute).Silences; len(got) != 1 || got[0].Line != 1 {
		t.Errorf("a lint that joins others: %+v", got)
	}
	file.Vendored = true
	if got := security(t, Config{}, file).Silences; len(got) != 0 {
		t.Errorf("a vendored file: %+v", got)
	}
}

// TestSettingsOfLongConfigurations checks that the keys that a line stands below do not pile up: an
// item of a list ends the one before, and long names are cut.
func TestSettingsOfLongConfigurations(t *testing.T) {
	items := "steps:\n" + strings.Repeat("- run: echo\n  with: x\n", 2000)
	nested := strings.Repeat("k", 1500) + ":\n " + strings.Repeat("n", 1500) + ":\n" + strings.Repeat("  a: 1\n", 2000)
	for _, code := range []string{items, nested} {
		found, size := silencer{}.settings(code), 0
		for _, set := range found {
			size += len(set.keys)
		}
		if len(found) < 2000 || size > 200*len(found) {
			t.Errorf("%d settings have %d bytes of keys", len(found), size)
		}
	}
	for code, want := range map[string]string{
		"a:\n  b:\n  - c: 1\n    d: 2\n  - e: 3\nf: 4\n": "a.b.c a.b.c.d a.b.e f",
		"[x.y]\na = [\n  1,\n]\nb = 2\n":                 "x.y.a x.y.b",
	} {
		var keys []string
		for _, set := range (silencer{}).settings(code) {
			keys = append(keys, set.keys)
		}
		if got := strings.Join(keys, " "); got != want {
			t.Errorf("%q has the keys %s, want %s", code, got, want)
		}
	}
}
