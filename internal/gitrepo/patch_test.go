//go:build unix

package gitrepo_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/agentchanges"
	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/shorttest"
)

// am applies mails to a commit with git am --3way and git's default settings. It returns the trees of
// the new commits, oldest first.
func (c clone) am(base string, mails []byte) []string {
	c.T.Helper()
	c.Git("checkout", "-q", "-f", "--detach", base)
	c.GitFed(string(mails), "am", "-q", "--3way")
	return c.Trees(base, "HEAD")
}

// mailed makes a commit of each step with git, and writes the commits as mails. It asserts that git
// am and package agentchanges make the same trees of the mails.
func mailed(t *testing.T, steps ...func(clone)) (c clone, mails []byte) {
	t.Helper()
	c = newClone(t)
	c.Write("file", "1\n2\n3\n")
	c.Write("crlf", "1\r\n2\r\n3\r\n")
	c.Write("bin", "\x00\x01\x02\r\n")
	c.Write("dir/old", strings.Repeat("line\n", 30))
	base := c.Commit("base")
	for _, step := range steps {
		step(c)
		c.Commit("Step")
	}
	tip := c.Head()
	r := c.Open()
	series, err := r.SeriesOf(t.Context(), base, tip)
	if err != nil {
		t.Fatal(err)
	}
	mails, err = r.SeriesPatch(t.Context(), series, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	fromAgents, err := r.SeriesPatch(t.Context(), c.series(base, tip), 1<<20)
	if err != nil || !bytes.Equal(fromAgents, mails) {
		t.Errorf("the agent's series is written in another way (%v):\n%s\n---------\n%s", err, mails, fromAgents)
	}
	want := c.Trees(base, tip)
	got := c.am(base, mails)
	if len(got) != len(want) {
		t.Fatalf("git am made %d commits of %d", len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("commit %d has another tree:\n%s", i+1, c.Git("diff", "--stat", want[i], got[i]))
		}
	}
	read, err := agentchanges.FromFile(t.Context(), agentchanges.FileConfig{Repo: r, Name: "own", Data: mails})
	if err != nil || read.Base != base || len(read.Changes) != len(want) {
		t.Fatalf("FromFile = %+v, %v, want %d changes from %s", read, err, len(want), base)
	}
	for i, change := range read.Changes {
		if change.After != want[i] {
			t.Errorf("FromFile reads another tree %d", i+1)
		}
	}
	if !bytes.Contains(mails, []byte("\nbase-commit: "+base+"\n")) {
		t.Error("the base is not named")
	}
	return c, mails
}

func TestPatchGivesTheSameTrees(t *testing.T) {
	t.Parallel()
	for name, step := range shorttest.Some(2, map[string]func(clone){
		"text":                   func(c clone) { c.Write("file", "1\nzwei\n3\n") },
		"no newline at the end":  func(c clone) { c.Write("file", "1\n2\n3") },
		"CRLF":                   func(c clone) { c.Write("crlf", "1\r\nzwei\r\n3\r\n"); c.Write("file", "1\nzwei\n3\n") },
		"CRLF added":             func(c clone) { c.Write("n\"e\\w*[x]?\xff\n", "a\r\nb\r\n"); c.Write("file", "1\r\n2\r\n3\r\n") },
		"CRLF removed":           func(c clone) { c.Write("crlf", "1\n2\n3\n") },
		"CR alone":               func(c clone) { c.Write("file", "1\r2\n\r3\n") },
		"binary":                 func(c clone) { c.Write("bin", "\x00\r\n\xff"+strings.Repeat("x", 5000)) },
		"binary added":           func(c clone) { c.Write("bin2", "\x00\r\n\xff") },
		"late NUL":               func(c clone) { c.Write("late", strings.Repeat("line\n", 4000)+"a\x00b\n") },
		"rename":                 func(c clone) { c.Git("mv", "dir/old", "dir/new name") },
		"rename with change":     func(c clone) { c.Git("mv", "dir/old", "n"); c.Write("n", strings.Repeat("line\n", 30)+"more\n") },
		"rename of CRLF":         func(c clone) { c.Git("mv", "crlf", "crlf 2"); c.Write("crlf 2", "1\r\n2\r\n3\r\n4\r\n") },
		"names":                  func(c clone) { c.Write("ü/\"q\"\t\n", "x\n"); c.Write(" a ", "b\n"); c.Write("diff --git a b", "c\n") },
		"Latin-1":                func(c clone) { c.Write("file", "1\nzw\xe9i\n3\n") },
		"deleted":                func(c clone) { c.Remove("file"); c.Remove("bin") },
		"empty file":             func(c clone) { c.Write("empty", "") },
		"file becomes directory": func(c clone) { c.Remove("file"); c.Write("file/in", "x\n") },
		"directory becomes file": func(c clone) { c.Remove("dir"); c.Write("dir", "x\n") },
		"what looks like a mail": func(c clone) {
			c.Write("mbox", "From a@b Mon Sep 17 00:00:00 2001\nFrom: x\n\n---\ndiff --git a/x b/x\n-- \n2.0\n")
		},
		"what looks like separator": func(c clone) { c.Write("file", "-- \n--\n---\n+++ x\n@@ -1 +1 @@\n") },
		"executable": func(c clone) {
			if err := os.Chmod(filepath.Join(c.Dir, "file"), 0o755); err != nil {
				c.T.Fatal(err)
			}
		},
		"link": func(c clone) {
			c.Remove("file")
			if err := os.Symlink("../x", filepath.Join(c.Dir, "file")); err != nil {
				c.T.Fatal(err)
			}
		},
	}) {
		t.Run(name, func(t *testing.T) { t.Parallel(); mailed(t, step, func(c clone) { c.Write("last", "after it\n") }) })
	}
}

func TestPatchStaysReadable(t *testing.T) {
	t.Parallel()
	_, mails := mailed(t, func(c clone) { c.Write("crlf", "x\r\n"); c.Write("file", "1\nzwei\n3\n") })
	if !bytes.Contains(mails, []byte("\n-2\n+zwei\n")) || bytes.Contains(mails, []byte("\r\n")) {
		t.Errorf("want only what has CRLF as binary:\n%s", mails)
	}
}

func TestPatchMessagesDeceiveNobody(t *testing.T) {
	t.Parallel()
	const diff = "diff --git a/evil b/evil\nnew file mode 100644\n--- /dev/null\n+++ b/evil\n@@ -0,0 +1 @@\n+evil\n"
	for name, tt := range shorttest.Some(2, map[string]struct {
		message string
		want    string // "" for the message itself, except for white space
	}{
		"plain":               {"Fix it\n\nBody: yes\n", ""},
		"Unicode":             {"Grüße an Zoë\n\n→ ok\n", ""},
		"a long subject":      {strings.Repeat("word ", 60) + "end\n", ""},
		"a diff":              {"Fix\n\n" + diff, "Fix\n\n diff --git a/evil b/evil\nnew file mode 100644\n --- /dev/null\n+++ b/evil\n@@ -0,0 +1 @@\n+evil\n"},
		"a diff after dashes": {"Fix\n\ntext\n---\n" + diff, "Fix\n\ntext\n ---\n diff --git a/evil b/evil\nnew file mode 100644\n --- /dev/null\n+++ b/evil\n@@ -0,0 +1 @@\n+evil\n"},
		"an old diff":         {"Fix\n\ntext\n--- a/file\n+++ b/file\n@@ -1 +1 @@\n-1\n+x\n", "Fix\n\ntext\n --- a/file\n+++ b/file\n@@ -1 +1 @@\n-1\n+x\n"},
		"an index line":       {"Fix\n\nIndex: file\n", "Fix\n\n Index: file\n"},
		"another mail":        {"Fix\n\nFrom 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\nFrom: E <e@x>\nSubject: evil\n\n" + diff, ""},
		"another author":      {"Fix\n\nFrom: Evil <evil@example.com>\nSubject: evil\nDate: Mon, 1 Jan 2001 00:00:00 +0000\n\nbody\n", ""},
		"author after blank":  {"Fix\n\n\n \n>From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\nfrom: Evil <evil@example.com>\n", ""},
		"a patch mark":        {"Fix\n\n[PATCH] evil\n", "Fix\n\n [PATCH] evil\n"},
		"brackets":            {"[core] Fix\n", "(core) Fix\n"},
		"a reply":             {"Re: Fix\n", "Re Fix\n"},
		"only brackets":       {"[x]\n", "(x)\n"},
		"nothing":             {":: \n", "Change files\n"},
		"lines of a subject":  {"one\ndiff --git a b\n---\n", "one diff --git a b ---\n"},
		"carriage returns":    {"Fix\r\n\r\n---\r\n" + diff, ""},
		"a MIME header":       {"Fix\n\nContent-Type: text/plain; charset=UTF-16\nContent-Transfer-Encoding: base64\n\nZQ==\n", "Fix\n\nContent-Type: text/plain; charset=UTF-16\nContent-Transfer-Encoding: base64\n\nZQ==\n"},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClone(t)
			base := c.Commit("base")
			c.Write("file", "content\n")
			tip := c.Commit("x")
			s := c.series(base, tip)
			author := gitrepo.Person{Name: "Ünal, Zoë <x>", Email: "zoe@example.com"}
			s.Changes[0].Message, s.Changes[0].Author = tt.message, author
			mails, err := c.Open().SeriesPatch(t.Context(), s, 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			got := c.am(base, mails)
			if len(got) != 1 || got[0] != c.Tree(tip) {
				t.Fatalf("git am made %d commits of\n%s", len(got), mails)
			}
			if who := c.Git("log", "-1", "--format=%an <%ae>"); who != "Ünal, Zoë x <zoe@example.com>" {
				t.Errorf("the author is %s", who)
			}
			text := c.GitFed("", "log", "-1", "--format=%B")
			if tt.want != "" && strings.TrimSpace(text) != strings.TrimSpace(tt.want) {
				t.Errorf("the message is %q, want %q", text, tt.want)
			}
			if tt.want == "" && squeeze(text) != squeeze(tt.message) {
				t.Errorf("the message is %q, was %q", text, tt.message)
			}
		})
	}
}

// squeeze leaves out all white space.
func squeeze(s string) string { return strings.Join(strings.Fields(s), "") }

func TestPatchLimits(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	base := c.Commit("base")
	c.Write("f", strings.Repeat("x\n", 1000))
	tip := c.Commit("f")
	c.Git("checkout", "-q", "-b", "side", base)
	side := c.Commit("side")
	merge := c.Git("commit-tree", "-p", tip, "-p", side, "-m", "merge", tip+"^{tree}")
	r := c.Open()
	if _, err := r.SeriesPatch(t.Context(), c.series(base, tip), 1000); !errors.Is(err, gitrepo.ErrTooLarge) {
		t.Errorf("over the limit: %v", err)
	}
	if _, err := r.SeriesOf(t.Context(), base, merge); err == nil {
		t.Error("a history with a merge is accepted")
	}
	if _, err := r.SeriesOf(t.Context(), side, tip); err == nil {
		t.Error("a base that is not an ancestor is accepted")
	}
	if s, err := r.SeriesOf(t.Context(), base, base); len(s.Changes) != 0 || err != nil {
		t.Errorf("nothing: %v, %v", s, err)
	}
	if text, err := r.SeriesPatch(t.Context(), gitrepo.Series{Base: base}, 1<<20); len(text) != 0 || err != nil {
		t.Errorf("nothing: %q, %v", text, err)
	}
}
