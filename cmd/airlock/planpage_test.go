package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/agent-airlock/airlock/internal/githubtest"
)

// planPage is a plan's page as a browser reads it.
type planPage struct {
	raw  string
	byID map[string]*html.Node
}

// readPage reads a page. It asserts that no two elements have the same id, and that every link to
// an id leads to an element.
func readPage(t *testing.T, path string) planPage {
	t.Helper()
	raw := readFile(t, path)
	doc, err := html.Parse(strings.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	p := planPage{raw, map[string]*html.Node{}}
	var links []string
	for n := range doc.Descendants() {
		for _, a := range n.Attr {
			switch {
			case a.Key == "id":
				if p.byID[a.Val] != nil {
					t.Errorf("two elements have the id %s", a.Val)
				}
				p.byID[a.Val] = n
			case a.Key == "href" && strings.HasPrefix(a.Val, "#"):
				links = append(links, a.Val[1:])
			}
		}
	}
	for _, l := range links {
		if p.byID[l] == nil {
			t.Errorf("a link leads to #%s, which is not there", l)
		}
	}
	return p
}

// text returns what a reader sees of an element, with one space between words.
func (p planPage) text(id string) string {
	n := p.byID[id]
	if n == nil {
		return "(there is no #" + id + ")"
	}
	return strings.Join(textWords(n), " ")
}

// textWords returns the words of the texts in a node.
func textWords(n *html.Node) (list []string) {
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			list = append(list, strings.Fields(d.Data)...)
		}
	}
	return list
}

// section returns what a reader sees from a heading to the next one of its level.
func (p planPage) section(id string) string {
	var list []string
	h := p.byID[id]
	for n := h.NextSibling; n != nil && (n.Type != html.ElementNode || n.Data != h.Data); n = n.NextSibling {
		list = append(list, textWords(n)...)
	}
	return strings.Join(list, " ")
}

// pageLines has an item of every outcome that needs no server.
const pageLines = `{"type": "create-issue", "title": "A test fails", "body": "Seen by @octocat.\nSame line.", "labels": ["bug"]}
{"type": "add_comment", "item_number": 99, "body": "Elsewhere"}
{"type": "create-issue", "title": 5}
{"type": "create-issue", "title": "One too many", "body": "b"}
{"type": "missing-tool", "tool": "docker", "reason": "no daemon"}
{"type": "add_comment", "body": "the key is ghp_16C7e42F292c6912E7710c838347Ae178B4a"}
{'type': 'noop', 'message': 'Nothing else'}
not JSON at all
`

const pagePolicy = "create-issue:\n  title-prefix: \"[agent] \"\nadd-issue-comment:\n  max: 5\nmissing-tool:\n  staged: true\n"

// TestPlanPage asserts that the page of a dry run shows for every line what the agent asked for,
// what is left of that, what is decided, and why.
func TestPlanPage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"lines.ndjson": pageLines, "policy.yml": pagePolicy})
	res := run(t, dir, offline(), "", "apply", "--dry-run", "--input", "lines.ndjson", "--config", "policy.yml", "--plan-html", "plan.html")
	if res.code != 1 {
		t.Fatalf("exit code %d:\n%s", res.code, res.stderr)
	}
	p := readPage(t, filepath.Join(dir, "plan.html"))
	for id, want := range map[string][]string{
		"item-1": {"Line 1: create-issue", "would be applied", `create the issue "[agent] A test fails"`, "labels bug", "− A test fails", "+ [agent] A test fails",
			"Seen by @\u200boctocat. Same line.", "− Seen by @octocat.", "+ Seen by @ &#8203; octocat.", "mentions: octocat in 'body'", "POST /repos/Codertocat/Hello-World/issues"},
		"item-2": {"Line 2: add-issue-comment", "denied (target)", "may act only on", "Elsewhere"},
		"item-3": {"Line 3: create-issue", "rejected", "'title'", "'body' is a required property"},
		"item-4": {"Line 4: create-issue", "dropped, over the limit", `raise it with "max:"`},
		"item-5": {"Line 5: missing-tool", "would be applied", "docker", "no daemon"}, // a dry run shows no difference between this staged kind and the others
		"item-6": {"Line 6: add-issue-comment", "denied (secret)", "'body' contains a secret"},
		"item-7": {"Line 7: noop", "repaired: single-quotes"},
		"item-8": {"Line 8: no known kind", "rejected"},
		"line-1": {`{"type": "create-issue", "title": "A test fails", "body": "Seen by @octocat.\nSame line.", "labels": ["bug"]}`},
		"line-6": {"Not shown: it contains a secret."},
		"line-8": {"not JSON at all"},
	} {
		for _, w := range want {
			if got := p.text(id); !strings.Contains(got, w) {
				t.Errorf("#%s lacks %q:\n%s", id, w, got)
			}
		}
	}
	for id, want := range map[string][]string{
		"attention":   {"Line 6, add-issue-comment: denied", "Line 8, no known kind: rejected", "Line 4, create-issue: dropped", "Unchecked: without a token", "Line 1, create-issue: its text is not posted as it was asked for"},
		"permissions": {"permissions: contents: read issues: write", "pull-requests"},
	} {
		for _, w := range want {
			if got := p.section(id); !strings.Contains(got, w) {
				t.Errorf("after #%s there is no %q:\n%s", id, w, got)
			}
		}
	}
	if strings.Contains(p.raw, "16C7e42F") {
		t.Error("the page shows a secret")
	}
	if strings.Contains(p.raw, "<script") || strings.Contains(p.raw, "<img") || strings.Contains(p.raw, " style=") || strings.Contains(p.raw, "<link") {
		t.Error("the page contains what its policy forbids")
	}
}

// TestPlanPageOfARealRun asserts that, before anything is written, the page says what will be done,
// and that in the end it says what was done.
func TestPlanPageOfARealRun(t *testing.T) {
	t.Parallel()
	hosted := newHosted(t)
	workspace := hosted.checkout(t, "changes")
	writeFile(t, filepath.Join(workspace, "docs/new.md"), "New.\n")
	writeFile(t, filepath.Join(workspace, "CODEOWNERS"), "* @octocat\n")
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"lines.ndjson": `{"type": "add_comment", "body": "Hello"}` + "\n" + `{"type": "push_to_pull_request_branch", "message": "Add a page"}` + "\n" + `{"type": "missing-tool", "tool": "a", "reason": "b"}` + "\n",
		"policy.yml":   "add-issue-comment:\npush-to-branch:\nmissing-tool:\n  staged: true\n",
	})
	before := make(chan string, 1)
	hosted.server.SetFault(func(r githubtest.Request) githubtest.Fault {
		if r.Method == "POST" && strings.HasSuffix(r.Path, "/issues/2/comments") {
			raw, _ := os.ReadFile(filepath.Join(dir, "plan.html"))
			before <- string(raw)
		}
		return githubtest.Fault{}
	})
	res := run(t, dir, hosted.env(t), "", "apply", "--pace=0s", "--input", "lines.ndjson", "--config", "policy.yml", "--dir", workspace, "--plan-html", "plan.html")
	if res.code != 1 {
		t.Fatalf("exit code %d:\n%s", res.code, res.stderr)
	}
	planned := <-before
	for _, want := range []string{"Written before anything was done", "1 of 3 requests will be done", "will be applied", "staged: only planned", "CODEOWNERS"} {
		if !strings.Contains(planned, want) {
			t.Errorf("before the first write the page lacks %q:\n%s", want, planned)
		}
	}
	p := readPage(t, filepath.Join(dir, "plan.html"))
	for id, want := range map[string][]string{
		"item-1": {"Line 1: add-issue-comment", "applied", "On GitHub: comment #2", "Hello"},
		"item-2": {"denied (protected-files)", "CODEOWNERS added", "refused", "docs/new.md added 5 bytes may be pushed", "Add a page"},
		"item-3": {"staged: only planned"},
	} {
		for _, w := range want {
			if got := p.text(id); !strings.Contains(got, w) {
				t.Errorf("#%s lacks %q:\n%s", id, w, got)
			}
		}
	}
	if strings.Contains(p.raw, "Written before") || strings.Contains(p.raw, "will be applied") {
		t.Error("the page still says what will be done")
	}
}

// TestPlanPageOfFindings asserts that the page shows how the checks ended, and Airlock's own
// items.
func TestPlanPageOfFindings(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	about := parse[map[string]any](t, readFile(t, filepath.Join(root, "internal", "checkreport", "testdata", "failing.json")))
	about["repository"], about["pull_request"] = "Codertocat/Hello-World", 2
	write(t, dir, map[string]string{"findings.json": jsonText(t, about), "policy.yml": "add-issue-comment:\n"})
	res := run(t, dir, offline(), "", "apply", "--dry-run", "--findings", "findings.json", "--config", "policy.yml", "--plan-html", "plan.html")
	if res.code > 1 {
		t.Fatalf("exit code %d:\n%s", res.code, res.stderr)
	}
	p := readPage(t, filepath.Join(dir, "plan.html"))
	for id, want := range map[string]string{"attention": "checks failed", "checks": "security review", "findings": "api/b.go:3-4", "own": "check-run"} {
		if got := p.section(id); !strings.Contains(got, want) {
			t.Errorf("after #%s there is no %q:\n%s", id, want, got)
		}
	}
}

// TestPlanPageThatCannotBeWritten asserts that a path that cannot be used is refused
// before anything is done, and that a full disk stops the run.
func TestPlanPageThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file string
		code int
		want string
	}{
		{"taken", 2, "--plan-html: taken is a directory"},
		{"none/plan.html", 2, "there is no directory none"},
		{"plan.json", 2, "--plan and --plan-html name the same file"},
		{"/dev/full", 3, "the page of the plan cannot be written, so nothing was applied"},
	} {
		if strings.HasPrefix(c.file, "/dev") && runtime.GOOS != "linux" {
			continue
		}
		dir := t.TempDir()
		write(t, dir, map[string]string{"lines.ndjson": `{"type": "add_comment", "body": "Hello"}`, "policy.yml": "add-issue-comment:\n", "taken/x": ""})
		s := server(t, pullRequestFixture(), githubtest.Options{})
		res := run(t, dir, workflowEnv(s, "pull_request", "pull_request.opened.json"), "", "apply", "--pace=0s", "--input", "lines.ndjson", "--config", "policy.yml", "--plan", "plan.json", "--plan-html", c.file)
		if res.code != c.code || !strings.Contains(res.stderr, c.want) || len(s.Writes()) != 0 {
			t.Errorf("%s: exit code %d, %d writes, want %d and %q:\n%s", c.file, res.code, len(s.Writes()), c.code, c.want, res.stderr)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, ".airlock-*.tmp")); left != nil {
			t.Errorf("%s: %q are left", c.file, left)
		}
	}
}

// TestPlanPageFollowsNoLinkOfTheAgent asserts that the action does not write its page through a
// link, which an agent may have put there. The command line does follow a link of its user.
func TestPlanPageFollowsNoLinkOfTheAgent(t *testing.T) {
	t.Parallel()
	ws := newWorkspace(t, map[string]string{"lines.ndjson": `{"type": "noop", "message": "<b>done</b>"}`, "victim": "mine"})
	if err := os.MkdirAll(filepath.Join(ws.dir, ".airlock"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../victim", filepath.Join(ws.dir, ".airlock", "plan.html")); err != nil {
		t.Fatal(err)
	}
	res := run(t, ws.dir, ws.env(offline(), map[string]string{"mode": "apply", "agent-output": "lines.ndjson", "config": "noop:\n", "staged": "true"}), "", "action")
	if got := readFile(t, filepath.Join(ws.dir, "victim")); got != "mine" {
		t.Errorf("the page went through the agent's link: %.80q", got)
	}
	if !strings.Contains(res.stdout, "the page of the plan cannot be written") || res.code != 0 {
		t.Errorf("exit code %d:\n%s", res.code, res.stdout)
	}

	dir := t.TempDir()
	write(t, dir, map[string]string{"lines.ndjson": `{"type": "noop", "message": "done"}`, "policy.yml": "noop:\n", "real.html": ""})
	if err := os.Symlink("real.html", filepath.Join(dir, "plan.html")); err != nil {
		t.Fatal(err)
	}
	res = run(t, dir, offline(), "", "apply", "--dry-run", "--input", "lines.ndjson", "--config", "policy.yml", "--plan-html", "plan.html")
	if got := readFile(t, filepath.Join(dir, "real.html")); res.code != 0 || !strings.Contains(got, "<!doctype html>") {
		t.Errorf("exit code %d, %.80q\n%s", res.code, got, res.stderr)
	}
}

// TestPlanPageOfTheAction asserts that the action writes the page and names it.
func TestPlanPageOfTheAction(t *testing.T) {
	t.Parallel()
	s := server(t, pullRequestFixture(), githubtest.Options{})
	ws := newWorkspace(t, map[string]string{"lines.ndjson": threeLines})
	run(t, ws.dir, ws.env(workflowEnv(s, "pull_request", "pull_request.opened.json"), map[string]string{"output-file": "lines.ndjson", "config": "add-issue-comment:\n"}), "", "action")
	name := ws.outputs(t)["plan-page"]
	if p := readPage(t, filepath.Join(ws.dir, name)); !strings.Contains(p.text("item-1"), "applied") {
		t.Errorf("%q says\n%s", name, p.text("item-1"))
	}
}

// TestPlanApprovalExample asserts that the workflow of the document is the example.
func TestPlanApprovalExample(t *testing.T) {
	t.Parallel()
	workflow := readFile(t, filepath.Join(root, "examples", "plan-approval.yml"))
	if doc := readFile(t, filepath.Join(root, "docs", "plan-page.md")); !strings.Contains(doc, "```yaml\n"+workflow+"```\n") {
		t.Error("docs/plan-page.md and examples/plan-approval.yml differ: make them the same")
	}
}

// BenchmarkPlanPage applies 1,000 items in a dry run, with a page and without one. Besides the
// elapsed time it reports the processor's.
func BenchmarkPlanPage(b *testing.B) {
	dir := b.TempDir()
	var lines strings.Builder
	for i := range 1000 {
		raw, err := json.Marshal(map[string]string{"type": "add_comment", "body": fmt.Sprintf("## Run %[1]d\n\nThe parser **fails** for `a[%[1]d]`, cc @octocat%[1]d. See [the log](https://logs.example/%[1]d).\n\n"+
			"| case | result |\n|---|---|\n| one | ok |\n| two | fails |\n\n- [x] read\n- [ ] mend\n\n```go\nfunc f() int { return %[1]d }\n```\n\nThis fixes #%[1]d. %[2]s\n", i, strings.Repeat("And so on. ", 18))})
		if err != nil {
			b.Fatal(err)
		}
		lines.Write(append(raw, '\n'))
	}
	write(b, dir, map[string]string{"lines.ndjson": lines.String(), "policy.yml": "add-issue-comment:\n  max: -1\n"})
	for _, c := range []struct {
		name string
		args []string
	}{{"without", nil}, {"with", []string{"--plan-html", "plan.html"}}} {
		b.Run(c.name, func(b *testing.B) {
			var cpu time.Duration
			for b.Loop() {
				cmd := exec.Command(binary, append([]string{"apply", "--dry-run", "--input", "lines.ndjson", "--config", "policy.yml"}, c.args...)...)
				cmd.Dir, cmd.Env = dir, append(offline(), "PATH="+os.Getenv("PATH"))
				if out, err := cmd.CombinedOutput(); err != nil {
					b.Fatalf("%v: %s", err, out)
				}
				cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
			}
			b.ReportMetric(float64(cpu.Milliseconds())/float64(b.N), "cpu-ms/op")
		})
	}
}

// offline returns the environment of a step without a token.
func offline() []string {
	return append(workflowEnv(nil, "pull_request", "pull_request.opened.json"), "GITHUB_TOKEN=")
}
