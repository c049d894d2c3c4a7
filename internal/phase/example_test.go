package phase_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/reviewer"
	"github.com/agent-airlock/airlock/internal/secrets"
)

const ms = time.Millisecond

// play runs the request of one of the spec's examples in a directory of the test's.
func play(t *testing.T, name, dir string, deps phase.Deps) phase.Output {
	t.Helper()
	var members map[string]any
	if err := json.Unmarshal(readSpec(t, name+"-request.json"), &members); err != nil {
		t.Fatal(err)
	}
	delete(members, "working_directory")
	in, err := phase.ReadInput(inDir(t, dir, members))
	if err != nil {
		t.Fatal(err)
	}
	return validate(t, phase.Job{Input: in}, phase.Config{}, deps).Output
}

// golden compares an output with that of the spec's example. Before that, it calls explained to
// edit the example's output where Airlock differs on purpose.
func golden(t *testing.T, name string, got phase.Output, explained func(*phase.Output)) {
	t.Helper()
	var want phase.Output
	if err := json.Unmarshal(readSpec(t, name+"-response.json"), &want); err != nil {
		t.Fatal(err)
	}
	explained(&want)
	w, err := want.Encode()
	if err != nil {
		t.Fatal(err)
	}
	g, err := got.Encode()
	if err != nil {
		t.Fatal(err)
	}
	sameJSON(t, w, g)
}

// reviewed returns a reviewer that reports these findings.
func reviewed(found ...finding.Finding) phase.Reviewer {
	return func(context.Context, phase.ReviewRequest) ([]finding.Finding, error) { return found, nil }
}

const nodeProject = `{"scripts":{"lint":"eslint .","build":"tsc","test":"jest"}}`

func nodeSteps() map[string][]step {
	return map[string][]step{
		"prettier --check .": {{took: 1200 * ms}}, "npm run lint": {{took: 1800 * ms}},
		"npm run build": {{took: 3000 * ms}}, "npm test": {{took: 2400 * ms}},
	}
}

// TestExampleOne asserts the output of the spec's first example. The reviews take no time in the
// test, and so their times in the example are set to 0 and subtracted from its total. The
// formatter's command only checks, while that of the example writes.
func TestExampleOne(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"package.json": nodeProject, "tsconfig.json": "{}"})
	got := play(t, "example1", dir, newStage(t, dir, nodeSteps()).deps())
	golden(t, "example1", got, func(o *phase.Output) {
		o.Checks.Formatter.Command = "npx prettier --check ."
		o.Time, o.Checks.CodeReview.Time, o.Checks.SecurityReview.Time = 8400, 0, 0
	})
}

func TestExampleTwo(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"pyproject.toml": "", "main.py": ""})
	s := newStage(t, dir, map[string][]step{
		"black . --check":    {{code: 1, took: 600 * ms}, {code: 1, took: 600 * ms}, {took: 600 * ms}},
		"black main.py":      {{took: 300 * ms}},
		"ruff check . --fix": {{code: 1, took: 1000 * ms}, {took: 1000 * ms}},
		"ruff check --fix --force-exclude --output-format=json main.py": {{took: 100 * ms}},
		"pytest -v": {{took: 3400 * ms, stdout: "==== 3 passed in 0.01s ====\n"}},
	})
	got := play(t, "example2", dir, s.deps())
	golden(t, "example2", got, func(o *phase.Output) {
		o.Time, o.Checks.CodeReview.Time, o.Checks.SecurityReview.Time = 7900, 0, 0
	})
	if !slices.Equal(s.waits, []time.Duration{2 * time.Second, 2 * time.Second, 2 * time.Second}) {
		t.Errorf("waited %v between fix and check, want 2 s three times", s.waits)
	}
}

func TestExampleThree(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"package.json": nodeProject})
	s := newStage(t, dir, nodeSteps())
	w := s.deps()
	w.SecurityReview = reviewed(finding.Finding{
		Tool: "airlock", Severity: finding.Critical, Path: "src/database.ts", Range: finding.Range{StartLine: 156},
		Message: "SQL Injection",
	})
	got := play(t, "example3", dir, w)
	golden(t, "example3", got, func(o *phase.Output) {
		c := &o.Checks
		c.Formatter.Command, c.SecurityReview.Vulnerabilities = "npx prettier --check .", []string{"SQL Injection at src/database.ts:156"}
		c.Formatter.Time, c.Linter.Time, c.Build.Time, c.CodeReview.Time, c.SecurityReview.Time = 1200, 1800, 3000, 0, 0
		o.Time = 8400
	})
}

// TestTheDocumentsExampleIsTrue compares the example in docs/output.md with the document
// that real tools give for a real project. Only the clock is the test's own.
func TestTheDocumentsExampleIsTrue(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{
		"go.mod": "module example.com/shop\n\ngo 1.24\n",
		"shop.go": `// Package shop adds prices.
package shop

import "database/sql"

// Sum adds two prices.
func Sum(a,b int) int { return a + b }

// Tax returns a fifth.
func Tax(a int) int { return a / 4 }

// Orders returns a customer's.
func Orders(db *sql.DB, customer string) (*sql.Rows, error) {
	return db.Query("SELECT * FROM orders WHERE customer = '" + customer + "'")
}
`,
		"shop_test.go": "package shop\n\nimport \"testing\"\n\nfunc TestSum(t *testing.T) {\n\tif Sum(1, 2) != 3 {\n\t\tt.Error(Sum(1, 2))\n\t}\n}\n\nfunc TestTax(t *testing.T) {\n\tif Tax(100) != 20 {\n\t\tt.Error(Tax(100))\n\t}\n}\n",
	})
	w := realDeps(t)
	now := time.Unix(1_800_000_000, 0)
	inner := w.Run
	w.Now = func() time.Time { return now }
	w.Run = func(ctx context.Context, spec command.Spec) (command.Result, error) {
		now = now.Add(400 * time.Millisecond)
		return inner(ctx, spec)
	}
	built, err := reviewer.New(reviewer.Config{}, secrets.New(nil))
	if err != nil {
		t.Fatal(err)
	}
	w.CodeReview, w.SecurityReview = reading(built.Code), reading(built.Security)
	in := phase.Input{WorkingDirectory: dir, ChangedFiles: []string{"shop.go", "shop_test.go"}, LintCommand: "go vet ./...", MaxRetries: 3}
	got, err := validate(t, phase.Job{Input: in}, phase.Config{}, w).Output.Encode()
	if err != nil {
		t.Fatal(err)
	}
	const path = "../../docs/output.md"
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	example := regexp.MustCompile(`(?s)(<!-- example: validation -->\n).*?(<!-- end -->\n)`)
	if !example.Match(raw) {
		t.Fatal("docs/output.md has no place for the example")
	}
	want := example.ReplaceAllStringFunc(string(raw), func(found string) string {
		head, _, _ := strings.Cut(found, "\n")
		return head + "\n```json\n" + string(got) + "```\n<!-- end -->\n"
	})
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(raw), want); diff != "" {
		t.Errorf("docs/output.md has another result (-document +result); run go test ./internal/phase -update:\n%s", diff)
	}
}

// reading returns a reviewer that reads the request's files and calls judge with them.
func reading(judge func(context.Context, []reviewer.File) (reviewer.Result, error)) phase.Reviewer {
	return func(ctx context.Context, r phase.ReviewRequest) ([]finding.Finding, error) {
		var files []reviewer.File
		for _, f := range r.Files {
			text, err := os.ReadFile(filepath.Join(r.Repository, f))
			if err != nil {
				return nil, err
			}
			files = append(files, reviewer.File{Path: f, Text: string(text)})
		}
		result, err := judge(ctx, files)
		return result.Findings, err
	}
}
