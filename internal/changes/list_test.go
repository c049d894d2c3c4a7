//go:build linux

package changes_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/changes"
	"github.com/agent-airlock/airlock/internal/gitrepo"
)

const lfsPointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n"

// writeTree writes files below a new directory.
func writeTree(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func openTree(t testing.TB, dir string) *gitrepo.WorkTree {
	t.Helper()
	tree, err := gitrepo.OpenWorkTree(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tree.Close)
	return tree
}

// marksOf returns the marks of each file with their reasons, and of those without
// any their language.
func marksOf(s *changes.Set) map[string]string {
	got := map[string]string{}
	for _, f := range s.Files {
		var said []string
		for _, m := range f.Marks {
			said = append(said, string(m.Mark)+": "+m.Why)
		}
		if got[f.Path] = strings.Join(said, "; "); len(said) == 0 {
			got[f.Path] = f.Language
		}
	}
	return got
}

func TestSetFromList(t *testing.T) {
	secret := writeTree(t, map[string]string{"id": "secret"})
	dir := writeTree(t, map[string]string{
		"a.go": "package a\n", "empty.py": "", "bin.png": "x\x00y", "late.bin": strings.Repeat("x", 9000) + "\x00", "latin.txt": "gr\xfc\xdfe",
		"big.js": strings.Repeat("x\n", 600), "model.bin": lfsPointer, "sub/.git": "gitdir: elsewhere", "sub/x": "", "dir/x": "", "file": "x",
		"go.sum": "x", "vendor/a/b.go": "package b\n", "app.min.js": "x",
	})
	for _, err := range []error{
		os.Symlink("/etc/passwd", filepath.Join(dir, "link")), os.Symlink(secret, filepath.Join(dir, "away")),
		syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600), os.Chmod(filepath.Join(dir, "a.go"), 0o755),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	list := []string{"./a.go", "a.go", "empty.py", "bin.png", "late.bin", "latin.txt", "big.js", "model.bin", "sub", "dir", "link", "away/id", "pipe", "gone.go", "file/x", "go.sum",
		"vendor/a/b.go", "app.min.js"}
	s, err := changes.SetFromList(t.Context(), openTree(t, dir), list, changes.Options{MaxFile: 1000})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"a.go": "go", "empty.py": "python", "bin.png": "binary: it is a binary file", "late.bin": "too-large: it is larger than 1000 bytes", "latin.txt": "not-utf8: it is not UTF-8 text: what is none was replaced",
		"big.js": "too-large: it is larger than 1000 bytes", "model.bin": "lfs-pointer: Git LFS keeps its content elsewhere",
		"sub": "submodule: it is a submodule: its commit, not its files, is changed here", "dir": "not-a-file: it is a directory",
		"link": `link: it is a link to "/etc/passwd", which is not followed`, "away/id": "deleted: there is no such file: it is deleted, or its name is misspelt",
		"pipe": "not-a-file: it is no file but a pipe", "gone.go": "deleted: there is no such file: it is deleted, or its name is misspelt", "file/x": "deleted: there is no such file: it is deleted, or its name is misspelt",
		"go.sum": "generated: it is a lock file", "vendor/a/b.go": "vendored: it lies in a directory vendor", "app.min.js": "generated: its name says that it is minified",
	}
	if diff := cmp.Diff(want, marksOf(s)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for i, f := range s.Files {
		if i > 0 && s.Files[i-1].Path >= f.Path {
			t.Errorf("%s comes after %s", f.Path, s.Files[i-1].Path)
		}
		if _, skip := f.Skip(); skip && f.Text != nil {
			t.Errorf("%s has a text", f.Path)
		}
		if strings.Contains(string(f.Text), "secret") || strings.Contains(string(f.Text), "root:") {
			t.Errorf("%s: a link was followed", f.Path)
		}
	}
	if f := s.Files[0]; f.Path != "a.go" || string(f.Text) != "package a\n" || f.Mode != "100755" || f.Size != 10 || !f.ChangedLine(1) || f.ChangedLine(0) {
		t.Errorf("%+v", f)
	}
	if got := s.OfLanguage("go"); !cmp.Equal(got, []string{"a.go", "vendor/a/b.go"}) {
		t.Errorf("the files in Go: %q", got)
	}
	kept, skipped := s.Split(changes.MarkVendored)
	if len(kept) != 5 || len(skipped) != 12 || skipped[len(skipped)-1] != (changes.Skipped{Path: "vendor/a/b.go", Mark: changes.MarkVendored, Reason: "it lies in a directory vendor"}) {
		t.Errorf("kept %d, skipped %+v", len(kept), skipped)
	}
}

// TestNoByteHidesSource holds that a source file is read all the same: interpreters
// pass over such bytes in a comment.
func TestNoByteHidesSource(t *testing.T) {
	line := "eval(input()) # "
	texts := map[string]string{
		"nul.py": line + "\x00\n", "latin.py": line + "\xfc\n", "both.py": line + "\x00\xff\n", "long.js": strings.Repeat("a();\n", 400) + "/*" + strings.Repeat("\x00", 20) + "*/",
		"film.ts": strings.Repeat("G\x00\xff", 100), "nul.txt": "a\x00b",
	}
	dir := writeTree(t, texts)
	s, err := changes.SetFromList(t.Context(), openTree(t, dir), slices.Collect(maps.Keys(texts)), changes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"nul.py": line + "\uFFFD\n", "latin.py": line + "\uFFFD\n", "both.py": line + "\uFFFD\uFFFD\n", "long.js": strings.ReplaceAll(texts["long.js"], "\x00", "\uFFFD"),
		"film.ts": "", "nul.txt": "",
	}
	for _, f := range s.Files {
		if _, skip := f.Skip(); string(f.Text) != want[f.Path] || skip != (f.Text == nil) || f.Binary != skip {
			t.Errorf("%s: %q, skipped %v, binary %v", f.Path, f.Text, skip, f.Binary)
		}
	}
}

func TestSetFromListLimitsAllTexts(t *testing.T) {
	dir := writeTree(t, map[string]string{"a": "12345", "b": "12345", "c": "1", "d": ""})
	s, err := changes.SetFromList(t.Context(), openTree(t, dir), []string{"d", "c", "b", "a"}, changes.Options{MaxTotal: 9})
	if err != nil {
		t.Fatal(err)
	}
	kept, skipped := s.Split()
	if len(kept) != 1 || kept[0].Path != "a" || len(skipped) != 3 || skipped[0].Reason != "the changed files have more than 9 bytes together" {
		t.Errorf("kept %v, skipped %v", kept, skipped)
	}
}

func TestSetFromListRefusesPaths(t *testing.T) {
	tree := openTree(t, t.TempDir())
	_, err := changes.SetFromList(t.Context(), tree, []string{"ok", "", "/etc/passwd", "../x", "a/../../x", "a/..", ".", "a\x00b"}, changes.Options{})
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"file 2: the path is empty", `file 3: "/etc/passwd" must be relative`, `file 4: "../x" must not contain '..'`, "file 5", "file 6", `file 7: "." is not`, "file 8"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
	if s, err := changes.SetFromList(t.Context(), tree, nil, changes.Options{}); err != nil || len(s.Files) != 0 {
		t.Errorf("an empty list: %v, %v", s, err)
	}
}

// Attributes are compared with what git itself says of them.
func TestAttributesAsGitReadsThem(t *testing.T) {
	files := map[string]string{
		".gitattributes": "# comment\n*.pb.go linguist-generated\n/top.txt linguist-generated=true\ngen/** linguist-generated\n**/deep/x.? linguist-vendored\na/**/z linguist-generated\n" +
			"dir/ linguist-generated\n\"with blank.txt\" linguist-generated\n[a-c]*.t[!x]t linguist-generated\nkeep.pb.go -linguist-generated\nvendor/own/* linguist-vendored=false\n" +
			"back\\*slash linguist-generated text\n!neg linguist-generated\n[bad linguist-generated\nstar**star linguist-generated\nu.txt linguist-generated\nu.txt !linguist-generated\n",
		"sub/.gitattributes": "top.txt linguist-generated\n*.pb.go -linguist-generated\n/only linguist-generated\n",
	}
	names := []string{"x.pb.go", "a/b/x.pb.go", "top.txt", "other/top.txt", "gen/a", "gen/b/c", "x/gen/a", "deep/x.y", "q/deep/x.y", "q/deep/x.yy", "a/z", "a/b/c/z", "b/a/z",
		"dir/f", "with blank.txt", "a.txt", "a.txx", "keep.pb.go", "vendor/own/f.go", "vendor/f.go", "back*slash", "backXslash", "neg", "star-star", "s/star-star", "sub/top.txt", "sub/in/top.txt",
		"sub/x.pb.go", "sub/only", "sub/in/only", "[bad", "u.txt"}
	for _, name := range names {
		files[name] = ""
	}
	dir := writeTree(t, files)
	s, err := changes.SetFromList(t.Context(), openTree(t, dir), names, changes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	gitIn(t, dir, "init", "-q")
	for _, f := range s.Files {
		for attr, mark := range map[string]changes.Mark{"linguist-generated": changes.MarkGenerated, "linguist-vendored": changes.MarkVendored} {
			_, value, _ := strings.Cut(gitIn(t, dir, "check-attr", attr, "--", f.Path), ": "+attr+": ")
			want := value == "set" || value == "true" || value == "unspecified" && mark == changes.MarkVendored && strings.HasPrefix(f.Path, "vendor/")
			if _, got := f.Marked(mark); got != want {
				t.Errorf("%s: %s is %v, git says %q", f.Path, attr, got, value)
			}
		}
	}
}
