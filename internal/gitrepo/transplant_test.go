//go:build unix

package gitrepo_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/shorttest"
)

var airlock = gitrepo.Person{Name: "Airlock", Email: "airlock@example.com"}

// series reads the commits between two as an agent's series.
func (c clone) series(base, tip string) gitrepo.Series {
	c.T.Helper()
	s := gitrepo.Series{Base: base}
	before := c.Tree(base)
	fields := strings.Split(string(c.Output("log", "--reverse", "-z", "--format=%T%x00%an%x00%ae%x00%B", base+".."+tip)), "\x00")
	for ; len(fields) >= 4; fields = fields[4:] {
		s.Changes = append(s.Changes, gitrepo.Change{Before: before, After: fields[0], Author: gitrepo.Person{Name: fields[1], Email: fields[2]}, Message: fields[3]})
		before = fields[0]
	}
	return s
}

// lookInto returns the clone, in which git also finds the objects that r has made, until the test
// ends.
func lookInto(t *testing.T, c clone, r *gitrepo.Repo) clone {
	t.Helper()
	c.Write(".git/objects/info/alternates", filepath.Join(r.GitDir(), "objects")+"\n")
	t.Cleanup(func() { c.Remove(".git/objects/info/alternates") })
	return c
}

func TestTransplantOnItsOwnBase(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	c.Write("f", "1\n")
	base := c.Commit("base")
	c.Write("f", "2\n")
	c.Commit("Second")
	c.Write("g", "3\n")
	tip := c.Commit("Third\n\nwith a body")
	s := c.series(base, tip)
	r := c.Open()
	got, err := r.Transplant(t.Context(), s, base, gitrepo.Style{Committer: airlock})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Commits) != 2 || got.Tip != got.Commits[1] || got.Moved || got.Dropped != nil {
		t.Fatalf("Transplant = %+v", got)
	}
	last, err := r.Commit(t.Context(), got.Tip)
	if err != nil || last.Tree != c.Tree(tip) || !slices.Equal(last.Parents, got.Commits[:1]) || last.Message != "Third\n\nwith a body\n" ||
		last.Author != (gitrepo.Person{Name: "a", Email: "a@example.com"}) || !last.When.Equal(time.Unix(1700000000, 0)) {
		t.Errorf("the last commit is %+v, %v", last, err)
	}
	again, err := c.Open().Transplant(t.Context(), s, base, gitrepo.Style{Committer: airlock})
	if err != nil || again.Tip != got.Tip {
		t.Errorf("another run makes %s, not %s (%v)", again.Tip, got.Tip, err)
	}
	lookInto(t, c, r).Git("fsck", "--strict", got.Tip)
}

func TestTransplantOnAMovedBase(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	c.Write("code.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n")
	c.Write("other", "x\n")
	base := c.Commit("base")
	c.Write("code.txt", "1\nzwei\n3\n4\n5\n6\n7\n8\n9\n")
	c.Commit("Change line 2")
	c.Write("picked", "both have it\n")
	c.Commit("Add what the base has too")
	c.Write("new", "n\n")
	tip := c.Commit("Add a file")
	c.Git("checkout", "-q", "-b", "moved", base)
	c.Git("mv", "code.txt", "renamed.txt")
	c.Write("picked", "both have it\n")
	moved := c.Commit("Rename, and add")

	r := c.Open()
	got, err := r.Transplant(t.Context(), c.series(base, tip), moved, gitrepo.Style{Committer: airlock})
	if err != nil {
		t.Fatal(err)
	}
	if !got.Moved || !slices.Equal(got.Dropped, []int{1}) || len(got.Commits) != 2 {
		t.Errorf("Transplant = %+v", got)
	}
	if data, err := r.File(t.Context(), got.Tip, "renamed.txt", 100); !strings.HasPrefix(string(data), "1\nzwei\n") || err != nil {
		t.Errorf("the renamed file is %q, %v", data, err)
	}
	c.Git("checkout", "-q", "--detach", tip)
	c.Git("rebase", "-q", "moved")
	changes, err := r.TreeChanges(t.Context(), c.Git("rev-parse", "HEAD"), got.Tip)
	if err != nil || len(changes) != 0 {
		t.Errorf("git rebase gives another tree: %+v, %v", changes, err)
	}
}

func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	base := c.Commit("base")
	c.Write("f", "1\n")
	tip := c.Commit("f")
	got, err := c.Open().Transplant(t.Context(), c.series(base, tip), tip, gitrepo.Style{Committer: airlock})
	if err != nil || got.Tip != tip || len(got.Commits) != 0 || !slices.Equal(got.Dropped, []int{0}) || !got.Moved {
		t.Errorf("Transplant = %+v, %v", got, err)
	}
}

func TestConflicts(t *testing.T) {
	t.Parallel()
	lines := strings.Repeat("line\n", 20)
	for name, tt := range shorttest.Some(2, map[string]struct {
		base, ours, theirs func(clone)
		paths              []string
		detail             string
	}{
		"lines": {
			base:   func(c clone) { c.Write("f", "1\n") },
			ours:   func(c clone) { c.Write("f", "2\n") },
			theirs: func(c clone) { c.Write("f", "3\n") },
			paths:  []string{"f"}, detail: "the same lines",
		},
		"a hostile name": {
			base:   func(c clone) { c.Write("a\nb\xff \"$(x)", "1\n") },
			ours:   func(c clone) { c.Write("a\nb\xff \"$(x)", "2\n") },
			theirs: func(c clone) { c.Write("a\nb\xff \"$(x)", "3\n") },
			paths:  []string{"a\nb\xff \"$(x)"}, detail: "the same lines",
		},
		"binary": {
			base:   func(c clone) { c.Write("f", "\x001") },
			ours:   func(c clone) { c.Write("f", "\x002") },
			theirs: func(c clone) { c.Write("f", "\x003") },
			paths:  []string{"f"}, detail: "a binary file",
		},
		"deleted here": {
			base:   func(c clone) { c.Write("f", "1\n") },
			ours:   func(c clone) { c.Remove("f") },
			theirs: func(c clone) { c.Write("f", "3\n") },
			paths:  []string{"f"}, detail: "the other deleted",
		},
		"deleted there": {
			base:   func(c clone) { c.Write("f", "1\n") },
			ours:   func(c clone) { c.Write("f", "2\n") },
			theirs: func(c clone) { c.Remove("f") },
			paths:  []string{"f"}, detail: "the other deleted",
		},
		"added twice": {
			ours:   func(c clone) { c.Write("f", "2\n") },
			theirs: func(c clone) { c.Write("f", "3\n") },
			paths:  []string{"f"}, detail: "the same lines",
		},
		"file and directory": {
			ours:   func(c clone) { c.Write("f/x", "2\n") },
			theirs: func(c clone) { c.Write("f", "3\n") },
			paths:  []string{"f"}, detail: "a directory",
		},
		"file and link": {
			ours: func(c clone) { c.Write("f", "2\n") },
			theirs: func(c clone) {
				if err := os.Symlink("x", filepath.Join(c.Dir, "f")); err != nil {
					c.T.Fatal(err)
				}
			},
			paths: []string{"f"}, detail: "different kinds",
		},
		"two renames": {
			base:   func(c clone) { c.Write("f", lines) },
			ours:   func(c clone) { c.Git("mv", "f", "g") },
			theirs: func(c clone) { c.Git("mv", "f", "h") },
			paths:  []string{"f", "g", "h"}, detail: "renamed it differently",
		},
		"a file of a renamed directory": {
			base:   func(c clone) { c.Write("d/f", lines) },
			ours:   func(c clone) { c.Git("mv", "d", "e") },
			theirs: func(c clone) { c.Write("d/g", "3\n") },
			paths:  []string{"e/g"}, detail: "renamed its directory",
		},
		"attributes that are not obeyed": { // union would put both versions into the file
			base:   func(c clone) { c.Write(".gitattributes", "f merge=union\n"); c.Write("f", "1\n") },
			ours:   func(c clone) { c.Write("f", "2\n") },
			theirs: func(c clone) { c.Write("f", "3\n") },
			paths:  []string{"f"}, detail: "the same lines",
		},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClone(t)
			c.Write("unrelated", "u")
			if tt.base != nil {
				tt.base(c)
			}
			base := c.Commit("base")
			c.Write("fine", "f")
			c.Commit("A change that fits")
			tt.theirs(c)
			theirs := c.Commit("theirs")
			c.Git("checkout", "-q", "-b", "ours", base)
			tt.ours(c)
			ours := c.Commit("ours")
			_, err := c.Open().Transplant(t.Context(), c.series(base, theirs), ours, gitrepo.Style{Committer: airlock})
			var conflict *gitrepo.Conflict
			if !errors.As(err, &conflict) {
				t.Fatalf("err = %v, want a Conflict", err)
			}
			if conflict.Change != 1 || !slices.Equal(conflict.Paths, tt.paths) || !strings.Contains(conflict.Detail, tt.detail) {
				t.Errorf("conflict = %+v, want change 1, %q, %q", conflict, tt.paths, tt.detail)
			}
			if !utf8.ValidString(err.Error()) || strings.Contains(err.Error(), "\n") {
				t.Errorf("the error is not one line: %v", err)
			}
		})
	}
}

func TestMergesThatFit(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	c.Write("mode", "1\n2\n3\n")
	c.Write("gone", "1\n")
	base := c.Commit("base")
	c.Write("mode", "1\n2\ndrei\n")
	c.Remove("gone")
	theirs := c.Commit("theirs")
	c.Git("checkout", "-q", "-b", "ours", base)
	if err := os.Chmod(filepath.Join(c.Dir, "mode"), 0o755); err != nil {
		t.Fatal(err)
	}
	c.Remove("gone")
	ours := c.Commit("ours")
	r := c.Open()
	got, err := r.Transplant(t.Context(), c.series(base, theirs), ours, gitrepo.Style{Committer: airlock})
	if err != nil {
		t.Fatal(err)
	}
	changes, err := r.TreeChanges(t.Context(), ours, got.Tip)
	if err != nil || len(changes) != 1 || changes[0].NewMode != "100755" || changes[0].Size != 9 {
		t.Errorf("changes = %+v, %v", changes, err)
	}
}

func TestStyle(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	base := c.Commit("base")
	c.Write("f", "1\n")
	tip := c.Commit("x")
	for name, tt := range map[string]struct {
		change gitrepo.Change // its author and message
		style  gitrepo.Style
		author gitrepo.Person
		text   string
	}{
		"nothing": {author: airlock, text: "Change files\n"},
		"blank":   {change: gitrepo.Change{Message: " \n\n"}, author: airlock, text: "Change files\n"},
		"own":     {change: gitrepo.Change{Message: "\nEin Gruß\n\n\n", Author: gitrepo.Person{Name: "Zoë", Email: "z@x"}}, author: gitrepo.Person{Name: "Zoë", Email: "z@x"}, text: "Ein Gruß\n"},
		"functions": {
			change: gitrepo.Change{Message: "m", Author: gitrepo.Person{Name: "n", Email: "n@x"}},
			style: gitrepo.Style{
				Message:  func(c gitrepo.Change) string { return "0" + c.Message },
				AuthorOf: func(gitrepo.Change) gitrepo.Person { return gitrepo.Person{Name: "who", Email: "w@x"} },
			},
			author: gitrepo.Person{Name: "who", Email: "w@x"}, text: "0m\n",
		},
		"an injected header": {
			change: gitrepo.Change{Message: "a\x00b\xff", Author: gitrepo.Person{Name: "x <evil@x> 1 +0000\nparent 12\x00\x1b", Email: "a@x>\ncommitter <y"}},
			author: gitrepo.Person{Name: "x evil@x 1 +0000 parent 12", Email: "a@xcommittery"}, text: "ab\uFFFD\n",
		},
		"only crud": {change: gitrepo.Change{Author: gitrepo.Person{Name: " .,;'\"<>", Email: "\n"}}, author: gitrepo.Person{Name: "unknown", Email: "unknown@example.invalid"}, text: "Change files\n"},
	} {
		t.Run(name, func(t *testing.T) {
			tt.change.Before, tt.change.After = c.Tree(base), c.Tree(tip)
			tt.style.Committer = airlock
			tt.style.When = time.Unix(99, 0)
			r := c.Open()
			got, err := r.Transplant(t.Context(), gitrepo.Series{Base: base, Changes: []gitrepo.Change{tt.change}}, base, tt.style)
			if err != nil {
				t.Fatal(err)
			}
			commit, err := r.Commit(t.Context(), got.Tip)
			if err != nil || commit.Author != tt.author || commit.Message != tt.text || !commit.When.Equal(tt.style.When) {
				t.Errorf("commit = %+v, %v, want %q by %+v", commit, err, tt.text, tt.author)
			}
			raw := lookInto(t, c, r).GitFed("", "cat-file", "commit", got.Tip)
			if !strings.Contains(raw, "<"+tt.author.Email+"> 99 +0000\ncommitter Airlock <airlock@example.com> 99 +0000\n\n") || strings.Contains(raw, "encoding") {
				t.Errorf("the commit is %q", raw)
			}
			c.Git("fsck", "--strict", got.Tip)
		})
	}
}
