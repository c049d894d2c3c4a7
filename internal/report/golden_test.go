package report_test

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/apply"
	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/report"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/sanitize"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// safe returns a function for Input.Safe: it cleans a text and makes one line of it.
func safe(t testing.TB) func(string) string {
	t.Helper()
	s, err := sanitize.New(sanitize.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return func(text string) string {
		out, _ := s.Plain(text)
		return strings.Join(strings.Fields(out), " ")
	}
}

// pull returns the event that most of the reports are about.
func pull() event.Event {
	return event.Event{Name: "pull_request", Repo: event.Repo{ID: 1, Owner: "octo", Name: "hello"}, Number: 7, IsPull: true}
}

// operation returns one step of a plan for items of one kind.
func operation(number int, kind safeoutput.Kind, summary, target string, requests []apply.Request, items ...apply.Member) apply.Operation {
	return apply.Operation{Number: number, Kind: kind, Summary: summary, Target: target, Items: items, Requests: requests}
}

func member(index, line int, kind safeoutput.Kind) apply.Member {
	return apply.Member{Index: index, Line: line, Kind: kind, Outcome: "apply"}
}

func post(path string) []apply.Request { return []apply.Request{{Method: "POST", Path: path}} }

// commit is what the branches of the reports point to.
const commit = "0123456789abcdef0123456789abcdef01234567"

func pushTo(branch string) []apply.Request {
	return []apply.Request{{Method: "PUSH", Path: "refs/heads/" + branch}}
}

func object(kind string, number int, url string) *apply.Object {
	return &apply.Object{Type: kind, ID: 1, Number: number, URL: url}
}

// rich returns an input with results of each state, and with something for most sections.
func rich() report.Input {
	review := safeoutput.KindCreateReviewComment
	in := report.Input{
		Event: pull(),
		Plan: &apply.Plan{
			Version: 1, Repository: "octo/hello", Event: "pull_request",
			Permissions: []apply.Permission{{Name: "issues", Level: "write"}},
			Operations: []apply.Operation{
				operation(1, safeoutput.KindCreateIssue, `create the issue "Crash | in `+"`x`"+`"`, "repository", post("/repos/octo/hello/issues"), member(0, 1, safeoutput.KindCreateIssue)),
				operation(2, review, "review pull request #7 with 2 comments", "pull request #7", post("/repos/octo/hello/pulls/7/reviews"), member(1, 2, review), member(2, 3, review)),
				operation(3, safeoutput.KindMissingTool, "report a missing tool in the job summary", "repository", nil, member(3, 4, safeoutput.KindMissingTool)),
				operation(4, safeoutput.KindAddIssueLabel, `add the labels "bug" to pull request #7`, "pull request #7", post("/repos/octo/hello/issues/7/labels"), member(4, 5, safeoutput.KindAddIssueLabel)),
				operation(5, safeoutput.KindAddIssueComment, "comment on pull request #7", "pull request #7", post("/repos/octo/hello/issues/7/comments"), member(5, 6, safeoutput.KindAddIssueComment)),
				operation(6, safeoutput.KindCreateDiscussion, `create the discussion "Plans"`, "repository", post("/graphql"), member(6, 7, safeoutput.KindCreateDiscussion)),
				operation(7, safeoutput.KindCreateSecurityReport, "upload a result", "code scanning", post("/repos/octo/hello/code-scanning/sarifs"), member(7, 8, safeoutput.KindCreateSecurityReport)),
				operation(9, safeoutput.KindCreatePullRequest, `open the pull request "Mend the parser"`, "branch airlock/mend", pushTo("airlock/mend"), member(10, 16, safeoutput.KindCreatePullRequest)),
				operation(10, safeoutput.KindPushToBranch, `push to the branch "topic"`, "branch topic", pushTo("topic"), member(11, 17, safeoutput.KindPushToBranch)),
				operation(11, safeoutput.KindPushToBranch, `push to the branch "topic"`, "branch topic", nil, member(12, 18, safeoutput.KindPushToBranch)),
				operation(12, safeoutput.KindCreatePullRequest, `open the pull request "Mend it too"`, "branch airlock/mend-2", pushTo("airlock/mend-2"), member(13, 19, safeoutput.KindCreatePullRequest)),
				operation(8, safeoutput.KindUpdateIssue, "change title of #9", "#9", post("/repos/octo/hello/issues/9"), member(8, 9, safeoutput.KindUpdateIssue)),
			},
		},
		Results: []apply.Result{
			{Index: 0, Line: 1, Kind: safeoutput.KindCreateIssue, State: apply.Applied, Message: "created the issue #12", Object: object("issue", 12, "https://github.com/octo/hello/issues/12"),
				Notes: []string{`left out "urgent"; allowed: bug`}, Cleaned: []apply.Cleaning{{Field: "body", Rule: "mentions", Detail: "octocat", Count: 2}}},
			{Index: 1, Line: 2, Kind: review, State: apply.Applied, Message: "commented on main.go, line 4", Object: object("review", 7, "https://github.com/octo/hello/pull/7#pullrequestreview-1")},
			{Index: 2, Line: 3, Kind: review, State: apply.Adopted, Message: "put into the review's body, since line 90 is not part of the diff", Object: object("review", 7, "https://github.com/octo/hello/pull/7#pullrequestreview-1")},
			{Index: 3, Line: 4, Kind: safeoutput.KindMissingTool, State: apply.Applied, Message: `the agent lacked the tool "docker": no daemon`, Repaired: []apply.Repair{{Kind: "single-quotes", Count: 4}, {Kind: "label", Field: "labels", Count: 1}}},
			{Index: 4, Line: 5, Kind: safeoutput.KindAddIssueLabel, State: apply.Adopted, Message: "pull request #7 has these labels already"},
			{Index: 5, Line: 6, Kind: safeoutput.KindAddIssueComment, State: apply.Failed, Code: apply.CodeNoPermission, Message: "could not comment: the token lacks the permission pull-requests: write",
				Fallback: &apply.Fallback{To: apply.ToSummary, Title: "add-issue-comment pull request #7", Text: "# All is done\n\n<details>\n\n```go\nx := 1\n"}},
			{Index: 6, Line: 7, Kind: safeoutput.KindCreateDiscussion, State: apply.Staged, Message: `would create the discussion "Plans"`, Notes: []string{`the category "a" was asked for; the configuration sets "b"`}},
			{Index: 7, Line: 8, Kind: safeoutput.KindCreateSecurityReport, State: apply.Skipped, Code: apply.CodeForkReadOnly, Message: "stored as a file instead", File: ".airlock/airlock.sarif"},
			{Index: 8, Line: 9, Kind: safeoutput.KindUpdateIssue, State: apply.Skipped, Code: apply.CodeEditedMeanwhile, Message: "somebody else changed the title since"},
			{Index: -1, Line: 10, Kind: safeoutput.KindAddIssueLabel, State: apply.Denied, Code: "target", Message: "items may act only on #7"},
			{Index: 9, Line: 14, Kind: review, State: apply.Skipped, Code: apply.CodeForkReadOnly, Message: "shown as an annotation instead",
				Fallback: &apply.Fallback{To: apply.ToAnnotation, Path: "main.go", StartLine: 3, Line: 5, Text: "Nice, @&#8203;octocat &lt;b>"}},
			{Index: 10, Line: 16, Kind: safeoutput.KindCreatePullRequest, State: apply.Applied, Message: `opened pull request #13 from the branch "airlock/mend"`, Notes: []string{"GitHub holds its workflow runs"},
				Object: &apply.Object{Type: "pull-request", Number: 13, URL: "https://github.com/octo/hello/pull/13", Branch: "airlock/mend", SHA: commit}},
			{Index: 11, Line: 17, Kind: safeoutput.KindPushToBranch, State: apply.Applied, Message: `pushed 2 commits to the branch "topic"`,
				Object: &apply.Object{Type: "commit", Number: 7, URL: "https://github.com/octo/hello/commit/" + commit, Branch: "topic", SHA: commit}},
			{Index: 12, Line: 18, Kind: safeoutput.KindPushToBranch, State: apply.Denied, Code: "protected-files", Message: `nothing was pushed: "CODEOWNERS" is protected`,
				Notes: []string{"the changes are kept as a patch"}, File: ".airlock/airlock-0a1b2c3d.patch"},
			{Index: 13, Line: 19, Kind: safeoutput.KindCreatePullRequest, State: apply.Skipped, Code: apply.CodePullForbidden, Message: "the pull request was not opened",
				Object: &apply.Object{Type: "branch", URL: "https://github.com/octo/hello/compare/main...airlock/mend-2?expand=1", Branch: "airlock/mend-2", SHA: commit}},
		},
		Rejected: []intake.Rejected{
			{Line: 11, Kind: safeoutput.KindCreateIssue, Violations: []intake.Violation{
				{Line: 11, Kind: safeoutput.KindCreateIssue, Path: "$.title", Message: "5 is not of type 'string'", SchemaPath: "properties.title.type"},
				{Line: 11, Kind: safeoutput.KindCreateIssue, Path: "$.body", Message: "'body' is a required property", SchemaPath: "required"}}},
			{Line: 12, Violations: []intake.Violation{{Line: 12, Path: "$", Message: "not valid JSON"}}},
		},
		Dropped: []intake.Dropped{{Line: 13, Kind: safeoutput.KindAddIssueLabel, Limit: 5}, {Line: 15, Kind: safeoutput.KindCreateIssue, Limit: 1}},
		Earlier: []string{"Line 3: create-issue: 'body' is a required property"},
	}
	return in
}

// planned returns the input of a dry run of the first operations of rich's plan.
func planned(unconfigured bool) report.Input {
	in := rich()
	in.DryRun, in.Unconfigured = true, unconfigured
	in.Rejected, in.Dropped, in.Earlier = nil, nil, nil
	in.Results = in.Results[:5]
	for i := range in.Results {
		in.Results[i].State, in.Results[i].Object, in.Results[i].Message = apply.Staged, nil, "would "+in.Plan.Operations[min(i, 1)].Summary
	}
	in.Plan.Operations = in.Plan.Operations[:4]
	in.Plan.Operations[2].Items[0].Reason = `the agent lacked the tool "docker": no daemon`
	in.Plan.Operations[3].Items[0].Outcome, in.Plan.Operations[3].Items[0].Reason = "adopted", "it has these labels already"
	in.Plan.Operations[3].Notes = []string{"a label that the repository does not have is created"}
	in.Plan.DryRun, in.Plan.Unchecked = true, []string{"without a token nothing on GitHub was read"}
	return in
}

// collected returns the input of a step that only collects.
func collected(t *testing.T) report.Input {
	t.Helper()
	res, err := intake.Collect(context.Background(), strings.NewReader(`{"type":"add-issue-label","labels":["a","b","c","d"],"colour":"red"}
{'type':'create-issue','title':'T','body':'Hello @octocat'}
{"type":"create-issue","title":"T"}
`), intake.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return report.Input{Collected: res.Accepted, Rejected: res.Rejected, Dropped: res.Dropped}
}

func TestGolden(t *testing.T) {
	for name, in := range map[string]report.Input{
		"rich": rich(), "dry-run": planned(false), "unconfigured": planned(true), "collected": collected(t),
		"nothing": {Event: pull(), Plan: &apply.Plan{}},
		"one":     {Event: event.Event{Name: "push"}, Results: []apply.Result{{Line: 1, Kind: "noop", State: apply.Applied, Message: "Nothing to do"}}},
	} {
		t.Run(name, func(t *testing.T) {
			in.Safe = safe(t)
			r := report.New(in)
			var text, coloured, doc bytes.Buffer
			for _, err := range []error{r.PlanText(&text, false), r.Text(&text, false), r.PlanText(&coloured, true), r.Text(&coloured, true), r.JSON(&doc, "  ")} {
				if err != nil {
					t.Fatal(err)
				}
			}
			golden(t, name+".md", r.Summary(1_000_000))
			golden(t, name+".txt", text.String())
			golden(t, name+".json", doc.String())
			withoutColours := strings.NewReplacer("\x1b[0m", "", "\x1b[1m", "", "\x1b[31m", "", "\x1b[32m", "", "\x1b[33m", "").Replace(coloured.String())
			if diff := cmp.Diff(text.String(), withoutColours); diff != "" {
				t.Errorf("colours change the text (-plain +coloured):\n%s", diff)
			}
		})
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; run go test ./internal/report -update and read what it writes", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}
