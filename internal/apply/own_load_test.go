package apply

import (
	"testing"

	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/google/go-cmp/cmp"
)

// ownRequest is a row of the documented table that only own items have: the
// requests of the first workflow run and of the next one, which has something else
// to say.
type ownRequest struct {
	name        string
	items, next []intake.OwnItem
	first, then map[string]int
}

func ownRequests() []ownRequest {
	return []ownRequest{
		{name: "check-run", items: []intake.OwnItem{checked(120)}, next: []intake.OwnItem{checked(3)},
			first: map[string]int{"graphql/Viewer": 1, "checks/list-for-ref": 1, "checks/create": 1, "checks/update": 2},
			then:  map[string]int{"graphql/Viewer": 1, "checks/list-for-ref": 1, "checks/create": 1}},
		{name: "review comments of Airlock's own", items: []intake.OwnItem{found("one", 3), found("two", 4)}, next: []intake.OwnItem{found("one", 3), found("three", 5)},
			first: map[string]int{"graphql/Viewer": 1, "pulls/get": 1, "pulls/list-reviews": 1, "pulls/list-review-comments": 1, "pulls/list-files": 1, "pulls/create-review": 1},
			then:  map[string]int{"graphql/Viewer": 1, "pulls/get": 1, "pulls/list-reviews": 1, "pulls/list-review-comments": 1, "pulls/list-files": 1, "pulls/create-review": 1}},
		{name: "minimise-comments", items: findings("one", "two"), next: findings("one"),
			first: map[string]int{"graphql/Viewer": 1, "pulls/get": 1, "pulls/list-reviews": 1, "pulls/list-review-comments": 1, "pulls/list-files": 1, "pulls/create-review": 1},
			then: map[string]int{"graphql/Viewer": 1, "pulls/get": 1, "pulls/list-reviews": 1, "pulls/list-review-comments": 1, "pulls/list-files": 1,
				"graphql/MinimizeComment": 1, "pulls/update-review-comment": 1}},
		{name: "sticky-comment", items: sticky("A."), next: sticky("B."),
			first: map[string]int{"graphql/Viewer": 1, "issues/list-comments": 1, "issues/create-comment": 1},
			then:  map[string]int{"graphql/Viewer": 1, "issues/list-comments": 1, "issues/update-comment": 1}},
	}
}

func TestRequestsOfOwnItems(t *testing.T) {
	for _, row := range ownRequests() {
		t.Run(row.name, func(t *testing.T) {
			b := ownBench(t, githubtest.Options{})
			for n, step := range []struct {
				items []intake.OwnItem
				want  map[string]int
			}{{row.items, row.first}, {row.next, row.then}} {
				for _, r := range b.push().runOwn(step.items) {
					if r.State != Applied && r.State != Adopted {
						t.Fatalf("%s(%s): %s", r.State, r.Code, r.Message)
					}
				}
				got := map[string]int{}
				for _, r := range b.srv.Requests() {
					got[r.Operation]++
				}
				if diff := cmp.Diff(step.want, got); diff != "" {
					t.Errorf("requests of workflow run %d (-documented +sent):\n%s", n+1, diff)
				}
				b.srv.ResetRequests()
			}
		})
	}
}
