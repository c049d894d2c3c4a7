package verdictreport

import (
	"github.com/agent-airlock/airlock/internal/checkreport"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/markdown"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// name is the name by which later workflow runs find the comment and the check run.
const name = "acceptance"

// RunName begins the names of the check runs.
const RunName = "Airlock acceptance"

// Items returns the verdict as Airlock's own items: a check run, and one comment that
// later workflow runs update. Without criteria, unless they are required,
// there is no check run, and the comment only updates one that an earlier push left. With tick, the
// check run records which boxes of issues were verified, for after the merge.
func (d *Document) Items(in checkreport.ItemsInput, required, tick bool) []intake.OwnItem {
	var items []intake.OwnItem
	if in.Comment {
		comment := &safeoutput.StickyComment{Name: name, Body: d.Comment(in.SafeText, required, in.Head, in.SummaryURL), OnlyUpdate: d.Response == nil && !required}
		items = append(items, intake.OwnItem{Item: comment, Stable: name})
	}
	if in.CheckRun && in.Head != "" && (d.Response != nil || required) {
		items = append(items, intake.OwnItem{Item: d.checkRun(in, required, tick), Stable: name})
	}
	return items
}

// checkRun returns the check run. It is a success if the task passes and the verdict is about
// in.Head, otherwise a failure; never neutral, which a required check takes for success.
func (d *Document) checkRun(in checkreport.ItemsInput, required, tick bool) *safeoutput.CheckRun {
	run := &safeoutput.CheckRun{Name: checkreport.RunName(RunName, in.Job, in.Leg), HeadSHA: in.Head, Conclusion: "success", Title: d.Headline()}
	if d.Failed(required) {
		run.Conclusion = "failure"
	}
	if d.isStale(in.Head) {
		run.Conclusion, run.Title = "failure", staleTitle+run.Title
	}
	p := &page{d: d, safe: in.SafeText, stale: d.isStale(in.Head)}
	p.writeCriteria("###", required)
	run.Summary, _ = markdown.Cut(p.b.String(), checkreport.MaxCheckRun, "*The rest was cut: the job summary has it.*")
	if tick && !d.isStale(in.Head) {
		run.Text = d.boxes()
	}
	return run
}
