package reviewer

import (
	"fmt"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/changes"
)

// TestNewSuppressionsAreListed asserts that what a change adds to make tools silent is listed, with
// what it covers, and that what only looks alike is not.
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

// TestOldSuppressionsAreNotListed asserts that a suppression that the base has, also on another
// line, does not count as one of the change.
func TestOldSuppressionsAreNotListed(t *testing.T) {
	file := File{Path: "a.py", Text: "a()  # noqa\nb()  # noqa: E1\nc()  # nosec\n", Changed: []changes.Span{{First: 2, Last: 3}},
		Patch: "@@ -1,3 +1,3 @@\n a()  # noqa\n-    b()  # noqa: E1\n-c()\n+b()  # noqa: E1\n+c()  # nosec\n"}
	got := security(t, Config{}, file).Silences
	if len(got) != 1 || got[0].Line != 3 || got[0].Tool != "Bandit or gosec" {
		t.Errorf("%+v", got)
	}
	file.Vendored = true
	if got := security(t, Config{}, file).Silences; len(got) != 0 {
		t.Errorf("a vendored file: %+v", got)
	}
}
