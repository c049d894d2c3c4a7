package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/apply"
	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/report"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/token"
)

func newAction(w World) *cobra.Command {
	return &cobra.Command{
		Use:   "action",
		Short: "The entry point of the GitHub Action",
		Long: `Run as a step of a workflow: inputs come from INPUT_* variables as action.yml
documents them, the environment from the runner. The token is taken out of the
process's environment first of all. The step's files lie in .airlock below the
workspace; the exit code follows from the input fail-on.`,
		Example: `  - uses: agent-airlock/airlock@v1
    with:
      output-file: lines.ndjson
      config: |
        create-issue:`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s := newStep(w)
			defer s.runner.Finish()
			err := s.run(cmd.Context())
			if err == nil {
				return nil
			}
			var exit *exitError
			if !errors.As(err, &exit) {
				exit = failedError(err)
			}
			if exit.err != nil {
				s.stopped(exit.err)
			}
			return &exitError{code: exit.code}
		},
	}
}

// step is one step of a workflow.
type step struct {
	w         World
	env       action.Env
	runner    *action.Runner
	settings  config.Settings
	workspace *action.Dir
	reported  bool // what became of the items is in the log and the summary
}

func newStep(w World) *step {
	env := action.Snapshot(w.Getenv)
	return &step{w: w, env: env, runner: action.NewRunner(env, w.Stdout)}
}

func (s *step) run(ctx context.Context) error {
	secret, _ := s.w.Secrets.Token()
	tok := token.New(secret, s.env.APIURL)
	s.runner.Mask(tok)
	further := s.w.Secrets.Further()
	for _, v := range further {
		s.runner.Mask(token.New(v, s.env.APIURL))
	}

	var err error
	if s.settings, err = config.ParseSettings(s.env.Inputs.Get); err != nil {
		return usageError(err)
	}
	if s.workspace, err = action.OpenDir(s.env.Workspace); err != nil {
		return usageError(fmt.Errorf("the workspace: %w", err))
	}
	defer s.workspace.Close()
	ev, run, err := action.LoadEvent(s.env)
	if err != nil {
		return usageError(err)
	}
	conn, err := s.connection(tok)
	if err != nil {
		return err
	}
	client, err := conn.open()
	if err != nil {
		return err
	}
	path := s.w.Getenv("PATH")
	if s.env.OnRunner {
		path = ""
	}
	git := openGit(ctx, s.env.Workspace, path, ev, s.debug)
	if git != nil {
		defer git.close()
	}
	cfg, err := s.policy(ctx, policySource{ev, client, git})
	if err != nil {
		return err
	}
	g, err := newGate(cfg, serverHost(s.w.Getenv), s.settings.Strict, scanner(tok, further))
	if err != nil {
		return err
	}
	out, err := openOutputs(s.workspace)
	if err != nil {
		return failedError(fmt.Errorf("the step keeps its files in the workspace: %w", err))
	}
	if s.settings.Mode == config.ModeCollect {
		if s.settings.Findings != "" {
			return usageError(errors.New("input findings: mode collect tells nobody of them; use it with mode apply"))
		}
		return s.collect(ctx, g, out)
	}
	doc, err := s.findings(ctx, checkStep{gate: g, event: ev, client: client, git: git, conn: conn, out: out})
	if err != nil || s.settings.Mode == config.ModeCheck {
		return s.checked(doc, err)
	}
	if tok.IsZero() && cfg.Policy.Configured() && !cfg.Policy.Staged {
		return usageError(errors.New("there is no token to write with: leave the input token at its default, or set staged: true to see the plan"))
	}
	collected, err := s.collected(ctx, g, out, doc != nil || s.settings.Mode == config.ModeAll && cfg.Checks.Given)
	if err != nil {
		return err
	}
	p := passage{event: ev, config: apply.Config{Run: run, Workflow: s.w.Getenv("GITHUB_WORKFLOW"), Version: versionOf(s.w), Server: s.env.ServerURL}}
	p.world = apply.World{Clock: githubapi.SystemClock{}, Files: out, Log: s.info}
	p.planned = func(plan *apply.Plan) error { return s.writePlan(plan, out) }
	if client != nil {
		p.world.GitHub = client
	}
	if git != nil {
		p.world.Source = git
		if asksForReview(collected) {
			p.world.Diff = git.diff()
		}
	}
	if carriesCode(collected) {
		code, release, err := s.codeSource(path).code(git, ev, conn)
		defer release()
		if err != nil {
			return err
		}
		p.world.Code = code
	}
	if p.own, err = s.ownItems(doc, ev, run, cfg.Checks.Report, g); err != nil {
		return err
	}
	rep, err := g.pass(ctx, collected, p)
	if err != nil {
		return err
	}
	return s.checked(doc, s.finish(rep, out))
}

// codeSource says where the agent's changes are. What Airlock and the agent write for
// each other is none of them.
func (s *step) codeSource(pathList string) codeSource {
	name := s.settings.Changes
	return codeSource{file: name, base: s.settings.ChangesBase, workspace: s.env.Workspace, pathList: pathList,
		exclude: belowDir(s.env.Workspace, s.env.Workspace, outputDir, s.settings.OutputFile, s.settings.AgentOutput, name, s.w.Getenv("GH_AW_SAFE_OUTPUTS"), s.w.Getenv("GITHUB_AW_SAFE_OUTPUTS")),
		open:    func() (io.ReadCloser, error) { return s.openBelow("changes", name) }}
}

// connection says how GitHub is reached.
func (s *step) connection(tok token.Token) (connection, error) {
	c := connection{tok: tok, apiURL: s.env.APIURL, graphQL: s.env.GraphQLURL, agent: "airlock/" + versionOf(s.w), log: s.info}
	if s.settings.Proxy != nil {
		c.proxy = s.settings.Proxy.String()
	}
	if s.settings.CAFile != "" {
		pem, err := s.workspace.Read(s.settings.CAFile, maxCertificates)
		if err != nil {
			return c, usageError(fmt.Errorf("input ca-file: %w", err))
		}
		c.caFile = pem
	}
	if s.settings.TrustEnv {
		if err := c.trustProxyOf(s.w.Getenv); err != nil {
			return c, usageError(err)
		}
	}
	return c, nil
}

// collect is mode collect: the agent's lines become checked agent output.
func (s *step) collect(ctx context.Context, g *gate, out *outputs) error {
	res, err := s.collected(ctx, g, out, false)
	if err != nil {
		return err
	}
	return s.finish(report.New(report.Input{
		Collected: res.Accepted, Rejected: res.Rejected, Dropped: res.Dropped, Words: g.words,
	}), out)
}

// collected lets the step's input through the first door. The agent's own lines
// also become the documents that later jobs read. Where there is something else to
// say, there need not be an input.
func (s *step) collected(ctx context.Context, g *gate, out *outputs, optional bool) (intake.Result, error) {
	if optional && !s.namesInput() {
		return intake.Result{}, nil
	}
	if s.settings.Mode == config.ModeApply {
		in, err := s.openAgentOutput()
		if err != nil {
			return intake.Result{}, usageError(err)
		}
		defer in.Close()
		return g.collect(ctx, in)
	}
	in, err := s.openLines()
	if err != nil {
		return intake.Result{}, usageError(err)
	}
	defer in.Close()
	return s.write(ctx, g, in, out)
}

// asksForReview reports whether the diff is needed.
func asksForReview(res intake.Result) bool {
	for _, a := range res.Accepted {
		if a.Item().Kind() == safeoutput.KindCreateReviewComment {
			return true
		}
	}
	return false
}

// finish tells everybody how it ended, and returns what the step's exit code
// follows from.
func (s *step) finish(rep *report.Report, out *outputs) error {
	var text bytes.Buffer
	_ = writeText(&text, rep, false) // a buffer takes everything
	s.runner.Group("Airlock: "+rep.Headline(), func() { s.runner.Log(text.String()) })
	s.annotate(rep.Annotations())
	if _, err := s.runner.AddSummary(rep.Summary(action.MaxSummary), cutBytes); err != nil {
		s.warn(err)
	}
	s.reported = true
	if err := s.setOutputs(rep, out); err != nil {
		return failedError(fmt.Errorf("the outputs cannot be set, this log says what was done: %w", err))
	}
	failed := rep.Counts.Failed > 0 || rep.FailedOwn()
	switch {
	case s.settings.FailOn == config.FailOnNever:
		return nil
	case failed, s.settings.FailOn == config.FailOnRejected && !rep.Clean():
		return findings()
	}
	return nil
}

// stopped says in the log and in the summary why nothing was judged or, behind the
// report, why the outputs lack.
func (s *step) stopped(err error) {
	s.runner.Annotate(action.Annotation{Level: action.Error, Title: "Airlock stopped", Message: err.Error()})
	if s.reported {
		return
	}
	if _, err := s.runner.AddSummary("## Airlock stopped\n\nNothing was applied.\n\n"+report.PlainBlock(err.Error()), cutBytes); err != nil {
		s.warn(err)
	}
}
