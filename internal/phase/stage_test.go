package phase_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/shorttest"
)

func TestMain(m *testing.M) {
	shorttest.LeaveOut( // these start real tools, or make thousands of files or findings
		"TestTheDocumentsExampleIsTrue", "TestSnapshotIsBounded", "TestNamedTestReally", "TestMoreFilesThanAProgramTakes", "TestWhatIsLeftOutIsNoted",
		"TestGoProjects",
	)
	shorttest.TempInMemory()
	os.Exit(m.Run())
}

// step is one run of a command on a stage.
type step struct {
	code     int
	stdout   string
	stderr   string
	took     time.Duration
	timedOut bool
	absent   bool                     // no such program
	do       func(*testing.T, string) // to the directory it runs in
}

// stage is an environment in which commands do what a test describes. A command without
// steps left repeats its last one; one without any is absent.
type stage struct {
	t     *testing.T
	mu    sync.Mutex
	now   time.Time
	steps map[string][]step
	ran   []string // command lines, each with " @DIRECTORY" if it did not run in dir; of sh the script
	waits []time.Duration
	specs []command.Spec
	dir   string
}

func newStage(t *testing.T, dir string, steps map[string][]step) *stage {
	return &stage{t: t, now: time.Unix(1_800_000_000, 0), steps: steps, dir: dir}
}

func (s *stage) deps() phase.Deps {
	return phase.Deps{
		Run: s.run, Env: []string{"PATH=/usr/bin:/bin"},
		Now: func() time.Time { s.mu.Lock(); defer s.mu.Unlock(); return s.now },
		Wait: func(_ context.Context, d time.Duration) error {
			s.waits = append(s.waits, d)
			return nil
		},
	}
}

func (s *stage) run(ctx context.Context, spec command.Spec) (command.Result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	line := strings.Join(append([]string{spec.Program}, spec.Args...), " ")
	if spec.Program == "sh" {
		line = spec.Args[1]
	}
	if rel, err := filepath.Rel(s.dir, spec.Dir); err == nil && rel != "." {
		line += " @" + rel
	}
	s.ran = append(s.ran, line)
	s.specs = append(s.specs, spec)
	steps := s.steps[line]
	if len(steps) == 0 {
		steps = []step{{absent: true}}
	}
	st := steps[0]
	if len(steps) > 1 {
		s.steps[line] = steps[1:]
	}
	if st.absent {
		return command.Result{ExitCode: -1}, fmt.Errorf("%s: %w", spec.Program, command.ErrNotFound)
	}
	if st.do != nil {
		st.do(s.t, spec.Dir)
	}
	s.now = s.now.Add(st.took)
	for _, out := range []struct {
		to   io.Writer
		text string
	}{{spec.Stdout, st.stdout}, {spec.Stderr, st.stderr}} {
		if out.to == nil {
			continue
		}
		if _, err := io.WriteString(out.to, out.text); err != nil {
			return command.Result{}, err
		}
	}
	r := command.Result{ExitCode: st.code, TimedOut: st.timedOut, Duration: st.took}
	r.Stdout.Head, r.Stderr.Head = []byte(st.stdout), []byte(st.stderr)
	if ctx.Err() != nil {
		return r, errors.New("ended")
	}
	return r, nil
}

// files makes a directory with these files.
func files(t *testing.T, contents map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range contents {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// validate runs a job, and asserts that its output is valid.
func validate(t *testing.T, job phase.Job, config phase.Config, deps phase.Deps) phase.Result {
	t.Helper()
	result, err := phase.Validate(t.Context(), job, config, deps)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := result.Output.Encode(); err != nil {
		t.Fatal(err)
	}
	return result
}

var ok = []step{{}}
