package isolate_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/isolate"
)

// openSplit opens a sandbox over a workspace with the directories a, a/in, b and c, and
// splits it into the workers {a} and {b, c}. Without root it returns nil.
func openSplit(t *testing.T, r runner) (*isolate.Sandbox, []*isolate.Worker) {
	t.Helper()
	for _, dir := range []string{"a", "a/in", "b", "c"} {
		if err := os.MkdirAll(filepath.Join(r.workspace, dir), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(r.workspace, dir, "f"), []byte(dir+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.WriteFile(filepath.Join(r.base, "linked"), nil, 0o644), os.Symlink(filepath.Join(r.base, "linked"), filepath.Join(r.workspace, "b/link"))); err != nil {
		t.Fatal(err)
	}
	sandbox := open(t, r.config())
	if sandbox == nil {
		return nil, nil
	}
	t.Cleanup(func() {
		if err := sandbox.Close(); err != nil {
			t.Error(err)
		}
	})
	in := func(dir string) string { return filepath.Join(sandbox.Dir(), dir) }
	workers, err := sandbox.Split(t.Context(), [][]string{{in("a")}, {in("b"), in("c")}})
	if err != nil || len(workers) != 2 {
		t.Fatalf("%d workers: %v", len(workers), err)
	}
	return sandbox, workers
}

// inDirectory returns the command with a directory of the sandbox to run in.
func inDirectory(sandbox *isolate.Sandbox, dir string, spec command.Spec) command.Spec {
	spec.Dir = filepath.Join(sandbox.Dir(), dir)
	return spec
}

// mustRun runs a command, which has to succeed, and returns its output.
func mustRun(t *testing.T, run func(context.Context, command.Spec) (command.Result, error), spec command.Spec) string {
	t.Helper()
	res, err := run(t.Context(), spec)
	if err != nil || !res.OK() {
		t.Errorf("%q: %v, exit code %d: %s%s", spec.Args, err, res.ExitCode, res.Stdout, res.Stderr)
	}
	return strings.TrimSpace(res.Stdout.String())
}

// TestWorkersRunSideBySide: a program of each worker waits for the other's; they are
// different users, with homes of their own.
func TestWorkersRunSideBySide(t *testing.T) {
	t.Parallel()
	sandbox, workers := openSplit(t, newRunner(t))
	if sandbox == nil {
		return
	}
	meet := `touch here; i=0; until [ -e ../$1/here ] || [ $i = 600 ]; do i=$((i+1)); sleep 0.1; done; [ -e ../$1/here ] && id -u && echo $HOME $TMPDIR && echo >$HOME/f && echo >$TMPDIR/f`
	var out [2]string
	var wg sync.WaitGroup
	for i, dirs := range [][2]string{{"a", "b"}, {"b", "a"}} {
		wg.Go(func() { out[i] = mustRun(t, workers[i].Run, inDirectory(sandbox, dirs[0], sh(meet, dirs[1]))) })
	}
	wg.Wait()
	first, second := strings.Fields(out[0]), strings.Fields(out[1])
	if len(first) != 3 || len(second) != 3 {
		t.Fatalf("%q", out)
	}
	for i := range first {
		if first[i] == second[i] {
			t.Errorf("both workers have %s", first[i])
		}
	}
	names := strings.NewReplacer(sandbox.Replacements()...)
	if got := names.Replace(out[1] + " " + sandbox.Dir() + "/b/f"); got != second[0]+"\n~ $TMPDIR b/f" {
		t.Errorf("a reader sees %q", got)
	}
}

// TestAWorkerEndsItsOwnAlone asserts rule R4 for workers: the processes that a worker's program
// leaves end with it, and the programs of other workers go on.
func TestAWorkerEndsItsOwnAlone(t *testing.T) {
	t.Parallel()
	sandbox, workers := openSplit(t, newRunner(t))
	if sandbox == nil {
		return
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	started, ended := make(chan struct{}), make(chan string)
	go func() {
		spec := inDirectory(sandbox, "a", sh(`echo up; until [ -e stop ]; do sleep 0.05; done; echo complete`))
		spec.Stdout = writer(func(p []byte) (int, error) {
			if string(p) == "up\n" {
				close(started)
			}
			return len(p), nil
		})
		res, err := workers[0].Run(ctx, spec)
		ended <- fmt.Sprint(err, res.ExitCode, res.Stdout.String())
	}()
	<-started
	res, err := workers[1].Run(ctx, inDirectory(sandbox, "b", sh(`(setsid sh -c 'trap "" TERM HUP INT; while :; do echo x >>late; done' &) ; until [ -s late ]; do :; done; kill -9 -1; exit 0`)))
	if err != nil {
		t.Errorf("%v, %+v", err, res)
	}
	late := filepath.Join(sandbox.Dir(), "b/late")
	before, err := os.Stat(late)
	if err != nil {
		t.Fatal(err)
	}
	mustRun(t, workers[1].Run, inDirectory(sandbox, "b", sh(`i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; touch ../a/stop`)))
	if after, err := os.Stat(late); err != nil || after.Size() != before.Size() {
		t.Errorf("%v: it grew from %d bytes", err, before.Size())
	}
	if got := <-ended; got != "<nil> 0up\ncomplete\n" {
		t.Errorf("the other worker's program: %s", got)
	}
}

// TestFilesOfWorkers asserts that a worker owns its directories and can work in those of others,
// and that the sandbox's own programs can work in all of them at any time.
func TestFilesOfWorkers(t *testing.T) {
	t.Parallel()
	sandbox, workers := openSplit(t, newRunner(t))
	if sandbox == nil {
		return
	}
	owner := `stat -c %u . f`
	users := map[string]string{}
	mustRun(t, workers[1].Run, inDirectory(sandbox, "b", sh(`cat ../a/f && echo x >>../a/f && cat ../main.go`))) // 0600 in the workspace
	for _, dir := range []string{"a", "a/in", "b", "c"} {
		worker := workers[0]
		if dir == "b" || dir == "c" {
			worker = workers[1]
		}
		me := mustRun(t, worker.Run, inDirectory(sandbox, dir, sh(`id -u`)))
		if got := mustRun(t, worker.Run, inDirectory(sandbox, dir, sh(owner))); got != me+"\n"+me {
			t.Errorf("%s belongs to %q, not to %s", dir, got, me)
		}
		mustRun(t, worker.Run, inDirectory(sandbox, dir, sh(`chmod 700 f && touch -d 2001-01-01 f && echo mine >>f && mkdir -m 700 closed && echo x >closed/f && echo other >$1/a/other`, sandbox.Dir())))
		users[dir] = me
	}
	if users["a"] == users["b"] || users["b"] != users["c"] {
		t.Errorf("the workers' users are %v", users)
	}
	united := mustRun(t, sandbox.Run, sh(`id -u; for d in a b c; do cat $d/closed/f && echo >$d/closed/g && rm $d/closed/f && chmod 755 $d/closed || exit 1; done; mkdir -m 700 b/whole`))
	// The first worker's user is the sandbox's own.
	if united != users["a"]+"\nx\nx\nx" {
		t.Errorf("the sandbox's own program says %q", united)
	}
	mustRun(t, workers[1].Run, inDirectory(sandbox, "b", sh(`cat closed/g && rm closed/g && rmdir whole && chmod 700 closed`)))
	var mode []string
	for _, f := range []string{"main.go", "a", "b/f", "sub"} {
		mode = append(mode, fmt.Sprintf("%s %o", f, permissions(t, filepath.Join(sandbox.Dir(), f))))
	}
	if diff := cmp.Diff([]string{"main.go 666", "a 775", "b/f 700", "sub 775"}, mode); diff != "" {
		t.Errorf("permissions (-want +got)\n%s", diff)
	}
}

// TestStrangersFilesStayStrangers asserts that links which a worker's programs put in place
// of files are not followed, and that files outside do not become the worker's.
func TestStrangersFilesStayStrangers(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	sandbox, workers := openSplit(t, r)
	if sandbox == nil {
		return
	}
	outside := filepath.Join(filepath.Dir(filepath.Dir(sandbox.Dir())), fmt.Sprintf("airlock-outside-%d", os.Getpid()))
	if err := errors.Join(os.Mkdir(outside, 0o755), os.WriteFile(filepath.Join(outside, "f"), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(outside)
	if err := os.Link(filepath.Join(outside, "f"), filepath.Join(sandbox.Dir(), "b/hard")); err != nil { // as where fs.protected_hardlinks is 0
		t.Fatal(err)
	}
	mustRun(t, workers[1].Run, inDirectory(sandbox, "b", sh(`ln -s $1 out && ln -s $1/f file && mkfifo pipe && rm -r ../c && ln -s $1 ../c`, outside)))
	deep := `i=0; while [ $i -lt 300 ]; do mkdir -m 700 d && cd d || exit 1; i=$((i+1)); done`
	mustRun(t, workers[1].Run, inDirectory(sandbox, "b", sh(deep)))
	mustRun(t, sandbox.Run, sh(`test ! -w b/hard && stat -c %u b/pipe b/d/d`))
	mustRun(t, workers[1].Run, inDirectory(sandbox, "b", sh(`test ! -w hard`)))
	for _, name := range []string{outside, filepath.Join(outside, "f"), filepath.Join(r.base, "linked")} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if st := info.Sys().(*syscall.Stat_t); st.Uid != 0 || st.Gid != 0 || info.Mode().Perm()&0o022 != 0 {
			t.Errorf("%s belongs to %d:%d, %v", name, st.Uid, st.Gid, info.Mode())
		}
	}
}

// TestAttacksFromAWorker asserts rule R3 for a user other than the sandbox's own.
func TestAttacksFromAWorker(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	sandbox, workers := openSplit(t, r)
	if sandbox == nil {
		return
	}
	for _, a := range attacks() {
		t.Run(a.name, func(t *testing.T) {
			res, err := workers[1].Run(t.Context(), sh(a.script, r.base))
			if err != nil || res.ExitCode <= 0 || strings.Contains(res.Stdout.String(), "ghs_") {
				t.Errorf("%v: exit code %d: %s%s", err, res.ExitCode, res.Stdout, res.Stderr)
			}
		})
	}
	home := mustRun(t, workers[0].Run, sh(`echo secret >$HOME/f && echo $HOME`))
	for _, script := range []string{`cat $1/f`, `ls $1`, `echo evil >$1/.bashrc`, `mv $1 $1.evil`, `echo evil >$1/../evil`} {
		if res, err := workers[1].Run(t.Context(), sh(script, home)); err != nil || res.ExitCode <= 0 {
			t.Errorf("%s in another worker's home: %v, exit code %d", script, err, res.ExitCode)
		}
	}
}

// TestWorkersShareGosCaches asserts that workers have the same caches of Go and may all write to them,
// so that not each of them compiles the standard library.
func TestWorkersShareGosCaches(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	r.env = append(r.env, "PATH="+os.Getenv("PATH"))
	sandbox, workers := openSplit(t, r)
	if sandbox == nil {
		return
	}
	var places []string
	for i, l := range workers {
		places = append(places, mustRun(t, l.Run, inDirectory(sandbox, "a", sh(`echo $GOCACHE && echo $GOMODCACHE && mkdir $GOCACHE/0$1 && echo x >$GOCACHE/0$1/f && echo x >>$GOCACHE/shared && echo x >>$GOMODCACHE/shared`, fmt.Sprint(i)))))
	}
	if places[0] != places[1] || !slices.Equal(strings.Fields(strings.NewReplacer(sandbox.Replacements()...).Replace(places[0])), []string{"~/.cache/go-build", "~/go/pkg/mod"}) {
		t.Errorf("the caches are %q", places)
	}
	mustRun(t, workers[1].Run, inDirectory(sandbox, "a", sh(`echo y >>$GOCACHE/00/f && rm $GOCACHE/00/f && rmdir $GOCACHE/00`)))
}

func TestSplitRefusals(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	sandbox, _ := openSplit(t, r)
	if sandbox == nil {
		return
	}
	if _, err := sandbox.Split(t.Context(), [][]string{{sandbox.Dir()}}); err == nil || !strings.Contains(err.Error(), "split already") {
		t.Error(err)
	}
	r = newRunner(t)
	cfg := r.config()
	cfg.Identity = nil
	other := open(t, cfg)
	defer other.Close()
	for _, dir := range []string{r.workspace, filepath.Dir(other.Dir()), "relative"} {
		if _, err := other.Split(t.Context(), [][]string{{other.Dir()}, {dir}}); err == nil || !strings.Contains(err.Error(), "does not lie in the workspace") {
			t.Errorf("%s: %v", dir, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := other.Split(ctx, [][]string{{other.Dir()}, {filepath.Join(other.Dir(), "sub")}}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	mustRun(t, other.Run, sh(`cat main.go`))
	if workers, err := other.Split(t.Context(), [][]string{{other.Dir()}, {filepath.Join(other.Dir(), "sub")}}); err != nil || len(workers) != 2 {
		t.Errorf("after an error: %v", err)
	}
}

// TestASandboxThatIsNotApartHasWorkers asserts that without isolation programs of two workers
// run at the same time in the workspace itself. Root runs this test as another user.
func TestASandboxThatIsNotApartHasWorkers(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 {
		rerunUnprivileged(t)
		return
	}
	sandbox, err := isolate.Open(t.Context(), isolate.Config{Workspace: t.TempDir(), Environ: os.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	workers, err := sandbox.Split(t.Context(), [][]string{{sandbox.Dir()}, {sandbox.Dir()}})
	if err != nil || len(workers) != 2 || sandbox.Replacements() != nil {
		t.Fatalf("%v %v", workers, err)
	}
	var wg sync.WaitGroup
	for i, l := range workers {
		wg.Go(func() {
			mustRun(t, l.Run, sh(`touch $1; i=0; until [ -e $2 ] || [ $i = 600 ]; do i=$((i+1)); sleep 0.1; done; [ -e $2 ]`, fmt.Sprint(i), fmt.Sprint(1-i)))
		})
	}
	wg.Wait()
}

// rerunUnprivileged runs this test in a process of a user other than root, from a copy of the test's
// program that this user may read.
func rerunUnprivileged(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "test")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// cp writes the copy, because a file that a parallel test's child has inherited open cannot be run.
	if err := errors.Join(exec.Command("cp", self, program).Run(), os.Chmod(program, 0o755), os.Chmod(filepath.Dir(dir), 0o755), os.Chmod(dir, 0o777)); err != nil {
		t.Fatal(err)
	}
	id := uint32(1<<24 + 2*os.Getpid())
	cmd := exec.Command(program, "-test.v", "-test.run=^"+t.Name()+"$")
	cmd.Dir, cmd.Env = dir, []string{"PATH=/usr/bin:/bin", "HOME=" + dir, "TMPDIR=" + dir}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: id, Gid: id}}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestAttacksOnAnotherWorkersProgram asserts that a worker's programs cannot reach a program of another
// worker while it runs. Each script but the last, which may need root, has to succeed with a
// program of the same worker.
func TestAttacksOnAnotherWorkersProgram(t *testing.T) {
	t.Parallel()
	sandbox, workers := openSplit(t, newRunner(t))
	if sandbox == nil {
		return
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	pid, ended := make(chan string, 1), make(chan command.Result, 1)
	go func() {
		spec := inDirectory(sandbox, "a", sh(`echo $$; until [ -e stop ]; do sleep 0.05; done; echo complete`))
		spec.Stdout = writer(func(p []byte) (int, error) {
			if text := strings.TrimSpace(string(p)); text != "complete" {
				pid <- text
			}
			return len(p), nil
		})
		res, err := workers[0].Run(ctx, spec)
		if err != nil {
			t.Error(err)
		}
		ended <- res
	}()
	victim := <-pid
	for _, script := range []string{
		`kill -0 $1`, `cat /proc/$1/environ`, `cat /proc/$1/maps`, `ls /proc/$1/fd/`, `ls /proc/$1/cwd/`,
		`echo 9 >/proc/$1/oom_score_adj`, `cat /proc/$1/stack /proc/$1/syscall`,
	} {
		if res, err := workers[1].Run(ctx, inDirectory(sandbox, "b", sh(script, victim))); err != nil || res.ExitCode <= 0 {
			t.Errorf("%s: %v, exit code %d: %s", script, err, res.ExitCode, res.Stdout)
		}
		if strings.Contains(script, "syscall") {
			continue // a kernel may keep these for root
		}
		own := sh(`sh -c 'exec sleep 600' & p=$!; until grep -q sleep /proc/$p/cmdline; do :; done; set -- $p; `+script, "")
		if res, err := workers[1].Run(ctx, inDirectory(sandbox, "b", own)); err != nil || !res.OK() {
			t.Errorf("%s fails in any case: %v, exit code %d: %s", script, err, res.ExitCode, res.Stderr)
		}
	}
	mustRun(t, workers[1].Run, inDirectory(sandbox, "b", sh(`touch ../a/stop`)))
	if res := <-ended; !res.OK() || !strings.HasSuffix(res.Stdout.String(), "complete\n") {
		t.Errorf("the other worker's program: %+v", res)
	}
}
