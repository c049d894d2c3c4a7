package phase_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/changes"
	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/shorttest"
	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "rewrite what the projects in testdata/repos want")

// TestGoProjects runs real projects with their real tools; those of the other
// languages need more tools than Go and git, and the build tag "tools".
func TestGoProjects(t *testing.T) { runProjects(t, "go-") }

// runProjects validates the projects of testdata/repos whose names begin with prefix, and
// compares the results with the files "want" and "suggestions" in each.
func runProjects(t *testing.T, prefix string) {
	t.Helper()
	archives, err := filepath.Glob("../../testdata/repos/" + prefix + "*.txtar")
	if err != nil || len(archives) < 2 {
		t.Fatalf("%v, %v: want two projects at least", archives, err)
	}
	for _, file := range shorttest.First(1, archives) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if last := archive.Files[len(archive.Files)-1].Name; last != "want" {
				t.Fatalf("the last file is %s, not want", last)
			}
			goldenFile(t, file, archive, "want", runProject(t, archive))
			if slices.ContainsFunc(archive.Files, func(f txtar.File) bool { return f.Name == "suggestions" }) {
				goldenFile(t, file, archive, "suggestions", suggestedFor(t, archive))
			}
		})
	}
}

// goldenFile asserts that a file of an archive has the text got, or rewrites the file.
func goldenFile(t *testing.T, file string, archive *txtar.Archive, name, got string) {
	t.Helper()
	i := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == name })
	if *update {
		archive.Files[i].Data = []byte(got)
		if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(archive.Files[i].Data), got); diff != "" {
		t.Errorf("%s\n%s", archive.Comment, diff)
	}
}

// runProject validates a project, and returns the result in a form that is the same
// wherever it stood.
func runProject(t *testing.T, archive *txtar.Archive) string {
	t.Helper()
	_, in := unpack(t, archive)
	deps := realDeps(t)
	deps.Reports = t.TempDir()
	diff := addedLines(t, archive)
	r := validate(t, phase.Job{Input: in, Diff: diff}, phase.Config{RetryDelay: time.Nanosecond, NewOnly: diff != nil}, deps)
	return strings.ReplaceAll(describe(r), in.WorkingDirectory, "/project")
}

// addedLines returns the diff of a pull request, nil for a project without the file "changes". Each
// line of that file is "PATH:FIRST-LAST", for lines that were added.
func addedLines(t *testing.T, archive *txtar.Archive) (diff []changes.ChangedFile) {
	t.Helper()
	i := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == "changes" })
	if i < 0 {
		return nil
	}
	for line := range strings.Lines(string(archive.Files[i].Data)) {
		name, span, _ := strings.Cut(strings.TrimSpace(line), ":")
		var first, last int
		if _, err := fmt.Sscanf(span, "%d-%d", &first, &last); err != nil {
			t.Fatalf("changes: %q: %v", line, err)
		}
		patch := fmt.Sprintf("@@ -%d,0 +%d,%d @@\n", first-1, first, last-first+1) + strings.Repeat("+x\n", last-first+1)
		diff = append(diff, changes.ChangedFile{Path: name, Status: changes.Modified, Patch: patch})
	}
	return diff
}

// unpack makes a directory of a project, and returns its files and its input.
func unpack(t *testing.T, archive *txtar.Archive) (map[string]string, phase.Input) {
	t.Helper()
	contents := map[string]string{}
	var members map[string]any
	for _, f := range archive.Files {
		switch f.Name {
		case "want", "suggestions", "changes":
		case "input.json":
			if err := json.Unmarshal(f.Data, &members); err != nil {
				t.Fatal(err)
			}
		default:
			contents[f.Name] = string(f.Data)
		}
	}
	dir := files(t, contents)
	if _, ok := contents["package.json"]; ok {
		if err := os.Symlink(os.Getenv("AIRLOCK_NODE_MODULES"), filepath.Join(dir, "node_modules")); err != nil {
			t.Fatalf("AIRLOCK_NODE_MODULES has to name a node_modules directory: %v", err)
		}
	}
	in, err := phase.ReadInput(inDir(t, dir, members))
	if err != nil {
		t.Fatal(err)
	}
	return contents, in
}

// realDeps returns dependencies that run real tools: those of Go's and Rust's installations, the
// system's, and those in AIRLOCK_NODE_MODULES.
func realDeps(t *testing.T) phase.Deps {
	t.Helper()
	var path []string
	for _, tool := range []string{"go", "cargo"} {
		if at, err := exec.LookPath(tool); err == nil {
			path = append(path, filepath.Dir(at))
		}
	}
	path = append(path, "/usr/bin", "/bin")
	if modules := os.Getenv("AIRLOCK_NODE_MODULES"); modules != "" {
		path = append(path, filepath.Join(modules, ".bin"))
	}
	env := []string{"PATH=" + strings.Join(path, ":"), "LANG=C.UTF-8", "CI=1", "NO_COLOR=1", "TMPDIR=" + t.TempDir()}
	for _, name := range []string{"HOME", "GOCACHE", "GOROOT", "GOTOOLCHAIN", "CARGO_HOME", "RUSTUP_HOME", "JAVA_HOME"} {
		if value := os.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	return phase.Deps{
		Run: command.Run, Env: env, Now: time.Now,
		Wait: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	}
}

// describe writes down a result, without its times.
func describe(r phase.Result) string {
	var b strings.Builder
	for _, root := range r.Roots {
		fmt.Fprintf(&b, "%s: %s\n", root.Dir, root.Language)
		for _, c := range root.Checks {
			fmt.Fprintf(&b, "%s: %s", c.Check, c.Status)
			if c.Command != "" {
				fmt.Fprintf(&b, ", `%s`, exit code %d", c.Command, c.ExitCode)
			}
			if c.Retries > 0 {
				fmt.Fprintf(&b, ", %d retries", c.Retries)
			}
			if c.Failing > 0 {
				fmt.Fprintf(&b, ", %d failing", c.Failing)
			}
			b.WriteString("\n")
			for _, p := range c.Problems {
				fmt.Fprintf(&b, "  %s\n", p)
			}
			for _, f := range c.Failures {
				fmt.Fprintf(&b, "  failing: %s %s %s:%d\n", f.Unit, f.Name, f.Path, f.Line)
			}
			for _, f := range c.Rewritten {
				fmt.Fprintf(&b, "  rewritten: %s\n", f)
			}
			for _, n := range c.Notes {
				fmt.Fprintf(&b, "  note: %s\n", n)
			}
		}
	}
	fmt.Fprintf(&b, "all: %s\n", r.Output.Status)
	return b.String()
}
