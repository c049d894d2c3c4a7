package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/agent-airlock/airlock/internal/acceptance"
	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/checks"
	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/doors"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/verify"
)

type verifyFlags struct {
	request, dir, base, config, evidence string
	validator, browser, judge            string
	hosts, passEnv                       []string
	envelope                             string
	allowCredentials                     bool
	dispatch, response, store            string
	pending                              bool

	given func(flag string) bool
}

func newVerify(env Environment) *cobra.Command {
	var f verifyFlags
	cmd := &cobra.Command{
		Use:   "verify --request FILE|-  (or --dispatch, --response, --pending)",
		Short: "Verify acceptance criteria, with evidence and a verdict",
		Long: `Verify the acceptance criteria of a validation request, and answer with a verdict.

The request is JSON ('airlock schema validation-request'): as it is, as a JSON
string, in the first fenced block of a text, or in the content of a message. What a
criterion's hint asks for is evaluated by machine:

  docs/guide.md                     the path exists, also as "Check docs/guide.md";
                                    the last parts of a path are enough
  README.md contains "Usage"        the file contains the text
  $ make smoke                      the command ends with exit code 0
  GET https://example.com -> 200    the address answers with the status
  check:linter                      one of the six checks passes
  test:TestLogin                    the tests of that name pass

Several may stand in one sentence. A path alone counts only where the hint is
nothing else. Every other hint is for the validator (--validator), a command that
reads the request from standard input and prints a response; without one, the
criterion is BLOCKED. Requests of the type browser or both need --browser.

Commands run where 'airlock check' runs them. Private addresses are refused unless
--allow-host names their host. Claims of the request are checked: files against what
the branch changes, the commit against the branch, tests by running them again.

Where the validator is elsewhere, --dispatch stores a request and prints it with a
dispatch_id, and --response takes the answer: it is refused if nothing was dispatched
for its task (2), and if an answer stands already (2); one that comes late, or is
about another commit, is kept and not applied (1). --pending lists all dispatches,
and ends with 1 if an answer is missing.

The response goes to standard output ('airlock schema validation-response').
Exit codes: 0 for the verdict PASS, 1 for any other one or a gate that does not let
pass, 2 for an invalid request (its violations go to standard output), 3 if Airlock
itself failed.`,
		Example: `  airlock verify --request request.json --evidence evidence
  airlock verify --request - --validator './validate' < message.txt
  airlock verify --request request.json --dir . --envelope team-lead`,
		Args: cobra.NoArgs,
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		f.given = cmd.Flags().Changed
		return f.run(cmd.Context(), env)
	}
	flags := cmd.Flags()
	flags.StringVar(&f.request, "request", "", "the validation request; - is standard input")
	flags.StringVar(&f.dispatch, "dispatch", "", "store this validation request as sent to a validator; - is standard input")
	flags.StringVar(&f.response, "response", "", "take this validation response to a dispatched request; - is standard input")
	flags.BoolVar(&f.pending, "pending", false, "list the dispatched requests and their answers")
	flags.StringVar(&f.store, "store", ".airlock/dispatches", "the directory of dispatched requests")
	flags.StringVar(&f.dir, "dir", "", "the work tree (default: the request's worktree_path, else the current directory)")
	flags.StringVar(&f.base, "base", "", "the branch, tag or commit to compare with, for claims (default: the default branch)")
	flags.StringVar(&f.config, "config", "", configUsage)
	flags.StringVar(&f.evidence, "evidence", "", "keep evidence as files in this directory")
	flags.StringVar(&f.validator, "validator", "", "the command that judges what no machine can")
	flags.StringVar(&f.browser, "browser", "", "the command that judges by looking at the application in a browser")
	flags.StringVar(&f.judge, "judge", "", "the command that has the last word on the verdict PASS")
	flags.StringSliceVar(&f.passEnv, "pass-env", nil, "names of variables that these three commands get in addition to the usual ones")
	flags.StringSliceVar(&f.hosts, "allow-host", nil, "a host, or host:port, that may be asked although its address is private")
	flags.StringVar(&f.envelope, "envelope", "", "answer in a message to this recipient")
	flags.Lookup("envelope").NoOptDefVal = acceptance.DefaultRecipient
	flags.BoolVar(&f.allowCredentials, "allow-credentials", false, "on a runner, run commands although they can use the job's credentials")
	return cmd
}

// run does the one thing that the flags ask for.
func (f verifyFlags) run(ctx context.Context, env Environment) error {
	asked := 0
	for _, given := range []bool{f.request != "", f.dispatch != "", f.response != "", f.pending} {
		if given {
			asked++
		}
	}
	switch {
	case asked == 0:
		return exitcode.UsageError(errors.New("--request is missing: name the file with the validation request, or - for standard input"))
	case asked > 1:
		return exitcode.UsageError(errors.New("--request, --dispatch, --response and --pending exclude each other: give one of them"))
	case f.pending:
		return f.listPending(env)
	}
	cfg, err := loadConfig(env, f.config)
	if err != nil {
		return err
	}
	if cfg.Acceptance, err = f.override(cfg.Acceptance); err != nil {
		return exitcode.UsageError(err)
	}
	gate, err := newGate(env, cfg, false, ownRepository(env))
	if err != nil {
		return err
	}
	switch {
	case f.dispatch != "":
		return f.send(env)
	case f.response != "":
		return f.receive(ctx, env, gate)
	}
	return f.verify(ctx, env, gate)
}

// verify verifies a request.
func (f verifyFlags) verify(ctx context.Context, env Environment, gate *doors.Gate) error {
	req, err := f.readRequest(env, "--request", f.request)
	if err != nil {
		return err
	}
	what, err := f.verifyConfig(req, gate)
	if err != nil {
		return err
	}
	response, err := verify.Run(ctx, what, verifyDeps(env, gate))
	if err != nil {
		return err
	}
	return f.answer(env, gate, response)
}

// verifyConfig returns what a verification is about.
func (f verifyFlags) verifyConfig(req acceptance.Request, gate *doors.Gate) (verify.Config, error) {
	dir, err := verify.Directory(f.dir, req)
	cfg := gate.SafeOutputs()
	return verify.Config{Request: req, Trust: acceptance.Owner, Dir: dir, Acceptance: cfg.Acceptance, Checks: cfg.Checks, Evidence: f.evidence,
		Changes: checks.ChangeSource{Base: f.base}, AllowCredentials: f.allowCredentials}, err
}

// verifyDeps returns what a verification needs of the process.
func verifyDeps(env Environment, gate *doors.Gate) verify.Deps {
	return verify.NewDeps(checkDeps(env, gate), action.PathList(env.Getenv), gate)
}

// readRequest reads a request, and answers one that is not valid.
func (f verifyFlags) readRequest(env Environment, flag, name string) (acceptance.Request, error) {
	message, err := readMessage(env, flag, name)
	if err != nil {
		return acceptance.Request{}, err
	}
	req, err := acceptance.ReadRequest(message)
	if err != nil {
		return req, verify.Refuse(err, env.Stdout, env.Stderr)
	}
	return req, nil
}

// override replaces the configuration's settings by the flags that were given.
func (f verifyFlags) override(a config.Acceptance) (config.Acceptance, error) {
	err := overrideCommands(f.given, []commandFlag{{"validator", f.validator, &a.Validator}, {"browser", f.browser, &a.Browser}, {"judge", f.judge, &a.Judge}})
	if err != nil {
		return a, err
	}
	for _, host := range f.hosts {
		if err := config.CheckHost(host); err != nil {
			return a, fmt.Errorf("--allow-host: %q %w", host, err)
		}
	}
	for _, name := range f.passEnv {
		if err := config.CheckProgramVariable(name); err != nil {
			return a, fmt.Errorf("--pass-env: %q %w", name, err)
		}
	}
	a.Hosts, a.PassEnv = slices.Concat(a.Hosts, f.hosts), slices.Concat(a.PassEnv, f.passEnv)
	return a, nil
}

// readMessage reads what a flag names, at most as much as a message may have.
func readMessage(env Environment, flag, name string) ([]byte, error) {
	raw, err := readInput(env, name, acceptance.MaxMessage)
	if err != nil {
		return nil, exitcode.UsageError(fmt.Errorf("%s: %w", flag, err))
	}
	return raw, nil
}

// answer writes the response for a program, and what matters of it for a person.
func (f verifyFlags) answer(env Environment, gate *doors.Gate, r acceptance.Response) error {
	raw, err := r.EncodeIn(f.envelope)
	if err != nil {
		return exitcode.FailedError(err)
	}
	r.Text(env.Stderr, gate.TerminalText().Line)
	if _, err := env.Stdout.Write(raw); err != nil {
		return err
	}
	if !r.Passed() {
		return exitcode.ErrFindings
	}
	return nil
}
