//go:build unix

package agentchanges_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/agentchanges"
	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/gitrepo/gittest"
)

// patched is a clone whose branch topic changes line 20, while main has gone on
// in two ways: near it, and in the same line.
func patched(t *testing.T) (c clone, base, near, same string, diff []byte) {
	t.Helper()
	c = newClone(t)
	c.Write("a.txt", numbers(40))
	base = c.Commit("base")
	edit := func(at, to string) { c.Write("a.txt", strings.Replace(numbers(40), "line "+at+"\n", to+"\n", 1)) }
	edit("20", "topic")
	topic := c.Commit("topic")
	diff = c.Output("format-patch", "--stdout", "-1", topic)
	c.Git("checkout", "-q", "-b", "near", base)
	edit("22", "near")
	near = c.Commit("near")
	c.Git("checkout", "-q", "-b", "same", base)
	edit("20", "same")
	same = c.Commit("same")
	return c, base, near, same, diff
}

func TestPatchSeriesFindsItsBase(t *testing.T) {
	c, base, near, same, diff := patched(t)
	none := strings.Repeat("1", 40)
	named := func(oid string) []byte {
		return []byte(strings.Replace(string(diff), "\n-- \n", "\nbase-commit: "+oid+"\n-- \n", 1))
	}
	for name, x := range map[string]struct {
		data  []byte
		bases []string
		want  string
		note  string
	}{
		"the first that it applies to": {diff, []string{none, "", same, near, base}, base, ""},
		"by a merge":                   {diff, []string{same, near}, near, "was merged"},
		"named":                        {named(base), []string{near}, base, ""},
		"named, alone":                 {named(base), nil, base, ""},
		"named, but not there":         {named(none), []string{base}, base, "made from " + none},
		"named, but wrong":             {named(same), []string{base}, base, "made from " + same},
	} {
		t.Run(name, func(t *testing.T) {
			r := c.Open()
			s, err := agentchanges.FromFile(t.Context(), agentchanges.FileConfig{Repo: r, Name: "x.patch", Data: x.data, Bases: x.bases})
			if err != nil {
				t.Fatal(err)
			}
			checkSeries(t, r, s)
			if s.Base != x.want || len(s.Changes) != 1 || s.Changes[0].Message != "topic" {
				t.Errorf("%+v, want the base %s", s, x.want)
			}
			if notes := strings.Join(s.Notes, "\n"); !strings.Contains(notes, x.note) || x.note == "" && notes != "" {
				t.Errorf("notes %q", notes)
			}
			own := clone{gittest.In(t, r)}
			if d := own.Git("diff-tree", "-U0", "-p", s.Changes[0].Before, s.Changes[0].After); !strings.Contains(d, "\n-line 20\n+topic") {
				t.Error(d)
			}
		})
	}
}

func TestPatchSeriesConflict(t *testing.T) {
	c, _, near, same, diff := patched(t)
	_, err := agentchanges.FromFile(t.Context(), agentchanges.FileConfig{Repo: c.Open(), Name: "x.patch", Data: diff, Bases: []string{same}})
	var conflict *gitrepo.Conflict
	if !errors.As(err, &conflict) || conflict.Change != 0 || !slices.Equal(conflict.Paths, []string{"a.txt"}) {
		t.Errorf("%+v", err)
	}
	// The second change is the one that does not fit, and names no version that could be merged.
	second := "From: a <a@example.com>\nSubject: second\n\n---\n--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-x\n+y\n"
	_, err = agentchanges.FromFile(t.Context(), agentchanges.FileConfig{Repo: c.Open(), Name: "x.patch", Data: append(diff, "From 0 Mon Sep 17 00:00:00 2001\n"+second...), Bases: []string{near}})
	if !errors.As(err, &conflict) || conflict.Change != 1 || !slices.Equal(conflict.Paths, []string{"b.txt"}) ||
		!strings.Contains(conflict.Detail, `mail 2 of "x.patch": git says "b.txt: does not exist in index"`) {
		t.Errorf("%+v", err)
	}
}

func TestPatchSeriesWithoutChangesOrBase(t *testing.T) {
	c, base, _, _, diff := patched(t)
	for _, data := range []string{"", " \r\n\n"} {
		s, err := agentchanges.FromFile(t.Context(), agentchanges.FileConfig{Repo: c.Open(), Data: []byte(data), Bases: []string{base}})
		if err != nil || s.Base != base || len(s.Changes) > 0 {
			t.Errorf("%+v, %v", s, err)
		}
	}
	// What is there already changes nothing, and is noted.
	s, err := agentchanges.FromFile(t.Context(), agentchanges.FileConfig{Repo: c.Open(), Name: "x", Data: diff, Bases: []string{c.Git("rev-parse", "main")}})
	if err != nil || len(s.Changes) > 0 || !strings.Contains(strings.Join(s.Notes, "\n"), "changes nothing") {
		t.Errorf("%+v, %v", s, err)
	}
	none := strings.Repeat("1", 40)
	for _, bases := range [][]string{nil, {none}} {
		_, err := agentchanges.FromFile(t.Context(), agentchanges.FileConfig{Repo: c.Open(), Data: diff, Bases: bases})
		if !errors.Is(err, agentchanges.ErrNoBase) || len(bases) > 0 && !strings.Contains(err.Error(), none) {
			t.Error(err)
		}
	}
	if _, err := agentchanges.FromFile(t.Context(), agentchanges.FileConfig{Repo: c.Open(), Data: diff, Bases: []string{"main"}}); err == nil || errors.Is(err, agentchanges.ErrNoBase) {
		t.Error(err)
	}
}

func TestRepoWithoutClone(t *testing.T) {
	for _, length := range []int{0, 40, 64} {
		r, err := gitrepo.New(nil, gitrepo.Options{TempDir: t.TempDir(), OIDLen: length})
		if err != nil {
			t.Fatal(err)
		}
		if has, err := r.Has(t.Context(), strings.Repeat("1", max(length, 40))); err != nil || has {
			t.Errorf("%v, %v", has, err)
		}
		own := clone{gittest.In(t, r)}
		if got := len(own.Git("hash-object", "-w", "config")); got != max(length, 40) {
			t.Errorf("ids of %d digits, want %d", got, length)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := gitrepo.New(nil, gitrepo.Options{OIDLen: 41}); err == nil {
		t.Error("41 digits are taken")
	}
}

func TestPatchSeriesNotesASubmoduleInWords(t *testing.T) {
	c, base, _, _, diff := patched(t)
	data := "Submodule sub 1234567..89abcde:\n  > more\n" + string(diff[strings.Index(string(diff), "diff --git"):])
	s, err := agentchanges.FromFile(t.Context(), agentchanges.FileConfig{Repo: c.Open(), Name: "x", Data: []byte(data), Bases: []string{base}})
	if err != nil || len(s.Changes) != 1 || len(s.Notes) != 1 || !strings.Contains(s.Notes[0], `"Submodule sub 1234567..89abcde"`) {
		t.Errorf("%+v, %v", s, err)
	}
}
