package apply

import (
	"strings"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/markdown"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/sanitize"
	"github.com/google/go-cmp/cmp"
)

func sanitizer(t testing.TB) *sanitize.Sanitizer {
	t.Helper()
	s, err := sanitize.New(sanitize.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestChooseCategory(t *testing.T) {
	all := []githubapi.DiscussionCategory{
		{ID: "DIC_1", Name: "Announcements", Slug: "announcements"},
		{ID: "DIC_2", Name: "Ideas & more", Slug: "ideas"},
		{ID: "DIC_3", Name: "General", Slug: "general"},
	}
	for _, tt := range []struct{ wish, want string }{
		{"", "DIC_3"}, {"DIC_2", "DIC_2"}, {"IDEAS", "DIC_2"}, {"ideas & MORE", "DIC_2"}, {" general ", "DIC_3"}, {"announcements", "DIC_1"},
	} {
		got, problem := chooseCategory(all, tt.wish)
		if got.ID != tt.want || problem != "" {
			t.Errorf("%q: got %s (%s), want %s", tt.wish, got.ID, problem, tt.want)
		}
	}
	if got, _ := chooseCategory(all[:2], ""); got.ID != "DIC_2" {
		t.Errorf("without a general category: got %s, want the first that is not announcements", got.ID)
	}
	if got, _ := chooseCategory(all[:1], ""); got.ID != "DIC_1" {
		t.Errorf("with announcements only: got %s", got.ID)
	}
	_, problem := chooseCategory(all, "Nope")
	for _, want := range []string{`"Nope"`, "Announcements (announcements)", "General (general)"} {
		if !strings.Contains(problem, want) {
			t.Errorf("the message %q does not name %s", problem, want)
		}
	}
	if _, problem := chooseCategory(nil, ""); !strings.Contains(problem, "add one") {
		t.Errorf("no categories: %q", problem)
	}
}

func TestPermissionsNeeded(t *testing.T) {
	req := []Request{{Method: "POST", Path: "/x"}}
	ops := []Operation{
		{Permissions: write(permPulls), Requests: req},
		{Permissions: write(permIssues), Requests: req},
		{Permissions: write(permIssues), Requests: req},
		{Permissions: write(permDiscussions), Requests: req, Staged: true},
		{Permissions: write(permSecurity)}, // everything adopted
	}
	want := []Permission{{"issues", "write"}, {"pull-requests", "write"}}
	if diff := cmp.Diff(want, PermissionsNeeded(ops, false)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	block := PermissionsBlock(PermissionsNeeded(ops, true))
	if diff := cmp.Diff("permissions:\n  contents: read\n  discussions: write\n  issues: write\n  pull-requests: write\n", block); diff != "" {
		t.Errorf("block (-want +got):\n%s", diff)
	}
	if got := PermissionsBlock(nil); got != "permissions:\n  contents: read\n" {
		t.Errorf("an empty plan: %q", got)
	}
}

func TestBodyEndsWithTheMarkerAndFits(t *testing.T) {
	cfg := Config{Sanitizer: sanitizer(t), Workflow: "CI [x](y)", Run: event.Run{URL: "https://github.com/o/r/actions/runs/1"}}
	key := groupKey("x", nil)
	for name, text := range map[string]string{
		"short":       "Hello",
		"empty":       "",
		"too long":    strings.Repeat("A paragraph of text.\n\n", 5000),
		"astral":      strings.Repeat("😀", 70_000),
		"open fence":  "```\n" + strings.Repeat("code\n", 30_000),
		"megabytes":   strings.Repeat("x", 5<<20),
		"old markers": "text\n" + markdown.Marker(groupKey("y", nil)),
	} {
		t.Run(name, func(t *testing.T) {
			body, cut := cfg.body(text, cfg.footer(nil), key)
			if n := markdown.UTF16Len(body); n > maxBody {
				t.Errorf("%d UTF-16 units", n)
			}
			if len(body) > 262_144 {
				t.Errorf("%d bytes", len(body))
			}
			if got, ok := markdown.LastLineMarker(body); !ok || got != key {
				t.Errorf("the last line is no marker of the key: …%q", body[max(0, len(body)-150):])
			}
			if strings.Count(body, "airlock:v1") != 1 {
				t.Error("there is another marker")
			}
			if wantCut := markdown.UTF16Len(text) > maxBody-400; cut != wantCut {
				t.Errorf("cut: %v, want %v", cut, wantCut)
			}
			if cut != strings.Contains(body, cutNote) {
				t.Error("the note does not agree with the cut")
			}
			if !strings.Contains(body, "Asked for by an agent") {
				t.Error("the footer is missing")
			}
		})
	}
}

func TestFooters(t *testing.T) {
	cfg := Config{Sanitizer: sanitizer(t)}
	for _, tt := range []struct {
		name string
		f    *policy.Footer
		want string
	}{
		{"none", &policy.Footer{None: true}, ""},
		{"own", &policy.Footer{Text: "By *us*"}, "By *us*"},
		{"built in", &policy.Footer{}, "> Asked for by an agent; checked and posted by Airlock."},
	} {
		if got := cfg.footer(tt.f); got != tt.want {
			t.Errorf("%s: %q", tt.name, got)
		}
	}
	body, _ := cfg.body("text", "Thanks to @octocat, fixes #12", groupKey("", nil))
	if strings.Contains(body, "@octocat") {
		t.Errorf("the footer was not cleaned: %q", body)
	}
}

func TestEarliestNeverMissesWhatThisRunWrote(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	at := now.Add(-time.Hour)
	for _, tt := range []struct {
		name string
		run  event.Run
		ev   event.Event
		most time.Time // the result must not be after it
	}{
		{"event's time", event.Run{Attempt: 3}, event.Event{Time: at}, at},
		{"schedule", event.Run{Attempt: 1, StartedAt: at}, event.Event{}, now.Add(-20 * time.Hour)},
		{"schedule, run again", event.Run{Attempt: 2, StartedAt: at}, event.Event{}, now.Add(-60 * 24 * time.Hour)},
		{"our clock is slow", event.Run{Attempt: 1}, event.Event{Time: now.Add(time.Hour)}, now.Add(-20 * time.Hour)},
	} {
		if got := earliest(tt.run, tt.ev, now); got.After(tt.most) {
			t.Errorf("%s: %v is after %v", tt.name, got, tt.most)
		}
	}
}
