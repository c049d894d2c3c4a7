package scaffold_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/rhysd/actionlint"
	"go.yaml.in/yaml/v3"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/scaffold"
)

var released = scaffold.Release{Version: "v1.2.3", Commit: strings.Repeat("1a", 20)}

// releases returns the versions of binaries, by how they were built.
func releases() map[string]scaffold.Release {
	return map[string]scaffold.Release{
		"released": released, "by go install": {Version: "v1.2.3"}, "from a clone": {Version: "v0.0.0-20261123004600-0123456789ab", Commit: strings.Repeat("2b", 20)}, "unknown": {Version: "devel"},
	}
}

// write runs init in a directory, and returns its files.
func write(t *testing.T, root string, cfg scaffold.Config) (scaffold.Report, map[string]string) {
	t.Helper()
	report, err := tryWrite(t, root, cfg)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range report.Files {
		raw, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(f.Path)))
		if err != nil {
			t.Fatal(err)
		}
		files[f.Path] = string(raw)
	}
	return report, files
}

func tryWrite(t *testing.T, root string, cfg scaffold.Config) (scaffold.Report, error) {
	t.Helper()
	dir, err := action.OpenDir(root)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	return scaffold.Write(dir, cfg)
}

// TestChecksFitTheProjects compares the settings of the checks with where the projects are.
func TestChecksFitTheProjects(t *testing.T) {
	t.Parallel()
	const always = "checks:\n  informational: [code-review]\n"
	tests := map[string]struct {
		projects     []string
		config, note string
	}{
		"at the top": {[]string{"."}, always, ""},
		"below it":   {[]string{"a b", "api"}, always + "  roots:\n  - \"a b\"\n  - \"api\"\n", ""},
		"many":       {strings.Fields("a b c d e f"), always, "in 6 directories"},
		"none":       {nil, always + "  reviews-only: true\n", "the two reviews alone"},
	}
	for name, tt := range tests {
		report, files := write(t, t.TempDir(), scaffold.Config{Answers: scaffold.Answers{CheckPulls: true}, Projects: tt.projects})
		text := files[".github/workflows/airlock-checks.yml"]
		var configs string // of both jobs
		for line := range strings.Lines(text) {
			if line, ok := strings.CutPrefix(line, strings.Repeat(" ", 12)); ok {
				configs += line
			}
		}
		if diff := cmp.Diff(tt.config+tt.config, configs); diff != "" || lint(t, text) != "[]" {
			t.Errorf("%s: %s\n%s", name, lint(t, text), diff)
		}
		if notes := strings.Join(report.Notes, "\n"); !strings.Contains(notes, tt.note) {
			t.Errorf("%s: the notes are %q", name, notes)
		}
	}
	if _, err := tryWrite(t, t.TempDir(), scaffold.Config{Answers: scaffold.Answers{CheckPulls: true}, Projects: []string{"${{ github.token }}"}}); err == nil || !strings.Contains(err.Error(), "rename it") {
		t.Errorf("an expression as a directory: %v", err)
	}
}

// states returns what became of each file, as "state path".
func states(r scaffold.Report) (list []string) {
	for _, f := range r.Files {
		list = append(list, string(f.State)+" "+f.Path)
	}
	return list
}

// lint returns what actionlint says of a workflow.
func lint(t *testing.T, text string) string {
	t.Helper()
	linter, err := actionlint.NewLinter(&bytes.Buffer{}, &actionlint.LinterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	problems, err := linter.Lint("workflow.yml", []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(problems)
}

// workflow is what the tests look at.
type workflow struct {
	Jobs map[string]struct {
		Permissions map[string]string
		Steps       []struct{ Uses, Run string }
	}
}

// TestEveryChoiceIsSound writes each preset, and each kind, for each agent: actionlint finds
// nothing in the workflows, config reads the policy, and the permissions are exactly its own.
func TestEveryChoiceIsSound(t *testing.T) {
	t.Parallel()
	choices := [][]string{{"triage", "review", "report", "code"}, {"review", "code"}}
	for _, name := range scaffold.ChoiceNames() {
		choices = append(choices, []string{name})
	}
	for name, release := range releases() {
		for _, agent := range scaffold.AgentNames() {
			for _, allow := range choices {
				_, files := write(t, t.TempDir(), scaffold.Config{Answers: scaffold.Answers{Allow: allow, Agent: agent, CheckPulls: true}, Release: release})
				where := fmt.Sprint(name, " ", agent, " ", allow)
				cfg, err := config.Parse("policy.yml", []byte(files[scaffold.PolicyFile]))
				if err != nil || len(cfg.Warnings) > 0 {
					t.Errorf("%s: %v %v", where, err, cfg.Warnings)
				}
				for path, text := range files {
					if !strings.HasSuffix(path, ".yml") || path == scaffold.PolicyFile {
						continue
					}
					if problems := lint(t, text); problems != "[]" {
						t.Errorf("%s: %s: %s\n%s", where, path, problems, text)
					}
					checkJobs(t, where+" "+path, text, cfg)
				}
			}
		}
	}
}

// TestOtherLabelsWaitForNobody asserts that a run is in a group of its own if the label that started
// it is not the agent's. It also asserts that a comment warns the owner if, and only if, everybody who
// opens an issue starts the agent.
func TestOtherLabelsWaitForNobody(t *testing.T) {
	t.Parallel()
	const numbers = "github.event.issue.number || github.event.pull_request.number || github.run_id }}\n"
	for _, tt := range []struct {
		allow  []string
		group  string
		opened bool
	}{
		{[]string{"triage"}, "  group: airlock-${{ " + numbers, true},
		{[]string{"code"}, "  group: airlock-${{ github.event.action == 'labeled' && github.event.label.name != 'agent' && github.run_id || " + numbers, false},
		{[]string{"triage", "code"}, "  group: airlock-${{ github.event.action == 'labeled' && github.event.label.name != 'agent' && github.run_id || " + numbers, true},
	} {
		_, files := write(t, t.TempDir(), scaffold.Config{Answers: scaffold.Answers{Allow: tt.allow, Agent: "other"}, Release: released})
		text := files[".github/workflows/airlock.yml"]
		if opened := strings.Contains(text, "# everybody who opens an issue starts the agent"); !strings.Contains(text, tt.group) || opened != tt.opened {
			t.Errorf("%v: warned of: %v; want the group\n%s\n%s", tt.allow, opened, tt.group, text)
		}
	}
}

// checkJobs asserts that each job can only read, except for the gate, which has the policy's
// permissions, and the report of the checks. These two run no scripts. It also asserts that each
// action of GitHub's is pinned by its commit.
func checkJobs(t *testing.T, where, text string, cfg config.SafeOutputs) {
	t.Helper()
	var w workflow
	if err := yaml.Unmarshal([]byte(text), &w); err != nil {
		t.Fatal(err)
	}
	if len(w.Jobs) != 2 {
		t.Errorf("%s: %d jobs", where, len(w.Jobs))
	}
	for id, job := range w.Jobs {
		want := map[string]string{"contents": "read"}
		if id == "gate" {
			for _, name := range cfg.Permissions() {
				want[name] = "write"
			}
		}
		if id == "report" {
			want = map[string]string{"contents": "read", "checks": "write", "pull-requests": "write", "security-events": "write"}
		}
		if diff := cmp.Diff(want, job.Permissions); diff != "" {
			t.Errorf("%s: permissions of %s (-want +got):\n%s", where, id, diff)
		}
		for _, step := range job.Steps {
			if (id == "gate" || id == "report") && step.Run != "" {
				t.Errorf("%s: the job %s runs %q", where, id, step.Run)
			}
			if strings.HasPrefix(step.Uses, "actions/") && !regexp.MustCompile(`@[0-9a-f]{40}$`).MatchString(step.Uses) {
				t.Errorf("%s: %s is not pinned", where, step.Uses)
			}
		}
	}
}

// TestActionsAreThoseOfOurOwnWorkflows compares the versions of actions that are written with the
// versions in this repository's own workflows, which are kept up to date.
func TestActionsAreThoseOfOurOwnWorkflows(t *testing.T) {
	t.Parallel()
	own := ""
	paths, err := filepath.Glob("../../.github/workflows/*.yml")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		own += string(raw)
	}
	seen := 0
	for _, release := range releases() {
		_, files := write(t, t.TempDir(), scaffold.Config{Answers: scaffold.Answers{Allow: []string{"code"}, Agent: "codex", CheckPulls: true}, Release: release})
		for _, text := range files {
			for _, m := range regexp.MustCompile(`uses: (actions/.*)`).FindAllStringSubmatch(text, -1) {
				seen++
				if !strings.Contains(own, "uses: "+m[1]+"\n") {
					t.Errorf("our own workflows do not use %s", m[1])
				}
			}
		}
	}
	if seen < 20 {
		t.Errorf("only %d actions were seen", seen)
	}
}

// TestVersionsOfActions asserts which version of the actions and of the program is written for each
// kind of binary, and that there is a note if the actions are not pinned by a release's commit.
func TestVersionsOfActions(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct{ uses, install, note, schema string }{
		"released":      {"agent-airlock/airlock/actions/gate@" + released.Commit + " # v1.2.3\n", "actions/setup@" + released.Commit + " # v1.2.3\n        with:\n          version: v1.2.3\n", "", "/v1.2.3/"},
		"by go install": {"agent-airlock/airlock/actions/gate@v1.2.3\n", "actions/setup@v1.2.3\n", "does not know the commit of v1.2.3", "/v1.2.3/"},
		"from a clone":  {"actions/gate@" + strings.Repeat("2b", 20) + " # not a release\n", "go install github.com/agent-airlock/airlock/cmd/airlock@" + strings.Repeat("2b", 20) + "\n", "is not a release", "/" + strings.Repeat("2b", 20) + "/"},
		"unknown":       {"actions/gate@v1\n", "cmd/airlock@latest\n", "does not know which version it is", "/main/"},
	} {
		report, files := write(t, t.TempDir(), scaffold.Config{Answers: scaffold.Answers{Allow: []string{"triage"}, Agent: "other"}, Release: releases()[name]})
		text := files[".github/workflows/airlock.yml"]
		if !strings.Contains(text, want.uses) || !strings.Contains(text, want.install) {
			t.Errorf("%s: no %q or %q in\n%s", name, want.uses, want.install, text)
		}
		if notes := strings.Join(report.Notes, "\n"); (want.note == "") != (notes == "") || !strings.Contains(notes, want.note) {
			t.Errorf("%s: notes %q, want %q", name, notes, want.note)
		}
		if !strings.HasPrefix(files[scaffold.PolicyFile], "# yaml-language-server: $schema=https://raw.githubusercontent.com/agent-airlock/airlock"+want.schema) {
			t.Errorf("%s: %.200s", name, files[scaffold.PolicyFile])
		}
	}
}

// TestToolsAreAsDocumented compares the agents' settings with the examples that the
// documentation tells people to copy, but for the paths.
func TestToolsAreAsDocumented(t *testing.T) {
	t.Parallel()
	for agent, example := range map[string]string{"claude-code": "claude-code.mcp.json", "copilot-cli": "copilot-cli.mcp-config.json", "gemini-cli": "gemini-cli.settings.json", "opencode": "opencode.json"} {
		raw, err := os.ReadFile("../../examples/mcp/" + example)
		if err != nil {
			t.Fatal(err)
		}
		want := strings.NewReplacer("policy.yml", ".airlock/policy.yml", "lines.ndjson", ".airlock/out/lines.ndjson").Replace(string(raw))
		_, files := write(t, t.TempDir(), scaffold.Config{Answers: scaffold.Answers{Allow: []string{"triage"}, Agent: agent}, Release: released})
		var wanted, got any
		if err := json.Unmarshal([]byte(want), &wanted); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(files[".airlock/mcp.json"]), &got); err != nil {
			t.Errorf("%s: %v", agent, err)
		}
		if diff := cmp.Diff(wanted, got); diff != "" {
			t.Errorf("%s (-example +written):\n%s", agent, diff)
		}
	}
}

// TestSecondRun runs init again, at first without a change, then after people have edited files.
func TestSecondRun(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	path := func(name string) string { return filepath.Join(root, filepath.FromSlash(name)) }
	edit := func(name string, change func(string) string) {
		t.Helper()
		raw, err := os.ReadFile(path(name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path(name), []byte(change(string(raw))), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const person = "# Our rules\r\n\r\nBe kind.\r\n"
	if err := os.WriteFile(path("CLAUDE.md"), []byte(person), 0o644); err != nil {
		t.Fatal(err)
	}
	cfg := scaffold.Config{Answers: scaffold.Answers{Allow: []string{"triage"}, Agent: "claude-code", CheckPulls: true}, Release: released}
	all := func(state string) (list []string) {
		for _, name := range []string{".airlock/.gitignore", ".airlock/mcp.json", ".airlock/policy.yml", ".airlock/task.md", ".github/workflows/airlock-checks.yml", ".github/workflows/airlock.yml", "CLAUDE.md"} {
			list = append(list, state+" "+name)
		}
		return list
	}
	first, files := write(t, root, cfg)
	want := all("created")
	want[6] = "updated CLAUDE.md"
	if diff := cmp.Diff(want, states(first)); diff != "" {
		t.Errorf("first: %s", diff)
	}
	if text := files["CLAUDE.md"]; !strings.HasPrefix(text, person+"\r\n<!-- airlock:begin -->\r\n") || strings.Count(text, "\n") != strings.Count(text, "\r\n") {
		t.Errorf("a person's file became %q", text)
	}
	second, _ := write(t, root, cfg)
	if diff := cmp.Diff(all("unchanged"), states(second)); diff != "" {
		t.Errorf("second: %s", diff)
	}

	// The policy is the owner's: the workflow follows it.
	edit(scaffold.PolicyFile, func(s string) string { return s + "create-discussion:\n" })
	edit("CLAUDE.md", func(s string) string {
		return "Above.\r\n" + strings.Replace(s, "no token", "a token", 1) + "Below.\r\n"
	})
	edit(".airlock/task.md", func(string) string { return "Count the bugs.\n" })
	third, files := write(t, root, cfg)
	want = all("unchanged")
	want[2], want[3], want[5], want[6] = "yours .airlock/policy.yml", "yours .airlock/task.md", "updated .github/workflows/airlock.yml", "updated CLAUDE.md"
	if diff := cmp.Diff(want, states(third)); diff != "" {
		t.Errorf("third: %s", diff)
	}
	if !strings.Contains(files[".github/workflows/airlock.yml"], "discussions: write") || files[".airlock/task.md"] != "Count the bugs.\n" {
		t.Errorf("%s", files[".github/workflows/airlock.yml"])
	}
	if text := files["CLAUDE.md"]; !strings.HasPrefix(text, "Above.\r\n"+person) || !strings.HasSuffix(text, "Below.\r\n") || strings.Contains(text, "a token") {
		t.Errorf("CLAUDE.md became %q", text)
	}

	// A workflow that a person edited is left, with the difference.
	edit(".github/workflows/airlock.yml", func(s string) string { return strings.Replace(s, "timeout-minutes: 30", "timeout-minutes: 90", 1) })
	cfg.Answers.CheckPulls = false
	fourth, files := write(t, root, cfg)
	i := slices.IndexFunc(fourth.Files, func(r scaffold.Result) bool { return r.State == scaffold.Edited })
	if i < 0 || !strings.Contains(fourth.Files[i].Difference, "\n-    timeout-minutes: 90\n+    timeout-minutes: 30\n") || !strings.Contains(files[".github/workflows/airlock.yml"], "90") {
		t.Errorf("fourth: %+v", fourth.Files)
	}
	if !strings.Contains(strings.Join(fourth.Notes, "\n"), ".github/workflows/airlock-checks.yml is of an earlier run and no longer needed") {
		t.Errorf("notes: %q", fourth.Notes)
	}
	again, _ := write(t, root, cfg)
	if diff := cmp.Diff(states(fourth), states(again)); diff != "" {
		t.Errorf("a file that was not written counts as edited: %s", diff)
	}
	cfg.Force = true
	if _, files = write(t, root, cfg); strings.Contains(files[".github/workflows/airlock.yml"], "90") {
		t.Error("--force did not overwrite the workflow")
	}
}

// TestNothingIsWrittenThroughLinks asserts that a link in the place of a file or a directory, and
// anything else that cannot be read or changed, is refused before the first file is written.
func TestNothingIsWrittenThroughLinks(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	for name, c := range map[string]struct {
		prepare func(root string) error
		want    string
	}{
		"a linked directory": {func(root string) error { return os.Symlink(outside, filepath.Join(root, ".airlock")) }, "is a link"},
		"a linked .github":   {func(root string) error { return os.Symlink(outside, filepath.Join(root, ".github")) }, "is a link"},
		"a linked file": {func(root string) error {
			return os.Symlink(filepath.Join(outside, "x"), filepath.Join(root, "AGENTS.md"))
		}, "is a link"},
		"a directory":       {func(root string) error { return os.Mkdir(filepath.Join(root, "AGENTS.md"), 0o755) }, "is a directory"},
		"a file in between": {func(root string) error { return os.WriteFile(filepath.Join(root, ".github"), nil, 0o644) }, "is not a directory"},
		"half a section": {func(root string) error {
			return os.WriteFile(filepath.Join(root, "AGENTS.md"), []byte("<!-- airlock:begin -->\n"), 0o644)
		}, "no clear beginning and end"},
		"UTF-16": {func(root string) error {
			return os.WriteFile(filepath.Join(root, "AGENTS.md"), []byte("\xff\xfe#\x00 \x00M\x00\n\x00"), 0o644)
		}, "AGENTS.md: it is not UTF-8"},
		"a broken record": {func(root string) error {
			if err := os.Mkdir(filepath.Join(root, ".airlock"), 0o755); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(root, ".airlock", "setup.json"), []byte("{"), 0o644)
		}, "cannot be read"},
	} {
		root := t.TempDir()
		if err := c.prepare(root); err != nil {
			t.Fatal(err)
		}
		_, err := tryWrite(t, root, scaffold.Config{Answers: scaffold.Answers{Allow: []string{"code"}, Agent: "other", CheckPulls: true}, Release: released})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if left, err := os.ReadDir(outside); err != nil || len(left) != 0 {
			t.Errorf("%s: written outside: %v %v", name, left, err)
		}
		if _, err := os.Stat(filepath.Join(root, ".airlock", "policy.yml")); err == nil {
			t.Errorf("%s: something was written before the error", name)
		}
	}
}

// TestNamesThatNoWorkflowCanContain asserts that a directory is refused if YAML would change its
// name or GitHub would replace it.
func TestNamesThatNoWorkflowCanContain(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a\nb", "\x1b[31m", "\xff", "${{ x }}"} {
		_, err := tryWrite(t, t.TempDir(), scaffold.Config{Answers: scaffold.Answers{CheckPulls: true}, Release: released, Projects: []string{"app", name}})
		if err == nil || !strings.Contains(err.Error(), ": rename it") || strings.ContainsAny(err.Error(), "\n\x1b") || !utf8.ValidString(err.Error()) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestPolicyOfAPersonIsRead asserts that no workflow is written for a policy that cannot be read.
func TestPolicyOfAPersonIsRead(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, ".airlock"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, scaffold.PolicyFile), []byte("create-isue:\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := tryWrite(t, root, scaffold.Config{Answers: scaffold.Answers{Allow: []string{"triage"}, Agent: "other"}, Release: released})
	if err == nil || !strings.Contains(err.Error(), `.airlock/policy.yml:1:1: `) || !strings.Contains(err.Error(), `"create-issue"`) {
		t.Errorf("%v", err)
	}
}

// TestOtherGates asserts that agentic workflows, which have a gate of their own, are named where an
// agent is set up.
func TestOtherGates(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	workflows := filepath.Join(root, ".github", "workflows")
	if err := os.MkdirAll(workflows, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"triage.md", "triage.lock.yml", "README.md", "pnpm.lock.yml"} {
		if err := os.WriteFile(filepath.Join(workflows, name), []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		allow []string
		noted bool
	}{{[]string{"triage"}, true}, {nil, false}} {
		report, _ := write(t, root, scaffold.Config{Answers: scaffold.Answers{Allow: c.allow, Agent: "other", CheckPulls: true}, Release: released})
		notes := strings.Join(report.Notes, "\n")
		if strings.Contains(notes, `a gate of their own: ".github/workflows/triage.md". Where`) != c.noted {
			t.Errorf("%q: %s", c.allow, notes)
		}
	}
}

// TestAnswers asserts that answers that cannot be chosen are refused, with the reason.
func TestAnswers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		answers scaffold.Answers
		want    string
	}{
		{scaffold.Answers{Allow: []string{"traige"}, Agent: "other"}, `agents cannot be allowed "traige"; did you mean "triage"?` + "\nchoose from triage, review, report, code, create-issue"},
		{scaffold.Answers{Allow: []string{"noop"}, Agent: "other"}, "noop need not be allowed: it changes nothing"},
		{scaffold.Answers{Allow: []string{"triage", "nothing"}, Agent: "other"}, `give "nothing" alone`},
		{scaffold.Answers{Allow: []string{"x\x1b[31m\n"}, Agent: "other"}, "agents cannot be allowed \"x"},
		{scaffold.Answers{Allow: []string{"triage"}, Agent: "claude"}, `there is no agent "claude" here`},
		{scaffold.Answers{Allow: []string{"triage"}}, `there is no agent ""`},
		{scaffold.Answers{}, "there is nothing to set up"},
		{scaffold.Answers{CheckPulls: true}, ""},
		{scaffold.Answers{Allow: []string{"add_comment", "triage"}, Agent: "codex"}, ""},
	} {
		err := c.answers.Validate()
		if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) || strings.ContainsRune(err.Error(), '\x1b')) {
			t.Errorf("%+v: %v, want %q", c.answers, err, c.want)
		}
	}
}
