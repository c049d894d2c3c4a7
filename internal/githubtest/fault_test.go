package githubtest_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/githubtest"
)

// TestFaults checks for each fault what the client sees and whether the write
// took effect.
func TestFaults(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fault  githubtest.Fault
		status int // 0: a transport error
		effect bool
	}{
		"none":                {githubtest.Fault{}, 201, true},
		"status":              {githubtest.ServerError(502, false), 502, false},
		"status after":        {githubtest.ServerError(502, true), 502, true},
		"cut":                 {githubtest.Fault{Cut: true}, 0, false},
		"cut after":           {githubtest.Fault{Cut: true, After: true}, 0, true},
		"not JSON":            {githubtest.NotJSON(false), 200, false},
		"garbage":             {githubtest.Fault{Garbage: "x"}, 201, true},
		"limit":               {githubtest.SecondaryLimit(403, 3), 403, false},
		"bare limit":          {githubtest.BareLimit(429, -1), 429, false},
		"too quick":           {githubtest.TooQuick(), 422, false},
		"outside the diff":    {githubtest.OutsideDiff(), 422, false},
		"not there":           {githubtest.NotThere(), 404, false},
		"GraphQL's limit":     {githubtest.GraphQLLimit(), 200, false},
		"late":                {githubtest.Fault{Late: time.Minute}, 0, false},
		"slow":                {githubtest.Fault{Delay: time.Second}, 201, true},
		"too late, no effect": {githubtest.Fault{Delay: time.Hour}, 0, false},
		"too late, effect":    {githubtest.Fault{Delay: time.Hour, After: true}, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			clock := githubtest.NewVirtualClock(time.Time{})
			s := githubtest.New(t, fixture(), githubtest.Options{Clock: clock, Fault: func(githubtest.Request) githubtest.Fault { return tt.fault }})
			start := clock.Now()
			if status, err := createIssue(t, s); status != tt.status {
				t.Errorf("status %d, want %d (%v)", status, tt.status, err)
			}
			if got := len(s.State().Issues) == 3; got != tt.effect {
				t.Errorf("effect %v, want %v", got, tt.effect)
			}
			if r := s.Requests()[0]; r.Effect != tt.effect {
				t.Errorf("recorded effect %v, want %v", r.Effect, tt.effect)
			}
			if passed := clock.Now().Sub(start); passed != min(tt.fault.Delay, time.Minute) {
				t.Errorf("%v passed", passed)
			}
		})
	}
}

// createIssue creates an issue with the title "new" by a request with a deadline of one minute. A
// status of 0 means that there was no answer.
func createIssue(t *testing.T, s *githubtest.Server) (status int, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "POST", s.APIURL()+"/repos/octo/repo/issues", strings.NewReader(`{"title":"new"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{"Authorization": {"Bearer t"}, "Content-Type": {"application/json"}, "User-Agent": {"test"}}
	resp, err := s.Transport().RoundTrip(req)
	if err != nil {
		return 0, err
	}
	resp.Body.Close()
	return resp.StatusCode, nil
}

// TestLate asserts that a request whose client has gone takes effect later, at its own time, and
// that the lag of the listings counts from then.
func TestLate(t *testing.T) {
	t.Parallel()
	clock := githubtest.NewVirtualClock(time.Time{})
	s := githubtest.New(t, fixture(), githubtest.Options{Clock: clock, Lag: 10 * time.Second})
	s.SetFault(githubtest.Faults([]githubtest.FaultRule{{Operation: "issues/create", Fault: githubtest.Fault{Late: 20 * time.Second}}}))
	if status, err := createIssue(t, s); err == nil {
		t.Errorf("the request was answered with %d", status)
	}
	listed := func() bool {
		_, list, _ := ask(t, s, "GET", "/repos/octo/repo/issues", "")
		return strings.Contains(list, `"title":"new"`)
	}
	for _, step := range []struct {
		pass           time.Duration
		issues         int
		effect, listed bool
	}{{19 * time.Second, 2, false, false}, {5 * time.Second, 3, true, false}, {5 * time.Second, 3, true, false}, {time.Second, 3, true, true}} {
		clock.Advance(step.pass)
		if n, l := len(s.State().Issues), listed(); n != step.issues || l != step.listed || s.Requests()[0].Effect != step.effect {
			t.Errorf("after %v: %d issues, listed %v, effect %v", step.pass, n, l, s.Requests()[0].Effect)
		}
	}
	if at := s.State().Issues[2].CreatedAt; !at.Equal(clock.Now().Add(-10 * time.Second)) {
		t.Errorf("the issue was created at %v, want 10 s ago", at)
	}
}

func TestSkewed(t *testing.T) {
	t.Parallel()
	clock := githubtest.NewVirtualClock(time.Time{})
	ahead := githubtest.Skewed(clock, time.Hour)
	if err := ahead.Sleep(t.Context(), time.Minute); err != nil || ahead.Now().Sub(clock.Now()) != time.Hour {
		t.Errorf("%v and %v, %v", ahead.Now(), clock.Now(), err)
	}
	s := githubtest.New(t, fixture(), githubtest.Options{Clock: ahead})
	_, _, header := ask(t, s, "GET", "/repos/octo/repo", "")
	if header.Get("Date") != "Thu, 15 Jan 2026 13:01:00 GMT" {
		t.Errorf("the server sends the date %s", header.Get("Date"))
	}
}

// TestLagOf asserts that each object can have a lag of its own, so that a later one is listed first.
func TestLagOf(t *testing.T) {
	t.Parallel()
	clock := githubtest.NewVirtualClock(time.Time{})
	lags := []time.Duration{20 * time.Second, 0}
	s := githubtest.New(t, fixture(), githubtest.Options{Clock: clock, LagOf: func() time.Duration {
		next := lags[0]
		lags = lags[1:]
		return next
	}})
	for _, title := range []string{"slow", "quick"} {
		ask(t, s, "POST", "/repos/octo/repo/issues", `{"title":"`+title+`"}`)
	}
	for _, slow := range []bool{false, true} {
		_, list, _ := ask(t, s, "GET", "/repos/octo/repo/issues", "")
		if strings.Contains(list, `"title":"slow"`) != slow || !strings.Contains(list, `"title":"quick"`) {
			t.Errorf("want slow %v in the list: %s", slow, list)
		}
		clock.Advance(20 * time.Second)
	}
}

func TestSmallPages(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t, fixture(), githubtest.Options{PerPage: 1})
	_, list, header := ask(t, s, "GET", "/repos/octo/repo/issues?per_page=100", "")
	if strings.Count(list, `"title"`) != 1 || !strings.Contains(header.Get("Link"), `rel="next"`) {
		t.Errorf("%s: %s", header.Get("Link"), list)
	}
}

func TestHide(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t, fixture(), githubtest.Options{Fault: func(r githubtest.Request) githubtest.Fault { return githubtest.Fault{Hide: 1} }})
	_, list, _ := ask(t, s, "GET", "/repos/octo/repo/issues", "")
	if strings.Contains(list, `"title":"Pull"`) || !strings.Contains(list, `"title":"One"`) {
		t.Errorf("list: %s", list)
	}
}

func TestFaultRules(t *testing.T) {
	t.Parallel()
	rules, err := githubtest.ParseFaultRules([]byte(`[
		{"operation":"issues/create","skip":1,"times":2,"fault":{"status":503,"header":{"retry-after":"3"}}},
		{"skip":3,"fault":{"delay":"30s","after":true}}]`))
	if err != nil {
		t.Fatal(err)
	}
	hook := githubtest.Faults(rules)
	var got []string
	for range 5 {
		f := hook(githubtest.Request{Operation: "issues/create"})
		switch {
		case f.Status == 503 && f.Header.Get("Retry-After") == "3":
			got = append(got, "503")
		case f.Delay == 30*time.Second && f.After:
			got = append(got, "delay")
		default:
			got = append(got, "-")
		}
	}
	if diff := cmp.Diff([]string{"-", "503", "503", "delay", "delay"}, got); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{`{}`, `[{"fault":{"delay":"soon"}}]`, `[{"fault":{"late":"soon"}}]`, `[{"op":"x"}]`} {
		if _, err := githubtest.ParseFaultRules([]byte(bad)); err == nil {
			t.Errorf("%s was accepted", bad)
		}
	}
}

func TestHourLimit(t *testing.T) {
	t.Parallel()
	clock := githubtest.NewVirtualClock(time.Time{})
	s := githubtest.New(t, fixture(), githubtest.Options{Clock: clock, HourLimit: 2})
	var codes []int
	for range 3 {
		code, _, header := ask(t, s, "GET", "/repos/octo/repo", "")
		codes = append(codes, code)
		if header.Get("X-RateLimit-Limit") != "2" || header.Get("X-RateLimit-Reset") == "" {
			t.Errorf("header: %v", header)
		}
	}
	clock.Advance(time.Hour)
	code, _, _ := ask(t, s, "GET", "/repos/octo/repo", "")
	if diff := cmp.Diff([]int{200, 200, 403, 200}, append(codes, code)); diff != "" {
		t.Error(diff)
	}
}

// TestParseFixture asserts that a server's state can be the fixture of another, and that
// ParseFixture refuses unknown members.
func TestParseFixture(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t, fixture(), githubtest.Options{})
	ask(t, s, "POST", "/repos/octo/repo/issues/1/comments", `{"body":"x"}`)
	ask(t, s, "POST", "/repos/octo/repo/pulls/2/reviews", `{"event":"COMMENT","comments":[{"path":"a.go","body":"x","line":1}]}`)
	want := s.State()
	again := githubtest.New(t, want, githubtest.Options{}).State()
	if diff := cmp.Diff(want, again); diff != "" {
		t.Errorf("a state that is loaded again differs: %s", diff)
	}
	if _, err := githubtest.ParseFixture([]byte(`{"isues":[]}`)); err == nil {
		t.Error("an unknown member was accepted")
	}
}
