// Package report turns the outcomes of all items into what people and machines read: the job
// summary, the terminal's text, annotations, outputs and JSON.
package report

import (
	"slices"

	"github.com/agent-airlock/airlock/internal/apply"
	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// Version is the version of the report's JSON form. Members are added, never renamed.
const Version = 1

// Input is everything that a report is made from.
type Input struct {
	Event event.Event
	// DryRun is set where nothing was to be written, and Unconfigured where that is because
	// there is no configuration.
	DryRun, Unconfigured bool
	// Plan is what was to be done; nil when no item was accepted.
	Plan *apply.Plan
	// Results contains one result for every item that intake accepted, including denied ones,
	// and for every item of Airlock's own.
	Results []apply.Result
	// Rejected are the lines that package intake refused, and Dropped those over a limit.
	Rejected []intake.Rejected
	Dropped  []intake.Dropped
	// Denied are the items that package policy refused, in the order of their results. Only
	// a page needs them.
	Denied []policy.Denied
	// Before is set where nothing of the plan was carried out yet, although it will be:
	// Results then has what is decided already.
	Before bool
	// Sources is set where the outcomes have the texts of their lines, which a page shows.
	Sources bool
	// Grantable are the write permissions that any enabled kind could need.
	Grantable []string
	// Earlier are the errors that a collecting job listed in its document.
	Earlier []string
	// Collected are the items that a step that only collects has accepted; nil for a step that
	// applies.
	Collected []intake.Accepted
	// Safe makes a text of an agent fit to be shown: no control character, no
	// live mention. Required.
	Safe func(string) string
	// Block makes a text of several lines fit to be shown as code or on a terminal, and
	// keeps its lines. Required with a Plan whose items have texts.
	Block func(string) string
	// Secret reports whether a text contains a secret. Required with Sources.
	Secret func(string) bool
}

// Report is the outcome of every line, in its documented JSON form.
type Report struct {
	Version    int    `json:"version"`
	Repository string `json:"repository,omitempty"`
	Event      string `json:"event,omitempty"`
	DryRun     bool   `json:"dry_run"`
	// Unconfigured is set where nothing was written because there is no configuration.
	Unconfigured bool   `json:"unconfigured,omitempty"`
	Counts       Counts `json:"counts"`
	// Results are in the order of the agent's lines.
	Results  []apply.Result `json:"results"`
	Rejected []Rejected     `json:"rejected"`
	Dropped  []Dropped      `json:"dropped"`
	// Own are the results of Airlock's own items, such as those that publish what the checks
	// found. They are not in Counts.
	Own []apply.Result `json:"own_results,omitempty"`
	// Earlier are the errors that a collecting job listed in its document. They are not in
	// Counts.
	Earlier []string `json:"earlier_errors,omitempty"`
	// Plan is what would be done, for a dry run.
	Plan *apply.Plan `json:"plan,omitempty"`

	plan   *apply.Plan
	tooFew bool // there are fewer items of a kind than the configuration demands
	safe   func(string) string
	block  func(string) string
	asked  map[int]string   // what an approved item asks for, by its index, if its operation has no other item
	notes  map[int][]string // what else a person should know of an approved item, by its index
	where  string           // the event and its subject, for people
	// collected are the items of a step that only collects. They have no state.
	collected []apply.Result
	crashed   bool // Airlock itself failed on a line

	// For pages: see Input.
	denied          []policy.Denied
	before, sources bool
	grantable       []string
	secret          func(string) bool
}

// Crashed reports whether Airlock itself failed on something. What else is reported may then be
// incomplete.
func (r *Report) Crashed() bool {
	crashed := func(res apply.Result) bool { return res.Code == apply.CodeCrash }
	return slices.ContainsFunc(r.Results, crashed) || slices.ContainsFunc(r.Own, crashed) || r.crashed
}

// collectedResult returns an item that was accepted, with what was changed about it.
func collectedResult(a intake.Accepted) apply.Result {
	res := apply.Result{Line: a.Line(), Kind: a.Item().Kind()}
	n := a.Notes()
	for _, c := range n.Redactions {
		res.Cleaned = append(res.Cleaned, apply.Cleaning{Field: c.Field, Rule: c.Rule, Detail: c.Detail, Count: c.Count})
	}
	for _, m := range n.Repairs {
		res.Repaired = append(res.Repaired, apply.Repair{Kind: m.Kind, Field: m.Field, Count: m.Count})
	}
	for _, f := range n.UnknownFields {
		res.Cleaned = append(res.Cleaned, apply.Cleaning{Rule: "left out the unknown field", Detail: f, Count: 1})
	}
	for _, l := range n.DroppedLabels {
		res.Cleaned = append(res.Cleaned, apply.Cleaning{Rule: "left out the label beyond the limit", Detail: l, Count: 1})
	}
	return res
}

// Rejected is a line that package intake refused, with every reason. If Line is 0, it is a kind
// of which there are fewer items than the configuration demands.
type Rejected struct {
	Line       int                `json:"line"`
	Kind       safeoutput.Kind    `json:"kind"` // "" where the line names none that exists
	Violations []intake.Violation `json:"violations"`

	source string
}

// Dropped is a valid item beyond the limit of its kind.
type Dropped struct {
	Line  int             `json:"line"`
	Kind  safeoutput.Kind `json:"kind"`
	Limit int             `json:"limit"`

	source string
}

// Counts is how many items ended in each state. Asked is their sum.
type Counts struct {
	Asked    int `json:"asked"`
	Accepted int `json:"accepted,omitempty"` // items accepted by a step that only collects
	Applied  int `json:"applied"`
	Adopted  int `json:"adopted"`
	Staged   int `json:"staged"`
	Denied   int `json:"denied"`
	Skipped  int `json:"skipped"`
	Failed   int `json:"failed"`
	Rejected int `json:"rejected"`
	Dropped  int `json:"dropped"`
}

// New returns a report.
func New(in Input) *Report {
	r := &Report{
		Version: Version, Repository: in.Event.Repo.FullName(), Event: in.Event.Name, DryRun: in.DryRun, Unconfigured: in.Unconfigured,
		Results: []apply.Result{}, Rejected: []Rejected{}, Dropped: []Dropped{},
		Earlier: in.Earlier,
		denied:  slices.DeleteFunc(slices.Clone(in.Denied), func(d policy.Denied) bool { return d.Own() }),
		before:  in.Before, sources: in.Sources, grantable: in.Grantable, secret: in.Secret,
		plan: in.Plan, safe: in.Safe, block: in.Block, asked: map[int]string{}, notes: map[int][]string{}, where: subject(in.Event),
	}
	for _, res := range in.Results {
		r.notes[res.Index] = res.Notes
		if res.Own {
			r.Own = append(r.Own, res)
		} else {
			r.Results = append(r.Results, res)
		}
	}
	for _, rej := range in.Rejected {
		r.Rejected = append(r.Rejected, Rejected{rej.Line, rej.Kind, rej.Violations, rej.Source})
		r.tooFew = r.tooFew || rej.TooFew
		r.crashed = r.crashed || rej.Crashed()
	}
	for _, d := range in.Dropped {
		r.Dropped = append(r.Dropped, Dropped{d.Line, d.Kind, d.Limit, d.Source})
	}
	if r.DryRun {
		r.Plan = in.Plan
	}
	for _, a := range in.Collected {
		r.collected = append(r.collected, collectedResult(a))
	}
	n := apply.Count(r.Results)
	r.Counts = Counts{
		Asked:    len(r.Results) + len(r.collected) + len(r.Rejected) + len(r.Dropped),
		Accepted: len(r.collected),
		Applied:  n[apply.Applied], Adopted: n[apply.Adopted], Staged: n[apply.Staged],
		Denied: n[apply.Denied], Skipped: n[apply.Skipped], Failed: n[apply.Failed],
		Rejected: len(r.Rejected), Dropped: len(r.Dropped),
	}
	if r.plan != nil {
		for _, op := range r.plan.Operations {
			if len(op.Items) == 1 {
				r.asked[op.Items[0].Index] = op.Summary
			}
		}
	}
	return r
}

// Done returns how many items are done, now or before.
func (c Counts) Done() int { return c.Applied + c.Adopted }

// NotDone returns how many items were neither done nor only planned.
func (c Counts) NotDone() int { return c.Denied + c.Skipped + c.Failed + c.Rejected + c.Dropped }

// subject names the event and what it is about.
func subject(ev event.Event) string {
	kind := "issue"
	switch {
	case ev.Number == 0:
		return ev.Name
	case ev.IsPull:
		kind = "pull request"
	case ev.IsDiscussion:
		kind = "discussion"
	}
	return ev.Name + " on " + kind + " #" + itoa(ev.Number)
}
