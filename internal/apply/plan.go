package apply

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-airlock/airlock/internal/changes"
	"github.com/agent-airlock/airlock/internal/crash"
	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// PlanVersion is the version of the plan document's form.
const PlanVersion = 1

// Plan is the document of what would be done, in order. Its JSON form is stable: members
// are added, never renamed. Print it without escaping HTML, so that bodies stay readable.
type Plan struct {
	Version    int    `json:"version"`
	Repository string `json:"repository"` // owner/name
	Event      string `json:"event"`
	// DryRun is set where nothing of this plan is written.
	DryRun bool `json:"dry_run"`
	// Permissions are what the token needs for everything that is not staged; for a dry
	// run, for everything.
	Permissions []Permission `json:"permissions"`
	// Unchecked lists what could not be looked up when the plan was made, so the run may differ
	// from the plan there.
	Unchecked  []string    `json:"unchecked,omitempty"`
	Operations []Operation `json:"operations"`

	entries []*entry
	lost    string // why code changes, which texts may describe, are not delivered; "" where all are
	snap    *Snapshot
	config  Config
	ev      event.Event
}

// Operation is one step of a plan: what is done for one or more items of one kind.
type Operation struct {
	// Number counts from 1 in the order of execution.
	Number int             `json:"number"`
	Kind   safeoutput.Kind `json:"kind"`
	// Summary describes in one line of plain text what is done. It may contain the agent's
	// words: whoever shows it escapes it.
	Summary string `json:"summary"`
	// Target is what is acted on: "issue #12", "pull request #7", "repository".
	Target string   `json:"target"`
	Staged bool     `json:"staged,omitempty"`
	Items  []Member `json:"items"`
	// Requests are the writes, in order, as they are sent, except for the values in angle brackets
	// (see Request). There are none where no item is to be applied.
	Requests []Request `json:"requests"`
	// Permissions are what the token needs for this operation.
	Permissions []Permission `json:"permissions,omitempty"`
	// Adopts are the objects that have the operation's key already.
	Adopts []Object `json:"adopts,omitempty"`
	// Notes are what a reader should know: unchecked anchors, labels that will be created,
	// text that was cut.
	Notes []string `json:"notes,omitempty"`

	work    work
	entries []*entry
	// unanchored is set where the lines of review comments could not be checked.
	unanchored bool
}

// Member is one item of an operation.
type Member struct {
	// Index counts the approved items from Config.FirstIndex.
	Index int `json:"index"`
	// Line is the item's line in the agent's file.
	Line int             `json:"line"`
	Kind safeoutput.Kind `json:"kind"`
	Key  string          `json:"key"`
	// Outcome is what is expected: apply, adopted, skipped, denied or failed.
	Outcome string `json:"outcome"`
	// Code and Reason explain an outcome other than apply. Reason is also the message of an item
	// that is applied without a write, such as a noop.
	Code   string `json:"code,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Texts are the item's texts for people; there are none if one of them contains a secret.
	// Requests has the same texts in their JSON form, with what Airlock writes below them.
	Texts []ItemText `json:"-"`
	// Approved is the item itself; nil where it contains a secret.
	Approved *policy.Approved `json:"-"`
	// Files are the files that the item's code changes, each with the rules that it breaks.
	Files []File `json:"-"`
}

// ItemText is one text of an agent's item.
type ItemText struct {
	Field string
	// Posted is the text as it would be posted, and Asked as the agent wrote it: the same
	// where nothing was cleaned. Asked is as hostile as the agent's file.
	Posted, Asked string
	Mode          safeoutput.TextMode
}

// OutcomeApply is the expected outcome of an item that will be applied, even if nothing has to be
// written for it.
const OutcomeApply = "apply"

// Request is one write request. A value that is only known once something else is done is
// shown in angle brackets, such as "<commit>". A GraphQL mutation is shown by its name.
type Request struct {
	// Method is the HTTP method, or PUSH for a push by git.
	Method string `json:"method"`
	// Path is below the API's address, "/graphql" for GraphQL; for a push, the ref.
	Path string          `json:"path"`
	Body json.RawMessage `json:"body,omitempty"`
}

// newRequest returns a Request. The body is of one of our own types, which always has a
// JSON form.
func newRequest(method, path string, body any) Request {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // the plan shows the body as it is sent
	r := Request{Method: method, Path: path}
	if enc.Encode(body) == nil {
		r.Body = bytes.TrimSpace(b.Bytes())
	}
	return r
}

// graphQL returns a mutation as a plan shows it: its name, and the variables exactly as
// they are sent. The document's text is githubapi's own.
func graphQL(mutation string, input map[string]any) Request {
	return newRequest("POST", "/graphql", struct {
		Mutation  string         `json:"mutation"`
		Variables map[string]any `json:"variables"`
	}{mutation, map[string]any{"input": input}})
}

// bodyJSON is the body of a request that writes a text.
type bodyJSON struct {
	Body string `json:"body"`
}

// work is what an operation does.
type work interface {
	// execute writes, and returns one result for each entry of the operation that the plan
	// did not decide.
	execute(ctx context.Context, x *executor, op *Operation) []Result
}

// planner is the state of one call of NewPlan.
type planner struct {
	cfg  Config
	ev   event.Event
	repo githubapi.Repo
	snap *Snapshot
	// labels contains, by issue and in lower case, the labels that are there or that an
	// earlier operation adds.
	labels map[int]map[string]bool
	// edited contains, by number, the issues that earlier operations change, as they leave them.
	edited map[int]githubapi.Issue
	// lost is why code changes are not delivered; "" while all planned so far are.
	lost string
}

// NewPlan decides what is done for the approved items, in which order and with which
// requests. It reads nothing else: the same arguments give the same plan. It returns an error for
// items that policy.Judge did not make.
func NewPlan(cfg Config, ev event.Event, approved []policy.Approved, snap *Snapshot) (plan *Plan, err error) {
	defer crash.Recover(&err)
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
	cfg.incomplete = cmp.Or(cfg.incomplete, incompleteReason(cfg, entries))
	p := &planner{cfg: cfg, ev: ev, repo: repoOf(ev), snap: snap, labels: map[int]map[string]bool{}, edited: map[int]githubapi.Issue{}, lost: cfg.mask(cfg.LostCode)}
	if snap.secrets == nil { // Observe was not called
		snap.secrets = screen(cfg.Secrets, entries)
	}
	plan := &Plan{Version: PlanVersion, Repository: ev.Repo.FullName(), Event: ev.Name, DryRun: cfg.DryRun,
		Operations: []Operation{}, entries: entries, snap: snap, config: cfg, ev: ev}
	for _, g := range p.groups(entries) {
		op := p.plan(g)
		op.Number = len(plan.Operations) + 1
		op.listItems(snap)
		plan.Operations = append(plan.Operations, op)
	}
	plan.lost = p.lost
	plan.Permissions = PermissionsNeeded(plan.Operations, cfg.DryRun)
	plan.Unchecked = p.unchecked(plan.Operations)
	return plan
}

// Append adds the operations of another plan. Its items must be numbered after those of p: see
// Config.FirstIndex.
func (p *Plan) Append(next *Plan) {
	for _, op := range next.Operations {
		op.Number = len(p.Operations) + 1
		p.Operations = append(p.Operations, op)
	}
	p.entries = append(p.entries, next.entries...)
	p.Permissions = PermissionsNeeded(p.Operations, p.DryRun)
	for _, u := range next.Unchecked {
		if !slices.Contains(p.Unchecked, u) {
			p.Unchecked = append(p.Unchecked, u)
		}
	}
	// The newest state counts. The code, and where it is pushed to, stay those of p's items.
	snap := *next.snap
	snap.code, snap.remote, snap.defaultBranch = p.snap.code, p.snap.remote, p.snap.defaultBranch
	if len(snap.diffs) == 0 {
		snap.diffs = p.snap.diffs
	}
	p.snap = &snap
}

// InDiff reports whether the pull request's diff has a place for a review comment on the lines from
// start to end of the new version of a file. It is true where the diff is not known.
func (p *Plan) InDiff(number int, path string, start, end int) bool {
	anchors := p.snap.diffs[number].anchors
	return anchors == nil || anchors.Check(path, changes.Right, start, end) == nil
}

// plan turns one group of items into an operation.
func (p *planner) plan(group []*entry) Operation {
	h := handlers[group[0].kind]
	var op Operation
	switch {
	case p.snap.secrets[group[0].index] != "":
		op = p.withhold(group)
	case p.lost != "" && h.text && len(group[0].item.Texts()) > 0 && p.cfg.HoldText && !group[0].own:
		op = p.holdBack(group)
	case p.unproven(group[0]) != nil:
		op = p.refuseClaim(group, p.unproven(group[0]))
	default:
		if err := crash.Try(func() error { op = h.plan(p, group); return nil }); err != nil {
			op = p.operation(group, "nothing, because Airlock itself failed")
			op.failAll(err, "nothing was done: ")
		}
	}
	// What is staged is not delivered anyway. A dry run stages everything, and shows what a run
	// would lose.
	mayLose := group[0].carriesCode() && (!op.Staged || p.cfg.DryRun)
	if mayLose && p.lost == "" {
		p.lost = p.lostInPlan(group)
	}
	return op
}

// unproven returns the error that occurred when the target of an item was read. It is nil if the
// item does not say what its target is, or if nothing was read.
func (p *planner) unproven(e *entry) error {
	switch {
	case !e.target.Claimed:
		return nil
	case e.target.IsDiscussion:
		return p.snap.discussions[e.target.Number].err
	}
	return p.snap.pulls[e.target.Number].err
}

// refuseClaim decides the items of a group whose claim about their target could not be checked
// because of err. It denies them if GitHub shows no such target. Otherwise they fail.
func (p *planner) refuseClaim(group []*entry, err error) Operation {
	target := group[0].target
	op := p.operation(group, "nothing: whether there is "+describeTarget(target)+" is not known")
	op.Permissions = group[0].permissions()
	if !isKind(err, githubapi.NotFound) {
		op.failAll(err, fmt.Sprintf("the item says that #%d is a %s, which could not be checked: ", target.Number, target.Kind()))
		for _, e := range group {
			e.decided.Fallback = e.fallback()
		}
		return op
	}
	op.Summary = "nothing: " + describeTarget(target) + " is something else"
	for _, e := range group {
		e.decide(Denied, policy.RuleTargetKind, "the item says that #%d is a %s, and there is none with that number, or the token cannot see it", target.Number, target.Kind())
	}
	return op
}

// groups collects what is applied together, in the order of the first item of each group,
// those that carry code first.
func (p *planner) groups(entries []*entry) [][]*entry {
	type groupID struct {
		name   string
		staged bool
	}
	var out [][]*entry
	last := map[groupID]int{}
	for _, e := range entries {
		h := handlers[e.kind]
		name := ""
		if h.group != nil && p.snap.secrets[e.index] == "" {
			name = h.group(e)
		}
		id := groupID{string(e.kind) + " " + name, e.staged}
		if i, ok := last[id]; ok && name != "" && (h.maxGroup == 0 || len(out[i]) < h.maxGroup) {
			out[i] = append(out[i], e)
			continue
		}
		last[id] = len(out)
		out = append(out, []*entry{e})
	}
	slices.SortStableFunc(out, func(a, b []*entry) int { return trueFirst(a[0].carriesCode(), b[0].carriesCode()) })
	return out
}

func repoOf(ev event.Event) githubapi.Repo {
	return githubapi.Repo{Owner: ev.Repo.Owner, Name: ev.Repo.Name, ID: ev.Repo.ID}
}

// path returns the path of something in the repository.
func (p *planner) path(rest string) string { return "/repos/" + p.repo.String() + rest }

// operation starts the operation of a group.
func (p *planner) operation(group []*entry, summary string) Operation {
	e := group[0]
	return Operation{Kind: e.kind, Summary: summary, Target: describeTarget(e.target), Staged: e.staged,
		Requests: []Request{}, entries: group}
}

// listItems fills in the items, and removes the requests if no item is left to be applied.
func (op *Operation) listItems(snap *Snapshot) {
	op.Items = make([]Member, len(op.entries))
	for i, e := range op.entries {
		m := Member{Index: e.index, Line: e.line, Kind: e.kind, Key: e.key, Outcome: OutcomeApply, Texts: e.texts()}
		if !e.withheld {
			m.Approved = &e.approved
		}
		if st := snap.code[e.index]; st != nil {
			m.Files = st.files()
		}
		if d := e.decided; d != nil {
			m.Outcome, m.Code, m.Reason = string(d.State), d.Code, d.Message
			if d.State == Applied {
				m.Outcome = OutcomeApply
			}
		}
		op.Items[i] = m
	}
	if len(pending(op.entries)) == 0 {
		op.Requests, op.work = []Request{}, nil
	}
}

// adopt looks for an object that an earlier attempt, or for a stable key an earlier workflow run,
// has created for the group, and decides the entries if it finds one. It also decides them if the
// list could not be read, because creating another object could make a duplicate. It reports
// whether the entries are decided.
func (p *planner) adopt(op *Operation, list listID, key string) bool {
	if err := p.snap.lists[list]; err != nil {
		op.failReading(err)
		return true
	}
	own := p.snap.found(key)
	if len(own) == 0 {
		return false
	}
	op.Adopts = append(op.Adopts, own...)
	message := madeEarlier
	if list.what == listEarlierIssues { // the marker does not show which workflow run created it
		message = "the issue is there already"
	}
	for _, e := range op.entries {
		e.adopt(own[0], message)
	}
	return true
}

// madeEarlier is the message of what an earlier attempt made.
const madeEarlier = "an earlier attempt of this workflow run made it already"

// failReading decides the entries where reading the present state of GitHub failed.
func (op *Operation) failReading(err error) {
	op.failAll(err, "it was not done, because what is there already could not be read: ")
}

// failAll decides that all entries fail with err. Their message begins with prefix.
func (op *Operation) failAll(err error, prefix string) {
	code, message := failure(err, op.Permissions)
	for _, e := range op.entries {
		e.decide(Failed, code, "%s", prefix+message)
	}
}

// unchecked returns Plan.Unchecked.
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

// Table returns the plan as a table of plain text, which whoever shows it escapes.
func (p *Plan) Table() (header []string, rows [][]string) {
	header = []string{"#", "kind", "what", "lines", "requests", "permissions", "notes"}
	for _, op := range p.Operations {
		var lines, requests []string
		for _, m := range op.Items {
			if m.Line > 0 {
				lines = append(lines, strconv.Itoa(m.Line))
			}
		}
		for _, r := range op.Requests {
			requests = append(requests, r.Method+" "+r.Path)
		}
		rows = append(rows, []string{strconv.Itoa(op.Number), string(op.Kind), op.Summary, strings.Join(lines, ", "),
			strings.Join(requests, "\n"), joinPermissions(op.Permissions), strings.Join(op.remarks(), "\n")})
	}
	return header, rows
}

// remarks returns whether the operation is staged, the expected outcomes other than apply, and the
// notes.
func (op *Operation) remarks() []string {
	var out []string
	if op.Staged {
		out = append(out, StagedRemark)
	}
	for _, m := range op.Items {
		if m.Outcome != OutcomeApply {
			out = append(out, fmt.Sprintf("%s: %s", m.Outcome, m.Reason))
		}
	}
	return append(out, op.Notes...)
}

// StagedRemark is what a plan's table notes for an operation that is only planned.
const StagedRemark = "staged: nothing is written"
