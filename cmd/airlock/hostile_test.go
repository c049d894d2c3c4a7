package main_test

import (
	"encoding/json"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/shorttest"
)

// hostileTexts pose as workflow commands, in each way in which a runner may take
// one from a log.
func hostileTexts() []string {
	texts := []string{
		"::set-env name=PATH::/pwned", "::add-path::/pwned", "::set-output name=applied::pwned", "::save-state name=a::pwned", "::add-mask::pwned",
		"::stop-commands::pwned", "::pwned::", "::echo::on", "::error file=pwned.go,line=1::pwned", "::group::pwned", "::endgroup::",
		"::add-matcher::pwned.json", "::debug::pwned",
		"##[error]pwned", "##[command]pwned", "##[set-env name=PATH]/pwned", "##[add-path]/pwned",
	}
	var out []string
	for _, text := range texts {
		out = append(out, text, "  "+text, "\t"+text, "x"+text, "x\n"+text+"\ny", "x\r"+text+"\ry", "x\r\n"+text, "\u00a0"+text, "\u2028"+text, "\u0085"+text, "\u200b"+text, "\ufeff"+text,
			"\x1b[0m"+text, "x\x0b"+text, "x%0A"+text, "%0D"+text, text+"\n")
	}
	return out
}

// hostileLines returns lines that contain the texts in each place of an item that a log might show.
func hostileLines(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	enc := json.NewEncoder(&b)
	for _, text := range hostileTexts() {
		for _, item := range []map[string]any{
			{"type": "create-issue", "title": text, "body": text, "labels": []string{text}},
			{"type": "add-issue-comment", "body": text},
			{"type": "add-issue-label", "labels": []string{text}},
			{"type": "missing-tool", "tool": text, "reason": text, "alternatives": text},
			{"type": "create-security-report", "file": text, "line": 1, "severity": "error", "message": text, "category": text},
			{"type": "create-pull-request-review-comment", "path": text, "line": 1, "body": text},
			{"type": "create-discussion", "title": text, "body": text, "category": text},
			{"type": "create-pull-request", "title": text, "body": text, "branch": text},
			{"type": "noop", "message": text},
			{"type": text, "body": text}, // an unknown kind
			{"type": "create-issue", text: text},
			{"type": "update-issue", "issue_number": text, "title": text, "status": text},
		} {
			if err := enc.Encode(item); err != nil {
				t.Fatal(err)
			}
		}
		b.WriteString(text + "\n") // no JSON at all
	}
	return b.String()
}

// hostileConfig allows most kinds, those with MAX up to the limit. Where GitHub is written to, the
// limit has to be small: at most one object a second is created there.
func hostileConfig(limit string) string {
	return strings.ReplaceAll(`
create-issue: {max: MAX}
add-issue-comment: {max: MAX}
add-issue-label: {max: MAX}
update-issue: {max: MAX, title: null, status: null}
create-pull-request-review-comment: {max: MAX}
create-discussion: {max: MAX}
missing-tool:
create-security-report:
noop: {max: 400}
`, "MAX", limit)
}

// TestActionLogIsNotObeyed tests rule R9: no line of the log is a command of the
// agent's, whatever the agent wrote.
func TestActionLogIsNotObeyed(t *testing.T) {
	t.Parallel()
	for _, c := range shorttest.First(1, []struct{ name, config, staged, level string }{
		{"planned", hostileConfig("300"), "true", "debug"},
		{"not configured", "", "false", "info"},
		{"denied", "noop:\n", "false", "debug"},
		{"only errors", "", "false", "error"},
	}) {
		t.Run(c.name, func(t *testing.T) {
			s := server(t, pullRequestFixture(), githubtest.Options{})
			ws := newWorkspace(t, map[string]string{"lines.ndjson": hostileLines(t)})
			res := run(t, ws.dir, ws.env(workflowEnv(s, "pull_request", "pull_request.opened.json"), map[string]string{
				"output-file": "lines.ndjson", "config": c.config, "staged": c.staged, "log-level": c.level,
			}), "", "action")
			if res.code > 1 || !strings.Contains(res.stdout, "pwned") { // 1: in the plan, a discussion has a category that does not exist
				t.Errorf("exit code %d, or the log shows nothing of the agent's:\n%s%s", res.code, res.stdout, res.stderr)
			}
			assertOwnCommands(t, res.stdout, secret)
			assertOwnCommands(t, res.stderr, secret)
		})
	}
}

// TestActionAgentTextIsOnlyText tests rule R15: a text of an agent is never taken for a program of
// a shell, a format, a template, a pattern or a file's name.
func TestActionAgentTextIsOnlyText(t *testing.T) {
	t.Parallel()
	var lines strings.Builder
	enc := json.NewEncoder(&lines)
	for _, text := range []string{
		"$(touch canary)", "`touch canary`", "; touch canary #", "| touch canary", "&& touch canary", "\n touch canary\n", "--output=canary", "-o canary",
		"%s%d%v%n%!x", "{{.Token}} {{printf `x`}}", "${{ github.token }}", "(a+)+$ [", "../../canary", "canary", "/canary", ".git/hooks/post-commit", "refs/heads/main:canary", "ext::sh -c touch% canary",
	} {
		for _, item := range []map[string]any{
			{"type": "create-issue", "title": text, "body": text, "labels": []string{text}},
			{"type": "add-issue-comment", "body": text},
			{"type": "create-pull-request-review-comment", "path": text, "line": 1, "body": text},
			{"type": "create-pull-request", "title": text, "body": text, "branch": text},
			{"type": "push-to-branch", "message": text},
			{"type": "create-discussion", "title": text, "body": text, "category": text},
			{"type": "create-security-report", "file": text, "line": 1, "severity": "error", "message": text, "category": text, "ruleIdSuffix": text},
			{"type": "missing-tool", "tool": text, "reason": text, "alternatives": text},
			{"type": text, text: text},
		} {
			if err := enc.Encode(item); err != nil {
				t.Fatal(err)
			}
		}
	}
	s := server(t, pullRequestFixture(), githubtest.Options{})
	ws := newWorkspace(t, map[string]string{"lines.ndjson": lines.String()})
	res := run(t, ws.dir, ws.env(workflowEnv(s, "pull_request", "pull_request.opened.json"), map[string]string{
		"output-file": "lines.ndjson", "staged": "true", "log-level": "debug", "config": hostileConfig("300"),
	}), "", "action")
	if res.code > 1 {
		t.Errorf("exit code %d\n%s", res.code, res.stdout)
	}
	for _, text := range []string{res.stdout, res.stderr, readFile(t, ws.summary)} {
		for _, bad := range []string{"%!s", "%!d", "%!v", "%!n", "MISSING"} {
			if strings.Contains(text, bad) {
				t.Errorf("a text was taken for a format: %q in\n%s", bad, text)
			}
		}
	}
	var got []string
	base := filepath.Dir(ws.dir)
	if err := filepath.WalkDir(base, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(base, path)
			got = append(got, filepath.ToSlash(rel))
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	want := []string{"output", "summary", "workspace/.airlock/.gitignore", "workspace/.airlock/agent-output.json", "workspace/.airlock/plan.html",
		"workspace/.airlock/plan.json", "workspace/.airlock/report.json", "workspace/.airlock/results.json", "workspace/lines.ndjson"}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}
