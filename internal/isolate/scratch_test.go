//go:build linux || darwin

package isolate_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/isolate"
)

// tree describes a directory and everything below it: names, modes, contents, links and, if
// times is set, times.
func tree(t *testing.T, dir string, times bool) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, name)
		line := fmt.Sprintf("%s %s", rel, info.Mode())
		if times {
			line += " " + info.ModTime().Format(time.RFC3339Nano)
		}
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			line += fmt.Sprintf(" %q", text)
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			target, _ := os.Readlink(name)
			line += " " + target
		}
		all = append(all, line)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// checkout makes a workspace with links that lead out of a copy of it, and a directory
// for copies.
func checkout(t *testing.T) (workspace, temp string) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	workspace, temp = filepath.Join(base, "shop"), filepath.Join(base, "temp")
	for name, text := range map[string]string{"shop/a.js": "one\n", "shop/.git/config": "x", "shop/src/b.js": "two\n", "shop/node_modules/tool/run.sh": "echo x\n", "temp/old": ""} {
		name = filepath.Join(base, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Symlink(filepath.Join(workspace, "src"), filepath.Join(workspace, "absolute")), os.Symlink("src/b.js", filepath.Join(workspace, "relative")), os.Symlink("/."+workspace+"/src", filepath.Join(workspace, "unclean")),
		os.Symlink(workspace+"-other", filepath.Join(workspace, "sibling")), os.Symlink(strings.Repeat("../", 40)+workspace[1:]+"/src", filepath.Join(workspace, "node_modules/climbing")),
		os.Symlink("../../temp/old", filepath.Join(workspace, "src/outside")), os.Link(filepath.Join(workspace, "a.js"), filepath.Join(workspace, "hard.js")),
		os.Chtimes(filepath.Join(workspace, "a.js"), time.Time{}, time.Unix(1_700_000_000, 0))); err != nil {
		t.Fatal(err)
	}
	return workspace, temp
}

// TestScratch asserts that a copy is like the workspace, except that it lacks .git and that links
// into the workspace lead into the copy. The workspace stays as it is when a program changes files
// of the copy by every name that leads to them.
func TestScratch(t *testing.T) {
	t.Parallel()
	workspace, temp := checkout(t)
	linked := filepath.Join(t.TempDir(), "linked")
	if err := os.Symlink(workspace, linked); err != nil {
		t.Fatal(err)
	}
	before := tree(t, workspace, true)
	cfg := isolate.Config{Workspace: linked, TempDir: temp, Environ: []string{
		"PATH=/usr/bin:/bin", "PWD=" + linked, "GITHUB_WORKSPACE=" + workspace, "FLAGS=-f=" + workspace + "/relative:" + workspace, "LEFT=" + workspace + "-other:/mnt" + workspace,
	}}
	s, err := isolate.OpenScratch(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Base(s.Dir()) != "shop" {
		t.Errorf("the copy is %s: tools may know the project by its directory's name", s.Dir())
	}
	want := slices.DeleteFunc(tree(t, workspace, false), func(l string) bool { return strings.HasPrefix(l, ".git") || strings.HasPrefix(l, ". ") })
	for i, l := range want {
		want[i] = strings.NewReplacer(" /.", " ", strings.Repeat("../", 40), "/", "../../temp", temp).Replace(l)
		want[i] = strings.ReplaceAll(want[i], " "+workspace+"/src", " "+s.Dir()+"/src")
	}
	if diff := cmp.Diff(want, tree(t, s.Dir(), false)[1:]); diff != "" {
		t.Errorf("the copy (-want +got)\n%s", diff)
	}
	if info, err := os.Stat(filepath.Join(s.Dir(), "a.js")); err != nil {
		t.Error(err)
	} else if !info.ModTime().Equal(time.Unix(1_700_000_000, 0)) {
		t.Errorf("a.js has another time than in the workspace: %v", info.ModTime())
	}
	for _, script := range []string{
		`echo x >a.js`, `echo x >>absolute/new.js`, `echo x >>unclean/new.js`, `echo x >>node_modules/climbing/b.js`, `echo x >relative`, `echo x >hard.js`, `echo x >node_modules/tool/run.sh`, `rm -r src`,
		`echo x >"$PWD/in-pwd"`, `echo x >"$GITHUB_WORKSPACE/in-workspace"`, `mkdir -p locked/in && touch locked/in/file && chmod 500 locked/in locked`,
	} {
		r, err := s.Run(t.Context(), command.Spec{Program: "sh", Args: []string{"-c", script}})
		if err != nil || !r.OK() {
			t.Errorf("%s: %v, %s", script, err, r.Stderr.String())
		}
	}
	r, err := s.Run(t.Context(), command.Spec{Program: "sh", Args: []string{"-c", `echo "$FLAGS $LEFT $MORE $(pwd)"`}, Env: []string{"MORE=more"}, Dir: filepath.Join(s.Dir(), "absolute/..")})
	if want := fmt.Sprintf("-f=%s/relative:%[1]s %s-other:/mnt%[2]s more %[1]s\n", s.Dir(), workspace); err != nil || r.Stdout.String() != want {
		t.Errorf("%v, %s: %q, want %q", err, r.Stderr.String(), r.Stdout.String(), want)
	}
	if diff := cmp.Diff(before, tree(t, workspace, true)); diff != "" {
		t.Errorf("the workspace was changed (-before +after)\n%s", diff)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	assertNoScratch(t, temp)
}

// assertNoScratch asserts that nothing of a copy is left in checkout's directory for copies, which
// contains a file of its own.
func assertNoScratch(t *testing.T, temp string) {
	t.Helper()
	if entries, err := os.ReadDir(temp); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v are left", err, entries)
	}
}

// TestNoScratch asserts that nothing is left where no copy can be made, and that the error gives
// the reason.
func TestNoScratch(t *testing.T) {
	t.Parallel()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx  context.Context
		set  func(*isolate.Config)
		want string
	}{
		"too many files": {t.Context(), func(c *isolate.Config) { c.Copy.Entries = 3 }, "the workspace has more than 3 files and directories"},
		"too large": {t.Context(), func(c *isolate.Config) {
			c.Copy.Bytes, c.Workspace = 50, filepath.Join(c.Workspace, "large") // without other files, which the error could name instead
			if err := errors.Join(os.MkdirAll(filepath.Join(c.Workspace, "deep/er"), 0o755), os.WriteFile(filepath.Join(c.Workspace, "deep/er/file"), make([]byte, 51), 0o600)); err != nil {
				t.Fatal(err)
			}
		}, "temp: deep/er/file: the workspace contains more than 50 bytes"},
		"in the workspace":  {t.Context(), func(c *isolate.Config) { c.TempDir = filepath.Join(c.Workspace, "src") }, "which lies in it: set TMPDIR"},
		"no such workspace": {t.Context(), func(c *isolate.Config) { c.Workspace += "/gone" }, "no such file"},
		"interrupted":       {ended, func(*isolate.Config) {}, context.Canceled.Error()},
	} {
		workspace, temp := checkout(t)
		cfg := isolate.Config{Workspace: workspace, TempDir: temp}
		c.set(&cfg)
		before := tree(t, workspace, true)
		if s, err := isolate.OpenScratch(c.ctx, cfg); s != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
		assertNoScratch(t, temp)
		if diff := cmp.Diff(before, tree(t, workspace, true)); diff != "" {
			t.Errorf("%s: the workspace was changed\n%s", name, diff)
		}
	}
}

// TestScratchWithoutWhatMayNotBeRead asserts that a copy is made although files belong to
// somebody else, such as the data of a container, and that the notes name everything left out.
func TestScratchWithoutWhatMayNotBeRead(t *testing.T) {
	t.Parallel()
	workspace, temp := checkout(t)
	if err := errors.Join(os.Mkdir(filepath.Join(workspace, "data"), 0o000), os.WriteFile(filepath.Join(workspace, "key"), nil, 0o000), syscall.Mkfifo(filepath.Join(workspace, "pipe"), 0o600)); err != nil {
		t.Fatal(err)
	}
	s, err := isolate.OpenScratch(t.Context(), isolate.Config{Workspace: workspace, TempDir: temp})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var got []string
	for _, n := range s.Notes() {
		got = append(got, n.Name+": "+n.Why)
	}
	want := []string{".git: git's directory may contain credentials, and programs in its configuration", "data: it may not be read", "key: it may not be read", "pipe: it is a FIFO"}
	if os.Geteuid() == 0 { // root may read everything
		want = []string{want[0], want[3]}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// manyFiles makes a workspace of 10,000 files of 4 KiB.
func manyFiles(b *testing.B) string {
	b.Helper()
	workspace := b.TempDir()
	for d := range 100 {
		dir := filepath.Join(workspace, fmt.Sprintf("d%d", d%10), fmt.Sprintf("e%d", d))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			b.Fatal(err)
		}
		for f := range 100 {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d.go", f)), make([]byte, 4096), 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	return workspace
}

// BenchmarkScratch makes and removes a copy of a workspace of manyFiles.
func BenchmarkScratch(b *testing.B) {
	workspace := manyFiles(b)
	for b.Loop() {
		s, err := isolate.OpenScratch(b.Context(), isolate.Config{Workspace: workspace})
		if err == nil {
			err = s.Close()
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}
