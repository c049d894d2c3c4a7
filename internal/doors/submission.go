package doors

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/apply"
	"github.com/agent-airlock/airlock/internal/checkreport"
	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/crash"
	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/report"
	"github.com/agent-airlock/airlock/internal/text"
	"github.com/agent-airlock/airlock/internal/verdictreport"
)

// Submission is agent output that a user of this machine submits, with what goes with it. Errors
// name its settings as the flags of a command line.
type Submission struct {
	Event  action.Named
	Input  string // the file of the agent output or of the agent's lines; see Apply and Validate
	Strict bool   // as in Config

	Dir         string // the clone that contains the agent's changes; "" for the workspace, or the current directory
	Changes     string // a patch or a bundle with them instead; "" for none
	ChangesBase string // as Base in AgentCode

	// The others are for Apply.
	Findings, Verdict string // the files of documents of earlier jobs; "" for none
	DryRun            bool
	Plan              PlanFiles
	OutputDir         OutputDir // required
	Route             Route
}

// SubmissionDeps are what a submission needs of the process.
type SubmissionDeps struct {
	Getenv  func(string) string                      // required
	Version string                                   // of Airlock
	Open    func(name string) (io.ReadCloser, error) // required: opens what the user names; "" and "-" are standard input
	Log     func(line string)                        // required
	People  io.Writer                                // required: what a person reads
	Colour  bool                                     // People shows ANSI colours
	Out     io.Writer                                // the results as JSON; nil for none
}

// Apply sends the submission through both doors, performs the items that are left, and reports
// them. Without Input there is no agent output if there is something else to do; otherwise a
// variable of the workflow contains or names it, or it is standard input. The error carries its
// exit code.
func (s Submission) Apply(ctx context.Context, owner config.SafeOutputs, deps SubmissionDeps) error {
	conn, err := s.Route.Connection(deps.Getenv, deps.Version, deps.Log)
	if err != nil {
		return err
	}
	client, err := conn.Client()
	if err != nil {
		return err
	}
	job, err := s.job(client, deps)
	if err != nil {
		return err
	}
	cfg := EnvironmentConfig(deps.Getenv, owner, job.Event.Repo.FullName(), s.Strict)
	cfg.Page = s.Plan.Page != ""
	gate, err := New(cfg)
	if err != nil {
		return err
	}
	if client == nil && owner.Policy.Configured() && !owner.Policy.Staged && !s.DryRun && !apply.MayLackToken(job.Event) {
		return exitcode.UsageError(errors.New("there is no token to write with: set GITHUB_TOKEN, or add --dry-run to see the plan"))
	}
	r := job.Request()
	r.Config.DryRun = s.DryRun
	doc, verdict, err := s.addOwn(ctx, gate, job, &r, deps.People)
	if err != nil {
		return err
	}
	in, err := s.open(gate.Ticks(job.Event), deps)
	if err != nil {
		return exitcode.UsageError(err)
	}
	defer in.Close()
	files := s.Plan
	defer files.Abort()
	if err := files.Begin(gate, doc, &r); err != nil {
		return exitcode.UsageError(err)
	}
	collected, err := gate.Collect(ctx, in)
	if err != nil {
		return err
	}
	if CarriesCode(collected) {
		code, release, err := s.code(ctx, job.Event, conn, deps)
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
	if err := deps.report(rep, &files); err != nil {
		return err
	}
	if rep.Crashed() {
		return &exitcode.Error{Code: exitcode.Failed}
	}
	if !rep.Clean() || verdict != nil && verdict.Failed(owner.Acceptance.RequireCriteria) {
		return exitcode.ErrFindings
	}
	return nil
}

// job returns the workflow run that the user and the environment name.
func (s Submission) job(client *githubapi.Client, deps SubmissionDeps) (Job, error) {
	runner := s.Event.Env(deps.Getenv)
	ev, run, err := action.LoadEvent(runner)
	if err != nil {
		return Job{}, exitcode.UsageError(err)
	}
	if s.DryRun {
		run.Own = "" // a dry run writes nothing, so it need not be distinguished from other runs
	}
	return Job{Event: ev, Run: run, Runner: runner, Getenv: deps.Getenv, Version: deps.Version, Client: client, Files: s.OutputDir, Log: deps.Log}, nil
}

// addOwn reads the documents of earlier jobs, and adds to a request what Airlock itself wants to
// write.
func (s Submission) addOwn(ctx context.Context, gate *Gate, job Job, r *Request, people io.Writer) (doc *checkreport.Document, verdict *verdictreport.Document, err error) {
	if s.Findings != "" {
		if doc, err = readDocument("--findings", s.Findings, checkreport.MaxBytes, gate.ReadFindings, job.Event); err != nil {
			return nil, nil, err
		}
		fmt.Fprintln(people, "Airlock checks: "+doc.Headline())
	}
	if s.Verdict != "" {
		if verdict, err = readDocument("--verdict", s.Verdict, verdictreport.MaxBytes, gate.ReadVerdict, job.Event); err != nil {
			return nil, nil, err
		}
		fmt.Fprintln(people, "Airlock acceptance: "+verdict.Headline())
	}
	notes, err := gate.AddOwn(ctx, job, r, doc, verdict)
	for _, note := range notes {
		fmt.Fprintln(people, gate.OneLine(note))
	}
	return doc, verdict, err
}

// readDocument reads the document of an earlier job that a flag names.
func readDocument[D any](flag, name string, limit int64, read func(io.Reader, string, event.Event) (*D, error), ev event.Event) (doc *D, err error) {
	file, err := action.OpenUserFile(name, nil, limit)
	if err == nil {
		defer file.Close()
		doc, err = read(file, name, ev)
	}
	if err != nil {
		return nil, exitcode.UsageError(fmt.Errorf("%s: %w", flag, err))
	}
	return doc, nil
}

// open opens the agent output for Apply. ticks reports that there are boxes to tick.
func (s Submission) open(ticks bool, deps SubmissionDeps) (io.ReadCloser, error) {
	if s.Input != "" {
		return deps.Open(s.Input)
	}
	if s.Findings != "" || s.Verdict != "" || ticks {
		return io.NopCloser(strings.NewReader("")), nil // there need not be any agent output
	}
	value := action.FirstSet(deps.Getenv, action.AgentOutputVariables())
	if action.IsText(value) {
		return io.NopCloser(strings.NewReader(value)), nil
	}
	return deps.Open(value)
}

// code returns the agent's changes. release, which is never nil, undoes what was set up.
func (s Submission) code(ctx context.Context, ev event.Event, conn Connection, deps SubmissionDeps) (code *apply.Code, release func(), err error) {
	if s.Dir != "" && !action.IsDirectory(s.Dir) {
		return nil, func() {}, exitcode.UsageError(fmt.Errorf("--dir: %s is not a directory: name the clone that contains the agent's changes", s.Dir))
	}
	dir := cmp.Or(s.Dir, deps.Getenv("GITHUB_WORKSPACE"), ".")
	return AgentCode{File: s.Changes, Base: s.ChangesBase, Workspace: dir, PathList: action.PathList(deps.Getenv),
		Exclude: PathsBelow(dir, ".", string(s.OutputDir), s.Input, s.Plan.JSON, s.Plan.Page, s.Changes),
		Open:    func() (io.ReadCloser, error) { return deps.Open(s.Changes) },
	}.LoadClone(ctx, ev, conn, deps.Log)
}

// report writes what became of the submission. A failure to write for a person does not keep the
// results from being written for a program.
func (deps SubmissionDeps) report(rep *report.Report, files *PlanFiles) error {
	err := crash.Try(func() error {
		_ = WriteReport(deps.People, rep, deps.Colour)
		if deps.Out == nil {
			return nil
		}
		return rep.JSON(deps.Out, "  ")
	})
	if err != nil {
		return exitcode.FailedError(fmt.Errorf("the results cannot be written, standard error has them: %w", err))
	}
	if files.Page == "" {
		return nil
	}
	if err := crash.Try(func() error { return files.WritePage(rep) }); err != nil {
		return exitcode.FailedError(fmt.Errorf("--plan-html: the page cannot be written, the results above say what was done: %w", err))
	}
	fmt.Fprintf(deps.People, "\nThe plan as a page: %s\n", text.OneLine(files.Page))
	return nil
}

// Validate judges the file Input without GitHub, by what is known of the workflow run. It shows
// what is wrong with it, and writes docs, the documents that later jobs read. The error carries its
// exit code.
func (s Submission) Validate(ctx context.Context, owner config.SafeOutputs, docs intake.Documents, deps SubmissionDeps) error {
	gate, known, err := s.Rehearse(owner, deps)
	if err != nil {
		return err
	}
	in, err := deps.Open(s.Input)
	if err != nil {
		return exitcode.UsageError(err)
	}
	defer in.Close()
	v, err := gate.Validate(ctx, in, docs, known)
	if err != nil {
		return err
	}
	for _, p := range v.Problems {
		fmt.Fprintln(deps.People, gate.OneLine(p.String()))
	}
	if deps.Out != nil {
		if err := WriteJSON(deps.Out, v); err != nil {
			return exitcode.FailedError(err)
		}
	}
	fmt.Fprintln(deps.People, v.Counts())
	if !v.Valid {
		return exitcode.ErrFindings
	}
	return nil
}

// Rehearse returns a gate that judges without GitHub, and what is known of the workflow run. Input
// does not count as one of the agent's changes. The error carries its exit code.
func (s Submission) Rehearse(owner config.SafeOutputs, deps SubmissionDeps) (gate *Gate, known Rehearsal, err error) {
	repository := OwnRepository(deps.Getenv)
	if runner := s.Event.Env(deps.Getenv); runner.EventPath != "" {
		ev, _, err := action.LoadEvent(runner)
		if err != nil {
			return nil, known, exitcode.UsageError(err)
		}
		repository, known.Event = ev.Repo.FullName(), &ev
		known.Code = func(ctx context.Context, ev event.Event) (*apply.Code, func(), error) {
			return s.code(ctx, ev, Connection{}, deps)
		}
	}
	gate, err = New(EnvironmentConfig(deps.Getenv, owner, repository, s.Strict))
	return gate, known, err
}

// OwnRepository returns the workflow run's repository as owner/name, "" outside of one.
func OwnRepository(getenv func(string) string) string {
	repo, _ := event.ParseRepo(getenv("GITHUB_REPOSITORY"))
	return repo.FullName()
}
