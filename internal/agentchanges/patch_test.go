//go:build unix

package agentchanges_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/agentchanges"
	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/gitrepo/gittest"
)

func TestPatchSeriesOfMails(t *testing.T) {
	c, base, commits := varied(t)
	for name, args := range map[string][]string{
		"mails":      {},
		"full index": {"--full-index", "--numbered", "--thread"},
		"no stat":    {"--no-stat", "-p", "--no-signature", "--no-renames"},
		"no prefix":  {"--no-prefix", "--subject-prefix=PATCH v2"},
		"attached":   {"--attach"},
		"inline":     {"--inline"},
		"cover":      {"--cover-letter", "--base=" + base},
	} {
		t.Run(name, func(t *testing.T) {
			data := c.Output(append([]string{"format-patch", "--stdout", "--binary", "--encode-email-headers"}, append(args, base+".."+commits[len(commits)-1])...)...)
			r := only(t, c, base).Open()
			bases := []string{base}
			if name == "cover" {
				bases = nil
			}
			s, err := agentchanges.FromFile(t.Context(), agentchanges.FileConfig{Repo: r, Name: "x.patch", Data: data, Bases: bases})
			if err != nil {
				t.Fatal(err)
			}
			checkSeries(t, r, s)
			if s.Base != base || len(s.Changes) != len(commits) {
				t.Fatalf("%d changes from %s, want %d from %s", len(s.Changes), s.Base, len(commits), base)
			}
			for i, commit := range commits {
				want := gitrepo.Change{After: c.Tree(commit), Author: gitrepo.Person{Name: "a", Email: "a@example.com"}, Message: c.Git("log", "-1", "--format=%B", commit)}
				if want.Before = c.Tree(commit + "~"); s.Changes[i] != want {
					t.Errorf("%d: %+v, want %+v", i, s.Changes[i], want)
				}
			}
			if cover := strings.Contains(strings.Join(s.Notes, "\n"), `mail 1 of "x.patch" holds no patch`); cover != (name == "cover") || len(s.Notes) > 1 {
				t.Errorf("notes %q", s.Notes)
			}
		})
	}
}

func TestPatchSeriesOfDiffs(t *testing.T) {
	c, base, commits := varied(t)
	tip := commits[len(commits)-1]
	diff := func(args ...string) []byte {
		return c.Output(append(append([]string{"diff", "--binary"}, args...), base, tip)...)
	}
	for name, data := range map[string][]byte{
		"diff":            diff(),
		"no prefix":       diff("--no-prefix"),
		"other prefixes":  diff("--src-prefix=i/", "--dst-prefix=w/"),
		"no renames":      diff("--no-renames"),
		"copies":          diff("-C", "--find-copies-harder", "--no-prefix"),
		"no context":      diff("-U10", "--full-index"),
		"text around it":  append([]byte("Here it is:\n\n```diff\n"), append(diff(), "```\nDone.\n"...)...),
		"a mark at first": append([]byte("\xef\xbb\xbf\n"), diff()...),
		"cut line end":    bytes.TrimSuffix(diff(), []byte("\n")),
		"CRLF as a whole": bytes.ReplaceAll(diff(), []byte("\n"), []byte("\r\n")),
		"show":            c.Output("show", "--binary", "--format=fuller", "-m", "--first-parent", tip),
	} {
		t.Run(name, func(t *testing.T) {
			from := base
			if name == "show" {
				from = commits[len(commits)-2]
			}
			r := only(t, c, from).Open()
			s, err := agentchanges.FromFile(t.Context(), agentchanges.FileConfig{Repo: r, Name: "x", Data: data, Bases: []string{from}})
			if err != nil {
				t.Fatal(err)
			}
			checkSeries(t, r, s)
			if len(s.Changes) != 1 || s.Changes[0].After != c.Tree(tip) || len(s.Notes) > 0 {
				t.Errorf("%+v, want the tree %s", s, c.Tree(tip))
			}
		})
	}
}

func TestPatchSeriesOfOtherDiffs(t *testing.T) {
	c := newClone(t)
	c.Write("a.txt", "one\ntwo\n")
	c.Write("src/a.txt", "one\ntwo\n")
	base := c.Commit("base")
	const hunk = "@@ -1,2 +1,2 @@\n one\n-two\n+2\n"
	const mail = "From: =?ISO-8859-1?Q?J=F6rg?= <j@example.com>\nSubject: [PATCH 1/2]\n =?UTF-8?B?w4Q=?= [x]\nContent-Type: text/plain; charset=ISO-8859-1\nContent-Transfer-Encoding: quoted-printable\n\n" +
		"Gr=FC=DFe=\n dich\n---\n\n--- a/src/a.txt\n+++ b/src/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+=C3=A4\n"
	for name, x := range map[string]struct{ data, path, text, message string }{
		"diff -u":         {"--- a.txt\t2024-01-01 00:00:00\n+++ a.txt\t2024-01-01 00:00:01\n" + hunk, "a.txt", "one\n2\n", ""},
		"diff -u deep":    {"--- src/a.txt\n+++ src/a.txt\n" + hunk, "src/a.txt", "one\n2\n", ""},
		"diff -ru":        {"diff -ru old/src/a.txt new/src/a.txt\n--- old/src/a.txt\n+++ new/src/a.txt\n" + hunk, "src/a.txt", "one\n2\n", ""},
		"new file":        {"--- /dev/null\n+++ src/b.txt\n@@ -0,0 +1 @@\n+b\n", "src/b.txt", "b\n", ""},
		"new file, b/":    {"--- /dev/null\n+++ b/b.txt\n@@ -0,0 +1 @@\n+b\n", "b.txt", "b\n", ""},
		"no index line":   {"diff --git a/src/a.txt b/src/a.txt\n--- a/src/a.txt\n+++ b/src/a.txt\n" + hunk, "src/a.txt", "one\n2\n", ""},
		"looks like head": {"--- a.txt\n+++ a.txt\n@@ -1,2 +1,3 @@\n one\n two\n+++ b/x\n", "a.txt", "one\ntwo\n++ b/x\n", ""},
		"encoded mail":    {mail, "src/a.txt", "one\n\u00e4\n", "\u00c4 [x]\n\nGr\u00fc\u00dfe dich"},
	} {
		t.Run(name, func(t *testing.T) {
			r := c.Open()
			s, err := agentchanges.FromFile(t.Context(), agentchanges.FileConfig{Repo: r, Name: "x", Data: []byte(x.data), Bases: []string{base}})
			if err != nil {
				t.Fatal(err)
			}
			checkSeries(t, r, s)
			if len(s.Changes) != 1 {
				t.Fatalf("%+v", s)
			}
			own := clone{gittest.In(t, r)}
			if got := string(own.Output("cat-file", "blob", s.Changes[0].After+":"+x.path)); got != x.text {
				t.Errorf("%q", got)
			}
			if got := own.Git("diff-tree", "--name-only", "-r", s.Changes[0].Before, s.Changes[0].After); got != x.path {
				t.Errorf("it changes %q", got)
			}
			if got := s.Changes[0]; got.Message != x.message || x.message != "" && got.Author.Name != "J\u00f6rg" {
				t.Errorf("message %q of %q", got.Message, got.Author.Name)
			}
		})
	}
}
