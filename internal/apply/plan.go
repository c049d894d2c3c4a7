package apply

import (
	"slices"
	"sort"

	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/policy"
)

// planner is the state of one call of NewPlan.
type planner struct {
	cfg  Config
	ev   event.Event
	repo githubapi.Repo
	snap *Snapshot
	// labels holds, by issue and in lower case, the labels that are there or
	// that an earlier operation adds.
	labels map[int]map[string]bool
	// lost says why changes are not delivered; "" while none is lost.
	lost string
}

// NewPlan decides what is done for the approved items, in which order and with
// which requests. It is pure: the same arguments give the same plan. The error
// is for items that policy.Judge did not make.
func NewPlan(cfg Config, ev event.Event, approved []policy.Approved, snap *Snapshot) (*Plan, error) {
	entries, err := entriesOf(cfg, ev, approved)
	if err != nil {
		return nil, err
	}
	if snap == nil {
		snap = &Snapshot{}
	}
	return planEntries(cfg, ev, entries, snap), nil
}

func planEntries(cfg Config, ev event.Event, entries []*entry, snap *Snapshot) *Plan {
	p := &planner{cfg: cfg, ev: ev, repo: repoOf(ev), snap: snap, labels: map[int]map[string]bool{}, lost: cfg.mask(cfg.LostCode)}
	if snap.secrets == nil { // nobody has observed
		snap.secrets = screen(cfg.Secrets, entries)
	}
	plan := &Plan{Version: PlanVersion, Repository: ev.Repo.FullName(), Event: ev.Name, DryRun: cfg.DryRun,
		Operations: []Operation{}, entries: entries, snap: snap, config: cfg, ev: ev}
	for _, g := range p.groups(entries) {
		op := p.plan(g)
		op.Number = len(plan.Operations) + 1
		op.finish()
		plan.Operations = append(plan.Operations, op)
	}
	plan.lost = p.lost
	plan.Permissions = PermissionsNeeded(plan.Operations, cfg.DryRun)
	plan.Unchecked = p.unchecked(plan.Operations)
	return plan
}

// plan turns one group of items into an operation.
func (p *planner) plan(group []*entry) Operation {
	h, _ := handlerOf(group[0].kind)
	var op Operation
	switch {
	case p.snap.secrets[group[0].index] != "":
		op = p.withheld(group)
	case p.lost != "" && h.text && p.cfg.HoldText && !group[0].own:
		op = p.hold(group)
	default:
		op = h.plan(p, group)
	}
	if h.code && p.lost == "" && (!op.Staged || p.cfg.DryRun) {
		p.lost = p.lostInPlan(group)
	}
	return op
}

// groups puts together what is applied together, in the order of the first item
// of each group, those that carry code first.
func (p *planner) groups(entries []*entry) [][]*entry {
	type groupID struct {
		name   string
		staged bool
	}
	var out [][]*entry
	at := map[groupID]int{}
	for _, e := range entries {
		h, _ := handlerOf(e.kind)
		name := ""
		if h.group != nil && p.snap.secrets[e.index] == "" {
			name = h.group(e)
		}
		id := groupID{string(e.kind) + " " + name, e.staged}
		if i, ok := at[id]; ok && name != "" && (h.most == 0 || len(out[i]) < h.most) {
			out[i] = append(out[i], e)
			continue
		}
		at[id] = len(out)
		out = append(out, []*entry{e})
	}
	carriesCode := func(g []*entry) bool { h, _ := handlerOf(g[0].kind); return h.code }
	sort.SliceStable(out, func(i, j int) bool { return carriesCode(out[i]) && !carriesCode(out[j]) })
	return out
}

func repoOf(ev event.Event) githubapi.Repo {
	return githubapi.Repo{Owner: ev.Repo.Owner, Name: ev.Repo.Name}
}

// path is the beginning of the repository's addresses.
func (p *planner) path(rest string) string { return "/repos/" + p.repo.String() + rest }

// operation starts the operation of a group.
func (p *planner) operation(group []*entry, summary string) Operation {
	e := group[0]
	return Operation{Kind: e.kind, Summary: summary, Target: targetWords(e.target), Staged: e.staged,
		Requests: []Request{}, entries: group}
}

// finish fills in what follows from the entries.
func (op *Operation) finish() {
	op.Items = make([]Member, len(op.entries))
	for i, e := range op.entries {
		m := Member{Index: e.index, Line: e.line, Kind: e.kind, Key: e.key, Outcome: outcomeApply}
		if d := e.decided; d != nil {
			m.Outcome, m.Code, m.Reason = string(d.State), d.Code, d.Message
			if d.State == Applied {
				m.Outcome = outcomeApply
			}
		}
		op.Items[i] = m
	}
	if len(pending(op.entries)) == 0 {
		op.Requests, op.work = []Request{}, nil
	}
}

// adopt looks for an object that carries e already, and decides e where there is
// one, or where looking failed: creating without having looked could double it.
// It reports whether e is decided.
func (p *planner) adopt(op *Operation, list listID, group []*entry, key string) bool {
	if err := p.snap.lists[list]; err != nil {
		p.unread(op, group, err)
		return true
	}
	own := p.snap.own[key]
	if len(own) == 0 {
		return false
	}
	op.Adopts = append(op.Adopts, own...)
	for _, e := range group {
		e.decide(Adopted, "", "an earlier attempt of this workflow run made it already")
		obj := own[0]
		e.decided.Object = &obj
	}
	return true
}

// unread decides the entries of a group for which what is there already could not
// be read.
func (p *planner) unread(op *Operation, group []*entry, err error) {
	code, message := failure(err, op.Permissions)
	for _, e := range group {
		e.decide(Failed, code, "it was not done, because what is there already could not be read: %s", message)
	}
}

// unchecked says what the plan could not know.
func (p *planner) unchecked(ops []Operation) []string {
	if p.snap.connected {
		return p.snap.unchecked
	}
	var out []string
	if slices.ContainsFunc(ops, func(op Operation) bool { return op.unanchored }) {
		out = append(out, "without a token and without a diff from git, whether the lines of the review comments are in the diff is unchecked")
	}
	if slices.ContainsFunc(ops, func(op Operation) bool { return len(op.Requests) > 0 }) {
		out = append(out, "without a token nothing on GitHub was read: whether the targets exist, and whether an earlier attempt wrote any of this already, is unchecked")
	}
	return append(out, p.snap.unchecked...)
}
