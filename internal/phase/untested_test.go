package phase_test

import (
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/changes"
	"github.com/agent-airlock/airlock/internal/phase"
)

// TestPackagesWithoutTests asserts that a package does not fail because it never had tests, and
// that a change which takes tests away fails.
func TestPackagesWithoutTests(t *testing.T) {
	t.Parallel()
	const placeholder = `{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}`
	code := changes.ChangedFile{Path: "a.js", Status: changes.Modified, Patch: "@@ -1 +1 @@\n-x\n+y\n"}
	manifest := func(patch string) changes.ChangedFile {
		return changes.ChangedFile{Path: "package.json", Status: changes.Modified, Patch: patch}
	}
	tests := []struct {
		name, manifest string
		change         changes.ChangedFile
		want           string // the command, with ": pass" if npm test is to pass; "" if the tests are skipped, "refused" if they fail without a command
	}{
		{"no script", "{}", code, ""},
		{"what npm init writes", placeholder, code, ""},
		{"a new package", "{}", changes.ChangedFile{Path: "package.json", Status: changes.Added, Patch: "@@ -0,0 +1 @@\n+{}\n"}, ""},
		{"another part of package.json", "{}", manifest("@@ -2 +2 @@\n-  \"version\": \"1.0.0\"\n+  \"version\": \"1.0.1\"\n"), ""},
		{"a script that was removed", "{}", manifest("@@ -2 +1,0 @@\n-  \"test\": \"jest\"\n"), "npm test"},
		{"a script of another name that was removed", "{}", manifest("@@ -2 +1,0 @@\n-  \"test:unit\": \"jest\"\n"), "npm test"},
		{"all scripts, replaced by another member of that name", "{}", manifest("@@ -1,0 +2 @@\n+  \"scripts\": {},\n"), "npm test"},
		{"a script that became a placeholder", placeholder, manifest("@@ -2 +2 @@\n-  \"test\": \"jest\"\n+  \"test\": \"echo no test specified\"\n"), "npm test"},
		{"a patch that is left out", "{}", changes.ChangedFile{Path: "package.json", Status: changes.Modified, PatchMissing: true}, "npm test"},
		{"a script of another name", `{"scripts": {"lint": "x", "test:unit": "jest"}}`, code, "npm run test:unit"},
		{"scripts of both names", `{"scripts": {"test:unit": "jest", "test": "npm run test:unit"}}`, code, "npm test"},
		{"one that runs nothing", `{"scripts": {"test": "echo none; exit 0"}}`, code, ""},
		{"one that runs nothing, of which the change edits another part", `{"scripts": {"test": "true"}}`, manifest("@@ -2 +2 @@\n-  \"version\": \"1.0.0\"\n+  \"version\": \"1.0.1\"\n"), ""},
		{"one that the change lets run nothing", `{"scripts": {"test": "true"}}`, manifest("@@ -2 +2 @@\n-  \"test\": \"jest\"\n+  \"test\": \"true\"\n"), "refused"},
		{"a placeholder that gets a comma", placeholder, manifest("@@ -2 +2,2 @@\n-  \"test\": \"echo \\\"Error: no test specified\\\" && exit 1\"\n+  \"test\": \"echo \\\"Error: no test specified\\\" && exit 1\",\n+  \"start\": \"node .\"\n"), ""},
		{"one that runs nothing and gets a comma", `{"scripts": {"test": "true"}}`, manifest("@@ -2 +2,2 @@\n-  \"test\": \"true\"\n+  \"test\": \"true\",\n+  \"test:watch\": \"jest --watch\"\n"), ""},
		{"one that is added and runs nothing", `{"scripts": {"test": "true"}}`, manifest("@@ -2,0 +2 @@\n+  \"test\": \"true\"\n"), ""},
		{"one that is added again and runs nothing", `{"scripts": {"test": "jest", "test": "true"}}`, manifest("@@ -2,0 +2 @@\n+  \"test\": \"true\"\n"), "refused"},
		{"one with another before it", `{"scripts": {"pretest": "jest", "test": "exit 0"}}`, code, "npm test: pass"},
		{"one that may run something", `{"scripts": {"test": "echo $(jest)"}}`, code, "npm test: pass"},
		{"one that only watches", `{"scripts": {"test:watch": "jest --watch"}}`, code, ""},
	}
	for _, tt := range tests {
		dir := files(t, map[string]string{"package.json": tt.manifest, "a.js": "y\n"})
		in := phase.Input{WorkingDirectory: dir, ChangedFiles: []string{tt.change.Path}}
		command, passes := strings.CutSuffix(tt.want, ": pass")
		exit := 1
		if passes {
			exit = 0
		}
		s := newStage(t, dir, map[string][]step{"npm test": {{code: exit}}, "npm run test:unit": {{}}})
		r := validate(t, phase.Job{Input: in, Diff: []changes.ChangedFile{tt.change}}, phase.Config{CheckOnly: true}, s.deps())
		got, status := r.Output.Checks.Tests, phase.Pass
		switch tt.want {
		case "":
			status = phase.Skipped
			if notes := strings.Join(checkOf(r, phase.Tests).Notes, "\n"); !strings.Contains(notes, ", or set test_command") {
				t.Errorf("%s: the notes do not say what to do: %q", tt.name, notes)
			}
		case "npm test":
			status = phase.Fail
		case "refused":
			status, command = phase.Fail, ""
			if problems := strings.Join(checkOf(r, phase.Tests).Problems, "\n"); !strings.Contains(problems, "'test', which runs no tests (true)") {
				t.Errorf("%s: %q", tt.name, problems)
			}
		}
		if got.Command != command || got.Status != status {
			t.Errorf("%s: %q, %s; want %q, %s", tt.name, got.Command, got.Status, command, status)
		}
	}
}

// TestPackagesWithoutTestsAndDiff asserts that without a diff, a change of package.json counts as one
// that takes tests away: what is there instead of tests never passes.
func TestPackagesWithoutTestsAndDiff(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		manifest, changed, command string
		status                     phase.Status
	}{
		{`{"scripts": {"test": "true"}}`, "package.json", "", phase.Fail},
		{`{"scripts": {"test": "echo none; exit 0"}}`, "package.json", "", phase.Fail},
		{`{"scripts": {"test:unit": ":"}}`, "package.json", "", phase.Fail},
		{`{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}`, "package.json", "npm test", phase.Fail},
		{"{}", "package.json", "npm test", phase.Fail},
		{`{"scripts": {"test": "jest", "test:unit": "true"}}`, "package.json", "npm test", phase.Pass},
		{`{"scripts": {"test": "true"}}`, "a.js", "", phase.Skipped},
		{"{}", "a.js", "", phase.Skipped},
	} {
		dir := files(t, map[string]string{"package.json": tt.manifest, "a.js": "y\n"})
		exit := 0
		if tt.status == phase.Fail && tt.command != "" {
			exit = 1
		}
		s := newStage(t, dir, map[string][]step{"npm test": {{code: exit}}, "npm run test:unit": {{}}})
		job := phase.Job{Input: phase.Input{WorkingDirectory: dir, ChangedFiles: []string{tt.changed}}}
		r := validate(t, job, phase.Config{CheckOnly: true}, s.deps())
		if got := r.Output.Checks.Tests; got.Command != tt.command || got.Status != tt.status {
			t.Errorf("%s, changed %s: %q, %s; want %q, %s", tt.manifest, tt.changed, got.Command, got.Status, tt.command, tt.status)
		}
		if problems := strings.Join(checkOf(r, phase.Tests).Problems, "\n"); tt.status == phase.Fail && tt.command == "" && !strings.Contains(problems, "which runs no tests") {
			t.Errorf("%s: %q", tt.manifest, problems)
		}
	}
}

// TestProjectsWithoutTests asserts that a project of Python or Ruby without anything like a test
// does not fail because its runner finds no test, unless the change takes tests away.
func TestProjectsWithoutTests(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		files map[string]string
		diff  []changes.ChangedFile // in addition to that of the code
		want  string                // the command, "" if the tests are skipped
	}{
		{"a script", map[string]string{"requirements.txt": "", "main.py": "x = 1\n"}, nil, ""},
		{"with tests", map[string]string{"requirements.txt": "", "main.py": "", "a/b/test_main.py": ""}, nil, "pytest"},
		{"with others' tests", map[string]string{"requirements.txt": "", "main.py": "", "venv/a/test_a.py": "", "node_modules/a/test_a.py": "", ".tox/test_a.py": ""}, nil, ""},
		{"with Django's tests", map[string]string{"requirements.txt": "", "main.py": "", "app/tests.py": ""}, nil, "pytest"},
		{"settings of pytest", map[string]string{"pyproject.toml": "[tool.pytest.ini_options]\npython_files = 'check_*.py'\n", "main.py": ""}, nil, "pytest"},
		{"other settings", map[string]string{"pyproject.toml": "[tool.black]\n", "main.py": ""}, nil, ""},
		{"the change deletes them", map[string]string{"requirements.txt": "", "main.py": ""}, []changes.ChangedFile{{Path: "test_a.py", Status: changes.Deleted}}, "pytest"},
		{"the change renames them", map[string]string{"requirements.txt": "", "main.py": "", "a.py": ""}, []changes.ChangedFile{{Path: "a.py", PreviousPath: "test_a.py", Status: changes.Renamed}}, "pytest"},
		{"a site", map[string]string{"Gemfile": "gem 'jekyll'\n", "main.rb": ""}, nil, ""},
		{"a gem with specs", map[string]string{"Gemfile": "", "main.rb": "", "spec/a_spec.rb": ""}, nil, "rspec"},
		{"a gem with a Rakefile", map[string]string{"Gemfile": "", "main.rb": "", "Rakefile": ""}, nil, "rake test"},
	}
	for _, tt := range tests {
		dir := files(t, tt.files)
		code := "main.py"
		if _, isRuby := tt.files["Gemfile"]; isRuby {
			code = "main.rb"
		}
		diff := append([]changes.ChangedFile{{Path: code, Status: changes.Modified, Patch: "@@ -1 +1 @@\n-x\n+y\n"}}, tt.diff...)
		in := phase.Input{WorkingDirectory: dir}
		for _, f := range diff {
			in.ChangedFiles = append(in.ChangedFiles, f.Path)
		}
		s := newStage(t, dir, map[string][]step{"pytest": {{code: 5}}, "rspec": {{}}, "rake test": {{}}})
		r := validate(t, phase.Job{Input: in, Diff: diff}, phase.Config{CheckOnly: true}, s.deps())
		got := r.Output.Checks.Tests
		if got.Command != tt.want || (got.Status == phase.Skipped) != (tt.want == "") {
			t.Errorf("%s: %q, %s; want %q", tt.name, got.Command, got.Status, tt.want)
		}
		if notes := strings.Join(checkOf(r, phase.Tests).Notes, "\n"); tt.want == "" && !strings.Contains(notes, "no file is named like a test file; add one, or set test_command") {
			t.Errorf("%s: the notes do not say what to do: %q", tt.name, notes)
		}
	}
}
