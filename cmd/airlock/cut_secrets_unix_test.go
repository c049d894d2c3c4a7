//go:build unix

package main_test

import (
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// cutSecret is a secret. The tests print it at places where a limit cuts it, each time at another
// of its characters.
const cutSecret = "s3cr3t-Val_0123456789abcdefghijKLMNOPQRS"

// maskedPart matches what is shown instead of the secret: stars, which Markdown escapes, after the
// text that moves the secret to a limit.
var maskedPart = regexp.MustCompile(`x\\{0,4}\*\\{0,4}\*`)

// assertNoPart asserts that a text contains neither the first six characters of the secret nor the
// last six, and that it contains a masked secret.
func assertNoPart(t *testing.T, where, text string) {
	t.Helper()
	for _, part := range []string{cutSecret[:6], cutSecret[len(cutSecret)-6:]} {
		if i := strings.Index(text, part); i >= 0 {
			t.Errorf("%s shows %q", where, text[max(0, i-60):min(len(text), i+60)])
		}
	}
	if !maskedPart.MatchString(text) {
		t.Errorf("%s has nothing that is masked:\n%s", where, text[:min(len(text), 2000)])
	}
}

// padded returns texts that a limit in characters cuts, one for each number of the secret's
// characters that the limit can leave, from none to all of them.
func padded(limit int, format string) []string {
	var out []string
	for before := range len(cutSecret) + 1 {
		out = append(out, fmt.Sprintf(format, strings.Repeat("x", limit-before)+cutSecret+"y"))
	}
	return out
}

// TestNoPartOfASecretIsInWhatIsRefused asserts that a refusal, which quotes and shortens the
// refused text, shows no part of a secret, neither on the terminal nor in the report of collect.
func TestNoPartOfASecretIsInWhatIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	lines := slices.Concat(padded(80, `{"type":"add_comment","item_number":"%s","body":"b"}`), padded(80, `{"type":"%s","body":"b"}`),
		padded(60, `{"type":"add_comment","item_number":1,"body":"b","%s":1}`))
	var criteria []any
	for _, id := range padded(80, "%s") {
		one := map[string]any{"id": id, "description": "d", "validation_hint": "a.md"}
		criteria = append(criteria, one, one)
	}
	write(t, dir, map[string]string{
		"lines.ndjson": strings.Join(lines, "\n") + "\n",
		"request.json": jsonText(t, map[string]any{"task_id": "t", "validation_type": "code", "acceptance_criteria": criteria}),
		"input.json":   jsonText(t, map[string]any{"working_directory": dir, "changed_files": padded(80, "../%s")}),
		"policy.yml":   strings.Join(padded(60, "%s: 1"), "\n") + "\n",
	})
	git(t, dir, "init", "--quiet")
	for name, args := range map[string][]string{
		"collect":  {"collect", "--input", "lines.ndjson", "--report", "report.json", "--strict"},
		"validate": {"validate", "lines.ndjson"},
		"verify":   {"verify", "--request", "request.json", "--dir", "."},
		"dispatch": {"verify", "--dispatch", "request.json", "--dir", "."},
		"loop":     {"loop", "start", "--issue", "7", "--repo", "o/r", "--dir", ".", "--request", "request.json", "--store", "store"},
		"check":    {"check", "--input", "input.json"},
		"argument": {"collect", padded(60, "%s")[30]},
		"unknown":  {padded(60, "%s")[30]},
		"policy":   {"collect", "--input", "lines.ndjson", "--config", "policy.yml"},
	} {
		t.Run(name, func(t *testing.T) {
			res := run(t, dir, []string{"AIRLOCK_SECRETS=" + cutSecret}, "", args...)
			if res.code == 0 || res.code == 3 {
				t.Errorf("exit code %d", res.code)
			}
			shown := res.stdout + res.stderr
			if name == "collect" {
				shown += readFile(t, filepath.Join(dir, "report.json"))
			}
			assertNoPart(t, name, shown)
		})
	}
}

// leakingChecks are checks in which a test and a linter print the secret so that each limit cuts
// it, at one place after the other.
const leakingChecks = "checks:\n  format-command: 'true'\n  build-command: 'true'\n  lint-command: sh lint.sh\n  test-command: sh test.sh\n"

// leakingScript returns a script that runs each line several times, at first with BEFORE = 0,
// then 3, 6 and so on. In a line, $s is the secret, and BEFORE says how many of its characters a
// limit leaves.
func leakingScript(lines ...string) string {
	var script strings.Builder
	script.WriteString("pad() { head -c $1 /dev/zero | tr '\\0' x; }\ns=" + cutSecret[:20] + "\ns=${s}" + cutSecret[20:] + "\n")
	for _, line := range lines {
		for before := 0; before <= len(cutSecret); before += 3 {
			script.WriteString(strings.ReplaceAll(line, "BEFORE", fmt.Sprint(before)) + "\n")
		}
	}
	script.WriteString("exit 1\n")
	return script.String()
}

// TestNoPartOfASecretIsInWhatTheChecksReport has tools print a secret that a limit then cuts. It
// asserts that no part of the secret is where people and programs read how the checks ended.
func TestNoPartOfASecretIsInWhatTheChecksReport(t *testing.T) {
	t.Parallel()
	h := newHosted(t)
	h.git.Commit("changes", map[string]string{"go.mod": "module example.com/shop\n\ngo 1.24\n", "shop.go": "package shop\n",
		"lint.sh": leakingScript(`echo "shop.go:1:1: $(pad $((2000-BEFORE)))$s and more"`, `echo "Error: $(pad $((293-BEFORE)))$s and more"`),
		"test.sh": leakingScript(`echo "--- FAIL: TestA$(pad $((494-BEFORE)))$s and more (0.00s)"; echo "    shop_test.go:1: $(pad $((1985-BEFORE)))$s and more"`,
			`echo "FAIL $(pad $((295-BEFORE)))$s and more"`),
	}, "Sell things")
	h.start = h.git.SHA("changes")
	ws := newWorkspace(t, nil)
	h.fill(t, ws.dir, "changes")
	openToOthers(ws.dir)
	for _, inputs := range []map[string]string{
		{"mode": "check", "fail-on": "never"}, {"mode": "check"}, {"mode": "apply", "findings": ".airlock/findings.json"},
	} {
		inputs = maps.Clone(inputs)
		inputs["config"], inputs["secrets"] = leakingChecks, cutSecret
		res := run(t, ws.dir, ws.env(h.env(t), inputs), "", "action")
		if refusesToCheck(t, res) {
			return
		}
		if res.code > 1 {
			t.Fatalf("exit code %d\n%s%s", res.code, res.stdout, res.stderr)
		}
		assertNoPart(t, inputs["mode"]+": the log", withoutMasks(res.stdout)+res.stderr)
	}
	assertNoPart(t, "the summary", readFile(t, ws.summary))
	assertNoPart(t, "the outputs", readFile(t, ws.output))
	err := filepath.WalkDir(filepath.Join(ws.dir, ".airlock"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			text := readFile(t, path)
			if strings.Contains(text, cutSecret[:6]) || filepath.Base(path) == "findings.json" {
				assertNoPart(t, d.Name(), text)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	writes := h.server.Writes()
	if len(writes) == 0 {
		t.Error("nothing was reported")
	}
	var sent strings.Builder
	for _, w := range writes {
		sent.WriteString(string(w.Body) + "\n")
	}
	assertNoPart(t, "what was sent", sent.String())
}

// TestNoPartOfASecretIsInTheChecksFiles is the same for the command line, with SARIF.
func TestNoPartOfASecretIsInTheChecksFiles(t *testing.T) {
	t.Parallel()
	ws := newWorkspace(t, map[string]string{"go.mod": "module example.com/shop\n\ngo 1.24\n", "shop.go": "package shop\n",
		"lint.sh": leakingScript(`echo "shop.go:1:1: $(pad $((2000-BEFORE)))$s and more"`, `echo "Error: $(pad $((293-BEFORE)))$s and more"`),
		"test.sh": leakingScript(`echo "FAIL $(pad $((295-BEFORE)))$s and more"`)})
	openToOthers(ws.dir)
	res := run(t, ws.dir, []string{"AIRLOCK_SECRETS=" + cutSecret}, "", "check", "--check-only", "--changed-files", "shop.go", "--format-command", "true", "--build-command", "true",
		"--lint-command", "sh lint.sh", "--test-command", "sh test.sh", "--findings", "findings.json", "--sarif", "security.sarif")
	if res.code != 1 {
		t.Fatalf("exit code %d\n%s", res.code, res.stderr)
	}
	assertNoPart(t, "the result", res.stdout)
	assertNoPart(t, "what people read", res.stderr)
	assertNoPart(t, "the findings", readFile(t, filepath.Join(ws.dir, "findings.json")))
	if text := readFile(t, filepath.Join(ws.dir, "security.sarif")); strings.Contains(text, cutSecret[:6]) {
		t.Error("the SARIF log shows a part")
	}
}
