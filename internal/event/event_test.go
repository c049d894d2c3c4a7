package event_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/event"
)

const dir = "../../testdata/events"

func read(t testing.TB, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, file+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func parseTime(s string) time.Time {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		panic(err)
	}
	return t
}

var (
	hello = event.Repo{ID: 186853002, Owner: "Codertocat", Name: "Hello-World", DefaultBranch: "master"}
	head  = event.Ref{Ref: "changes", SHA: "ec26c3e57ca3a959ca5aad62de7213c562f8c821", Repo: "Codertocat/Hello-World"}
	base  = event.Ref{Ref: "master", SHA: "f95f852bd8fca8fcc58a9a2d6c842781e32a215e", Repo: "Codertocat/Hello-World"}
)

func TestRealPayloads(t *testing.T) {
	merge := event.Env{SHA: "aaaa", Ref: "refs/pull/2/merge"}
	fork := head
	fork.Repo = "octo-contributor/Hello-World"
	gone := event.Ref{Ref: head.Ref, SHA: head.SHA}
	tests := []struct {
		file, name string
		env        event.Env
		want       event.Event
	}{
		{"pull_request.opened", "pull_request", merge, event.Event{Action: "opened", Repo: hello, Number: 2, IsPull: true, Head: head, Base: base,
			SHA: "aaaa", Ref: "refs/pull/2/merge", Actor: "Codertocat", Time: parseTime("2019-05-15T15:20:33Z")}},
		{"pull_request.opened", "pull_request_target", event.Env{}, event.Event{Action: "opened", Repo: hello, Number: 2, IsPull: true, Head: head, Base: base,
			SHA: head.SHA, Ref: "refs/heads/master", Actor: "Codertocat", Time: parseTime("2019-05-15T15:20:33Z")}},
		{"pull_request.opened-fork", "pull_request", merge, event.Event{Action: "opened", Repo: hello, Number: 2, IsPull: true, Head: fork, Base: base, Fork: true,
			SHA: "aaaa", Ref: "refs/pull/2/merge", Actor: "Codertocat", Time: parseTime("2019-05-15T15:20:33Z")}},
		{"pull_request.synchronize-deleted-fork", "pull_request", merge, event.Event{Action: "synchronize", Repo: hello, Number: 2, IsPull: true, Head: gone, Base: base, Fork: true,
			SHA: "aaaa", Ref: "refs/pull/2/merge", Actor: "Codertocat", Time: parseTime("2019-05-15T15:20:33Z")}},
		{"pull_request_review.submitted", "pull_request_review", event.Env{}, event.Event{Action: "submitted", Repo: hello, Number: 2, IsPull: true, Head: head, Base: base,
			SHA: head.SHA, Ref: "refs/pull/2/merge", Actor: "Codertocat", Time: parseTime("2019-05-15T15:20:38Z")}},
		{"pull_request_review_comment.created", "pull_request_review_comment", event.Env{}, event.Event{Action: "created", Repo: hello, Number: 2, IsPull: true, Head: head, Base: base,
			SHA: head.SHA, Ref: "refs/pull/2/merge", Actor: "Codertocat", CommentID: 284312630, Time: parseTime("2019-05-15T15:20:38Z")}},
		{"issues.opened", "issues", event.Env{SHA: "bbbb", Ref: "refs/heads/master"}, event.Event{Action: "opened", Repo: hello, Number: 1,
			SHA: "bbbb", Ref: "refs/heads/master", Actor: "Codertocat", Time: parseTime("2019-05-15T15:20:18Z")}},
		{"issue_comment.created", "issue_comment", event.Env{}, event.Event{Action: "created", Repo: hello, Number: 1,
			Ref: "refs/heads/master", Actor: "Codertocat", CommentID: 492700400, Time: parseTime("2019-05-15T15:20:21Z")}},
		{"issue_comment.created-pull-request", "issue_comment", event.Env{}, event.Event{Action: "created", Repo: hello, Number: 2, IsPull: true,
			Ref: "refs/heads/master", Actor: "Codertocat", CommentID: 492700400, Time: parseTime("2019-05-15T15:20:21Z"),
			Notice: "the issue_comment event does not carry the commits of pull request #2: they are read through the API"}},
		{"discussion.created", "discussion", event.Env{}, event.Event{Action: "created", Number: 90, IsDiscussion: true, Actor: "Codertocat",
			Repo: event.Repo{ID: 17273051, Owner: "octo-org", Name: "octo-repo", DefaultBranch: "main"}, Ref: "refs/heads/main", Time: parseTime("2021-03-29T14:16:08Z")}},
		{"schedule", "schedule", event.Env{Repository: "octo/repo", RepositoryID: "7", SHA: "cccc", Ref: "refs/heads/main", Actor: "octocat"},
			event.Event{Repo: event.Repo{ID: 7, Owner: "octo", Name: "repo"}, SHA: "cccc", Ref: "refs/heads/main", Actor: "octocat",
				Notice: "a schedule event is about no issue, pull request or discussion"}},
		{"workflow_dispatch", "workflow_dispatch", event.Env{SHA: "dddd"}, event.Event{SHA: "dddd", Ref: "refs/heads/main", Actor: "octocat",
			Notice: "a workflow_dispatch event is about no issue, pull request or discussion"}},
		{"repository_dispatch", "repository_dispatch", event.Env{}, event.Event{Action: "on-demand-test", Ref: "refs/heads/master", Actor: "Codertocat",
			Notice: "a repository_dispatch event is about no issue, pull request or discussion"}},
		{"push", "push", event.Env{}, event.Event{Repo: hello, SHA: "6113728f27ae82c7b1a177c8d03f9e96e0adf246", Ref: "refs/heads/master", Actor: "Codertocat",
			Notice: "a push event is about no issue, pull request or discussion"}},
		{"push.tag-deleted", "push", event.Env{}, event.Event{Repo: hello, Ref: "refs/tags/simple-tag", Actor: "Codertocat",
			Notice: "a push event is about no issue, pull request or discussion"}},
		{"release.published", "release", event.Env{SHA: "eeee", Ref: "refs/tags/0.0.1"}, event.Event{Action: "published", Repo: hello, SHA: "eeee", Ref: "refs/tags/0.0.1", Actor: "Codertocat",
			Notice: `airlock does not read "release" events: only repository, commit and ref are known`}},
	}
	for _, tt := range tests {
		t.Run(tt.name+"/"+tt.file, func(t *testing.T) {
			got, err := event.Parse(tt.name, read(t, tt.file), tt.env)
			if err != nil {
				t.Fatal(err)
			}
			tt.want.Name = tt.name
			if tt.want.Repo == (event.Repo{}) {
				if got.Repo.ID == 0 || got.Repo.FullName() == "" {
					t.Errorf("Repo = %+v", got.Repo)
				}
				tt.want.Repo = got.Repo
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestWorkflowRun(t *testing.T) {
	tests := []struct {
		file    string
		number  int
		fork    bool
		notice  string
		baseRef string
	}{
		{"workflow_run.completed", 0, false, "no pull request of this repository", ""}, // its pull request is into another repository
		{"workflow_run.completed-pull-request", 2, false, "", "master"},
		{"workflow_run.completed-fork", 0, true, "GitHub lists none for a fork", ""},
	}
	for _, tt := range tests {
		ev, err := event.Parse("workflow_run", read(t, tt.file), event.Env{})
		if err != nil {
			t.Fatal(err)
		}
		if ev.Number != tt.number || ev.IsPull != (tt.number > 0) || ev.Fork != tt.fork || ev.Base.Ref != tt.baseRef ||
			!strings.Contains(ev.Notice, tt.notice) || (tt.notice == "") != (ev.Notice == "") {
			t.Errorf("%s: %+v", tt.file, ev)
		}
		if len(ev.Head.SHA) != 40 || ev.Head.Repo == "" || ev.Time.IsZero() {
			t.Errorf("%s: Head %+v, Time %v", tt.file, ev.Head, ev.Time)
		}
	}
}

func TestTwoPullRequestsOfARunAreNoTarget(t *testing.T) {
	data := `{"repository":{"id":1,"full_name":"o/r"},"workflow_run":{"head_repository":{"id":1},"pull_requests":[
		{"number":4,"base":{"repo":{"id":1}}},{"number":5,"base":{"repo":{"id":1}}}]}}`
	ev, err := event.Parse("workflow_run", []byte(data), event.Env{})
	if err != nil || ev.Number != 0 || ev.IsPull || !strings.Contains(ev.Notice, "2 pull requests") {
		t.Errorf("%+v, %v", ev, err)
	}
}

func TestForkIsDecidedByID(t *testing.T) {
	tests := map[string]struct {
		head string
		want bool
	}{
		"same id, renamed since":        {`{"id":1,"full_name":"old/name"}`, false},
		"other id, same name":           {`{"id":2,"full_name":"o/r"}`, true},
		"deleted":                       {`null`, true},
		"no id, same name, other case":  {`{"full_name":"O/R"}`, false},
		"no id, other name":             {`{"full_name":"x/r"}`, true},
		"neither id nor name":           {`{}`, true},
		"other id and name, same owner": {`{"id":3,"full_name":"o/r2"}`, true},
	}
	for name, tt := range tests {
		data := `{"repository":{"id":1,"full_name":"o/r"},"pull_request":{"number":3,"head":{"sha":"ab","repo":` + tt.head + `}}}`
		ev, err := event.Parse("pull_request", []byte(data), event.Env{})
		if err != nil || ev.Fork != tt.want {
			t.Errorf("%s: Fork = %v, err %v", name, ev.Fork, err)
		}
	}
}

func TestNamesAreInferred(t *testing.T) {
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, f := range files {
		name, ok := strings.CutSuffix(f.Name(), ".json")
		if !ok {
			continue
		}
		seen++
		want, _, _ := strings.Cut(name, ".")
		if want == "release" {
			want = ""
		}
		if got := event.InferName(read(t, name)); got != want {
			t.Errorf("InferName(%s) = %q, want %q", name, got, want)
		}
		ev, err := event.Parse("", read(t, name), event.Env{})
		if name != "schedule" && (err != nil || ev.Name != want) { // a schedule's payload names no repository
			t.Errorf("Parse(%s) = %q, %v", name, ev.Name, err)
		}
	}
	if seen < 15 {
		t.Errorf("only %d payloads", seen)
	}
	ev, err := event.Parse("", read(t, "pull_request.opened"), event.Env{EventName: "pull_request_target"})
	if err != nil || ev.Name != "pull_request_target" {
		t.Errorf("the environment's name is not used: %q, %v", ev.Name, err)
	}
}

func TestBadPayloads(t *testing.T) {
	tests := []struct {
		name, event, data string
		env               event.Env
		want              string
	}{
		{"empty", "issues", "", event.Env{}, "is empty"},
		{"blank", "issues", " \n\t", event.Env{}, "is empty"},
		{"not text", "issues", "\x00\xff\xfe{", event.Env{}, "not text"},
		{"array", "issues", "[1]", event.Env{}, "not a JSON object"},
		{"null", "issues", "null", event.Env{}, "not a JSON object"},
		{"broken", "issues", "{\n\"issue\": {\n,}}", event.Env{}, "not valid JSON, line 3"},
		{"cut off", "issues", `{"issue":`, event.Env{}, "not valid JSON, line 1"},
		{"two documents", "issues", `{} {}`, event.Env{}, "not valid JSON"},
		{"a member twice", "issues", "{\"repository\":{\"full_name\":\"o/r\"},\"issue\":{\"number\":1},\n\"issue\":{\"number\":2}}", event.Env{}, "two members /issue, the second on line 2"},
		{"a number twice", "issues", `{"repository":{"full_name":"o/r"},"issue":{"number":1,"number":2}}`, event.Env{}, "two members /issue/number, the second on line 1"},
		{"wrong type", "issues", `{"repository":{"full_name":"o/r"},"issue":{"number":"one"}}`, event.Env{}, `"issue.number" cannot be a string`},
		{"wrong event", "issues", `{"repository":{"full_name":"o/r"},"pull_request":{"number":1}}`, event.Env{}, `must have "issue"`},
		{"no number", "pull_request", `{"repository":{"full_name":"o/r"},"pull_request":{}}`, event.Env{}, `must have "pull_request"`},
		{"negative number", "discussion", `{"repository":{"full_name":"o/r"},"discussion":{"number":-1}}`, event.Env{}, `must have "discussion"`},
		{"no run", "workflow_run", `{"repository":{"full_name":"o/r"}}`, event.Env{}, `must have "workflow_run": is`},
		{"no repository", "schedule", `{}`, event.Env{}, "set GITHUB_REPOSITORY"},
		{"bad environment", "schedule", `{}`, event.Env{Repository: "not a repo"}, "give it as owner/name"},
		{"hostile name", "push", `{"repository":{"full_name":"o/../../x"}}`, event.Env{}, "not a repository name"},
		{"other repository", "push", `{"repository":{"id":5,"full_name":"o/r"}}`, event.Env{Repository: "o/r", RepositoryID: "6"}, "about o/r with the id 5, but this workflow run belongs to o/r with the id 6"},
		{"other repository by name", "push", `{"repository":{"full_name":"o/r"}}`, event.Env{Repository: "o/q"}, "about o/r, but this workflow run belongs to o/q"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := event.Parse(tt.event, []byte(tt.data), tt.env)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("err = %v, want one with %q", err, tt.want)
			}
		})
	}
}

// The payload begins with a byte order mark, which is skipped.
func TestRenamedRepositoryTakesTheCurrentName(t *testing.T) {
	ev, err := event.Parse("push", []byte("\ufeff"+`{"repository":{"id":5,"full_name":"old/name","default_branch":"main"}}`),
		event.Env{Repository: "new/name", RepositoryID: "5"})
	if err != nil || ev.Repo != (event.Repo{ID: 5, Owner: "new", Name: "name", DefaultBranch: "main"}) {
		t.Errorf("%+v, %v", ev.Repo, err)
	}
}

func TestUnknownEventsMayHaveMembersOfAnyType(t *testing.T) {
	ev, err := event.Parse("deployment_review", []byte(`{"repository":{"full_name":"o/r"},"comment":"fine","issue":[],"review":{"submitted_at":"soon"},"schedule":7}`), event.Env{SHA: "ab"})
	if err != nil || ev.SHA != "ab" || ev.Repo.FullName() != "o/r" || ev.Number != 0 || ev.Notice == "" {
		t.Errorf("%+v, %v", ev, err)
	}
}

func TestParseRepo(t *testing.T) {
	for _, good := range []string{"o/r", "octo-org/octo.repo_1", "a/" + strings.Repeat("x", 100)} {
		if r, ok := event.ParseRepo(good); !ok || r.FullName() != good {
			t.Errorf("ParseRepo(%q) = %v, %v", good, r, ok)
		}
	}
	for _, bad := range []string{"", "o", "/r", "o/", "o/r/x", "o/..", "./r", "o/r?x", "o/r#1", "ö/r", "o/r\n", "o /r", "o/" + strings.Repeat("x", 101)} {
		if _, ok := event.ParseRepo(bad); ok {
			t.Errorf("ParseRepo(%q) is accepted", bad)
		}
	}
	if (event.Repo{}).FullName() != "" {
		t.Error("the zero Repo has a name")
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range []string{"pull_request.opened", "issue_comment.created-pull-request", "workflow_run.completed-fork", "schedule"} {
		f.Add(strings.SplitN(name, ".", 2)[0], read(f, name))
	}
	f.Add("", []byte(`{"issue":{"number":1},"repository":{"full_name":"o/r"}}`))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		ev, err := event.Parse(name, data, event.Env{})
		if err != nil {
			return
		}
		if ev.Number < 0 || ev.IsPull && (ev.Number == 0 || ev.IsDiscussion) {
			t.Errorf("impossible event %+v", ev)
		}
		if _, ok := event.ParseRepo(ev.Repo.FullName()); !ok {
			t.Errorf("unsafe repository %q", ev.Repo.FullName())
		}
		if _, err := json.Marshal(ev); err != nil {
			t.Error(err)
		}
	})
}
