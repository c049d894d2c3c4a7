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
	r, err := f.request(env, client)
	if err != nil {
		return err
	}
	gate, err := doors.New(doors.Config{SafeOutputs: cfg, Secrets: doors.EnvironmentScanner(env.Getenv), ServerHost: doors.ServerHost(env.Getenv),
		Strict: f.strict, Repository: r.Event.Repo.FullName(), Page: f.page != ""})
	if err != nil {
		return err
	}
	if r.Deps.GitHub == nil && cfg.Policy.Configured() && !cfg.Policy.Staged && !f.dryRun && !apply.MayLackToken(r.Event) {
		return exitcode.UsageError(errors.New("there is no token to write with: set GITHUB_TOKEN, or add --dry-run to see the plan"))
	}
	doc, verdict, err := f.addOwn(ctx, env, gate, client, &r)
	if err != nil {
		return err
	}
	in, err := f.openInput(env, gate.Ticks(r.Event))
	if err != nil {
		return exitcode.UsageError(err)
	}
	defer in.Close()
	var files doors.PendingFiles
	defer files.Abort()
	if f.plan != "" {
		if _, err := files.Create(f.plan, nil); err != nil { // before anything is done
			return exitcode.UsageError(fmt.Errorf("--plan: %w", err))
		}
		r.Planned = f.writePlan
	}
	page := &pageFile{path: f.page, gate: gate, doc: doc}
	defer page.abort()
	if f.page != "" {
		if f.page == f.plan {
			return exitcode.UsageError(fmt.Errorf("--plan and --plan-html name the same file, %s: give each its own", f.page))
		}
		if err := page.create(); err != nil {
			return exitcode.UsageError(fmt.Errorf("--plan-html: %w", err))
		}
		r.Page = page.write
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
	if f.page != "" {
		if err := crash.Try(func() error { return page.write(rep) }); err != nil {
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

// addOwn adds to a request what Airlock itself wants to write: the report of the checks and the
// verdict that the flags name, and the boxes to tick.
func (f applyFlags) addOwn(ctx context.Context, env Environment, gate *doors.Gate, client *githubapi.Client, r *doors.Request) (doc *checkreport.Document, verdict *verdictreport.Document, err error) {
	if f.findings != "" {
		if r.Checks, doc, err = f.checks(env, gate, *r); err != nil {
			return nil, nil, err
		}
		fmt.Fprintln(env.Stderr, "Airlock checks: "+doc.Headline())
	}
	if verdict, err = f.readVerdict(gate, r.Event); err != nil {
		return nil, nil, err
	}
	if verdict != nil {
		r.Own = append(r.Own, gate.VerdictItems(verdict, r.Event, doors.ItemsOf(env.Getenv, env.Version, r.Event, r.Config.Run))...)
		fmt.Fprintln(env.Stderr, "Airlock acceptance: "+verdict.Headline())
	}
	ticks, notes, err := gate.TickItems(ctx, client, r.Event)
	if err != nil {
		return nil, nil, err
	}
	r.Own = append(r.Own, ticks...)
	for _, note := range notes {
		fmt.Fprintln(env.Stderr, gate.OneLine(note))
	}
	return doc, verdict, nil
}

// writePlan writes a plan to the file that the flags name.
func (f applyFlags) writePlan(plan *apply.Plan) error {
	var files doors.PendingFiles
	defer files.Abort()
	out, err := files.Create(f.plan, nil)
	if err != nil {
		return err
	}
	if err := doors.WriteJSON(out, plan); err != nil {
		return err
	}
	return files.Commit()
}

// request returns what the gate needs in addition to the items, without code and own items.
func (f applyFlags) request(env Environment, client *githubapi.Client) (doors.Request, error) {
	runner := f.runner(env)
	runner.Event.Name = f.name
	ev, run, err := action.LoadEvent(runner)
	if err != nil {
		return doors.Request{}, exitcode.UsageError(err)
	}
	if f.dryRun {
		run.Own = "" // nothing is written that another run could be taken for
	}
	r := doors.Request{
		Event:  ev,
		Config: apply.Config{Run: run, Workflow: env.Getenv("GITHUB_WORKFLOW"), Version: env.Version, DryRun: f.dryRun, Server: runner.ServerURL},
		Deps:   apply.Deps{Clock: githubapi.SystemClock{}, Files: outputDir(f.outputDir), Log: progress(env)},
	}
	r.Begin = action.LedgerOf(runner, env.Getenv).Begin
	if client != nil {
		r.Deps.GitHub = client
	}
	return r, nil
}

// checks returns the delivery of another job's findings, and the findings.
func (f applyFlags) checks(env Environment, gate *doors.Gate, r doors.Request) (*checkreport.Delivery, *checkreport.Document, error) {
	file, err := action.OpenUser(f.findings, nil, checkreport.MaxBytes)
	if err != nil {
		return nil, nil, exitcode.UsageError(fmt.Errorf("--findings: %w", err))
	}
	defer file.Close()
	doc, err := gate.ReadFindings(file, f.findings, r.Event)
	if err != nil {
		return nil, nil, exitcode.UsageError(fmt.Errorf("--findings: %w", err))
	}
	return gate.Deliver(doc, r.Event, doors.ItemsOf(env.Getenv, env.Version, r.Event, r.Config.Run)), doc, nil
}

// readVerdict reads the verdict of another job; nil if none is named.
func (f applyFlags) readVerdict(gate *doors.Gate, ev event.Event) (*verdictreport.Document, error) {
	if f.verdict == "" {
		return nil, nil
	}
	file, err := action.OpenUser(f.verdict, nil, verdictreport.MaxBytes)
	if err != nil {
		return nil, exitcode.UsageError(fmt.Errorf("--verdict: %w", err))
	}
	defer file.Close()
	doc, err := gate.ReadVerdict(file, f.verdict, ev)
	if err != nil {
		return nil, exitcode.UsageError(fmt.Errorf("--verdict: %w", err))
	}
	return doc, nil
}

// agentCode returns the agent's changes. release undoes what was set up.
func (f applyFlags) agentCode(ctx context.Context, env Environment, ev event.Event, conn doors.Connection) (code *apply.Code, release func(), err error) {
	if f.dir != "" && !isDirectory(f.dir) {
		return nil, nil, exitcode.UsageError(fmt.Errorf("--dir: %s is not a directory: name the clone that contains the agent's changes", f.dir))
	}
	dir := cmp.Or(f.dir, env.Getenv("GITHUB_WORKSPACE"), ".")
	git := doors.OpenLocalGit(ctx, dir, env.gitPath(), ev, progress(env))
	src := doors.AgentCode{File: f.changes, Base: f.changesBase, Workspace: dir, PathList: env.gitPath(),
		Exclude: doors.PathsBelow(dir, ".", f.outputDir, f.input, f.plan, f.page, f.changes),
		Open:    func() (io.ReadCloser, error) { return openInput(env, f.changes) }}
	code, releaseCode, err := src.Load(git, ev, conn)
	release = func() { releaseCode(); git.Close() }
	if err != nil {
		release()
		return nil, nil, err
	}
	return code, release, nil
}

// openInput opens the agent's output; there need not be one where there is something else to
// do.
func (f applyFlags) openInput(env Environment, ticks bool) (io.ReadCloser, error) {
	if f.input == "" && (f.findings != "" || f.verdict != "" || ticks) {
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
	_ = doors.WriteReport(env.Stderr, rep, terminal.Is(env.Stderr) && env.Getenv("NO_COLOR") == "")
	if wantsJSON(env, asJSON) {
		return rep.JSON(env.Stdout, "  ")
	}
	return nil
}
