package cli_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/shorttest"
)

const linted = `[{"filePath":"a.js","messages":[{"ruleId":"old","severity":2,"message":"Old.","line":3,"column":1},{"ruleId":"new","severity":2,"message":"New.","line":7,"column":1}]}]`

// TestCheckOfAMergeCommit checks what is checked out for a pull request by default. The
// tools see the merge, to which the base has added two lines at the top; people see the
// head.
func TestCheckOfAMergeCommit(t *testing.T) {
	p := newProject(t)
	p.commit(t, map[string]string{"package.json": "{}", "a.js": "one\ntwo\nthree\nfour\n"})
	p.git(t, "checkout", "--quiet", "-b", "topic")
	head := p.commit(t, map[string]string{"a.js": "one\ntwo\nthree\nfour\nfive\n", "lint.json": linted})
	p.git(t, "checkout", "--quiet", "main")
	base := p.commit(t, map[string]string{"a.js": "zero\nzero and a half\none\ntwo\nthree\nfour\n"})
	p.git(t, "merge", "--quiet", "--no-ff", "-m", "merge", "topic")

	doc, code, stderr := p.check(t, pullEvent(t, base, head))
	if code != 1 || doc.Head != head || len(doc.Findings) != 2 {
		t.Fatalf("exit code %d, head %s\n%+v\n%s", code, doc.Head, doc, stderr)
	}
	if f := doc.Findings[0]; f.StartLine != 5 || !f.Gating || f.Message != "New." {
		t.Errorf("%+v: line 7 of the merge is line 5 of the head", f)
	}
	if f := doc.Findings[1]; f.StartLine != 1 || f.Gating {
		t.Errorf("%+v: line 3 of the merge is line 1 of the head, which the pull request did not change", f)
	}
}

// TestCheckOfAnotherCommit has another commit than the pull request's head checked out. For
// a commit on top of the head, the result is reported for the head. For the base, as for
// pull_request_target, nothing is checked. For any other commit that does not contain the
// head, no result is reported for the head.
func TestCheckOfAnotherCommit(t *testing.T) {
	p := newProject(t)
	base := p.commit(t, map[string]string{"package.json": "{}", "a.js": "one\n", "lint.json": "[]"})
	p.git(t, "checkout", "--quiet", "-b", "topic")
	head := p.commit(t, map[string]string{"a.js": "one\ntwo\n"})
	payload := pullEvent(t, base, head)

	onTop := p.commit(t, map[string]string{"b.js": "one\n"})
	if doc, _, stderr := p.check(t, payload); doc.Head != head {
		t.Errorf("%s, made on top of the head, is reported as %s\n%s", onTop, doc.Head, stderr)
	}
	p.git(t, "checkout", "--quiet", "main")
	code, _, stderr := p.run(t, "--event", payload, "--event-name", "pull_request_target")
	if code != 2 || !strings.Contains(stderr, "contains nothing of pull request #2") {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
	other := p.commit(t, map[string]string{"a.js": "one\nthree\n"})
	doc, _, _ := p.check(t, payload)
	if doc.Head != other || !strings.Contains(strings.Join(doc.Notes, "\n"), "does not contain the pull request's head") {
		t.Errorf("%s: %q", doc.Head, doc.Notes)
	}
}

// TestCheckOfAShallowClone has no history to compare with.
func TestCheckOfAShallowClone(t *testing.T) {
	p := newProject(t)
	base := p.commit(t, map[string]string{"package.json": "{}", "a.js": "one\n"})
	head := p.commit(t, map[string]string{"a.js": "one\ntwo\n", "lint.json": "[]"})
	shallow := project{t.TempDir()}
	shallow.git(t, "init", "--quiet")
	shallow.git(t, "fetch", "--quiet", "--depth=1", p.dir, head)
	shallow.git(t, "checkout", "--quiet", head)
	code, _, stderr := shallow.run(t, "--event", pullEvent(t, base, head), "--event-name", "pull_request")
	if code != 2 || !strings.Contains(stderr, "set 'fetch-depth: 0' for actions/checkout") {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
}

// TestCheckRefusesBeforeItRuns asserts that a mistake which would make the checks useless is
// reported before they run, with what to do about it.
func TestCheckRefusesBeforeItRuns(t *testing.T) {
	p := newProject(t)
	dir := t.TempDir()
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no commit":        {nil, "has no commit yet to compare with: name the files with --changed-files"},
		"a directory":      {[]string{"--findings", dir}, "--findings: " + dir + " is a directory: name a file in it"},
		"no directory":     {[]string{"--sarif", filepath.Join(dir, "gone", "x.sarif")}, "there is no directory " + filepath.Join(dir, "gone") + ", make it first"},
		"one file for two": {[]string{"--findings", filepath.Join(dir, "x"), "--sarif", filepath.Join(dir, ".", "x")}, "--findings and --sarif name the same file"},
	} {
		code, _, stderr := p.run(t, c.args...)
		if code != 2 || !strings.Contains(stderr, c.want) || strings.Contains(stderr, "formatter") {
			t.Errorf("%s: exit code %d\n%s", name, code, stderr)
		}
	}
	p.commit(t, map[string]string{"a.js": "one\n"})
	code, _, stderr := p.run(t, "--base", "HEAD~3")
	if code != 2 || !strings.Contains(stderr, `--base: "HEAD~3" names no commit of the clone`) || strings.Contains(stderr, "changes-base") {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
}

// TestCheckReadsEveryNameOfAList asserts that names on lines of their own, as git prints those of the
// changed files, are read like those between commas. A quoted name may contain commas and newlines.
func TestCheckReadsEveryNameOfAList(t *testing.T) {
	p := newProject(t)
	for _, names := range []string{"a.js,b c.js", "a.js\nb c.js", "\na.js\r\nb c.js\r\n", "a.js\n\"b c.js\"", "a.js\n\"d,\ne.js\",b c.js"} {
		code, _, stderr := p.run(t, "--reviews-only", "--changed-files", names)
		if code != 0 || !strings.Contains(stderr, "a.js: there is no such file") || !strings.Contains(stderr, "b c.js: there is no such file") {
			t.Errorf("%q: exit code %d\n%s", names, code, stderr)
		}
	}
	code, _, stderr := p.run(t, "--reviews-only", "--pass-env", "A\nB=1")
	if code != 2 || !strings.Contains(stderr, `--pass-env: "B=1" is not the name of a variable`) {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
}

// TestCheckKnowsTheCodeOfAFinding asserts that Code, the digest of a finding's lines, stays the
// same when they are indented or move, because Airlock finds the comment about the finding by it.
func TestCheckKnowsTheCodeOfAFinding(t *testing.T) {
	p := newProject(t)
	lint := func(line int) string {
		return fmt.Sprintf(`[{"filePath":"a.js","messages":[{"ruleId":"r","severity":2,"message":"Bad.","line":%d,"column":1},{"ruleId":"r","severity":2,"message":"No such line.","line":99,"column":1}]}]`, line)
	}
	base := p.commit(t, map[string]string{"package.json": "{}", "a.js": "one\n"})
	var codes []string
	for _, c := range []struct {
		text string
		line int
	}{{"one\ntwo\n", 2}, {"one\n\n  two\n", 3}, {"one\nother\n", 2}} {
		head := p.commit(t, map[string]string{"a.js": c.text, "lint.json": lint(c.line)})
		doc, _, _ := p.check(t, pullEvent(t, base, head))
		if len(doc.Findings) != 2 || doc.Findings[1].Code != "" {
			t.Fatalf("%+v", doc.Findings)
		}
		codes = append(codes, doc.Findings[0].Code)
	}
	if len(codes[0]) != 32 || codes[0] != codes[1] || codes[0] == codes[2] {
		t.Errorf("%q", codes)
	}
}

// TestCheckEndsWithTheHeadline asserts that the headline comes last, after what the failed checks
// printed.
func TestCheckEndsWithTheHeadline(t *testing.T) {
	p := newProject(t)
	base := p.commit(t, map[string]string{"package.json": "{}", "a.js": "one\n", "lint.json": "of the linter"})
	head := p.commit(t, map[string]string{"a.js": "one\ntwo\n"})
	_, code, stderr := p.check(t, pullEvent(t, base, head))
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	if code != 1 || !strings.Contains(stderr, "--- linter: output of") || !strings.HasPrefix(lines[len(lines)-1], "✗ 1 of 6 checks failed: linter") {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
}

// TestCheckNamesNoPlaceOfItsOwn asserts that results do not name the directory where the
// commands run, which is another one each time.
func TestCheckNamesNoPlaceOfItsOwn(t *testing.T) {
	p := newProject(t)
	base := p.commit(t, map[string]string{"package.json": "{}", "a.js": "one\n", "lint.json": "[]"})
	head := p.commit(t, map[string]string{"a.js": "one\ntwo\n"})
	doc, code, stderr := p.check(t, pullEvent(t, base, head), "--build-command", `echo "$PWD/a.js:2:1: error: in $HOME/x and $TMPDIR/y"; exit 1`)
	raw, err := os.ReadFile(doc.file)
	if code != 1 || err != nil || !strings.Contains(stderr, "a.js:2:1: error: in ") {
		t.Fatalf("exit code %d, %v\n%s", code, err, stderr)
	}
	for name, text := range map[string]string{"the log": stderr, "the document": string(raw)} {
		if strings.Contains(text, "airlock-sandbox-") {
			t.Errorf("%s names the place:\n%s", name, text)
		}
	}
}

// TestCheckRefusesInvalidFlags asserts that an error says what is wrong with a flag.
func TestCheckRefusesInvalidFlags(t *testing.T) {
	p := newProject(t)
	p.commit(t, map[string]string{"go.mod": "module a\n", "a.go": "package a\n"})
	for name, c := range shorttest.Some(3, map[string]struct {
		args []string
		want []string
	}{
		"a directory for the findings": {[]string{"--findings", "."}, []string{"--findings: . is a directory: name a file in it"}},
		"no command":                   {[]string{"--lint-command", " "}, []string{"--lint-command: it names no command"}},
		"files within a word":          {[]string{"--test-command", "t --f={files}"}, []string{`--test-command: the command "t --f={files}": {files} has to be a word of its own`}},
		"a value to pass":              {[]string{"--pass-env", "A=1"}, []string{`--pass-env: "A=1" is not the name of a variable`}},
		"names of no files": {[]string{"--changed-files", "../a.go,,.", "--changed-files", filepath.Dir(p.dir)}, []string{
			`--changed-files: "../a.go" does not name a file in ` + p.dir, "--changed-files: a name is empty", `--changed-files: "." does not name a file in`, `--changed-files: "` + filepath.Dir(p.dir) + `" does not name a file in`}},
		"a word for a number":                  {[]string{"--max-retries", "x"}, []string{`invalid argument "x" for "--max-retries" flag: give a whole number ('airlock check --help' lists the flags)`}},
		"a time without a unit":                {[]string{"--time-limit", "5"}, []string{`invalid argument "5" for "--time-limit" flag: give a time with its unit, such as 300s or 5m (`}},
		"a word for a switch":                  {[]string{"--json=maybe"}, []string{`for "--json" flag: give true or false, or the flag alone (`}},
		"an unknown flag":                      {[]string{"--bogus"}, []string{"unknown flag: --bogus ('airlock check --help' lists the flags)"}},
		"an event's payload that is not there": {[]string{"--event", "gone.json"}, []string{"the event's payload: gone.json does not exist"}},
	}) {
		t.Run(name, func(t *testing.T) {
			code, _, stderr := p.run(t, c.args...)
			if code != 2 {
				t.Errorf("exit code %d", code)
			}
			for _, want := range c.want {
				if !strings.Contains(stderr, want) {
					t.Errorf("stderr lacks %q:\n%s", want, stderr)
				}
			}
		})
	}
}

// TestCheckNeedsNoLanguage asserts that the checks run without a language where nothing depends on
// one, and that the error describes what to do where something does.
func TestCheckNeedsNoLanguage(t *testing.T) {
	p := newProject(t)
	p.commit(t, map[string]string{"page.md": "# A\n", "b.c": "b\n"})
	commands := []string{"--changed-files", "page.md", "--format-command", "true", "--lint-command", "test -f {files}", "--skip-build", "--test-command", "true"}
	for name, c := range shorttest.Some(1, map[string]struct {
		args []string
		code int
		want string
	}{
		"nothing has changed":    {[]string{"--base", "main"}, 2, "airlock: no file has changed that would lead to a project"},
		"every command is given": {commands, 0, "✓ linter          pass"},
		"one is not given":       {slices.Concat([]string{"--changed-files", "b.c"}, commands[4:]), 2, "Cannot detect programming language. Please provide explicit 'language' parameter.\nairlock: no package.json, go.mod or the like is in the directory or above a changed file: set --language, or all of --format-command, "},
	}) {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := p.run(t, c.args...)
			if code != c.code || !strings.Contains(stderr, c.want) || !strings.Contains(stdout, `"checks": {`) {
				t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
			}
		})
	}
}

func TestCheckDescribesTheExpectedInput(t *testing.T) {
	code, stdout, stderr := process{stdin: strings.NewReader(" \n")}.run(t, "check", "--input", "-")
	want := "Validation failed: the input is empty; a JSON object is expected, such as {"
	if code != 2 || !strings.Contains(stdout, want) || !strings.Contains(stderr, want) {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
}

// TestCheckNotesTheMissingGitDirectory asserts that a note about the missing .git is shown only
// where a command that failed may have needed it.
func TestCheckNotesTheMissingGitDirectory(t *testing.T) {
	if os.Geteuid() != 0 {
		return // the commands run in the workspace itself
	}
	p := newProject(t)
	base := p.commit(t, map[string]string{"package.json": "{}", "a.js": "one\n", "lint.json": "[]"})
	head := p.commit(t, map[string]string{"a.js": "one\ntwo\n"})
	for command, noted := range map[string]bool{
		"git log":                        true,
		"echo 'no digits at all'; false": false,
		"echo github.com/a/b; false":     false,
	} {
		_, code, stderr := p.check(t, pullEvent(t, base, head), "--build-command", command)
		if code != 1 || strings.Contains(stderr, "Left out where the checks ran: .git (") != noted {
			t.Errorf("%s: exit code %d\n%s", command, code, stderr)
		}
	}
}

// project is a real git repository for the checks.
type project struct{ dir string }

func newProject(t *testing.T) project {
	t.Helper()
	p := project{t.TempDir()}
	p.git(t, "init", "--quiet", "--initial-branch=main")
	return p
}

func (p project) git(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=x", "-c", "user.email=x@example.org"}, args...)...)
	cmd.Dir = p.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit commits files and returns the commit.
func (p project) commit(t *testing.T, files map[string]string) string {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(p.dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	p.git(t, "add", "-A")
	p.git(t, "commit", "--quiet", "-m", "x")
	return p.git(t, "rev-parse", "HEAD")
}

// pullEvent returns the path of the payload of a pull request between two commits.
func pullEvent(t *testing.T, base, head string) string {
	t.Helper()
	return changedEvent(t, func(payload map[string]any) {
		pull := payload["pull_request"].(map[string]any)
		pull["base"].(map[string]any)["sha"], pull["head"].(map[string]any)["sha"] = base, head
	})
}

// found is what the tests read of a findings document.
type found struct {
	Head     string `json:"head_sha"`
	Findings []struct {
		Message   string
		Path      string
		StartLine int `json:"start_line"`
		Gating    bool
		Code      string
	}
	Notes []string

	file string
}

// run runs 'airlock check' for the project's directory.
func (p project) run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return process{env: map[string]string{"PATH": os.Getenv("PATH")}}.run(t, append([]string{"check", "--dir", p.dir}, args...)...)
}

// check runs the checks of a pull request with a linter that prints what is in the
// file lint.json and fails. It returns what they found.
func (p project) check(t *testing.T, event string, args ...string) (doc found, code int, stderr string) {
	t.Helper()
	dir := files(t, map[string]string{"checks.yml": "checks:\n  format-command: 'true'\n  lint-command: '! cat lint.json'\n  build-command: 'true'\n  test-command: 'true'\n  code-review: false\n  security-review: false\n"})
	out := filepath.Join(dir, "findings.json")
	code, stdout, stderr := p.run(t, append([]string{"--config", filepath.Join(dir, "checks.yml"), "--event", event, "--event-name", "pull_request", "--findings", out}, args...)...)
	doc = found{file: out}
	raw, err := os.ReadFile(out)
	if err == nil {
		err = json.Unmarshal(raw, &doc)
	}
	if err != nil {
		t.Fatalf("%v\n%s%s", err, stdout, stderr)
	}
	return doc, code, stderr
}
