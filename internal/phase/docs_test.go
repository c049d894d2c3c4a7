package phase_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
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

// TestTheDocumentsExampleIsTrue holds the example in docs/output.md to what is said
// of a real project by real tools; only the time is a clock's of the test's own.
func TestTheDocumentsExampleIsTrue(t *testing.T) {
	dir := files(t, map[string]string{
		"go.mod": "module example.com/shop\n\ngo 1.24\n",
		"shop.go": `// Package shop adds prices.
package shop

import "database/sql"

// Sum adds two prices.
func Sum(a,b int) int { return a + b }

// Tax is a fifth.
func Tax(a int) int { return a / 4 }

// Orders returns a customer's.
func Orders(db *sql.DB, customer string) (*sql.Rows, error) {
	return db.Query("SELECT * FROM orders WHERE customer = '" + customer + "'")
}
`,
		"shop_test.go": "package shop\n\nimport \"testing\"\n\nfunc TestSum(t *testing.T) {\n\tif Sum(1, 2) != 3 {\n\t\tt.Error(Sum(1, 2))\n\t}\n}\n\nfunc TestTax(t *testing.T) {\n\tif Tax(100) != 20 {\n\t\tt.Error(Tax(100))\n\t}\n}\n",
	})
	w := realWorld(t)
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
		t.Errorf("docs/output.md tells another result (-document +result); run go test ./internal/phase -update:\n%s", diff)
	}
}

// reading has a reviewer look at the files of a folder.
func reading(look func(context.Context, []reviewer.File) (reviewer.Result, error)) phase.Reviewer {
	return func(ctx context.Context, r phase.ReviewRequest) ([]finding.Finding, error) {
		var looked []reviewer.File
		for _, f := range r.Files {
			text, err := os.ReadFile(filepath.Join(r.Repository, f))
			if err != nil {
				return nil, err
			}
			looked = append(looked, reviewer.File{Path: f, Text: string(text)})
		}
		result, err := look(ctx, looked)
		return result.Findings, err
	}
}
