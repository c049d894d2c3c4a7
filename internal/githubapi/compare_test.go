package githubapi_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/githubapi"
)

func TestCompareOnTheWire(t *testing.T) {
	body := fmt.Sprintf(`{"status":"diverged","ahead_by":300,"behind_by":2,"total_commits":300,"merge_base_commit":{"sha":%q},
		"commits":[{"sha":%q,"commit":{"message":"one","tree":{"sha":"t"},"author":{"name":"A","email":"a@x"},"verification":{"verified":true}},"parents":[{"sha":%q}]}]}`, shaB, shaA, shaB)
	for name, escaped := range map[string]string{
		"main": "main", shaA: shaA, "airlock/fix-1": "airlock%2Ffix-1", "a#b": "a%23b", "100%/x%2Fy": "100%25%2Fx%252Fy", "größe/日本": "gr%C3%B6%C3%9Fe%2F%E6%97%A5%E6%9C%AC",
		"a;b&c=d+e@f,g'h": "a%3Bb%26c%3Dd%2Be%40f%2Cg%27h",
	} {
		c, s := script(t, 200, body)
		got, err := c.Compare(t.Context(), repo, "rel/1", name)
		if err != nil {
			t.Errorf("%q: %v", name, err)
		}
		want := githubapi.Comparison{Status: "diverged", AheadBy: 300, BehindBy: 2, MergeBase: shaB,
			Commits: []githubapi.Commit{{SHA: shaA, Tree: "t", Message: "one", Author: githubapi.Person{Name: "A", Email: "a@x"}, Parents: []string{shaB}, Verified: true}}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", name, diff)
		}
		if diff := cmp.Diff([]string{"GET /repos/octo/repo/compare/rel%2F1..." + escaped}, s.sent); diff != "" {
			t.Errorf("%q: %s", name, diff)
		}
	}
}

func TestCompareRefusals(t *testing.T) {
	c, s := script(t, 200, `{}`)
	for _, name := range []string{"", "a..b", "a...b", "other:main", "../x", "a b"} {
		for what, err := range map[string]error{"base": second(c.Compare(t.Context(), repo, name, "main")), "head": second(c.Compare(t.Context(), repo, "main", name))} {
			if !errors.Is(err, githubapi.Usage) {
				t.Errorf("%s %q: %v", what, name, err)
			}
		}
	}
	if len(s.sent) != 0 {
		t.Errorf("sent: %q", s.sent)
	}
	for status, body := range map[int]string{404: `{"message":"No common ancestor between main and topic."}`, 409: `{"message":"Git Repository is empty."}`} {
		c, _ := script(t, status, body)
		if _, err := c.Compare(t.Context(), repo, "main", "topic"); !errors.Is(err, githubapi.NotFound) {
			t.Errorf("%d: %v", status, err)
		}
	}
}
