package cli_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

func TestSanitizeCommand(t *testing.T) {
	for _, c := range []struct {
		args            []string
		in, out, stderr string // stderr is a part of standard error; "" if nothing is printed there
		code            int
	}{
		{nil, "Hi @octocat", "Hi @&#8203;octocat", "cleaned: mentions octocat (1)", 0},
		{[]string{"--as", "body", "--allow-mention", "octocat"}, "Hi @octocat", "Hi @octocat", "", 0},
		{[]string{"--allow-closing-words"}, "Fixes #1", "Fixes #1", "", 0},
		{[]string{"--allow-domain", "logs.example"}, "https://logs.example/1", "https://logs.example/1", "", 0},
		{[]string{"--allow-domain", "not a host"}, "x", "", "airlock: allowed domain", 2},
		{[]string{"--as", "title"}, "a\nb", "a b", "", 0},
		{[]string{"--as", "plain"}, "`@octocat`", "`@\u200boctocat`", "mentions", 0},
		{[]string{"--as", "label"}, "bug\n", "bug", "", 0},
		{[]string{"--as", "label"}, strings.Repeat("x", 51), "", "at most 50", 2},
		{[]string{"--as", "poem"}, "x", "", "it must be body, title, label or plain", 2},
	} {
		code, out, errs := process{stdin: strings.NewReader(c.in)}.run(t, append([]string{"sanitize"}, c.args...)...)
		if code != c.code || strings.TrimSpace(out) != c.out || !strings.Contains(errs, c.stderr) || c.stderr == "" && errs != "" {
			t.Errorf("sanitize %v of %q: exit code %d, %q, %q", c.args, c.in, code, out, errs)
		}
	}
}

func TestSchemaCommand(t *testing.T) {
	_, list, _ := process{}.run(t, "schema")
	for _, spec := range safeoutput.Kinds() {
		if !strings.Contains(list, string(spec.Kind)) {
			t.Errorf("the list lacks %s", spec.Kind)
		}
		for _, name := range append([]string{string(spec.Kind)}, spec.Aliases...) {
			if code, out, errs := (process{}).run(t, "schema", name); code != 0 || !strings.HasPrefix(out, "{") {
				t.Errorf("schema %s: exit code %d, %s", name, code, errs)
			}
		}
	}
}

func TestVersionCommand(t *testing.T) {
	if code, out, _ := (process{}).run(t, "version"); code != 0 || !strings.HasPrefix(out, "airlock v1.2.3 go1.") {
		t.Errorf("exit code %d, %q", code, out)
	}
}

// TestInstructionsFollowTheConfiguration asserts that the prompt describes what
// the configuration allows, and that its examples use labels and numbers which are allowed.
func TestInstructionsFollowTheConfiguration(t *testing.T) {
	dir := files(t, map[string]string{"policy.yml": `
allowed-domains: [docs.example]
allowed-mentions: [octocat]
allow-closing-words: true
create-issue: {max: -1, allowed-labels: [triage, "area/*"]}
create-pull-request: {labels: [bot], blocked-labels: ["~*"]}
add-issue-comment: {max: 2, target: "*"}
add-issue-label: {target: 42, allowed: ["kind/*"], max: -1}
update-issue: {title: null, target: "*"}
push-to-branch: {target: "*"}
create-discussion: {category: general}
create-security-report: {category: agent}
`, "status.yml": "update-issue: {status: true}\n", "none.yml": "add-issue-label: {allowed: []}\n"})
	code, out, errs := process{}.run(t, "instructions", "--config", filepath.Join(dir, "policy.yml"), "--lines", "out/lines.ndjson")
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	for _, want := range []string{
		"the file `out/lines.ndjson`", "Mentions notify nobody but: octocat", "docs.example and their subdomains", "## create-issue\n", "Any number of lines.", "At most 2 lines.",
		"Allowed labels: triage, area/*.", "Labels that are not allowed: ~*.", "`issue_number` is required.", "It acts on #42 and nothing else.", "Fields that may be changed: `title`.",
		"The category is set; leave it out.", `"labels":["triage"]`, `"issue_number":123`,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the instructions lack %q", want)
		}
	}
	for _, not := range []string{"## create-pull-request-review-comment", "close no issue"} {
		if strings.Contains(out, not) {
			t.Errorf("the instructions contain %q", not)
		}
	}
	for name, want := range map[string]string{"status.yml": "Fields that may be changed: `status`.", "none.yml": "Allowed labels: none."} {
		if _, out, _ := (process{}).run(t, "instructions", "--config", filepath.Join(dir, name)); !strings.Contains(out, want) {
			t.Errorf("%s: the instructions lack %q:\n%s", name, want, out)
		}
	}
	if code, _, _ := (process{}).run(t, "instructions", "--config", filepath.Join(dir, "none")); code != 2 {
		t.Errorf("a configuration that is not there: exit code %d", code)
	}
}

// TestExamplesPass asserts that the examples of the instructions are accepted, and that settings
// which refuse the usual example get another one. If no example can pass, there is none.
func TestExamplesPass(t *testing.T) {
	_, out, _ := process{}.run(t, "instructions")
	var lines strings.Builder
	for _, block := range strings.Split(out, "```json\n")[1:] {
		example, _, _ := strings.Cut(block, "```")
		lines.WriteString(example)
	}
	res, err := intake.Collect(t.Context(), strings.NewReader(lines.String()), intake.Config{Strict: true})
	if err != nil || len(res.Accepted) != len(safeoutput.Kinds()) {
		t.Errorf("%v: %d of %d examples are accepted: %+v", err, len(res.Accepted), len(safeoutput.Kinds()), res.Rejected)
	}

	for _, test := range []struct{ config, want string }{
		{`add-issue-label: {max: 1}`, `"labels":["bug"]`},
		{`add-issue-label: {allowed: ["area/*"]}`, `"labels":["area/example"]`},
		{`add-issue-label: {allowed: ["*"], blocked: [bug]}`, `"labels":["needs-triage"]`},
		{`add-issue-label: {blocked: ["B*g"]}`, `"labels":["needs-triage"]`},
		{`add-issue-label: {allowed: [bug, triage], blocked: [BUG], target: "*"}`, `"labels":["triage"],"issue_number":123`},
		{`add-issue-label: {target: "*", issues: false}`, `"pull_request_number":123`},
		{`add-issue-label: {target: "*", pull-requests: false}`, ""},
		{`push-to-branch: {branch: bot, target: "*"}`, `"message":"Read an empty configuration"}`},
		{`add-issue-label: {allowed: []}`, ""},
		{`add-issue-label: {blocked: ["*"]}`, ""},
		{`create-issue: {allowed-labels: ["area/*"], blocked-labels: [bug]}`, `"labels":["area/example"]`},
		{`create-issue: {allowed-labels: []}`, `"title":`},
		{`update-issue:`, ""},
		{`update-issue: {title: true, target: "*"}`, `"title":"Crash`},
		{`create-pull-request: {allowed-branches: ["feature/**", "x"]}`, `"branch":"feature/example"`},
		{`create-pull-request: {allowed-branches: ["fix", "bot/*"], branch-prefix: bot/, draft: false}`, `"branch":"bot/example","labels":["bug"]}`},
		{`create-pull-request: {allowed-branches: []}`, ""},
		{`create-pull-request: {allowed-branches: [x], preserve-branch-name: true}`, `"branch":"x"`},
		{`create-discussion: {category: general}`, `"title":`},
	} {
		kind, _, _ := strings.Cut(test.config, ":")
		dir := files(t, map[string]string{"policy.yml": test.config + "\n"})
		_, out, errs := process{}.run(t, "instructions", "--config", filepath.Join(dir, "policy.yml"))
		_, section, _ := strings.Cut(out, "\n## "+kind+"\n")
		section, _, _ = strings.Cut(section, "\n## ")
		_, example, _ := strings.Cut(section, "```json\n")
		example, _, _ = strings.Cut(example, "```")
		if (example == "") != (test.want == "") || !strings.Contains(example, test.want) {
			t.Errorf("%s: the example is %q; want %q in it: %s", test.config, example, test.want, errs)
		}
		if example == "" {
			continue
		}
		p := process{stdin: strings.NewReader(example)}
		if code, _, errs := p.run(t, "validate", "--config", filepath.Join(dir, "policy.yml"), "--strict", "-"); code != 0 {
			t.Errorf("%s: %s is refused:\n%s", test.config, example, errs)
		}
	}
}

func TestCollectShowsAPart(t *testing.T) {
	code, out, errs := process{stdin: strings.NewReader(strings.Repeat("no JSON @octocat \x1b[31m\n\n", 60))}.run(t, "collect")
	if code != 1 || strings.Count(errs, "\n") != 52 || !strings.Contains(errs, "… and 10 more; --report lists them all") || strings.Contains(errs, "\x1b") {
		t.Errorf("exit code %d:\n%s", code, errs)
	}
	if strings.Count(out, "\n") < 60 {
		t.Errorf("the document lists only:\n%s", out)
	}
}

// TestInputOfTheEnvironment asserts that the variables of gh-aw's workflows are read: each names a
// file, and those for the document and the configuration may have its text instead.
func TestInputOfTheEnvironment(t *testing.T) {
	dir := files(t, map[string]string{"lines.ndjson": `{"type":"noop","message":"file"}`, "policy.yml": "noop:\n"})
	lines := filepath.Join(dir, "lines.ndjson")
	for _, name := range []string{"GH_AW_SAFE_OUTPUTS", "GITHUB_AW_SAFE_OUTPUTS"} {
		if code, out, _ := (process{env: map[string]string{name: lines}}).run(t, "collect"); code != 0 || !strings.Contains(out, "file") {
			t.Errorf("collect with %s: exit code %d, %s", name, code, out)
		}
	}
	for _, name := range []string{"GH_AW_AGENT_OUTPUT", "GITHUB_AW_AGENT_OUTPUT"} {
		for _, value := range []string{lines, ` {"items":[{"type":"noop","message":"file"}]}`} {
			p := process{env: map[string]string{name: value, "GITHUB_EVENT_PATH": event(t), "GH_AW_SAFE_OUTPUTS_CONFIG": "{\"noop\": {}}"}}
			if code, out, errs := p.run(t, "apply", "--dry-run"); code != 0 || !strings.Contains(out, `"line": 1`) || strings.Contains(out, "unconfigured") {
				t.Errorf("apply with %s=%s: exit code %d, %s%s", name, value, code, out, errs)
			}
		}
	}
	if code, _, errs := (process{env: map[string]string{"GH_AW_SAFE_OUTPUTS_CONFIG": filepath.Join(dir, "none.yml")}}).run(t, "collect"); code != 2 || !strings.Contains(errs, "GH_AW_SAFE_OUTPUTS_CONFIG") {
		t.Errorf("exit code %d, %s", code, errs)
	}
	if _, _, errs := (process{env: map[string]string{"GH_AW_SAFE_OUTPUTS_CONFIG": "{\"noop\": {}, \"runs-on\": \"x\"}"}}).run(t, "collect"); !strings.Contains(errs, "warning: ") {
		t.Errorf("a key without effect gives no warning: %s", errs)
	}
}

// TestFlagsOfOneServer asserts that each of the two servers of 'airlock mcp' refuses the flags of
// the other one. Without this, whoever forgets --safe-outputs would serve an agent the tools of an
// orchestrator.
func TestFlagsOfOneServer(t *testing.T) {
	dir := files(t, map[string]string{"policy.yml": "noop:\n"})
	lines := filepath.Join(dir, "lines.ndjson")
	for _, args := range [][]string{{"--output", lines}, {"--strict"}, {"--event", event(t)}, {"--safe-outputs", "--output", lines, "--server", "http://127.0.0.1:1"}, {"--safe-outputs", "--output", lines, "--store", lines}} {
		args = append([]string{"mcp", "--config", filepath.Join(dir, "policy.yml")}, args...)
		if code, out, errs := (process{}).run(t, args...); code != 2 || out != "" || !strings.Contains(errs, "--safe-outputs") {
			t.Errorf("%q: exit code %d, %s%s", args, code, out, errs)
		}
	}
}
