package checkreport

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/markdown"
	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/sarif"
	"github.com/agent-airlock/airlock/internal/text"
)

// ItemsInput is what items are made from, in addition to a document.
type ItemsInput struct {
	SafeText SafeText // required
	// Head is the pull request's head according to the event. A document about another
	// commit is not used for review comments and reports: its lines may be different.
	Head       string
	SummaryURL string // of the job summary; "" for none
	AlertsURL  string // of the alerts of Airlock's own tool in code scanning; "" for none
	OnPull     bool   // whether the event is about a pull request
	Version    string // Airlock's own
	// Job distinguishes the job that reports the checks from the other jobs of its workflow; it is
	// "" outside of a workflow. Leg is the job's number in its matrix, counted from 0.
	Job string
	Leg int
	// Comment, CheckRun and SecurityReport select these items. ReviewComments is how many
	// review comments there are at most; with 0, earlier ones are not hidden either.
	Comment, CheckRun, SecurityReport bool
	ReviewComments                    int
}

// checksName is the name by which later workflow runs find the comment and the check run.
const checksName = "checks"

// isAbout reports whether the document's lines are the lines at the commit head. It returns false
// if the document does not name its commit.
func (d *Document) isAbout(head string) bool { return head != "" && d.Head == head }

// MaxCheckRun bounds a text of a check run, in UTF-16 units. GitHub's limit is 65,535, and a
// footer is added.
const MaxCheckRun = 60_000

// checkRun returns the check run: how the checks ended, and what no other place shows.
func (v *Delivery) checkRun() *safeoutput.CheckRun {
	d := v.doc
	run := &safeoutput.CheckRun{Name: RunName("Airlock checks", v.in.Job, v.in.Leg), HeadSHA: v.in.Head, Conclusion: "success", Title: d.Headline()}
	if d.Failed() {
		run.Conclusion = "failure"
	}
	if !d.isAbout(v.in.Head) { // not neutral: where the check is required, that would be as good as success
		run.Conclusion, run.Title = "failure", "another commit was checked: "+run.Title
	}
	summary := &page{d: d, safe: v.in.SafeText}
	summary.heading("###")
	v.table(summary, true)
	run.Summary, _ = markdown.Cut(summary.b.String(), MaxCheckRun, "*The rest was cut.*")
	details := &page{d: d, safe: v.in.SafeText}
	v.writeUnplaced(details)
	details.missing()
	details.notes()
	run.Text, _ = markdown.Cut(details.b.String(), MaxCheckRun, "*The rest was cut: the job summary has it.*")
	run.Annotations = v.checkAnnotations()
	return run
}

// RunName returns the name of a job's check run: title and, where there is something to
// distinguish, the job and its leg of a matrix. Of several check runs with one name, a branch's
// rules see only the newest, so that one job's success would hide another's failure.
func RunName(title, job string, leg int) string {
	var parts []string
	if job != "" {
		parts = append(parts, short(job))
	}
	if leg > 0 {
		parts = append(parts, strconv.Itoa(leg+1))
	}
	if len(parts) == 0 {
		return title
	}
	return title + " (" + strings.Join(parts, ", ") + ")"
}

// maxJob bounds a job's identity in a name, in characters.
const maxJob = 100

// short returns a job's identity as it is or, if it is long, its beginning and a digest. The digest
// keeps long identities apart.
func short(job string) string {
	begin := text.Truncate(job, maxJob)
	if begin == job {
		return job
	}
	return begin + " " + text.Digest(job)
}

// Annotation is a finding as the runner or a check run shows it at its line.
type Annotation struct {
	Severity           finding.Severity
	Title, Message     string
	Path               string // "" for none
	StartLine, EndLine int    // 0 for none
}

// Annotations returns the blocking findings, the most severe first, in plain text. A check that
// failed without one has its first problem instead. A review of which a reviewer failed has its
// first such failure, even if it has findings.
func (d *Document) Annotations(safe SafeText) []Annotation {
	return d.annotations(safe, func(int) bool { return true }, true)
}

// annotations returns an annotation for each of the distinct findings for whose index (in distinct)
// include returns true. If problems is set, checks that failed without a finding and reviews of which a
// reviewer failed have one too.
func (d *Document) annotations(safe SafeText, include func(int) bool, problems bool) []Annotation {
	var annotations []Annotation
	found := map[phase.Check]bool{}
	for i, f := range d.distinct() {
		checks := append([]phase.Check{f.Check}, f.also...)
		for _, check := range checks {
			found[check] = true
		}
		if !include(i) {
			continue
		}
		title := checkNames(checks)
		if f.Rule != "" {
			title += ": " + safe.Line(f.Rule)
		}
		annotations = append(annotations, Annotation{Severity: f.Severity, Title: title, Message: cmp.Or(safe.Line(f.Message), title), Path: f.Path, StartLine: f.StartLine, EndLine: f.lastLine()})
	}
	for _, r := range d.rows() {
		others := r.problems
		if found[r.check] {
			others = slices.DeleteFunc(slices.Clone(r.problems), func(p string) bool { return !isNotReviewed(p) })
		}
		if problems && r.status == phase.Fail && len(others) > 0 {
			annotations = append(annotations, Annotation{Severity: finding.High, Title: checkName(r.check) + " failed", Message: safe.Line(text.Truncate(others[0], 1000))})
		}
	}
	return annotations
}

// sarifCategory returns the category of a job's security review in code scanning. An upload
// replaces the one before it of the same category, so each job, and each leg of a matrix, has its
// own.
func sarifCategory(job string, leg int) string {
	category := "airlock/security-review"
	if job != "" {
		category += "/" + text.Slug(job, maxJob)
	}
	if leg > 0 {
		category += "/" + strconv.Itoa(leg+1)
	}
	return category
}

// SARIF returns a SARIF log of those findings of the security review that name a file. It includes
// findings on lines that did not change, because code scanning compares complete states. version is
// Airlock's own.
func (d *Document) SARIF(version string) (json.RawMessage, error) {
	return d.sarif(version, sarifCategory("", 0))
}

// sarif returns SARIF with the category of a job.
func (d *Document) sarif(version, category string) (json.RawMessage, error) {
	findings := []finding.Finding{}
	for _, f := range d.Findings {
		if f.Check == phase.SecurityReview && f.Path != "" {
			findings = append(findings, f.finding())
		}
	}
	return sarif.Build(sarif.Tool{Name: sarif.OwnTool, Version: version, InformationURI: "https://github.com/agent-airlock/airlock"}, category, findings, d.sarifRules())
}

// ownTool is the tool of the findings of Airlock's own reviews: reviewer.Tool.
const ownTool = "airlock"

// sarifRules returns d.rules for code scanning, which lists alerts under the short description of their
// rule. The short description of one of Airlock's own rules says what to do: it becomes the full
// description, and the rule's name the short one.
func (d *Document) sarifRules() finding.Rules {
	rules := d.rules()
	return func(tool, id string) (finding.Rule, bool) {
		r, ok := rules(tool, id)
		if tool == ownTool && r.Name != "" {
			r.Short, r.Full = r.Name, r.Short
		}
		return r, ok
	}
}
