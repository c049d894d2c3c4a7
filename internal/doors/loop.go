package doors

import (
	"context"
	"slices"

	"github.com/agent-airlock/airlock/internal/apply"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/report"
)

// ApplyLoop is Apply for r.Own, the items by which a fix loop reports its progress. It also
// returns for each of them whether GitHub shows it by now; false for all if one was refused. The
// owner's configuration need not name any kind for them: the loop itself was asked for. Where the
// configuration stages everything, nothing is written.
func (g *Gate) ApplyLoop(ctx context.Context, r Request) (shown []bool, rep *report.Report, err error) {
	own := *g
	own.cfg.Policy.Own = policy.OwnSettings{Loop: true}
	if !own.cfg.Policy.Configured() {
		own.cfg.Policy.Kinds = map[policy.Kind]policy.KindConfig{}
	}
	if rep, err = own.Apply(ctx, intake.Result{}, r); err != nil {
		return nil, nil, err
	}
	shown = make([]bool, len(r.Own))
	if slices.ContainsFunc(rep.Own, func(res apply.Result) bool { return res.Index < 0 }) {
		return shown, rep, nil // without the refused item the others have other indexes
	}
	for _, res := range rep.Own {
		if res.Index < len(shown) {
			shown[res.Index] = res.State == apply.Applied || res.State == apply.Adopted
		}
	}
	return shown, rep, nil
}
