package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/command"
)

// TestMain lets the test's program become those of the checks, as cli.Enter does.
func TestMain(m *testing.M) {
	command.EnterChild(os.Args)
	os.Exit(m.Run())
}

const linted = `[{"filePath":"a.js","messages":[{"ruleId":"old","severity":2,"message":"Old.","line":3,"column":1},{"ruleId":"new","severity":2,"message":"New.","line":7,"column":1}]}]`

// TestCheckOfAMergeCommit is what is checked out for a pull request by default: the
// tools see the merge, in which the base has put two lines on top, and people see
// the head.
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
	if told := strings.Contains(strings.Join(doc.Notes, "\n"), "Nothing was fixed"); told != (os.Geteuid() == 0) {
		t.Errorf("%q: only root's checks run in a copy, where nothing is fixed", doc.Notes)
	}
	if f := doc.Findings[0]; f.StartLine != 5 || !f.Gating || f.Message != "New." {
		t.Errorf("%+v: line 7 of the merge is line 5 of the head", f)
	}
	if f := doc.Findings[1]; f.StartLine != 1 || f.Gating {
		t.Errorf("%+v: line 3 of the merge is line 1 of the head, which the pull request did not change", f)
	}
}

// TestCheckOfAnotherCommit has something checked out that does not hold the pull
// request: where it is the base, as for pull_request_target, nothing is checked, and
// of another commit nothing is said in the name of the head.
func TestCheckOfAnotherCommit(t *testing.T) {
	p := newProject(t)
	base := p.commit(t, map[string]string{"package.json": "{}", "a.js": "one\n", "lint.json": "[]"})
	p.git(t, "checkout", "--quiet", "-b", "topic")
	head := p.commit(t, map[string]string{"a.js": "one\ntwo\n"})
	payload := pullEvent(t, base, head)

	onTop := p.commit(t, map[string]string{"b.js": "one\n"})
	if doc, _, stderr := p.check(t, payload); doc.Head != head {
		t.Errorf("%s, made on top of the head, is told to be %s\n%s", onTop, doc.Head, stderr)
	}
	p.git(t, "checkout", "--quiet", "main")
	code, _, stderr := world{env: map[string]string{"PATH": os.Getenv("PATH")}}.run(t, "check", "--dir", p.dir, "--event", payload, "--event-name", "pull_request_target")
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
	code, _, stderr := world{env: map[string]string{"PATH": os.Getenv("PATH")}}.run(t, "check", "--dir", shallow.dir, "--event", pullEvent(t, base, head), "--event-name", "pull_request")
	if code != 2 || !strings.Contains(stderr, "set 'fetch-depth: 0' for actions/checkout") {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
}

// TestCheckTellsBeforehand what stands in the way, instead of after the checks, and
// what to do about it.
func TestCheckTellsBeforehand(t *testing.T) {
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
		code, _, stderr := world{env: map[string]string{"PATH": os.Getenv("PATH")}}.run(t, append([]string{"check", "--dir", p.dir}, c.args...)...)
		if code != 2 || !strings.Contains(stderr, c.want) || strings.Contains(stderr, "formatter") {
			t.Errorf("%s: exit code %d\n%s", name, code, stderr)
		}
	}
	p.commit(t, map[string]string{"a.js": "one\n"})
	code, _, stderr := world{env: map[string]string{"PATH": os.Getenv("PATH")}}.run(t, "check", "--dir", p.dir, "--base", "HEAD~3")
	if code != 2 || !strings.Contains(stderr, `--base: "HEAD~3" is neither`) || strings.Contains(stderr, "changes-base") {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
}

// TestCheckKnowsTheCodeOfAFinding, wherever it moves, by which its comment is found.
func TestCheckKnowsTheCodeOfAFinding(t *testing.T) {
	p := newProject(t)
	lint := func(line int) string {
		return fmt.Sprintf(`[{"filePath":"a.js","messages":[{"ruleId":"r","severity":2,"message":"Bad.","line":%d,"column":1},{"ruleId":"r","severity":2,"message":"No such line.","line":99,"column":1}]}]`, line)
	}
	base := p.commit(t, map[string]string{"package.json": "{}", "a.js": "one\n", "lint.json": lint(2)})
	var codes []string
	for _, text := range []string{"one\ntwo\n", "one\n  two\n", "one\nother\n"} {
		head := p.commit(t, map[string]string{"a.js": text})
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

// TestCheckEndsWithTheHeadline, below what the failed checks printed.
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

// TestCheckNamesNoPlaceOfItsOwn: where the commands run is another folder each time.
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
