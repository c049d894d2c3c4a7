package builtin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/acceptance"
	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/agents"
	"github.com/agent-airlock/airlock/internal/checks"
	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/doors"
	"github.com/agent-airlock/airlock/internal/engine"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/fixloop"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/loopwork"
	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/verify"
)

// Run is one run of an agent that is built in. Like any other agent, it reads its parameters from
// standard input and writes JSON to standard output. It has a process of its own, so a worker can
// stop it together with every process that it started.
type Run struct {
	Agent   string   // required
	Owner   Owner    // required; Do sets its Checks to those of the policy
	Policy  string   // the file of the owner's configuration; "" for the usual one
	PassEnv []string // the variables that a fixer gets
}

// Deps are what a run needs of the process.
type Deps struct {
	Stdin   io.Reader           // required
	Stdout  io.Writer           // required; the answer
	Stderr  io.Writer           // required; the log, for people
	Getenv  func(string) string // required
	Environ []string            // required: the entire environment
	// Gate returns both doors, as the owner configures them in a file, "" for the usual one. It is
	// required; its errors carry their exit code.
	Gate    func(policy string) (*doors.Gate, error)
	Version string
}

// work is a run with its dependencies, doors and parameters.
type work struct {
	Run
	Deps
	gate       *doors.Gate
	parameters []byte
}

// Do carries the run out. Its error carries its exit code, unless Stdout could not be written.
func (r Run) Do(ctx context.Context, deps Deps) error {
	gate, err := deps.Gate(r.Policy)
	if err != nil {
		return err
	}
	r.Owner.Checks = gate.SafeOutputs().Checks
	parameters, err := readParameters(deps.Stdin)
	if err == nil {
		parameters, err = r.Owner.Parameters(r.Agent, parameters)
	}
	if err != nil {
		return exitcode.UsageError(err)
	}
	w := work{r, deps, gate, parameters}
	switch r.Agent {
	case agents.Acceptance:
		return w.verify(ctx)
	case agents.FixLoop:
		return w.loop(ctx)
	case agents.PhaseValidation:
		return w.validate(ctx)
	case agents.CollectOutput:
		return w.collect(ctx)
	}
	return exitcode.UsageError(fmt.Errorf("there is no agent %q built in", r.Agent))
}

// maxParameters bounds the parameters of a run, in bytes, as a coordinator does.
const maxParameters = 1 << 20

func readParameters(from io.Reader) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(from, maxParameters+1))
	if err != nil || len(raw) > maxParameters {
		return nil, errors.Join(errors.New("the parameters cannot be read, or are too long"), err)
	}
	return raw, nil
}

func (w work) log(line string) { fmt.Fprintf(w.Stderr, "airlock: %s\n", line) }

// checkDeps returns the dependencies of the checks.
func (w work) checkDeps() checks.Deps {
	return checks.Deps{Getenv: w.Getenv, Environ: w.Environ, Scanner: w.gate.Scanner(), Log: w.log}
}

// validate does what 'airlock check --input -' does. The answer is a validation, whether it passed
// or failed, or the reason why the input cannot be validated.
func (w work) validate(ctx context.Context) error {
	var out bytes.Buffer
	err := w.answer(ctx, checks.Answer{Gate: w.gate, People: w.Stderr, Output: &out, Refuse: &out})
	exit, ok := errors.AsType[*exitcode.Error](err)
	if out.Len() == 0 || err != nil && (!ok || exit.Code == exitcode.Failed) {
		return err
	}
	_, err = w.Stdout.Write(out.Bytes())
	return err
}

func (w work) answer(ctx context.Context, a checks.Answer) error {
	in, err := phase.ReadInput(w.parameters)
	if err != nil {
		return a.Write(nil, false, err)
	}
	request := checks.Request{Input: checks.CompleteInput(in, w.Owner.Checks), Listed: true, Checks: w.Owner.Checks, Runner: action.Snapshot(w.Getenv), Version: w.Version}
	return a.Write(request.Validate(ctx, w.checkDeps(), func() *checks.Progress {
		return checks.StartProgress(w.Stderr, w.gate.OneLine, func() int { return 0 })
	}))
}

// verify does what 'airlock verify --request -' does for a stranger: it runs only commands that the
// owner configured, and uses only addresses that the owner allows (rule R11).
func (w work) verify(ctx context.Context) error {
	req, err := acceptance.ReadRequest(w.parameters)
	if err != nil {
		return verify.Refuse(err, w.gate.Scanner().Mask, w.Stdout, w.Stderr)
	}
	dir, err := verify.Directory("", req)
	if err != nil {
		return err
	}
	cfg := w.gate.SafeOutputs()
	response, err := verify.Run(ctx, verify.Config{Request: req, Trust: acceptance.Stranger, Dir: dir, Acceptance: cfg.Acceptance, Checks: cfg.Checks}, verify.NewDeps(w.checkDeps(), w.gate))
	if err != nil {
		return err
	}
	raw, err := response.Encode()
	if err != nil {
		return exitcode.FailedError(err)
	}
	_, err = w.Stdout.Write(raw)
	return err
}

// loop does what 'airlock loop start' does. A loop that waits for a decision, or did not
// succeed, is not an error.
func (w work) loop(ctx context.Context) error {
	in, err := ReadFixLoop(w.parameters)
	if err != nil {
		return exitcode.UsageError(err)
	}
	line, ok := w.Owner.Fixer(in.Fixer)
	if in.Fixer != "" && !ok {
		return exitcode.UsageError(fmt.Errorf("there is no fixer %q on this machine", in.Fixer))
	}
	const limit = 30 * time.Minute
	start := loopwork.Start{
		Key: loopwork.Key{Issue: int(in.Issue), Repository: in.Repository, Store: w.Getenv(StoreVariable)}, Title: in.Title,
		Limits: fixloop.Limits{Iterations: int(in.MaxIterations), Fix: limit, Validation: limit, Grace: 5 * time.Minute},
		Given:  loopwork.Given{Dir: &in.Directory, Fixer: &line, PassEnv: &w.PassEnv},
	}
	if in.Base != "" {
		start.Given.Base = &in.Base
	}
	if w.Policy != "" {
		start.Given.Policy = &w.Policy
	}
	status, err := start.Run(ctx, loopwork.Deps{Getenv: w.Getenv, Environ: w.Environ, Gate: w.Deps.Gate, Version: w.Version,
		Progress: w.Stderr, Log: engine.ErrorLog(w.Stderr), Refuse: io.Discard})
	if err != nil {
		return err
	}
	return doors.WriteJSON(w.Stdout, status.Document())
}

// collect does what 'airlock collect' does with the lines and the policy of the parameters.
func (w work) collect(ctx context.Context) error {
	var in struct {
		Lines  json.RawMessage
		Policy json.RawMessage
		Strict bool
	}
	if err := json.Unmarshal(w.parameters, &in); err != nil {
		return exitcode.UsageError(err)
	}
	var cfg config.SafeOutputs
	if in.Policy != nil {
		var err error
		if cfg, err = config.Parse("policy", in.Policy); err != nil {
			return exitcode.UsageError(err)
		}
	}
	gate, err := doors.New(doors.EnvironmentConfig(w.Getenv, cfg, "", in.Strict))
	if err != nil {
		return err
	}
	lines, err := linesOf(in.Lines)
	if err != nil {
		return exitcode.UsageError(err)
	}
	_, err = gate.Write(ctx, lines, intake.Documents{Output: w.Stdout}, true)
	return err
}

// linesOf returns JSON lines that are given as one text or as a list of objects.
func linesOf(raw json.RawMessage) (io.Reader, error) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return strings.NewReader(text), nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	for _, item := range list {
		if err := json.Compact(&b, item); err != nil {
			return nil, err
		}
		b.WriteByte('\n')
	}
	return &b, nil
}
