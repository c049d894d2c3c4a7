//go:build unix

package agentchanges_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/agentchanges"
	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/shorttest"
)

// bundle returns a bundle that git writes: args are an optional --version=N and the
// revisions.
func (c clone) bundle(args ...string) []byte {
	c.T.Helper()
	path := filepath.Join(c.T.TempDir(), "x.bundle")
	argv := []string{"bundle", "create", "-q"}
	if strings.HasPrefix(args[0], "--version=") {
		argv, args = append(argv, args[0]), args[1:]
	}
	c.Git(append(append(argv, path), args...)...)
	data, err := os.ReadFile(path)
	if err != nil {
		c.T.Fatal(err)
	}
	return data
}

func TestBundleSeries(t *testing.T) {
	t.Parallel()
	c, base, commits := variedClone(t)
	fresh := cloneOf(t, c, base)
	c.Git("tag", "-a", "-m", "tag", "v1", "main")
	c.Git("branch", "same", "main")
	for name, tt := range shorttest.Some(1, map[string]struct {
		args  []string
		bases []string
	}{
		"a branch":            {[]string{base + "..main"}, []string{strings.Repeat("1", 40), base}},
		"HEAD":                {[]string{base + "..HEAD"}, []string{base}},
		"version 3":           {[]string{"--version=3", base + "..main"}, []string{base}},
		"without a base":      {[]string{base + "..main"}, nil},
		"all history":         {[]string{"main"}, []string{base}},
		"branches of one tip": {[]string{base + "..main", "same"}, []string{base}},
		"HEAD among others":   {[]string{"--all", "HEAD"}, []string{base}},
		"a tag":               {[]string{base + "..v1"}, []string{base}},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := fresh.Copy(t).Open()
			s, err := agentchanges.FromFile(t.Context(), agentchanges.FileConfig{Repo: r, Name: "x.bundle", Data: c.bundle(tt.args...), Bases: tt.bases})
			if err != nil {
				t.Fatal(err)
			}
			checkSeries(t, r, s)
			if s.Base != base || len(s.Changes) != len(commits) || len(s.Notes) > 0 {
				t.Fatalf("%d changes from %s, notes %q", len(s.Changes), s.Base, s.Notes)
			}
			for i, commit := range commits {
				if got := s.Changes[i]; got.After != c.Tree(commit) || got.Message != c.Git("log", "-1", "--format=%B", commit) || got.Author.Email != "a@example.com" {
					t.Errorf("%d: %+v", i, got)
				}
			}
		})
	}
}

func TestBundleSeriesSHA256(t *testing.T) {
	t.Parallel()
	c := newClone(t, "--object-format=sha256")
	c.Write("a", "1")
	base := c.Commit("base")
	c.Write("a", "2")
	tip := c.Commit("two")
	r, err := gitrepo.New(nil, gitrepo.Options{TempDir: t.TempDir(), OIDLen: 64})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	// The repository is empty: the bundle contains its own base.
	s, err := agentchanges.FromFile(t.Context(), agentchanges.FileConfig{Repo: r, Data: c.bundle("main"), Bases: []string{base}})
	if err != nil || len(s.Changes) != 1 || s.Changes[0].After != c.Tree(tip) {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestSeriesOfMerges asserts that a merge is one change, that a commit that changes
// nothing is left out, and that a history in which the base is not on the line of
// first parents becomes one change.
func TestSeriesOfMerges(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	c.Write("a", "1")
	base := c.Commit("base")
	c.Git("checkout", "-q", "-b", "side")
	c.Write("b", "side")
	side := c.Commit("side")
	c.Git("checkout", "-q", "main")
	c.Write("c", "main")
	c.Commit("main")
	c.Commit("nothing")
	c.Git("merge", "-q", "--no-ff", "-m", "merge", "side")
	read := func(base string) gitrepo.Series {
		r := c.Open()
		s, err := agentchanges.FromFile(t.Context(), agentchanges.FileConfig{Repo: r, Data: c.bundle("main"), Bases: []string{base}})
		if err != nil {
			t.Fatal(err)
		}
		checkSeries(t, r, s)
		return s
	}
	if s := read(base); len(s.Changes) != 2 || s.Changes[0].Message != "main" || s.Changes[1].Message != "merge" ||
		len(s.Notes) != 1 || !strings.Contains(s.Notes[0], "change nothing are left out: 1") {
		t.Errorf("%+v", s)
	}
	if s := read(side); len(s.Changes) != 1 || s.Changes[0].Message != "" || len(s.Notes) != 1 || s.Changes[0].After != c.Tree("main") {
		t.Errorf("%+v", s)
	}
	if s := read(c.Git("rev-parse", "main")); len(s.Changes) != 0 {
		t.Errorf("%+v", s)
	}
	// Of two bases in the history, the nearer one counts. If the only base is outside of the
	// history, the commit where the two parted counts.
	c.Git("checkout", "-q", "-b", "other", side)
	c.Write("d", "other")
	other := c.Commit("other")
	for _, tt := range []struct{ bases, want string }{{base + " " + side, side}, {other, side}, {other + " " + base, base}} {
		s, err := agentchanges.FromFile(t.Context(), agentchanges.FileConfig{Repo: c.Open(), Data: c.bundle("main"), Bases: strings.Fields(tt.bases)})
		if err != nil || s.Base != tt.want {
			t.Errorf("%s: base %s, %v", tt.bases, s.Base, err)
		}
	}
}

func TestBundleSeriesErrors(t *testing.T) {
	t.Parallel()
	c, base, _ := variedClone(t)
	fresh := cloneOf(t, c, base)
	good := c.bundle(base + "..main")
	c.Git("branch", "old", "main~1")
	missing := strings.Repeat("1", 40)
	header := func(lines ...string) []byte { return []byte("# v3 git bundle\n" + strings.Join(lines, "\n")) }
	for name, tt := range shorttest.Some(2, map[string]struct {
		data []byte
		want string
	}{
		"nothing":       {nil, `it begins with ""`},
		"a patch":       {[]byte("diff --git a b\n"), "'git bundle create FILE BASE..HEAD' writes one"},
		"version 9":     {[]byte("# v9 git bundle\n\n"), "v9"},
		"cut":           {good[:len(good)/2], "cannot be unpacked"},
		"no pack":       {good[:bytes.Index(good, []byte("PACK"))], "cannot be unpacked"},
		"cut in refs":   {good[:80], "line 3: its list of refs does not end"},
		"changed":       {append(good[:len(good)-40:len(good)-40], bytes.Repeat([]byte{7}, 40)...), "cannot be unpacked"},
		"two tips":      {c.bundle(base+"..main", "old"), `more than one tip ("refs/heads/main", "refs/heads/old")`},
		"no tip":        {header("-"+base, "", ""), "no tip"},
		"other format":  {header("@object-format=sha256", "", ""), "its object ids have 64 digits and the repository's 40"},
		"filtered":      {header("@filter=blob:none", "", ""), `line 2: it has the property "filter=blob:none"`},
		"no id":         {header("xyz refs/heads/main", "", ""), "line 2"},
		"most refs":     {header(strings.Repeat(missing+" refs/x\n", 10_000), ""), "cannot be unpacked"},
		"most lines":    {header("@object-format=sha1", strings.Repeat(missing+" refs/x\n", 9_999), ""), "cannot be unpacked"},
		"most, cut":     {header(strings.Repeat(missing+" refs/x\n", 10_000)), "line 10002: its list of refs does not end"},
		"many refs":     {header(strings.Repeat(missing+" refs/x\n", 10_001), ""), "its header has more than 10000 properties, commits and refs"},
		"many lines":    {header("@object-format=sha1", strings.Repeat(missing+" refs/x\n", 10_000), ""), "its header has more than 10000 properties, commits and refs"},
		"needs another": {header("-"+missing+" x", base+" refs/heads/main", "", ""), "builds on " + missing},
		"not a commit":  {bytes.Replace(good, []byte(c.Git("rev-parse", "main")), []byte(c.Tree("main")), 1), "is not a commit"},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := agentchanges.FromBundle(t.Context(), agentchanges.FileConfig{Repo: fresh.Copy(t).Open(), Name: "x.bundle", Data: tt.data, Bases: []string{base}})
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("err = %v, want %q in it; %+v", err, tt.want, s)
			}
			if missesBase := name == "needs another"; errors.Is(err, agentchanges.ErrNoBase) != missesBase {
				t.Errorf("err = %v, want ErrNoBase: %t", err, missesBase)
			}
		})
	}
	// FromFile does not take these for patches.
	for _, first := range []string{"# v4 git bundle\n\n", "# v2 git bundle\r\n\r\n"} {
		_, err := agentchanges.FromFile(t.Context(), agentchanges.FileConfig{Repo: fresh.Open(), Name: "x", Data: []byte(first), Bases: []string{base}})
		if err == nil || !strings.Contains(err.Error(), `the bundle "x" cannot be read: it begins with "# v`) {
			t.Errorf("%q: %v", first, err)
		}
	}
	if _, err := agentchanges.FromFile(t.Context(), agentchanges.FileConfig{Repo: fresh.Open(), Data: c.bundle("main")}); !errors.Is(err, agentchanges.ErrNoBase) {
		t.Errorf("without a base: %v", err)
	}
}

// TestBundleSeriesRefusesHostileObjects bundles trees with names that git itself
// never writes.
func TestBundleSeriesRefusesHostileObjects(t *testing.T) {
	t.Parallel()
	for _, name := range []string{".git", "..", ".GIT", "git~1", ".git.", "a/b"} {
		c := newClone(t)
		c.Write("a", "1")
		base := c.Commit("base")
		blob := c.Git("rev-parse", "HEAD:a")
		raw := filepath.Join(t.TempDir(), "tree")
		id, err := hex.DecodeString(blob)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(raw, append([]byte("100644 "+name+"\x00"), id...), 0o644); err != nil {
			t.Fatal(err)
		}
		tree := c.Git("hash-object", "-t", "tree", "-w", "--literally", raw)
		c.Git("update-ref", "refs/heads/evil", c.Git("commit-tree", "-p", base, "-m", "evil", tree))
		_, err = agentchanges.FromFile(t.Context(), agentchanges.FileConfig{Repo: cloneOf(t, c, base).Open(), Data: c.bundle(base + "..evil"), Bases: []string{base}})
		if err == nil || !strings.Contains(err.Error(), "cannot be unpacked: git refuses the object "+tree+" in it (") || !strings.Contains(err.Error(), "git log --find-object="+tree) {
			t.Errorf("%q: %v", name, err)
		}
	}
}
