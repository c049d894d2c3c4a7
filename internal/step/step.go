// Package step is the container's entry: what the runner gives a step of a workflow, and
// what it gets back.
package step

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/crash"
	"github.com/agent-airlock/airlock/internal/doors"
	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/loopturn"
	"github.com/agent-airlock/airlock/internal/report"
	"github.com/agent-airlock/airlock/internal/token"
)

// Deps are the parts of the process that a step works with.
type Deps struct {
	Stdout  io.Writer           // required: the log of the workflow run
	Getenv  func(string) string // required
	Environ []string            // required: the entire environment, for programs that are started
	Secrets action.Secrets      // required: what was taken out of the environment
	Version string              // required: Airlock's own
	Image   Image
}

// Image is the image that a step runs in. It implements pflag.Value.
type Image string

// The images.
const (
	NoImage     Image = "" // the binary alone
	ImageChecks Image = "checks"
	ImageGate   Image = "gate" // without the toolchains of the checks
)

// String implements pflag.Value.
func (i *Image) String() string { return string(*i) }

// Set implements pflag.Value.
func (i *Image) Set(name string) error {
	switch *i = Image(name); *i {
	case ImageChecks, ImageGate:
		return nil
	}
	return errors.New("expected checks or gate")
}

// Type implements pflag.Value.
func (i *Image) Type() string { return "image" }

// Run runs the step in the mode that the input mode names. The error carries the step's exit
// code alone; the reason for it has been reported already.
func Run(ctx context.Context, deps Deps) error {
	env := action.Snapshot(deps.Getenv)
	s := &step{deps: deps, env: env, runner: action.NewRunner(env, deps.Stdout)}
	defer s.runner.Finish()
	err := crash.Try(func() error { return s.run(ctx) })
	if err == nil {
		return nil
	}
	exit, ok := errors.AsType[*exitcode.Error](err)
	if !ok {
		exit = &exitcode.Error{Code: exitcode.Failed, Err: err}
	}
	if exit.Err != nil {
		s.reportStop(exit.Err)
	}
	return &exitcode.Error{Code: exit.Code}
}

// step is one step of a workflow, and what it works with.
type step struct {
	deps     Deps
	env      action.Env
	runner   *action.Runner
	conceal  func(text string) string // masks secrets; nil until they are known
	reported bool                     // the results of the items are in the log and the summary
	checked  bool                     // the results of the checks are

	settings  config.Settings
	workspace *action.Dir
	event     event.Event
	eventRun  event.Run
	conn      doors.Connection
	client    *githubapi.Client // nil without a token
	git       *doors.LocalGit   // nil without a clone
	gate      *doors.Gate
	loops     *loopturn.LogStore // nil until it is needed
	out       *outputDir
}

func (s *step) run(ctx context.Context) error {
	defer s.close()
	if err := s.open(ctx); err != nil {
		return err
	}
	if err := s.emptyOutputs(); err != nil {
		return err
	}
	verdict, err := s.readVerdict()
	if err != nil {
		return err
	}
	if s.settings.Mode == config.ModeCollect {
		return s.collect(ctx)
	}
	if s.settings.Mode == config.ModeVerify {
		return s.verify(ctx)
	}
	if s.settings.Mode == config.ModeLoop {
		return s.loop(ctx, verdict)
	}
	doc, err := s.findings(ctx)
	if err != nil || s.settings.Mode == config.ModeCheck {
		return s.withChecks(doc, err)
	}
	return s.withChecks(doc, s.apply(ctx, doc, verdict))
}

// emptyOutputs sets the outputs of a loop and of a verdict to "" if the step has none, so that
// they are set in every mode.
func (s *step) emptyOutputs() error {
	var names []string
	if s.settings.Mode != config.ModeLoop {
		names = append(names, "loop-status", "loop-outcome", "fix-request")
	}
	if s.settings.Mode != config.ModeVerify && s.settings.Verdict == "" {
		names = append(names, "verdict", "verdict-file")
	}
	return s.setEmpty(names...)
}

// open reads the step's inputs and sets up what it works with; close undoes it, also
// after an error.
func (s *step) open(ctx context.Context) (err error) {
	tok, further := s.maskSecrets()
	scanner := doors.NewScanner(tok, "the input secrets", further)
	s.conceal = scanner.Mask
	if err := config.CheckInputs(action.InputNames(s.deps.Environ), s.deps.Image != NoImage); err != nil {
		return exitcode.UsageError(err)
	}
	if s.settings, err = config.ParseSettings(s.env.Inputs.Text); err != nil {
		return exitcode.UsageError(err)
	}
	if s.workspace, err = action.OpenDir(s.env.Workspace); err != nil {
		return exitcode.UsageError(fmt.Errorf("the workspace: %w", err))
	}
	s.env.Event.JobName, s.env.Event.CheckRunID = s.settings.Name, s.settings.CheckRunID
	s.env.Event.Orchestration = s.deps.Secrets.Orchestration()
	if s.event, s.eventRun, err = action.LoadEvent(s.env); err != nil {
		return exitcode.UsageError(err)
	}
	if s.conn, err = s.connection(tok); err != nil {
		return err
	}
	if s.client, err = s.conn.Client(); err != nil {
		return err
	}
	s.git = doors.OpenLocalGit(ctx, s.env.Workspace, action.PathList(s.deps.Getenv), s.event, s.debug)
	cfg, err := s.policy(ctx)
	if err != nil {
		return err
	}
	if s.gate, err = doors.New(doors.Config{SafeOutputs: cfg, Secrets: scanner, ServerHost: doors.ServerHost(s.deps.Getenv), Strict: s.settings.Strict, Repository: s.event.Repo.FullName(), Page: true}); err != nil {
		return err
	}
	if ignored := doors.IgnoredSecrets(s.gate.Scanner()); ignored != "" {
		s.warn(ignored)
	}
	if s.out, err = openOutputDir(s.workspace); err != nil {
		return exitcode.FailedError(fmt.Errorf("the step keeps its files in the workspace: %w", err))
	}
	return nil
}

func (s *step) close() {
	s.git.Close()
	if s.workspace != nil {
		_ = s.workspace.Close() // all files that were written below it are closed already
	}
}

// maskSecrets has the runner mask the step's secrets, and returns them.
func (s *step) maskSecrets() (tok token.Token, further []string) {
	secret, _ := s.deps.Secrets.Token()
	tok = token.New(secret, s.env.APIURL)
	s.runner.Mask(tok)
	further = s.deps.Secrets.Further()
	if v := s.deps.Secrets.Loop(); v != "" {
		further = append(further, v)
	}
	for _, v := range further {
		s.runner.Mask(token.New(v, s.env.APIURL))
	}
	return tok, further
}

// connection returns how GitHub is reached.
func (s *step) connection(tok token.Token) (doors.Connection, error) {
	c := doors.Connection{Token: tok, APIURL: s.env.APIURL, GraphQLURL: s.env.GraphQLURL, UserAgent: "airlock/" + s.deps.Version, Log: s.info}
	if s.settings.Proxy != nil {
		c.Proxy = s.settings.Proxy.String()
	}
	if s.settings.CAFile != "" {
		pem, err := s.workspace.Read(s.settings.CAFile, doors.MaxCertificates)
		if err != nil {
			return c, exitcode.UsageError(fmt.Errorf("input ca-file: %w", err))
		}
		c.CAFile = pem
	}
	if s.settings.TrustEnv {
		if err := c.TrustEnvironment(s.deps.Getenv); err != nil {
			return c, exitcode.UsageError(err)
		}
	}
	return c, nil
}

// repo returns the repository that the event is about.
func (s *step) repo() githubapi.Repo {
	return githubapi.Repo{Owner: s.event.Repo.Owner, Name: s.event.Repo.Name, ID: s.event.Repo.ID}
}

// remote returns the repository's own git remote: at the address that GitHub names or,
// without a token, at its usual address.
func (s *step) remote(ctx context.Context) (*gitrepo.Remote, error) {
	url := strings.TrimRight(cmp.Or(s.env.ServerURL, "https://github.com"), "/") + "/" + s.event.Repo.FullName() + ".git"
	if s.client != nil {
		repo, err := s.client.GetRepo(ctx, s.repo())
		if err != nil {
			return nil, exitcode.FailedError(err)
		}
		url = repo.CloneURL
	}
	return s.conn.Remote(url)
}

// reportStop reports why the step stopped: in the log and, unless the results of the items were
// reported before, in the summary.
func (s *step) reportStop(err error) {
	why := s.mask(exitcode.Explain(err))
	s.runner.Annotate(action.Annotation{Level: action.Error, Title: "Airlock stopped", Message: why})
	if s.reported {
		return
	}
	nothing := "Nothing was applied.\n\n"
	switch {
	case s.settings.Mode == config.ModeCheck && s.checked:
		// The reviews ran and were reported. A mistake in the input stopped the other checks.
		nothing = ""
	case s.settings.Mode == config.ModeCheck:
		nothing = "Nothing was checked.\n\n"
	case s.settings.Mode == config.ModeVerify:
		nothing = "Nothing was verified.\n\n"
	case s.settings.Mode == config.ModeLoop:
		nothing = "The fix loop has not moved.\n\n"
	}
	s.addSummary("## Airlock stopped\n\n" + nothing + report.PlainBlock(why))
}
