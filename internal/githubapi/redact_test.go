package githubapi_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/token"
)

// TestErrorsHoldNoToken is rule R14 where an answer repeats the request: somebody's
// error page with the credentials that were sent to him.
func TestErrorsHoldNoToken(t *testing.T) {
	const secret = "ghs_TestOnly0123456789abcdefghijklmnop"
	basic := base64.StdEncoding.EncodeToString([]byte("x-access-token:" + secret))
	body, err := json.Marshal(map[string]any{
		"message": "Denied: Bearer " + secret + " Basic " + basic,
		"errors":  []map[string]string{{"resource": "Issue", "field": secret, "code": "custom", "message": secret}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, status := range []int{http.StatusForbidden, http.StatusUnprocessableEntity, http.StatusUnauthorized, http.StatusNotFound, http.StatusBadGateway} {
		s := githubtest.New(t, githubtest.Fixture{Repo: githubtest.Repo{ID: 1, Owner: "o", Name: "r"}}, githubtest.Options{
			Fault: func(githubtest.Request) githubtest.Fault { return githubtest.Fault{Status: status, Body: string(body)} },
		})
		var log []string
		client, err := githubapi.New(githubapi.Options{
			Token: token.New(secret, s.APIURL()), APIURL: s.APIURL(), Transport: s.Transport(), Pace: githubapi.Unpaced(),
			Retry: githubapi.RetryConfig{Attempts: 1}, Log: func(line string) { log = append(log, line) },
		})
		if err != nil {
			t.Fatal(err)
		}
		_, err = client.CreateIssueComment(context.Background(), githubapi.Repo{Owner: "o", Name: "r"}, 1, "body")
		if err == nil {
			t.Fatalf("status %d: no error", status)
		}
		for _, text := range append(log, err.Error()) {
			if strings.Contains(text, secret) || strings.Contains(text, basic[20:60]) {
				t.Errorf("status %d: the token is shown: %s", status, text)
			}
		}
		if status == http.StatusForbidden && !strings.Contains(err.Error(), "Denied: Bearer ***") {
			t.Errorf("the rest of the message is lost: %v", err)
		}
	}
}
