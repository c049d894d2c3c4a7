package phase_test

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/phase"
)

// workers are fake workers that note in which directories each ran something.
type workers struct {
	dirs [][]string // the outermost roots of each worker, relative to the working directory
	mu   sync.Mutex
	ran  []map[string]bool
	busy []bool
}

// set makes deps use the workers.
func (ws *workers) set(t *testing.T, w *phase.Deps, dir string) {
	inner := w.Run
	w.Run = func(context.Context, command.Spec) (command.Result, error) {
		t.Error("a root's command runs without its worker")
		return command.Result{}, nil
	}
	w.Workers = func(groups [][]string) (runners []phase.Runner) {
		if ws.dirs != nil {
			t.Error("there are workers twice")
		}
		ws.ran, ws.busy = make([]map[string]bool, len(groups)), make([]bool, len(groups))
		for i, group := range groups {
			var names []string
			for _, f := range group {
				names = append(names, strings.TrimPrefix(f, dir+"/"))
			}
			ws.dirs, ws.ran[i] = append(ws.dirs, names), map[string]bool{}
			runners = append(runners, func(ctx context.Context, spec command.Spec) (command.Result, error) {
				ws.enter(t, i, path.Base(spec.Dir))
				defer ws.leave(i)
				return inner(ctx, spec)
			})
		}
		return runners
	}
}

func (ws *workers) enter(t *testing.T, worker int, dir string) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.busy[worker] {
		t.Errorf("two commands at the same time by worker %d", worker)
	}
	ws.busy[worker], ws.ran[worker][dir] = true, true
}

func (ws *workers) leave(worker int) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.busy[worker] = false
}

// TestIndependentRootsRunAtTheSameTime: each root's test waits for the other's, which
// only works if both run at once.
func TestIndependentRootsRunAtTheSameTime(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"a/setup.py": "", "b/setup.py": "", "a/x.py": "", "b/x.py": ""})
	w := newStage(t, dir, nil).deps()
	meet := make(chan struct{})
	inner := w.Run
	w.Run = func(ctx context.Context, spec command.Spec) (command.Result, error) {
		if spec.Program == "pytest" {
			select {
			case meet <- struct{}{}:
			case <-meet:
			case <-ctx.Done():
			}
		}
		return inner(ctx, spec)
	}
	w.Cores = 2
	(&workers{}).set(t, &w, dir)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	in := phase.Input{WorkingDirectory: dir, ChangedFiles: []string{"a/x.py", "b/x.py"}}
	r, err := phase.Validate(ctx, phase.Job{Input: in}, phase.Config{}, w)
	if err != nil || len(r.Roots) != 2 || !strings.Contains(r.Output.Checks.Tests.Command, "(cd 'a' && pytest) && (cd 'b' && pytest)") {
		t.Errorf("%v: %+v", err, r.Output.Checks.Tests)
	}
}

// TestWorkers asserts which roots share a worker, and that a worker runs one command at a time.
// There are at most four workers per core. A root in another one shares its worker.
func TestWorkers(t *testing.T) {
	t.Parallel()
	many := map[string]string{}
	var spread [][]string
	for i := range 11 {
		name := fmt.Sprintf("m%02d", i)
		many[name+"/go.mod"] = ""
		if i < 8 {
			spread = append(spread, []string{name})
		} else {
			spread[i-8] = append(spread[i-8], name)
		}
	}
	tests := []struct {
		name  string
		files map[string]string
		cores int
		want  [][]string // nil: there are no workers
	}{
		{"one root", map[string]string{"a/go.mod": ""}, 2, nil},
		{"one core", map[string]string{"a/go.mod": "", "b/go.mod": ""}, 1, nil},
		{"two", map[string]string{"a/go.mod": "", "b/go.mod": ""}, 2, [][]string{{"a"}, {"b"}}},
		{"more cores than roots", map[string]string{"a/go.mod": "", "b/go.mod": ""}, 64, [][]string{{"a"}, {"b"}}},
		{"roots in roots", map[string]string{"a/go.mod": "", "a/b/go.mod": "", "a/b/c/go.mod": "", "ab/go.mod": ""}, 2, [][]string{{"a"}, {"ab"}}},
		{"all in one", map[string]string{"go.mod": "", "a/go.mod": "", "b/go.mod": ""}, 2, nil},
		{"more roots than workers", many, 2, spread},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := files(t, tt.files)
			in := phase.Input{WorkingDirectory: dir}
			for name := range tt.files {
				in.ChangedFiles = append(in.ChangedFiles, path.Dir(name)+"/x.go")
			}
			w := newStage(t, dir, nil).deps()
			w.Cores = tt.cores
			var ws workers
			if tt.want != nil {
				ws.set(t, &w, dir)
			} else {
				w.Workers = func([][]string) []phase.Runner { t.Error("there are workers"); return nil }
			}
			r := validate(t, phase.Job{Input: in}, phase.Config{}, w)
			if diff := cmp.Diff(tt.want, ws.dirs); diff != "" || len(r.Roots) != len(tt.files) {
				t.Errorf("%d roots of workers (-want +got)\n%s", len(r.Roots), diff)
			}
			for i, dirs := range ws.dirs {
				for _, dir := range dirs {
					if !ws.ran[i][path.Base(dir)] {
						t.Errorf("nothing ran in %s by its worker", dir)
					}
				}
			}
		})
	}
}

// TestNoWorkers asserts that roots are validated one after the other where there are no workers.
func TestNoWorkers(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"a/go.mod": "", "b/go.mod": ""})
	s := newStage(t, dir, nil)
	w := s.deps()
	w.Cores, w.Workers = 2, func([][]string) []phase.Runner { return nil }
	in := phase.Input{WorkingDirectory: dir, ChangedFiles: []string{"b/x.go", "a/x.go"}}
	r := validate(t, phase.Job{Input: in}, phase.Config{}, w)
	if ran := strings.Join(s.ran, "\n"); len(r.Roots) != 2 || strings.Index(ran, "@b") < strings.LastIndex(ran, "@a") || !strings.Contains(ran, "@a") {
		t.Errorf("%d roots, and what ran is\n%s", len(r.Roots), ran)
	}
}

// TestTheFirstRunOfACheckGoesAlone asserts that, while the first root's linter fills Go's cache,
// the second root's waits for it, and a third root uses the free core.
func TestTheFirstRunOfACheckGoesAlone(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"a/go.mod": "", "b/go.mod": "", "c/setup.py": ""})
	w := newStage(t, dir, map[string][]step{}).deps()
	inner := w.Run
	var linting, linted atomic.Int32
	third := make(chan struct{})
	w.Run = func(ctx context.Context, spec command.Spec) (command.Result, error) {
		switch {
		case spec.Program == "go" && spec.Args[0] == "vet":
			if linting.Add(1) == 2 && linted.Load() == 0 {
				t.Error("the second linter did not wait for the first")
			}
			select {
			case <-third:
			case <-ctx.Done():
			}
			linted.Add(1)
		case spec.Program == "pytest":
			close(third)
		}
		return inner(ctx, spec)
	}
	w.Cores = 2
	(&workers{}).set(t, &w, dir)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	in := phase.Input{WorkingDirectory: dir, ChangedFiles: []string{"a/x.go", "b/x.go", "c/x.py"}}
	if _, err := phase.Validate(ctx, phase.Job{Input: in}, phase.Config{}, w); err != nil || linted.Load() != 2 {
		t.Errorf("%v; %d roots linted", err, linted.Load())
	}
}

// TestWaitingEndsWithTheRun: a root that waits for another root's check does not wait forever.
func TestWaitingEndsWithTheRun(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"a/go.mod": "", "b/go.mod": ""})
	w := newStage(t, dir, nil).deps()
	inner := w.Run
	ctx, cancel := context.WithCancel(t.Context())
	w.Run = func(ctx context.Context, spec command.Spec) (command.Result, error) {
		if spec.Program == "go" && spec.Args[0] == "vet" {
			cancel()
			<-ctx.Done()
		}
		return inner(ctx, spec)
	}
	w.Cores = 2
	(&workers{}).set(t, &w, dir)
	in := phase.Input{WorkingDirectory: dir, ChangedFiles: []string{"a/x.go", "b/x.go"}}
	if _, err := phase.Validate(ctx, phase.Job{Input: in}, phase.Config{}, w); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
