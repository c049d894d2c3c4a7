package phase_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/phase"
)

const fiveFailed = "5 failed in 0.1s\n"

// junit returns a report with failing tests.
func junit(failing int) string {
	return `<testsuite name="s">` + strings.Repeat(`<testcase name="t"><failure message="no"/></testcase>`, failing) + `</testsuite>`
}

// testsOf validates a project, and returns the check of its tests. Instead of running the test command it
// calls run with the command's environment; run returns what the command prints and its exit code.
func testsOf(t *testing.T, dir string, getenv func(string) string, run func(env map[string]string) (stdout string, code int)) phase.CheckResult {
	t.Helper()
	outbox := t.TempDir()
	deps := realDeps(t)
	deps.Reports, deps.Getenv = outbox, getenv
	deps.Run = func(_ context.Context, spec command.Spec) (command.Result, error) {
		env := map[string]string{}
		for _, v := range spec.Env {
			name, value, _ := strings.Cut(v, "=")
			env[name] = value
		}
		if spec.Program == "node" {
			return command.Result{Stdout: command.Output{Head: []byte("v22.1.0\n")}}, nil
		}
		if spec.Args[len(spec.Args)-1] != "the tests" {
			return command.Result{}, nil
		}
		stdout, code := run(env)
		if _, err := spec.Stdout.Write([]byte(stdout)); err != nil {
			t.Error(err)
		}
		return command.Result{ExitCode: code, Stdout: command.Output{Head: []byte(stdout)}}, nil
	}
	in := phase.Input{WorkingDirectory: dir, ChangedFiles: []string{"x.txt"}, FormatCommand: "a", LintCommand: "b", BuildCommand: "c", TestCommand: "the tests"}
	r := validate(t, phase.Job{Input: in}, phase.Config{}, deps)
	left, err := os.ReadDir(outbox)
	if err != nil || len(left) > 0 {
		t.Errorf("left in the directory of reports: %v, %v", left, err)
	}
	return checkOf(r, phase.Tests)
}

// pytestFile returns where pytest was asked to write its report.
func pytestFile(t *testing.T, env map[string]string) string {
	t.Helper()
	_, file, ok := strings.Cut(env["PYTEST_ADDOPTS"], "--junitxml=")
	if !ok {
		t.Fatalf("pytest was not asked: %v", env)
	}
	return file
}

func leave(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestRunnersAreAskedForReports(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files    map[string]string
		variable string
		want     string // the variable's value up to the file's name; "" if no report is asked for
	}{
		"pytest":                         {map[string]string{"pyproject.toml": "[tool.pytest.ini_options]\njunit_family = 'xunit2'\n"}, "PYTEST_ADDOPTS", "-p no:randomly --junitxml="},
		"pytest, decided by the project": {map[string]string{"pyproject.toml": "", "pytest.ini": "[pytest]\naddopts = --junitxml=ci.xml\n"}, "PYTEST_ADDOPTS", ""},
		"pytest, without its reporter":   {map[string]string{"pyproject.toml": "", "tox.ini": "[pytest]\naddopts = -p no:junitxml\n"}, "PYTEST_ADDOPTS", ""},
		"rspec":                          {map[string]string{"Gemfile": "", ".rspec": "--order random --only-failures\n"}, "SPEC_OPTS", "--format progress --format json --out "},
		"rspec, decided by the project":  {map[string]string{"Gemfile": "", ".rspec": "--format html --out a.html\n"}, "SPEC_OPTS", ""},
		"node":                           {map[string]string{"package.json": `{"scripts":{"test":"c8 node --test"}}`}, "NODE_OPTIONS", "--test-reporter=tap --test-reporter-destination=stdout --test-reporter=junit --test-reporter-destination="},
		"node, another runner":           {map[string]string{"package.json": `{"scripts":{"test":"mocha"}}`}, "NODE_OPTIONS", ""},
		"node, with a reporter":          {map[string]string{"package.json": `{"scripts":{"test":"node --test --test-reporter=dot"}}`}, "NODE_OPTIONS", ""},
		"node, with options":             {map[string]string{"package.json": `{"scripts":{"test":"NODE_OPTIONS=--no-warnings node --test"}}`}, "NODE_OPTIONS", ""},
		"go":                             {map[string]string{"go.mod": "module x\n"}, "GOFLAGS", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.files["x.txt"] = ""
			getenv := func(name string) string {
				if name == "PYTEST_ADDOPTS" {
					return "-p no:randomly"
				}
				return ""
			}
			runs := 0
			got := testsOf(t, files(t, c.files), getenv, func(env map[string]string) (string, int) {
				runs++
				value, asked := env[c.variable]
				rest, ok := strings.CutPrefix(value, c.want)
				if asked != (c.want != "") || asked && (!ok || !filepath.IsAbs(rest)) {
					t.Errorf("%s=%s, want %s", c.variable, value, c.want)
				}
				return "", 0
			})
			if got.Status != phase.Pass || runs != 1 {
				t.Errorf("%s after %d runs", got.Status, runs)
			}
		})
	}
}

// TestReportsCount checks how many failures count, whatever a run leaves in place of its report: the pull
// request's code can write to the report's directory.
func TestReportsCount(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		leave   func(t *testing.T, file string) // file is where the report should be
		stdout  string
		failing int
	}{
		"a report":                     {func(t *testing.T, file string) { leave(t, file, junit(7)) }, "", 7},
		"more than printed":            {func(t *testing.T, file string) { leave(t, file, junit(7)) }, fiveFailed, 7},
		"less than printed":            {func(t *testing.T, file string) { leave(t, file, junit(0)) }, fiveFailed, 5},
		"nothing":                      {func(*testing.T, string) {}, fiveFailed, 5},
		"an empty file":                {func(t *testing.T, file string) { leave(t, file, "") }, fiveFailed, 5},
		"a file that nobody asked for": {func(t *testing.T, file string) { leave(t, filepath.Dir(file)+"/more.xml", junit(9)) }, fiveFailed, 5},
		"a directory": {func(t *testing.T, file string) {
			if err := os.Mkdir(file, 0o755); err != nil {
				t.Fatal(err)
			}
		}, fiveFailed, 5},
		"a link out of it": {func(t *testing.T, file string) {
			target := filepath.Join(t.TempDir(), "x.xml")
			leave(t, target, junit(9))
			if err := os.Symlink(target, file); err != nil {
				t.Fatal(err)
			}
		}, fiveFailed, 5},
		"another directory in its place": {func(t *testing.T, file string) {
			if err := os.RemoveAll(filepath.Dir(file)); err != nil {
				t.Fatal(err)
			}
			leave(t, file, junit(9))
		}, fiveFailed, 5},
		"a file with a hole": {func(t *testing.T, file string) {
			leave(t, file, junit(9))
			if err := os.Truncate(file, 1<<30); err != nil {
				t.Fatal(err)
			}
		}, fiveFailed, 5},
		"a directory that is hard to remove": {func(t *testing.T, file string) {
			leave(t, file, junit(6))
			for i := range 50 {
				leave(t, fmt.Sprintf("%s/%s/%d", filepath.Dir(file), strings.Repeat("d/", 60), i), "")
			}
		}, fiveFailed, 6},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := testsOf(t, files(t, map[string]string{"pyproject.toml": "", "x.txt": ""}), nil, func(env map[string]string) (string, int) {
				c.leave(t, pytestFile(t, env))
				return c.stdout, 1
			})
			if got.Status != phase.Fail || got.Failing != c.failing {
				t.Errorf("%s, %d failing, want %d; notes %q", got.Status, got.Failing, c.failing, got.Notes)
			}
		})
	}
}

// TestReportsOfMavenAndGradle checks that only reports of this run count, and only regular
// files where these tools leave theirs.
func TestReportsOfMavenAndGradle(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{
		"pom.xml": "", "x.txt": "", "a/target/surefire-reports/TEST-old.xml": junit(100), "elsewhere/TEST-a.xml": junit(100),
		"outside.xml": junit(100), "lib/src/test/java/com/x/ATest.java": "",
	})
	before := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(dir, "a/target/surefire-reports/TEST-old.xml"), before, before); err != nil {
		t.Fatal(err)
	}
	got := testsOf(t, dir, nil, func(map[string]string) (string, int) {
		leave(t, dir+"/a/target/surefire-reports/TEST-a.xml", junit(1))
		leave(t, dir+"/a/target/surefire-reports/a.txt", junit(100))
		leave(t, dir+"/b/target/failsafe-reports/TEST-b.xml", junit(2))
		leave(t, dir+"/lib/build/test-results/test/TEST-c.xml", `<testsuite name="com.x.ATest"><testcase classname="com.x.ATest" name="adds"><failure>at com.x.ATest.adds(ATest.java:12)</failure></testcase></testsuite>`)
		leave(t, dir+"/lib/build/reports/TEST-d.xml", junit(100))
		if err := os.Symlink("../../../outside.xml", dir+"/a/target/surefire-reports/TEST-link.xml"); err != nil {
			t.Error(err)
		}
		return "", 1
	})
	if got.Failing != 4 {
		t.Errorf("%d failing, want 4", got.Failing)
	}
	if last := got.Failures[len(got.Failures)-1]; last.Path != "lib/src/test/java/com/x/ATest.java" || last.Line != 12 {
		t.Errorf("%+v", last)
	}
}

// TestAskingDoesNoHarm checks that a command which fails because it was asked for a report runs
// again and is not asked for one.
func TestAskingDoesNoHarm(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		refuse func(env map[string]string) string // what is printed; "" if nothing is wrong
		runs   int
		status phase.Status
	}{
		"an option that is not known": {func(env map[string]string) string {
			if env["PYTEST_ADDOPTS"] == "" {
				return ""
			}
			return "error: unrecognized arguments: " + env["PYTEST_ADDOPTS"]
		}, 2, phase.Pass},
		"an older node": {func(env map[string]string) string {
			if env["NODE_OPTIONS"] == "" {
				return ""
			}
			return "node: --test-reporter= is not allowed in NODE_OPTIONS"
		}, 2, phase.Pass},
		"another failure": {func(map[string]string) string { return "no" }, 1, phase.Fail},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runs := 0
			got := testsOf(t, files(t, map[string]string{"package.json": `{"scripts":{"test":"node --test"}}`, "x.txt": ""}), nil, func(env map[string]string) (string, int) {
				runs++
				if printed := c.refuse(env); printed != "" {
					return printed, 4
				}
				return "", 0
			})
			if got.Status != c.status || runs != c.runs || got.Retries != 0 {
				t.Errorf("%s after %d runs, %d retries", got.Status, runs, got.Retries)
			}
		})
	}
}
