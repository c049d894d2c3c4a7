package apply

import (
	"context"
	"fmt"
	"go/parser"
	"go/token"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// requestRow is a row of the table of requests in the package's documentation.
type requestRow struct {
	name  string
	event string // default: the event of a run that somebody started by hand
	// line returns the nth item; on is the target that it acts on, one of two.
	line func(n, on int) string
	// want are the requests for n items on two targets, by operation.
	want  func(n int) map[string]int
	setup func(b *bench)
}

func requestRows() []requestRow {
	nothing := func(int) map[string]int { return map[string]int{} }
	tool := func(n, _ int) string {
		return line(map[string]any{"type": "missing-tool", "tool": fmt.Sprint("tool ", n), "reason": "It is not there."})
	}
	return []requestRow{
		{name: "create-issue",
			line: func(n, _ int) string {
				return line(map[string]any{"type": "create-issue", "title": fmt.Sprint("T", n), "body": loadText})
			},
			want: func(n int) map[string]int {
				return map[string]int{"graphql/Viewer": 1, "issues/list-for-repo": 1, "issues/create": n}
			}},
		{name: "add-issue-comment",
			line: func(_, on int) string {
				return line(map[string]any{"type": "add-issue-comment", "body": loadText, "issue_number": on})
			},
			want: func(n int) map[string]int {
				return map[string]int{"graphql/Viewer": 1, "issues/list-comments": 2, "issues/create-comment": n}
			}},
		{name: "add-issue-comment, discussion", event: "discussion",
			line: func(_, _ int) string { return line(map[string]any{"type": "add-issue-comment", "body": loadText}) },
			want: func(n int) map[string]int {
				return map[string]int{"graphql/Viewer": 1, "graphql/Discussion": 1, "graphql/DiscussionComments": 1, "graphql/AddDiscussionComment": n}
			}},
		{name: "add-issue-label",
			line: func(n, on int) string {
				// Labels repeat after 40 items: one that was added before takes a request as well.
				return line(map[string]any{"type": "add-issue-label", "labels": []string{fmt.Sprint("l", n%40)}, "issue_number": on})
			},
			want: func(n int) map[string]int {
				return map[string]int{"issues/list-labels-on-issue": 2, "issues/add-labels": n}
			}},
		{name: "update-issue",
			line: func(n, _ int) string {
				return line(map[string]any{"type": "update-issue", "title": fmt.Sprint("T", n), "issue_number": issueNumber})
			},
			want: func(n int) map[string]int {
				return map[string]int{"graphql/Viewer": 1, "issues/get": 1, "graphql/Edits": 1 + n, "issues/update": n}
			}},
		{name: "create-pull-request-review-comment", event: "pull_request",
			line: func(n, _ int) string { return reviewLine("main.go", 1+n%6, "A short word.") },
			want: func(int) map[string]int {
				return map[string]int{"graphql/Viewer": 1, "pulls/get": 1, "pulls/list-reviews": 1, "pulls/list-review-comments": 1, "pulls/list-files": 1, "pulls/create-review": 1}
			}},
		{name: "create-discussion",
			line: func(n, _ int) string {
				return line(map[string]any{"type": "create-discussion", "title": fmt.Sprint("T", n), "body": loadText})
			},
			want: func(n int) map[string]int {
				return map[string]int{"graphql/Viewer": 1, "graphql/Discussions": 1, "graphql/Categories": 1, "graphql/CreateDiscussion": n}
			}},
		{name: "missing-tool", line: tool, want: nothing},
		{name: "missing-tool (with an issue)", line: tool,
			want: func(int) map[string]int {
				return map[string]int{"graphql/Viewer": 1, "issues/list-for-repo": 1, "issues/create": 1}
			},
			setup: func(b *bench) {
				b.kind(safeoutput.KindMissingTool, func(kc *policy.KindConfig) { kc.CreateIssue = true })
			}},
		{name: "create-security-report", event: "pull_request",
			line: func(n, _ int) string { return alert([]string{"main.go", "new name.go"}[n%2], 1+n, "Found.", "") },
			want: func(int) map[string]int {
				return map[string]int{"repos/get-content": 2, "code-scanning/upload-sarif": 1, "code-scanning/get-sarif": 1}
			}},
		{name: "noop", line: func(int, int) string { return `{"type":"noop","message":"Nothing."}` }, want: nothing},
	}
}

// loadText is the body of the issues, comments and discussions in requestRows.
const loadText = "Some words that an agent has to say. "

func (row requestRow) bench(t *testing.T) *bench {
	b := newBench(t, fixture(), githubtest.Options{TrustAnswers: true})
	switch row.event {
	case "pull_request":
		b.on(row.event, pullNumber)
	case "discussion":
		b.on(row.event, discussion)
	}
	if row.setup != nil {
		row.setup(b)
	}
	return b
}

func (row requestRow) lines(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = row.line(i, []int{issueNumber, pullNumber}[i%2])
	}
	return out
}

// TestRequestsOfEachKind checks the table in the package's documentation: how many requests a
// number of items of each kind takes.
func TestRequestsOfEachKind(t *testing.T) {
	counted := slices.Sorted(maps.Keys(codeRequests())) // TestRequestsOfCode
	for _, row := range ownRequests() {                 // TestRequestsOfOwnItems
		counted = append(counted, row.name)
	}
	for _, row := range requestRows() {
		if name, _, _ := strings.Cut(row.name, " ("); !slices.Contains(counted, name) {
			counted = append(counted, name)
		}
	}
	documented := documentedRows(t)
	slices.Sort(documented)
	slices.Sort(counted)
	if diff := cmp.Diff(documented, counted); diff != "" {
		t.Errorf("rows (-documented +counted):\n%s", diff)
	}
	for _, row := range requestRows() {
		t.Run(row.name, func(t *testing.T) {
			const n = 100
			b := row.bench(t)
			for _, r := range b.run(row.lines(n)...) {
				if r.State != Applied {
					t.Fatalf("%s(%s): %s", r.State, r.Code, r.Message)
				}
			}
			got := map[string]int{}
			for _, r := range b.srv.Requests() {
				got[r.Operation]++
			}
			if diff := cmp.Diff(row.want(n), got); diff != "" {
				t.Errorf("requests (-documented +sent):\n%s", diff)
			}
		})
	}
}

// documentedRows returns the names of the rows of the table in doc.go.
func documentedRows(t *testing.T) (names []string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "doc.go", nil, parser.ParseComments|parser.PackageClauseOnly)
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(f.Doc.Text(), "\tkind  ")
	if !ok {
		t.Fatal("doc.go has no table of requests")
	}
	for i, l := range strings.Split(table, "\n") {
		row, indented := strings.CutPrefix(l, "\t")
		if i > 0 && !indented {
			break
		}
		if name, _, ok := strings.Cut(row, "  "); ok && i > 0 && name != "" {
			names = append(names, name)
		}
	}
	return names
}

// TestMemoryStaysFlat applies 1,000 items and measures the heap at every hundredth write,
// because what was written must not be kept.
func TestMemoryStaysFlat(t *testing.T) {
	b := newBench(t, fixture(), githubtest.Options{TrustAnswers: true})
	anyTarget(b.on("pull_request", pullNumber))
	var lines []string
	for _, row := range requestRows() {
		switch row.name {
		case "create-issue", "create-discussion":
			lines = append(lines, row.lines(300)...)
		case "add-issue-comment":
			lines = append(lines, row.lines(400)...)
		}
	}
	for i := range lines { // so long that a text which is kept shows in the size of the heap
		lines[i] = strings.Replace(lines[i], loadText, strings.Repeat(loadText, 500), 1)
	}
	plan := b.plan(lines...)
	var heaps []int64
	writes := 0
	b.srv.SetFault(func(r githubtest.Request) githubtest.Fault {
		if !r.Write {
			return githubtest.Fault{}
		}
		if writes++; writes%100 == 0 {
			heaps = append(heaps, b.heap())
		}
		return githubtest.Fault{}
	})
	results := execute(context.Background(), b.deps, plan)
	if n := Count(results)[Applied]; n != len(lines) {
		t.Fatalf("%d of %d applied", n, len(lines))
	}
	if len(heaps) != 10 {
		t.Fatalf("%d looks at the heap", len(heaps))
	}
	// For each item a result, an object and a line of the log are kept. Its text of 18 kB is
	// in the plan already.
	const most = 3 << 10
	if grown := (heaps[9] - heaps[0]) / 900; grown > most {
		t.Errorf("the heap grows by %d bytes an item: %v", grown, heaps)
	}
	runtime.KeepAlive(plan)
	runtime.KeepAlive(results)
}

// heap removes what the server was sent, and returns how much memory is then in use.
func (b *bench) heap() int64 {
	b.srv.ResetRequests()
	b.srv.Change(func(f *githubtest.Fixture) {
		f.Issues, f.Discussions = f.Issues[:2], f.Discussions[:1]
		for _, i := range f.Issues {
			i.Comments = nil
		}
	})
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// ownRequest is a row of the documented table for Airlock's own items: the requests of the
// first workflow run, and of the next one.
type ownRequest struct {
	name        string
	items, next []intake.OwnItem
	first, then map[string]int
	body        string // of the issue; "" for the bench's
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
		{name: "tick-boxes", items: tickItem("one"), next: tickItem("one"), body: criteriaText,
			first: map[string]int{"graphql/Viewer": 1, "graphql/IssueText": 3, "issues/update": 1},
			then:  map[string]int{"graphql/Viewer": 1, "graphql/IssueText": 1}},
	}
}

func TestRequestsOfOwnItems(t *testing.T) {
	for _, row := range ownRequests() {
		t.Run(row.name, func(t *testing.T) {
			b := ownBench(t, githubtest.Options{})
			if row.body != "" {
				b.srv.Change(func(f *githubtest.Fixture) { f.Issues[0].Body = row.body })
			}
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
