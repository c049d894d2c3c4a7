//go:build unix

package gitrepo_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/gitrepo/gittest"
)

func TestDiffIsThatOfThePullRequest(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			c, _, base, head := fork(t, "--object-format="+format)
			d, err := c.Open().Diff(t.Context(), base, head)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Contains(d.Raw, []byte("R100\x00dir/old\x00dir/new\nname\x00")) || bytes.Contains(d.Raw, []byte("b.txt")) {
				t.Errorf("Raw = %q", d.Raw)
			}
			if !bytes.Contains(d.Patch, []byte("\n-2\n+zwei\n")) || !bytes.Contains(d.Patch, []byte(`"b/dir/new\nname"`)) {
				t.Errorf("Patch = %s", d.Patch)
			}
		})
	}
}

func TestShallowClone(t *testing.T) {
	t.Parallel()
	c, _, base, head := fork(t)
	// A checkout of depth 1: the commit is there, its parents are not.
	shallow := clone{gittest.Clone{T: t, Dir: t.TempDir()}}
	shallow.Git("clone", "-q", "--depth=1", "--no-single-branch", "file://"+c.Dir, "x")
	shallow.Dir += "/x"
	found := shallow.Locate()
	if len(found.Shallow) != 2 {
		t.Errorf("Shallow = %v", found.Shallow)
	}
	r := gittest.Open(t, found)
	_, err := r.Diff(t.Context(), base, head)
	if !errors.Is(err, gitrepo.ErrShallow) || !strings.Contains(err.Error(), "fetch-depth: 0") {
		t.Errorf(`err = %v, want ErrShallow with "fetch-depth: 0"`, err)
	}
	if data, err := r.File(t.Context(), head, "a.txt", 100); string(data) != "1\nzwei\n3\n" || err != nil {
		t.Errorf("a file of a shallow commit: %q, %v", data, err)
	}
	oneBranch := clone{gittest.Clone{T: t, Dir: t.TempDir()}}
	oneBranch.Git("clone", "-q", "--depth=1", "file://"+c.Dir, "x")
	oneBranch.Dir += "/x"
	_, err = oneBranch.Open().Diff(t.Context(), base, head)
	if !errors.Is(err, gitrepo.ErrMissing) || !strings.Contains(err.Error(), "it is shallow") || !strings.Contains(err.Error(), "fetch-depth: 0") {
		t.Errorf(`err = %v, want ErrMissing with "it is shallow" and "fetch-depth: 0"`, err)
	}
}

func TestCommitOfAnotherObjectFormat(t *testing.T) {
	t.Parallel()
	c, _, _, head := fork(t, "--object-format=sha256")
	r := c.Open()
	err := r.Require(t.Context(), head, strings.Repeat("1", 40))
	if !errors.Is(err, gitrepo.ErrMissing) || !strings.Contains(err.Error(), "its id has 40 digits and those of the clone have 64; use a clone in the server's object format") || strings.Contains(err.Error(), "fetch-depth") {
		t.Errorf(`err = %v, want ErrMissing about the object format, without "fetch-depth"`, err)
	}
	err = r.Require(t.Context(), strings.Repeat("1", 64))
	if !errors.Is(err, gitrepo.ErrMissing) || !strings.Contains(err.Error(), "fetch-depth: 0") {
		t.Errorf(`err = %v, want ErrMissing with "fetch-depth: 0"`, err)
	}
}

func TestUnrelatedHistories(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	a := c.Commit("a")
	c.Git("checkout", "-q", "--orphan", "other")
	b := c.Commit("b")
	if _, err := c.Open().MergeBase(t.Context(), a, b); err == nil || !strings.Contains(err.Error(), "no commit in common") {
		t.Errorf(`err = %v, want one with "no commit in common"`, err)
	}
}

func TestOnlyFullIDsReachGit(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	head := c.Commit("a")
	r := c.Open()
	for _, bad := range []string{"", "HEAD", "main", head[:10], "--output=/tmp/x", strings.ToUpper(head), head + "\n", head + "^{tree}"} {
		if _, err := r.Diff(t.Context(), bad, head); err == nil || !strings.Contains(err.Error(), "not a full commit id") {
			t.Errorf("Diff(%q): %v", bad, err)
		}
		if _, err := r.Files(t.Context(), bad, nil, 1); err == nil {
			t.Errorf("Files(%q) is accepted", bad)
		}
	}
	tree := c.Git("rev-parse", "HEAD^{tree}")
	if ok, err := r.Has(t.Context(), tree); ok || err != nil {
		t.Errorf("a tree passes for a commit: %v, %v", ok, err)
	}
}

func TestNewWithoutGitOrTempDir(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	c.Commit("a")
	if _, err := gitrepo.New(c.Locate(), gitrepo.Options{PathList: t.TempDir()}); err == nil || !strings.Contains(err.Error(), "install it") {
		t.Errorf(`err = %v, want one with "install it"`, err)
	}
	if _, err := gitrepo.New(c.Locate(), gitrepo.Options{TempDir: "/no/such/place"}); err == nil || !strings.Contains(err.Error(), "temporary repository") {
		t.Errorf(`err = %v, want one with "temporary repository"`, err)
	}
}
