package acceptance_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/acceptance"
)

func TestReceive(t *testing.T) {
	req := request(t, `"validation_type": "code", "timeout_seconds": 60`, "a.md", "judge")
	now := time.Unix(1_800_000_000, 0)
	first, err := acceptance.NewDispatch(req, "c1", nil, now)
	if err != nil {
		t.Fatal(err)
	}
	again, _ := acceptance.NewDispatch(req, "c1", []acceptance.Dispatch{first}, now)
	other, _ := acceptance.NewDispatch(req, "c2", []acceptance.Dispatch{first, again}, now)
	if first.Attempt != 1 || again.Attempt != 2 || other.Attempt != 1 || first.ID == again.ID || first.ID == other.ID {
		t.Fatalf("%s, %s, %s", first.ID, again.ID, other.ID)
	}
	sent, err := acceptance.ReadRequest(first.Request)
	if err != nil || len(sent.Criteria) != 2 || !strings.Contains(string(first.Request), first.ID) || !json.Valid(first.Request) {
		t.Errorf("%s, %v", first.Request, err)
	}
	one, two := []acceptance.Dispatch{first}, []acceptance.Dispatch{first, again}
	for _, c := range []struct {
		name       string
		dispatches []acceptance.Dispatch
		id         string
		answered   string
		head       string
		after      time.Duration
		want       acceptance.Reception
		to         string
	}{
		{"no dispatch", nil, "", "", "c1", 0, acceptance.Unknown, ""},
		{"in time", one, "", "", "c1", 60 * time.Second, acceptance.Accepted, first.ID},
		{"too late", one, "", "", "c1", 61 * time.Second, acceptance.Late, first.ID},
		{"a second answer", one, "", first.ID, "c1", 0, acceptance.Conflict, first.ID},
		{"late and second", one, "", first.ID, "c1", time.Hour, acceptance.Conflict, first.ID},
		{"the newest", two, "", first.ID, "c1", 0, acceptance.Accepted, again.ID},
		{"an earlier one", two, first.ID, "", "c1", 0, acceptance.Late, first.ID},
		{"named", two, again.ID, first.ID, "c1", 0, acceptance.Accepted, again.ID},
		{"of another task", two, "x-1", "", "c1", 0, acceptance.Unknown, again.ID},
		{"another commit", one, "", "", "c2", 0, acceptance.Late, first.ID},
		{"no commit known", one, "", "", "", 0, acceptance.Accepted, first.ID},
	} {
		d, what, why := acceptance.Receive(acceptance.Response{TaskID: "t", Dispatch: c.id}, c.dispatches, func(d acceptance.Dispatch) bool { return d.ID == c.answered }, c.head, now.Add(c.after))
		if what != c.want || d.ID != c.to || (why == "") != (what == acceptance.Accepted) {
			t.Errorf("%s: %s to %q (%s), want %s to %q", c.name, what, d.ID, why, c.want, c.to)
		}
	}
}

func TestComplete(t *testing.T) {
	r := acceptance.Response{Verdict: acceptance.VerdictPass, Results: []acceptance.CriterionResult{{ID: "B", Status: acceptance.Pass}}}.Complete(request(t, "", "a", "b"))
	if show(r) != "A BLOCKED, B PASS: BLOCKED" {
		t.Error(show(r))
	}
}
