package githubapi_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/githubtest"
)

// TestSettings asserts that the settings of a repository are read, and that the error names the
// permission that a token lacks.
func TestSettings(t *testing.T) {
	t.Parallel()
	env := newTestEnv(t, fixture())
	env.Change(func(f *githubtest.Fixture) {
		f.Repo.WorkflowToken, f.Repo.NoPullsByActions, f.Repo.Secrets = "write", true, []string{"KEY", "OTHER"}
		f.Tokens = []githubtest.Token{{Secret: secret}}
	})
	if got, err := env.WorkflowPermissions(env.ctx, repo); err != nil || got != (githubapi.WorkflowPermissions{Default: "write"}) {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := env.ActionsSecrets(env.ctx, repo); err != nil || strings.Join(got, " ") != "KEY OTHER" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := env.CodeScanningEnabled(env.ctx, repo); err != nil || !got {
		t.Errorf("without an analysis: %t, %v", got, err)
	}
	env.Change(func(f *githubtest.Fixture) { f.Repo.NoAdvancedSecurity = true })
	if got, err := env.CodeScanningEnabled(env.ctx, repo); err != nil || got {
		t.Errorf("switched off: %t, %v", got, err)
	}
	env.Change(func(f *githubtest.Fixture) {
		f.Repo.NoAdvancedSecurity, f.Tokens[0].Permissions = false, map[string]string{"metadata": "read"}
	})
	for want, err := range map[string]error{
		"administration=read":  second(env.WorkflowPermissions(env.ctx, repo)),
		"secrets=read":         second(env.ActionsSecrets(env.ctx, repo)),
		"security_events=read": second(env.CodeScanningEnabled(env.ctx, repo)),
	} {
		var e *githubapi.Error
		if !errors.As(err, &e) || e.Kind != githubapi.Forbidden || e.Permission != want {
			t.Errorf("%v, want the permission %s", err, want)
		}
	}
}

// TestSettingsOnTheWire gives answers that githubtest does not give, and an invalid repository.
func TestSettingsOnTheWire(t *testing.T) {
	t.Parallel()
	c, _ := script(t, 200, `{}`)
	if _, err := c.WorkflowPermissions(t.Context(), repo); !errors.Is(err, githubapi.Malformed) {
		t.Errorf("an empty answer: %v", err)
	}
	c, _ = script(t, 200, `[{"number":1}]`)
	if got, err := c.CodeScanningEnabled(t.Context(), repo); err != nil || !got {
		t.Errorf("with alerts: %t, %v", got, err)
	}
	c, s := script(t, 200, `{}`)
	if _, err := c.CodeScanningEnabled(t.Context(), githubapi.Repo{Owner: "o/../x", Name: "y"}); !errors.Is(err, githubapi.Usage) || len(s.sent) != 0 {
		t.Errorf("%v, sent %q", err, s.sent)
	}
}
