package apply

import (
	"context"
	"fmt"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/text"
)

// pushHandler applies push-to-branch: it adds the changes to a branch that exists. It never
// forces.
var pushHandler = handler{needs: needCode, plan: planPush}

func planPush(p *planner, group []*entry) Operation {
	e := group[0]
	op := p.operation(group, "push to "+describeTarget(e.target))
	op.Permissions = e.permissions()
	st := p.snap.code[e.index]
	if st == nil {
		e.decide(Failed, CodeNoClone, "the changes were not read")
		return op
	}
	op.Notes = append(op.Notes, st.notes...)
	if st.branch != "" {
		op.Summary = fmt.Sprintf("push to the branch %q", st.branch)
	}
	if st.refusal != nil {
		return p.refusedCode(op, e, st)
	}
	op.Requests = p.pushRequests(e, st)
	op.work = &pushWork{e: e, st: st}
	return op
}

// pushWork adds commits to a branch.
type pushWork struct {
	e  *entry
	st *codeState
}

func (w *pushWork) execute(ctx context.Context, x *executor, op *Operation) []Result {
	st := w.st
	tip, err := x.deliver(ctx, w.e, st)
	if isKind(err, githubapi.Conflict) {
		if st, err = w.retryOnNewHead(ctx, x); err == nil && st.refusal == nil {
			tip, err = x.deliver(ctx, w.e, st)
		}
	}
	if err != nil {
		return []Result{x.failedPush(op, w.e, st, tip, err)}
	}
	if r := st.refusal; r != nil {
		x.plan.snap.code[w.e.index] = st
		return []Result{w.e.result(r.state, r.code, "%s", r.message)}
	}
	r := w.e.result(Applied, "", "pushed %s to the branch %q", text.Count(len(st.carried.Commits), "commit"), st.branch)
	r.Object = &Object{Type: objCommit, SHA: tip, Branch: st.branch, URL: x.plan.config.server() + "/" + x.repo.String() + "/commit/" + tip}
	if st.pull != nil {
		r.Object.Number = st.pull.Number
	}
	r.Notes = append(append(r.Notes, st.notes...), x.startsNotes(true, false)...)
	return []Result{r}
}

// retryOnNewHead puts the changes onto the commit that the branch is at now, after somebody else has
// pushed to it. Everything is checked against the rules again.
func (w *pushWork) retryOnNewHead(ctx context.Context, x *executor) (*codeState, error) {
	x.deps.log(fmt.Sprintf("the branch %q has moved; putting the changes on top of it once more", w.st.branch))
	rctx, done := inFlight(ctx, lookGrace)
	defer done()
	head, err := x.branchHead(ctx, w.st.branch)
	if err != nil {
		return w.st, err
	}
	if head == "" {
		return w.st, &githubapi.Error{Kind: githubapi.Conflict, Op: "push", Repo: x.repo, Message: fmt.Sprintf("the branch %q is gone", w.st.branch)}
	}
	o := &observer{ctx: rctx, deps: x.deps, ev: x.plan.ev, cfg: x.plan.config, repo: x.repo, s: x.plan.snap}
	c := &codePreparer{o: o, code: x.deps.Code}
	st := &codeState{key: w.st.key, branch: w.st.branch, onto: head, expect: head, pull: w.st.pull, series: w.st.series}
	st.note("the branch moved while this ran, so the changes were put on top of it once more")
	if err := c.fetch(head); err != nil {
		return st, err
	}
	err = c.carry(w.e, st)
	st.mask(x.plan.config)
	return st, err
}
