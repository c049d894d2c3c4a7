package githubtest_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/githubtest"
)

func TestNumbersAndIDsGrow(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t, fixture(), githubtest.Options{})
	ask(t, s, "POST", "/repos/octo/repo/issues", `{"title":"x"}`)
	ask(t, s, "POST", "/repos/octo/repo/pulls", `{"title":"x","head":"h","base":"main"}`)
	ask(t, s, "POST", "/graphql", `{"query":"mutation M {createDiscussion(input:{repositoryId:\"R_1\",categoryId:\"DIC_5\",title:\"t\",body:\"b\"}){discussion{number}}}"}`)
	ask(t, s, "POST", "/repos/octo/repo/issues", `{"title":"y"}`)
	f := s.State()
	numbers := []int{f.Issues[2].Number, f.Issues[3].Number, f.Discussions[0].Number, f.Issues[4].Number}
	if diff := cmp.Diff([]int{3, 4, 5, 6}, numbers); diff != "" {
		t.Error(diff)
	}
	if !(f.Issues[2].ID < f.Issues[3].ID && f.Issues[3].ID < f.Discussions[0].ID && f.Discussions[0].ID < f.Issues[4].ID) {
		t.Error("ids do not grow")
	}
}

// TestNewIDsAreNotThoseOfTheFixture asserts that a missing id becomes none that the fixture has.
func TestNewIDsAreNotThoseOfTheFixture(t *testing.T) {
	t.Parallel()
	f := githubtest.New(t, githubtest.Fixture{
		Issues:     []*githubtest.Issue{{Number: 1, Comments: []*githubtest.Comment{{Reactions: []githubtest.Reaction{{ID: 2000, Content: "+1"}}}}}},
		Categories: []githubtest.Category{{ID: 3000, Name: "General"}, {Name: "Ideas"}},
	}, githubtest.Options{}).State()
	if f.Issues[0].ID <= 3000 || f.Issues[0].Comments[0].ID <= 3000 || f.Categories[1].ID <= 3000 {
		t.Errorf("issue %d, comment %d, category %d", f.Issues[0].ID, f.Issues[0].Comments[0].ID, f.Categories[1].ID)
	}
}

func TestHeadAndBaseAreUnique(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t, fixture(), githubtest.Options{})
	body := `{"title":"x","head":"topic","base":"main","draft":true}`
	if code, _, _ := ask(t, s, "POST", "/repos/octo/repo/pulls", body); code != 201 {
		t.Errorf("the first: %d", code)
	}
	if code, answer, _ := ask(t, s, "POST", "/repos/octo/repo/pulls", body); code != 422 || !strings.Contains(answer, "already exists for octo:topic") {
		t.Errorf("the second: %d %s", code, answer)
	}
	_, list, _ := ask(t, s, "GET", "/repos/octo/repo/pulls?head=octo:topic&base=main", "")
	if strings.Count(list, `"draft":true`) != 1 {
		t.Errorf("list: %s", list)
	}
	ask(t, s, "PATCH", "/repos/octo/repo/issues/3", `{"state":"closed"}`)
	if code, _, _ := ask(t, s, "POST", "/repos/octo/repo/pulls", body); code != 201 {
		t.Errorf("after closing: %d", code)
	}
}

func TestAHundredLabels(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t, fixture(), githubtest.Options{})
	var labels []string
	for i := range 100 {
		labels = append(labels, fmt.Sprintf("L%d", i))
	}
	all, _ := json.Marshal(map[string]any{"labels": labels})
	if code, _, _ := ask(t, s, "POST", "/repos/octo/repo/issues/1/labels", string(all)); code != 200 {
		t.Errorf("a hundred: %d", code)
	}
	if code, _, _ := ask(t, s, "POST", "/repos/octo/repo/issues/1/labels", `{"labels":["l5"]}`); code != 200 {
		t.Errorf("one that is there: %d", code)
	}
	if code, _, _ := ask(t, s, "POST", "/repos/octo/repo/issues/1/labels", `{"labels":["more"]}`); code != 422 {
		t.Errorf("one more: %d", code)
	}
	if n := len(s.State().Issues[0].Labels); n != 100 {
		t.Errorf("%d labels", n)
	}
}

func TestAnchors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		anchor string
		ok     bool
	}{
		{`"line":1`, true}, {`"line":4`, true}, {`"line":5`, false}, {`"line":0`, false},
		{`"line":2,"side":"LEFT"`, true}, {`"line":3,"side":"LEFT"`, true}, {`"line":4,"side":"LEFT"`, false},
		{`"line":13`, true}, {`"line":14`, false}, {`"line":11,"side":"LEFT"`, true}, {`"line":12,"side":"LEFT"`, false},
		{`"line":4,"start_line":2`, true}, {`"line":4,"start_line":4`, false}, {`"line":2,"start_line":4`, false}, {`"line":12,"start_line":4`, false},
		{`"line":3,"start_line":2,"start_side":"LEFT"`, true},
	} {
		s := githubtest.New(t, fixture(), githubtest.Options{})
		code, answer, _ := ask(t, s, "POST", "/repos/octo/repo/pulls/2/reviews", `{"event":"COMMENT","comments":[{"path":"a.go","body":"x",`+tt.anchor+`}]}`)
		if (code == 200) != tt.ok || !tt.ok && code != 422 {
			t.Errorf("%s: %d %s", tt.anchor, code, answer)
		}
	}
}

func TestPendingReviewStaysHidden(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t, fixture(), githubtest.Options{})
	if code, answer, _ := ask(t, s, "POST", "/repos/octo/repo/pulls/2/reviews", `{"comments":[{"path":"a.go","body":"x","line":1}]}`); code != 200 {
		t.Errorf("the review: %d %s", code, answer)
	}
	if _, list, _ := ask(t, s, "GET", "/repos/octo/repo/pulls/2/comments", ""); list != "[]" {
		t.Errorf("comments: %s", list)
	}
}

// TestTotalCount asserts that the count of a connection does not depend on the page that is asked for.
func TestTotalCount(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t, fixture(), githubtest.Options{})
	s.Change(func(f *githubtest.Fixture) {
		for n := range int64(5) {
			f.Issues[1].Comments = append(f.Issues[1].Comments, &githubtest.Comment{ID: 9001 + n})
		}
	})
	total := len(s.State().Issues[1].Comments)
	for _, page := range []string{"first:2", "last:2", `first:1,after:\"IC_9002\"`, `last:1,before:\"IC_9004\"`} {
		_, got, _ := ask(t, s, "POST", "/graphql", `{"query":"query Q {repository(owner:\"octo\",name:\"repo\"){pullRequest(number:2){comments(`+page+`){totalCount}}}}"}`)
		if want := fmt.Sprintf(`"totalCount":%d}`, total); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", page, got, want)
		}
	}
}
