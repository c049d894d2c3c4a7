package phase_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/changes"
	"github.com/agent-airlock/airlock/internal/phase"
)

// TestEditedCommandCannotHideFailingTests asserts that failing tests with exit code 0 fail the check
// if the change edits their command, and are only noted otherwise.
func TestEditedCommandCannotHideFailingTests(t *testing.T) {
	t.Parallel()
	const failing = "\n  3 passing (2ms)\n  2 failing\n\n  1) a:\n     Error: no\n\n  2) b:\n     Error: no\n\n"
	const manifest = "{\n  \"name\": \"a\",\n  \"scripts\": {\n    \"test\": \"sh ci/test.sh || true\"\n  }\n}\n"
	for _, tt := range []struct {
		name, file, patch, command string
		printed                    string
		want                       phase.Status
	}{
		{"the script", "package.json", "@@ -3,0 +4 @@\n+    \"test\": \"sh ci/test.sh || true\"\n", "", failing, phase.Fail},
		{"another line of package.json", "package.json", "@@ -1,0 +2 @@\n+  \"name\": \"a\",\n", "", failing, phase.Pass},
		{"what the script runs", "ci/test.sh", "@@ -0,0 +1 @@\n+exit 0\n", "", failing, phase.Fail},
		{"a makefile", "Makefile", "@@ -0,0 +1 @@\n+x\n", "make test", failing, phase.Fail},
		{"a makefile that is not used", "Makefile", "@@ -0,0 +1 @@\n+x\n", "", failing, phase.Pass},
		{"code", "a.js", "@@ -0,0 +1 @@\n+x\n", "", failing, phase.Pass},
		{"the script, and all pass", "package.json", "@@ -3,0 +4 @@\n+    \"test\": \"sh ci/test.sh || true\"\n", "", "\n  3 passing (2ms)\n", phase.Pass},
	} {
		dir := files(t, map[string]string{"package.json": manifest, "a.js": "x\n", "ci/test.sh": "exit 0\n", "Makefile": "x\n"})
		s := newStage(t, dir, map[string][]step{"npm test": {{stdout: tt.printed}}, "make test": {{stdout: tt.printed}}})
		job := phase.Job{
			Input: phase.Input{WorkingDirectory: dir, ChangedFiles: []string{tt.file}, TestCommand: tt.command},
			Diff:  []changes.ChangedFile{{Path: tt.file, Status: changes.Modified, Patch: tt.patch}},
		}
		r := validate(t, job, phase.Config{CheckOnly: true, NewOnly: true}, s.deps())
		c := checkOf(r, phase.Tests)
		noted := strings.Contains(strings.Join(append(c.Problems, c.Notes...), "\n"), "although")
		if c.Status != tt.want || noted != (tt.printed == failing) || tt.want == phase.Fail && (c.Failing != 2 || len(c.Failures) != 2) {
			t.Errorf("%s: %s, %d failing, %q, %q", tt.name, c.Status, c.Failing, c.Problems, c.Notes)
		}
	}
}

// TestScriptsAreReadInTheOrderOfTheirNames asserts that a package.json is always read in the same
// way, even if several of its scripts match.
func TestScriptsAreReadInTheOrderOfTheirNames(t *testing.T) {
	t.Parallel()
	scripts, changed := map[string]string{"test": "node --test"}, []string(nil)
	contents := map[string]string{"Cargo.toml": "[package]\n"}
	for _, letter := range []string{"h", "g", "f", "e", "d", "c", "b", "a"} {
		scripts["run-"+letter] = "node " + letter + ".js"
		scripts["clippy-"+letter] = "cargo clippy -- -W clippy::" + letter
		contents[letter+".js"] = "x\n"
		changed = append(changed, letter+".js")
	}
	raw, err := json.Marshal(map[string]any{"scripts": scripts})
	if err != nil {
		t.Fatal(err)
	}
	contents["package.json"] = string(raw)
	const printed = "\n  3 passing (2ms)\n  1 failing\n\n  1) a:\n     Error: no\n\n"
	for range 10 {
		dir := files(t, contents)
		s := newStage(t, dir, map[string][]step{"npm test": {{stdout: printed}}})
		job := phase.Job{Input: phase.Input{WorkingDirectory: dir, ChangedFiles: changed}}
		for _, name := range changed {
			job.Diff = append(job.Diff, changes.ChangedFile{Path: name, Status: changes.Modified, Patch: "@@ -0,0 +1 @@\n+x\n"})
		}
		r := validate(t, job, phase.Config{CheckOnly: true, NewOnly: true}, s.deps())
		if said := strings.Join(checkOf(r, phase.Tests).Problems, "\n"); !strings.Contains(said, "how it runs (a.js)") {
			t.Fatalf("%q", said)
		}
		got, _, _ := shown(t, contents, phase.Input{ChangedFiles: []string{"a.rs"}}, phase.Config{CheckOnly: true})
		if !slices.Contains(got, "cargo clippy -- -W clippy::a") {
			t.Fatalf("%q", got)
		}
	}
}

func TestWatchModesAreNamed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		printed string
		want    bool
	}{
		{"\n> a@1.0.0 test\n> vitest --watch\n\n DEV  v3.2.4 /a\n", true},
		{"\n> a@1.0.0 test\n> jest --watchAll\n", true},
		{" PASS  Waiting for file changes...\n", true},
		{"[12:00:00] Found 0 errors. Watching for file changes.\n", true},
		{"\n> a@1.0.0 test\n> mocha test/watch.js\n\n  watches\n", false},
	} {
		dir := files(t, map[string]string{"package.json": `{"scripts":{"test":"x"}}`})
		s := newStage(t, dir, map[string][]step{"npm test": {{stdout: tt.printed, code: -1, timedOut: true}}})
		r := validate(t, phase.Job{Input: phase.Input{WorkingDirectory: dir}}, phase.Config{TimeLimit: time.Minute}, s.deps())
		if problems := fmt.Sprint(checkOf(r, phase.Tests).Problems); strings.Contains(problems, "watches files") != tt.want || !strings.Contains(problems, "was ended after 1m0s") {
			t.Errorf("%q: %s", tt.printed, problems)
		}
	}
}
