package checkreport

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/markdown"
	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/sarif"
)

// ItemsInput is what items are made from beside the document.
type ItemsInput struct {
	SafeText SafeText // required
	// Head is the pull request's head as the event knows it. A document that is about
	// another commit says nothing about its lines.
	Head string
	// SummaryURL leads to the job summary; "" for none.
	SummaryURL string
	Version    string // Airlock's own
	// Job is the key of the job that tells of the checks, and Leg its index in its
	// matrix; "" and 0 outside of them.
	Job string
	Leg int
	// Comment, CheckRun and SecurityReport say which of them are wanted.
	// ReviewComments is how many review comments there are at most; with 0 there is
	// none, and no settled one is hidden.
	Comment, CheckRun, SecurityReport bool
	ReviewComments                    int
}

// checksName is the name by which later workflow runs find the comment and the check
// run.
const checksName = "checks"

// Items returns the document as Airlock's own items: a check run, one comment that
// later workflow runs update, review comments, the hiding of those that are
// settled, a security report, and a report for each missing tool. Which of them
// leave is the policy's to say. The error is about the SARIF log, and ours.
func (d *Document) Items(in ItemsInput) ([]intake.OwnItem, error) {
	var items []intake.OwnItem
	if in.Comment {
		items = append(items, intake.OwnItem{Item: d.sticky(in), Stable: checksName})
	}
	if in.CheckRun && in.Head != "" {
		items = append(items, intake.OwnItem{Item: d.checkRun(in), Stable: checksName})
	}
	if in.ReviewComments > 0 && d.about(in.Head) {
		items = append(items, d.reviewItems(in)...)
	}
	if in.SecurityReport && d.about(in.Head) {
		log, err := d.SARIF(in.Version)
		if err != nil {
			return nil, fmt.Errorf("the security review's findings as SARIF: %w", err)
		}
		items = append(items, intake.OwnItem{Item: &safeoutput.CreateSecurityReport{SARIF: log, Category: SARIFCategory}})
	}
	for _, m := range d.Missing {
		items = append(items, intake.OwnItem{Item: &safeoutput.MissingTool{Tool: in.SafeText.Line(cut(m.Tool, 100)),
			Reason:       "the " + name(m.Check) + " check needs it",
			Alternatives: in.SafeText.Line(cut(m.instead(), 300))}})
	}
	return items, nil
}

// about reports whether the document's lines are those of a commit. One that does
// not name its commit is about none: its lines could be any.
func (d *Document) about(head string) bool { return head != "" && d.Head == head }

func (d *Document) sticky(in ItemsInput) *safeoutput.StickyComment {
	return &safeoutput.StickyComment{Name: checksName, Body: d.Comment(in.SafeText, in.SummaryURL), OnlyUpdate: !d.Failed()}
}

// maxCheckRun is how many UTF-16 units a text of a check run has, below GitHub's
// 65,535 by room for a footer.
const maxCheckRun = 60_000

func (d *Document) checkRun(in ItemsInput) *safeoutput.CheckRun {
	run := &safeoutput.CheckRun{Name: checkRunName(in.Job, in.Leg), HeadSHA: in.Head, Conclusion: "success", Title: d.Headline()}
	if d.Failed() {
		run.Conclusion = "failure"
	}
	if !d.about(in.Head) { // no word of this commit: to whoever requires the check, neutral would be as good as success
		run.Conclusion, run.Title = "failure", "another commit was checked: "+run.Title
	}
	p := &page{d: d, safe: in.SafeText}
	p.heading("###")
	p.table()
	run.Summary, _ = markdown.Cut(p.b.String(), maxCheckRun, "*The rest was cut.*")
	p = &page{d: d, safe: in.SafeText}
	p.failures(maxListed, maxExcerpt)
	p.missing()
	p.notes()
	run.Text, _ = markdown.Cut(p.b.String(), maxCheckRun, "*The rest was cut: the job summary has it.*")
	if !d.about(in.Head) {
		return run
	}
	for _, a := range d.Annotations(in.SafeText) {
		if a.StartLine == 0 || !placeable(a.Path) {
			continue // the summary tells of it
		}
		run.Annotations = append(run.Annotations, safeoutput.CheckAnnotation{Path: a.Path, StartLine: a.StartLine, EndLine: a.EndLine,
			Level: annotationLevel(a.Severity), Title: a.Title, Message: cut(a.Message, 16<<10)})
	}
	return run
}

// checkRunName tells jobs apart, and those of a matrix: of several check runs of one
// name, GitHub holds only the newest against a branch's rules, so that one job's
// success would hide another's failure.
func checkRunName(job string, leg int) string {
	var which []string
	if job != "" {
		which = append(which, cut(job, 100))
	}
	if leg > 0 {
		which = append(which, strconv.Itoa(leg+1))
	}
	if len(which) == 0 {
		return "Airlock checks"
	}
	return "Airlock checks (" + strings.Join(which, ", ") + ")"
}

func annotationLevel(s finding.Severity) string {
	switch s {
	case finding.Critical, finding.High:
		return "failure"
	case finding.Medium:
		return "warning"
	}
	return "notice"
}

// reviewItems are the review comments, and what keeps those of earlier workflow
// runs whose finding is still there.
func (d *Document) reviewItems(in ItemsInput) []intake.OwnItem {
	var items []intake.OwnItem
	rules := d.rules()
	for _, f := range d.inline(in.ReviewComments) {
		c := &safeoutput.CreateReviewComment{Path: f.Path, Line: f.StartLine, Side: "RIGHT", Body: commentBody(f, rules, in.SafeText)}
		if f.EndLine > f.StartLine {
			c.StartLine, c.Line = f.StartLine, f.EndLine
		}
		items = append(items, intake.OwnItem{Item: c, Stable: f.name})
	}
	settled := &safeoutput.MinimiseComments{Scopes: []string{}, Keep: []string{}}
	for _, check := range d.ended() {
		settled.Scopes = append(settled.Scopes, string(check))
	}
	settled.Keep = append(settled.Keep, d.names()...)
	if len(settled.Scopes) > 0 {
		items = append(items, intake.OwnItem{Item: settled})
	}
	return items
}

// ended returns the checks that ran to their end and said all that they found: what
// such a check does not name is settled. A check whose tool is missing, that was cut
// short or that failed without a word says nothing about what is still so.
func (d *Document) ended() []phase.Check {
	var out []phase.Check
	for _, check := range []phase.Check{phase.Formatter, phase.Linter, phase.Build, phase.Tests, phase.CodeReview, phase.SecurityReview} {
		found := slices.ContainsFunc(d.Findings, func(f Finding) bool { return f.Check == check && f.Blocking })
		ran, whole := false, true
		for _, c := range d.Checks {
			if c.Check != check {
				continue
			}
			ran = ran || c.Status != phase.Skipped
			whole = whole && !c.TimedOut && (c.Status != phase.Fail || found)
		}
		missing := slices.ContainsFunc(d.Missing, func(m MissingTool) bool { return m.Check == check })
		if ran && whole && !missing {
			out = append(out, check)
		}
	}
	return out
}

// Annotation is a finding as the runner or a check run shows it beside its line.
type Annotation struct {
	Severity           finding.Severity
	Title, Message     string
	Path               string // "" for none
	StartLine, EndLine int    // 0 for none
}

// Annotations returns the findings that count, the most severe first, in plain
// text; where none explains why a check failed, its first problem.
func (d *Document) Annotations(safe SafeText) []Annotation {
	var out []Annotation
	said := map[phase.Check]bool{}
	for _, f := range d.distinct() {
		title := name(f.Check)
		said[f.Check] = true
		for _, check := range f.also {
			title += ", " + name(check)
			said[check] = true
		}
		if f.Rule != "" {
			title += ": " + safe.Line(f.Rule)
		}
		out = append(out, Annotation{Severity: f.Severity, Title: title, Message: safe.Line(f.Message), Path: f.Path, StartLine: f.StartLine, EndLine: max(f.StartLine, f.EndLine)})
	}
	_, all := failed(d.rows())
	for _, r := range all {
		if !said[r.check] && len(r.problems) > 0 {
			out = append(out, Annotation{Severity: finding.High, Title: name(r.check) + " failed", Message: safe.Line(cut(r.problems[0], 1000))})
		}
	}
	return out
}

// SARIFCategory is the category under which code scanning keeps the security
// review's findings apart from others'.
const SARIFCategory = "airlock/security-review"

// SARIF returns the findings of the security review as a SARIF log, also those on
// lines that did not change: code scanning compares whole states. version is
// Airlock's own.
func (d *Document) SARIF(version string) (json.RawMessage, error) {
	findings := []finding.Finding{}
	for _, f := range d.Findings {
		if f.Check == phase.SecurityReview && f.Path != "" {
			findings = append(findings, f.plain())
		}
	}
	return sarif.Build(sarif.Tool{Name: sarif.OwnTool, Version: version, InformationURI: "https://github.com/agent-airlock/airlock"}, SARIFCategory, findings, d.rules())
}
