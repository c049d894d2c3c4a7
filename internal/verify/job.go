package verify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/agent-airlock/airlock/internal/acceptance"
	"github.com/agent-airlock/airlock/internal/checks"
	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/doors"
	"github.com/agent-airlock/airlock/internal/exitcode"
)

// Job is what a user of the command line asks for: to verify a request here, to exchange one with a
// validator elsewhere, or to list what was exchanged. Errors name its settings as flags.
type Job struct {
	// One of these is given. A file "-" is standard input.
	Request  string // verifies the validation request of this file
	Dispatch string // stores the validation request of this file as sent, and prints it
	Response string // receives the validation response of this file to a dispatched request
	Pending  bool   // lists the dispatched requests

	Policy   string // the file of the owner's configuration; "" for the usual one
	Store    string // the directory of dispatched requests
	Dir      string // the work tree; "" for the request's, or the current directory
	Base     string // a revision to compare with; "" for the default branch
	Evidence string // the directory for evidence; "" keeps none
	Envelope string // the recipient of the message that is printed; "" prints its content alone

	Validator, Browser, Judge *string  // commands; nil leaves them as the owner configures them
	Hosts, PassEnv            []string // in addition to the owner's
	AllowCredentials          bool
}

// JobDeps are what a Job needs of the process; all of them are required.
type JobDeps struct {
	checks.Deps // without Scanner
	// Gate returns both doors as the owner configures them in a file; "" is the usual one. Its
	// errors carry their exit code.
	Gate func(policy string) (*doors.Gate, error)
	// Read reads at most limit bytes of a file that the user names, and one more; "-" is standard
	// input.
	Read        func(name string, limit int64) ([]byte, error)
	Out, People io.Writer
}

// running is a job that is carried out.
type running struct {
	Job
	JobDeps
	gate       *doors.Gate
	acceptance config.Acceptance // the owner's, as the user overrides it
}

// Run does what the job asks for, and answers. Its error carries its exit code, unless it is that of
// a write to deps.Out.
func (j Job) Run(ctx context.Context, deps JobDeps) error {
	asked := 0
	for _, given := range []bool{j.Request != "", j.Dispatch != "", j.Response != "", j.Pending} {
		if given {
			asked++
		}
	}
	r := running{Job: j, JobDeps: deps}
	switch {
	case asked == 0:
		return exitcode.UsageError(errors.New("--request is missing: name the file with the validation request, or - for standard input"))
	case asked > 1:
		return exitcode.UsageError(errors.New("--request, --dispatch, --response and --pending exclude each other: give one of them"))
	case j.Pending:
		return r.list()
	}
	var err error
	if r.gate, err = deps.Gate(j.Policy); err != nil {
		return err
	}
	if r.acceptance, err = j.override(r.gate.SafeOutputs().Acceptance); err != nil {
		return exitcode.UsageError(err)
	}
	switch {
	case j.Dispatch != "":
		return r.dispatch()
	case j.Response != "":
		return r.receive(ctx)
	}
	return r.verify(ctx)
}

// override returns the owner's configuration, in which the user's commands replace the owner's. The
// user's hosts and variables are added.
func (j Job) override(a config.Acceptance) (config.Acceptance, error) {
	for _, command := range []struct {
		flag           string
		setting, given *string
	}{{"validator", &a.Validator, j.Validator}, {"browser", &a.Browser, j.Browser}, {"judge", &a.Judge, j.Judge}} {
		if err := checks.OverrideCommand(command.setting, command.flag, command.given); err != nil {
			return a, err
		}
	}
	for _, host := range j.Hosts {
		if err := config.CheckHost(host); err != nil {
			return a, fmt.Errorf("--allow-host: %q %w", host, err)
		}
	}
	for _, name := range j.PassEnv {
		if err := config.CheckProgramVariable(name); err != nil {
			return a, fmt.Errorf("--pass-env: %q %w", name, err)
		}
	}
	a.Hosts, a.PassEnv = slices.Concat(a.Hosts, j.Hosts), slices.Concat(a.PassEnv, j.PassEnv)
	return a, nil
}

// verify verifies a request.
func (r running) verify(ctx context.Context) error {
	req, err := r.request("--request", r.Request)
	if err != nil {
		return err
	}
	cfg, err := r.config(req)
	if err != nil {
		return err
	}
	response, err := Run(ctx, cfg, r.deps())
	if err != nil {
		return err
	}
	return r.answer(response)
}

// dispatch stores a request as dispatched, and prints it for the validator.
func (r running) dispatch() error {
	req, err := r.request("--dispatch", r.Dispatch)
	if err != nil {
		return err
	}
	dispatches, err := OpenDispatches(r.Store)
	if err != nil {
		return err
	}
	dir, err := Directory(r.Dir, req)
	if err != nil {
		return err
	}
	d, err := dispatches.Add(req, Head(Config{Request: req, Dir: dir}), time.Now())
	if err != nil {
		return exitcode.FailedError(explainFull(fmt.Errorf("the dispatch cannot be stored: %w", err)))
	}
	fmt.Fprintf(r.People, "airlock: dispatched as %s; an answer is due at %s\n", d.ID, d.Due.Format(time.RFC3339))
	message, err := d.EncodeIn(r.Envelope)
	if err != nil {
		return exitcode.FailedError(err)
	}
	_, err = r.Out.Write(message)
	return err
}

// receive takes the answer to a dispatched request.
func (r running) receive(ctx context.Context) error {
	message, err := ReadMessage(r.Read, "--response", r.Response)
	if err != nil {
		return err
	}
	response, err := acceptance.ReadResponse(message)
	if err != nil {
		return Refuse(err, r.gate.Scanner().Mask, r.Out, r.People)
	}
	dispatches, err := OpenDispatches(r.Store)
	if err != nil {
		return err
	}
	if response, err = dispatches.Receive(ctx, response, r.config, r.deps()); err != nil {
		return Refuse(err, r.gate.Scanner().Mask, r.Out, r.People)
	}
	return r.answer(response)
}

// list prints all dispatches and what has become of them. It returns exitcode.ErrFindings if an
// answer did not come in time.
func (r running) list() error {
	dispatches, err := OpenDispatches(r.Store)
	if err != nil {
		return err
	}
	states, err := dispatches.States(time.Now())
	if err != nil {
		return exitcode.UsageError(fmt.Errorf("--store: %w", err))
	}
	if err := doors.WriteJSON(r.Out, map[string]any{"dispatches": states}); err != nil {
		return err
	}
	missing := false
	for _, s := range states {
		if s.Missing {
			missing = true
			fmt.Fprintf(r.People, "airlock: %s: no answer came by %s, so the task is %s: dispatch the request again\n", s.ID, s.Due.Format(time.RFC3339), acceptance.VerdictBlocked)
		}
	}
	if missing {
		return exitcode.ErrFindings
	}
	return nil
}

// config returns what a verification is about.
func (r running) config(req acceptance.Request) (Config, error) {
	dir, err := Directory(r.Dir, req)
	return Config{Request: req, Trust: acceptance.Owner, Dir: dir, Acceptance: r.acceptance, Checks: r.gate.SafeOutputs().Checks, Evidence: r.Evidence,
		Changes: checks.ChangeSource{Base: r.Base}, AllowCredentials: r.AllowCredentials}, err
}

// deps returns what a verification needs of the process.
func (r running) deps() Deps {
	deps := r.JobDeps.Deps
	deps.Scanner = r.gate.Scanner()
	return NewDeps(deps, r.gate)
}

// request reads a validation request. If it is not valid, request reports the violations: see Refuse.
func (r running) request(flag, name string) (acceptance.Request, error) {
	message, err := ReadMessage(r.Read, flag, name)
	if err != nil {
		return acceptance.Request{}, err
	}
	req, err := acceptance.ReadRequest(message)
	if err != nil {
		return req, Refuse(err, r.gate.Scanner().Mask, r.Out, r.People)
	}
	return req, nil
}

// answer writes the response as JSON to Out, and a summary for a person to People. It returns
// exitcode.ErrFindings unless the response has passed.
func (r running) answer(response acceptance.Response) error {
	raw, err := response.EncodeIn(r.Envelope)
	if err != nil {
		return exitcode.FailedError(err)
	}
	response.Text(r.People, r.gate.TerminalText().Line)
	if _, err := r.Out.Write(raw); err != nil {
		return err
	}
	if !response.Passed() {
		return exitcode.ErrFindings
	}
	return nil
}
