package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
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
	"github.com/agent-airlock/airlock/internal/report"
	"github.com/agent-airlock/airlock/internal/terminal"
	"github.com/agent-airlock/airlock/internal/text"
	"github.com/agent-airlock/airlock/internal/verdictreport"
)

type applyFlags struct {
	eventFlags
	connectionFlags
	input, config             string
	plan, page, outputDir     string
	dir, changes, changesBase string
	findings, verdict, name   string
	dryRun, strict, json      bool
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
for pushes by git, to the same server. The event is that of the workflow run
(GITHUB_EVENT_PATH), or --event.

The code of create-pull-request and push-to-branch is what the clone in --dir holds
beyond the event's commit, committed or not, or a patch or bundle (--changes).
Values in AIRLOCK_SECRETS, one a line, stop every item that holds one of them.

What a person reads goes to standard error; the results go to standard output as
JSON, unless that is a terminal.`,
		Example: `  airlock apply --dry-run --input agent.ndjson --event event.json
  airlock collect --input agent.ndjson | airlock apply --config policy.yml
  airlock apply --input agent-output.json --config policy.yml --plan plan.json
  airlock apply --dry-run --input agent.ndjson --config policy.yml --plan-html plan.html`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runApply(cmd.Context(), env, f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.input, "input", "", "agent output or agent lines; - is standard input (default: GH_AW_AGENT_OUTPUT, else standard input)")
	flags.StringVar(&f.config, "config", "", configUsage)
	f.eventFlags.add(flags)
	f.addRepo(flags)
	flags.StringVar(&f.name, "name", "", "a name for the job, where two jobs of a workflow run cannot be distinguished otherwise")
	flags.BoolVar(&f.dryRun, "dry-run", false, "write nothing; print the plan")
	flags.StringVar(&f.plan, "plan", "", "write the plan, with the exact requests, to this file as JSON")
	flags.StringVar(&f.page, "plan-html", "", "write the plan, and what became of it, to this file as a page to look at (docs/plan-page.md)")
	flags.StringVar(&f.outputDir, "output-dir", ".airlock", "where files go that could not be delivered, such as SARIF")
	flags.BoolVar(&f.strict, "strict", false, "reject lines with fields that the schema does not know")
	flags.BoolVar(&f.json, "json", false, "print the results as JSON also to a terminal")
	flags.StringVar(&f.dir, "dir", "", "the clone that contains the agent's changes (default: GITHUB_WORKSPACE, else the current directory)")
	flags.StringVar(&f.changes, "changes", "", "a patch (git format-patch, git diff) or bundle file with the agent's changes, instead of those in the clone")
	flags.StringVar(&f.changesBase, "changes-base", "", "the commit or branch that the changes were made from (default: found out)")
	flags.StringVar(&f.findings, "findings", "", "the findings document of 'airlock check', to be reported on the pull request")
	flags.StringVar(&f.verdict, "verdict", "", "the verdict document of an action's mode verify, to be reported on the pull request")
	f.connectionFlags.add(flags)
	flags.DurationVar(&f.pace, "pace", time.Second, "the time between two writes; 0 paces nothing, for a server without rate limits")
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
	client, err := conn.Client()
	if err != nil {
		return err
	}
	job, err := f.job(env, client)
	if err != nil {
		return err
	}
	doorsConfig := doors.EnvironmentConfig(env.Getenv, cfg, job.Event.Repo.FullName(), f.strict)
	doorsConfig.Page = f.page != ""
	gate, err := doors.New(doorsConfig)
	if err != nil {
		return err
	}
	if client == nil && cfg.Policy.Configured() && !cfg.Policy.Staged && !f.dryRun && !apply.MayLackToken(job.Event) {
		return exitcode.UsageError(errors.New("there is no token to write with: set GITHUB_TOKEN, or add --dry-run to see the plan"))
	}
	r := job.Request()
	r.Config.DryRun = f.dryRun
	doc, verdict, err := f.addOwn(ctx, env, gate, job, &r)
	if err != nil {
		return err
	}
	in, err := f.openInput(env, gate.Ticks(job.Event))
	if err != nil {
		return exitcode.UsageError(err)
	}
	defer in.Close()
	files := doors.PlanFiles{JSON: f.plan, Page: f.page}
	defer files.Abort()
	if err := files.Begin(gate, doc, &r); err != nil {
		return exitcode.UsageError(err)
	}
	collected, err := gate.Collect(ctx, in)
	if err != nil {
		return err
	}
	if doors.CarriesCode(collected) {
		code, release, err := f.agentCode(ctx, env, job.Event, conn)
		defer release()
		if err != nil {
			return err
		}
		r.Deps.Code = code
	}
	rep, err := gate.Apply(ctx, collected, r)
	if err != nil {
		return err
	}
	if err := crash.Try(func() error { return printReport(env, rep, f.json) }); err != nil {
		return exitcode.FailedError(fmt.Errorf("the results cannot be written, standard error has them: %w", err))
	}
	if f.page != "" {
		if err := crash.Try(func() error { return files.WritePage(rep) }); err != nil {
			return exitcode.FailedError(fmt.Errorf("--plan-html: the page cannot be written, the results above say what was done: %w", err))
		}
		fmt.Fprintf(env.Stderr, "\nThe plan as a page: %s\n", text.OneLine(f.page))
	}
	if rep.Crashed() {
		return &exitcode.Error{Code: exitcode.Failed}
	}
	if !rep.Clean() || verdict != nil && verdict.Failed(cfg.Acceptance.RequireCriteria) {
		return exitcode.ErrFindings
	}
	return nil
}

// job returns the workflow run that the flags and the environment name.
func (f applyFlags) job(env Environment, client *githubapi.Client) (doors.Job, error) {
	runner := f.runner(env)
	runner.Event.Name = f.name
	ev, run, err := action.LoadEvent(runner)
	if err != nil {
		return doors.Job{}, exitcode.UsageError(err)
	}
	if f.dryRun {
		run.Own = "" // nothing is written that another run could be taken for
	}
	return doors.Job{Event: ev, Run: run, Runner: runner, Getenv: env.Getenv, Version: env.Version, Client: client, Files: doors.OutputDir(f.outputDir), Log: progress(env)}, nil
}

// addOwn reads the documents of earlier jobs that the flags name, and adds to a request what
// Airlock itself wants to write.
func (f applyFlags) addOwn(ctx context.Context, env Environment, gate *doors.Gate, job doors.Job, r *doors.Request) (doc *checkreport.Document, verdict *verdictreport.Document, err error) {
	if f.findings != "" {
		if doc, err = readDocument("--findings", f.findings, checkreport.MaxBytes, gate.ReadFindings, job.Event); err != nil {
			return nil, nil, err
		}
		fmt.Fprintln(env.Stderr, "Airlock checks: "+doc.Headline())
	}
	if f.verdict != "" {
		if verdict, err = readDocument("--verdict", f.verdict, verdictreport.MaxBytes, gate.ReadVerdict, job.Event); err != nil {
			return nil, nil, err
		}
		fmt.Fprintln(env.Stderr, "Airlock acceptance: "+verdict.Headline())
	}
	notes, err := gate.AddOwn(ctx, job, r, doc, verdict)
	for _, note := range notes {
		fmt.Fprintln(env.Stderr, gate.OneLine(note))
	}
	return doc, verdict, err
}

// readDocument reads the document of an earlier job that a flag names.
func readDocument[D any](flag, name string, limit int64, read func(io.Reader, string, event.Event) (*D, error), ev event.Event) (*D, error) {
	file, err := action.OpenUser(name, nil, limit)
	if err != nil {
		return nil, exitcode.UsageError(fmt.Errorf("%s: %w", flag, err))
	}
	defer file.Close()
	doc, err := read(file, name, ev)
	if err != nil {
		return nil, exitcode.UsageError(fmt.Errorf("%s: %w", flag, err))
	}
	return doc, nil
}

// agentCode returns the agent's changes. release, which is never nil, undoes what was set up.
func (f applyFlags) agentCode(ctx context.Context, env Environment, ev event.Event, conn doors.Connection) (code *apply.Code, release func(), err error) {
	if f.dir != "" && !action.IsDirectory(f.dir) {
		return nil, func() {}, exitcode.UsageError(fmt.Errorf("--dir: %s is not a directory: name the clone that contains the agent's changes", f.dir))
	}
	dir := cmp.Or(f.dir, env.Getenv("GITHUB_WORKSPACE"), ".")
	return doors.AgentCode{File: f.changes, Base: f.changesBase, Workspace: dir, PathList: action.PathList(env.Getenv),
		Exclude: doors.PathsBelow(dir, ".", f.outputDir, f.input, f.plan, f.page, f.changes),
		Open:    func() (io.ReadCloser, error) { return openInput(env, f.changes) },
	}.LoadClone(ctx, ev, conn, progress(env))
}

// openInput opens the agent's output; there need not be one where there is something else to
// do.
func (f applyFlags) openInput(env Environment, ticks bool) (io.ReadCloser, error) {
	if f.input == "" && (f.findings != "" || f.verdict != "" || ticks) {
		return io.NopCloser(strings.NewReader("")), nil
	}
	return openAgentOutput(env, f.input)
}

// printReport writes for a person on standard error and for a program on standard output.
// A failure of the former does not keep the latter from being written.
func printReport(env Environment, rep *report.Report, asJSON bool) error {
	_ = doors.WriteReport(env.Stderr, rep, terminal.Is(env.Stderr) && env.Getenv("NO_COLOR") == "")
	if wantsJSON(env, asJSON) {
		return rep.JSON(env.Stdout, "  ")
	}
	return nil
}
