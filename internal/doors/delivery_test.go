package doors_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/apply"
	"github.com/agent-airlock/airlock/internal/checkreport"
	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/doors"
	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/report"
	"github.com/agent-airlock/airlock/internal/token"
)

const (
	pull = 7
	head = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
)

// noon is when the virtual clock starts.
var noon = time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)

// reporting is a job that reports the checks of a pull request whose main.go has 60 new lines.
type reporting struct {
	t      *testing.T
	srv    *githubtest.Server
	clock  *githubtest.VirtualClock
	policy string
	run    event.Run
	fork   bool
	token  string
	left   []checkreport.Annotation // what is left for the job's log to show
	plan   *apply.Plan
}

func newReporting(t *testing.T, o githubtest.Options) *reporting {
	r := &reporting{t: t, clock: githubtest.NewVirtualClock(noon), policy: "checks:\n", token: "ghs_test",
		run: event.Run{ID: 100, Attempt: 1, Job: "report", WorkflowPath: ".github/workflows/checks.yml", URL: "https://github.com/octo/repo/actions/runs/100"}}
	o.Clock = r.clock
	patch := "@@ -0,0 +1,60 @@\n" + strings.TrimSuffix(strings.Repeat("+x\n", 60), "\n")
	r.srv = githubtest.New(t, githubtest.Fixture{Repo: githubtest.Repo{ID: 42, Owner: "octo", Name: "repo"}, Issues: []*githubtest.Issue{
		{Number: pull, Title: "Sell things", Pull: &githubtest.Pull{Head: githubtest.Branch{Ref: "topic", SHA: head}, Files: []githubtest.File{{Path: "main.go", Status: "added", Patch: patch}}}}}}, o)
	r.srv.SetBaseURL("https://api.github.test")
	return r
}

// linter and weakness are a blocking finding of the linter and one of the security review.
func linter(line int) checkreport.Finding {
	return checkreport.Finding{Check: phase.Linter, Tool: "vet", Rule: "style", Severity: finding.Medium, Message: fmt.Sprintf("lint of line %d", line), Path: "main.go",
		StartLine: line, Fingerprint: fmt.Sprintf("lint%d", line), Blocking: true}
}

func weakness(line int) checkreport.Finding {
	return checkreport.Finding{Check: phase.SecurityReview, Tool: "airlock", Rule: "sql", Severity: finding.High, Message: fmt.Sprintf("weakness of line %d", line), Path: "main.go",
		StartLine: line, Fingerprint: fmt.Sprintf("weak%d", line), Blocking: true}
}

// document returns the document of a validation with these findings.
func document(findings ...checkreport.Finding) *checkreport.Document {
	d := &checkreport.Document{Version: 1, Repository: "octo/repo", Number: pull, Head: head, Findings: findings}
	d.Output = phase.Output{Status: phase.Pass, Checks: phase.Checks{Formatter: phase.StyleCheck{Status: phase.Pass}, Linter: phase.StyleCheck{Status: phase.Pass},
		Build: phase.BuildCheck{Status: phase.Pass}, Tests: phase.TestsCheck{Status: phase.Pass}, CodeReview: phase.CodeReviewCheck{Status: phase.Pass}, SecurityReview: phase.SecurityReviewCheck{Status: phase.Pass}}}
	lint := checkreport.Check{Check: phase.Linter, Root: ".", Status: phase.Pass}
	review := checkreport.Check{Check: phase.SecurityReview, Root: ".", Status: phase.Pass}
	for _, f := range findings {
		d.Output.Status = phase.Fail
		if f.Check == phase.Linter {
			lint.Status, d.Output.Checks.Linter.Status = phase.Fail, phase.Fail
			d.Output.Checks.Linter.Issues = append(d.Output.Checks.Linter.Issues, f.Message)
		} else {
			review.Status, d.Output.Checks.SecurityReview.Status, d.Output.Checks.SecurityReview.Severity = phase.Fail, phase.Fail, finding.High
			d.Output.Checks.SecurityReview.Vulnerabilities = append(d.Output.Checks.SecurityReview.Vulnerabilities, f.Message)
		}
	}
	d.Checks = []checkreport.Check{lint, review}
	return d
}

// report reports a document as the job does.
func (r *reporting) report(d *checkreport.Document, dryRun bool) *report.Report {
	r.t.Helper()
	cfg, err := config.Parse("policy.yml", []byte(r.policy))
	if err != nil {
		r.t.Fatal(err)
	}
	gate, err := doors.New(doors.Config{SafeOutputs: cfg, Secrets: doors.NewScanner(token.Token{}, "", nil), Repository: "octo/repo"})
	if err != nil {
		r.t.Fatal(err)
	}
	ev := event.Event{Name: "pull_request", Repo: event.Repo{ID: 42, Owner: "octo", Name: "repo", DefaultBranch: "main"}, Number: pull, IsPull: true, Fork: r.fork,
		SHA: head, Ref: "refs/pull/7/merge", Head: event.Ref{Ref: "topic", SHA: head, Repo: "octo/repo"}, Base: event.Ref{Ref: "main", Repo: "octo/repo"}, Time: noon.Add(-time.Minute)}
	client, err := githubapi.New(githubapi.Options{Token: token.New(r.token, r.srv.APIURL()), APIURL: r.srv.APIURL(), Transport: r.srv.Transport(), Clock: r.clock, Pace: githubapi.Unpaced()})
	if err != nil {
		r.t.Fatal(err)
	}
	getenv := func(name string) string {
		return map[string]string{"GITHUB_SERVER_URL": "https://github.com", "GITHUB_RUN_ID": "100"}[name]
	}
	request := doors.Request{Event: ev, Config: apply.Config{Run: r.run, Workflow: "checks", DryRun: dryRun}, Deps: apply.Deps{GitHub: client, Clock: r.clock},
		Planned: func(p *apply.Plan) error { r.plan = p; return nil }}
	if _, err := gate.AddOwn(context.Background(), doors.Job{Event: ev, Run: r.run, Getenv: getenv, Version: "v1"}, &request, d, nil); err != nil {
		r.t.Fatal(err)
	}
	rep, err := gate.Apply(context.Background(), intake.Result{}, request)
	if err != nil {
		r.t.Fatal(err)
	}
	r.left = request.Checks.Left()
	return rep
}

// comments returns the visible review comments.
func (r *reporting) comments() (list []*githubtest.DiffComment) {
	for _, c := range r.srv.State().Issues[0].Pull.Comments {
		if c.Minimized == "" {
			list = append(list, c)
		}
	}
	return list
}

// statusComment returns the text of the sticky comment, the only one in the conversation.
func (r *reporting) statusComment() string {
	r.t.Helper()
	list := r.srv.State().Issues[0].Comments
	if len(list) != 1 {
		r.t.Fatalf("%d comments in the conversation", len(list))
	}
	return list[0].Body
}

// places returns where the finding with a message is shown now. Code scanning shows it once the
// upload has been processed.
func (r *reporting) places(message string) []string {
	var places []string
	state := r.srv.State()
	if n := len(state.Uploads); n > 0 {
		up := state.Uploads[n-1]
		if len(up.Errors) == 0 && !up.ReadyAt.After(r.clock.Now()) && strings.Contains(string(up.SARIF), message+`"`) {
			places = append(places, "code scanning")
		}
	}
	for _, c := range r.comments() {
		if strings.Contains(c.Body, message+"\n") {
			places = append(places, "review")
		}
	}
	if n := len(state.Checks); n > 0 {
		for _, a := range state.Checks[n-1].Annotations {
			if a.Message == message {
				places = append(places, "check run")
			}
		}
	}
	for _, a := range r.left {
		if a.Message == message {
			places = append(places, "job")
		}
	}
	for _, c := range state.Issues[0].Comments {
		if strings.Contains(c.Body, message) {
			places = append(places, "comment")
		}
	}
	return places
}

// want asserts that each finding is shown in one place only: the one that the function place returns for it.
func (r *reporting) want(d *checkreport.Document, place func(checkreport.Finding) string) {
	r.t.Helper()
	for _, f := range d.Findings {
		if got := r.places(f.Message); !slices.Equal(got, []string{place(f)}) {
			r.t.Errorf("%q is shown in %q, want %q", f.Message, got, place(f))
		}
	}
}

// everyFinding returns one place for all findings.
func everyFinding(place string) func(checkreport.Finding) string {
	return func(checkreport.Finding) string { return place }
}

// weaknessesAndOthers returns one place for the findings of the security review, and another for
// all other findings.
func weaknessesAndOthers(weaknesses, others string) func(checkreport.Finding) string {
	return func(f checkreport.Finding) string {
		if f.Check == phase.SecurityReview {
			return weaknesses
		}
		return others
	}
}

func TestCodeScanningShowsItsAlerts(t *testing.T) {
	t.Parallel()
	r := newReporting(t, githubtest.Options{})
	d := document(weakness(3), linter(3), linter(8))
	r.report(d, false)
	r.want(d, weaknessesAndOthers("code scanning", "review"))
	for _, want := range []string{"1 in [code scanning](https://github.com/octo/repo/security/code-scanning?query=pr%3A7+", fmt.Sprintf("[`main.go:3`](https://github.com/octo/repo/pull/7#discussion_r%d)", r.comments()[0].ID)} {
		if !strings.Contains(r.statusComment(), want) {
			t.Errorf("the comment lacks %q:\n%s", want, r.statusComment())
		}
	}
}

// TestWhereCodeScanningRefuses asserts that review comments show the findings of the security
// review where code scanning does not.
func TestWhereCodeScanningRefuses(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*reporting){
		"switched off":     func(r *reporting) { r.srv.Change(func(f *githubtest.Fixture) { f.Repo.NoAdvancedSecurity = true }) },
		"no permission":    func(r *reporting) { r.token = "ghs_less"; r.forbid("security_events") },
		"processing fails": func(r *reporting) { r.srv.SetFault(sarifStatus(`{"processing_status":"failed","errors":["no"]}`)) },
		"not processed":    func(r *reporting) { r.srv.SetFault(sarifStatus(`{"processing_status":"pending"}`)) },
		"not wanted":       func(r *reporting) { r.policy = "checks:\n  report: {security-report: false}\n" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var o githubtest.Options
			if strings.Contains(name, "process") {
				o.Processing = time.Hour
			}
			r := newReporting(t, o)
			change(r)
			d := document(weakness(3), linter(8))
			r.report(d, false)
			r.want(d, everyFinding("review"))
			if strings.Contains(r.statusComment(), "code scanning") {
				t.Errorf("the comment links to code scanning, which shows nothing:\n%s", r.statusComment())
			}
		})
	}
}

// forbid takes one permission away from the token, which may do everything else.
func (r *reporting) forbid(permission string) {
	all := map[string]string{"metadata": "read", "contents": "write", "issues": "write", "pull_requests": "write", "checks": "write", "security_events": "write"}
	delete(all, permission)
	r.srv.Change(func(f *githubtest.Fixture) { f.Tokens = []githubtest.Token{{Secret: r.token, Permissions: all}} })
}

func sarifStatus(body string) func(githubtest.Request) githubtest.Fault {
	return func(q githubtest.Request) githubtest.Fault {
		if q.Operation == "code-scanning/get-sarif" {
			return githubtest.Fault{Status: 200, Body: body}
		}
		return githubtest.Fault{}
	}
}

// TestFindingsBeyondTheLimitAreAnnotated asserts that of 35 findings those beyond the limit, and
// those whose lines are not in the diff, become annotations of the check run.
func TestFindingsBeyondTheLimitAreAnnotated(t *testing.T) {
	t.Parallel()
	r := newReporting(t, githubtest.Options{})
	findings := []checkreport.Finding{linter(500), weakness(501)}
	for line := range 33 {
		findings = append(findings, linter(line+1))
	}
	d := document(findings...)
	r.report(d, false)
	posted := 0
	for _, f := range d.Findings {
		want := []string{"check run"}
		if f.Check == phase.SecurityReview { // code scanning lists all alerts, but shows none outside of the diff in the pull request
			want = []string{"code scanning", "check run"}
		}
		switch got := r.places(f.Message); {
		case slices.Equal(got, []string{"review"}):
			posted++
		case !slices.Equal(got, want):
			t.Errorf("%q is shown in %q, want %q", f.Message, got, want)
		}
	}
	// Of the 15 annotations, the comment counts 14: it counts the weakness as one of code scanning.
	if posted != 20 || !strings.Contains(r.statusComment(), " and 10 more<br>[14 annotations](") {
		t.Errorf("%d review comments, want 20; 10 more and 14 annotations in\n%s", posted, r.statusComment())
	}
}

// TestAForksFindingsAreAnnotatedByTheJob asserts that where a token may write nothing, the job's
// own log has each finding once.
func TestAForksFindingsAreAnnotatedByTheJob(t *testing.T) {
	t.Parallel()
	r := newReporting(t, githubtest.Options{})
	r.fork, r.token = true, "ghs_fork"
	r.srv.Change(func(f *githubtest.Fixture) {
		f.Tokens = []githubtest.Token{{Secret: "ghs_fork", Permissions: map[string]string{"contents": "read", "pull_requests": "read", "issues": "read", "checks": "read", "metadata": "read"}}}
	})
	d := document(weakness(3), linter(8))
	r.report(d, false)
	r.want(d, everyFinding("job"))
	if n := len(r.comments()) + len(r.srv.State().Checks); n != 0 {
		t.Errorf("%d comments and check runs were written, want none", n)
	}
}

// TestWithoutACheckRunTheRestIsAnnotatedByTheJob asserts that a finding beyond the limit of review
// comments is an annotation of the job where the owner has switched off the other places.
func TestWithoutACheckRunTheRestIsAnnotatedByTheJob(t *testing.T) {
	t.Parallel()
	r := newReporting(t, githubtest.Options{})
	r.policy = "checks:\n  report: {check-run: false, review-comments: 1, security-report: false}\n"
	d := document(weakness(3), linter(8))
	r.report(d, false)
	r.want(d, weaknessesAndOthers("review", "job"))
}

// TestNothingDoubles asserts that a re-run and a later workflow run for the same commit repeat
// nothing. It also asserts that a comment is hidden when its finding is gone, or is an alert by now.
func TestNothingDoubles(t *testing.T) {
	t.Parallel()
	r := newReporting(t, githubtest.Options{})
	r.srv.Change(func(f *githubtest.Fixture) { f.Repo.NoAdvancedSecurity = true })
	d := document(weakness(3), linter(8), linter(9))
	r.report(d, false)
	first := r.statusComment()
	r.run.Attempt = 2
	r.report(d, false)
	r.want(d, everyFinding("review"))
	if n := len(r.srv.State().Issues[0].Pull.Comments); n != 3 || r.statusComment() != first {
		t.Errorf("%d comments after a re-run:\n%s\n%s", n, first, r.statusComment())
	}
	r.srv.Change(func(f *githubtest.Fixture) { f.Repo.NoAdvancedSecurity = false })
	r.run.ID, r.run.Attempt = 101, 1
	remaining := document(weakness(3), linter(8))
	r.report(remaining, false)
	r.want(remaining, weaknessesAndOthers("code scanning", "review"))
	if n := len(r.srv.State().Issues[0].Pull.Comments); n != 3 {
		t.Errorf("%d comments after a later run", n)
	}
	hidden := 0
	for _, c := range r.srv.State().Issues[0].Pull.Comments {
		if c.Minimized != "" {
			hidden++
		}
		for message, note := range map[string]string{"weakness of line 3": "still find this, and show it elsewhere now", "lint of line 9": "no longer find this"} {
			if strings.Contains(c.Body, message) && (c.Minimized != "resolved" || !strings.Contains(c.Body, note)) {
				t.Errorf("hidden as %q, want \"resolved\" with the note %q: %s", c.Minimized, note, c.Body)
			}
		}
	}
	if hidden != 2 {
		t.Errorf("%d comments are hidden after a later run, want 2", hidden)
	}
	r.run.ID = 102
	r.report(document(), false)
	if n := len(r.comments()); n != 0 || !strings.Contains(r.statusComment(), "passed") {
		t.Errorf("%d comments are left:\n%s", n, r.statusComment())
	}
}

// TestADryRunPlansEveryStep asserts that the plan lists what a run would write, numbered without
// gaps, and that the job annotates the findings, because nothing is written.
func TestADryRunPlansEveryStep(t *testing.T) {
	t.Parallel()
	r := newReporting(t, githubtest.Options{})
	d := document(weakness(3), linter(500), linter(8))
	rep := r.report(d, true)
	var kinds []string
	for i, op := range r.plan.Operations {
		if op.Number != i+1 || op.Items[0].Index != i {
			t.Errorf("operation %d has number %d and index %d", i, op.Number, op.Items[0].Index)
		}
		kinds = append(kinds, string(op.Kind))
	}
	if got, want := strings.Join(kinds, " "), "create-security-report create-pull-request-review-comment minimise-comments check-run sticky-comment"; got != want {
		t.Errorf("the operations are %s, want %s", got, want)
	}
	r.want(d, everyFinding("job"))
	if len(rep.Own) != 5 || len(r.srv.Writes()) != 0 {
		t.Errorf("%d writes, want none; %d results, want 5: %+v", len(r.srv.Writes()), len(rep.Own), rep.Own)
	}
}
