//go:build unix

package main_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// killedLoop is a project with tests and a fixer. With brokenScript it needs two fixes, because the
// fixer mends one failure at a time. The tests and the fixer take a moment, so that kills hit them.
var killedLoop = map[string]string{
	"package.json": `{"name": "shop"}`,
	"a.js":         "exports.a = 1;\n",
	"test.sh":      "sleep 0.1\nif grep -n BUG a.js; then exit 1; fi\n",
	"../checks.yml": "checks:\n  format-command: test -f a.js\n  lint-command: test -f a.js\n" +
		"  build-command: test -f a.js\n  test-command: sh test.sh\n",
	"../half.sh": "sleep 0.1\nawk '/BUG/ && !done { done = 1; next } 1' a.js > fixed\nsleep 0.1\ncat fixed > a.js\nrm fixed\n",
}

// brokenScript is what a.js contains when a loop begins.
const brokenScript = "exports.a = 1;\n// BUG one\n// BUG two\n"

// loopPlace is a work tree in which loops are killed.
type loopPlace struct {
	t         *testing.T
	base, dir string
	env       []string
}

func newLoopPlace(t *testing.T) loopPlace {
	t.Helper()
	base := t.TempDir()
	for _, dir := range []string{filepath.Dir(base), base} {
		if err := os.Chmod(dir, 0o711); err != nil { // root's commands run as another user
			t.Fatal(err)
		}
	}
	p := loopPlace{t, base, filepath.Join(base, "repo"), []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(base, "home"), "TMPDIR=" + filepath.Join(base, "tmp")}}
	for _, dir := range []string{"repo", "tmp", "home"} {
		if err := os.Mkdir(filepath.Join(base, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, content := range killedLoop {
		p.write(name, content)
	}
	makeRepository(t, p.dir)
	p.write("a.js", brokenScript)
	return p
}

func (p loopPlace) write(name, content string) {
	p.t.Helper()
	writeFile(p.t, filepath.Join(p.dir, name), content)
}

// command returns the command that begins or resumes the loop.
func (p loopPlace) command(stderr *bytes.Buffer) *exec.Cmd {
	cmd := exec.Command(binary, "loop", "start", "--issue", "7", "--config", filepath.Join(p.base, "checks.yml"), "--fixer", "sh "+filepath.Join(p.base, "half.sh"))
	cmd.Dir, cmd.Env, cmd.Stderr = p.dir, p.env, stderr
	return cmd
}

// times matches the times in a log. Only in these may a loop that was killed differ from another
// one.
var times = regexp.MustCompile(`\d{8}T\d{6}Z`)

// log returns the loop's messages, without times, and then its outcome.
func (p loopPlace) log() (lines []string) {
	p.t.Helper()
	cmd := exec.Command(binary, "loop", "log", "--issue", "7", "--ordinal", "1", "--json")
	cmd.Dir, cmd.Env = p.dir, p.env
	out, err := cmd.Output()
	if err != nil {
		p.t.Fatalf("airlock loop log: %v", err)
	}
	log := parse[struct {
		Outcome  string           `json:"outcome"`
		Messages []map[string]any `json:"messages"`
	}](p.t, string(out))
	for _, m := range log.Messages {
		delete(m, "time")
		delete(m, "elapsed_seconds")
		lines = append(lines, times.ReplaceAllString(jsonText(p.t, m), "TIME"))
	}
	return append(lines, log.Outcome)
}

// assertNoOrphans waits until no process of a loop runs any more.
func (p loopPlace) assertNoOrphans() {
	p.t.Helper()
	var left []string
	defer func() {
		if len(left) > 0 {
			p.t.Logf("these go on: %q", left)
		}
	}()
	eventually(p.t, func() bool {
		left = p.processes()
		return len(left) == 0
	}, "processes of a loop outlive it")
}

// processes returns the commands that a loop has started and that still run: all of them have the
// place's name among their arguments or are in one of its directories. There are none where the
// system has no /proc.
func (p loopPlace) processes() (commands []string) {
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, process := range all {
		line, _ := os.ReadFile(filepath.Join(process, "cmdline"))
		dir, _ := os.Readlink(filepath.Join(process, "cwd"))
		if strings.Contains(string(line), p.base) || strings.HasPrefix(dir, p.base) {
			commands = append(commands, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return commands
}

// assertNothingLeft asserts that the files of killed processes were removed by later ones.
func (p loopPlace) assertNothingLeft() {
	p.t.Helper()
	for _, kind := range []string{"sandbox", "scratch", "outbox", "git"} {
		if left, _ := filepath.Glob(filepath.Join(p.base, "tmp", "airlock-"+kind+"-*")); len(left) > 0 {
			p.t.Errorf("%q is left", left)
		}
	}
}

// TestLoopKilled kills and interrupts loops at random moments, in turn, and starts them again:
// their logs must be those of a loop that nobody disturbed.
func TestLoopKilled(t *testing.T) {
	t.Parallel()
	var stderr bytes.Buffer
	calm := newLoopPlace(t)
	if err := calm.command(&stderr).Run(); err != nil {
		t.Fatalf("without a kill: %v\n%s", err, stderr.String())
	}
	want := calm.log()
	kills := 4
	if factor, err := strconv.Atoi(os.Getenv("AIRLOCK_CHAOS")); err == nil {
		kills *= factor
	}
	seed := uint64(0)
	for kills > 0 {
		seed++
		random := rand.New(rand.NewPCG(seed, 7))
		p := newLoopPlace(t)
		var errs bytes.Buffer
		for ended := false; !ended; {
			cmd := p.command(&errs)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			end := make(chan error, 1)
			go func() { end <- cmd.Wait() }()
			moment := time.Hour
			if kills > 0 {
				moment = time.Duration(random.Int64N(int64(1500 * time.Millisecond)))
			}
			select {
			case err := <-end:
				if ended = true; err != nil {
					t.Fatalf("seed %d: it ended with %v\n%s", seed, err, errs.String())
				}
			case <-time.After(moment):
				kills--
				signal := []os.Signal{os.Kill, os.Interrupt}[kills%2]
				_ = cmd.Process.Signal(signal)
				ended = <-end == nil
				fmt.Fprintf(&errs, "--- %s after %s\n", signal, moment)
			}
		}
		if strings.Contains(errs.String(), "level=") {
			t.Errorf("seed %d: a log that people cannot read:\n%s", seed, errs.String())
		}
		if diff := cmp.Diff(want, p.log()); diff != "" {
			t.Errorf("seed %d: the log (-calm +killed):\n%s\n%s", seed, diff, errs.String())
		}
		p.assertNoOrphans()
		p.assertNothingLeft()
		if got, err := os.ReadFile(filepath.Join(p.dir, "a.js")); err != nil || string(got) != killedLoop["a.js"] {
			t.Errorf("seed %d: a.js is %q, %v", seed, got, err)
		}
	}
}
