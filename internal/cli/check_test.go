package cli_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/command"
	"github.com/google/go-cmp/cmp"
)

// TestMain lets the test's program become those of the checks, as cli.Enter does.
func TestMain(m *testing.M) {
	command.EnterChild(os.Args)
	os.Exit(m.Run())
}

// project is a real clone for the checks.
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

// commit writes files and returns the commit that holds them.
func (p project) commit(t *testing.T, files map[string]string) string {
	t.Helper()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p.git(t, "add", "-A")
	p.git(t, "commit", "--quiet", "-m", "x")
	return p.git(t, "rev-parse", "HEAD")
}

// pullEvent is the payload of a pull request between two commits.
func pullEvent(t *testing.T, base, head string) string {
	t.Helper()
	raw, err := os.ReadFile("../../testdata/events/pull_request.opened.json")
	if err != nil {
		t.Fatal(err)
	}
	var payload map[string]any
	if err := json.Unmarshal(raw, &payload); err != nil {
		t.Fatal(err)
	}
	pull := payload["pull_request"].(map[string]any)
	pull["base"].(map[string]any)["sha"], pull["head"].(map[string]any)["sha"] = base, head
	if raw, err = json.Marshal(payload); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(files(t, map[string]string{"event.json": string(raw)}), "event.json")
}

// found is what the tests read of a findings document.
type found struct {
	Head     string `json:"head_sha"`
	Findings []struct {
		Message   string
		Path      string
		StartLine int `json:"start_line"`
		Gating    bool
	}
	Notes []string

	file string
}

// check runs the checks of a pull request with a linter that prints what is in the
// file lint.json, and returns what it found.
func (p project) check(t *testing.T, event string, args ...string) (found, int, string) {
	t.Helper()
	dir := files(t, map[string]string{"checks.yml": "checks:\n  format-command: 'true'\n  lint-command: '! cat lint.json'\n  build-command: 'true'\n  test-command: 'true'\n  code-review: false\n  security-review: false\n"})
	out := filepath.Join(dir, "findings.json")
	code, stdout, stderr := world{env: map[string]string{"PATH": os.Getenv("PATH")}}.run(t,
		append([]string{"check", "--dir", p.dir, "--config", filepath.Join(dir, "checks.yml"), "--event", event, "--event-name", "pull_request", "--findings", out}, args...)...)
	doc := found{file: out}
	raw, err := os.ReadFile(out)
	if err == nil {
		err = json.Unmarshal(raw, &doc)
	}
	if err != nil {
		t.Fatalf("%v\n%s%s", err, stdout, stderr)
	}
	return doc, code, stderr
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
	if code != 2 || !strings.Contains(stderr, "holds nothing of pull request #2") {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
	other := p.commit(t, map[string]string{"a.js": "one\nthree\n"})
	doc, _, _ := p.check(t, payload)
	if doc.Head != other || !strings.Contains(strings.Join(doc.Notes, "\n"), "does not hold the pull request's head") {
		t.Errorf("%s: %q", doc.Head, doc.Notes)
	}
}

// TestCheckOfAShallowClone has no history to tell what changed by.
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

// TestApplyRefusesFindings of another pull request, and what is no document.
func TestApplyRefusesFindings(t *testing.T) {
	dir := files(t, map[string]string{"none.json": `{"version": 1}`, "policy.yml": "checks:\n"})
	code, _, stderr := world{env: map[string]string{}}.run(t, "apply", "--dry-run", "--event", event(t), "--config", filepath.Join(dir, "policy.yml"), "--findings", filepath.Join(dir, "none.json"))
	if code != 2 || !strings.Contains(stderr, "it is not a findings document") || !strings.Contains(stderr, "$.output") {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
	code, _, stderr = world{env: map[string]string{}}.run(t, "apply", "--dry-run", "--event", event(t), "--findings", filepath.Join(dir, "gone.json"))
	if code != 2 || !strings.Contains(stderr, "--findings: ") {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
}

// TestApplyShowsNoPartOfASecret: no text of a document is cut, nor put in another
// form, before its secrets are left out.
func TestApplyShowsNoPartOfASecret(t *testing.T) {
	p := newProject(t)
	base := p.commit(t, map[string]string{"package.json": "{}", "a.js": "one\n", "lint.json": "[]"})
	p.git(t, "checkout", "--quiet", "-b", "topic")
	payload := pullEvent(t, base, p.commit(t, map[string]string{"a.js": "one\ntwo\n"}))
	doc, _, _ := p.check(t, payload)
	const secret = "correct_horse_battery_staple"
	raw, err := os.ReadFile(doc.file)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(raw), `"notes": [`, `"notes": ["`+strings.Repeat("x", 485)+" "+secret+`", `, 1)
	text = strings.Replace(text, `"missing_tools": []`, `"missing_tools": [{"tool": "x", "check": "linter", "command": "x", "override": "`+secret+`"}]`, 1)
	if strings.Count(text, secret) < 2 {
		t.Fatalf("the document is another than it was:\n%s", raw)
	}
	dir := files(t, map[string]string{"policy.yml": "checks:\n", "findings.json": text})
	_, stdout, stderr := world{env: map[string]string{"AIRLOCK_SECRETS": secret}}.run(t, "apply", "--dry-run", "--event", payload, "--event-name", "pull_request",
		"--config", filepath.Join(dir, "policy.yml"), "--findings", filepath.Join(dir, "findings.json"))
	if !strings.Contains(stdout, "xxx") || strings.Contains(stdout+stderr, "correct_") || strings.Contains(stdout+stderr, "correct-") {
		t.Errorf("%s%s", stdout, stderr)
	}
}

// TestApplyPlansFindings shows what would be told on the pull request.
func TestApplyPlansFindings(t *testing.T) {
	p := newProject(t)
	base := p.commit(t, map[string]string{"package.json": "{}", "a.js": "one\n", "lint.json": strings.ReplaceAll(linted, `"line":7`, `"line":2`)})
	p.git(t, "checkout", "--quiet", "-b", "topic")
	head := p.commit(t, map[string]string{"a.js": "one\ntwo\n"})
	payload := pullEvent(t, base, head)
	doc, _, _ := p.check(t, payload)
	policy := filepath.Join(files(t, map[string]string{"policy.yml": "checks:\n  report: {security-report: false}\n"}), "policy.yml")
	code, stdout, stderr := world{env: map[string]string{}}.run(t, "apply", "--dry-run", "--event", payload, "--event-name", "pull_request", "--config", policy, "--findings", doc.file)
	if code != 0 {
		t.Errorf("exit code %d: nothing was refused", code)
	}
	var report struct {
		Own  []struct{ Kind, State string } `json:"own_results"`
		Plan struct {
			Operations []struct {
				Requests []struct{ Method, Path string }
			}
		}
	}
	if err := json.Unmarshal([]byte(stdout), &report); err != nil {
		t.Fatalf("%v\n%s%s", err, stdout, stderr)
	}
	var kinds []string
	for _, r := range report.Own {
		kinds = append(kinds, r.Kind+" "+r.State)
	}
	if diff := cmp.Diff([]string{"sticky-comment staged", "check-run staged", "create-pull-request-review-comment staged", "minimise-comments staged"}, kinds); diff != "" {
		t.Errorf("%s\n%s", diff, stderr)
	}
	if !strings.Contains(stderr, "checks: write") {
		t.Errorf("the plan does not name the permission:\n%s", stderr)
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
		"no commit":        {nil, "has no commit yet to tell what changed by: name the files with --changed-files"},
		"a folder":         {[]string{"--findings", dir}, "--findings: " + dir + " is a folder: name a file in it"},
		"no folder":        {[]string{"--sarif", filepath.Join(dir, "gone", "x.sarif")}, "there is no folder " + filepath.Join(dir, "gone") + ", make it first"},
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
		if strings.Contains(text, "airlock-room-") {
			t.Errorf("%s names the place:\n%s", name, text)
		}
	}
}
