//go:build unix

package gitrepo_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/gitrepo"
)

func TestFetch(t *testing.T) {
	s, _, one, two, _, _ := published(t)
	c := newClone(t)
	c.Commit("unrelated")
	for name, tt := range map[string]struct {
		depth   int
		history bool
		private bool
	}{"one commit": {1, false, true}, "two": {2, true, false}, "all": {0, true, true}} {
		t.Run(name, func(t *testing.T) {
			s.private = tt.private
			r := c.Open()
			if err := r.Fetch(t.Context(), s.remote(), []string{two, two}, tt.depth); err != nil {
				t.Fatal(err)
			}
			if has, err := r.Has(t.Context(), one); has != tt.history || err != nil {
				t.Errorf("the parent is there: %v, %v", has, err)
			}
			if data, err := r.File(t.Context(), two, "f", 10); string(data) != "2\n" || err != nil {
				t.Errorf("the file is %q, %v", data, err)
			}
			if refs := lookInto(t, c, r).GitFed("", "--git-dir="+r.GitDir(), "for-each-ref"); refs != "" {
				t.Errorf("refs were made: %s", refs)
			}
			asked := len(s.requests())
			if err := r.Fetch(t.Context(), s.remote(), []string{two}, tt.depth); err != nil || len(s.requests()) != asked {
				t.Errorf("it asks again: %v, %v", s.requests()[asked:], err)
			}
			if tt.depth != 1 {
				return
			}
			if err := r.Fetch(t.Context(), s.remote(), []string{two}, 0); err != nil {
				t.Fatal(err)
			}
			if base, err := r.MergeBase(t.Context(), one, two); base != one || err != nil {
				t.Errorf("after all of it: %s, %v", base, err)
			}
		})
	}
}

func TestFetchErrors(t *testing.T) {
	s, c, _, two, _, _ := published(t)
	r := c.Open()
	if err := r.Fetch(t.Context(), s.remote(), []string{strings.Repeat("1", 40)}, 1); !errors.Is(err, gitrepo.ErrMissing) {
		t.Errorf("a missing commit: %v", err)
	}
	for _, bad := range []string{"main", "--upload-pack=touch x", two[:7], "refs/heads/main:refs/heads/x", ""} {
		if err := r.Fetch(t.Context(), s.remote(), []string{bad}, 1); err == nil {
			t.Errorf("%q was fetched", bad)
		}
	}
	if err := r.Fetch(t.Context(), s.remote(), []string{strings.Repeat("1", 40)}, -1); err == nil {
		t.Error("a negative depth is taken")
	}
	s.before = func(w http.ResponseWriter, _ *http.Request) bool {
		http.Error(w, "\x1b[31mno "+secret, http.StatusForbidden)
		return true
	}
	err := r.Fetch(t.Context(), s.remote(), []string{strings.Repeat("1", 40)}, 1)
	if err == nil || strings.Contains(err.Error(), secret) || strings.ContainsAny(err.Error(), "\n\x1b") || !strings.Contains(err.Error(), "403") {
		t.Errorf("err = %v", err)
	}
}

func TestFetchChecksWhatItGets(t *testing.T) {
	s := newServer(t)
	blob := strings.TrimSpace(s.GitFed("x", "hash-object", "-w", "--stdin"))
	tree := s.Mktree("100644 blob " + blob + "\tf\n")
	outer := strings.TrimSpace(s.GitFed("040000 tree "+tree+"\t.git\n", "mktree"))
	evil := s.Git("commit-tree", "-m", "x", outer)
	s.Git("update-ref", "refs/heads/main", evil)
	c := newClone(t)
	c.Commit("unrelated")
	r := c.Open()
	if err := r.Fetch(t.Context(), s.remote(), []string{evil}, 1); err == nil || !strings.Contains(err.Error(), ".git") {
		t.Errorf("err = %v", err)
	}
	if has, err := r.Has(t.Context(), evil); has || err != nil {
		t.Errorf("the commit is there: %v, %v", has, err)
	}
}

// To ask what the clone's refs name, git would run in the clone, and tell the
// server what nobody else may know of.
func TestFetchDoesNotAskTheClone(t *testing.T) {
	s, _, _, two, _, _ := published(t)
	c := newClone(t)
	private := c.Commit("known here only")
	var sent bytes.Buffer
	s.before = func(_ http.ResponseWriter, r *http.Request) bool {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if r.Header.Get("Content-Encoding") == "gzip" {
			plain, err := gzip.NewReader(bytes.NewReader(body))
			if err != nil {
				t.Error(err)
				return false
			}
			if body, err = io.ReadAll(plain); err != nil {
				t.Error(err)
			}
		}
		sent.Write(body)
		return false
	}
	if err := c.Open().Fetch(t.Context(), s.remote(), []string{two}, 0); err != nil {
		t.Fatal(err)
	}
	s.Server.Close() // and wait for its answers
	if text := sent.String(); !strings.Contains(text, two) || strings.Contains(text, private) {
		t.Errorf("the server was sent %q", text)
	}
}

func TestNothingOfTheCloneRuns(t *testing.T) {
	s, c, _, two, three, _ := published(t)
	other := newClone(t)
	other.Commit("so that there are refs to advertise")
	canary := filepath.Join(t.TempDir(), "ran")
	evil := filepath.Join(t.TempDir(), "evil")
	if err := os.WriteFile(evil, []byte("#!/bin/sh\necho \"$@\" >>"+canary+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	c.Arm(evil)
	r := c.Open()
	if err := r.Push(t.Context(), s.remote(), gitrepo.PushRequest{Tip: three, Branch: "main", Expect: two}); err != nil {
		t.Error(err)
	}
	other.Arm(evil)
	if err := other.Open().Fetch(t.Context(), s.remote(), []string{two}, 1); err != nil {
		t.Error(err)
	}
	if data, err := os.ReadFile(canary); err == nil {
		t.Errorf("the clone ran:\n%s", data)
	}
}
