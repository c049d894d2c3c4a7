//go:build act

package main_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/fixloop"
	"github.com/agent-airlock/airlock/internal/githubtest"
)

// appSecret is the token of the App that pushes in the example.
const appSecret = "ghs_AppOnly0123456789abcdefghijklmnopq"

// exampleLoop is examples/fix-loop as a repository on a server. The test starts the workflow runs
// that GitHub would start.
type exampleLoop struct {
	*loopJobs
	files     map[string]string
	artifacts string
}

// newExampleLoop makes the repository, and pull request #2 with another total.sh.
func newExampleLoop(t *testing.T, broken func(string) string) *exampleLoop {
	t.Helper()
	files := map[string]string{}
	dir := os.DirFS(filepath.Join(root, "examples", "fix-loop"))
	err := fs.WalkDir(dir, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := fs.ReadFile(dir, name)
		files[name] = string(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	git := githubtest.NewGit(t)
	base := git.Commit("master", files, "Begin")
	git.SetBranch("changes", base)
	start := git.Commit("changes", map[string]string{"total.sh": broken(files["total.sh"])}, "Compute it otherwise")
	f := pullRequestFixture()
	f.Repo.Permissions = map[string]string{"Codertocat": "write"}
	f.Repo.Collaborators = []githubtest.Account{{Login: "Codertocat", ID: 21031067}}
	f.Tokens = append(f.Tokens, githubtest.Token{Secret: appSecret, Account: githubtest.Account{Login: "fixer[bot]", ID: 555}})
	h := hosted{git, server(t, f, githubtest.Options{Git: git}), start}
	return &exampleLoop{&loopJobs{hosted: h, t: t}, files, t.TempDir()}
}

// usedAction is an action that a workflow uses, with its version.
var usedAction = regexp.MustCompile(`uses: ([\w.-]+/[\w.-]+)[\w./-]*@(\S+)`)

// standIns returns the actions that the workflows among the files use. The actions of the checks
// and of the gate come from this repository; that of the checks runs in checksImage. The setup
// action only looks for the binary in the runner's image. Replacements with the same effect stand
// for GitHub's own actions: a checkout from the server by git, a directory for artifacts, and a
// token that is at hand.
func standIns(t testing.TB, s *githubtest.Server, checksImage string, files map[string]string) map[string]map[string]string {
	t.Helper()
	composite := func(text string) map[string]string { return map[string]string{"action.yml": text} }
	check := withImage(t, "action.yml", "image: Dockerfile", "image: docker://"+checksImage+"\n  entrypoint: /usr/local/bin/airlock\n  args: [action]")
	known := map[string]map[string]string{
		"agent-airlock/airlock": {"action.yml": check, "actions/gate/action.yml": gateAction(t),
			"actions/setup/action.yml": "inputs: {version: {required: true}}\nruns: {using: composite, steps: [{shell: bash, run: 'command -v airlock'}]}\n"},
		"actions/checkout": composite(`
inputs: {ref: {default: "${{ github.event.pull_request.head.sha || 'refs/heads/master' }}"}, persist-credentials: {default: "true"}, fetch-depth: {default: "1"}}
runs:
  using: composite
  steps:
    - shell: bash
      run: |
        rm -rf fix findings
        git fetch --quiet "` + s.GitURL() + `" "${{ inputs.ref }}" "+refs/heads/master:refs/remotes/origin/master"
        git checkout --quiet --force --detach FETCH_HEAD
`),
		"actions/upload-artifact": composite(`
inputs: {name: {required: true}, path: {required: true}, include-hidden-files: {default: "false"}}
runs:
  using: composite
  steps:
    - shell: bash
      run: |
        rm -rf "/artifacts/${{ inputs.name }}"; mkdir "/artifacts/${{ inputs.name }}"
        while read -r path; do
          if [ -d "$path" ]; then cp -r "$path/." "/artifacts/${{ inputs.name }}"; elif [ -n "$path" ]; then cp "$path" "/artifacts/${{ inputs.name }}"; fi
        done <<'PATHS'
        ${{ inputs.path }}
        PATHS
`),
		"actions/download-artifact": composite(`
inputs: {name: {required: true}, path: {default: .}}
runs:
  using: composite
  steps:
    - {shell: bash, run: 'mkdir -p "${{ inputs.path }}"; cp -r "/artifacts/${{ inputs.name }}/." "${{ inputs.path }}"'}
`),
		"actions/create-github-app-token": composite(`
inputs: {app-id: {required: true}, private-key: {required: true}}
outputs: {token: {value: "${{ inputs.private-key }}"}}
runs: {using: composite, steps: [{shell: bash, run: 'test "${{ inputs.app-id }}" = 77'}]}
`),
	}
	used := map[string]map[string]string{}
	for _, text := range files {
		for _, m := range usedAction.FindAllStringSubmatch(text, -1) {
			if known[m[1]] == nil {
				t.Errorf("nothing stands in for the action %s", m[0])
			}
			used[m[1]+"@"+m[2]] = known[m[1]]
		}
	}
	return used
}

// happen starts the workflow runs of an event, and fails the test if a job fails.
func (x *exampleLoop) happen(event string, payload map[string]any) {
	x.t.Helper()
	path := writeFile(x.t, filepath.Join(x.t.TempDir(), "event.json"), jsonText(x.t, payload))
	_, log, ok := actRun{event: event, payload: path, files: x.files, runner: os.Getenv("AIRLOCK_IMAGE"), actions: standIns(x.t, x.server, os.Getenv("AIRLOCK_IMAGE"), x.files),
		// act's runner has its temporary files in /tmp, and the checks keep the code out of /tmp.
		arguments: []string{"--env", "TMPDIR=/var/tmp", "--no-skip-checkout", "--container-options", "-v " + x.artifacts + ":/artifacts",
			"--secret", "LOOP_SECRET=" + loopSecret, "--secret", "FIXER_PRIVATE_KEY=" + appSecret, "--var", "FIXER_APP_ID=77"}}.run(x.t, x.server)
	if !ok {
		x.t.Fatalf("%s failed:\n%s", event, log)
	}
	for line := range strings.Lines(log) {
		var l actLine
		if json.Unmarshal([]byte(line), &l) == nil && l.Command == "set-output" && l.Arg == appSecret {
			continue // act also shows the output of the replacement of create-github-app-token
		}
		if strings.Contains(line, appSecret) || strings.Contains(line, loopSecret) {
			x.t.Errorf("the log of %s contains a secret: %s", event, line)
		}
	}
}

// check plays the workflow run for the pull request after a push of a user or of an App.
func (x *exampleLoop) check(login string) { x.t.Helper(); x.happen(x.pushedBy(login)) }

// fix starts the workflow run of the newest repository_dispatch event.
func (x *exampleLoop) fix(request string) {
	x.t.Helper()
	sent := x.dispatched()
	if len(sent) == 0 || sent[len(sent)-1]["request_id"] != request {
		x.t.Fatalf("%d events were sent, the newest is not %s", len(sent), request)
	}
	before := x.git.SHA("changes")
	x.happen("repository_dispatch", map[string]any{"action": "airlock-fix", "branch": "master", "client_payload": sent[len(sent)-1],
		"repository": x.repository(), "sender": map[string]any{"login": "github-actions[bot]", "type": "Bot"}})
	if x.git.SHA("changes") == before {
		x.t.Fatalf("nothing was pushed for %s", request)
	}
	if by := x.git.Run("log", "-1", "--format=%ce", "changes"); !strings.HasPrefix(by, "555+fixer@") {
		x.t.Errorf("the push is %s's", by)
	}
}

// state returns the state of the loop and the messages of its log.
func (x *exampleLoop) state() (s fixloop.State, messages []fixloop.Message) {
	x.t.Helper()
	stored := parse[struct {
		State    fixloop.State
		Messages []fixloop.Message
	}](x.t, x.git.Run("show", "refs/airlock/loops/2-1:state.json"))
	return stored.State, stored.Messages
}

// messageForm are the headings and fields of spec 003's messages, in their order.
var messageForm = map[fixloop.Type]string{
	fixloop.FailureReport:       "## Validation Failure Report|Message ID|From|To|Timestamp|Priority|### Failure Summary|### Detailed Failures|### Suggested Fixes|### Actions Required|Sent by",
	fixloop.FixRequest:          "## Fix Request|Message ID|From|To|Timestamp|Priority|### Request Summary|### Failures to Fix|### Suggested Approach|### Expected Outcome|Sent by|Awaiting",
	fixloop.FixCompletion:       "## Fix Completion|Message ID|From|To|Timestamp|Priority|### Completion Summary|### Fixes Applied|### Files Modified|### Ready for Re-validation|Sent by",
	fixloop.RevalidationTrigger: "## Re-validation Trigger|Message ID|From|To|Timestamp|Priority|### Re-validation Request|### Iteration|### Previous Failures|### Fixes Applied|### Expected Outcome|Sent by",
	fixloop.RevalidationResult:  "## Re-validation Result|Message ID|From|To|Timestamp|Priority|### Result Summary|Status|### Details|### Failure Details|### Next Action|Sent by",
	fixloop.Success:             "## Validation Success|Message ID|From|To|Timestamp|Priority|### Success Summary|### Final Status|### Next Phase|Sent by",
	fixloop.Escalation:          "## Escalation: Unresolvable Issue|Message ID|From|To|Timestamp|Priority|### Escalation Summary|Reason|Iterations|Time|### Persistent Failures|### Iteration History|### Recommended Actions|Sent by|Awaiting",
}

// formLine is a heading, or a field at the beginning of a line.
var formLine = regexp.MustCompile(`(?m)^(?:(#{2,3} .*)|\*\*([A-Z][A-Za-z ]*)\*\*: )`)

// assertMessages asserts which messages the loop's log has, each in the form of the spec.
func (x *exampleLoop) assertMessages(want ...string) {
	x.t.Helper()
	_, messages := x.state()
	var got []string
	for _, m := range messages {
		if !m.Counts() {
			continue
		}
		got = append(got, times.ReplaceAllString(m.ID, "TIME"))
		var form []string
		for _, line := range formLine.FindAllStringSubmatch(m.Markdown(), -1) {
			form = append(form, line[1]+line[2])
		}
		wantForm := strings.Split(messageForm[m.Type], "|")
		if m.Type == fixloop.RevalidationResult && m.Result == fixloop.Pass { // the spec: Failure Details only if FAIL
			wantForm = slices.DeleteFunc(wantForm, func(s string) bool { return s == "### Failure Details" })
		}
		if diff := cmp.Diff(wantForm, form); diff != "" {
			x.t.Errorf("the form of %s (-spec +got):\n%s\n%s", m.ID, diff, m.Markdown())
		}
		if again, err := fixloop.ParseAll(m.Markdown()); err != nil || again[0].ID != m.ID {
			x.t.Errorf("%s does not parse back: %v", m.ID, err)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		x.t.Errorf("messages (-want +got):\n%s", diff)
	}
}

// TestActExampleLoop runs examples/fix-loop: a check fails, an agent is asked, its push passes.
func TestActExampleLoop(t *testing.T) {
	x := newExampleLoop(t, func(s string) string { return strings.Replace(s, "sum + price", "sum - price", 1) })
	x.check("Codertocat")
	if s, _ := x.state(); s.Status() != fixloop.AwaitingFix {
		t.Fatalf("%s", s.Status())
	}
	x.fix("FIXREQ-2-1")
	x.check("fixer[bot]")
	if s, _ := x.state(); s.Outcome() != fixloop.Succeeded {
		t.Errorf("%s", s.Status())
	}
	x.assertMessages("VFR-2-tests-1", "FIXREQ-2-1", "FIXDONE-2-1", "REVAL-2-tests-2", "REVALRES-2-tests-2", "SUCCESS-2-tests-2")
	if got, want := x.git.Run("show", "changes:total.sh")+"\n", x.files["total.sh"]; got != want {
		t.Errorf("total.sh is\n%s", got)
	}
	comments := x.server.State().Issues[1].Comments
	if len(comments) != 2 || !strings.HasPrefix(comments[0].Body, "### Fix loop: all checks passed") || comments[1].Minimized == "" {
		t.Errorf("%d comments", len(comments))
	}
}

// TestActExampleEscalation runs the example with two failures. The agent mends one at a time, so
// the loop is escalated; a user extends it by a comment, and the next fix passes.
func TestActExampleEscalation(t *testing.T) {
	x := newExampleLoop(t, func(s string) string {
		return strings.Replace(strings.Replace(s, "sum + price", "sum - price", 1), ") / $#", ") * $#", 1)
	})
	x.check("Codertocat")
	x.fix("FIXREQ-2-1")
	x.check("fixer[bot]")
	if s, _ := x.state(); s.Status() != fixloop.Escalated || s.Reason() != fixloop.ReasonIterations {
		t.Fatalf("%s, %s", s.Status(), s.Reason())
	}
	x.happen(x.comment("Codertocat", 21031067, "/airlock extend 1"))
	x.fix("FIXREQ-2-2")
	x.check("fixer[bot]")
	if s, _ := x.state(); s.Outcome() != fixloop.Succeeded {
		t.Errorf("%s", s.Status())
	}
	x.assertMessages("VFR-2-tests-1", "FIXREQ-2-1", "FIXDONE-2-1", "REVAL-2-tests-2", "REVALRES-2-tests-2", "VFR-2-tests-2", "ESC-2-tests-TIME",
		"FIXREQ-2-2", "FIXDONE-2-2", "REVAL-2-tests-3", "REVALRES-2-tests-3", "SUCCESS-2-tests-3")
}
