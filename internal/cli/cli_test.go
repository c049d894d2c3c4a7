package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-airlock/airlock/internal/cli"
	"github.com/agent-airlock/airlock/internal/githubtest"
)

// process stands for the process that a command runs in.
type process struct {
	env    map[string]string
	stdin  io.Reader
	stdout io.Writer // nil to capture what is written
	broken string    // a variable whose reading panics; it stands for a defect
}

// run runs one command line and returns its exit code, its standard output and its
// standard error.
func (p process) run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	if p.stdin == nil {
		p.stdin = strings.NewReader("")
	}
	if p.stdout == nil {
		p.stdout = &out
	}
	var environ []string
	for name, value := range p.env {
		environ = append(environ, name+"="+value)
	}
	code = cli.Main(t.Context(), args, cli.Environment{
		Stdin: p.stdin, Stdout: p.stdout, Stderr: &errs, Version: "v1.2.3", Environ: environ,
		Getenv: func(name string) string {
			if p.broken != "" && name == p.broken {
				panic(errors.New("a defect that mentions " + secret))
			}
			return p.env[name]
		},
	})
	return code, out.String(), errs.String()
}

// files writes files into a new directory and returns its path.
func files(t *testing.T, texts map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range texts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// event returns the path of a real payload about the pull request on the server that github starts.
func event(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("../../testdata/events/pull_request.opened.json")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// changedEvent returns the path of a copy of that payload with a change.
func changedEvent(t *testing.T, change func(payload map[string]any)) string {
	t.Helper()
	raw, err := os.ReadFile(event(t))
	if err != nil {
		t.Fatal(err)
	}
	var payload map[string]any
	if err := json.Unmarshal(raw, &payload); err != nil {
		t.Fatal(err)
	}
	change(payload)
	if raw, err = json.Marshal(payload); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(files(t, map[string]string{"event.json": string(raw)}), "event.json")
}

const secret = "ghs_TestOnly0123456789abcdefghijklmnop"

// github starts a server with the pull request of event's payload, and returns it and the
// environment of a command that uses it.
func github(t *testing.T) (*githubtest.Server, map[string]string) {
	t.Helper()
	bot := githubtest.Account{Login: "github-actions[bot]", ID: 41898282}
	s := githubtest.New(t, githubtest.Fixture{
		Repo:   githubtest.Repo{ID: 186853002, Owner: "Codertocat", Name: "Hello-World", DefaultBranch: "master"},
		Viewer: bot, Tokens: []githubtest.Token{{Secret: secret, Account: bot}}, Labels: []githubtest.Label{{Name: "bug"}},
		Issues: []*githubtest.Issue{{Number: 2, Title: "T", Body: "B", State: "open", Pull: &githubtest.Pull{
			Head:  githubtest.Branch{Ref: "changes", SHA: "ec26c3e57ca3a959ca5aad62de7213c562f8c821"},
			Base:  githubtest.Branch{Ref: "master", SHA: "f95f852bd8fca8fcc58a9a2d6c842781e32a215e"},
			Files: []githubtest.File{{Path: "README.md", Patch: "@@ -1 +1,2 @@\n-# Hello\n+# Hello, World\n+More."}},
		}}},
	}, githubtest.Options{})
	s.Start(t)
	return s, map[string]string{"GITHUB_API_URL": s.APIURL(), "GITHUB_TOKEN": secret}
}

// TestEveryCommandExplainsItself asserts that the help of each command has examples, an
// explanation of every flag, and no line above its usage with more than 88 characters.
func TestEveryCommandExplainsItself(t *testing.T) {
	code, root, _ := process{}.run(t, "--help")
	if code != 0 || !strings.Contains(root, "Exit codes: 0") {
		t.Errorf("exit code %d:\n%s", code, root)
	}
	for _, name := range []string{"init", "doctor", "check", "collect", "apply", "validate", "sanitize", "instructions", "mcp", "action", "schema", "version"} {
		if !strings.Contains(root, "\n  "+name+" ") {
			t.Errorf("the list of commands lacks %s:\n%s", name, root)
		}
	}
	explained := 0
	var explain func(command []string, help string)
	explain = func(command []string, help string) {
		explained++
		_, below, _ := strings.Cut(help, "Available Commands:\n")
		below, _, _ = strings.Cut(below, "\n\n")
		for line := range strings.Lines(below) {
			sub := append(slices.Clone(command), strings.Fields(line)[0])
			if sub[0] == "completion" { // cobra's own
				continue
			}
			code, help, _ := process{}.run(t, append(slices.Clone(sub), "--help")...)
			if code != 0 || len(help) < 80 || !strings.Contains(help, "Examples:") {
				t.Errorf("%s --help: exit code %d, or no examples:\n%s", sub, code, help)
			}
			explain(sub, help)
		}
		text, _, _ := strings.Cut(help, "\nUsage:")
		for line := range strings.Lines(text) {
			if n := len([]rune(strings.TrimSpace(line))); n > 88 {
				t.Errorf("%s --help: a line of %d characters, more than 88: %s", command, n, line)
			}
		}
		for line := range strings.Lines(help) {
			if strings.HasPrefix(strings.TrimSpace(line), "--") && len(strings.Fields(line)) < 4 {
				t.Errorf("%s --help does not explain a flag: %s", command, line)
			}
		}
	}
	explain(nil, root)
	if explained < 35 {
		t.Errorf("only %d commands were found", explained)
	}
}

// TestExitCodes has at least one case for each row of the table in docs/action.md.
func TestExitCodes(t *testing.T) {
	dir := files(t, map[string]string{
		"good.ndjson": `{"type":"add-issue-comment","body":"Hello"}` + "\n", "bad.ndjson": `{"type":"add-issue-comment"}` + "\n",
		"noop.ndjson": `{"type":"noop","message":"Nothing"}` + "\n", "two.ndjson": strings.Repeat(`{"type":"add-issue-comment","body":"Hello"}`+"\n", 2),
		"labels.ndjson": `{"type":"add-issue-label","labels":["bug","b","c","d"]}` + "\n", "push.ndjson": `{"type":"push-to-branch","message":"m"}` + "\n",
		"policy.yml": "add-issue-comment:\nadd-issue-label:\npush-to-branch:\n", "staged.yml": "staged: true\nadd-issue-comment:\n", "bad.yml": "add-issue-comment:\n  maxx: 1\nnonsense:\n",
		"empty.json": "",
	})
	_, env := github(t)
	without := map[string]string{"GITHUB_API_URL": env["GITHUB_API_URL"]}
	inRun := maps.Clone(env)
	inRun["GITHUB_RUN_ID"], inRun["GITHUB_JOB"], inRun["ACTIONS_ORCHESTRATION_ID"] = "7", "gate", "1-2.gate.__default"
	in := func(name string) string { return filepath.Join(dir, name) }
	apply := func(input, config string, more ...string) []string {
		return append([]string{"apply", "--pace=0s", "--event", event(t), "--input", in(input), "--config", in(config), "--output-dir", in("out")}, more...)
	}
	for _, c := range []struct {
		code int
		env  map[string]string
		args []string
		want string
	}{
		{0, nil, []string{"collect", "--input", in("good.ndjson")}, "1 accepted, 0 rejected, 0 over a limit"},
		{1, nil, []string{"collect", "--input", in("bad.ndjson")}, "'body' is a required property"},
		{1, nil, []string{"collect", "--input", in("two.ndjson")}, "dropped: at most 1 item"},
		{1, nil, []string{"collect", "--input", in("labels.ndjson")}, "labels dropped: 'd'"},
		{2, nil, []string{"collect", "--input", in("none")}, "does not exist"},
		{2, nil, []string{"collect", "--input", in("good.ndjson"), "--config", in("bad.yml")}, "bad.yml:2:3: "},
		{2, nil, []string{"collect", "--input", in("good.ndjson"), "--output", in("none/x")}, "--output: "},
		{2, nil, []string{"collect", "--input", in("good.ndjson"), "--report", in("none/x")}, "--report: "},
		{0, env, apply("good.ndjson", "staged.yml"), "1 of 1 request would be done, nothing was written (1 planned)"},
		{0, inRun, apply("good.ndjson", "policy.yml"), "1 of 1 request done (1 applied)"},
		{0, env, apply("good.ndjson", "policy.yml"), "1 of 1 request done (1 applied)"},
		{0, inRun, apply("good.ndjson", "staged.yml"), "0 of 1 request would be done, 1 is done already, nothing was written (1 already there)"},
		{0, map[string]string{"AIRLOCK_SECRETS": "12345"}, apply("good.ndjson", "policy.yml", "--dry-run"), "warning: value 1 of AIRLOCK_SECRETS: a value of less than 6 bytes"},
		{0, env, apply("noop.ndjson", "policy.yml"), "1 of 1 request done (1 applied)"},
		{0, without, apply("good.ndjson", "staged.yml"), "Unchecked: without a token"},
		{0, env, apply("good.ndjson", "policy.yml", "--dry-run"), "Plan for Codertocat/Hello-World"},
		{1, env, apply("bad.ndjson", "policy.yml"), "rejected"},
		{1, env, apply("two.ndjson", "policy.yml"), "raise it with \"max:\""},
		{1, env, apply("push.ndjson", "policy.yml"), "failed (no-clone)"},
		{1, env, apply("labels.ndjson", "staged.yml"), "denied (kind-not-enabled)"},
		{2, without, apply("good.ndjson", "policy.yml"), "there is no token to write with"},
		{2, env, apply("good.ndjson", "policy.yml", "--plan", in("none/x")), "--plan: "},
		{2, env, apply("good.ndjson", "policy.yml", "--event", in("empty.json")), "event payload is empty"},
		{2, env, apply("good.ndjson", "policy.yml", "--proxy", "::"), "the proxy cannot be used"},
		{2, env, apply("good.ndjson", "policy.yml", "--ca-file", in("policy.yml")), "contains no certificate"},
		{2, env, apply("good.ndjson", "policy.yml", "--ca-file", in("none")), "--ca-file: "},
		{2, map[string]string{"GITHUB_TOKEN": secret, "GITHUB_API_URL": "nonsense"}, apply("good.ndjson", "policy.yml"), "API URL"},
		{2, map[string]string{"SSL_CERT_FILE": in("none")}, apply("good.ndjson", "staged.yml", "--trust-env"), "SSL_CERT_FILE: "},
		{3, map[string]string{"GH_TOKEN": "wrong", "GITHUB_API_URL": env["GITHUB_API_URL"]}, apply("good.ndjson", "policy.yml"), "does not accept the token"},
		{0, nil, []string{"validate", "--config", in("policy.yml"), in("good.ndjson")}, "1 accepted"},
		{0, nil, []string{"validate", "--config", in("empty.json")}, "it is empty, so every kind is planned and none is written"},
		{1, nil, []string{"validate", in("bad.ndjson")}, "required property"},
		{2, nil, []string{"validate", "--config", in("bad.yml")}, "airlock: " + in("bad.yml") + ":3:1: unknown key \"nonsense\""},
		{2, nil, []string{"validate", in("none")}, "does not exist"},
		{2, nil, []string{"validate"}, "nothing to validate"},
		{2, nil, []string{"schema", "nothing"}, "'airlock schema' lists them"},
		{2, nil, []string{"schema", "create-isue"}, "did you mean \"create-issue\"?"},
		{2, nil, []string{"frobnicate"}, "unknown command"},
		{2, nil, []string{"loop", "strt"}, "unknown command \"strt\"; did you mean \"start\"? ('airlock loop --help' lists the commands)"},
		{2, nil, []string{"completion", "bsh"}, "unknown command \"bsh\"; did you mean \"bash\"?"},
		{2, nil, []string{"help", "aply"}, "unknown command \"aply\"; did you mean \"apply\"?"},
		{2, nil, []string{"help", "version", "x"}, "unknown command \"x\": 'airlock version' has no commands"},
		{0, nil, []string{"help", "loop", "start"}, ""},
		{0, nil, []string{"loop"}, ""},
		{2, nil, []string{"man"}, "DIR is missing: write 'airlock man DIR' ('airlock man --help' has more)"},
		{2, nil, []string{"version", "x"}, "unexpected argument \"x\": write 'airlock version' ("},
		{2, nil, []string{"collect", "--frobnicate"}, "unknown flag"},
		{2, nil, []string{"collect", "--x\x1b[31m"}, "unknown flag: --x [31m"},
		{2, nil, []string{"collect", "--input", "x\x1b[31m\x9b"}, "x [31m does not exist"},
		{2, nil, []string{"loop", "decide"}, "an argument is missing: write 'airlock loop decide fixed|extend [N]|skip|abort|retry'"},
		{0, nil, []string{"version"}, ""},
		{0, nil, nil, ""},
	} {
		code, _, stderr := process{env: c.env}.run(t, c.args...)
		if code != c.code || !strings.Contains(stderr, c.want) {
			t.Errorf("airlock %v: exit code %d, want %d and %q:\n%s", c.args, code, c.code, c.want, stderr)
		}
		if strings.Contains(stderr, secret) {
			t.Errorf("airlock %v prints the token", c.args)
		}
	}
}

// broken is a standard output that fails.
type broken struct{ err error }

func (b broken) Write([]byte) (int, error) { return 0, b.err }

// TestResultsThatCannotBeWritten asserts that a failure to write to standard output is not reported
// as the user's mistake, and not at all if the reader of the results has gone.
func TestResultsThatCannotBeWritten(t *testing.T) {
	for _, args := range [][]string{{"schema"}, {"schema", "create-issue"}, {"instructions"}, {"version"}, {"sanitize"}, {"collect"}} {
		code, _, stderr := process{stdout: broken{errors.New("no space")}, stdin: strings.NewReader("x\n")}.run(t, args...)
		if code != 3 || !strings.Contains(stderr, "standard output: no space") {
			t.Errorf("airlock %v: exit code %d: %q", args, code, stderr)
		}
		code, _, stderr = process{stdout: broken{&os.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.EPIPE}}}.run(t, args...)
		if code != 3 || strings.Contains(stderr, "airlock:") {
			t.Errorf("airlock %v, with nobody who reads: exit code %d: %q", args, code, stderr)
		}
	}
}

// TestInterruptedBeforeAnything asserts that a command which is interrupted before it begins
// reports that nothing was applied.
func TestInterruptedBeforeAnything(t *testing.T) {
	_, env := github(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, args := range [][]string{{"collect"}, {"apply", "--event", event(t), "--dry-run"}} {
		var errs bytes.Buffer
		code := cli.Main(ctx, args, cli.Environment{Stdin: strings.NewReader(`{"type":"add-issue-comment","body":"x"}`), Stdout: io.Discard, Stderr: &errs,
			Getenv: func(name string) string { return env[name] }})
		if code != 3 || !strings.Contains(errs.String(), "interrupted before anything was applied; run it again") {
			t.Errorf("airlock %v: exit code %d\n%s", args, code, errs.String())
		}
	}
}
