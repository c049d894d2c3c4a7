//go:build unix

package main_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/shorttest"
)

// refusedReview writes twenty review comments, of which GitHub refuses the first. It returns the
// directory of the comments, the arguments that apply them, and the options of a server that
// refuses that comment.
func refusedReview(t *testing.T) (dir string, args []string, o githubtest.Options) {
	t.Helper()
	var lines strings.Builder
	for i := range 20 {
		text := fmt.Sprintf("Good %d.", i)
		if i == 0 {
			text = "Refused."
		}
		fmt.Fprintf(&lines, `{"type":"create-pull-request-review-comment","path":"README.md","line":%d,"body":%q}`+"\n", 1+i%2, text)
	}
	dir = t.TempDir()
	write(t, dir, map[string]string{"lines.ndjson": lines.String(), "policy.yml": "create-pull-request-review-comment:\n  max: 20\n"})
	o.RefuseComment = func(body string) bool { return strings.HasPrefix(body, "Refused.") }
	return dir, []string{"apply", "--input", "lines.ndjson", "--config", "policy.yml", "--pace=0s"}, o
}

// checkReview asserts that all twenty comments are there once, in one review: nineteen on lines,
// and the refused one in its body.
func checkReview(t *testing.T, s *githubtest.Server, when string) {
	t.Helper()
	i := s.State().Issues[1]
	if len(i.Pull.Reviews) != 1 || i.Pull.Reviews[0].State != "COMMENTED" || len(i.Pull.Comments) != 19 || len(i.Comments) != 0 {
		t.Errorf("%s: %d reviews, %d comments on lines, %d in the conversation", when, len(i.Pull.Reviews), len(i.Pull.Comments), len(i.Comments))
		return
	}
	for n := 1; n < 20; n++ {
		text := fmt.Sprintf("Good %d.", n)
		if !slices.ContainsFunc(i.Pull.Comments, func(c *githubtest.DiffComment) bool { return strings.Contains(c.Body, text) }) {
			t.Errorf("%s: the comment %q is missing", when, text)
		}
	}
	if n := strings.Count(i.Pull.Reviews[0].Body, "**`README.md`, line 1**\n\nRefused."); n != 1 {
		t.Errorf("%s: the review's body has the refused comment %d times:\n%s", when, n, i.Pull.Reviews[0].Body)
	}
}

// TestOneReviewIsOneReview asserts that twenty comments become one review although GitHub refuses
// one of them, even if the program is killed before or after any of its requests and run again.
func TestOneReviewIsOneReview(t *testing.T) {
	t.Parallel()
	dir, args, o := refusedReview(t)
	calm := server(t, pullRequestFixture(), o)
	if res := run(t, dir, workflowEnv(calm, "pull_request", "pull_request.opened.json"), "", args...); res.code != 0 {
		t.Fatalf("it ended with %d:\n%s", res.code, res.stderr)
	}
	checkReview(t, calm, "without a kill")
	if n := len(calm.Writes()); n > 5 {
		t.Errorf("%d writes", n)
	}
	type kill struct{ request, when int }
	kills := map[string]kill{}
	for n := range len(calm.Requests()) {
		kills[fmt.Sprintf("before request %d", n+1)] = kill{n + 1, beforeEffect}
		kills[fmt.Sprintf("after request %d", n+1)] = kill{n + 1, afterEffect}
	}
	for name, k := range shorttest.Some(6, kills) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := server(t, pullRequestFixture(), o)
			env := workflowEnv(s, "pull_request", "pull_request.opened.json")
			runKilled(t, s, dir, env, k.request, k.when, args)
			s.SetFault(nil)
			if res := run(t, dir, env, "", args...); res.code != 0 {
				t.Errorf("the next run ended with %d:\n%s", res.code, res.stderr)
			}
			checkReview(t, s, "killed "+name)
		})
	}
}

// TestStoppedWhileAReviewIsPending asserts that a step that is cancelled deletes its pending
// review, which would block every later one, before the runner kills it.
func TestStoppedWhileAReviewIsPending(t *testing.T) {
	t.Parallel()
	dir, args, o := refusedReview(t)
	for _, operation := range []string{"graphql/AddThreads", "graphql/Draft", "graphql/SubmitReview"} {
		t.Run(operation, func(t *testing.T) {
			t.Parallel()
			s := server(t, pullRequestFixture(), o)
			env := workflowEnv(s, "pull_request", "pull_request.opened.json")
			res := cancelAt(t, s, operation, githubtest.Fault{}, false, dir, env, args...)
			if res.terminated || res.code != 0 && res.code != 1 {
				t.Errorf("it ended with %d (terminated: %v):\n%s", res.code, res.terminated, res.log)
			}
			for _, r := range s.State().Issues[1].Pull.Reviews {
				if r.State == "PENDING" {
					t.Errorf("a pending review is left:\n%s", res.log)
				}
			}
			s.SetFault(nil)
			if res := run(t, dir, env, "", args...); res.code != 0 {
				t.Errorf("the next run ended with %d:\n%s", res.code, res.stderr)
			}
			checkReview(t, s, "stopped at "+operation)
		})
	}
}

// TestStrangeAnswers asserts that, after an answer to a write that does not describe the item, the
// program asks GitHub whether it was written. After a strange list, only the item that needs the
// list fails. After an answer that the token has expired, the rest is not tried.
func TestStrangeAnswers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"lines.ndjson": `{"type":"add-issue-comment","body":"Hello"}` + "\n" + `{"type":"create-issue","title":"T","body":"B"}` + "\n",
		"policy.yml":   "add-issue-comment:\ncreate-issue:\n",
	})
	for name, tt := range map[string]struct {
		operation string
		fault     githubtest.Fault
		code      int
		says      []string
		comments  int
	}{
		"{} to a write":         {"issues/create-comment", githubtest.Fault{After: true, Status: 201, Body: `{}`}, 0, []string{`"applied": 2`}, 1},
		"null to a write":       {"issues/create-comment", githubtest.Fault{After: true, Status: 202, Body: `null`}, 0, []string{`"applied": 2`}, 1},
		"a message to a write":  {"issues/create-comment", githubtest.Fault{After: true, Status: 202, Body: `{"message":"Accepted"}`}, 0, []string{`"applied": 2`}, 1},
		"null in a list":        {"issues/list-comments", githubtest.Fault{Status: 200, Body: `[null]`}, 1, []string{`"applied": 1`, `"malformed"`}, 0},
		"null for a list":       {"issues/list-comments", githubtest.Fault{Status: 200, Body: `null`}, 1, []string{`"applied": 1`, `"malformed"`}, 0},
		"no content for a list": {"issues/list-comments", githubtest.Fault{Status: 204}, 1, []string{`"applied": 1`, `"malformed"`}, 0},
		"a token that expires":  {"issues/create-comment", githubtest.Fault{Status: 401, Body: `{"message":"Bad credentials"}`}, 1, []string{"does not accept the token any more", "not tried, because"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := server(t, pullRequestFixture(), githubtest.Options{})
			s.SetFault(func(r githubtest.Request) githubtest.Fault {
				if r.Operation == tt.operation {
					return tt.fault
				}
				return githubtest.Fault{}
			})
			res := run(t, dir, workflowEnv(s, "pull_request", "pull_request.opened.json"), "", "apply", "--input", "lines.ndjson", "--config", "policy.yml", "--pace=0s")
			if res.code != tt.code || len(s.State().Issues[1].Comments) != tt.comments {
				t.Errorf("it ended with %d and %d comments:\n%s", res.code, len(s.State().Issues[1].Comments), res.stderr)
			}
			for _, want := range tt.says {
				if !strings.Contains(res.stdout, want) {
					t.Errorf("the results lack %s:\n%s", want, res.stdout)
				}
			}
		})
	}
}
