package githubapi_test

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/githubtest"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// TestRateLimits asserts that a write is sent again after a pause if a rate limit refused it,
// because a refused write had no effect.
func TestRateLimits(t *testing.T) {
	t.Parallel()
	now := githubtest.NewVirtualClock(time.Time{}).Now()
	noHeader := func(status int, message string) githubtest.Fault {
		return githubtest.Fault{Status: status, Body: fmt.Sprintf(`{"message":%q}`, message)}
	}
	for _, tt := range []struct {
		name  string
		fault githubtest.Fault
		times int
		want  time.Duration
	}{
		{"429 with Retry-After", githubtest.SecondaryLimit(429, 7), 1, 7 * time.Second},
		{"403 with Retry-After, twice", githubtest.SecondaryLimit(403, 7), 2, 14 * time.Second},
		{"403 by its wording only", githubtest.SecondaryLimit(403, -1), 1, time.Minute},
		{"429 by its status only", noHeader(429, ""), 1, time.Minute},
		{"growing", githubtest.SecondaryLimit(403, -1), 3, 7 * time.Minute},
		{"Retry-After 0 does not spin", githubtest.SecondaryLimit(429, 0), 3, 7 * time.Second},
		{"old wording", noHeader(403, "You have triggered an abuse detection mechanism."), 1, time.Minute},
		{"422 with the wording", noHeader(422, "was submitted too quickly"), 1, time.Minute},
		{"422 with the wording in an error", githubtest.Fault{Status: 422, Body: `{"message":"Validation Failed","errors":[` +
			`{"resource":"IssueComment","code":"unprocessable","field":"data","message":"was submitted too quickly"}]}`}, 1, time.Minute},
		{"primary, 403", githubtest.PrimaryLimit(403, now.Add(5*time.Minute)), 1, 5*time.Minute + time.Second},
		{"primary, 429", githubtest.PrimaryLimit(429, now.Add(5*time.Minute)), 1, 5*time.Minute + time.Second},
		{"GraphQL", githubtest.Fault{Status: 200, Body: `{"errors":[{"type":"RATE_LIMITED","message":"API rate limit exceeded"}]}`}, 1, time.Minute},
	} {
		t.Run(tt.name, func(t *testing.T) {
			env := newTestEnv(t, fixture())
			n := 0
			env.SetFault(func(githubtest.Request) githubtest.Fault {
				if n++; n <= tt.times {
					return tt.fault
				}
				return githubtest.Fault{}
			})
			var err error
			if tt.name == "GraphQL" {
				_, err = env.AddDiscussionComment(env.ctx, "D_"+itoa(env.State().Discussions[0].ID), "x")
			} else {
				_, err = env.CreateIssueComment(env.ctx, repo, 1, "x")
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := env.clock.Now().Sub(now); got != tt.want {
				t.Errorf("waited %v, want %v", got, tt.want)
			}
			if len(*env.log) != tt.times {
				t.Errorf("log: %q", *env.log)
			}
		})
	}
}

func TestRateLimitByServersClock(t *testing.T) {
	t.Parallel()
	// The server's clock is an hour ahead of the client's.
	clientClock := githubtest.NewVirtualClock(githubtest.NewVirtualClock(time.Time{}).Now().Add(-time.Hour))
	env := newTestEnv(t, fixture(), func(s *settings) { s.client.Clock = clientClock })
	start, n := clientClock.Now(), 0
	env.SetFault(func(githubtest.Request) githubtest.Fault {
		if n++; n == 1 {
			return githubtest.PrimaryLimit(403, env.clock.Now().Add(2*time.Minute))
		}
		return githubtest.Fault{}
	})
	if _, err := env.GetIssue(env.ctx, repo, 1); err != nil {
		t.Fatal(err)
	}
	if got := clientClock.Now().Sub(start); got != 2*time.Minute+time.Second {
		t.Errorf("waited %v", got)
	}
}

func TestRateLimitTooLong(t *testing.T) {
	t.Parallel()
	now := githubtest.NewVirtualClock(time.Time{}).Now()
	for name, fault := range map[string]githubtest.Fault{
		"primary":          githubtest.PrimaryLimit(403, now.Add(time.Hour)),
		"secondary, again": githubtest.SecondaryLimit(403, -1),
		"second by second": githubtest.SecondaryLimit(429, 1),
	} {
		env := newTestEnv(t, fixture())
		env.SetFault(func(githubtest.Request) githubtest.Fault { return fault })
		_, err := env.CreateIssueComment(env.ctx, repo, 1, "x")
		var e *githubapi.Error
		if !errors.As(err, &e) || e.Kind != githubapi.RateLimited || e.Until.IsZero() {
			t.Errorf("%s: %v", name, err)
		}
		if waited := env.clock.Now().Sub(now); waited > 10*time.Minute {
			t.Errorf("%s: waited %v", name, waited)
		}
		if n := len(env.Requests()); n > 20 {
			t.Errorf("%s: %d requests", name, n)
		}
	}
}

// TestForbiddenIsNotALimit asserts that the refusal of a request that lacks a permission does not
// count as a rate limit, even if the request uses up the hour's limit.
func TestForbiddenIsNotALimit(t *testing.T) {
	t.Parallel()
	env := newTestEnv(t, fixture())
	env.SetFault(func(githubtest.Request) githubtest.Fault {
		return githubtest.Fault{Status: 403, Body: `{"message":"Resource not accessible by integration"}`, Header: http.Header{"X-Ratelimit-Remaining": {"0"}, "X-Ratelimit-Limit": {"1000"}, "X-Ratelimit-Reset": {"9999999999"}}}
	})
	if _, err := env.CreateIssueComment(env.ctx, repo, 1, "x"); !errors.Is(err, githubapi.Forbidden) {
		t.Errorf("err = %v, want Forbidden", err)
	}
}

// TestExhaustedHourOnSuccess: the request that uses up the hour's limit succeeds, and the next
// one is sent: only its own answer decides whether to wait.
func TestExhaustedHourOnSuccess(t *testing.T) {
	t.Parallel()
	env := newTestEnv(t, fixture(), func(s *settings) {
		s.server.HourLimit = 2
		s.client.Pace.MaxWait = 2 * time.Hour
	})
	for range 3 {
		if _, err := env.GetIssue(env.ctx, repo, 1); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(env.Requests()); n != 4 {
		t.Errorf("%d requests, want 4: two, one that is limited, and that one again", n)
	}
}

// TestPacing writes a thousand comments in virtual time and asks the server's
// record whether a limit was exceeded.
func TestPacing(t *testing.T) {
	t.Parallel()
	env := newTestEnv(t, fixture(), func(s *settings) {
		s.client.Pace = githubapi.PaceConfig{MaxWait: 2 * time.Hour}
	})
	for k := range 1000 {
		if _, err := env.CreateIssueComment(env.ctx, repo, 1, "x"); err != nil {
			t.Fatal(err)
		}
		if k%3 == 0 {
			if _, err := env.ListLabelsOfIssue(env.ctx, repo, 1); err != nil {
				t.Fatal(err)
			}
			if _, err := env.AddLabels(env.ctx, repo, 1, []string{"docs"}); err != nil {
				t.Fatal(err)
			}
		}
	}
	reqs := env.Requests()
	for _, tt := range []struct {
		name   string
		span   time.Duration
		weight func(githubtest.Request) int
		limit  int
	}{
		{"writes a second", time.Second, func(r githubtest.Request) int { return map[bool]int{true: 1}[r.Write] }, 1},
		{"content a minute", time.Minute, githubtest.Contents, 80},
		{"content an hour", time.Hour, githubtest.Contents, 500},
		{"points a minute", time.Minute, githubtest.Points, 900},
	} {
		if got := githubtest.Peak(reqs, tt.span, tt.weight); got > tt.limit {
			t.Errorf("%s: %d, limit %d", tt.name, got, tt.limit)
		}
	}
	if got := githubtest.Peak(reqs, time.Hour, githubtest.Contents); got != 500 {
		t.Errorf("%d requests in the busiest hour: the limit is not used up", got)
	}
}

func TestPacingWithoutSpacing(t *testing.T) {
	t.Parallel()
	env := newTestEnv(t, fixture(), func(s *settings) {
		s.client.Pace = githubapi.PaceConfig{Spacing: -1, ContentPerHour: -1}
	})
	for range 200 {
		if _, err := env.CreateIssueComment(env.ctx, repo, 1, "x"); err != nil {
			t.Fatal(err)
		}
	}
	if got := githubtest.Peak(env.Requests(), time.Minute, githubtest.Contents); got != 80 {
		t.Errorf("%d writes in the busiest minute, want 80", got)
	}
}

func TestPacingGivesUp(t *testing.T) {
	t.Parallel()
	env := newTestEnv(t, fixture(), func(s *settings) { s.client.Pace = githubapi.PaceConfig{ContentPerHour: 3} })
	for range 3 {
		if _, err := env.CreateIssueComment(env.ctx, repo, 1, "x"); err != nil {
			t.Fatal(err)
		}
	}
	_, err := env.CreateIssueComment(env.ctx, repo, 1, "x")
	if !errors.Is(err, githubapi.RateLimited) || len(env.Requests()) != 3 {
		t.Errorf("err = %v after %d requests", err, len(env.Requests()))
	}
}
