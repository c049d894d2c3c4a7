// Package doors is the only path through both doors, packages intake and policy: it
// collects what an agent asked for, judges it, observes GitHub, plans, executes and
// reports.
package doors

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/apply"
	"github.com/agent-airlock/airlock/internal/checkreport"
	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/crash"
	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/report"
	"github.com/agent-airlock/airlock/internal/sanitize"
	"github.com/agent-airlock/airlock/internal/secrets"
)

// Config is the configuration of a Gate.
type Config struct {
	// SafeOutputs is the owner's configuration; the zero value plans every kind and
	// writes none.
	SafeOutputs config.SafeOutputs
	// Secrets finds what no item may contain.
	Secrets *secrets.Scanner // required
	// ServerHost is the GitHub server's own host, "" for github.com.
	ServerHost string
	// Strict rejects lines with fields that the schema does not know.
	Strict bool
	// Repository is the workflow run's own, as owner/name; "" where it is not known. Then only
	// Apply refuses a line that names another repository.
	Repository string
	// Page keeps the text of each line, which a page of the report shows.
	Page bool
}

// EnvironmentConfig returns the configuration of a command line's gate, with the secrets and the
// server that the environment names.
func EnvironmentConfig(getenv func(string) string, owner config.SafeOutputs, repository string, strict bool) Config {
	return Config{SafeOutputs: owner, Secrets: EnvironmentScanner(getenv), ServerHost: ServerHost(getenv), Strict: strict, Repository: repository}
}

// firstLook is apply.Config.FirstLook: the time after which GitHub nearly always lists a write.
const firstLook = 3 * time.Second

// Gate is both doors, set up for one repository.
type Gate struct {
	cfg       config.SafeOutputs
	clean     sanitize.Config
	sanitizer *sanitize.Sanitizer
	secrets   *secrets.Scanner
	strict    bool
	repo      string
	page      bool
}

// New returns a gate. Its errors carry the exit code for wrong usage.
func New(cfg Config) (*Gate, error) {
	clean := cfg.SafeOutputs.Sanitize(cfg.ServerHost, cfg.Repository)
	s, err := sanitize.New(clean)
	if err != nil {
		return nil, exitcode.UsageError(err)
	}
	return &Gate{cfg: cfg.SafeOutputs, clean: clean, sanitizer: s, secrets: cfg.Secrets.Allowing(cfg.SafeOutputs.AllowedSecrets), strict: cfg.Strict, repo: cfg.Repository, page: cfg.Page}, nil
}

// SafeOutputs returns the owner's configuration.
func (g *Gate) SafeOutputs() config.SafeOutputs { return g.cfg }

// Scanner returns the scanner that finds what no item may contain.
func (g *Gate) Scanner() *secrets.Scanner { return g.secrets }

// OneLine returns s as one line that is safe to show to a person: nothing in it acts,
// and secrets are masked.
func (g *Gate) OneLine(s string) string {
	out, _ := g.sanitizer.Plain(sanitize.Reveal(g.secrets.Mask(s)))
	return strings.Join(strings.Fields(out), " ")
}

// CheckText returns how texts of the checks are made safe to show on GitHub.
func (g *Gate) CheckText() checkreport.SafeText {
	return checkreport.SafeText{Line: g.OneLine, Code: func(s string) string {
		out, _ := g.sanitizer.Characters(g.secrets.Mask(s))
		return out
	}}
}

// TerminalText is CheckText for a terminal, where nothing is a mention and people copy
// what they read.
func (g *Gate) TerminalText() checkreport.SafeText {
	show := g.CheckText()
	show.Line = func(s string) string { return strings.Join(strings.Fields(show.Code(s)), " ") }
	return show
}

// intake returns the settings of intake. With onlyEnabled, kinds that the
// configuration does not enable are rejected there, so that the agent learns of it;
// otherwise that is left to policy.
func (g *Gate) intake(onlyEnabled bool) intake.Config {
	c := g.cfg.Intake(g.clean, g.strict)
	c.Repository, c.Mask = g.repo, g.secrets.Mask
	if g.page {
		c.KeepSource = report.PageSource
	}
	if onlyEnabled {
		c.Enabled = g.cfg.Enabled()
	}
	return c
}

// Collect lets agent output through intake and keeps what came through in
// memory.
func (g *Gate) Collect(ctx context.Context, in io.Reader) (intake.Result, error) {
	res, err := intake.Collect(ctx, in, g.intake(false))
	return res, inputError(ctx, err)
}

// Write lets agent output through intake and writes the documents that later
// jobs read. With onlyEnabled, kinds that the configuration does not enable are
// rejected.
func (g *Gate) Write(ctx context.Context, in io.Reader, docs intake.Documents, onlyEnabled bool) (intake.Counts, error) {
	counts, err := intake.Write(ctx, in, g.intake(onlyEnabled), docs)
	return counts, inputError(ctx, err)
}

// CollectAndWrite is Write that also keeps what came through. It sets docs.Each.
func (g *Gate) CollectAndWrite(ctx context.Context, in io.Reader, docs intake.Documents, onlyEnabled bool) (intake.Result, error) {
	var res intake.Result
	docs.Each = res.Add
	_, err := g.Write(ctx, in, docs, onlyEnabled)
	return res, err
}

// inputError adds the exit code to the error of reading agent output: an interruption, a result
// that cannot be written, or input that cannot be read.
func inputError(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return exitcode.FailedError(errInterrupted)
	}
	if writing, ok := errors.AsType[*WriteError](err); ok {
		return exitcode.FailedError(writing)
	}
	return exitcode.UsageError(fmt.Errorf("agent output: %w", err))
}

var errInterrupted = errors.New("interrupted before anything was applied; run it again")

// Request is what Apply needs besides the agent's items.
type Request struct {
	Event event.Event // required
	// Config names the workflow run and this version of Airlock. The gate sets what
	// follows from the owner's configuration.
	Config apply.Config     // required
	Deps   apply.Deps       // required; see there
	Own    []intake.OwnItem // Airlock's own items
	// Begin, if not nil, records that this process begins with the items of these keys, and reports
	// whether another one has begun with any of them before. This process counts as at work on
	// them until end is called: see action.Ledger.
	Begin func(keys []string) (before bool, end func(), err error)
	// Checks, if not nil, are shown after everything else: see AddOwn.
	Checks *checkreport.Delivery
	// Planned, if not nil, is called with the plan before anything of it is carried out, and again
	// after each addition, before the addition is carried out. If it fails, the plan or the addition
	// is not carried out.
	Planned func(*apply.Plan) error
	// Page, if not nil, is called with a report of what is decided, after Planned and before
	// anything is written. It is not called for a dry run, where the report that Apply returns
	// contains the same. If it fails, nothing is written. It requires the Page of the gate's Config.
	Page func(*report.Report) error
}

// Apply sends the items that intake accepted through policy, and performs those that are left.
// The error is one that came before anything was applied; it carries its exit code.
func (g *Gate) Apply(ctx context.Context, collected intake.Result, r Request) (*report.Report, error) {
	delivery, err := g.beginDelivery(&r)
	if err != nil {
		return nil, exitcode.FailedError(err)
	}
	own, refused, err := intake.Own(r.Own, g.intake(false))
	if err != nil {
		return nil, exitcode.FailedError(err)
	}
	approved, denied := policy.Judge(g.cfg.Policy, r.Event, slices.Concat(collected.Accepted, own))
	collected.Rejected = g.tooFew(collected.Rejected, approved)
	r.Config.Sanitizer, r.Config.Secrets, r.Config.FirstLook = g.sanitizer, g.secrets, firstLook
	r.Config.HoldText, r.Config.LostCode = g.cfg.Policy.HoldAfterFailedCode, lostCode(collected, denied)
	r.Config.DryRun = r.Config.DryRun || g.cfg.Policy.Staged || !g.cfg.Policy.Configured()
	if log := r.Deps.Log; log != nil {
		r.Deps.Log = func(line string) { log(g.OneLine(line)) } // it quotes the agent
	}
	end, err := r.begin(approved)
	if errors.Is(err, action.ErrAtWork) {
		return nil, exitcode.UsageError(err)
	}
	if err != nil {
		return nil, exitcode.FailedError(err)
	}
	defer end()
	snapshot, err := apply.Observe(ctx, r.Deps, r.Config, r.Event, approved)
	if ctx.Err() != nil {
		return nil, exitcode.FailedError(errInterrupted)
	}
	var plan *apply.Plan
	if err == nil {
		plan, err = apply.NewPlan(r.Config, r.Event, approved, snapshot)
	}
	_, claimed := errors.AsType[*apply.ClaimedError](err)
	switch {
	case claimed:
		return nil, exitcode.UsageError(err)
	case crash.Is(err): // what is known by now is reported
		return g.report(collected, r, nil, denied, slices.Concat(apply.CrashedResults(approved, err), apply.DeniedResults(denied), refusedResults(refused)), false), nil
	case err != nil:
		return nil, exitcode.FailedError(err)
	}
	if r.Planned != nil {
		if err := r.Planned(plan); err != nil {
			return nil, exitcode.FailedError(fmt.Errorf("the plan cannot be written, so nothing was applied: %w", err))
		}
	}
	if r.Page != nil && !r.Config.DryRun {
		decided := g.report(collected, r, plan, denied, slices.Concat(apply.DeniedResults(denied), refusedResults(refused)), true)
		if err := crash.Try(func() error { return r.Page(decided) }); err != nil {
			return nil, exitcode.FailedError(fmt.Errorf("the page of the plan cannot be written, so nothing was applied: %w", err))
		}
	}
	execution := apply.NewExecution(r.Deps, plan)
	delivery.begun(plan, execution, execution.Perform(ctx), len(approved))
	delivery.performRemaining(ctx)
	refused, denied = append(refused, delivery.refused...), append(denied, delivery.denied...)
	done := slices.Concat(execution.Finish(ctx), delivery.undone)
	collected.Rejected = g.tooFew(collected.Rejected, withoutDenied(approved, done))
	deniedResults := apply.DeniedResults(denied)
	if err := crash.Try(func() error { apply.KeepDenied(ctx, r.Deps, r.Config, deniedResults); return nil }); err != nil && r.Deps.Log != nil {
		r.Deps.Log("the changes of a denied item were not kept: " + err.Error())
	}
	results := slices.Concat(done, deniedResults, refusedResults(refused))
	return g.report(collected, r, plan, denied, results, false), nil
}

// begin sets r.Config.Run.Begun: whether an earlier process may have begun the same attempt, which
// is assumed where no record can be read or written. Where nothing is recorded, it does nothing.
// The error is action.ErrAtWork if that process is still at work. Until end is called, this process
// counts as at work.
func (r *Request) begin(approved []policy.Approved) (end func(), err error) {
	if r.Begin == nil || r.Config.DryRun || r.Deps.GitHub == nil || r.Config.Run.ID == 0 {
		return func() {}, nil
	}
	keys, err := apply.Keys(r.Config, r.Event, approved)
	if err != nil {
		return nil, err
	}
	before, end, err := r.Begin(keys)
	if errors.Is(err, action.ErrAtWork) {
		return nil, err
	}
	if err != nil && r.Deps.Log != nil {
		r.Deps.Log(fmt.Sprintf("it is not known whether another process began this before, so GitHub's lists are read as if one did: %v", err))
	}
	r.Config.Run.Begun = before || err != nil
	return end, nil
}

// report returns the report of the items that came to intake. Before anything is written,
// onlyDecided is set, and results are those that are decided already.
func (g *Gate) report(collected intake.Result, r Request, plan *apply.Plan, denied []policy.Denied, results []apply.Result, onlyDecided bool) *report.Report {
	slices.SortStableFunc(results, func(a, b apply.Result) int { return a.Line - b.Line })
	return report.New(report.Input{
		Event: r.Event, DryRun: r.Config.DryRun, Unconfigured: !g.cfg.Policy.Configured(), Plan: plan, Results: results,
		Rejected: collected.Rejected, Dropped: collected.Dropped, Earlier: collected.Input.Errors, Safe: g.OneLine, Block: g.CheckText().Code,
		Denied: denied, Before: onlyDecided, Sources: g.page, Grantable: g.cfg.Policy.Permissions(),
		Secret: func(s string) bool { return len(g.secrets.Scan(s)) > 0 },
	})
}

// withoutDenied returns the approved items without those that were denied when GitHub and the
// agent's changes had been looked at, such as for a secret. A result has the index of its item.
func withoutDenied(approved []policy.Approved, results []apply.Result) (left []policy.Approved) {
	denied := map[int]bool{}
	for _, r := range results {
		denied[r.Index] = denied[r.Index] || r.State == apply.Denied
	}
	for i, a := range approved {
		if !denied[i] {
			left = append(left, a)
		}
	}
	return left
}

// tooFew adds an entry to rejected, unless it has one, for each kind of which the configuration
// demands more items than were approved of the agent's.
func (g *Gate) tooFew(rejected []intake.Rejected, approved []policy.Approved) []intake.Rejected {
	left := map[policy.Kind]int{}
	for _, a := range approved {
		if a.Origin() == policy.OriginAgent {
			left[a.Item().Kind()]++
		}
	}
	var few []intake.Rejected
	for kind, least := range g.intake(false).Min {
		known := slices.ContainsFunc(rejected, func(r intake.Rejected) bool { return r.TooFew && r.Kind == kind })
		if left[kind] < least && !known {
			few = append(few, intake.TooFew(kind, least, left[kind]))
		}
	}
	slices.SortFunc(few, func(a, b intake.Rejected) int { return cmp.Compare(a.Kind, b.Kind) })
	return slices.Concat(rejected, few)
}

// refusedResults returns the results of own items that intake refused, because GitHub
// would not accept what they quote.
func refusedResults(refused []intake.Rejected) []apply.Result {
	var results []apply.Result
	for _, r := range refused {
		results = append(results, apply.Result{Index: -1, Kind: r.Kind, State: apply.Failed, Own: true, Code: apply.CodeInvalid, Message: r.Violations[0].Message})
	}
	return results
}

// ServerHost returns the host of the GitHub server that the environment names, "" for
// github.com and for an address that is not valid.
func ServerHost(getenv func(string) string) string {
	u, err := url.Parse(action.ServerURL(getenv))
	if err != nil || u.Hostname() == "github.com" {
		return ""
	}
	return u.Hostname()
}
