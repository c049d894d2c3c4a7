package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/apply"
	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/report"
	"github.com/agent-airlock/airlock/internal/sanitize"
	"github.com/agent-airlock/airlock/internal/secrets"
)

// gate is both doors and what stands behind them, set up for one repository.
type gate struct {
	cfg       config.SafeOutputs
	clean     sanitize.Config
	sanitizer *sanitize.Sanitizer
	secrets   *secrets.Scanner
	strict    bool
}

func newGate(cfg config.SafeOutputs, serverHost string, strict bool, scanner *secrets.Scanner) (*gate, error) {
	clean := cfg.Sanitize(serverHost)
	s, err := sanitize.New(clean)
	if err != nil {
		return nil, usageError(err)
	}
	return &gate{cfg: cfg, clean: clean, sanitizer: s, secrets: scanner, strict: strict}, nil
}

// intake returns the first door's settings. collect tells the agent about kinds
// that are not enabled; apply leaves that to the policy.
func (g *gate) intake(collecting bool) intake.Config {
	c := g.cfg.Intake(g.clean, g.strict)
	if collecting {
		c.Enabled = g.cfg.Enabled()
	}
	return c
}

// words makes a text fit to be shown to a person, and shows no secret.
func (g *gate) words(s string) string {
	out, _ := g.sanitizer.Plain(g.secrets.Mask(s))
	return strings.Join(strings.Fields(out), " ")
}

// collect lets a file of agent output through the first door, without documents.
func (g *gate) collect(ctx context.Context, in io.Reader) (intake.Result, error) {
	res, err := intake.Collect(ctx, in, g.intake(false))
	return res, inputError(ctx, err)
}

// collectTo is collect that also writes the documents which later jobs read.
// collecting says that nothing is applied behind it, so that kinds which are not
// enabled are refused here.
func (g *gate) collectTo(ctx context.Context, in io.Reader, docs intake.Documents, collecting bool) (intake.Result, error) {
	var res intake.Result
	docs.Each = func(o intake.Outcome) {
		switch {
		case o.Accepted != nil:
			res.Accepted = append(res.Accepted, *o.Accepted)
		case o.Rejected != nil:
			res.Rejected = append(res.Rejected, *o.Rejected)
		case o.Dropped != nil:
			res.Dropped = append(res.Dropped, *o.Dropped)
		}
	}
	_, err := intake.Write(ctx, in, g.intake(collecting), docs)
	return res, inputError(ctx, err)
}

// inputError tells an interruption, and a result that cannot be written, from input
// that cannot be read.
func inputError(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return failedError(errInterrupted)
	}
	var out *outputError
	if errors.As(err, &out) {
		return failedError(out)
	}
	return usageError(fmt.Errorf("agent output: %w", err))
}

var errInterrupted = errors.New("interrupted before anything was applied; run it again")

// passage is what stands behind the first door.
type passage struct {
	event  event.Event
	config apply.Config
	world  apply.World
	own    []intake.OwnItem // what Airlock itself has to say
	// planned, unless nil, is shown the plan before anything is written; its error
	// keeps everything from being written.
	planned func(*apply.Plan) error
}

// pass sends what the first door let in through the second and applies what is
// left. The error is one that came before any item could be judged.
func (g *gate) pass(ctx context.Context, collected intake.Result, p passage) (*report.Report, error) {
	own, refused, err := intake.Own(p.own, g.intake(false))
	if err != nil {
		return nil, failedError(err)
	}
	approved, denied := policy.Judge(g.cfg.Policy, p.event, slices.Concat(collected.Accepted, own))
	p.config.Sanitizer, p.config.Secrets = g.sanitizer, g.secrets
	p.config.HoldText, p.config.LostCode = g.cfg.Policy.HoldAfterFailedCode, lostCode(collected)
	for _, d := range denied {
		if isCode(d.Item.Kind()) && p.config.LostCode == "" {
			p.config.LostCode = fmt.Sprintf("%s was denied: %s", d.Item.Kind(), d.Message)
		}
	}
	p.config.DryRun = p.config.DryRun || g.cfg.Policy.Staged || !g.cfg.Policy.Configured()
	if log := p.world.Log; log != nil {
		p.world.Log = func(line string) { log(g.words(line)) } // it holds words of the agent
	}
	snapshot, err := apply.Observe(ctx, p.world, p.config, p.event, approved)
	if ctx.Err() != nil {
		return nil, failedError(errInterrupted)
	}
	if err != nil {
		return nil, failedError(err)
	}
	plan, err := apply.NewPlan(p.config, p.event, approved, snapshot)
	if err != nil {
		return nil, failedError(err)
	}
	if p.planned != nil {
		if err := p.planned(plan); err != nil {
			return nil, failedError(fmt.Errorf("the plan cannot be written, so nothing was applied: %w", err))
		}
	}
	results := slices.Concat(apply.Execute(ctx, p.world, plan), apply.DeniedResults(denied), refusedOwn(refused))
	slices.SortStableFunc(results, func(a, b apply.Result) int { return a.Line - b.Line })
	return report.New(report.Input{
		Event: p.event, DryRun: p.config.DryRun, Unconfigured: !g.cfg.Policy.Configured(), Plan: plan, Results: results,
		Rejected: collected.Rejected, Dropped: collected.Dropped, Earlier: collected.Input.Errors, Words: g.words,
	}), nil
}

// refusedOwn are the results of own items that the first door refused: what they
// quote does not fit into GitHub's form.
func refusedOwn(refused []intake.Rejected) []apply.Result {
	var out []apply.Result
	for _, r := range refused {
		why := "it is not well formed"
		if len(r.Violations) > 0 {
			why = r.Violations[0].Message
		}
		out = append(out, apply.Result{Index: -1, Kind: r.Kind, State: apply.Failed, Own: true, Code: apply.CodeInvalid, Message: why})
	}
	return out
}

// serverHost is the GitHub server's own host, "" for github.com.
func serverHost(getenv func(string) string) string {
	u, err := url.Parse(getenv("GITHUB_SERVER_URL"))
	if err != nil || u.Hostname() == "github.com" {
		return ""
	}
	return u.Hostname()
}
