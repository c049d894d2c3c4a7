//go:build image

package main_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/githubtest"
)

// TestImageTokenInAnAnswer is rule R14 where somebody on the way shows what was
// sent to him: a proxy's or a server's error page with the request's headers.
func TestImageTokenInAnAnswer(t *testing.T) {
	const special = "ghs_Test+Only/0123456789=~%41.abcdefghij"
	forms := secretForms(special)
	page := "Denied: Authorization: Bearer " + special + " Basic " + strings.Join(forms, " ") + " " + url.QueryEscape(special)
	body, err := json.Marshal(map[string]string{"message": page, "documentation_url": "https://docs.github.com/" + url.PathEscape(special)})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, operation string
		fault           githubtest.Fault
	}{
		{"refused", "issues/create-comment", githubtest.Fault{Status: http.StatusForbidden, Body: string(body)}},
		{"invalid", "issues/create-comment", githubtest.Fault{Status: http.StatusUnprocessableEntity, Body: string(body)}},
		{"not JSON", "issues/create-comment", githubtest.Fault{Status: http.StatusOK, Body: page}},
		{"unauthorized", "graphql/Viewer", githubtest.Fault{Status: http.StatusUnauthorized, Body: string(body)}},
		{"first request", "", githubtest.Fault{Status: http.StatusForbidden, Body: string(body)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := pullRequestFixture()
			f.Tokens[0].Secret = special
			s := server(t, f, githubtest.Options{Fault: githubtest.Faults([]githubtest.FaultRule{{Operation: c.operation, Fault: c.fault}})})
			j := newJob(t, s, "pull_request", "pull_request.opened.json", map[string]string{"lines.ndjson": twoLines})
			j.input("config", "add-issue-comment:\n", "token", special, "log-level", "debug")
			res := j.run()
			if res.code == 0 {
				t.Errorf("exit code 0:\n%s", res.stdout)
			}
		})
	}
}
