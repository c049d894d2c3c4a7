//go:build act

package main_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/githubtest"
)

// actLine is a line of act's log. If act obeyed a line of a step, Raw is the step's line, and
// Command and Arg are how act understood it.
type actLine struct {
	Raw     string `json:"raw"`
	Command string `json:"command"`
	Arg     string `json:"arg"`
}

// act runs the workflow's job on a real payload, in a repository that has the
// files. The action is the gate's, with its own action.yml, in which only the image is replaced by
// the built one. The other steps run in that image, too.
func act(t *testing.T, s *githubtest.Server, workflow string, files map[string]string) (obeyed []actLine, log string, ok bool) {
	t.Helper()
	all := map[string]string{".github/workflows/gate.yml": workflow}
	for path, text := range files {
		all[path] = text
	}
	return actRun{
		event: "pull_request", payload: filepath.Join(root, "testdata", "events", "pull_request.opened.json"), files: all, runner: os.Getenv("AIRLOCK_IMAGE"),
		actions: map[string]map[string]string{"agent-airlock/airlock@v1": {"actions/gate/action.yml": gateAction(t)}},
	}.run(t, s)
}

// gateAction returns the metadata of the gate's action, with the image that was built.
func gateAction(t testing.TB) string {
	return withImage(t, filepath.Join("actions", "gate", "action.yml"), "image: ../../Dockerfile.gate", "image: docker://"+os.Getenv("AIRLOCK_IMAGE"))
}

// withImage returns the metadata of an action of ours with another image.
func withImage(t testing.TB, name, from, to string) string {
	t.Helper()
	raw := readFile(t, filepath.Join(root, name))
	metadata := strings.Replace(raw, from, to, 1)
	if metadata == raw {
		t.Fatalf("%s does not contain %q", name, from)
	}
	return metadata
}

// actRun is what act runs.
type actRun struct {
	event, payload string                       // the event's name, and the file with its payload
	files          map[string]string            // of the repository, with the workflows
	git            *githubtest.Git              // the repository itself instead of its files: the workflow runs at its commit
	runner         string                       // the image that stands for ubuntu-latest and ubuntu-24.04
	actions        map[string]map[string]string // the files of each action, by its name with its version
	arguments      []string
}

// run runs the workflows that the event starts.
func (r actRun) run(t testing.TB, s *githubtest.Server) (obeyed []actLine, log string, ok bool) {
	t.Helper()
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "DOCKER_HOST=" + os.Getenv("DOCKER_HOST"), "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com"}
	args := append([]string{r.event, "--json", "--eventpath", r.payload,
		"--platform", "ubuntu-latest=" + r.runner, "--platform", "ubuntu-24.04=" + r.runner, "--pull=false", "--network", "host", "--container-daemon-socket", "-", "--no-cache-server", "--rm", "--bind",
		"--env", "GITHUB_API_URL=" + s.APIURL(), "--env", "GITHUB_GRAPHQL_URL=" + s.APIURL() + "/graphql", "--secret", "GITHUB_TOKEN=" + secret}, r.arguments...)
	for name, files := range r.actions {
		action, _, _ := strings.Cut(name, "@")
		args = append(args, "--local-repository", name+"="+repository(t, env, "https://github.com/"+action+".git", files))
	}
	cmd := exec.CommandContext(t.Context(), os.Getenv("AIRLOCK_ACT"), args...)
	cmd.Env = env
	if r.git == nil {
		cmd.Dir = repository(t, env, actOrigin, r.files)
	} else {
		cmd.Dir = t.TempDir()
		runGit(t, env, cmd.Dir, "clone", "--quiet", r.git.Dir(), ".")
		runGit(t, env, cmd.Dir, "remote", "set-url", "origin", actOrigin)
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if _, isExit := err.(*exec.ExitError); err != nil && !isExit {
		t.Fatal(err)
	}
	var kept strings.Builder
	for line := range strings.Lines(out.String()) {
		var l actLine
		if json.Unmarshal([]byte(line), &l) == nil && l.Raw != "" {
			obeyed = append(obeyed, l)
		}
		if l.Command != "add-mask" { // act shows what it masks
			kept.WriteString(line)
		}
	}
	return obeyed, kept.String(), err == nil
}

// actOrigin tells act which repository the workflows are of.
const actOrigin = "https://github.com/Codertocat/Hello-World.git"

// repository makes a git repository with the files and an origin.
func repository(t testing.TB, env []string, origin string, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, files)
	for _, args := range [][]string{
		{"init", "--quiet", "--initial-branch", "master"}, {"add", "--all"}, {"commit", "--quiet", "--message", "All"}, {"remote", "add", "origin", origin},
	} {
		runGit(t, env, dir, args...)
	}
	return dir
}

func runGit(t testing.TB, env []string, dir string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir, cmd.Env = dir, env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// TestActOutputs runs a workflow that uses the action and reads its outputs in the
// next step, which fails if they are wrong.
func TestActOutputs(t *testing.T) {
	s := server(t, pullRequestFixture(), githubtest.Options{})
	obeyed, log, ok := act(t, s, `
on: pull_request
jobs:
  gate:
    runs-on: ubuntu-latest
    steps:
      - id: gate
        uses: agent-airlock/airlock/actions/gate@v1
        with:
          output-file: lines.ndjson
          config: |
            add-issue-comment:
            add-issue-label:
            create-issue:
      - name: Read the outputs
        env:
          COUNTS: ${{ steps.gate.outputs.asked }} ${{ steps.gate.outputs.applied }} ${{ steps.gate.outputs.denied }} ${{ steps.gate.outputs.rejected }} ${{ steps.gate.outputs.failed }}
          RESULTS: ${{ fromJSON(steps.gate.outputs.results).results[0].kind }} ${{ fromJSON(steps.gate.outputs.results).results[0].state }}
          COMMENT: ${{ steps.gate.outputs.comment-url }}
          AGENT_OUTPUT: ${{ steps.gate.outputs.agent-output }}
          RESULTS_FILE: ${{ steps.gate.outputs.results-file }}
          ISSUE: ${{ steps.gate.outputs.issue-url }}
        run: |
          set -x
          test "$COUNTS" = "3 1 1 1 0"
          test "$RESULTS" = "add-issue-comment applied"
          test -n "$COMMENT"
          test -z "$ISSUE"
          test -s "$AGENT_OUTPUT"
          test -s "$RESULTS_FILE"
`, map[string]string{"lines.ndjson": threeLines})
	if !ok {
		t.Errorf("the workflow failed:\n%s", log)
	}
	if comments := s.State().Issues[1].Comments; len(comments) != 1 || len(s.Writes()) != 1 {
		t.Errorf("%d writes; comments %+v", len(s.Writes()), comments)
	}
	if len(obeyed) == 0 {
		t.Error("act obeyed nothing: the fields of its log have changed")
	}
	assertActLog(t, obeyed, log)
}

// assertActLog asserts that act obeyed only Airlock's own commands, and that the token is not in
// the log.
func assertActLog(t *testing.T, obeyed []actLine, log string) {
	t.Helper()
	for _, l := range obeyed {
		ok := false
		switch l.Command {
		case "group":
			ok = strings.HasPrefix(l.Arg, "Airlock: ")
		case "endgroup":
			ok = l.Arg == ""
		case "notice", "warning", "error":
			// act ends the properties at the wrong ::, so the properties that it reports are not
			// compared.
			ok = strings.HasPrefix(l.Raw, "::"+l.Command+" title=Airlock")
		case "add-mask":
			ok = isForm(l.Arg, secret)
		case "debug":
			ok = true
		}
		if !ok {
			t.Errorf("act obeyed %+v", l)
		}
	}
	for _, form := range secretForms(secret) {
		if strings.Contains(log, form) {
			t.Errorf("the log contains the token as %s", form)
		}
	}
}

// TestActLogIsNotObeyed tests rule R9 against another reader of workflow commands.
func TestActLogIsNotObeyed(t *testing.T) {
	s := server(t, pullRequestFixture(), githubtest.Options{})
	obeyed, log, ok := act(t, s, `
on: pull_request
jobs:
  gate:
    runs-on: ubuntu-latest
    steps:
      - id: gate
        uses: agent-airlock/airlock/actions/gate@v1
        with:
          output-file: lines.ndjson
          log-level: debug
          fail-on: never
      - env:
          COUNTS: ${{ steps.gate.outputs.applied }} ${{ steps.gate.outputs.a }}
          PATHS: ${{ env.PATH }}
        run: |
          test "$COUNTS" = "0 "
          test -z "$PATHS"
          case "$PATH" in *pwned*) exit 1 ;; esac
`, map[string]string{"lines.ndjson": hostileLines(t)})
	if !ok {
		t.Errorf("the workflow failed:\n%s", log[max(0, len(log)-5000):])
	}
	if !strings.Contains(log, "pwned") {
		t.Errorf("the log shows nothing of the agent's:\n%.2000s", log)
	}
	assertActLog(t, obeyed, log)

	// The corpus is live: act obeys it where a step just prints it.
	obeyed, _, _ = act(t, s, "on: pull_request\njobs:\n  gate:\n    runs-on: ubuntu-latest\n    steps:\n      - run: cat hostile\n",
		map[string]string{"hostile": strings.Join(hostileTexts(), "\n")})
	if len(obeyed) < 10 {
		t.Errorf("act obeyed only %+v", obeyed)
	}
}

// TestActAgentWithTools runs a workflow in which an agent without a model uses the tools. It makes
// a mistake in each of three calls, and corrects it by the error. The gate then applies the items.
func TestActAgentWithTools(t *testing.T) {
	s := server(t, pullRequestFixture(), githubtest.Options{})
	agent := filepath.Join(t.TempDir(), "agent")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", agent, "./testdata/scripted-agent")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	program := readFile(t, agent)
	_, log, ok := act(t, s, `
on: pull_request
jobs:
  gate:
    runs-on: ubuntu-latest
    steps:
      - name: The agent
        run: |
          chmod +x agent
          ./agent airlock mcp --safe-outputs --config policy.yml --output lines.ndjson > agent.log
          cat agent.log
          test "$(grep -c 'was refused' agent.log)" = 3
          test "$(grep -c 'is carried out' agent.log)" = 3
      - uses: agent-airlock/airlock/actions/gate@v1
        with:
          output-file: lines.ndjson
          config: |
            add-issue-comment:
            add-issue-label: {allowed: [bug, docs]}
            create-issue:
`, map[string]string{"agent": program, "policy.yml": "add-issue-comment:\nadd-issue-label: {allowed: [bug, docs]}\ncreate-issue:\n"})
	if !ok {
		t.Errorf("the workflow failed:\n%s", log)
	}
	state := s.State()
	if pull := state.Issues[1]; len(pull.Comments) != 1 || !strings.HasPrefix(pull.Comments[0].Body, "The tests pass.") || len(s.Writes()) != 3 {
		t.Errorf("%d writes; comments %+v", len(s.Writes()), pull.Comments)
	}
}
