//go:build unix

package gitrepo_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/gitrepo"
)

// watchedGit returns a PATH on which git is a script. It notes each of its runs in the file log,
// runs the given script if the command is cat-file, and then runs the real git, $real.
func watchedGit(t *testing.T, script string) (pathList, log string) {
	t.Helper()
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	log = filepath.Join(dir, "log")
	text := fmt.Sprintf("#!/bin/sh\nreal=%s\necho \"$@\" >> %s\ncase \"$*\" in *cat-file*) %s;; esac\nexec $real \"$@\"\n", real, log, script)
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir + string(os.PathListSeparator) + os.Getenv("PATH"), log
}

// openWatched opens a repository on a clone with git of a PATH.
func openWatched(t *testing.T, c clone, pathList string) *gitrepo.Repo {
	t.Helper()
	located, err := gitrepo.Locate(c.Dir)
	if err != nil {
		t.Fatal(err)
	}
	r, err := gitrepo.New(located, gitrepo.Options{PathList: pathList})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

// runsOf returns how often git cat-file ran.
func runsOf(t *testing.T, log string) int {
	t.Helper()
	data, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(data), "cat-file")
}

// TestOneProcessReadsAllObjects asserts that one git cat-file answers all questions that are asked
// one after the other, and that goroutines that ask at the same time start at most one process
// each.
func TestOneProcessReadsAllObjects(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	var commits []string
	for i := range 5 {
		c.Write("dir/f", strings.Repeat("line\n", i+1))
		commits = append(commits, c.Commit("change"))
	}
	pathList, log := watchedGit(t, ":")
	r := openWatched(t, c, pathList)
	for i, commit := range commits {
		if data, err := r.File(t.Context(), commit, "dir/f", 1<<20); err != nil || len(data) != 5*(i+1) {
			t.Errorf("%d bytes, %v", len(data), err)
		}
		if _, err := r.TreeChanges(t.Context(), commits[0], commit); err != nil {
			t.Error(err)
		}
	}
	if _, err := r.Blob(t.Context(), strings.Repeat("1", 40), 10); err == nil {
		t.Error("what is missing is read")
	}
	if n := runsOf(t, log); n != 1 {
		t.Errorf("git cat-file ran %d times, want once", n)
	}
	late := c.Commit("after the process began")
	if has, err := r.Has(t.Context(), late); !has || err != nil {
		t.Errorf("a commit that came later: %t, %v", has, err)
	}
	const askers = 4
	var wg sync.WaitGroup
	for range askers {
		wg.Go(func() {
			for range 20 {
				if _, err := r.File(t.Context(), late, "dir/f", 1<<20); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n := runsOf(t, log); n > askers {
		t.Errorf("git cat-file ran %d times for %d askers", n, askers)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if _, err := r.Blob(t.Context(), strings.Repeat("1", 40), 10); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("after Close: %v", err)
	}
}

// TestAProcessThatFailsIsReplaced lets the first git cat-file misbehave: the question fails, and
// the next one is answered.
func TestAProcessThatFailsIsReplaced(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	c.Write("f", "content")
	commit := c.Commit("f")
	for name, tt := range map[string]struct{ script, want string }{
		"ends":                {"exit 0", "in the middle of an answer"},
		"fails":               {"echo 'fatal: bad' >&2; exit 128", `git cat-file failed: "fatal: bad"`},
		"is killed":           {"kill -9 $$", "git cat-file failed"},
		"needs memory":        {"echo 'fatal: Out of memory, malloc failed' >&2; exit 128", "too large: git cat-file needs more than"},
		"answers otherwise":   {"read x; echo hello", `git cat-file answered "hello"`},
		"announces too much":  {"read x; echo $(echo $x | cut -d' ' -f2) commit 5; read x; echo $(echo $x | cut -d' ' -f2) commit 99999999999; cat", "too large"},
		"has a wrong content": {"read x; id=${x#* }; echo $id commit 5; read x; read x; echo $id commit 5; printf 'wrong\\n'; cat", "its content is not the one its id stands for"},
		"is cut":              {"read x; id=${x#* }; echo $id commit 500; read x; read x; echo $id commit 500; echo short", "in the middle of an answer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := filepath.Join(t.TempDir(), "first")
			pathList, _ := watchedGit(t, "if mkdir "+first+" 2>/dev/null; then "+tt.script+"; exit 0; fi")
			r := openWatched(t, c, pathList)
			if _, _, err := r.TreePaths(t.Context(), commit); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
			if paths, _, err := r.TreePaths(t.Context(), commit); err != nil || len(paths) != 1 {
				t.Errorf("the next question: %q, %v", paths, err)
			}
		})
	}
	t.Run("hangs", func(t *testing.T) {
		t.Parallel()
		first := filepath.Join(t.TempDir(), "first")
		pathList, _ := watchedGit(t, "if mkdir "+first+" 2>/dev/null; then sleep 600; fi")
		r := openWatched(t, c, pathList)
		ctx, cancel := context.WithCancelCause(t.Context())
		stop := errors.New("enough")
		asked := make(chan error)
		go func() { _, _, err := r.TreePaths(ctx, commit); asked <- err }()
		look := time.NewTicker(10 * time.Millisecond)
		defer look.Stop()
		for range look.C {
			if _, err := os.Stat(first); err == nil {
				break
			}
		}
		cancel(stop)
		if err := <-asked; !errors.Is(err, stop) {
			t.Errorf("%v, want the reason", err)
		}
		if paths, _, err := r.TreePaths(t.Context(), commit); err != nil || len(paths) != 1 {
			t.Errorf("the next question: %q, %v", paths, err)
		}
	})
}
