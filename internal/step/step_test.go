package step_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/step"
)

// job is what the runner gives a step that collects: a workspace, an event, the files for outputs
// and summary, and no token.
type job struct {
	t         *testing.T
	workspace string
	variables map[string]string
	log       bytes.Buffer
}

func newJob(t *testing.T, lines string, inputs map[string]string) *job {
	t.Helper()
	dir := t.TempDir()
	event, err := filepath.Abs("../../testdata/events/pull_request.opened.json")
	if err != nil {
		t.Fatal(err)
	}
	j := &job{t: t, workspace: filepath.Join(dir, "workspace"), variables: map[string]string{
		"GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": "pull_request", "GITHUB_EVENT_PATH": event,
		"GITHUB_REPOSITORY": "Codertocat/Hello-World", "GITHUB_REPOSITORY_ID": "186853002", "GITHUB_RUN_ID": "17459853211", "GITHUB_RUN_ATTEMPT": "1",
		"GITHUB_WORKFLOW": "Agents", "GITHUB_JOB": "gate", "GITHUB_ACTION": "airlock",
		"GITHUB_OUTPUT": filepath.Join(dir, "output"), "GITHUB_STEP_SUMMARY": filepath.Join(dir, "summary"),
		"INPUT_MODE": "collect", "INPUT_OUTPUT-FILE": "lines.ndjson",
	}}
	j.variables["GITHUB_WORKSPACE"] = j.workspace
	for name, value := range inputs {
		j.variables["INPUT_"+strings.ToUpper(name)] = value
	}
	for path, text := range map[string]string{filepath.Join(j.workspace, "lines.ndjson"): lines, j.variables["GITHUB_OUTPUT"]: "", j.variables["GITHUB_STEP_SUMMARY"]: ""} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return j
}

// run runs the step. It returns the exit code, and asserts that the error contains nothing else:
// the log and the summary have the reason.
func (j *job) run() int {
	j.t.Helper()
	var environ []string
	for name, value := range j.variables {
		environ = append(environ, name+"="+value)
	}
	err := step.Run(j.t.Context(), step.Deps{Stdout: &j.log, Getenv: func(name string) string { return j.variables[name] }, Environ: environ, Version: "1.2.3"})
	if err == nil {
		return exitcode.Clean
	}
	exit, ok := errors.AsType[*exitcode.Error](err)
	if !ok || exit.Err != nil {
		j.t.Fatalf("the error is not an exit code alone: %v", err)
	}
	return exit.Code
}

func (j *job) read(path string) string {
	j.t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		j.t.Fatal(err)
	}
	return string(raw)
}

// hasOutput reports whether the step has set an output to a value.
func (j *job) hasOutput(name, value string) bool {
	lines := strings.Split(j.read(j.variables["GITHUB_OUTPUT"]), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, name+"<<") && lines[i+1] == value {
			return true
		}
	}
	return false
}

const twoLines = `{"type": "add_comment", "body": "Looks good, @octocat."}
{"type": "create-issue", "title": "No body"}
`

func TestRunCollects(t *testing.T) {
	j := newJob(t, twoLines, nil)
	if code := j.run(); code != exitcode.Clean {
		t.Fatalf("exit code %d\n%s", code, &j.log)
	}
	collected := j.read(filepath.Join(j.workspace, ".airlock/agent-output.json"))
	if !strings.Contains(collected, `"add-issue-comment"`) || strings.Contains(collected, "@octocat") {
		t.Errorf("agent output:\n%s", collected)
	}
	// The outputs of other modes are set too, so that expressions in workflows have a value.
	for name, value := range map[string]string{"agent-output": ".airlock/agent-output.json", "report": ".airlock/report.json", "rejected": "1", "verdict": "", "loop-status": ""} {
		if !j.hasOutput(name, value) {
			t.Errorf("output %s is not %q", name, value)
		}
	}
	if j.read(filepath.Join(j.workspace, ".airlock/.gitignore")) != "*\n" {
		t.Error("a later step could commit the step's files")
	}
	if summary := j.read(j.variables["GITHUB_STEP_SUMMARY"]); !strings.Contains(summary, "1 of 2 lines accepted") {
		t.Errorf("summary:\n%s", summary)
	}
}

// TestExitCodes asserts the exit codes of steps that do not succeed, that the summary has the
// reason, and that the log has one annotation with it, except where lines were only rejected.
func TestExitCodes(t *testing.T) {
	for name, c := range map[string]struct {
		inputs    map[string]string
		variables map[string]string
		code      int
		want      string
	}{
		"rejected lines":        {map[string]string{"fail-on": "rejected"}, nil, exitcode.Findings, "1 of 2 lines accepted"},
		"a missing file":        {map[string]string{"output-file": "nowhere.ndjson"}, nil, exitcode.Usage, "nowhere.ndjson does not exist"},
		"a file outside":        {map[string]string{"output-file": "../output"}, nil, exitcode.Usage, "outside"},
		"an unknown mode":       {map[string]string{"mode": "colect"}, nil, exitcode.Usage, `did you mean "collect"?`},
		"findings to report":    {map[string]string{"findings": "findings.json"}, nil, exitcode.Usage, "input findings: mode collect does not use it; use it with mode apply"},
		"a verdict to report":   {map[string]string{"verdict": "verdict.json"}, nil, exitcode.Usage, "input verdict: mode collect does not use it; use it with mode apply"},
		"checked output":        {map[string]string{"agent-output": "lines.ndjson"}, nil, exitcode.Usage, "mode collect reads the lines that the agent wrote"},
		"an indented policy":    {map[string]string{"config": "\n  create-issue:\n    maxx: 1\n  add-comment:\n"}, nil, exitcode.Usage, "config:3:5: unknown key \"maxx\" below create-issue"},
		"no workspace":          {nil, map[string]string{"GITHUB_WORKSPACE": filepath.Join(t.TempDir(), "nowhere")}, exitcode.Usage, "the workspace: "},
		"nowhere for outputs":   {nil, map[string]string{"GITHUB_OUTPUT": ""}, exitcode.Failed, "GITHUB_OUTPUT is not set"},
		"a damaged environment": {nil, map[string]string{"GITHUB_RUN_ID": "x"}, exitcode.Usage, "GITHUB_RUN_ID"},
	} {
		t.Run(name, func(t *testing.T) {
			j := newJob(t, twoLines, c.inputs)
			for variable, value := range c.variables {
				j.variables[variable] = value
			}
			if code := j.run(); code != c.code {
				t.Errorf("exit code %d, want %d\n%s", code, c.code, &j.log)
			}
			if summary := j.read(j.variables["GITHUB_STEP_SUMMARY"]); !strings.Contains(summary, c.want) {
				t.Errorf("the summary lacks %q:\n%s", c.want, summary)
			}
			if n := strings.Count(j.log.String(), "::error title=Airlock stopped::"); c.code != exitcode.Findings && n != 1 {
				t.Errorf("the reason is in the log %d times:\n%s", n, &j.log)
			}
		})
	}
}

func TestImageIsOneOfTwo(t *testing.T) {
	var image step.Image
	for name, valid := range map[string]bool{"checks": true, "gate": true, "": false, "Gate": false, "other": false} {
		if err := image.Set(name); (err == nil) != valid {
			t.Errorf("%q: %v", name, err)
		}
	}
}
