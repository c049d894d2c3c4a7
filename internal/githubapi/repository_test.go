package githubapi_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/githubtest"
)

func TestViewer(t *testing.T) {
	t.Parallel()
	env := newTestEnv(t, fixture())
	got, err := env.Viewer(env.ctx)
	want := githubapi.Actor{Login: "github-actions", DatabaseID: 41898282}
	if err != nil || got != want {
		t.Fatalf("Viewer() = %v, %v; want %v", got, err, want)
	}
	if ops := env.operations(); ops != "graphql/Viewer" {
		t.Errorf("requests: %s", ops)
	}
}

func TestGetRepo(t *testing.T) {
	t.Parallel()
	env := newTestEnv(t, fixture())
	got, err := env.GetRepo(env.ctx, githubapi.Repo{Owner: "OCTO", Name: "Repo"})
	if err != nil {
		t.Fatal(err)
	}
	want := githubapi.Repository{ID: 1, Repo: repo, DefaultBranch: "main", HasIssues: true, HasDiscussions: true, CloneURL: got.CloneURL}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got.CloneURL != "https://github.com/octo/repo.git" {
		t.Errorf("CloneURL = %q", got.CloneURL)
	}
	for id, want := range map[int64]error{1: nil, 2: githubapi.NotFound} {
		if _, err := env.GetRepo(env.ctx, githubapi.Repo{Owner: "octo", Name: "repo", ID: id}); !errors.Is(err, want) {
			t.Errorf("the repository with the id %d: %v", id, err)
		}
	}
}

func packed(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

const goodSARIF = `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"airlock"}},"results":[]}]}`

func TestSARIF(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text, state string
		errors            int
	}{
		{"good", goodSARIF, githubapi.SARIFComplete, 0},
		{"without results", `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"a"}}}]}`, githubapi.SARIFFailed, 1},
		{"one tool twice", `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"a"}},"results":[]},{"tool":{"driver":{"name":"a"}},"results":[]}]}`, githubapi.SARIFFailed, 1},
		{"not JSON", `{`, githubapi.SARIFFailed, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			env := newTestEnv(t, fixture(), func(s *settings) { s.server.Processing = time.Minute })
			id, err := env.UploadSARIF(env.ctx, repo, githubapi.SARIFUpload{CommitSHA: strings.Repeat("a", 40), Ref: "refs/heads/main", SARIF: packed(t, tt.text)})
			if err != nil {
				t.Fatal(err)
			}
			st, err := env.SARIFStatus(env.ctx, repo, id)
			if err != nil || st.State != githubapi.SARIFPending || len(st.Errors) != 0 {
				t.Errorf("at once: %+v, %v", st, err)
			}
			env.clock.Advance(time.Minute)
			st, err = env.SARIFStatus(env.ctx, repo, id)
			if err != nil || st.State != tt.state || len(st.Errors) != tt.errors {
				t.Errorf("later: %+v, %v", st, err)
			}
		})
	}
}

func TestGetFile(t *testing.T) {
	t.Parallel()
	f := fixture()
	f.Files = append(f.Files, githubtest.StoredFile{Path: "big", Content: strings.Repeat("x", 1<<20+1)}, githubtest.StoredFile{Path: "a b/ö#?.yml", Ref: "topic", Content: "here"})
	env := newTestEnv(t, f)
	for _, tt := range []struct {
		path, ref, want string
		err             error
	}{
		{".github/airlock.yml", "", "create-issue:\n", nil},
		{".github/airlock.yml", "main", "create-issue:\n", nil},
		{"a b/ö#?.yml", "topic", "here", nil},
		{"a b/ö#?.yml", "main", "", githubapi.NotFound},
		{"missing", "", "", githubapi.NotFound},
		{"docs", "", "", githubapi.Usage},
		{"big", "", "", githubapi.Usage},
		{"../x", "", "", githubapi.Usage},
		{"/etc/passwd", "", "", githubapi.Usage},
		{"", "", "", githubapi.Usage},
	} {
		got, err := env.GetFile(env.ctx, repo, tt.path, tt.ref)
		if string(got) != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("GetFile(%q, %q) = %q, %v", tt.path, tt.ref, got, err)
		}
	}
}
