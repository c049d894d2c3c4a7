package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

func TestResultsSayWhatIntakeAndPolicyChanged(t *testing.T) {
	b := newBench(t, fixture(), githubtest.Options{})
	b.kind(safeoutput.KindCreateIssue, func(k *policy.KindConfig) { k.AllowedLabels = []string{"bug"} })
	r := b.run(`{'type': 'create-issue', "title": "T", "body": "Hi @octocat and @octocat", "labels": ["bug", "secret"], "colour": "red",}`)[0]
	if len(r.Cleaned) != 1 || r.Cleaned[0].Field != "body" || r.Cleaned[0].Rule != "mentions" || r.Cleaned[0].Count != 2 {
		t.Errorf("cleaned %+v", r.Cleaned)
	}
	if !slices.ContainsFunc(r.Repaired, func(m Repair) bool { return m.Kind == "single-quotes" && m.Count > 0 }) {
		t.Errorf("repaired %+v", r.Repaired)
	}
	notes := strings.Join(r.Notes, "\n")
	for _, part := range []string{`"secret"`, `"colour"`} {
		if !strings.Contains(notes, part) {
			t.Errorf("the notes do not say %s: %q", part, notes)
		}
	}
}

func TestDeniedItemsBecomeResults(t *testing.T) {
	b := newBench(t, fixture(), githubtest.Options{}).on("issues", issueNumber)
	_, denied := b.judge(`{"type":"add-issue-comment","body":"x","issue_number":77}`)
	rs := DeniedResults(denied)
	want(t, rs, "denied(target)")
	if rs[0].Line != 1 || rs[0].Message == "" || Count(rs)[Denied] != 1 {
		t.Errorf("%+v", rs[0])
	}
}

func TestFailuresInWords(t *testing.T) {
	api := func(e githubapi.Error) error { e.Op = "do it"; return &e }
	for _, tt := range []struct {
		err        error
		code, part string
	}{
		{api(githubapi.Error{Kind: githubapi.Forbidden, Permission: "issues=write"}), CodeNoPermission, "issues: write"},
		{api(githubapi.Error{Kind: githubapi.Forbidden}), CodeNoPermission, "needs discussions: write"},
		{api(githubapi.Error{Kind: githubapi.Forbidden, Feature: githubapi.FeatureLocked}), CodeLocked, "locked"},
		{api(githubapi.Error{Kind: githubapi.Forbidden, Feature: githubapi.FeatureArchived}), CodeArchived, "archived"},
		{api(githubapi.Error{Kind: githubapi.Forbidden, Feature: githubapi.FeatureCodeScanning}), CodeNoCodeScanning, "enable"},
		{api(githubapi.Error{Kind: githubapi.Forbidden, Feature: githubapi.FeatureIssues}), CodeFeatureDisabled, "issues"},
		{api(githubapi.Error{Kind: githubapi.NotFound}), "not-found", "exist"},
		{fmt.Errorf("x: %w", context.Canceled), CodeCancelled, "run the job again"},
		{errors.New("odd"), CodeInternal, "odd"},
	} {
		code, message := failure(tt.err, permissionsFor(safeoutput.KindCreateDiscussion, policy.Target{}))
		if code != tt.code || !strings.Contains(message, tt.part) {
			t.Errorf("%v: %s: %s", tt.err, code, message)
		}
	}
}

// TestLockedStopsOnlyItsOwnConversation has items for a locked issue and an open one. The second
// comment on the locked issue is not tried. People who may write can still change its labels, its
// title and its status, and so can a token.
func TestLockedStopsOnlyItsOwnConversation(t *testing.T) {
	f := fixture()
	f.Issues[0].Locked = true
	f.Issues = append(f.Issues, &githubtest.Issue{Number: 20, Title: "Open"})
	b := newBench(t, f, githubtest.Options{})
	results := b.run(aComment, aComment, `{"type":"add-issue-comment","body":"x","issue_number":20}`,
		`{"type":"add-issue-label","labels":["new"],"issue_number":5}`, `{"type":"update-issue","status":"closed","issue_number":5}`)
	want(t, results, "failed(locked) failed(locked) applied applied applied")
	if n := len(b.srv.Writes()); n != 4 {
		t.Errorf("%d writes", n)
	}
}
