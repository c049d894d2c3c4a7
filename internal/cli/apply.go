package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/apply"
	"github.com/agent-airlock/airlock/internal/checkreport"
	"github.com/agent-airlock/airlock/internal/crash"
	"github.com/agent-airlock/airlock/internal/doors"
	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/report"
)

type applyFlags struct {
	input, config, event, eventName, repo string
	plan, outputDir, proxy, caFile        string
	dir, changes, changesBase, findings   string
	name                                  string
	dryRun, strict, trustEnv, json        bool
	pace                                  time.Duration
}

func newApply(env Environment) *cobra.Command {
	var f applyFlags
	cmd := &cobra.Command{
		Use:   "apply",
		Short: "Perform what an agent asked for and the configuration allows",
		Long: `Send agent output through both doors and perform what is left through the GitHub
API. The input is the document that collect wrote, or the agent's own lines: it is
checked again either way.

Without a configuration nothing is written: the plan is shown, and how to enable
it. The token is read from GITHUB_TOKEN or GH_TOKEN and goes to the API's host and,
for pushes by git, to the same server. The event is that of the workflow run (GITHUB_EVENT_PATH), or --event.

The code of create-pull-request and push-to-branch is what the clone in --dir holds
beyond the event's commit, committed or not, or a patch or bundle (--changes).
Values in AIRLOCK_SECRETS, one a line, stop every item that holds one of them.

What a person reads goes to standard error; the results go to standard output as
JSON, unless that is a terminal.`,
		Example: `  airlock apply --dry-run --input agent.ndjson --event event.json
  airlock collect --input agent.ndjson | airlock apply --config policy.yml
  airlock apply --input agent-output.json --config policy.yml --plan plan.json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runApply(cmd.Context(), env, f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.input, "input", "", "agent output or agent lines; - is standard input (default: GH_AW_AGENT_OUTPUT, else standard input)")
	flags.StringVar(&f.config, "config", "", configUsage)
	flags.StringVar(&f.event, "event", "", "the webhook payload of the event (default: GITHUB_EVENT_PATH)")
	flags.StringVar(&f.eventName, "event-name", "", "the event's name (default: GITHUB_EVENT_NAME, else inferred from the payload)")
	flags.StringVar(&f.repo, "repo", "", "the repository as owner/name (default: GITHUB_REPOSITORY, else the payload's)")
	flags.StringVar(&f.name, "name", "", "a name for the job, where two jobs of a workflow run cannot be distinguished otherwise")
	flags.BoolVar(&f.dryRun, "dry-run", false, "write nothing; print the plan")
	flags.StringVar(&f.plan, "plan", "", "write the plan, with the exact requests, to this file as JSON")
	flags.StringVar(&f.outputDir, "output-dir", ".airlock", "where files go that could not be delivered, such as SARIF")
	flags.BoolVar(&f.strict, "strict", false, "reject lines with fields that the schema does not know")
	flags.BoolVar(&f.json, "json", false, "print the results as JSON also to a terminal")
	flags.StringVar(&f.dir, "dir", "", "the clone that contains the agent's changes (default: GITHUB_WORKSPACE, else the current directory)")
	flags.StringVar(&f.changes, "changes", "", "a patch (git format-patch, git diff) or bundle file with the agent's changes, instead of those in the clone")
	flags.StringVar(&f.changesBase, "changes-base", "", "the commit or branch that the changes were made from (default: found out)")
	flags.StringVar(&f.findings, "findings", "", "the findings document of 'airlock check', to be reported on the pull request")
	flags.StringVar(&f.proxy, "proxy", "", "the proxy for requests to the API")
	flags.StringVar(&f.caFile, "ca-file", "", "PEM certificates to trust besides the system's")
	flags.DurationVar(&f.pace, "pace", time.Second, "the time between two writes; 0 paces nothing, for a server without rate limits")
	flags.BoolVar(&f.trustEnv, "trust-env", false, "take proxy and certificates from the environment")
	return cmd
}

func runApply(ctx context.Context, env Environment, f applyFlags) error {
	cfg, err := loadConfig(env, f.config)
	if err != nil {
		return err
	}
	conn, err := f.connection(env)
	if err != nil {
		return err
	}
	r, err := f.request(env, conn)
	if err != nil {
		return err
	}
	gate, err := newGate(env, cfg, f.strict, r.Event.Repo.FullName())
	if err != nil {
		return err
	}
	if r.Deps.GitHub == nil && cfg.Policy.Configured() && !cfg.Policy.Staged && !f.dryRun && !apply.MayLackToken(r.Event) {
		return exitcode.UsageError(errors.New("there is no token to write with: set GITHUB_TOKEN, or add --dry-run to see the plan"))
	}
	if f.findings != "" {
		if r.Own, err = f.ownItems(env, gate, r); err != nil {
			return err
		}
	}
	in, err := f.openInput(env)
	if err != nil {
		return exitcode.UsageError(err)
	}
	defer in.Close()
	var files doors.PendingFiles
	defer files.Abort()
	if f.plan != "" {
		out, err := files.Create(f.plan, nil)
		if err != nil {
			return exitcode.UsageError(fmt.Errorf("--plan: %w", err))
		}
		r.Planned = func(plan *apply.Plan) error {
			if err := doors.WriteJSON(out, plan); err != nil {
				return err
			}
			return files.Commit()
		}
	}
	collected, err := gate.Collect(ctx, in)
	if err != nil {
		return err
	}
	if doors.CarriesCode(collected) {
		code, release, err := f.agentCode(ctx, env, r.Event, conn)
		if err != nil {
			return err
		}
		defer release()
		r.Deps.Code = code
	}
	rep, err := gate.Apply(ctx, collected, r)
	if err != nil {
		return err
	}
	if err := crash.Try(func() error { return printReport(env, rep, f.json) }); err != nil {
		return exitcode.FailedError(fmt.Errorf("the results cannot be written, standard error has them: %w", err))
	}
	if rep.Crashed() {
		return &exitcode.Error{Code: exitcode.Failed}
	}
	if !rep.Clean() {
		return exitcode.ErrFindings
	}
	return nil
}

// connection returns how GitHub is reached.
func (f applyFlags) connection(env Environment) (doors.Connection, error) {
	c := doors.EnvironmentConnection(env.Getenv, versionOf(env))
	c.Proxy, c.Log = f.proxy, progress(env)
	c.Pace = githubapi.PaceConfig{Spacing: f.pace}
	if f.pace <= 0 {
		c.Pace = githubapi.Unpaced()
	}
	if f.caFile != "" {
		pem, err := doors.ReadCertificates(f.caFile)
		if err != nil {
			return c, exitcode.UsageError(fmt.Errorf("--ca-file: %w", err))
		}
		c.CAFile = pem
	}
	if f.trustEnv {
		if err := c.TrustEnvironment(env.Getenv); err != nil {
			return c, exitcode.UsageError(err)
		}
	}
	return c, nil
}

// request returns what the gate needs besides the items, without code and own items.
func (f applyFlags) request(env Environment, conn doors.Connection) (doors.Request, error) {
	runner := eventEnv(env, f.event, f.eventName, f.repo)
	runner.Event.Name = f.name
	ev, run, err := action.LoadEvent(runner)
	if err != nil {
		return doors.Request{}, exitcode.UsageError(err)
	}
	if f.dryRun {
		run.Own = "" // nothing is written that another run could be taken for
	}
	client, err := conn.Client()
	if err != nil {
		return doors.Request{}, err
	}
	r := doors.Request{
		Event:  ev,
		Config: apply.Config{Run: run, Workflow: env.Getenv("GITHUB_WORKFLOW"), Version: versionOf(env), DryRun: f.dryRun, Server: runner.ServerURL},
		Deps:   apply.Deps{Clock: githubapi.SystemClock{}, Files: outputDir(f.outputDir), Log: progress(env)},
	}
	if client != nil {
		r.Deps.GitHub = client
	}
	return r, nil
}

// ownItems returns the items that Airlock itself makes of another job's findings.
func (f applyFlags) ownItems(env Environment, gate *doors.Gate, r doors.Request) ([]intake.OwnItem, error) {
	file, err := action.OpenUser(f.findings, nil, checkreport.MaxBytes)
	if err != nil {
		return nil, exitcode.UsageError(fmt.Errorf("--findings: %w", err))
	}
	defer file.Close()
	doc, err := gate.ReadFindings(file, f.findings, r.Event)
	if err != nil {
		return nil, exitcode.UsageError(fmt.Errorf("--findings: %w", err))
	}
	return gate.OwnItems(doc, r.Event, doors.ItemsOf(env.Getenv, versionOf(env), r.Event, r.Config.Run))
}

// agentCode returns the agent's changes. release undoes what was set up.
func (f applyFlags) agentCode(ctx context.Context, env Environment, ev event.Event, conn doors.Connection) (code *apply.Code, release func(), err error) {
	if f.dir != "" && !isDirectory(f.dir) {
		return nil, nil, exitcode.UsageError(fmt.Errorf("--dir: %s is not a directory: name the clone that contains the agent's changes", f.dir))
	}
	dir := cmp.Or(f.dir, env.Getenv("GITHUB_WORKSPACE"), ".")
	git := doors.OpenLocalGit(ctx, dir, env.Getenv("PATH"), ev, progress(env))
	src := doors.AgentCode{File: f.changes, Base: f.changesBase, Workspace: dir, PathList: env.Getenv("PATH"),
		Exclude: doors.PathsBelow(dir, ".", f.outputDir, f.input, f.plan, f.changes),
		Open:    func() (io.ReadCloser, error) { return openInput(env, f.changes) }}
	code, releaseCode, err := src.Load(git, ev, conn)
	release = func() { releaseCode(); git.Close() }
	if err != nil {
		release()
		return nil, nil, err
	}
	return code, release, nil
}

// openInput opens the agent's output; there need not be one where there are findings.
func (f applyFlags) openInput(env Environment) (io.ReadCloser, error) {
	if f.findings != "" && f.input == "" {
		return io.NopCloser(strings.NewReader("")), nil
	}
	return openAgentOutput(env, f.input)
}

// outputDir stores what could not be delivered. It is created when it is needed.
type outputDir string

// WriteFile implements apply.Files.
func (d outputDir) WriteFile(name string, data []byte) (string, error) {
	if err := os.MkdirAll(string(d), 0o755); err != nil {
		return "", err
	}
	path := filepath.Join(string(d), name)
	return path, action.WriteUser(path, data)
}

// printReport writes for a person on standard error and for a program on standard output.
// A failure of the former does not keep the latter from being written.
func printReport(env Environment, rep *report.Report, asJSON bool) error {
	_ = doors.WriteReport(env.Stderr, rep, isTerminal(env.Stderr) && env.Getenv("NO_COLOR") == "")
	if asJSON || !isTerminal(env.Stdout) {
		return rep.JSON(env.Stdout, "  ")
	}
	return nil
}
