//go:build linux

package changes_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/changes"
	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/gitrepo"
)

// TestFromGit asks the real git about files with names and texts that try to
// pass for something else.
func TestFromGit(t *testing.T) {
	dir := t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		res, err := command.Run(t.Context(), command.Spec{Program: "git", Args: args, Dir: dir, Env: []string{"PATH=" + gitrepo.DefaultPath, "HOME=" + dir,
			"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@x", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@x"}})
		if err != nil || !res.OK() {
			t.Fatalf("git %v: %v %s", args, err, res.Stderr)
		}
		return strings.TrimSpace(res.Stdout.String())
	}
	write := func(name, text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755), os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	forged := "x\ndiff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n@@ -1,1 +1,9999 @@"
	spaces, quoted, umlaut := " lead and trail ", "q\"uo\\te\t\x01\x7f", "ü/\xff.txt"
	lines := strings.Repeat("line\n", 30)
	write("a.go", lines)
	write("gone", "old\n")
	write("from me", lines)
	write("mode.sh", "x\n")
	write("becomes-link", "x\n")
	write("bin", "\x00\x01")
	git("init", "-q", "-b", "main")
	git("add", "-A")
	git("commit", "-q", "-m", "base")
	base := git("rev-parse", "HEAD")
	write("a.go", "new\n"+lines+"no end")
	write(forged, "y\n@@ -1 +1 @@\n")
	write(spaces, "s\n")
	write(quoted, "q\n")
	write(umlaut, "u\n")
	write("empty", "")
	write("bin", "\x00\x02")
	write("to", lines+"more\n")
	for _, err := range []error{
		os.Remove(filepath.Join(dir, "gone")), os.Remove(filepath.Join(dir, "from me")), os.Remove(filepath.Join(dir, "becomes-link")),
		os.Symlink("a.go", filepath.Join(dir, "becomes-link")), os.Chmod(filepath.Join(dir, "mode.sh"), 0o755),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	git("add", "-A")
	git("commit", "-q", "-m", "head")
	head := git("rev-parse", "HEAD")

	clone, err := gitrepo.Locate(dir)
	if err != nil {
		t.Fatal(err)
	}
	repo, err := gitrepo.New(clone, gitrepo.Options{TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer repo.Close()
	files, err := changes.FromGit(t.Context(), repo, base, head)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]changes.ChangedFile{}
	for _, f := range files {
		got[f.Path] = f
	}
	want := map[string]changes.ChangedFile{
		"a.go": {Status: changes.Modified, Patch: "@@ -1,3 +1,4 @@\n+new\n line\n line\n line\n@@ -28,3 +29,4 @@ line\n line\n line\n line\n+no end\n\\ No newline at end of file"},
		forged: {Status: changes.Added, Patch: "@@ -0,0 +1,2 @@\n+y\n+@@ -1 +1 @@"}, spaces: {Status: changes.Added, Patch: "@@ -0,0 +1 @@\n+s"},
		quoted: {Status: changes.Added, Patch: "@@ -0,0 +1 @@\n+q"}, umlaut: {Status: changes.Added, Patch: "@@ -0,0 +1 @@\n+u"},
		"empty": {Status: changes.Added}, "gone": {Status: changes.Deleted, Patch: "@@ -1 +0,0 @@\n-old"}, "mode.sh": {Status: changes.TypeChanged},
		"bin": {Status: changes.Modified, Binary: true}, "becomes-link": {Status: changes.TypeChanged, Patch: "@@ -0,0 +1 @@\n+a.go\n\\ No newline at end of file"},
		"to": {Status: changes.Renamed, PreviousPath: "from me", Patch: "@@ -28,3 +28,4 @@ line\n line\n line\n line\n+more"},
	}
	for path, f := range want {
		f.Path = path
		want[path] = f
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	a := changes.NewAnchors(files)
	if err := a.Check("a.go", changes.Right, 29, 32); err != nil {
		t.Error(err)
	}
	if err := a.Check("a.go", changes.Right, 0, 5000); err == nil {
		t.Error("a forged hunk is believed")
	}
	if _, err := changes.FromGit(t.Context(), repo, base, strings.Repeat("1", 40)); !errors.Is(err, gitrepo.ErrMissing) {
		t.Errorf("err = %v", err)
	}
}
