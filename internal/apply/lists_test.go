package apply

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/githubtest"
)

// TestAdoptionAsksForOwnIssuesAlone counts the requests for one issue in a repository where
// thousands of others changed meanwhile, on a first attempt and on a later one.
func TestAdoptionAsksForOwnIssuesAlone(t *testing.T) {
	for name, c := range map[string]struct {
		viewer githubtest.Account
		list   int // requests of the list
		login  int
	}{
		"the workflow's own token": {githubtest.Account{}, 1, 0},
		"an app's token":           {githubtest.Account{Login: "agents[bot]", ID: 99}, 1, 1},
		"a person's token":         {githubtest.Account{Login: "octocat", ID: 98}, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			f := fixture()
			f.Viewer = c.viewer
			stranger := githubtest.Account{Login: "mallory", ID: 666}
			for n := range 6000 {
				f.Issues = append(f.Issues, &githubtest.Issue{Number: 1000 + n, Title: fmt.Sprint("Issue ", n), Author: stranger,
					CreatedAt: noon.Add(-time.Hour), UpdatedAt: noon})
			}
			b := newBench(t, f, githubtest.Options{TrustAnswers: true})
			b.ev.Time = time.Time{} // like the event of a schedule
			want(t, b.run(anIssue), "applied")
			ops := operations(b.srv.Requests())
			if n := count(ops, "issues/list-for-repo"); n != c.list {
				t.Errorf("%d requests for the list", n)
			}
			if n := count(ops, "users/get-by-id"); n != c.login {
				t.Errorf("%d requests for the account's name", n)
			}
			b.cfg.Run.Attempt = 2
			before := len(b.srv.Requests())
			want(t, b.run(anIssue), "adopted")
			if n := count(operations(b.srv.Requests()[before:]), "issues/list-for-repo"); n != c.list {
				t.Errorf("%d requests for the list on a later attempt", n)
			}
		})
	}
}

// TestAdoptionWithoutTheAccountsName asserts that adoption works where GitHub does not show
// the account, and that the list is still not read beyond what was opened meanwhile.
func TestAdoptionWithoutTheAccountsName(t *testing.T) {
	f := fixture()
	f.Viewer = githubtest.Account{Login: "agents[bot]", ID: 99}
	for n := range 500 {
		f.Issues = append(f.Issues, &githubtest.Issue{Number: 1000 + n, Title: fmt.Sprint("Issue ", n), CreatedAt: noon.Add(-time.Hour), UpdatedAt: noon})
	}
	b := newBench(t, f, githubtest.Options{TrustAnswers: true})
	b.srv.SetFault(always("users/get-by-id", githubtest.NotThere()))
	want(t, b.run(anIssue), "applied")
	want(t, b.run(anIssue), "adopted")
	for _, r := range b.srv.Requests() {
		if strings.Contains(r.Path, "/issues") && r.Query.Get("creator") != "" {
			t.Errorf("it asked for the issues of %s", r.Query.Get("creator"))
		}
	}
	if n := count(operations(b.srv.Requests()), "issues/list-for-repo"); n != 2 {
		t.Errorf("%d requests for the list in two runs", n)
	}
}
