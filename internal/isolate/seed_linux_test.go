package isolate_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/isolate"
)

// writeFiles writes files below a directory, with the directories above them.
func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSeed asserts that each user finds the seed in the home directory, can add to it, and
// cannot change it for others, and that Go's cache counts as just trimmed, so that go removes
// nothing from it.
func TestSeed(t *testing.T) {
	r := newRunner(t)
	seed := map[string]string{
		".cache/go-build/ab/ab12-d": "compiled", ".cache/go-build/trim.txt": "1", ".cache/node/corepack/v1/pnpm/1.0.0/bin/pnpm.cjs": "console.log(1)",
	}
	cfg := r.config()
	cfg.Seed = filepath.Join(r.base, "seed")
	writeFiles(t, cfg.Seed, seed)
	s := open(t, cfg)
	if s == nil {
		return
	}
	defer s.Close()
	workers, err := s.Split(t.Context(), [][]string{{filepath.Join(s.Dir(), "sub")}, {filepath.Join(s.Dir(), "other")}})
	if err != nil {
		t.Fatal(err)
	}
	const script = `cache=${GOCACHE:-$HOME/.cache/go-build} && cat $cache/ab/ab12-d $HOME/.cache/node/corepack/v1/pnpm/1.0.0/bin/pnpm.cjs && echo &&
		echo mine >$cache/ab/$(id -u)-d && mkdir -p $cache/$(id -u) && echo new >$HOME/.cache/new && cat $cache/trim.txt && echo &&
		! echo evil 2>/dev/null >$cache/ab/ab12-d && ! chmod u+w $cache/ab/ab12-d 2>/dev/null && ! touch $cache/ab/ab12-d 2>/dev/null && readlink $cache/ab/ab12-d`
	for i, run := range []func(context.Context, command.Spec) (command.Result, error){s.Run, workers[0].Run, workers[1].Run} {
		res, err := run(t.Context(), sh(script))
		lines := strings.Split(res.Stdout.String(), "\n")
		if err != nil || !res.OK() || len(lines) < 3 || lines[0] != "compiledconsole.log(1)" || lines[2] != filepath.Join(cfg.Seed, ".cache/go-build/ab/ab12-d") {
			t.Errorf("user %d: %v, exit code %d: %s%s", i, err, res.ExitCode, res.Stdout, res.Stderr)
			continue
		}
		if trimmed := lines[1]; trimmed == "1" || len(trimmed) != 10 {
			t.Errorf("user %d: Go's cache was trimmed at %q, and would be again now", i, trimmed)
		}
	}
	for name, want := range seed {
		if data, err := os.ReadFile(filepath.Join(cfg.Seed, name)); err != nil || string(data) != want {
			t.Errorf("the seed's %s is %q, %v, want %q", name, data, err, want)
		}
	}
}

// TestClosedDirectoriesOfPath asserts that directories which the user may not enter are left out of PATH
// and noted, so that a shell reports a program as missing, not as one that may not be run.
func TestClosedDirectoriesOfPath(t *testing.T) {
	r := newRunner(t)
	writeFiles(t, r.base, map[string]string{"closed/bin/tool": "#!/bin/sh\necho closed\n", "open/bin/tool2": "#!/bin/sh\necho open\n"})
	for name, mode := range map[string]os.FileMode{"closed": 0o700, "closed/bin/tool": 0o755, "open/bin/tool2": 0o755} {
		if err := os.Chmod(filepath.Join(r.base, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(r.base, "closed", "bin"), filepath.Join(r.base, "link")); err != nil {
		t.Fatal(err)
	}
	dirs := []string{filepath.Join(r.base, "closed/bin"), filepath.Join(r.base, "link"), filepath.Join(r.base, "none"), filepath.Join(r.base, "home/bin"), filepath.Join(r.base, "open/bin")}
	if err := os.Mkdir(dirs[3], 0o755); err != nil { // in what is closed to others
		t.Fatal(err)
	}
	cfg := r.config()
	cfg.Environ = append([]string{"PATH=" + strings.Join(append(dirs, "/usr/bin", "/bin"), ":")}, cfg.Environ[1:]...)
	s := open(t, cfg)
	if s == nil {
		return
	}
	defer s.Close()
	res, err := s.Run(t.Context(), sh("tool2; tool; echo $?; echo $PATH"))
	want := "open\n127\n" + strings.Join([]string{dirs[2], dirs[4], "/usr/bin", "/bin"}, ":") + "\n"
	if err != nil || res.Stdout.String() != want {
		t.Errorf("%v, %q, want %q", err, res.Stdout, want)
	}
	for dir, why := range map[string]string{dirs[0]: "closed", dirs[1]: "closed", dirs[3]: "home"} {
		if want := (isolate.Note{Name: dir + " in PATH", Why: "the user of the checks may not enter " + filepath.Join(r.base, why)}); !slices.Contains(s.Notes(), want) {
			t.Errorf("%q is missing from the notes %q", want, s.Notes())
		}
	}
}

// TestCopiedIsCalled asserts that Copied is called with 0 before a copy, again and again while it is made,
// and with the number of all its entries.
func TestCopiedIsCalled(t *testing.T) {
	r := newRunner(t)
	files := map[string]string{}
	for i := range 1200 {
		files[fmt.Sprintf("many/%d/%d", i%26, i)] = "x"
	}
	writeFiles(t, r.workspace, files)
	var calls, first, most atomic.Int64
	first.Store(-1)
	cfg := r.config()
	cfg.Copied = func(entries int64) {
		if calls.Add(1) == 1 {
			first.Store(entries)
		}
		most.Store(max(most.Load(), entries))
	}
	s := open(t, cfg)
	if s == nil {
		return
	}
	defer s.Close()
	res, err := s.Run(t.Context(), sh("find . | wc -l"))
	if err != nil || first.Load() != 0 || calls.Load() < 4 || most.Load() < 1200 {
		t.Errorf("%v: called %d times, first with %d, at most with %d; there are %s", err, calls.Load(), first.Load(), most.Load(), res.Stdout)
	}
}
