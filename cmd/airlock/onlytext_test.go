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
)

// TestActionAgentTextIsOnlyText is rule R15: what an agent writes is no program for
// a shell, no format, no template, no pattern and no file's name.
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
	for _, text := range []string{res.stdout, res.stderr, ws.read(t, ws.summary)} {
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
	want := []string{"output", "summary", "workspace/.airlock/.gitignore", "workspace/.airlock/agent-output.json", "workspace/.airlock/plan.json",
		"workspace/.airlock/report.json", "workspace/.airlock/results.json", "workspace/lines.ndjson"}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}
