package githubtest_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/githubtest"
)

// answer sends a request and returns the status of the answer and the values of the named members.
// In the name of a nested member, "." separates the names of the objects.
func answer(t *testing.T, s *githubtest.Server, method, path, body string, members ...string) string {
	t.Helper()
	code, text, _ := ask(t, s, method, path, body)
	out := fmt.Sprint(code)
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return out
	}
	for _, member := range members {
		w := v
		for name := range strings.SplitSeq(member, ".") {
			m, _ := w.(map[string]any)
			w = m[name]
		}
		out += fmt.Sprintf(" %v", w)
	}
	return out
}

func TestRefs(t *testing.T) {
	t.Parallel()
	s, g := hosted(t, func(f *githubtest.Fixture) { f.Repo.Protected, f.Repo.Ruled = []string{"kept/*"}, []string{"held/*"} })
	first := g.SHA("main")
	g.SetBranch("release", first)
	second := g.Commit("main", map[string]string{"x": "1"}, "Second")
	const refs = "/repos/octo/repo/git/refs"
	for _, tt := range []struct{ method, path, body, want string }{
		{"GET", "/repos/octo/repo/git/ref/heads/main", "", "200 refs/heads/main <nil> " + second},
		{"GET", "/repos/octo/repo/git/ref/heads/mai", "", "404 <nil> Not Found <nil>"},
		{"POST", refs, `{"ref":"refs/heads/a/b","sha":"` + first + `"}`, "201 refs/heads/a/b <nil> " + first},
		{"POST", refs, `{"ref":"refs/heads/a/b","sha":"` + first + `"}`, "422 <nil> Reference already exists <nil>"},
		{"POST", refs, `{"ref":"refs/heads/a","sha":"` + first + `"}`, "422 <nil> Reference update failed <nil>"},
		{"POST", refs, `{"ref":"refs/heads/c","sha":"` + strings.Repeat("0", 39) + `1"}`, "422 <nil> Object does not exist <nil>"},
		{"POST", refs, `{"ref":"refs/heads/a..b","sha":"` + first + `"}`, "422 <nil> refs/heads/a..b is not a valid ref name. <nil>"},
		{"POST", refs, `{"ref":"heads/c","sha":"` + first + `"}`, "422 <nil> heads/c is not a valid ref name. <nil>"},
		{"POST", refs, `{"ref":"refs/heads/kept/x","sha":"` + first + `"}`, "422 <nil> Reference update failed <nil>"},
		{"POST", refs, `{"ref":"refs/heads/held/x","sha":"` + first + `"}`, "422 <nil> Repository rule violations found\n\nChanges must be made through a pull request.\n\n <nil>"},
	} {
		if got := answer(t, s, tt.method, tt.path, tt.body, "ref", "message", "object.sha"); got != tt.want {
			t.Errorf("%s %s %s: %q, want %q", tt.method, tt.path, tt.body, got, tt.want)
		}
	}
	if got := g.Run("for-each-ref", "--format=%(refname) %(objectname)"); got != "refs/heads/a/b "+first+"\nrefs/heads/main "+second+"\nrefs/heads/release "+first {
		t.Errorf("refs: %s", got)
	}
	_, list, _ := ask(t, s, "GET", "/repos/octo/repo/git/matching-refs/heads/r", "")
	if strings.Count(list, `"ref"`) != 1 || !strings.Contains(list, `"refs/heads/release"`) {
		t.Errorf("list: %s", list)
	}
}

func TestRefsNeedPermissionAndARepository(t *testing.T) {
	t.Parallel()
	s, _ := hosted(t, func(f *githubtest.Fixture) {
		f.Tokens = []githubtest.Token{{Secret: "secret", Permissions: map[string]string{"contents": "read"}}}
	})
	code, _, header := ask(t, s, "POST", "/repos/octo/repo/git/refs", `{"ref":"refs/heads/x","sha":"`+strings.Repeat("a", 40)+`"}`)
	if code != 403 || header.Get("X-Accepted-Github-Permissions") != "contents=write" {
		t.Errorf("status %d, %v", code, header)
	}
	empty := githubtest.New(t, githubtest.Fixture{}, githubtest.Options{Git: githubtest.NewGit(t)})
	for _, path := range []string{"/git/ref/heads/main", "/git/matching-refs/heads", "/commits", "/git/commits/" + strings.Repeat("a", 40)} {
		if got := answer(t, empty, "GET", "/repos/octo/repo"+path, "", "message"); got != "409 Git Repository is empty." {
			t.Errorf("%s: %s", path, got)
		}
	}
	w := &witness{}
	without := githubtest.New(w, githubtest.Fixture{}, githubtest.Options{})
	if got := answer(t, without, "GET", "/repos/octo/repo/commits", ""); got != "500" || len(w.violations) != 1 || !strings.Contains(w.violations[0], "Options.Git") {
		t.Errorf("without a repository: %s, %q", got, w.violations)
	}
}

func TestCommitsAndCompare(t *testing.T) {
	t.Parallel()
	s, g := hosted(t)
	base := g.SHA("main")
	g.SetBranch("topic/1", base)
	one := g.Commit("topic/1", map[string]string{"new.txt": "1\n2\n"}, "One\n\nBody")
	two := g.CommitFiles("topic/1", []githubtest.GitFile{{Path: "dir/a b.txt", Mode: "0"}, {Path: "moved", Data: "ä\n"}, {Path: "bin", Data: "\x00"}, {Path: "README.md", Mode: "120000", Data: "moved"}}, "Two")
	main := g.Commit("main", map[string]string{"z": "z"}, "Main")
	g.Run("update-ref", "refs/heads/alone", g.Run("commit-tree", "-m", "x", main+"^{tree}"))

	if got := answer(t, s, "GET", "/repos/octo/repo/git/commits/"+one, "", "sha", "message", "author.name", "author.date", "verification.verified"); got != "200 "+one+" One\n\nBody Octo Cat 2026-01-02T03:05:05Z false" {
		t.Errorf("commit: %s", got)
	}
	if got := answer(t, s, "GET", "/repos/octo/repo/git/commits/"+strings.Repeat("a", 40), "", "message"); got != "404 Not Found" {
		t.Errorf("no commit: %s", got)
	}
	shas := func(path string) string {
		var list []struct{ SHA string }
		_, text, _ := ask(t, s, "GET", "/repos/octo/repo/commits"+path, "")
		if err := json.Unmarshal([]byte(text), &list); err != nil {
			return text
		}
		var out []string
		for _, c := range list {
			out = append(out, c.SHA)
		}
		return strings.Join(out, " ")
	}
	for path, want := range map[string]string{"": main + " " + base, "?sha=topic/1": two + " " + one + " " + base, "?sha=" + one + "&per_page=1": one, "?sha=" + one + "&per_page=1&page=2": base,
		"?sha=topic/1&path=new.txt": one} {
		if got := shas(path); got != want {
			t.Errorf("commits%s: %s, want %s", path, got, want)
		}
	}
	if got := answer(t, s, "GET", "/repos/octo/repo/commits?sha=none", "", "message"); got != "404 Not Found" {
		t.Errorf("commits of nothing: %s", got)
	}
	members := []string{"status", "ahead_by", "behind_by", "merge_base_commit.sha", "message"}
	for pair, want := range map[string]string{
		"main...topic%2F1":         "200 diverged 2 1 " + base + " <nil>",
		base + "..." + two:         "200 ahead 2 0 " + base + " <nil>",
		"topic/1..." + base:        "200 behind 0 2 " + base + " <nil>",
		"octo:main...main":         "200 identical 0 0 " + main + " <nil>",
		"main...none":              "404 404 <nil> <nil> <nil> Not Found",
		"main...other:main":        "404 404 <nil> <nil> <nil> Not Found",
		"main":                     "404 404 <nil> <nil> <nil> Not Found",
		"main...alone":             "404 404 <nil> <nil> <nil> No common ancestor between main and alone.",
		"main...HEAD~1":            "404 404 <nil> <nil> <nil> Not Found",
		"main...refs/heads/main":   "200 identical 0 0 " + main + " <nil>",
		"main..." + main[:10]:      "200 identical 0 0 " + main + " <nil>",
		"refs/tags/none...main":    "404 404 <nil> <nil> <nil> Not Found",
		"main...topic%2F1%5E%7Bx}": "404 404 <nil> <nil> <nil> Not Found",
	} {
		if got := answer(t, s, "GET", "/repos/octo/repo/compare/"+pair, "", members...); got != want {
			t.Errorf("%s: %s, want %s", pair, got, want)
		}
	}
	var c struct {
		Commits []struct{ SHA string }
		Files   []struct{ Filename, Status, Patch, Previous_filename string }
	}
	_, text, _ := ask(t, s, "GET", "/repos/octo/repo/compare/main...topic/1", "")
	if err := json.Unmarshal([]byte(text), &c); err != nil || len(c.Commits) != 2 || c.Commits[0].SHA != one {
		t.Fatalf("%v: %s", err, text)
	}
	var files []string
	for _, f := range c.Files {
		files = append(files, fmt.Sprintf("%s %s %q %s", f.Status, f.Filename, f.Patch, f.Previous_filename))
	}
	want := []string{`changed README.md "@@ -1 +0,0 @@\n-hello" `, `added bin "" `, `renamed moved "" dir/a b.txt`, `added new.txt "@@ -0,0 +1,2 @@\n+1\n+2" `}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Error(diff)
	}
}

func TestContentsFromGit(t *testing.T) {
	t.Parallel()
	s, g := hosted(t)
	first := g.SHA("main")
	g.CommitFiles("main", []githubtest.GitFile{{Path: "README.md", Data: "changed"}, {Path: "dir/link", Mode: "120000", Data: "../README.md"}, {Path: "out", Mode: "120000", Data: "../../etc/passwd"},
		{Path: "sub", Mode: "160000", Data: first}, {Path: "large", Data: strings.Repeat("x", 1<<20+1)}}, "Two")
	for path, want := range map[string]string{
		"README.md":               "200 file base64 Y2hhbmdlZA==\n",
		"README.md?ref=" + first:  "200 file base64 aGVsbG8K\n",
		"dir/a%20b.txt?ref=main":  "200 file base64 w6QK\n",
		"dir/link":                "200 file base64 Y2hhbmdlZA==\n",
		"out":                     "200 symlink <nil> <nil>",
		"sub":                     "200 submodule <nil> <nil>",
		"large":                   "200 file none ",
		"none":                    "404 <nil> <nil> <nil>",
		"README.md?ref=no-branch": "404 <nil> <nil> <nil>",
		"dir":                     "200 <nil> <nil> <nil>",
	} {
		if got := answer(t, s, "GET", "/repos/octo/repo/contents/"+path, "", "type", "encoding", "content"); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	if got := answer(t, s, "GET", "/repos/octo/repo", "", "clone_url", "default_branch"); got != "200 "+s.GitURL()+" main" {
		t.Errorf("repository: %s", got)
	}
}
