package apply

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/google/go-cmp/cmp"
)

// anyTarget lets items of some kinds choose what they act on.
func (b *bench) anyTarget(kinds ...safeoutput.Kind) *bench {
	for _, k := range kinds {
		b.kind(k, func(kc *policy.KindConfig) { kc.Target = policy.TargetRule{Any: true} })
	}
	return b
}

// TestTheNumberThatIsNamedIsUsed runs on an event about one issue. Its items name the number of
// another issue, a pull request or a discussion, in one of the three fields for numbers. The comment
// is posted there if the number fits the field; otherwise it is denied.
func TestTheNumberThatIsNamedIsUsed(t *testing.T) {
	const eventIssue = 6
	names := map[string]int{"pull_request_number": pullNumber, "discussion_number": discussion, "issue_number": issueNumber}
	for name, fitting := range names {
		for _, number := range []int{issueNumber, pullNumber, discussion} {
			if name == "issue_number" && number != issueNumber {
				continue // an issue_number may be that of a pull request or discussion, too
			}
			t.Run(fmt.Sprintf("%s is %d", name, number), func(t *testing.T) {
				f := fixture()
				f.Issues = append(f.Issues, &githubtest.Issue{Number: eventIssue, Title: "Another"})
				b := newBench(t, f, githubtest.Options{}).on("issues", eventIssue).anyTarget(safeoutput.KindAddIssueComment)
				hello := fmt.Sprintf(`{"type":"add_comment","body":"Hello.",%q:%d}`, name, number)
				results := b.run(hello)
				if number != fitting {
					want(t, results, "denied(target-kind)")
					if n := len(b.srv.Writes()); n != 0 || !strings.Contains(results[0].Message, fmt.Sprintf("#%d", number)) {
						t.Errorf("%d writes, %q", n, results[0].Message)
					}
					return
				}
				want(t, results, "applied")
				operation := "issues/create-comment"
				if fitting == discussion {
					operation = "graphql/AddDiscussionComment"
				}
				if got := operations(b.srv.Writes()); !cmp.Equal(got, []string{operation}) || results[0].Object.Number != number {
					t.Errorf("writes %v, object %+v", got, results[0].Object)
				}
				want(t, b.run(hello), "adopted")
			})
		}
	}
}

func TestPullRequestNumberOfAnIssueIsDenied(t *testing.T) {
	for _, line := range []string{
		`{"type":"add_labels","labels":["bug"],"pr_number":5}`,
		`{"type":"create_pull_request_review_comment","path":"main.go","line":3,"body":"b","pull_request_number":5}`,
	} {
		b := newBench(t, fixture(), githubtest.Options{}).on("pull_request", pullNumber).anyTarget(safeoutput.KindAddIssueLabel, safeoutput.KindCreateReviewComment)
		want(t, b.run(line), "denied(target-kind)")
		if n := len(b.srv.Writes()); n != 0 {
			t.Errorf("%s: %d writes", line, n)
		}
	}
}

// TestReviewOfAnotherPullRequest names a pull request that the event is not about.
func TestReviewOfAnotherPullRequest(t *testing.T) {
	f := fixture()
	other := *f.Issues[1]
	other.Number, other.Title = 8, "Another"
	f.Issues = append(f.Issues, &other)
	b := newBench(t, f, githubtest.Options{}).on("pull_request", pullNumber).anyTarget(safeoutput.KindAddIssueLabel, safeoutput.KindCreateReviewComment)
	results := b.run(`{"type":"create_pull_request_review_comment","path":"main.go","line":3,"body":"b","pr":8}`)
	want(t, results, "applied")
	for _, w := range b.srv.Writes() {
		if !strings.HasPrefix(w.Path, "/repos/octo/repo/pulls/8/") {
			t.Errorf("a write to %s", w.Path)
		}
	}
}

// TestAClaimThatCannotBeCheckedIsNotBelieved applies items that say what their target is, with a token
// that may not read it. Nothing may be written, because the owner may have excluded the target.
func TestAClaimThatCannotBeCheckedIsNotBelieved(t *testing.T) {
	forbidden := githubtest.Fault{Status: http.StatusForbidden, Header: http.Header{"Content-Type": {"application/json"}}, Body: `{"message":"Resource not accessible by integration"}`}
	for line, reads := range map[string]string{
		`{"type":"add_labels","labels":["bug"],"pr_number":5}`:                                      "pulls/get",
		`{"type":"add_comment","body":"b","pull_request_number":5}`:                                 "pulls/get",
		`{"type":"add_comment","body":"b","discussion_number":5}`:                                   "graphql/Discussion",
		`{"type":"create_pull_request_review_comment","path":"main.go","line":3,"body":"b","pr":5}`: "pulls/get",
	} {
		o := githubtest.Options{Fault: always(reads, forbidden)}
		b := newBench(t, fixture(), o).on("pull_request", pullNumber).anyTarget(safeoutput.KindAddIssueLabel, safeoutput.KindAddIssueComment, safeoutput.KindCreateReviewComment)
		for _, k := range []safeoutput.Kind{safeoutput.KindAddIssueLabel, safeoutput.KindAddIssueComment} {
			b.kind(k, func(kc *policy.KindConfig) { kc.Excludes = []safeoutput.Target{safeoutput.Issue} })
		}
		results := b.run(line)
		want(t, results, "failed(permission)")
		if n := len(b.srv.Writes()); n != 0 || !strings.Contains(results[0].Message, "#5") {
			t.Errorf("%s: %d writes, %q", line, n, results[0].Message)
		}
	}
}
