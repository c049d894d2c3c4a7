package changes_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/changes"
)

const (
	rawModified = ":100644 100644 1111111 2222222 M\x00a.txt\x00"
	modified    = "diff --git a/a.txt b/a.txt\nindex 1..2 100644\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\n+b\n"
)

func TestParseGit(t *testing.T) {
	t.Parallel()
	raw := rawModified +
		":100644 000000 1 0 D\x00a\nb\"\\\t\xff\x00" +
		":100644 100644 1 2 R090\x00old name\x00new name\x00" +
		":100644 100755 1 1 M\x00run.sh\x00" +
		":100644 120000 1 2 T\x00link\x00" +
		":000000 100644 0 2 A\x00empty\x00" +
		":100644 100644 1 2 M\x00logo.png\x00" +
		":100644 100644 1 1 C100\x00a\x00b\x00"
	patch := modified +
		"diff --git \"a/a\\nb\\\"\\\\\\t\\377\" \"b/a\\nb\\\"\\\\\\t\\377\"\ndeleted file mode 100644\nindex 1..0\n--- \"a/a\\nb\\\"\\\\\\t\\377\"\n+++ /dev/null\n@@ -1 +0,0 @@\n-diff --git a/x b/x\n\\ No newline at end of file\n" +
		"diff --git a/old name b/new name\nsimilarity index 90%\nrename from old name\nrename to new name\nindex 1..2 100644\n--- a/old name\t\n+++ b/new name\t\n@@ -1,2 +1,2 @@\n c\n-a\n+--- a/x\n" +
		"diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n" +
		"diff --git a/link b/link\ndeleted file mode 100644\n--- a/link\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n" +
		"diff --git a/link b/link\nnew file mode 120000\n--- /dev/null\n+++ b/link\n@@ -0,0 +1 @@\n+/etc/passwd\n\\ No newline at end of file\n" +
		"diff --git a/empty b/empty\nnew file mode 100644\nindex 0..2\n" +
		"diff --git a/logo.png b/logo.png\nindex 1..2 100644\nBinary files a/logo.png and b/logo.png differ\n" +
		"diff --git a/a b/b\nsimilarity index 100%\ncopy from a\ncopy to b\n"
	want := []changes.ChangedFile{
		{Path: "a.txt", Status: changes.Modified, Patch: "@@ -1 +1 @@\n-a\n+b"},
		{Path: "a\nb\"\\\t\xff", Status: changes.Deleted, Patch: "@@ -1 +0,0 @@\n-diff --git a/x b/x\n\\ No newline at end of file"},
		{Path: "new name", PreviousPath: "old name", Status: changes.Renamed, Patch: "@@ -1,2 +1,2 @@\n c\n-a\n+--- a/x"},
		{Path: "run.sh", Status: changes.TypeChanged},
		{Path: "link", Status: changes.TypeChanged, Patch: "@@ -0,0 +1 @@\n+/etc/passwd\n\\ No newline at end of file"},
		{Path: "empty", Status: changes.Added},
		{Path: "logo.png", Status: changes.Modified, Binary: true},
		{Path: "b", PreviousPath: "a", Status: changes.Copied},
	}
	got, err := changes.ParseGit([]byte(raw), []byte(patch))
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	if got, err := changes.ParseGit(nil, nil); err != nil || len(got) != 0 {
		t.Errorf("an empty diff: %v, %v", got, err)
	}
}

func TestParseGitErrors(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ raw, patch, want string }{
		"no record":      {"hello", "", "cannot be read"},
		"no name":        {":100644 100644 1 2 M\x00", "", "a name is missing"},
		"one name":       {":100644 100644 1 2 R100\x00a\x00", "", "has one name"},
		"unknown status": {":100644 100644 1 2 X\x00a\x00", "", `"X" is not known`},
		"cut off":        {rawModified, "", `ends before "a.txt"`},
		"too many":       {rawModified, modified + modified, "1 file more"},
		"other file":     {":100644 100644 1 2 M\x00b.txt\x00", modified, "disagree"},
		"bad quotes":     {rawModified, strings.Replace(modified, "+++ b/a.txt", `+++ "b/a\q12"`, 1), "unreadable name"},
		"open quotes":    {rawModified, strings.Replace(modified, "+++ b/a.txt", `+++ "`, 1), "unreadable name"},
		"half an escape": {rawModified, strings.Replace(modified, "+++ b/a.txt", `+++ "b/a\`+`"`, 1), "unreadable name"},
	}
	for name, tt := range tests {
		if _, err := changes.ParseGit([]byte(tt.raw), []byte(tt.patch)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: err = %v, want one with %q", name, err, tt.want)
		}
	}
}

func FuzzParseGit(f *testing.F) {
	f.Add([]byte(rawModified), []byte(modified))
	f.Add([]byte(":1 2 3 4 R1\x00a\x00b\x00"), []byte("diff --git a/a b/b\n--- \"a/\\141\"\n"))
	f.Fuzz(func(t *testing.T, raw, patch []byte) {
		files, err := changes.ParseGit(raw, patch)
		if err != nil {
			return
		}
		for _, c := range files {
			if c.Path == "" || strings.ContainsRune(c.Path, 0) {
				t.Errorf("path %q", c.Path)
			}
			if c.Patch != "" && !strings.HasPrefix(c.Patch, "@@") {
				t.Errorf("patch %q", c.Patch)
			}
		}
		changes.NewAnchors(files)
	})
}
