package reviewer

import (
	"context"
	"encoding/base64"
	"hash/crc32"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/changes"
	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/secrets"
)

const injection = `db.query("SELECT a FROM b WHERE c = " + c)`

func TestOnlyChangedLinesBlock(t *testing.T) {
	code := injection + "\n\n" + injection + "\n"
	got := security(t, Config{}, File{Path: "a.js", Text: code, Changed: []changes.Span{{First: 3, Last: 3}}})
	if len(got.Findings) != 1 || got.Findings[0].Range.StartLine != 3 {
		t.Errorf("blocking: %+v", got.Findings)
	}
	if len(got.Unchanged) != 1 || got.Unchanged[0].Range.StartLine != 1 {
		t.Errorf("listed: %+v", got.Unchanged)
	}
	if got := security(t, Config{}, File{Path: "a.js", Text: code, Changed: []changes.Span{{First: 1, Last: 2}}}); len(got.Findings) != 1 || got.Findings[0].Range.StartLine != 1 {
		t.Errorf("with the first line changed: %+v", got)
	}
	if got := security(t, Config{}, File{Path: "a.js", Text: code, Changed: []changes.Span{}}); len(got.Findings) != 0 || len(got.Unchanged) != 2 {
		t.Errorf("without a changed line: %+v", got)
	}
}

// TestFindingIsAboutItsCall asserts that a finding counts as one of the change if the change touches a
// line of the call with its arguments, or of the setting with its value, apart from functions among
// the arguments. In the code, the lines that count end with "!". The first of them has the finding.
func TestFindingIsAboutItsCall(t *testing.T) {
	for name, c := range map[string]struct{ path, code string }{
		"JavaScript, an argument":             {"a.js", "f();\ndb.query(\"SELECT a FROM b WHERE c = \" +!\n  req.query.c!\n);\ng();\n"},
		"JavaScript, the first of several":    {"a.js", "db.query(!\n  `SELECT a!\n  FROM b WHERE c = ${req.query.c}`,!\n  [],!\n  {!\n    a: 1,!\n  },!\n);\n"},
		"JavaScript, with a function":         {"a.js", "exec(\"ls \" +!\n  req.query.a,!\n  function (err) {\n    g(err);\n  });\n"},
		"JavaScript, with an arrow":           {"a.js", "const { exec } = require('child_process');\nexec(\"ls \" + req.query.a, (err) => {!\n  g(err);\n});\n"},
		"JavaScript, with a method":           {"a.js", "const { exec } = require('child_process');\nexec(`ls ${req.query.a}`, {!\n  done(err) {\n    g(err);\n  },\n});\n"},
		"JavaScript, a setting":               {"a.js", "document.body!\n  .innerHTML =!\n  \"<b>\" +!\n  req.query.a;!\ng();\n"},
		"JavaScript, a value on the next":     {"a.js", "request({ url: a,\n  rejectUnauthorized:!\n    false,!\n  a: 1 });\n"},
		"Python, the option that makes it so": {"a.py", "import subprocess\ndef f(a):\n    subprocess.run(!\n        f\"ls {a}\",!\n        check=True,!\n        shell=True,!\n    )\n    g()\n"},
		"Go":                                  {"a.go", "package a\n\nfunc f(r *http.Request) {\n\trows, err := db.Query(!\n\t\t\"SELECT a FROM b WHERE c = '\"+!\n\t\t\tr.FormValue(\"a\")+\"'\")!\n\tg(rows, err)\n}\n"},
		"Ruby, without brackets":              {"app/a.rb", "def f\n  system \"ls \" +!\n    params[:a]!\n  g\nend\n"},
		"Ruby, a shell":                       {"app/a.rb", "def f\n  `ls!\n  #{params[:a]}`!\n  g\nend\n"},
		"Ruby, a receiver":                    {"app/a.rb", "def f\n  params[:a]!\n    .html_safe!\n  g\nend\n"},
		"Java":                                {"A.java", "class A {\n  void f(Statement s, String name) throws E {\n    s.executeQuery(\"SELECT a FROM b WHERE c = '\"!\n        + name + \"'\");!\n    g();\n  }\n}\n"},
		"Rust":                                {"src/a.rs", "fn f(name: &str) {\n    conn.execute(!\n        &format!(\"DELETE FROM a WHERE b = '{}'\", name),!\n        [],!\n    );\n    g();\n}\n"},
	} {
		var want []int
		var text strings.Builder
		lines := strings.Split(strings.TrimSuffix(c.code, "\n"), "\n")
		for i, line := range lines {
			code, counts := strings.CutSuffix(line, "!")
			if counts {
				want = append(want, i+1)
			}
			text.WriteString(code + "\n")
		}
		var got []int
		for i := range lines {
			result := security(t, Config{}, File{Path: c.path, Text: text.String(), Changed: []changes.Span{{First: i + 1, Last: i + 1}}})
			if len(result.Findings)+len(result.Unchanged) != 1 {
				t.Errorf("%s: %+v, want one finding", name, result)
				break
			}
			for _, f := range result.Findings {
				got = append(got, i+1)
				if f.Range.StartLine != want[0] {
					t.Errorf("%s, with line %d changed: the finding is on line %d, want %d", name, i+1, f.Range.StartLine, want[0])
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: the finding counts if one of the lines %v is changed, want %v", name, got, want)
		}
	}
}

func TestWeaknessesOfTestsAreFoundOnRequest(t *testing.T) {
	f := File{Path: "tests/a.js", Text: injection + "\n// " + credential() + "\n"}
	if got := security(t, Config{}, f).Findings; len(got) != 1 || got[0].Rule != "secret" {
		t.Errorf("by default: %v", got)
	}
	if got := security(t, Config{}, File{Path: "lib/tasks/a.rake", Text: "system \"tar xf #{name}\"\n"}).Findings; len(got) != 0 {
		t.Errorf("in a task: %v", got)
	}
	for _, path := range []string{"examples/a.js", "internal/testing/a.js", "src/testsuite/a.js"} {
		if got := security(t, Config{}, File{Path: path, Text: injection}).Findings; len(got) != 0 {
			t.Errorf("%s: %v", path, got)
		}
	}
	if got := security(t, Config{Tests: true}, f).Findings; len(got) != 2 {
		t.Errorf("on request: %v", got)
	}
}

func TestFindingPlaceIsInUTF16(t *testing.T) {
	got := security(t, Config{}, File{Path: "src/a.js", Text: "\n/* 😀é */ " + injection}).Findings
	want := finding.Finding{Check: "security_review", Tool: "airlock", Rule: "javascript/sql-injection", Severity: finding.High,
		Message: "db.query gets SQL that is built from variables.", Path: "src/a.js", Range: finding.Range{StartLine: 2, StartColumn: 11, EndLine: 2, EndColumn: 19}}
	if len(got) != 1 {
		t.Fatalf("%d findings", len(got))
	}
	if len(got[0].Fingerprint) != 32 {
		t.Errorf("fingerprint %q", got[0].Fingerprint)
	}
	want.Fingerprint = got[0].Fingerprint
	if diff := cmp.Diff(want, got[0]); diff != "" {
		t.Error(diff)
	}
	moved := security(t, Config{}, File{Path: "src/a.js", Text: "\n\n\n  " + injection}).Findings
	if moved[0].Fingerprint != want.Fingerprint {
		t.Error("the fingerprint changed with the line")
	}
}

// TestRequestInputIsCritical asserts that what a request sends makes an injection critical,
// and that a variable of unknown origin does not.
func TestRequestInputIsCritical(t *testing.T) {
	for _, c := range []struct {
		path, text string
		severity   finding.Severity
		message    string
	}{
		{"a.js", `db.query("SELECT * FROM t WHERE id = " + req.query.id)`, finding.Critical, "db.query gets SQL that is built from what a request sends."},
		{"a.js", "const id = req.body.id;\ndb.query(`SELECT * FROM t WHERE id = ${id}`)", finding.Critical, "from what a request sends"},
		{"a.js", `db.query("SELECT * FROM t WHERE id = " + id)`, finding.High, "built from variables"},
		{"a.py", "import os\nos.system('ls ' + request.args['d'])", finding.Critical, "runs a shell command that is built from what a request sends"},
		{"a.py", "import pickle\npickle.loads(request.data)", finding.Critical, "from what a request sends"},
		{"a.go", "db.Query(\"SELECT * FROM t WHERE a = '\" + r.FormValue(\"a\") + \"'\")", finding.Critical, "from what a request sends"},
	} {
		got := security(t, Config{}, File{Path: c.path, Text: c.text}).Findings
		if len(got) != 1 || got[0].Severity != c.severity || !strings.Contains(got[0].Message, c.message) {
			t.Errorf("%s: %+v, want one that is %s", c.text, got, c.severity)
		}
	}
	if got := security(t, Config{}, File{Path: "a.env", Text: "T=" + credential()}).Findings; len(got) != 1 || got[0].Severity != finding.Critical {
		t.Errorf("a secret: %+v", got)
	}
}

func TestLongNameIsCutBetweenCharacters(t *testing.T) {
	name := strings.Repeat("é", 50)
	got := security(t, Config{}, File{Path: "src/a.js", Text: "a" + name + "." + strings.TrimPrefix(injection, "db.")}).Findings
	if want := "a" + name[:58] + " gets SQL that is built from variables."; len(got) != 1 || got[0].Message != want {
		t.Errorf("got %+v, want the message %q", got, want)
	}
}

func TestIgnoring(t *testing.T) {
	for name, c := range map[string]struct {
		code       string
		suppressed string // the reason, or "" where the finding stays
	}{
		"on its line":           {injection + " // airlock:ignore javascript/sql-injection c is a number", "c is a number"},
		"on the line before":    {"// airlock:ignore javascript/sql-injection c is a number\n" + injection, "c is a number"},
		"without the language":  {"/* airlock:ignore sql-injection checked above */\n" + injection, "checked above"},
		"without a reason":      {injection + " // airlock:ignore javascript/sql-injection", ""},
		"of another rule":       {injection + " // airlock:ignore javascript/xss no HTML here", ""},
		"two lines before":      {"// airlock:ignore sql-injection far away\n\n" + injection, ""},
		"after other code":      {"f() // airlock:ignore sql-injection for f only\n" + injection, ""},
		"in a string":           {"f(\"// airlock:ignore sql-injection not a comment\"); " + injection, ""},
		"of everything":         {injection + " // airlock:ignore * all is well", ""},
		"with the rule missing": {injection + " // airlock:ignore", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := security(t, Config{}, File{Path: "a.js", Text: c.code, Changed: []changes.Span{}})
			if c.suppressed == "" {
				if len(got.Unchanged) != 1 || len(got.Suppressed) != 0 {
					t.Errorf("%+v", got)
				}
				return
			}
			if len(got.Unchanged) != 0 || len(got.Suppressed) != 1 || got.Suppressed[0].Reason != c.suppressed || got.Suppressed[0].Comment != 1 {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestWhoIsJudgedDoesNotSilenceTheJudge asserts which comments count: the change may add
// one, move one to other code, or change the code below one.
func TestWhoIsJudgedDoesNotSilenceTheJudge(t *testing.T) {
	const ignoreHigh, ignoreMedium = "// airlock:ignore javascript/sql-injection c is a number", "// airlock:ignore javascript/weak-hash a cache key"
	medium := `const h = crypto.createHash("md5").update(req.body.password);`
	const callOfTwo = "db.query(\"SELECT a FROM b WHERE c = \" +\n  c)"
	const ignoreRun, run, title = "# airlock:ignore expression-injection ours", "run: echo ${{", "  github.event.issue.title }}"
	secret, ignoreSecret := "T="+credential(), "# airlock:ignore secret an example of the documents"
	line := func(first, last int) []changes.Span { return []changes.Span{{First: first, Last: last}} }
	for _, c := range []struct {
		name       string
		file       File
		newCount   bool // whether the owner lets new comments count
		suppressed bool
		isNew      bool // whether the comment is listed as new
	}{
		{"a new comment on new code", File{Path: "a.js", Text: ignoreMedium + "\n" + medium}, false, false, true},
		{"a new comment on a line", File{Path: "a.js", Text: medium + " " + ignoreMedium, Changed: line(1, 1), Patch: "@@ -1 +1 @@\n-" + medium + "\n+" + medium + " " + ignoreMedium}, false, false, true},
		{"new code below an old comment", File{Path: "a.js", Text: ignoreMedium + "\n" + medium, Changed: line(2, 2)}, false, true, false},
		{"a line that is indented", File{Path: "a.js", Text: "\t" + medium + " " + ignoreMedium, Changed: line(1, 1), Patch: "@@ -1 +1 @@\n-" + medium + " " + ignoreMedium + "\n+\t" + medium + " " + ignoreMedium}, false, true, false},
		{"an old comment that is moved to new code", File{Path: "a.js", Text: ignoreMedium + "\n" + medium, Changed: line(1, 2), Patch: "@@ -1,2 +1,2 @@\n-" + ignoreMedium + "\n-f()\n+" + ignoreMedium + "\n+" + medium}, false, false, true},
		{"a new comment, which the owner lets count", File{Path: "a.js", Text: ignoreMedium + "\n" + medium}, true, true, true},
		{"a new comment about a high severity", File{Path: "a.js", Text: ignoreHigh + "\n" + injection}, true, false, true},
		{"new code of a high severity below an old comment", File{Path: "a.js", Text: ignoreHigh + "\n" + injection, Changed: line(2, 2)}, true, false, false},
		{"code of a high severity that is moved with its comment", File{Path: "a.js", Text: ignoreHigh + "\n" + injection, Changed: line(1, 2), Patch: "@@ -1,2 +1,2 @@\n-  " + ignoreHigh + "\n-  " + injection + "\n+" + ignoreHigh + "\n+" + injection}, false, true, false},
		{"code of a high severity that is moved below an old comment", File{Path: "a.js", Text: ignoreHigh + "\n" + injection + "\nf();\n", Changed: line(2, 2), Patch: "@@ -1,3 +1,3 @@\n " + ignoreHigh + "\n+" + injection + "\n f();\n-" + injection}, true, false, false},
		{"code of a high severity that is moved, and a comment from elsewhere", File{Path: "a.js", Text: ignoreHigh + "\n" + injection + "\nf();\n", Changed: line(1, 2), Patch: "@@ -1,3 +1,3 @@\n-" + injection + "\n+" + ignoreHigh + "\n+" + injection + "\n f();\n-" + ignoreHigh}, true, false, true},
		{"code of a high severity that is indented below its comment", File{Path: "a.js", Text: ignoreHigh + "\n\t" + injection, Changed: line(2, 2), Patch: "@@ -1,2 +1,2 @@\n " + ignoreHigh + "\n-" + injection + "\n+\t" + injection}, false, true, false},
		{"a new line of a finding of two, below an old comment", File{Path: "action.yml", Text: ignoreRun + "\n" + run + "\n" + title, Changed: line(3, 3)}, true, false, false},
		{"a finding of two lines that is moved with its comment", File{Path: "action.yml", Text: ignoreRun + "\n" + run + "\n" + title, Changed: line(1, 3),
			Patch: "@@ -1,3 +1,3 @@\n- " + ignoreRun + "\n- " + run + "\n- " + title + "\n+" + ignoreRun + "\n+" + run + "\n+" + title}, false, true, false},
		{"a finding of two lines that is moved with its comment, and its last line from elsewhere", File{Path: "action.yml", Text: ignoreRun + "\n" + run + "\n" + title, Changed: line(1, 3),
			Patch: "@@ -1,4 +1,3 @@\n- " + ignoreRun + "\n- " + run + "\n-   b }}\n- " + title + "\n+" + ignoreRun + "\n+" + run + "\n+" + title}, true, false, false},
		{"a new argument of a call of several lines, below an old comment", File{Path: "a.js", Text: ignoreHigh + "\n" + callOfTwo, Changed: line(3, 3)}, true, false, false},
		{"a call of several lines that is moved with its comment", File{Path: "a.js", Text: ignoreHigh + "\n" + callOfTwo, Changed: line(1, 3),
			Patch: "@@ -1,3 +1,3 @@\n- " + ignoreHigh + "\n- " + strings.ReplaceAll(callOfTwo, "\n", "\n- ") + "\n+" + ignoreHigh + "\n+" + strings.ReplaceAll(callOfTwo, "\n", "\n+")}, false, true, false},
		{"a new secret", File{Path: "a.env", Text: secret + " " + ignoreSecret + "\n"}, true, false, true},
		{"a secret below an old comment", File{Path: "a.env", Text: ignoreSecret + "\n" + secret + "\n", Changed: line(2, 2)}, true, false, false},
	} {
		got := security(t, Config{NewSuppressions: c.newCount}, c.file)
		named := slices.Concat(got.Suppressed, got.Unsuppressed)
		if len(named) == 0 || named[0].New != c.isNew || (len(got.Suppressed) > 0) != c.suppressed || (len(got.Findings) == 0) != c.suppressed {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

// TestNewCommentOnOldCode asserts that a new comment on a finding on an unchanged line, which does
// not block, is not listed among the comments without effect.
func TestNewCommentOnOldCode(t *testing.T) {
	got := security(t, Config{}, File{Path: "a.js", Text: "// airlock:ignore sql-injection c is a number\n" + injection, Changed: []changes.Span{{First: 1, Last: 1}}})
	if len(got.Unchanged) != 1 || len(got.Findings)+len(got.Suppressed)+len(got.Unsuppressed) != 0 {
		t.Errorf("%+v", got)
	}
}

func TestAccepted(t *testing.T) {
	cfg := Config{Accepted: []Accepted{{Rule: "javascript/sql-injection", Pattern: "db/"}}, Matches: func(pattern, path string) bool { return strings.HasPrefix(path, pattern) }}
	got := security(t, cfg, File{Path: "a.js", Text: injection}, File{Path: "db/a.js", Text: injection}, File{Path: "db/b.js", Text: "eval(req.query.a)"})
	if len(got.Suppressed) != 1 || got.Suppressed[0].Path != "db/a.js" || got.Suppressed[0].Reason != "accepted in the configuration" || len(got.Findings) != 2 {
		t.Errorf("%+v", got)
	}
}

// credential is made here, so that no scanner finds one in this file.
func credential() string {
	const random = "R4nd0mLooking9Characters8OfATo"
	return "ghp" + "_" + random + inBase62(crc32.ChecksumIEEE([]byte(random)))
}

func TestSecretsAreNeverShown(t *testing.T) {
	secret := credential()
	files := []File{
		{Path: "b.js", Text: "const t = '" + secret + "';"},
		{Path: "a.env", Text: "T=" + secret + "\n"},
		{Path: "gen.js", Text: "x('" + secret + "'); " + injection, Generated: true},
		{Path: "c.env", Text: "T=" + secret + " # airlock:ignore secret an example of the documents\n", Changed: []changes.Span{}},
	}
	got := security(t, Config{}, files...)
	var paths []string
	for _, f := range got.Findings {
		if f.Rule != "secret" || strings.Contains(f.Message, secret[4:]) {
			t.Errorf("%+v", f)
		}
		paths = append(paths, f.Path)
	}
	if !slices.Equal(paths, []string{"a.env", "b.js", "gen.js"}) {
		t.Errorf("in %v", paths)
	}
	if len(got.Suppressed) != 1 || got.Suppressed[0].Path != "c.env" {
		t.Errorf("suppressed: %+v", got.Suppressed)
	}
}

// TestInventedLoginsOfTestsAreNotSecrets asserts that a password and a token with a wrong checksum
// are found outside of tests only. A token with the right checksum is found in a test, too, and a
// repetitive token not even outside of tests.
func TestInventedLoginsOfTestsAreNotSecrets(t *testing.T) {
	invented := strings.Replace(credential(), "R4nd0m", "R4nd1m", 1) // its checksum is that of another
	login := `r.Header.Set("Authorization", "Basic ` + base64.StdEncoding.EncodeToString([]byte("admin:"+"x9Qz"+"7Lm2Rv8KtW4p")) + `")`
	for _, c := range []struct {
		path, text string
		findings   int
	}{
		{"tests/login_test.go", login, 0}, {"login.go", login, 1}, {"tests/login_test.go", "const t = \"" + credential() + "\"", 1},
		{"tests/login_test.go", "const t = \"" + invented + "\"", 0}, {"login.go", "const t = \"" + invented + "\"", 1}, {"login.go", "const t = \"ghp_" + strings.Repeat("wrong1", 6) + "\"", 0},
	} {
		if got := security(t, Config{}, File{Path: c.path, Text: "package a\n\n" + c.text + "\n"}).Findings; len(got) != c.findings {
			t.Errorf("%s in %s: %+v, want %d findings", c.text, c.path, got, c.findings)
		}
	}
}

// TestWhichLongLinesExemptAFile asserts that a change does not exempt a file from review by a long
// line that it adds: only a file that had such a line before, that is new, or whose diff is not known,
// counts as minified.
func TestWhichLongLinesExemptAFile(t *testing.T) {
	long := "// " + strings.Repeat("x", longestLine) + "\n"
	for name, c := range map[string]struct {
		text    string
		changed []changes.Span
		exempt  bool
	}{
		"added":        {"f();\n" + long + injection, []changes.Span{{First: 2, Last: 3}}, false},
		"there before": {"f();\n" + long + injection, []changes.Span{{First: 3, Last: 3}}, true},
		"a new file":   {long + injection, []changes.Span{{First: 1, Last: 2}}, true},
		"no diff":      {"f();\n" + long + injection, nil, true},
	} {
		got := security(t, Config{}, File{Path: "a.js", Text: c.text, Changed: c.changed})
		if isExempt := len(got.Findings) == 0 && len(got.Skipped) == 1; isExempt != c.exempt {
			t.Errorf("%s: findings %+v, skipped %+v", name, got.Findings, got.Skipped)
		}
	}
}

// TestSkippedFilesAreListed asserts which files are listed as skipped. One of an unknown language
// is not.
func TestSkippedFilesAreListed(t *testing.T) {
	got := security(t, Config{MaxFileBytes: 20000},
		File{Path: "big.js", Text: strings.Repeat("f();\n", 5000)},
		File{Path: "min.js", Text: strings.Repeat("f();", 2000) + injection},
		File{Path: "nul.js", Text: "\x00" + injection},
		File{Path: "pic.png", Binary: true, Size: 10},
		File{Path: "v.js", Text: injection, Vendored: true},
		File{Path: "action.yml", Text: "name: a\n", Generated: true},
		File{Path: "a.unknown", Text: injection},
		File{Path: "lib/a.PHP", Text: "<?php eval($_GET['a']); // NOSONAR\n"},
		File{Path: "bin/a", Text: injection, Language: "javascript"},
	)
	if len(got.Findings) != 1 || got.Findings[0].Path != "bin/a" {
		t.Errorf("%+v", got.Findings)
	}
	if len(got.Silences) != 1 {
		t.Errorf("suppressions: %+v, want the one in lib/a.PHP, which is not reviewed", got.Silences)
	}
	want := []Skipped{
		{Path: "big.js", Reason: "larger than 19.6 KiB"},
		{Path: "min.js", Reason: "a line of more than 5000 bytes, as minified files have: the built-in security review only looked for secrets"},
		{Path: "nul.js", Reason: "a binary file"},
		{Path: "pic.png", Reason: "a binary file"},
		{Path: "v.js", Reason: "a vendored file: the built-in security review only looked for secrets"},
		{Path: "action.yml", Reason: "a generated file: the built-in security review only looked for secrets and the weaknesses of workflows"},
		{Path: "lib/a.PHP", Reason: "there are no rules for PHP: the built-in security review only looked for secrets", WithoutRules: true},
	}
	if diff := cmp.Diff(want, got.Skipped); diff != "" {
		t.Error(diff)
	}
}

func TestRulesAreChosenByConfiguration(t *testing.T) {
	files := []File{{Path: "a.js", Text: injection + "\neval(x)"}}
	for name, c := range map[string]struct {
		config Config
		want   int
	}{
		"all":  {Config{}, 2},
		"off":  {Config{Off: []string{"javascript/code-injection"}}, 1},
		"only": {Config{Only: []string{"javascript/code-injection"}}, 1},
		"none": {Config{Only: []string{"go/xss"}}, 0},
	} {
		if got := security(t, c.config, files...).Findings; len(got) != c.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if _, err := New(Config{Off: []string{"no-rule"}}, secrets.New(nil)); err == nil || !strings.Contains(err.Error(), `"no-rule"`) {
		t.Errorf("an unknown rule: %v", err)
	}
}

func TestReviewStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := newReviewer(t, Config{}).Security(ctx, []File{{Path: "a.js", Text: injection}}); err != context.Canceled {
		t.Errorf("%v", err)
	}
}

// TestPathsWhereNobodySendsAnything asserts in which paths weaknesses are not looked for.
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

// TestSecretsThatTestsMake asserts that a JSON Web Token is a secret, except in tests, which sign
// tokens themselves.
func TestSecretsThatTestsMake(t *testing.T) {
	const token = "eyJhbGciOiJIUzI1NiJ9.eyJpZCI6IjRxMXhsY2xtZmxva3UzMyIsInR5cGUiOiJhdXRoUmVjb3JkIn0.w2S9qKe8Zt4mVb1nXc7yLr5pTd3hGf6jQkUaOiEsBzM"
	for path, want := range map[string]bool{"api/client.go": true, "api/client_test.go": false, "tests/app.ini.tmpl": false} {
		if got := slices.Contains(rulesOf(security(t, Config{}, File{Path: path, Text: "token = \"" + token + "\"\n"}).Findings), secretRule); got != want {
			t.Errorf("%s: found is %v", path, got)
		}
	}
}

// TestAcceptedPatternsAreAskedOnceAFile checks that a file of many findings does not ask for each of
// them whether its path is accepted.
func TestAcceptedPatternsAreAskedOnceAFile(t *testing.T) {
	asked := 0
	r := newReviewer(t, Config{
		Accepted: []Accepted{{Rule: "javascript/code-injection", Pattern: "db/"}},
		Matches:  func(string, string) bool { asked++; return false },
	})
	result, err := r.Security(t.Context(), []File{{Path: "a.js", Text: strings.Repeat("eval(x);\n", 100)}, {Path: "b.js", Text: "eval(x);\n"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Findings) != 101 || asked != 2 {
		t.Errorf("%d findings, %d questions", len(result.Findings), asked)
	}
}

// TestModulesOfTestsAreLeftOut asserts that weaknesses on the lines of Rust's modules for tests are
// left out, also where one module begins on the line where another one ends, or stands in it.
func TestModulesOfTestsAreLeftOut(t *testing.T) {
	const mark = "#[cfg(test)] mod "
	text := "a\n" + mark + "b {\n" + mark + "c {}\n}; " + mark + "d {\n" + "\n}\ne\n"
	s := scan("a.rs", text, languageNamed("rust"))
	var found []finding.Finding
	for line := range s.lines {
		found = append(found, finding.Finding{Rule: "rust/x", Range: finding.Range{StartLine: line + 1}})
	}
	var left []int
	for _, f := range s.outsideTests(found) {
		left = append(left, f.Range.StartLine)
	}
	if want := []int{1, 7}; !slices.Equal(left, want) {
		t.Errorf("findings are left on lines %v, want %v", left, want)
	}
}
