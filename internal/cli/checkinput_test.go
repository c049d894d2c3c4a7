package cli_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestCheckSaysWhatIsWrongWithItsFlags before anything runs.
func TestCheckSaysWhatIsWrongWithItsFlags(t *testing.T) {
	p := newProject(t)
	p.commit(t, map[string]string{"go.mod": "module a\n", "a.go": "package a\n"})
	for name, c := range map[string]struct {
		args []string
		want []string
	}{
		"a directory for the findings": {[]string{"--findings", "."}, []string{"--findings: . is a directory: name a file in it"}},
		"no command":                   {[]string{"--lint-command", " "}, []string{"--lint-command: it names no command"}},
		"files within a word":          {[]string{"--test-command", "t --f={files}"}, []string{`--test-command: the command "t --f={files}": {files} has to be a word of its own`}},
		"a value to pass":              {[]string{"--pass-env", "A=1"}, []string{`--pass-env: "A=1" is not the name of a variable`}},
		"names of no files": {[]string{"--changed-files", "../a.go,,.", "--changed-files", filepath.Dir(p.dir)}, []string{
			`--changed-files: "../a.go" does not name a file in ` + p.dir, "--changed-files: a name is empty", `--changed-files: "." does not name a file in`, `--changed-files: "` + filepath.Dir(p.dir) + `" does not name a file in`}},
		"a word for a number":                  {[]string{"--max-retries", "x"}, []string{`invalid argument "x" for "--max-retries" flag: give a whole number ('airlock check --help' lists the flags)`}},
		"a time without a unit":                {[]string{"--time-limit", "5"}, []string{`invalid argument "5" for "--time-limit" flag: give a time with its unit, such as 300s or 5m (`}},
		"a word for a switch":                  {[]string{"--json=maybe"}, []string{`for "--json" flag: give true or false, or the flag alone (`}},
		"a flag that is none":                  {[]string{"--bogus"}, []string{"unknown flag: --bogus ('airlock check --help' lists the flags)"}},
		"an event's payload that is not there": {[]string{"--event", "gone.json"}, []string{"the event's payload: gone.json does not exist"}},
	} {
		t.Run(name, func(t *testing.T) {
			code, _, stderr := world{env: map[string]string{"PATH": os.Getenv("PATH")}}.run(t, append([]string{"check", "--dir", p.dir}, c.args...)...)
			if code != 2 {
				t.Errorf("exit code %d", code)
			}
			for _, want := range c.want {
				if !strings.Contains(stderr, want) {
					t.Errorf("stderr lacks %q:\n%s", want, stderr)
				}
			}
		})
	}
}

// TestCheckNeedsNoLanguage where nothing depends on one; otherwise it says what to do.
func TestCheckNeedsNoLanguage(t *testing.T) {
	p := newProject(t)
	p.commit(t, map[string]string{"page.md": "# A\n", "b.txt": "b\n"})
	commands := []string{"--changed-files", "page.md", "--format-command", "true", "--lint-command", "test -f {files}", "--skip-build", "--test-command", "true"}
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"nothing has changed": {[]string{"--base", "main"}, 2, "airlock: no file has changed, which would lead to a project"},
		"all are the owner's": {commands, 0, "✓ linter          pass"},
		"one is missing":      {slices.Concat(commands[:2], commands[4:]), 2, "Cannot detect programming language. Please provide explicit 'language' parameter.\nairlock: no package.json, go.mod or the like is in the directory or above a changed file: set --language, or all of --format-command, "},
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := world{env: map[string]string{"PATH": os.Getenv("PATH")}}.run(t, append([]string{"check", "--dir", p.dir}, c.args...)...)
			if code != c.code || !strings.Contains(stderr, c.want) || !strings.Contains(stdout, `"checks": {`) {
				t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
			}
		})
	}
}

func TestCheckSaysWhatInputIsExpected(t *testing.T) {
	code, stdout, stderr := world{stdin: strings.NewReader(" \n")}.run(t, "check", "--input", "-")
	want := "Validation failed: the input is empty; a JSON object is expected, such as {"
	if code != 2 || !strings.Contains(stdout, want) || !strings.Contains(stderr, want) {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
}
