package doors

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/agent-airlock/airlock/internal/apply"
	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/report"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// Rehearsal is what is known of a workflow run when the owner's rules are applied without GitHub.
type Rehearsal struct {
	// Event is the workflow run's. Without one, an item is refused only if it would be refused for
	// every event, and changes in the workspace are not judged.
	Event *event.Event
	// Code loads the changes in the workspace when there is an item that carries them;
	// release, which is never nil, undoes what it set up. If there is an event and Code is nil,
	// such an item is refused.
	Code func(context.Context, event.Event) (code *apply.Code, release func(), err error)
}

// LineProblem is one reason why a line would be refused, or would lose labels.
type LineProblem struct {
	Line int             `json:"line"` // 0 if the problem is that an item is missing
	Kind safeoutput.Kind `json:"kind"` // "" where the line names none that exists
	Problem

	sentence string // what String returns of a problem of intake; "" for other problems
}

// String returns the problem as a sentence: "Line 7: create-issue: 'title' is a required property".
func (p LineProblem) String() string {
	if p.sentence != "" {
		return p.sentence
	}
	return fmt.Sprintf("Line %d: %s: %s (rule %s)", p.Line, p.Kind, p.Message, p.Rule)
}

// problems returns the reasons why lines that were collected would be refused or would lose labels,
// by line: those of intake, and for lines that it accepts, those of the owner's rules that need no
// GitHub. An agent can correct itself from them. The error is about the workspace.
func (g *Gate) problems(ctx context.Context, res intake.Result, known Rehearsal) ([]LineProblem, error) {
	list := []LineProblem{}
	for _, r := range res.Rejected {
		for _, v := range r.Violations {
			list = append(list, LineProblem{r.Line, r.Kind, Problem{Path: v.Path, Message: g.OneLine(v.Message), SchemaPath: v.SchemaPath}, v.String()})
		}
	}
	for _, d := range res.Dropped {
		list = append(list, LineProblem{d.Line, d.Kind, Problem{Path: "$", Message: limitReached(d.Limit), Rule: RuleLimit}, d.String()})
	}
	for _, a := range res.Accepted {
		for _, message := range (intake.Outcome{Accepted: &a}).Errors() {
			list = append(list, LineProblem{a.Line(), a.Item().Kind(), Problem{Path: "$.labels", Message: g.OneLine(message), Rule: policy.RuleMaxLabels}, message})
		}
	}
	refused, _, err := g.ownersRefusals(ctx, res, known)
	list = append(list, refused...)
	slices.SortStableFunc(list, func(a, b LineProblem) int { return cmp.Compare(a.Line, b.Line) })
	return list, err
}

// ownersRefusals returns why the owner's rules would refuse items that intake accepted, and notes
// on how the other items differ from what was asked for.
func (g *Gate) ownersRefusals(ctx context.Context, res intake.Result, known Rehearsal) (refused []LineProblem, notes []string, err error) {
	refuse := func(line int, kind safeoutput.Kind, rule, message string) {
		refused = append(refused, LineProblem{line, kind, Problem{Path: "$", Rule: rule, Message: g.OneLine(message)}, ""})
	}
	if known.Event == nil {
		for _, a := range res.Accepted {
			changed, denied, isDenied := policy.JudgeWithoutEvent(g.cfg.Policy, a)
			if isDenied {
				refuse(a.Line(), a.Item().Kind(), denied.Rule, denied.Message)
			}
			for _, n := range changed {
				notes = append(notes, g.OneLine(n.Message))
			}
		}
		return refused, notes, nil
	}
	rep, err := g.rehearse(ctx, intake.Result{Accepted: res.Accepted}, known)
	if err != nil {
		return nil, nil, err
	}
	for _, r := range rep.Results {
		if r.State == apply.Denied || r.State == apply.Skipped || r.State == apply.Failed {
			refuse(r.Line, r.Kind, r.Code, r.Message)
			continue
		}
		for _, n := range r.Notes {
			notes = append(notes, g.OneLine(n))
		}
	}
	return refused, notes, nil
}

// rehearse applies what was collected as a dry run without GitHub.
func (g *Gate) rehearse(ctx context.Context, res intake.Result, known Rehearsal) (*report.Report, error) {
	r := Request{Event: *known.Event, Config: apply.Config{DryRun: true}}
	if CarriesCode(res) && known.Code != nil {
		code, release, err := known.Code(ctx, *known.Event)
		defer release()
		if err != nil {
			return nil, err
		}
		r.Deps.Code = code
	}
	return g.Apply(ctx, res, r)
}
