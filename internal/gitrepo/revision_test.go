//go:build unix

package gitrepo_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/gitrepo/gittest"
)

// withRevisions makes a clone in which each sort of revision has something to name.
func withRevisions(t *testing.T) gittest.Clone {
	t.Helper()
	c := gittest.New(t)
	c.Write("a.txt", "1\n")
	first := c.Commit("First")
	c.Git("tag", "v1")
	c.Git("tag", "-a", "-m", "annotated", "v1.1")
	c.Write("a.txt", "2\n")
	second := c.Commit("Second")
	c.Git("checkout", "-q", "-b", "topic", first)
	c.Write("b.txt", "1\n")
	c.Commit("Third")
	c.Git("merge", "-q", "--no-edit", "main")
	c.Git("branch", "odd-ü", "HEAD^2")
	c.Git("remote", "add", "fork", "https://example.invalid/fork")
	c.Git("update-ref", "refs/remotes/fork/main", first)
	c.Git("config", "branch.topic.remote", "fork")
	c.Git("config", "branch.topic.merge", "refs/heads/main")
	c.Git("pack-refs", "--all")
	c.Git("update-ref", "refs/remotes/fork/later", second)
	var log strings.Builder
	from := strings.Repeat("0", 40)
	for _, e := range []struct {
		ago time.Duration
		to  string
	}{{72 * time.Hour, first}, {time.Hour, second}} {
		fmt.Fprintf(&log, "%s %s a <a@example.com> %d +0000\tcommit\n", from, e.to, time.Now().Add(-e.ago).Unix())
		from = e.to
	}
	c.Write(".git/logs/refs/heads/main", log.String())
	return c
}

// TestRevisionsAreGits asserts for each sort of revision that Revision finds the same commit as git
// does in the clone.
func TestRevisionsAreGits(t *testing.T) {
	t.Parallel()
	c := withRevisions(t)
	r := c.Open()
	abbreviated := c.Head()[:7]
	for _, revision := range []string{
		"HEAD", "@", "HEAD~1", "HEAD^2", "HEAD~2^0", "@~", abbreviated, abbreviated + "^", "main", "heads/main", "refs/heads/topic", "main~1",
		"v1", "v1.1", "v1.1^{}", "tags/v1", "fork/main", "fork/later", "remotes/fork/later", "odd-ü", "odd-ü~1", ":/Second", "HEAD^{/Third}",
		"@{u}", "@{upstream}", "topic@{u}", "topic@{upstream}~0", "main@{yesterday}", "main@{0}", "main@{1}", "main@{2 hours ago}", "@{-1}", "HEAD@{1}", "ORIG_HEAD",
		"v1.1-0-g" + abbreviated,
	} {
		want := c.Git("rev-parse", "--verify", c.Git("rev-parse", "--verify", revision)+"^{commit}")
		if got, err := r.Revision(t.Context(), revision); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", revision, got, err, want)
		}
	}
	if c.Git("rev-parse", "main@{yesterday}") == c.Git("rev-parse", "main") || c.Git("rev-parse", "@{u}") == c.Git("rev-parse", "topic") {
		t.Error("the reflog and the upstream make no difference")
	}
}

func TestRevisionsOfAWorktree(t *testing.T) {
	t.Parallel()
	c := withRevisions(t)
	c.Git("worktree", "add", "-q", filepath.Join(c.Dir, "more"), "main")
	more := gittest.Clone{T: t, Dir: filepath.Join(c.Dir, "more")}
	for _, revision := range []string{"HEAD", "HEAD~1", "topic", "HEAD@{0}"} {
		want := more.Git("rev-parse", "--verify", revision)
		if got, err := more.Open().Revision(t.Context(), revision); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", revision, got, err, want)
		}
	}
}

// TestRevisionsThatNameNothing asserts that Revision refuses what does not name a commit, even if it
// names a file or a tree.
func TestRevisionsThatNameNothing(t *testing.T) {
	t.Parallel()
	c := withRevisions(t)
	r := c.Open()
	for revision, says := range map[string]string{
		"": "empty", "-h": "hyphen", "--all": "hyphen", "-": "hyphen", "HEAD~50": "revision", "nosuch": "revision", "main..topic": "revision", "^main": "not an object id",
		"v1\nmain": "control", "main\x00": "control", strings.Repeat("a", 5000): "longer", "0000000": "git says", "HEAD:a.txt": "not a commit", "HEAD^{tree}": "not a commit",
		"main@{u}": "upstream", "../../etc/passwd": "revision", "refs/heads/../../config": "revision", "@{nonsense": "revision", "HEAD:": "not a commit", "ü": "revision",
	} {
		if got, err := r.Revision(t.Context(), revision); !errors.Is(err, gitrepo.ErrNoRef) || !strings.Contains(err.Error(), says) {
			t.Errorf("%.20q: %s, %v, want one about %q", revision, got, err, says)
		}
	}
}

// TestRevisionsOfAHostileClone asserts that no program or file that the clone names is run or read,
// and that a FIFO in place of a file does not keep git waiting.
func TestRevisionsOfAHostileClone(t *testing.T) {
	t.Parallel()
	c := withRevisions(t)
	want := c.Git("rev-parse", "HEAD~1")
	canary, evil := filepath.Join(t.TempDir(), "canary"), filepath.Join(t.TempDir(), "evil")
	if err := os.WriteFile(evil, []byte("#!/bin/sh\necho \"$0 $*\" >> "+canary+"\ncat\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	c.Arm(evil)
	included := "[alias]\n\trev-parse = !" + evil + "\n[branch \"main\"]\n\tremote = included\n\tmerge = refs/heads/main\n"
	if err := os.WriteFile(filepath.Join(c.Dir, ".git", "more"), []byte(included), 0o644); err != nil {
		t.Fatal(err)
	}
	config, err := os.OpenFile(filepath.Join(c.Dir, ".git", "config"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(config, "[includeIf \"gitdir:/\"]\n\tpath = more\n[include]\n\tpath = more\n[branch \"a\\\"]\\n[core]x\"]\n\tremote = \"x\\\"\\n[alias]\\n\trev-parse = !%s\"\n\tmerge = y\n", evil)
	if err := config.Close(); err != nil {
		t.Fatal(err)
	}
	c.Mkfifo(".git/refs/heads/fifo")
	c.Mkfifo(".git/WAIT_HEAD")
	if err := os.Symlink("/etc/passwd", filepath.Join(c.Dir, ".git", "refs", "heads", "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/", filepath.Join(c.Dir, ".git", "refs", "root")); err != nil {
		t.Fatal(err)
	}
	r := c.Open()
	for _, revision := range []string{"HEAD~1", "topic~1", "topic@{0}~1"} {
		if got, err := r.Revision(t.Context(), revision); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", revision, got, err, want)
		}
	}
	for _, revision := range []string{"main@{u}", "fifo", "link", "root/etc/passwd", "WAIT_HEAD"} {
		if got, err := r.Revision(t.Context(), revision); !errors.Is(err, gitrepo.ErrNoRef) {
			t.Errorf("%s: %s, %v", revision, got, err)
		}
	}
	if data, err := os.ReadFile(canary); err == nil {
		t.Errorf("the clone ran:\n%s", data)
	}
}
