package githubapi_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/githubtest"
)

const loopRef = "refs/airlock/loops/7-1"

// refEnv returns a server with a repository that has one commit.
func refEnv(t *testing.T) (env testEnv, git *githubtest.Git) {
	t.Helper()
	git = githubtest.NewGit(t)
	git.Commit("main", map[string]string{"README.md": "hello\n"}, "Begin")
	f := githubtest.Fixture{Repo: githubtest.Repo{ID: 5, Owner: "octo", Name: "repo", Permissions: map[string]string{"alice": "write"},
		Collaborators: []githubtest.Account{{Login: "alice", ID: 11}, {Login: "bob", ID: 12}}}, Viewer: githubtest.Account{Login: "airlock[bot]", ID: 99}}
	return newTestEnv(t, f, func(s *settings) { s.server.Git = git }), git
}

func TestFilesOnRefs(t *testing.T) {
	env, git := refEnv(t)
	none, err := env.FilesOnRefs(env.ctx, repo, githubapi.RefQuery{Prefix: "refs/airlock/loops/", Containing: "7-", File: "log.jsonl"})
	if err != nil || len(none.Files) != 0 || none.Repository == "" {
		t.Fatalf("%+v, %v", none, err)
	}
	write := func(before, text string) (sha string, err error) {
		parent := before
		if before == githubapi.NoCommit {
			parent = ""
		}
		sha, err = env.CommitFiles(env.ctx, repo, []githubapi.Addition{{Path: "log.jsonl", Data: []byte(text)}, {Path: "log.md", Data: []byte("# Log\n")}}, "Begin the loop\n\nIt fails.", parent)
		if err != nil {
			t.Fatal(err)
		}
		return sha, env.MoveRef(env.ctx, repo, none.Repository, loopRef, before, sha)
	}
	first, err := write(githubapi.NoCommit, "{}\n")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := write(githubapi.NoCommit, "{\"other\":1}\n"); err == nil {
		t.Fatal("two jobs have created the ref")
	}
	second, err := write(first, "{}\n{}\n")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := write(first, "{}\n[]\n"); err == nil {
		t.Fatal("two jobs have appended to one commit")
	}
	got, err := env.FilesOnRefs(env.ctx, repo, githubapi.RefQuery{Prefix: "refs/airlock/loops/", Containing: "7-", File: "log.jsonl"})
	want := githubapi.FileOnRef{Ref: loopRef, Commit: second, Headline: "Begin the loop", Text: "{}\n{}\n"}
	if err != nil || len(got.Files) != 1 || got.Files[0] != want {
		t.Errorf("%+v, %v", got, err)
	}
	listed, err := env.FilesOnRefs(env.ctx, repo, githubapi.RefQuery{Prefix: "refs/airlock/loops/"})
	if err != nil || len(listed.Files) != 1 || listed.Files[0].Text != "" || listed.Files[0].Commit != second {
		t.Errorf("%+v, %v", listed, err)
	}
	if parent := git.Run("rev-parse", loopRef+"^"); parent != first {
		t.Errorf("the second commit follows %s", parent)
	}
}

// TestARefThatIsNotACommit asserts that a ref which somebody has pointed at something else does not
// hide the others, and that it has no commit.
func TestARefThatIsNotACommit(t *testing.T) {
	env, git := refEnv(t)
	git.Commit("log", map[string]string{"log.jsonl": "{}\n"}, "Begin the loop")
	git.Run("update-ref", loopRef, "refs/heads/log")
	git.Run("-c", "user.name=Mona", "-c", "user.email=mona@example.com", "tag", "-a", "-m", "Loop 17-1 ended: forged", "tag", "log")
	for ref, object := range map[string]string{"17-1": "refs/tags/tag", "27-1": "log:log.jsonl", "37-1": "log^{tree}"} {
		git.Run("update-ref", "refs/airlock/loops/"+ref, object)
	}
	for _, file := range []string{"", "log.jsonl"} {
		got, err := env.FilesOnRefs(env.ctx, repo, githubapi.RefQuery{Prefix: "refs/airlock/loops/", Containing: "7-", File: file})
		want := []githubapi.FileOnRef{{Ref: "refs/airlock/loops/17-1"}, {Ref: "refs/airlock/loops/27-1"}, {Ref: "refs/airlock/loops/37-1"}, {Ref: loopRef, Commit: git.SHA("log"), Headline: "Begin the loop"}}
		if file != "" {
			want[3].Text = "{}\n"
		}
		if diff := cmp.Diff(want, got.Files); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
}

// TestARefWithoutATarget asserts that an answer which does not say what a ref leads to is an error.
func TestARefWithoutATarget(t *testing.T) {
	for _, target := range []string{`null`, `{}`, `{"oid":""}`, `{"__typename":"Commit"}`, `{"__typename":"Commit","oid":null}`, `{"__typename":""}`} {
		c := strangeClient(t, 200, `{"data":{"repository":{"id":"R","refs":{"nodes":[{"name":"7-1","target":`+target+`}],"pageInfo":{"hasNextPage":false}}}}}`)
		if got, err := c.FilesOnRefs(t.Context(), repo, githubapi.RefQuery{Prefix: "refs/airlock/loops/"}); !errors.Is(err, githubapi.Malformed) {
			t.Errorf("%s: %+v, %v", target, got, err)
		}
	}
}

func TestALongFileOnARefIsTruncated(t *testing.T) {
	env, git := refEnv(t)
	git.Commit("long", map[string]string{"log.jsonl": strings.Repeat("x", 600<<10)}, "Long")
	git.Run("update-ref", loopRef, "refs/heads/long")
	got, err := env.FilesOnRefs(env.ctx, repo, githubapi.RefQuery{Prefix: "refs/airlock/loops/", Containing: "7-", File: "log.jsonl"})
	if err != nil || len(got.Files) != 1 || !got.Files[0].Truncated {
		t.Fatalf("%d files, %v", len(got.Files), err)
	}
	file, err := env.GetFile(env.ctx, repo, "log.jsonl", got.Files[0].Commit)
	if err != nil || len(file) != 600<<10 {
		t.Errorf("%d bytes, %v", len(file), err)
	}
}

func TestInvalidRefsAreRefused(t *testing.T) {
	env, _ := refEnv(t)
	for _, ref := range []string{"", "main", "refs/heads", "refs/heads/../x", "refs/airlock/loops/7 1"} {
		if err := env.MoveRef(env.ctx, repo, "R_5", ref, githubapi.NoCommit, strings.Repeat("a", 40)); !errors.Is(err, githubapi.Usage) {
			t.Errorf("%q: %v", ref, err)
		}
	}
	if _, err := env.CommitFiles(env.ctx, repo, []githubapi.Addition{{Path: "a/b"}}, "m", ""); !errors.Is(err, githubapi.Usage) {
		t.Errorf("a file in a directory: %v", err)
	}
	if got := env.operations(); got != "" {
		t.Errorf("requests %s", got)
	}
}

func TestGetPermission(t *testing.T) {
	env, _ := refEnv(t)
	for login, want := range map[string]githubapi.Permission{"alice": {UserID: 11, Level: "write"}, "bob": {UserID: 12, Level: "read"}} {
		if got, err := env.GetPermission(env.ctx, repo, login); err != nil || got != want {
			t.Errorf("%s: %+v, %v", login, got, err)
		}
	}
	for login, want := range map[string]githubapi.Kind{"mallory": githubapi.NotFound, "a/../b": githubapi.Usage} {
		if _, err := env.GetPermission(env.ctx, repo, login); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %s", login, err, want)
		}
	}
}
