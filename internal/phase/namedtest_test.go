package phase_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/phase"
)

// TestOnly asserts that with Only nothing else runs, not even a review.
func TestOnly(t *testing.T) {
	dir := files(t, map[string]string{"go.mod": "module x", "a.go": "package x"})
	s := newStage(t, dir, map[string][]step{"go build ./...": ok, "go test -json ./...": ok})
	deps := s.deps()
	deps.CodeReview = func(context.Context, phase.ReviewRequest) ([]finding.Finding, error) {
		t.Error("a review runs")
		return nil, nil
	}
	deps.SecurityReview = deps.CodeReview
	result, err := phase.Validate(t.Context(), phase.Job{Input: phase.Input{WorkingDirectory: dir}}, phase.Config{Only: []phase.Check{phase.Build}}, deps)
	if err != nil || !slices.Equal(s.ran, []string{"go build ./..."}) {
		t.Fatalf("%q, %v", s.ran, err)
	}
	if len(result.Roots[0].Checks) != 1 || result.Reviews[0].Status != phase.Skipped || result.Reviews[1].Status != phase.Skipped {
		t.Errorf("%+v", result)
	}
}

// TestNamedTestCommands asserts that a name selects tests by the option of their runner, as an argument
// that no shell reads.
func TestNamedTestCommands(t *testing.T) {
	pkg := func(script string) string { return `{"scripts": {"test": "` + script + `"}}` }
	for _, c := range []struct {
		name  string
		files map[string]string
		test  string
		ran   string // the last command, "" if none runs
		out   string // what it prints
		want  phase.Status
		none  bool // no test of the name has run
	}{
		{"go", map[string]string{"go.mod": "module x", "a.go": "package x"}, "TestA/b c", "go test -json -run ^TestA$/^b_c$ ./...", `{"Action":"pass","Package":"x","Test":"TestA/b_c","Elapsed":0}` + "\n" + `{"Action":"pass","Package":"x","Test":"TestA"}` + "\n" + `{"Action":"pass","Package":"x"}`, phase.Pass, false},
		{"go, no such test", map[string]string{"go.mod": "module x", "a.go": "package x"}, "TestB", "go test -json -run ^TestB$ ./...", `{"Action":"pass","Package":"x"}`, phase.Pass, true},
		{"go, no such subtest", map[string]string{"go.mod": "module x", "a.go": "package x"}, "TestA/b", "go test -json -run ^TestA$/^b$ ./...", `{"Action":"pass","Package":"x","Test":"TestA","Elapsed":0}` + "\n" + `{"Action":"pass","Package":"x"}`, phase.Pass, true},
		{"go, subtest skipped", map[string]string{"go.mod": "module x", "a.go": "package x"}, "TestA/<b>", "go test -json -run ^TestA$/^<b>$ ./...", `{"Action":"skip","Package":"x","Test":"TestA/\u003cb\u003e"}` + "\n" + `{"Action":"pass","Package":"x","Test":"TestA"}` + "\n" + `{"Action":"pass","Package":"x"}`, phase.Pass, true},
		{"go, subtest escaped in JSON", map[string]string{"go.mod": "module x", "a.go": "package x"}, "TestA/<b>", "go test -json -run ^TestA$/^<b>$ ./...", `{"Action":"pass","Package":"x","Test":"TestA/\u003cb\u003e"}` + "\n" + `{"Action":"pass","Package":"x"}`, phase.Pass, false},
		{"pytest", map[string]string{"pyproject.toml": ""}, "test_a and not x", "pytest -rfEp -k test_a and not x", "1 passed in 0.01s", phase.Pass, false},
		{"pytest, one name", map[string]string{"pyproject.toml": ""}, "test_a", "pytest -rfEp -k test_a", "PASSED tests/test_b.py::TestB::test_a[1]\n1 passed in 0.01s", phase.Pass, false},
		{"pytest, in colour", map[string]string{"pyproject.toml": ""}, "test_a", "pytest -rfEp -k test_a", "\x1b[32mPASSED\x1b[0m tests/test_b.py::\x1b[1mtest_a\x1b[0m\n\x1b[32m\x1b[1m1 passed\x1b[0m in 0.01s", phase.Pass, false},
		{"pytest, a longer name", map[string]string{"pyproject.toml": ""}, "test_a", "pytest -rfEp -k test_a", "PASSED tests/test_b.py::test_a_b\n1 passed in 0.01s", phase.Pass, true},
		{"pytest, other capitals", map[string]string{"pyproject.toml": ""}, "Login", "pytest -rfEp -k Login", "PASSED tests/test_b.py::test_login\n1 passed in 0.01s", phase.Pass, true},
		{"pytest, a longer name with an umlaut", map[string]string{"pyproject.toml": ""}, "test_gr", "pytest -rfEp -k test_gr", "PASSED tests/test_b.py::test_größe\n1 passed in 0.01s", phase.Pass, true},
		{"pytest, a class", map[string]string{"pyproject.toml": ""}, "TestB::test_a", "pytest -rfEp -k TestB and test_a", "PASSED tests/test_b.py::TestB::test_a\n1 passed in 0.01s", phase.Pass, false},
		{"pytest, a class, with dots", map[string]string{"pyproject.toml": ""}, "test_b.TestB.test_a", "pytest -rfEp -k test_b and TestB and test_a", "PASSED tests/test_b.py::TestB::test_a\n1 passed in 0.01s", phase.Pass, false},
		{"pytest, parameters", map[string]string{"pyproject.toml": ""}, "test_a[größe 1]", "pytest -rfEp -k test_a", `PASSED tests/test_b.py::test_a[gr\xf6\xdfe 1]` + "\n1 passed in 0.01s", phase.Pass, false},
		{"pytest, other parameters", map[string]string{"pyproject.toml": ""}, "test_a[größe 1]", "pytest -rfEp -k test_a", `PASSED tests/test_b.py::test_a[größe 2]` + "\n1 passed in 0.01s", phase.Pass, true},
		{"pytest node, parameters", map[string]string{"pyproject.toml": ""}, "test_b.py::test_a[größe]", `pytest test_b.py::test_a[gr\xf6\xdfe]`, "1 passed in 0.01s", phase.Pass, false},
		{"pytest node", map[string]string{"pyproject.toml": ""}, "tests/test_a.py::test_b", "pytest tests/test_a.py::test_b", "1 passed in 0.01s", phase.Pass, false},
		{"unittest", map[string]string{"pyproject.toml": ""}, "test_a", "python3 -m unittest -k *.test_a -k *.test_a.* -k test_a.*", "Ran 2 tests in 0.001s\n\nOK (skipped=1)\n", phase.Pass, false},
		{"unittest, skipped", map[string]string{"pyproject.toml": ""}, "K.test_[a]", "python3 -m unittest -k *.K.test_[[]a] -k *.K.test_[[]a].* -k K.test_[[]a].* -k *K.test_[[]a]", "Ran 2 tests in 0.001s\n\nOK (skipped=1, expected failures=1)\n", phase.Pass, true},
		{"rust", map[string]string{"Cargo.toml": ""}, "adds", "cargo test --no-fail-fast -- adds", "running 1 test\ntest adds ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 2 filtered out; finished in 0.00s\n", phase.Pass, false},
		{"rust, in a module", map[string]string{"Cargo.toml": ""}, "adds", "cargo test --no-fail-fast -- adds", "running 1 test\ntest tests::adds - should panic ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 2 filtered out; finished in 0.00s\n", phase.Pass, false},
		{"rust, documentation", map[string]string{"Cargo.toml": ""}, "adds", "cargo test --no-fail-fast -- adds", "running 1 test\ntest src/lib.rs - adds (line 1) ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 2 filtered out; finished in 0.00s\n", phase.Pass, false},
		{"rust, a longer name", map[string]string{"Cargo.toml": ""}, "adds", "cargo test --no-fail-fast -- adds", "running 1 test\ntest tests::adds_more ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 2 filtered out; finished in 0.00s\n", phase.Pass, true},
		{"rspec", map[string]string{"Gemfile": "", "spec/a_spec.rb": "", ".rspec": ""}, "adds (all)", `rspec -E (^|[^\wÀ-῿⺀-￿])adds \(all\)([^\wÀ-῿⺀-￿]|$)`, "1 example, 0 failures\n", phase.Pass, false},
		{"rspec, pending", map[string]string{"Gemfile": "", "spec/a_spec.rb": "", ".rspec": ""}, "adds", `rspec -E (^|[^\wÀ-῿⺀-￿])adds([^\wÀ-῿⺀-￿]|$)`, "1 example, 0 failures, 1 pending\n", phase.Pass, true},
		{"rspec, a part pending", map[string]string{"Gemfile": "", "spec/a_spec.rb": "", ".rspec": ""}, "adds", `rspec -E (^|[^\wÀ-῿⺀-￿])adds([^\wÀ-῿⺀-￿]|$)`, "2 examples, 0 failures, 1 pending\n", phase.Pass, false},
		{"minitest, skipped", map[string]string{"Gemfile": "", "Rakefile": "Rake::TestTask.new", "test/a_test.rb": ""}, "test_a", "rake test TESTOPTS=--name=test_a", "1 runs, 0 assertions, 0 failures, 0 errors, 1 skips\n", phase.Pass, true},
		{"test-unit, omitted", map[string]string{"Gemfile": "", "Rakefile": "Rake::TestTask.new", "test/a_test.rb": ""}, "test_a", "rake test TESTOPTS=--name=test_a", "1 tests, 0 assertions, 0 failures, 0 errors, 0 pendings, 1 omissions, 0 notifications\n", phase.Pass, true},
		{"minitest", map[string]string{"Gemfile": "", "Rakefile": "Rake::TestTask.new", "test/a_test.rb": ""}, "test_a", "rake test TESTOPTS=--name=test_a", "1 runs, 1 assertions, 0 failures, 0 errors, 0 skips\n", phase.Pass, false},
		{"minitest, words", map[string]string{"Gemfile": "", "Rakefile": "Rake::TestTask.new", "test/a_test.rb": ""}, "test_0001_adds (all); it's $HOME", `rake test TESTOPTS='--name=test_0001_adds (all); it'\''s $HOME'`, "1 runs, 1 assertions, 0 failures, 0 errors, 0 skips\n", phase.Pass, false},
		{"java, skipped", map[string]string{"pom.xml": ""}, "ShopTest", "mvn test -Dtest=ShopTest,*#ShopTest,*#ShopTest[*] -DfailIfNoTests=false -Dsurefire.failIfNoSpecifiedTests=false", "[WARNING] Tests run: 1, Failures: 0, Errors: 0, Skipped: 1\n", phase.Pass, true},
		{"java, a part skipped", map[string]string{"pom.xml": ""}, "ShopTest", "mvn test -Dtest=ShopTest,*#ShopTest,*#ShopTest[*] -DfailIfNoTests=false -Dsurefire.failIfNoSpecifiedTests=false", "[WARNING] Tests run: 2, Failures: 0, Errors: 0, Skipped: 1\n", phase.Pass, false},
		{"go, skipped", map[string]string{"go.mod": "module x", "a.go": "package x"}, "TestC", "go test -json -run ^TestC$ ./...", `{"Action":"run","Package":"x","Test":"TestC"}` + "\n" + `{"Action":"skip","Package":"x","Test":"TestC"}` + "\n" + `{"Action":"pass","Package":"x"}`, phase.Pass, true},
		{"go, a part skipped", map[string]string{"go.mod": "module x", "a.go": "package x"}, "TestD", "go test -json -run ^TestD$ ./...", `{"Action":"skip","Package":"x","Test":"TestD/a"}` + "\n" + `{"Action":"pass","Package":"x","Test":"TestD"}` + "\n" + `{"Action":"pass","Package":"x"}`, phase.Pass, false},
		{"pytest, skipped", map[string]string{"pyproject.toml": ""}, "test_c", "pytest -rfEp -k test_c", "1 skipped, 3 deselected in 0.01s", phase.Pass, true},
		{"pytest, fails as expected", map[string]string{"pyproject.toml": ""}, "test_d", "pytest -rfEp -k test_d", "1 xfailed in 0.01s", phase.Pass, true},
		{"rust, ignored", map[string]string{"Cargo.toml": ""}, "subs", "cargo test --no-fail-fast -- subs", "running 1 test\ntest subs ... ignored\n\ntest result: ok. 0 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out; finished in 0.00s\n", phase.Pass, true},
		{"jest", map[string]string{"package.json": pkg("jest")}, "adds $(x)", `npm test -- -t (^|[^\wÀ-῿⺀-￿])adds \$\(x\)([^\wÀ-῿⺀-￿]|$)`, "Tests:       1 skipped, 1 passed, 2 total", phase.Pass, false},
		{"jest, no such test", map[string]string{"package.json": pkg("jest")}, "none", `npm test -- -t (^|[^\wÀ-῿⺀-￿])none([^\wÀ-῿⺀-￿]|$)`, "Tests:       3 skipped, 3 total", phase.Pass, true},
		{"vitest with pnpm", map[string]string{"package.json": pkg("vitest run"), "pnpm-lock.yaml": ""}, "adds", `pnpm test -t (^|[^\wÀ-῿⺀-￿])adds([^\wÀ-῿⺀-￿]|$)`, "Tests  1 passed | 2 skipped (3)", phase.Pass, false},
		{"java", map[string]string{"pom.xml": ""}, "ShopTest", "mvn test -Dtest=ShopTest,*#ShopTest,*#ShopTest[*] -DfailIfNoTests=false -Dsurefire.failIfNoSpecifiedTests=false", "[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0\n", phase.Pass, false},
		{"java, no such test", map[string]string{"pom.xml": ""}, "ShopTest", "mvn test -Dtest=ShopTest,*#ShopTest,*#ShopTest[*] -DfailIfNoTests=false -Dsurefire.failIfNoSpecifiedTests=false", "[INFO] BUILD SUCCESS\n", phase.Pass, true},
		{"java, quiet", map[string]string{"pom.xml": ""}, "ShopTest", "mvn test -Dtest=ShopTest,*#ShopTest,*#ShopTest[*] -DfailIfNoTests=false -Dsurefire.failIfNoSpecifiedTests=false", "", phase.Pass, true},
		{"java, a method of a class", map[string]string{"pom.xml": ""}, "a.ShopTest.adds", "mvn test -Dtest=a.ShopTest.adds,*#a.ShopTest.adds,*#a.ShopTest.adds[*],a.ShopTest#adds,a.ShopTest#adds[*] -DfailIfNoTests=false -Dsurefire.failIfNoSpecifiedTests=false", "[INFO] Tests run: 1, Failures: 0, Errors: 0, Skipped: 0\n", phase.Pass, false},
		{"java, a pattern", map[string]string{"pom.xml": ""}, "Shop*#adds", "mvn test -Dtest=Shop*#adds -DfailIfNoTests=false -Dsurefire.failIfNoSpecifiedTests=false", "[INFO] Tests run: 1, Failures: 0, Errors: 0, Skipped: 0\n", phase.Pass, false},
		{"gradle", map[string]string{"build.gradle": ""}, "adds", "gradle test --tests adds --tests *.adds --tests *.adds[*]", ":test\nBUILD SUCCESSFUL in 1s\n", phase.Pass, false},
		{"gradle, the same again", map[string]string{"build.gradle": ""}, "*.adds", "gradle test --tests *.adds", "> Task :app:test UP-TO-DATE\nBUILD SUCCESSFUL in 1s\n", phase.Pass, false},
		{"gradle, no tests at all", map[string]string{"build.gradle": ""}, "adds", "gradle test --tests adds --tests *.adds --tests *.adds[*]", "> Task :app:test NO-SOURCE\nBUILD SUCCESSFUL in 1s\n", phase.Pass, true},
		{"unknown runner", map[string]string{"package.json": pkg("./run")}, "adds", "", "", phase.Fail, false},
		{"an option", map[string]string{"go.mod": "module x"}, "-exec=evil", "", "", phase.Fail, false},
	} {
		dir := files(t, c.files)
		s := newStage(t, dir, map[string][]step{c.ran: {{stdout: c.out}}})
		result, err := phase.Validate(t.Context(), phase.Job{Input: phase.Input{WorkingDirectory: dir}}, phase.Config{Only: []phase.Check{phase.Tests}, Test: c.test}, s.deps())
		if err != nil {
			t.Fatal(err)
		}
		got := result.Roots[0].Checks[0]
		last := ""
		if len(s.ran) > 0 {
			last = s.ran[len(s.ran)-1]
		}
		if last != c.ran || got.Status != c.want || got.NoTests != c.none {
			t.Errorf("%s: ran %q, %s, none %t, %q", c.name, s.ran, got.Status, got.NoTests, got.Problems)
		}
	}
	in := phase.Input{WorkingDirectory: files(t, map[string]string{"go.mod": "module x"}), TestCommand: "make test"}
	result, err := phase.Validate(t.Context(), phase.Job{Input: in}, phase.Config{Only: []phase.Check{phase.Tests}, Test: "TestA"}, newStage(t, in.WorkingDirectory, nil).deps())
	if err != nil || !strings.Contains(result.Roots[0].Checks[0].Problems[0], "how it selects one is not known") {
		t.Errorf("%+v, %v", result.Roots, err)
	}
}

// TestNamedTestReally asserts, with the real go, that the named test decides, and another that fails does
// not.
func TestNamedTestReally(t *testing.T) {
	path, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	dir := files(t, map[string]string{"go.mod": "module example.org/x\n\ngo 1.21\n", "a_test.go": "package x\n\nimport \"testing\"\n\nfunc TestGood(t *testing.T) {}\n\nfunc TestBad(t *testing.T) { t.Error(\"bad\") }\n\nfunc TestLater(t *testing.T) { t.Skip() }\n"})
	for name, want := range map[string]struct {
		status phase.Status
		none   bool
	}{"TestGood": {phase.Pass, false}, "TestBad": {phase.Fail, false}, "TestGoo": {phase.Pass, true}, "TestGood/part": {phase.Pass, true}, "TestLater": {phase.Pass, true}} {
		deps := newStage(t, dir, nil).deps()
		deps.Run, deps.Now = command.Run, time.Now
		deps.Env = []string{"PATH=" + filepath.Dir(path) + ":/usr/bin:/bin", "HOME=" + os.Getenv("HOME"), "GOFLAGS=-trimpath", "GOTOOLCHAIN=local"}
		result, err := phase.Validate(t.Context(), phase.Job{Input: phase.Input{WorkingDirectory: dir}}, phase.Config{Only: []phase.Check{phase.Tests}, Test: name}, deps)
		if err != nil {
			t.Fatal(err)
		}
		if got := result.Roots[0].Checks[0]; got.Status != want.status || got.NoTests != want.none {
			t.Errorf("%s: %s, none %t, %q", name, got.Status, got.NoTests, got.Problems)
		}
	}
}

// TestNamedTestNextToOthers asserts that a test passes although others fail that its runner runs too,
// because their names contain its name. The check fails if it is not certain that only such others
// failed.
func TestNamedTestNextToOthers(t *testing.T) {
	const pytestOutput = "=== short test summary info ===\nFAILED test_m.py::test_a_b - assert 0\nPASSED test_m.py::test_a\n=== 1 failed, 1 passed in 0.01s ===\n"
	const cargoOutput = "running 2 tests\ntest adds ... ok\ntest adds_more ... FAILED\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n"
	for _, c := range []struct {
		file, test, ran, out string
		exit                 int
		want                 phase.Status
	}{
		{"pyproject.toml", "test_a", "pytest -rfEp -k test_a", pytestOutput, 1, phase.Pass},
		{"pyproject.toml", "test_a_b", "pytest -rfEp -k test_a_b", pytestOutput, 1, phase.Fail},
		{"pyproject.toml", "test_a", "pytest -rfEp -k test_a", strings.Replace(pytestOutput, "::test_a_b", "::test_a[1]", 1), 1, phase.Fail},
		{"pyproject.toml", "test_a", "pytest -rfEp -k test_a", strings.Replace(pytestOutput, "PASSED test_m.py::test_a\n", "", 1), 1, phase.Fail},
		{"pyproject.toml", "test_a", "pytest -rfEp -k test_a", strings.Replace(pytestOutput, "FAILED test_m.py::test_a_b", "ERROR test_m.py::test_a_b", 1), 1, phase.Fail},
		{"pyproject.toml", "test_a", "pytest -rfEp -k test_a", strings.Replace(pytestOutput, "1 failed, 1 passed", "2 failed, 1 passed", 1), 1, phase.Fail},
		{"pyproject.toml", "test_a", "pytest -rfEp -k test_a", pytestOutput, 3, phase.Fail},
		{"pyproject.toml", "test_a", "pytest -rfEp -k test_a", strings.Replace(pytestOutput, "=== 1 failed", "!!! stopping after 1 failures !!!\n=== 1 failed", 1), 1, phase.Fail},
		{"pyproject.toml", "test_a or test_c", "pytest -rfEp -k test_a or test_c", pytestOutput, 1, phase.Fail},
		{"Cargo.toml", "adds", "cargo test --no-fail-fast -- adds", cargoOutput, 101, phase.Pass},
		{"Cargo.toml", "adds", "cargo test --no-fail-fast -- adds", strings.Replace(cargoOutput, "adds ... ok", "adds_less ... ok", 1), 101, phase.Fail},
	} {
		dir := files(t, map[string]string{c.file: ""})
		s := newStage(t, dir, map[string][]step{c.ran: {{stdout: c.out, code: c.exit}}})
		result, err := phase.Validate(t.Context(), phase.Job{Input: phase.Input{WorkingDirectory: dir}}, phase.Config{Only: []phase.Check{phase.Tests}, Test: c.test}, s.deps())
		if err != nil {
			t.Fatal(err)
		}
		if got := result.Roots[0].Checks[0]; got.Status != c.want || got.NoTests {
			t.Errorf("%s, %d\n%s%s, %q", c.test, c.exit, c.out, got.Status, got.Problems)
		}
	}
}

// TestScriptRunner asserts that a test is selected only where the runner gets the option, and no other
// command of the script runs tests. "a >> b" stands for the script a of pretest and b of test.
func TestScriptRunner(t *testing.T) {
	pkg := func(script string) string {
		before, script, ok := strings.Cut(script, " >> ")
		scripts := map[string]string{"pretest": before, "test": script}
		if !ok {
			scripts = map[string]string{"test": before}
		}
		raw, err := json.Marshal(map[string]any{"scripts": scripts})
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	for script, option := range map[string]string{
		"jest": "-t", "npx jest --ci": "-t", "NODE_ENV=test jest": "-t", "tsc && vitest run": "-t", "eslint . && nyc mocha 'test/**/*.js'": "-g", "cross-env A=1 c8 mocha": "-g",
		"node --experimental-vm-modules node_modules/jest/bin/jest.js": "-t", "node --test": "--test-name-pattern=", "node --test --test-reporter=spec": "--test-name-pattern=", "npm run build; mocha": "-g", "tsc -p tsconfig.test.json && mocha dist": "-g",
		"mocha a.js && echo done": "", "jest || true": "", "jest; exit 0": "", "vitest run | tee log": "", "mocha && jest": "", "npm run test:unit && jest": "", "sh -c 'jest'": "", "sh -c jest": "",
		"echo jest": "", "jest # all of them": "", "node --test a.test.js": "", "jest && eslint .": "", "node run.js": "", "(cd web; jest)": "", "mocha unit >> jest": "", "tsc >> jest": "-t", "concurrently 'jest' 'mocha'": "",
	} {
		dir := files(t, map[string]string{"package.json": pkg(script)})
		s := newStage(t, dir, nil)
		if _, err := phase.Validate(t.Context(), phase.Job{Input: phase.Input{WorkingDirectory: dir}}, phase.Config{Only: []phase.Check{phase.Tests}, Test: "adds"}, s.deps()); err != nil {
			t.Fatal(err)
		}
		ran := strings.Join(s.ran, "\n")
		if option == "" && ran != "" || option != "" && !strings.HasPrefix(ran, "npm test -- "+option) {
			t.Errorf("%s: ran %q", script, ran)
		}
	}
}
