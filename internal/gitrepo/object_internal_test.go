package gitrepo

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestHasID uses the ids that git gives to the empty blob, the empty tree and a file.
func TestHasID(t *testing.T) {
	t.Parallel()
	tests := []struct {
		oid, kind, data string
		want            bool
	}{
		{"e69de29bb2d1d6434b8b29ae775ad8c2e48c5391", "blob", "", true},
		{"4b825dc642cb6eb9a060e54bf8d69288fbee4904", "tree", "", true},
		{"473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813", "blob", "", true},
		{"ce013625030ba8dba906f756967f9e9ca394464a", "blob", "hello\n", true},
		{"e69de29bb2d1d6434b8b29ae775ad8c2e48c5391", "tree", "", false},
		{"e69de29bb2d1d6434b8b29ae775ad8c2e48c5391", "blob", "x", false},
	}
	for _, tt := range tests {
		if got := hasID(object{kind: tt.kind, data: []byte(tt.data)}, tt.oid); got != tt.want {
			t.Errorf("hasID(%s %q, %s) = %v, want %v", tt.kind, tt.data, tt.oid, got, tt.want)
		}
	}
}

// TestCommitsAreThoseOfGit asserts that a commit has the id that git commit-tree gives to it, and
// that git reads it.
func TestCommitsAreThoseOfGit(t *testing.T) {
	t.Parallel()
	ada := Person{"Ada Lovelace", "ada@example.com"}
	for _, digits := range []int{40, 64} {
		r, err := New(nil, Options{OIDLen: digits})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = r.Close() })
		run := func(c Call, args ...string) string {
			t.Helper()
			out, err := r.Run(t.Context(), c, args...)
			if err != nil {
				t.Fatal(err)
			}
			return out.Line()
		}
		tree := run(Call{}, "mktree")
		var parents []string
		for _, c := range []newCommit{
			{author: ada, committer: ada, when: time.Unix(1700000000, 0), message: "One\n\nMore of it.\n"},
			{author: Person{" .Zoë\x01 <d'Or>, ", "<zoë(x)@example.com >"}, committer: ada, when: time.Unix(-1, 0), message: "\n"},
			{committer: Person{"!", "nobody"}, when: time.Unix(1<<35, 0), message: "\U0001f600\n\n\n"},
		} {
			c.tree, c.parents = tree, parents
			oid, err := r.makeCommit(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			args := []string{"commit-tree", tree}
			for _, p := range parents {
				args = append(args, "-p", p)
			}
			date := fmt.Sprintf("@%d +0000", max(c.when.Unix(), 0))
			author, committer := c.author.clean(), c.committer.clean()
			want := run(Call{Stdin: strings.NewReader(c.message), Env: []string{"GIT_AUTHOR_NAME=" + author.Name, "GIT_AUTHOR_EMAIL=" + author.Email, "GIT_AUTHOR_DATE=" + date,
				"GIT_COMMITTER_NAME=" + committer.Name, "GIT_COMMITTER_EMAIL=" + committer.Email, "GIT_COMMITTER_DATE=" + date}}, args...)
			if oid != want {
				t.Errorf("%+v: it is %s, and that of git %s", c, oid, want)
			}
			parents = []string{oid}
		}
		run(Call{}, "fsck", "--strict", parents[0])
		if _, err := r.makeCommit(t.Context(), newCommit{tree: parents[0], message: "x\n"}); err == nil {
			t.Error("a commit with another commit as its tree is made")
		}
		if _, err := r.makeCommit(t.Context(), newCommit{tree: tree, parents: []string{tree}, message: "x\n"}); !errors.Is(err, ErrMissing) {
			t.Errorf("a commit with a tree as its parent: %v", err)
		}
	}
}

func FuzzLookup(f *testing.F) {
	f.Add([]byte("100644 a\x00"+"aaaaaaaaaaaaaaaaaaaa40000 b\x00bbbbbbbbbbbbbbbbbbbb"), "b")
	f.Add([]byte("100644 a\x00short"), "a")
	f.Fuzz(func(t *testing.T, tree []byte, name string) {
		if e, err := lookup(tree, name, 20); err == nil && !IsObjectID(e.oid) {
			t.Errorf("lookup finds the id %q", e.oid)
		}
	})
}

func FuzzValidRef(f *testing.F) {
	f.Add("refs/heads/main")
	f.Add("refs/heads/../x")
	f.Fuzz(func(t *testing.T, name string) {
		if validRef(name) && (!filepath.IsLocal(name) || !strings.HasPrefix(filepath.ToSlash(filepath.Clean(name)), "refs/")) {
			t.Errorf("%q leaves the directory of refs", name)
		}
	})
}
