package checkreport

import (
	"fmt"
	"slices"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/text"
)

// Delivery shows a document on GitHub as Airlock's own items, so that each blocking finding has one
// place: an alert that code scanning itself shows in the pull request, otherwise a review comment,
// otherwise an annotation of the check run, otherwise the job summary. Whether GitHub takes an item
// is known only after it was tried. The items therefore come in steps, each of which uses the
// outcomes of the steps before. The steps are the security report and the missing tools, the review
// comments, the hiding of comments that no longer apply, the check run, and at last the comment,
// which links to it all.
//
// The policy decides which items may leave. One goroutine may use a Delivery at a time.
type Delivery struct {
	doc       *Document
	in        ItemsInput
	step      int            // how many steps have begun; after the end, one more than there are
	shown     []shownFinding // the blocking findings, each once
	places    []place        // where each finding of shown is
	commented [][]int        // by review comment that was asked for: its findings, as indices of shown
	run       Outcome        // the check run's
}

// place is where a finding is shown.
type place struct {
	on  surface
	url string
	// planned is set in a dry run, where nothing shows it yet.
	planned bool
}

// surface is one of the surfaces of GitHub on which findings are shown.
type surface int

const (
	inSummary surface = iota // the job summary, which has everything
	inAlert                  // an alert of code scanning
	inReview
	inCheckRun
)

// Outcome is what became of one item of a Delivery.
type Outcome struct {
	Kind safeoutput.Kind
	Name string // OwnItem.Stable
	// Shown is set where GitHub shows the item, and Planned where it would outside of a dry run.
	Shown, Planned bool
	// Unprocessed is set for a security report that code scanning has accepted, but not processed
	// yet as far as is known.
	Unprocessed bool
	URL         string
	// Kept are the addresses of the review comments that stay, by their position in
	// MinimiseComments.Keep.
	Kept map[int]string
}

// isPlaced reports whether GitHub shows the item, or would.
func (o Outcome) isPlaced() bool { return o.Shown || o.Planned }

// Deliver returns a delivery of the document.
func (d *Document) Deliver(in ItemsInput) *Delivery {
	v := &Delivery{doc: d, in: in, shown: d.distinct()}
	v.places = make([]place, len(v.shown))
	return v
}

// steps returns the steps of a delivery, in order: what each makes, and what it learns from the
// outcomes.
func (v *Delivery) steps() []deliveryStep {
	return []deliveryStep{
		{v.firstItems, v.afterUpload},
		{v.reviewComments, v.afterReview},
		{v.hideComments, v.afterHiding},
		{v.checkRunItems, v.afterCheckRun},
		{v.commentItems, func([]Outcome) {}},
	}
}

type deliveryStep struct {
	items func(inDiff InDiff) ([]intake.OwnItem, error)
	learn func([]Outcome)
}

// InDiff reports whether a review comment on lines start to end of a file has a place in the
// pull request's diff.
type InDiff func(path string, start, end int) bool

// Next returns the items of the next step that has any, and none at the end. outcomes are the
// outcomes of the items from the last call; an item without an outcome was not delivered. An error
// means that the SARIF log could not be made, which is a defect of Airlock.
func (v *Delivery) Next(outcomes []Outcome, inDiff InDiff) ([]intake.OwnItem, error) {
	steps := v.steps()
	if v.step > 0 && v.step <= len(steps) {
		steps[v.step-1].learn(outcomes)
	}
	for v.step < len(steps) {
		v.step++
		items, err := steps[v.step-1].items(inDiff)
		if err != nil || len(items) > 0 {
			return items, err
		}
		steps[v.step-1].learn(nil)
	}
	v.step = len(steps) + 1
	return nil, nil
}

// firstItems returns the security report, and a report for each missing tool.
func (v *Delivery) firstItems(InDiff) ([]intake.OwnItem, error) {
	var items []intake.OwnItem
	// An upload replaces the one before it, and closes the alerts that it does not have.
	if v.in.SecurityReport && v.doc.isAbout(v.in.Head) && !v.doc.isPartial(phase.SecurityReview) {
		category := sarifCategory(v.in.Job, v.in.Leg)
		log, err := v.doc.sarif(v.in.Version, category)
		if err != nil {
			return nil, fmt.Errorf("the security review's findings as SARIF: %w", err)
		}
		items = append(items, intake.OwnItem{Item: &safeoutput.CreateSecurityReport{SARIF: log, Category: category}})
	}
	for _, m := range v.doc.Missing {
		items = append(items, intake.OwnItem{Item: &safeoutput.MissingTool{
			Tool:         v.in.SafeText.Line(text.Truncate(m.Tool, 100)),
			Reason:       "the " + checkName(m.Check) + " check needs it",
			Alternatives: v.in.SafeText.Line(text.Truncate(m.alternative(), 300)),
		}})
	}
	return items, nil
}

// afterUpload places the security review's findings in code scanning, if that has processed them.
// If code scanning does not show a finding in the pull request, the next step moves it.
func (v *Delivery) afterUpload(outcomes []Outcome) {
	for _, o := range outcomes {
		if o.Kind != safeoutput.KindCreateSecurityReport || o.Unprocessed || !o.isPlaced() {
			continue
		}
		for i, f := range v.shown {
			if f.Check == phase.SecurityReview && isPlaceable(f.Path) && f.StartLine > 0 {
				v.places[i] = place{on: inAlert, url: v.in.AlertsURL, planned: o.Planned}
			}
		}
	}
}

// reviewComments returns review comments, the most severe first, on findings that have a place in
// the diff and that code scanning does not show.
func (v *Delivery) reviewComments(inDiff InDiff) ([]intake.OwnItem, error) {
	fits := func(f shownFinding) bool {
		return inDiff == nil || inDiff(f.Path, f.StartLine, f.lastLine())
	}
	for i, f := range v.shown {
		if v.in.OnPull && v.places[i].on == inAlert && !fits(f) {
			v.places[i] = place{} // code scanning lists the alert, but not in the pull request
		}
	}
	if v.in.ReviewComments == 0 || !v.doc.isAbout(v.in.Head) {
		return nil, nil
	}
	comments := groupComments(v.shown, v.in.ReviewComments, func(i int) bool { return v.places[i].on == inSummary && fits(v.shown[i]) })
	rules := v.doc.rules()
	items := make([]intake.OwnItem, len(comments))
	for i, f := range comments {
		c := &safeoutput.CreateReviewComment{Path: f.Path, Line: f.StartLine, Side: "RIGHT", Body: f.commentBody(rules, v.in.SafeText)}
		if f.EndLine > f.StartLine {
			c.StartLine, c.Line = f.StartLine, f.EndLine
		}
		items[i] = intake.OwnItem{Item: c, Stable: f.name}
		v.commented = append(v.commented, f.about)
	}
	return items, nil
}

// afterReview places the findings of the comments that were posted.
func (v *Delivery) afterReview(outcomes []Outcome) {
	for _, about := range v.commented {
		name := v.shown[about[0]].name
		n := slices.IndexFunc(outcomes, func(o Outcome) bool { return o.Kind == safeoutput.KindCreateReviewComment && o.Name == name })
		if n < 0 {
			continue
		}
		if o := outcomes[n]; o.isPlaced() {
			for _, i := range about {
				v.places[i] = place{on: inReview, url: o.URL, planned: o.Planned}
			}
		}
		// Another comment of the same name has an outcome of its own.
		outcomes = slices.Delete(slices.Clone(outcomes), n, n+1)
	}
}

// hideComments returns the item that hides comments of earlier workflow runs: those whose
// finding is gone, and those whose finding is shown elsewhere now.
func (v *Delivery) hideComments(InDiff) ([]intake.OwnItem, error) {
	if v.in.ReviewComments == 0 || !v.doc.isAbout(v.in.Head) {
		return nil, nil
	}
	scopes := textsOf(v.doc.complete(), func(c phase.Check) string { return string(c) })
	hide := &safeoutput.MinimiseComments{Scopes: scopes, Keep: v.doc.names()}
	hasOwnComment := map[int]bool{} // the findings that come first in a comment, which has their name
	for _, about := range v.commented {
		hasOwnComment[about[0]] = true
	}
	for i, f := range v.shown {
		if p := v.places[i]; p.on == inAlert || p.on == inReview && !hasOwnComment[i] {
			hide.Moved = append(hide.Moved, f.name)
		}
	}
	return []intake.OwnItem{{Item: hide}}, nil
}

// afterHiding records the addresses of the comments of earlier workflow runs that stay. If a
// finding of such a comment is shown nowhere else, the comment becomes its place.
func (v *Delivery) afterHiding(outcomes []Outcome) {
	for _, o := range outcomes {
		for i, f := range v.shown {
			url, kept := o.Kept[f.index]
			switch p := &v.places[i]; {
			case !kept:
			case p.on == inReview:
				for _, also := range v.inCommentOf(i) {
					v.places[also].url = url
				}
			case p.on == inSummary:
				*p = place{on: inReview, url: url, planned: p.planned}
			}
		}
	}
}

// inCommentOf returns the findings of the review comment whose first finding is i, including i. If
// there is no such comment, it returns only i.
func (v *Delivery) inCommentOf(i int) []int {
	for _, about := range v.commented {
		if about[0] == i {
			return about
		}
	}
	return []int{i}
}

// maxAnnotations is how many annotations a check run has at most; the policy allows no more.
const maxAnnotations = 1000

// checkRunItems returns the check run, whose annotations are the findings that are shown nowhere
// else.
func (v *Delivery) checkRunItems(InDiff) ([]intake.OwnItem, error) {
	if !v.in.CheckRun || v.in.Head == "" {
		return nil, nil
	}
	if v.doc.isAbout(v.in.Head) {
		n := 0
		for i, f := range v.shown {
			if v.places[i].on == inSummary && f.StartLine > 0 && isPlaceable(f.Path) && n < maxAnnotations {
				v.places[i].on, n = inCheckRun, n+1
			}
		}
	}
	return []intake.OwnItem{{Item: v.checkRun(), Stable: checksName}}, nil
}

// afterCheckRun takes the check run's address. If there is no check run, its annotations are shown
// nowhere.
func (v *Delivery) afterCheckRun(outcomes []Outcome) {
	v.run = Outcome{}
	for _, o := range outcomes {
		if o.Kind == safeoutput.KindCheckRun && o.isPlaced() {
			v.run = o
		}
	}
	for i, p := range v.places {
		switch {
		case p.on != inCheckRun:
		case v.run.isPlaced():
			v.places[i] = place{on: inCheckRun, url: v.run.URL, planned: v.run.Planned}
		default:
			v.places[i] = place{}
		}
	}
}

// commentItems returns the comment that later workflow runs update.
func (v *Delivery) commentItems(InDiff) ([]intake.OwnItem, error) {
	if !v.in.Comment {
		return nil, nil
	}
	return []intake.OwnItem{{Item: &safeoutput.StickyComment{Name: checksName, Body: v.comment(), OnlyUpdate: !v.doc.Failed()}, Stable: checksName}}, nil
}

// Left returns the findings that only the job summary shows, as annotations for the job's own
// log. In a dry run these are all findings. For a check that failed without a finding, and a review of
// which a reviewer failed, it returns the first such problem, unless a check run shows that.
func (v *Delivery) Left() []Annotation {
	return v.doc.annotations(v.in.SafeText, func(i int) bool { return v.places[i].on == inSummary || v.places[i].planned }, !v.run.Shown)
}

// checkAnnotations returns the annotations of the check run.
func (v *Delivery) checkAnnotations() []safeoutput.CheckAnnotation {
	var out []safeoutput.CheckAnnotation
	for _, a := range v.doc.annotations(v.in.SafeText, func(i int) bool { return v.places[i].on == inCheckRun }, false) {
		out = append(out, safeoutput.CheckAnnotation{Path: a.Path, StartLine: a.StartLine, EndLine: a.EndLine,
			Level: annotationLevel(a.Severity), Title: a.Title, Message: text.Truncate(a.Message, 16<<10)})
	}
	return out
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
