package githubapi_test

import (
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/githubapi"
)

func TestDispatch(t *testing.T) {
	env, _ := refEnv(t)
	if err := env.Dispatch(env.ctx, repo, "airlock-fix", map[string]any{"request": "FIXREQ-7-1"}); err != nil {
		t.Fatal(err)
	}
	sent := env.Server.Requests()
	if len(sent) != 1 || sent[0].Operation != "repos/create-dispatch-event" || sent[0].JSON("event_type") != "airlock-fix" || !sent[0].Effect {
		t.Errorf("%+v", sent)
	}
	many := map[string]any{}
	for _, name := range strings.Split("a b c d e f g h i j k", " ") {
		many[name] = 1
	}
	for why, c := range map[string]struct {
		name    string
		payload map[string]any
	}{
		"1 to 100":     {strings.Repeat("x", 101), nil},
		"must have":    {"", nil},
		"11 members":   {"x", many},
		"65549 bytes,": {"x", map[string]any{"r": strings.Repeat("x", githubapi.MaxDispatchBytes+5)}},
	} {
		if err := env.Dispatch(env.ctx, repo, c.name, c.payload); !strings.Contains(errorText(err), why) {
			t.Errorf("%q: %v", why, err)
		}
	}
	if n := len(env.Server.Requests()); n != 1 {
		t.Errorf("%d requests", n)
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
