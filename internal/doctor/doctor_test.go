package doctor_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/doctor"
	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/scaffold"
	"github.com/agent-airlock/airlock/internal/schema"
	"github.com/agent-airlock/airlock/internal/shorttest"
	"github.com/agent-airlock/airlock/internal/token"
)

func TestMain(m *testing.M) {
	shorttest.TempInMemory()
	os.Exit(m.Run())
}

const workflowFile = ".github/workflows/airlock.yml"

// sound is a workflow in which nothing is to be found.
const sound = `name: Agent
on:
  issues:
    types: [opened]
permissions: {}
concurrency:
  group: airlock-${{ github.event.issue.number }}
jobs:
  agent:
    runs-on: ubuntu-24.04
    timeout-minutes: 30
    permissions:
      contents: read
    steps:
      - uses: actions/checkout@fbc6f3992d24b796d5a048ff273f7fcc4a7b6c09 # v5.1.0
        with:
          persist-credentials: false
      - run: ./agent
        env:
          MODEL_KEY: ${{ secrets.MODEL_KEY }}
      - uses: actions/upload-artifact@ea165f8d65b6e75b540449e92b4886f43607fa02 # v4.6.2
        with:
          name: agent
          path: lines.ndjson
  gate:
    needs: agent
    runs-on: ubuntu-24.04
    timeout-minutes: 10
    permissions:
      contents: read
      issues: write
    steps:
      - uses: actions/download-artifact@634f93cb2916e3fdff6788551b99b062d0335ce0 # v5.0.0
        with:
          name: agent
      - uses: agent-airlock/airlock/actions/gate@fbc6f3992d24b796d5a048ff273f7fcc4a7b6c09 # v1.2.3
        with:
          output-file: lines.ndjson
          config-file: policy.yml
`

const soundPolicy = "add-issue-comment:\nadd-issue-label:\n  allowed: [bug]\n"

// checks is a workflow for pull requests, with two jobs, in which nothing is to be found.
const checks = `on: pull_request
permissions: {}
concurrency: checks-${{ github.ref }}
jobs:
  check:
    runs-on: ubuntu-24.04
    timeout-minutes: 30
    permissions: {contents: read}
    steps:
      - uses: actions/checkout@fbc6f3992d24b796d5a048ff273f7fcc4a7b6c09
        with: {fetch-depth: 0, persist-credentials: false}
      - uses: agent-airlock/airlock@fbc6f3992d24b796d5a048ff273f7fcc4a7b6c09
        with:
          mode: check
      - uses: actions/upload-artifact@ea165f8d65b6e75b540449e92b4886f43607fa02
        with: {name: findings, path: .airlock/findings.json, include-hidden-files: true}
  report:
    needs: check
    runs-on: ubuntu-24.04
    timeout-minutes: 10
    permissions: {contents: read, checks: write, pull-requests: write, security-events: write}
    steps:
      - uses: actions/download-artifact@634f93cb2916e3fdff6788551b99b062d0335ce0
        with: {name: findings}
      - uses: agent-airlock/airlock/actions/gate@fbc6f3992d24b796d5a048ff273f7fcc4a7b6c09
        with: {mode: apply, findings: findings.json}
`

// examine returns the report on a repository with the files.
func examine(t *testing.T, files map[string]string) doctor.Report {
	t.Helper()
	e, err := tryExamine(t, files)
	if err != nil {
		t.Fatal(err)
	}
	return e.Report()
}

func tryExamine(t *testing.T, files map[string]string) (*doctor.Examination, error) {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	dir, err := action.OpenDir(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dir.Close() })
	return doctor.Examine(dir)
}

// found returns the findings, each as "severity rule file:line".
func found(r doctor.Report) (list []string) {
	for _, f := range r.Findings {
		list = append(list, fmt.Sprintf("%s %s %s:%d", f.Severity, f.Rule, f.File, f.Line))
	}
	return list
}

// TestEachRule breaks one thing at a time in workflows that are sound.
func TestEachRule(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text     string // sound, or checks
		old, new string
		want     []string // severity, rule, and what the line begins with
		says     string
	}{
		{sound, "", "", nil, ""},
		{checks, "", "", nil, ""},
		{sound, "issues: write", "issues: read", []string{"problem permissions-missing: permissions:"}, "lacks issues: write"},
		{sound, "      contents: read\n      issues: write", "      issues: write", []string{"problem permissions-missing: permissions:"}, "lacks contents: read"},
		{sound, "issues: write", "issues: write\n      packages: write", []string{"advice permissions-excess: permissions:"}, "has packages: write"},
		{sound, "    permissions:\n      contents: read\n      issues: write", "    permissions: write-all", []string{"advice permissions-excess: permissions: write-all"}, "id-token: write"},
		{sound, "    permissions:\n      contents: read\n    steps", "    permissions:\n      contents: write\n    steps", []string{"problem reader-can-write: permissions:"}, "the job agent has contents: write"},
		{strings.Replace(sound, "permissions: {}\n", "", 1), "    permissions:\n      contents: read\n    steps", "    steps", []string{"problem permissions-undeclared: agent:"}, "does not declare its permissions"},
		{sound, "          persist-credentials: false", "          fetch-depth: 0", []string{"problem credentials-left: - uses: actions/checkout@fbc6f3992d24b79"}, ""},
		{sound, "path: lines.ndjson", "path: .out/lines.ndjson", []string{"problem hidden-files: path: .out/lines.ndjson"}, "include-hidden-files"},
		{sound, "          name: agent\n      - uses: agent-airlock", "          name: other\n      - uses: agent-airlock", []string{"problem no-handover: name: other"}, `uploads the artifact "other"`},
		{sound, "    needs: agent\n", "", []string{"problem no-handover: name: agent"}, "uploads the artifact"},
		{sound, "gate@fbc6f3992d24b796d5a048ff273f7fcc4a7b6c09 # v1.2.3", "gate@v1", []string{"advice not-pinned: - uses: agent-airlock/airlock/actions/ga"}, "gate@v1 is not named by its commit"},
		{sound, "agent-airlock/airlock/actions/gate@fbc6f3992d24b796d5a048ff273f7fcc4a7b6c09 # v1.2.3", "Agent-Airlock/Airlock/actions/gate@v1", []string{"advice not-pinned: - uses: Agent-Airlock/Airlock/actions/ga"}, ""},
		{sound, "gate@fbc6f3992d24b796d5a048ff273f7fcc4a7b6c09 # v1.2.3", "setup@main", []string{"advice not-pinned: - uses: agent-airlock/airlock/actions/se"}, ""},
		{sound, "uses: agent-airlock/airlock/actions/gate@fbc6f3992d24b796d5a048ff273f7fcc4a7b6c09 # v1.2.3", "uses: docker://ghcr.io/agent-airlock/airlock-gate@sha256:00", []string{"problem image-alone: - uses: docker://ghcr.io/agent-airlock/a"}, "without its action.yml"},
		{sound, "/actions/gate@fbc6f3992d24b796d5a048ff273f7fcc4a7b6c09 # v1.2.3\n        with:\n          output-file: lines.ndjson\n          config-file: policy.yml\n",
			"@fbc6f3992d24b796d5a048ff273f7fcc4a7b6c09 # v1.2.3\n        with:\n          output-file: lines.ndjson\n          config: '{add-issue-comment: {}, acceptance: {}}'\n", nil, ""}, // mode all verifies no criteria
		{sound, "config-file: policy.yml", "config-file: polcy.yml", []string{"problem policy-missing: config-file: polcy.yml"}, `"polcy.yml"`},
		{sound, "config-file: policy.yml", "config: \"create-isue:\"", []string{`problem policy-invalid: config: "create-isue:"`}, `"create-issue"`},
		{sound, "config-file: policy.yml", "config-file: policy.yml\n          outputfile: x", []string{"problem input: outputfile: x"}, `"output-file"`},
		{sound, "config-file: policy.yml", "config-file: policy.yml\n          fail-on: sometimes", []string{"problem input: fail-on: sometimes"}, "expected one of error"},
		{checks, "          mode: check\n", "          mode: check\n          request: '{}'\n", []string{"problem input: request: '{}'"}, "mode check does not use it"},
		{checks, "          mode: check\n", "          mode: check\n          request: ${{ inputs.request }}\n", nil, ""}, // it may be empty
		{checks, "          mode: check\n", "          mode: ${{ inputs.mode }}\n          request: '{}'\n", nil, ""},
		{sound, "config-file: policy.yml", "config-file: policy.yml\n          trust-env: true", []string{"problem policy-from-environment: trust-env: true"}, ""},
		{sound, "config-file: policy.yml", "config: ${{ github.event.issue.body }}", []string{"problem text-in-input: config: ${{ github.event.issue.body }}"}, "github.event.issue.body"},
		{sound, "run: ./agent", "run: ./agent '${{ github.event.issue.title }}'", []string{"problem text-in-script: - run: ./agent '${{ github.event.issue.t"}, "github.event.issue.title"},
		{sound, "    timeout-minutes: 30\n", "", []string{"advice no-timeout: agent:"}, ""},
		{sound, "concurrency:\n  group: airlock-${{ github.event.issue.number }}\n", "", []string{"advice no-concurrency: name: Agent"}, ""},
		{sound, "      - uses: actions/download-artifact", "      - run: npm ci\n      - uses: actions/download-artifact", []string{"advice gate-runs-more: - run: npm ci"}, "executes a script"},
		{sound, "jobs:\n", "jobs:\n  bad: [\n", []string{"problem syntax: jobs:"}, ""},
		{checks, "{fetch-depth: 0, persist-credentials: false}", "{fetch-depth: 0}", []string{"problem credentials-left: - uses: actions/checkout@fbc6f3992d24b79"}, "checks refuse to start"},
		{checks, "permissions: {contents: read}\n    steps", "permissions: {contents: read, checks: write}\n    steps", []string{"problem reader-can-write: permissions: {contents: read, checks: wr"}, ""},
		{checks, "          mode: check\n", "          mode: check\n        env: {NPM_TOKEN: x}\n", []string{"problem secret-beside-code: env: {NPM_TOKEN: x}"}, "NPM_TOKEN"},
		{checks, "          mode: check\n", "          mode: check\n          secrets: ${{ secrets.KEY }}\n", []string{"problem secret-beside-code: secrets: ${{ secrets.KEY }}"}, "the input secrets"},
		{checks, "agent-airlock/airlock@fbc6f3992d24b796d5a048ff273f7fcc4a7b6c09", "agent-airlock/airlock/actions/gate@fbc6f3992d24b796d5a048ff273f7fcc4a7b6c09", []string{"problem wrong-image: mode: check"}, "actions/gate cannot do mode: check"},
		{checks, "agent-airlock/airlock/actions/gate@fbc", "agent-airlock/airlock@fbc", []string{"advice large-image: - uses: agent-airlock/airlock@fbc6f3992d"}, ""},
		{checks, "{mode: apply, findings: findings.json}", "{mode: apply, findings: findings.json, config: \"checks: {report: {security-report: false}}\"}", []string{"advice permissions-excess: permissions: {contents: read, checks: wr"}, "security-events: write"},
		{checks, "      - uses: actions/download-artifact@634f93cb2916e3fdff6788551b99b062d0335ce0\n        with: {name: findings}\n", "", []string{"problem no-handover: with: {mode: apply, findings: findings.j"}, "downloads no artifact"},
		{checks, "        with: {mode: apply, findings: findings.json}", "        with: {mode: apply, findings: findings.json}\n      - run: airlock check", []string{"problem token-beside-code: - run: airlock check"}, "holds the token that writes"},
		{checks, "        with: {mode: apply, findings: findings.json}", "        with: {mode: apply, findings: findings.json}\n      - run: airlock apply --dry-run && airlock check", []string{"problem token-beside-code: - run: airlock apply --dry-run && airloc"}, "holds the token that writes"},
		{checks, "        with: {mode: apply, findings: findings.json}", "        with: {mode: apply, findings: findings.json}\n      - run: |\n          airlock apply --dry-run\n          bin/airlock check", []string{"problem token-beside-code: - run: |"}, "holds the token that writes"},
		{sound, "    permissions:\n      contents: read\n    steps:", "    permissions: {contents: read, issues: write}\n    steps:\n      - run: airlock apply --strict; airlock apply --dry-run", []string{"problem reader-can-write: permissions: {contents: read, issues: wr", "advice gate-runs-more: - run: ./agent"}, ""},
		{sound, "run: ./agent", "run: airlock loop status && airlock loop decide --issue 7 retry", nil, ""},
		{sound, "run: ./agent", "run: airlock loop start --issue 7", []string{"problem secret-beside-code: MODEL_KEY: ${{ secrets.MODEL_KEY }}"}, "MODEL_KEY"},
		{sound, "run: ./agent", "run: airlock loop --issue 7 start", []string{"problem secret-beside-code: MODEL_KEY: ${{ secrets.MODEL_KEY }}"}, "MODEL_KEY"},
		{sound, "run: ./agent", "run: airlock --issue 7 loop start", []string{"problem secret-beside-code: MODEL_KEY: ${{ secrets.MODEL_KEY }}"}, "MODEL_KEY"},
		{sound, "run: ./agent", "run: airlock loop $WHAT --issue 7", []string{"problem secret-beside-code: MODEL_KEY: ${{ secrets.MODEL_KEY }}"}, "MODEL_KEY"},
		{checks, "        with: {mode: apply, findings: findings.json}", "        with: {mode: apply, findings: findings.json}\n      - run: airlock --dir . check", []string{"problem token-beside-code: - run: airlock --dir . check"}, "holds the token that writes"},
		{sound, "          config-file: policy.yml\n", "          config-file: policy.yml\n  again:\n    needs: gate\n    runs-on: ubuntu-24.04\n    timeout-minutes: 10\n    permissions: {contents: read, issues: write}\n    steps:\n      - uses: actions/download-artifact@634f93cb2916e3fdff6788551b99b062d0335ce0\n      - uses: agent-airlock/airlock/actions/gate@fbc6f3992d24b796d5a048ff273f7fcc4a7b6c09\n        with: {output-file: more.ndjson, config-file: policy.yml}\n", nil, ""},
		{strings.Replace(sound, "config-file: policy.yml\n", "config-file: policy.yml\n          mode: ${{ vars.MODE }}\n", 1), "          mode: ${{ vars.MODE }}\n", "          mode: ${{ vars.MODE }}\n  again:\n    needs: gate\n    runs-on: ubuntu-24.04\n    timeout-minutes: 10\n    permissions: {contents: read, issues: write}\n    steps:\n      - uses: actions/download-artifact@634f93cb2916e3fdff6788551b99b062d0335ce0\n      - uses: agent-airlock/airlock/actions/gate@fbc6f3992d24b796d5a048ff273f7fcc4a7b6c09\n        with: {output-file: more.ndjson, config-file: policy.yml}\n", []string{"problem reader-can-write: permissions:"}, "the job gate has issues: write"},
		{strings.Replace(sound, "config-file: policy.yml\n", "config-file: policy.yml\n      - run: npm test && airlock apply --strict\n", 1), "&& airlock apply --strict\n", "&& airlock apply --strict\n  again:\n    needs: gate\n    runs-on: ubuntu-24.04\n    timeout-minutes: 10\n    permissions: {contents: read, issues: write}\n    steps:\n      - uses: actions/download-artifact@634f93cb2916e3fdff6788551b99b062d0335ce0\n      - uses: agent-airlock/airlock/actions/gate@fbc6f3992d24b796d5a048ff273f7fcc4a7b6c09\n        with: {output-file: more.ndjson, config-file: policy.yml}\n", []string{"problem reader-can-write: permissions:"}, "the job gate has issues: write"},
		{strings.Replace(sound, "config-file: policy.yml\n", "config-file: policy.yml\n      - run: airlock apply --strict\n", 1), "run: airlock apply --strict\n", "run: airlock apply --strict\n  again:\n    needs: gate\n    runs-on: ubuntu-24.04\n    timeout-minutes: 10\n    permissions: {contents: read, issues: write}\n    steps:\n      - uses: actions/download-artifact@634f93cb2916e3fdff6788551b99b062d0335ce0\n      - uses: agent-airlock/airlock/actions/gate@fbc6f3992d24b796d5a048ff273f7fcc4a7b6c09\n        with: {output-file: more.ndjson, config-file: policy.yml}\n", nil, ""},
		{sound, "config-file: policy.yml", "config: \"add-issue-label: {allowed: [x], blocked: [\\\"*\\\"]}\"", []string{"advice policy-warning: config: \"add-issue-label: {allowed: [x],"}, "every item is denied"},
		{sound, "- run: ./agent", "- run: |\n          airlock apply >plan 2>&1 --dry-run\n          airlock apply \\\n            --dry-run; ./agent", nil, ""},
	} {
		if !strings.Contains(c.text, c.old) {
			t.Fatalf("%q is not in the workflow", c.old)
		}
		report := examine(t, map[string]string{workflowFile: strings.Replace(c.text, c.old, c.new, 1), "policy.yml": soundPolicy})
		lines := append([]string{""}, strings.Split(strings.Replace(c.text, c.old, c.new, 1), "\n")...)
		checkSchema(t, report)
		var got []string
		all := ""
		for _, f := range report.Findings {
			got = append(got, fmt.Sprintf("%s %s: %.40s", f.Severity, f.Rule, strings.TrimSpace(lines[f.Line])))
			all += f.What + "\n" + f.Why + "\n" + f.Mend + "\n"
			if f.File != workflowFile || f.What == "" || f.Why == "" || f.Mend == "" {
				t.Errorf("%q: an incomplete finding: %+v", c.new, f)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" || !strings.Contains(all, c.says) {
			t.Errorf("%q instead of %q (-want +got):\n%s%s, want %q", c.new, c.old, diff, all, c.says)
		}
	}
}

// checkSchema validates a report, as JSON, against the published schema.
func checkSchema(t *testing.T, report doctor.Report) {
	t.Helper()
	raw, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	published, ok := schema.Published("doctor.json", "")
	if !ok {
		t.Fatal("there is no schema of the report")
	}
	if violations, err := published.Validate(raw); err != nil || len(violations) > 0 {
		t.Errorf("%v %+v\n%s", err, violations, raw)
	}
}

// TestForeignCodeWithSecrets asserts that a checkout of a stranger's commit is found in a run that
// has the repository's secrets.
func TestForeignCodeWithSecrets(t *testing.T) {
	t.Parallel()
	for _, event := range []string{"pull_request_target", "workflow_run"} {
		text := strings.Replace(checks, "on: pull_request", "on:\n  "+event+":\n    types: [completed]", 1)
		text = strings.Replace(text, "{fetch-depth: 0, persist", "{ref: '${{ github.event.pull_request.head.sha }}', fetch-depth: 0, persist", 1)
		got := found(examine(t, map[string]string{workflowFile: text}))
		if !slices.Contains(got, "problem foreign-code-with-secrets "+workflowFile+":13") {
			t.Errorf("%s: %q", event, got)
		}
	}
}

// TestWhatInitWritesIsSound examines each choice of init, for each agent.
func TestWhatInitWritesIsSound(t *testing.T) {
	t.Parallel()
	for _, agent := range scaffold.AgentNames() {
		for _, allow := range append([][]string{{"triage", "review", "report", "code"}}, singles(scaffold.ChoiceNames())...) {
			dir, err := action.OpenDir(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			_, err = scaffold.Write(dir, scaffold.Config{Answers: scaffold.Answers{Allow: allow, Agent: agent, CheckPulls: true}, Release: scaffold.Release{Version: "v1.2.3", Commit: strings.Repeat("1a", 20)}})
			if err != nil {
				t.Fatal(err)
			}
			e, err := doctor.Examine(dir)
			if err != nil {
				t.Fatal(err)
			}
			if r := e.Report(); len(r.Findings) != 0 || len(r.Workflows) != 2 {
				t.Errorf("%s %v: %d workflows, %+v", agent, allow, len(r.Workflows), r.Findings)
			}
			_ = dir.Close()
		}
	}
}

func singles(names []string) (lists [][]string) {
	for _, n := range names {
		lists = append(lists, []string{n})
	}
	return lists
}

// TestHostileFiles asserts that hostile workflows are read to the end: nothing panics, hangs,
// follows a link or is missing from the report without a word.
func TestHostileFiles(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"empty jobs": "on: push\njobs:\n  airlock:\n", "null steps": "on: push\njobs:\n  a:\n    steps:\n      - \n      - uses: agent-airlock/airlock/actions/gate@v1\n",
		"a list": "- airlock\n", "not YAML": "airlock: [\x00", "anchors": "on: push\njobs: &j\n  a: *j # airlock\n",
		"deep": "airlock: " + strings.Repeat("[", 5000), "bomb": "airlock: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e,*e,*e,*e]\n",
		"needs itself": strings.Replace(sound, "needs: agent", "needs: gate", 1), "expressions": strings.Replace(sound, "run: ./agent", "run: \""+strings.Repeat("${{ github.sha }}", 2000)+"${{ github.head_ref }}\"", 1),
		"escapes": strings.Replace(sound, "  agent:\n", "  \"a\\e[31m\":\n", 1),
	} {
		started := time.Now()
		report := examine(t, map[string]string{workflowFile: text, "policy.yml": soundPolicy})
		if len(report.Findings) == 0 {
			t.Errorf("%s: nothing was found", name)
		}
		for _, f := range report.Findings {
			if strings.ContainsAny(f.What+f.Why, "\x1b\x00") {
				t.Errorf("%s: %q", name, f.What+f.Why)
			}
		}
		if took := time.Since(started); took > time.Minute {
			t.Errorf("%s took %v", name, took)
		}
	}

	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, ".github"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(t.TempDir(), filepath.Join(root, ".github", "workflows")); err != nil {
		t.Fatal(err)
	}
	dir, err := action.OpenDir(root)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	if _, err := doctor.Examine(dir); err == nil || !strings.Contains(err.Error(), "is a link") {
		t.Errorf("a linked directory: %v", err)
	}
	if got := found(examine(t, map[string]string{"README.md": "airlock"})); !slices.Equal(got, []string{"problem no-workflow :0"}) {
		t.Errorf("no workflow: %q", got)
	}
	if got := found(examine(t, map[string]string{workflowFile: "# airlock\n" + strings.Repeat("#", 2<<20)})); len(got) != 1 || !strings.HasPrefix(got[0], "unknown unreadable") {
		t.Errorf("a large workflow: %q", got)
	}
}

// TestSettingsOnGitHub compares the set-up with a server's settings.
func TestSettingsOnGitHub(t *testing.T) {
	t.Parallel()
	const secret = "ghs_TestSecretThatMustNeverShow"
	policy := "push-to-branch:\n  branch: main\ncreate-pull-request:\n  labels: [robot]\ncreate-issue:\ncreate-discussion:\n  category: Ideas\ncreate-security-report:\nadd-issue-label:\n  allowed: [bug, \"area/*\"]\n"
	text := strings.Replace(sound, "issues: write", "issues: write\n      pull-requests: write\n      discussions: write\n      security-events: write", 1)
	text = strings.Replace(text, "contents: read\n      issues", "contents: write\n      issues", 1)
	for name, c := range map[string]struct {
		change func(*githubtest.Fixture)
		want   []string
	}{
		"all fits": {func(*githubtest.Fixture) {}, nil},
		"nothing fits": {func(f *githubtest.Fixture) {
			f.Repo.WorkflowToken, f.Repo.NoPullsByActions, f.Repo.NoIssues, f.Repo.NoDiscussions, f.Repo.NoAdvancedSecurity = "write", true, true, true, true
			f.Repo.Archived, f.Repo.Secrets, f.Labels = true, nil, nil
		}, []string{"problem archived :0", "advice code-scanning-off :0", "advice default-write :0", "problem discussions-off :0", "problem issues-off :0", "problem no-pulls-by-workflows :0",
			"problem secret-missing .github/workflows/airlock.yml:0", "advice label-missing policy.yml:0", "advice label-missing policy.yml:0"}},
		"protected branches":   {func(f *githubtest.Fixture) { f.Repo.Protected, f.Repo.Ruled = []string{"main"}, []string{"ruled"} }, []string{"advice protected-branch policy.yml:0"}},
		"branches of rulesets": {func(f *githubtest.Fixture) { f.Repo.Ruled = []string{"main"} }, []string{"problem ruleset policy.yml:0"}},
		"another category":     {func(f *githubtest.Fixture) { f.Categories = []githubtest.Category{{Name: "General", Slug: "general"}} }, []string{"problem category-missing policy.yml:0"}},
		"a token that sees little": {func(f *githubtest.Fixture) {
			f.Tokens = []githubtest.Token{{Secret: secret, Permissions: map[string]string{"metadata": "read", "contents": "read"}}}
		}, []string{"unknown not-visible :0", "unknown not-visible :0", "unknown not-visible :0"}},
	} {
		f := githubtest.Fixture{Repo: githubtest.Repo{Owner: "octo", Name: "repo", Secrets: []string{"MODEL_KEY"}}, Labels: []githubtest.Label{{Name: "Bug"}, {Name: "robot"}},
			Categories: []githubtest.Category{{Name: "Ideas", Slug: "ideas"}}, Tokens: []githubtest.Token{{Secret: secret}}}
		c.change(&f)
		git := githubtest.NewGit(t)
		git.Commit("main", map[string]string{"README.md": "hello\n"}, "Begin")
		s := githubtest.New(t, f, githubtest.Options{Git: git})
		client, err := githubapi.New(githubapi.Options{Transport: s.Transport(), APIURL: s.APIURL(), Token: token.New(secret, s.APIURL()), Pace: githubapi.Unpaced()})
		if err != nil {
			t.Fatal(err)
		}
		e, err := tryExamine(t, map[string]string{workflowFile: text, "policy.yml": policy})
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Ask(t.Context(), client, githubapi.Repo{Owner: "octo", Name: "repo"}); err != nil {
			t.Fatal(err)
		}
		report := e.Report()
		checkSchema(t, report)
		if diff := cmp.Diff(c.want, found(report)); diff != "" || report.Repository != "octo/repo" {
			t.Errorf("%s (-want +got):\n%s%+v", name, diff, report.Findings)
		}
		if shown := fmt.Sprintf("%+v", report); strings.Contains(shown, secret) {
			t.Errorf("%s: the report has the token: %s", name, shown)
		}
		if n := len(s.Writes()); n != 0 {
			t.Errorf("%s: %d writes", name, n)
		}
	}
}

// deaf is a GitHub that fails to answer requests for the rules of branches whose names begin with
// airlock/.
type deaf struct{ doctor.GitHub }

func (d deaf) BranchRules(ctx context.Context, r githubapi.Repo, name string) ([]string, error) {
	if strings.HasPrefix(name, "airlock/") {
		return nil, errors.New("no answer")
	}
	return d.GitHub.BranchRules(ctx, r, name)
}

// TestUnreadableBranch asserts that a branch whose rules cannot be read is reported, and that the
// branches after it are examined.
func TestUnreadableBranch(t *testing.T) {
	t.Parallel()
	f := githubtest.Fixture{Repo: githubtest.Repo{Owner: "octo", Name: "repo", Secrets: []string{"MODEL_KEY"}, Ruled: []string{"main"}}}
	git := githubtest.NewGit(t)
	git.Commit("main", map[string]string{"README.md": "hello\n"}, "Begin")
	s := githubtest.New(t, f, githubtest.Options{Git: git})
	client, err := githubapi.New(githubapi.Options{Transport: s.Transport(), APIURL: s.APIURL(), Token: token.New("t", s.APIURL()), Pace: githubapi.Unpaced()})
	if err != nil {
		t.Fatal(err)
	}
	e, err := tryExamine(t, map[string]string{workflowFile: sound, "policy.yml": "push-to-branch:\n  branch: main\ncreate-pull-request:\n"})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Ask(t.Context(), deaf{client}, githubapi.Repo{Owner: "octo", Name: "repo"}); err != nil {
		t.Fatal(err)
	}
	report := e.Report()
	for _, want := range []string{"unknown not-visible :0", "problem ruleset policy.yml:0"} {
		if !slices.Contains(found(report), want) {
			t.Errorf("%q is not among %+v", want, report.Findings)
		}
	}
}
