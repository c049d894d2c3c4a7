//go:build linux

package changes_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/changes"
	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/token"
)

// listed asks a server for the files of a pull request, as a caller does.
func listed(t *testing.T, files []githubtest.File) (list []changes.ChangedFile, total int) {
	t.Helper()
	sha := strings.Repeat("a", 40)
	server := githubtest.New(t, githubtest.Fixture{
		Repo:   githubtest.Repo{Owner: "o", Name: "r", DefaultBranch: "main"},
		Issues: []*githubtest.Issue{{Title: "x", Pull: &githubtest.Pull{Head: githubtest.Branch{Ref: "topic", SHA: sha}, Base: githubtest.Branch{Ref: "main", SHA: strings.Repeat("b", 40)}, Files: files}}},
	}, githubtest.Options{})
	client, err := githubapi.New(githubapi.Options{APIURL: server.APIURL(), Token: token.New("ghs_test", server.APIURL()), Transport: server.Transport(), Clock: githubtest.NewVirtualClock(server.State().Issues[0].CreatedAt), Pace: githubapi.Unpaced()})
	if err != nil {
		t.Fatal(err)
	}
	repo := githubapi.Repo{Owner: "o", Name: "r"}
	for f, err := range client.ListPullFiles(t.Context(), repo, 1) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, changes.FromAPI(f.Path, f.PreviousPath, f.Status, f.Patch, f.Changes))
	}
	p, err := client.GetPull(t.Context(), repo, 1)
	if err != nil {
		t.Fatal(err)
	}
	return list, p.ChangedFiles
}

func TestSetFromAPI(t *testing.T) {
	list, total := listed(t, []githubtest.File{
		{Path: "a.go", Patch: "@@ -1 +1,2 @@\n a\n+b"}, {Path: "new.py", PreviousPath: "old.py", Status: "renamed"}, {Path: "gone.rb", Status: "removed", Patch: "@@ -1 +0,0 @@\n-x"},
		{Path: "bin.png"}, {Path: "empty.rs", Status: "added"}, {Path: "late.ts", Patch: "@@ -1 +1 @@\n-a\n+b"}, {Path: "cut.java", Patch: "@@ -1,3 +1,3 @@\n a\n-b"},
	})
	list = append(list, changes.FromAPI("large.js", "", "modified", "", 90_000)) // GitHub leaves such a diff out
	tree := openTree(t, writeTree(t, map[string]string{
		"a.go": "a\nb\n", "new.py": "same\n", "bin.png": "\x00", "empty.rs": "", "large.js": "let x\n", "cut.java": "a\nc\n", ".gitattributes": "a.go linguist-generated\n"}))
	s, err := changes.SetFromAPI(t.Context(), changes.APISource{Files: list, Total: total + 1, Contents: changes.TreeContents(tree)}, changes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range s.Files {
		got = append(got, fmt.Sprintf("%s %s %v %v %v", f.Path, f.Status, f.Changed, f.AllChanged, f.Marks))
	}
	want := []string{
		"a.go modified [2] false []", "bin.png modified [] false [{binary it is a binary file}]", "cut.java modified [] true []", "empty.rs added [] true []",
		"gone.rb deleted [] false [{deleted it is deleted}]", "large.js modified [] true []", "late.ts modified [1] false [{unread it is not there}]", "new.py renamed [] false []",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if s.Missing != 0 || len(s.Notes) != 1 || !strings.Contains(s.Notes[0], `"cut.java"`) {
		t.Errorf("missing %d, notes %q", s.Missing, s.Notes)
	}
	if s, err = changes.SetFromAPI(t.Context(), changes.APISource{Files: list[:1], Total: 3, Contents: changes.TreeContents(tree), Rules: changes.TreeContents(tree)}, changes.Options{}); err != nil {
		t.Fatal(err)
	}
	if _, generated := s.Files[0].Marked(changes.MarkGenerated); !generated || s.Missing != 2 || len(s.Notes) != 1 || !strings.Contains(s.Notes[0], "run again") {
		t.Errorf("%+v", s)
	}
	if _, err := changes.SetFromAPI(t.Context(), changes.APISource{}, changes.Options{}); err == nil {
		t.Error("nothing to read the texts from, and no error")
	}
}

func TestSetFromAPIBeyondItsLimit(t *testing.T) {
	var files []githubtest.File
	for i := range changes.MaxAPIFiles + 50 {
		files = append(files, githubtest.File{Path: fmt.Sprintf("f%05d.go", i), Patch: "@@ -0,0 +1 @@\n+x", Status: "added"})
	}
	list, total := listed(t, files)
	s, err := changes.SetFromAPI(t.Context(), changes.APISource{Files: list, Total: total, Contents: changes.TreeContents(openTree(t, t.TempDir()))}, changes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Files) != changes.MaxAPIFiles || s.Missing != 50 || len(s.Notes) != 1 || !strings.Contains(s.Notes[0], "50 of 3050 changed files are not looked at") || !strings.Contains(s.Notes[0], "fetch-depth: 0") {
		t.Errorf("%d files, %d missing, %q", len(s.Files), s.Missing, s.Notes)
	}
}

// counted counts the files that are read.
type counted struct {
	changes.Contents
	read *int
}

func (c counted) Read(ctx context.Context, paths []string, limit int64) (map[string]changes.Content, error) {
	*c.read += len(paths)
	return c.Contents.Read(ctx, paths, limit)
}

// Once all texts together are too large nothing more is read.
func TestTextsAreReadInBatches(t *testing.T) {
	files := map[string]string{}
	var list []changes.ChangedFile
	for i := range 2000 {
		name := fmt.Sprintf("f%04d", i)
		files[name], list = "1234567890", append(list, changes.ChangedFile{Path: name, Status: changes.Added})
	}
	read := 0
	contents := counted{changes.TreeContents(openTree(t, writeTree(t, files))), &read}
	s, err := changes.SetFromAPI(t.Context(), changes.APISource{Files: list, Total: len(list), Contents: contents}, changes.Options{MaxTotal: 1000})
	if err != nil {
		t.Fatal(err)
	}
	kept, skipped := s.Split()
	if len(kept) != 100 || len(skipped) != 1900 || skipped[1899].Mark != changes.MarkTooLarge || read > 600 {
		t.Errorf("%d kept, %d skipped, %d read", len(kept), len(skipped), read)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := changes.SetFromAPI(ctx, changes.APISource{Files: list, Contents: contents}, changes.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
}

// Rules without end are not read to their end, and a note says so.
func TestAttributesAreBounded(t *testing.T) {
	dir := writeTree(t, map[string]string{".gitattributes": "a linguist-generated\n", "d/.gitattributes": strings.Repeat("a linguist-generated\n", 500), "e/.gitattributes": strings.Repeat("#\n", 60_000), "a": "", "d/a": "", "e/a": ""})
	s, err := changes.SetFromList(t.Context(), openTree(t, dir), []string{"a", "d/a", "e/a"}, changes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, generated := s.Files[0].Marked(changes.MarkGenerated); !generated || len(s.Notes) != 1 || !strings.Contains(s.Notes[0], "d/.gitattributes") {
		t.Errorf("%+v, notes %q", s.Files[0].Marks, s.Notes)
	}
	if s, err = changes.SetFromList(t.Context(), openTree(t, dir), []string{"e/a"}, changes.Options{}); err != nil || len(s.Notes) != 1 || !strings.Contains(s.Notes[0], "too large") {
		t.Errorf("notes %q, %v", s.Notes, err)
	}
}
