package doors

import (
	"context"
	"fmt"
	"slices"

	"github.com/agent-airlock/airlock/internal/apply"
	"github.com/agent-airlock/airlock/internal/checkreport"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// delivery sends the findings of the checks through both doors, step by step: which item shows a
// finding depends on the results of the items before. The first step's items go together with all
// others of the request, because code scanning takes one upload.
type delivery struct {
	gate      *Gate
	request   *Request
	checks    *checkreport.Delivery // nil for none
	plan      *apply.Plan
	execution *apply.Execution
	items     int                   // how many items were approved so far
	outcomes  []checkreport.Outcome // of the last step
	inDiff    checkreport.InDiff

	refused []intake.Rejected
	denied  []policy.Denied
	undone  []apply.Result // for errors that kept items from being carried out
}

// beginDelivery adds the first step's items to the request's own.
func (g *Gate) beginDelivery(r *Request) (*delivery, error) {
	d := &delivery{gate: g, request: r, checks: r.Checks}
	if d.checks == nil {
		return d, nil
	}
	items, err := d.checks.Next(nil, nil)
	r.Own = slices.Concat(r.Own, items)
	return d, err
}

// begun takes over when the request's items, including those of the first step, were carried out.
// results are their results, and items is their number.
func (d *delivery) begun(plan *apply.Plan, execution *apply.Execution, results []apply.Result, items int) {
	d.plan, d.execution, d.items = plan, execution, items
	d.outcomes = outcomesOf(results)
	number := d.request.Event.Number
	d.inDiff = func(path string, start, end int) bool { return plan.InDiff(number, path, start, end) }
}

// performRemaining carries out the further steps. An error in one does not fail the items of the
// steps before.
func (d *delivery) performRemaining(ctx context.Context) {
	for d.checks != nil {
		items, err := d.checks.Next(d.outcomes, d.inDiff)
		if err != nil {
			d.undone = append(d.undone, apply.Result{Index: -1, Kind: safeoutput.KindCheckRun, State: apply.Failed, Own: true, Code: apply.CodeInternal, Message: err.Error()})
			return
		}
		if len(items) == 0 {
			return
		}
		d.outcomes = d.step(ctx, items)
	}
}

// step carries out the items of one step and returns what became of them.
func (d *delivery) step(ctx context.Context, items []intake.OwnItem) []checkreport.Outcome {
	own, refused, err := intake.Own(items, d.gate.intake(false))
	if err != nil { // about the settings, which were good for the first step
		d.undone = append(d.undone, apply.Result{Index: -1, Kind: items[0].Item.Kind(), State: apply.Failed, Own: true, Code: apply.CodeInternal, Message: err.Error()})
	}
	d.refused = append(d.refused, refused...)
	approved, denied := policy.Judge(d.gate.cfg.Policy, d.request.Event, own)
	d.denied = append(d.denied, denied...)
	cfg := d.request.Config
	cfg.FirstIndex = d.items
	d.items += len(approved)
	snapshot, err := apply.Observe(ctx, d.request.Deps, cfg, d.request.Event, approved)
	var next *apply.Plan
	if err == nil {
		next, err = apply.NewPlan(cfg, d.request.Event, approved, snapshot)
	}
	if err == nil && d.request.Planned != nil {
		shown := *d.plan
		shown.Append(next)
		if err = d.request.Planned(&shown); err != nil {
			err = fmt.Errorf("the plan cannot be written: %w", err)
		}
	}
	if err != nil {
		undone := apply.UndoneResults(approved, cfg.FirstIndex, err)
		d.undone = append(d.undone, undone...)
		return outcomesOf(undone)
	}
	d.plan.Append(next)
	return outcomesOf(d.execution.Perform(ctx))
}

// outcomesOf returns the results of Airlock's own items as outcomes.
func outcomesOf(results []apply.Result) []checkreport.Outcome {
	var out []checkreport.Outcome
	for _, r := range results {
		if !r.Own {
			continue
		}
		o := checkreport.Outcome{Kind: r.Kind, Name: r.Name, Shown: r.State == apply.Applied || r.State == apply.Adopted,
			Planned: r.State == apply.Staged, Unprocessed: r.Code == apply.CodeUnprocessed, Kept: map[int]string{}}
		if r.Object != nil {
			o.URL = r.Object.URL
		}
		for _, k := range r.Kept {
			o.Kept[k.Position] = k.URL
		}
		out = append(out, o)
	}
	return out
}
