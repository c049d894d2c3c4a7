package apply

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/sarif"
	"github.com/google/go-cmp/cmp"
)

func alert(file string, n int, message, suffix string) string {
	m := map[string]any{"type": "create-security-report", "file": file, "line": n, "severity": "error", "message": message}
	if suffix != "" {
		m["ruleIdSuffix"] = suffix
	}
	return line(m)
}

// log returns an agent's line that reports a SARIF log of one tool with one result.
func log(tool, rule, file string) string {
	return line(map[string]any{"type": "create-security-report", "category": "deep", "sarif": map[string]any{"version": "2.1.0", "runs": []any{map[string]any{
		"tool": map[string]any{"driver": map[string]any{"name": tool}},
		"results": []any{map[string]any{"ruleId": rule, "message": map[string]any{"text": "Found."},
			"locations": []any{map[string]any{"physicalLocation": map[string]any{"artifactLocation": map[string]any{"uri": file}, "region": map[string]any{"startLine": 2}}}}}},
	}}}})
}

// uploaded is the one SARIF log that reached the server.
type uploaded struct {
	Runs []struct {
		Tool    struct{ Driver struct{ Name string } }
		Results []struct {
			RuleID              string
			PartialFingerprints map[string]string
		}
		AutomationDetails struct{ ID string }
	}
}

func (b *bench) upload() uploaded {
	b.t.Helper()
	ups := b.srv.State().Uploads
	if len(ups) != 1 {
		b.t.Fatalf("%d uploads", len(ups))
	}
	var u uploaded
	if err := json.Unmarshal(ups[0].SARIF, &u); err != nil {
		b.t.Fatal(err)
	}
	return u
}

func TestReportsBecomeOneUpload(t *testing.T) {
	f := fixture()
	f.Files = []githubtest.StoredFile{{Path: "main.go", Content: "package main\n\nfunc f() {}\n"}, {Path: "a b.go", Content: "x\ny\n"}}
	b := newBench(t, f, githubtest.Options{Processing: 20 * time.Second})
	lines := []string{alert("main.go", 3, "One.", "sqli"), log("Deep", "D1", "a%20b.go"), alert("main.go", 1, "Two.", ""), log("Deep", "D2", "main.go")}
	start := b.clock.Now()
	results := b.run(lines...)
	want(t, results, "applied applied applied applied")
	if d := b.clock.Now().Sub(start); d != 35*time.Second {
		t.Errorf("it waited %v; GitHub was ready after 20 s, so the third look at 35 s sees it", d)
	}
	if got := operations(b.srv.Writes()); !cmp.Equal(got, []string{"code-scanning/upload-sarif"}) {
		t.Errorf("writes %v", got)
	}
	if n := count(operations(b.srv.Requests()), "repos/get-content"); n != 2 {
		t.Errorf("%d files were read", n)
	}
	up := b.upload()
	if len(up.Runs) != 2 {
		t.Fatalf("%d SARIF runs, want 2: one for each tool and category", len(up.Runs))
	}
	seen := map[string]int{}
	for _, r := range up.Runs {
		seen[r.Tool.Driver.Name+"|"+r.AutomationDetails.ID] = len(r.Results)
		for _, res := range r.Results {
			if res.PartialFingerprints["primaryLocationLineHash"] == "" {
				t.Errorf("%s has no line hash", res.RuleID)
			}
		}
	}
	if diff := cmp.Diff(map[string]int{"Deep|deep/": 2, defaultTool + "|": 2}, seen); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
	if results[0].Object == nil || results[0].Object.Type != "sarif" || results[0].Object.NodeID == "" {
		t.Errorf("object %+v", results[0].Object)
	}
}

// TestCategoryOfTheJob asserts that no call of a reusable workflow, and no job of a matrix,
// replaces what another one has uploaded.
func TestCategoryOfTheJob(t *testing.T) {
	for _, c := range []struct {
		name     string
		leg      int
		category string
	}{
		{"", 0, ""}, {"", 1, "airlock/apply/2/"}, {"api / apply", 0, "airlock/api---apply-89cca8e7/"}, {"api / apply", 2, "airlock/api---apply-89cca8e7/3/"},
	} {
		b := newBench(t, fixture(), githubtest.Options{}).on("pull_request", pullNumber)
		b.cfg.Run.Name, b.cfg.Run.MatrixIndex = c.name, c.leg
		want(t, b.run(alert("main.go", 2, "Bad.", "")), "applied")
		var log struct {
			Runs []struct{ AutomationDetails struct{ ID string } }
		}
		if err := json.Unmarshal(b.srv.State().Uploads[0].SARIF, &log); err != nil {
			t.Fatal(err)
		}
		if len(log.Runs) != 1 || log.Runs[0].AutomationDetails.ID != c.category {
			t.Errorf("%q, leg %d: %+v", c.name, c.leg, log.Runs)
		}
		b.srv.ResetRequests()
		want(t, b.run(line(map[string]any{"type": "create-security-report", "file": "main.go", "line": 2, "severity": "error", "message": "Bad.", "category": "mine"})), "applied")
		if err := json.Unmarshal(b.srv.State().Uploads[1].SARIF, &log); err != nil || log.Runs[0].AutomationDetails.ID != "mine/" {
			t.Errorf("the item's own category: %+v, %v", log.Runs, err)
		}
	}
}

func TestDriverAndCategoryOfTheOwner(t *testing.T) {
	b := newBench(t, fixture(), githubtest.Options{})
	b.kind(safeoutput.KindCreateSecurityReport, func(k *policy.KindConfig) { k.Report.Driver, k.Report.Category = "Our agent", "nightly" })
	b.run(alert("main.go", 3, "One.", "sqli"))
	if r := b.upload().Runs[0]; r.Tool.Driver.Name != "Our agent" || r.AutomationDetails.ID != "nightly/" {
		t.Errorf("run %+v", r)
	}
}

// TestNobodyPosesAsTheChecks asserts that an agent's log under the name of Airlock's own review
// is denied, because it would replace what the review has found. Other logs are uploaded.
func TestNobodyPosesAsTheChecks(t *testing.T) {
	b := newBench(t, fixture(), githubtest.Options{})
	results := b.run(log(sarif.OwnTool, "D1", "main.go"), log(" airlock SECURITY review", "D1", "main.go"), log("Deep", "D2", "main.go"))
	want(t, results, "denied(reserved-tool) denied(reserved-tool) applied")
	if runs := b.upload().Runs; len(runs) != 1 || runs[0].Tool.Driver.Name != "Deep" {
		t.Errorf("%+v", runs)
	}
	b = newBench(t, fixture(), githubtest.Options{})
	want(t, b.run(log(sarif.OwnTool, "D1", "main.go")), "denied(reserved-tool)")
	if n := len(b.srv.State().Uploads); n != 0 {
		t.Errorf("%d uploads", n)
	}
}

// sourceFiles is a Source of the files' texts by path.
type sourceFiles map[string]string

func (f sourceFiles) ReadFile(_, path string) ([]byte, error) {
	if s, ok := f[path]; ok {
		return []byte(s), nil
	}
	return nil, errors.New("not there")
}

func TestFilesAtHandAreNotAskedOfGitHub(t *testing.T) {
	b := newBench(t, fixture(), githubtest.Options{})
	b.deps.Source = sourceFiles{"main.go": "package main\n\nfunc f() {}\n"}
	b.run(alert("main.go", 3, "One.", "sqli"))
	if n := count(operations(b.srv.Requests()), "repos/get-content"); n != 0 {
		t.Errorf("%d files were asked for", n)
	}
	if b.upload().Runs[0].Results[0].PartialFingerprints["primaryLocationLineHash"] == "" {
		t.Error("no line hash")
	}
}

func TestManyFilesAreAskedForWithinReason(t *testing.T) {
	b := newBench(t, fixture(), githubtest.Options{})
	var lines []string
	for i := range maxSourceReads + 10 {
		lines = append(lines, alert("dir/"+string(rune('a'+i%26))+string(rune('a'+i/26))+".go", 1, "x", "r"))
	}
	plan := b.plan(lines...)
	if n := len(b.srv.Requests()); n != maxSourceReads {
		t.Errorf("%d requests", n)
	}
	if !strings.Contains(strings.Join(plan.Unchecked, "\n"), "the lines of alerts in 10 files") {
		t.Errorf("unchecked: %q", plan.Unchecked)
	}
}

func TestProcessingThatFailsOrTakesLong(t *testing.T) {
	status := func(body string) func(githubtest.Request) githubtest.Fault {
		return always("code-scanning/get-sarif", githubtest.Fault{Status: 200, Body: body})
	}
	t.Run("failed", func(t *testing.T) {
		b := newBench(t, fixture(), githubtest.Options{})
		b.srv.SetFault(status(`{"processing_status":"failed","errors":["ruleIndex is out of range","another"]}`))
		results := b.run(alert("main.go", 3, "One.", "sqli"), anIssue)
		want(t, results, "failed(sarif-rejected) applied")
		if !strings.Contains(results[0].Message, "ruleIndex is out of range; another") {
			t.Errorf("message %q", results[0].Message)
		}
		if results[0].File != "/out/airlock.sarif" {
			t.Errorf("the log is lost: %+v", results[0])
		}
	})
	t.Run("pending", func(t *testing.T) {
		b := newBench(t, fixture(), githubtest.Options{Processing: time.Hour})
		start := b.clock.Now()
		results := b.run(alert("main.go", 3, "One.", "sqli"))
		want(t, results, "applied(unprocessed)")
		if d := b.clock.Now().Sub(start); d != 155*time.Second {
			t.Errorf("it waited %v", d)
		}
		if !strings.Contains(results[0].Message, "had not processed it") {
			t.Errorf("message %q", results[0].Message)
		}
	})
}

func TestWhereUploadingIsImpossibleTheLogIsAFile(t *testing.T) {
	one := alert("main.go", 3, "One.", "sqli")
	check := func(t *testing.T, b *bench, state, word string) {
		t.Helper()
		results := b.run(one, one)
		want(t, results, state+" "+state)
		if !strings.Contains(results[0].Message, word) {
			t.Errorf("the message does not name %q: %s", word, results[0].Message)
		}
		var log any
		if results[0].File != "/out/airlock.sarif" || json.Unmarshal(b.files["airlock.sarif"], &log) != nil {
			t.Errorf("file %q, stored %d files", results[0].File, len(b.files))
		}
	}
	t.Run("switched off", func(t *testing.T) {
		f := fixture()
		f.Repo.NoAdvancedSecurity = true
		check(t, newBench(t, f, githubtest.Options{}), "skipped(no-code-scanning)", "enable")
	})
	t.Run("no permission", func(t *testing.T) {
		f := fixture()
		f.Tokens = []githubtest.Token{{Secret: "ghs_test", Permissions: map[string]string{"contents": "read", "metadata": "read"}}}
		check(t, newBench(t, f, githubtest.Options{}), "failed(permission)", "security-events: write")
	})
	t.Run("fork", func(t *testing.T) {
		f := fixture()
		f.Tokens = []githubtest.Token{{Secret: "ghs_test", Permissions: map[string]string{"contents": "read", "metadata": "read", "security_events": "read"}}}
		b := newBench(t, f, githubtest.Options{}).on("pull_request", pullNumber)
		b.ev.Fork = true
		check(t, b, "skipped(fork-read-only)", "read-only token")
		if n := len(b.srv.Writes()); n != 1 { // it is tried: GitHub may take the upload
			t.Errorf("%d writes", n)
		}
	})
	t.Run("fork, which GitHub lets upload", func(t *testing.T) {
		b := newBench(t, fixture(), githubtest.Options{}).on("pull_request", pullNumber)
		b.ev.Fork = true
		want(t, b.run(one), "applied")
	})
	t.Run("no permission for Airlock's own", func(t *testing.T) {
		b := ownBench(t, githubtest.Options{})
		b.srv.Change(func(f *githubtest.Fixture) {
			f.Tokens = []githubtest.Token{{Secret: "ghs_test", Permissions: map[string]string{"contents": "read", "metadata": "read"}}}
		})
		own := intake.OwnItem{Item: &safeoutput.CreateSecurityReport{File: "main.go", Line: 3, Severity: "error", Message: "Found."}}
		want(t, b.runOwn([]intake.OwnItem{own}, one), "failed(permission) skipped(permission)") // the agent's, then Airlock's own
	})
	t.Run("nowhere to store it", func(t *testing.T) {
		f := fixture()
		f.Repo.NoAdvancedSecurity = true
		b := newBench(t, f, githubtest.Options{})
		plan := b.plan(one)
		b.deps.Files = nil
		want(t, execute(t.Context(), b.deps, plan), "skipped(no-code-scanning)")
	})
}

func TestReportsOnACommentedPullRequestAreAboutItsHead(t *testing.T) {
	b := newBench(t, fixture(), githubtest.Options{}).on("issue_comment", pullNumber)
	b.ev.Head, b.ev.SHA, b.ev.Ref = event.Ref{}, strings.Repeat("d", 40), "refs/heads/main"
	want(t, b.run(alert("main.go", 3, "One.", "sqli")), "applied")
	if u := b.srv.State().Uploads[0]; u.CommitSHA != headSHA || u.Ref != "refs/pull/7/head" {
		t.Errorf("uploaded for %s %s", u.CommitSHA, u.Ref)
	}
}

func TestReportsThatNameNoCommit(t *testing.T) {
	b := newBench(t, fixture(), githubtest.Options{})
	b.ev.SHA = ""
	results := b.run(alert("main.go", 3, "One.", "sqli"))
	want(t, results, "failed(invalid)")
	if results[0].File != "/out/airlock.sarif" || !strings.Contains(results[0].Message, "set GITHUB_SHA and GITHUB_REF") {
		t.Errorf("result %+v", results[0])
	}
}

// A workflow_run event runs on the default branch, where alerts about a fork's
// code do not belong.
func TestReportsOfAForksWorkflowRunAreStored(t *testing.T) {
	b := newBench(t, fixture(), githubtest.Options{})
	b.ev.Name, b.ev.Head, b.ev.Fork = "workflow_run", event.Ref{SHA: headSHA, Ref: "main", Repo: "stranger/repo"}, true
	results := b.run(alert("main.go", 3, "One.", "sqli"))
	want(t, results, "failed(invalid)")
	if results[0].File == "" || !strings.Contains(results[0].Message, "commit of a fork") || len(b.srv.State().Uploads) != 0 {
		t.Errorf("result %+v", results[0])
	}
}

func TestUploadsThatGitHubRefuses(t *testing.T) {
	for _, tt := range []struct {
		status int
		body   string
		state  string
		word   string
	}{
		{404, `{"message":"Not Found"}`, "failed(not-found)", "does not exist"},
		{413, "", "failed(validation)", "status 413"},
		{422, `{"message":"Validation Failed","errors":["commit_sha is invalid"]}`, "failed(validation)", "commit_sha is invalid"},
	} {
		b := newBench(t, fixture(), githubtest.Options{Fault: always("code-scanning/upload-sarif", githubtest.Fault{Status: tt.status, Body: tt.body})})
		results := b.run(alert("main.go", 3, "One.", "sqli"))
		want(t, results, tt.state)
		if results[0].File != "/out/airlock.sarif" || !strings.Contains(results[0].Message, tt.word) {
			t.Errorf("%d: %+v", tt.status, results[0])
		}
	}
}

func TestAnalysedCommit(t *testing.T) {
	head := event.Ref{SHA: "h"}
	for _, tt := range []struct {
		ev          event.Event
		commit, ref string // expected when GitHub reports the head "p"
	}{
		{event.Event{SHA: "m", Ref: "refs/pull/7/merge", IsPull: true, Number: 7, Head: head}, "m", "refs/pull/7/merge"},
		{event.Event{SHA: "b", Ref: "refs/heads/main", IsPull: true, Number: 7, Head: head}, "h", "refs/pull/7/head"},
		{event.Event{SHA: "b", Ref: "refs/heads/main", IsPull: true, Number: 7}, "p", "refs/pull/7/head"},
		{event.Event{SHA: "b", Ref: "refs/heads/main"}, "b", "refs/heads/main"},
		{event.Event{SHA: "h", Ref: "refs/pull/7/merge", IsPull: true, Number: 7, Head: head}, "h", "refs/pull/7/head"}, // no GITHUB_SHA
		{event.Event{SHA: "t", Ref: "refs/tags/v1", Name: "push"}, "t", "refs/tags/v1"},
		{event.Event{Name: "pull_request_target", SHA: "b", Ref: "refs/heads/main", IsPull: true, Number: 7, Head: head}, "h", "refs/pull/7/head"},
		{event.Event{Name: "workflow_run", SHA: "b", Ref: "refs/heads/main", IsPull: true, Number: 7, Head: head}, "h", "refs/pull/7/head"},
		{event.Event{Name: "workflow_run", SHA: "b", Ref: "refs/heads/main", Head: event.Ref{SHA: "h", Ref: "topic"}}, "h", "refs/heads/topic"},
		{event.Event{Name: "workflow_run", SHA: "b", Ref: "refs/heads/main", Head: event.Ref{SHA: "h", Ref: "main"}, Fork: true}, "", ""},
	} {
		if c, r := analysed(tt.ev, "p"); c != tt.commit || r != tt.ref {
			t.Errorf("%+v: %s %s", tt.ev, c, r)
		}
	}
}
