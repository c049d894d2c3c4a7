package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
	"unicode/utf8"

	"github.com/agent-airlock/airlock/internal/agents"
	"github.com/agent-airlock/airlock/internal/exitcode"
)

// NewRun is a run that a user of the command line starts. Errors name its settings as flags.
type NewRun struct {
	Agent      string   // required
	Parameters *string  // a JSON object, "-" for the one on standard input; nil or "" for an empty one
	Prompt     *string  // instead of Parameters, for an agent that takes a prompt
	Needs      []string // as in Request
	Key        string   // as in Request
	Wait       bool     // wait for the run's end, as long as Timeout
	Timeout    time.Duration
}

// Start starts the run. The answer is shown to the user as JSON. It is the run or, if Start has
// waited and the run has completed, the run's result. If the error is an *agents.ParameterError,
// the answer says what is wrong with the parameters. failed reports that the run ended without
// completing.
func (n NewRun) Start(ctx context.Context, to Coordinator, stdin io.Reader) (answer any, failed bool, err error) {
	parameters, err := n.parameters(stdin)
	switch {
	case err != nil:
	case !utf8.Valid(parameters):
		err = errors.New("--parameters: they are not UTF-8, as JSON must be")
	case n.Key != "" && !ValidKey(n.Key):
		err = fmt.Errorf("--idempotency-key: it is not 1 to %d printable ASCII characters", MaxKey)
	}
	if err != nil {
		return nil, false, exitcode.UsageError(err)
	}
	id, err := to.Create(ctx, Request{AgentName: n.Agent, Parameters: parameters, Needs: n.Needs, Key: n.Key})
	if refused, ok := errors.AsType[*agents.ParameterError](err); ok {
		return refused.Body(), false, err
	}
	if err != nil {
		return nil, false, err
	}
	if !n.Wait {
		r, err := to.Get(ctx, id)
		if err != nil {
			return nil, false, err
		}
		return r, false, nil
	}
	waiting, cancel := context.WithTimeout(ctx, n.Timeout)
	defer cancel()
	r, err := await(waiting, to, id)
	if err != nil {
		return nil, false, err
	}
	if r.Status != Completed {
		return r, true, nil
	}
	result, err := to.Result(ctx, id)
	if err != nil {
		return nil, false, err
	}
	return result, false, nil
}

// maxParameters is how large the parameters on standard input may be, in bytes.
const maxParameters = 1 << 20

// parameters returns the run's parameters.
func (n NewRun) parameters(stdin io.Reader) (json.RawMessage, error) {
	switch {
	case n.Prompt != nil && n.Parameters != nil:
		return nil, errors.New("--prompt is a short form of --parameters: give one of them")
	case n.Prompt != nil && !utf8.ValidString(*n.Prompt):
		return nil, errors.New("--prompt: it is not UTF-8")
	case n.Prompt != nil:
		return json.Marshal(map[string]string{"prompt": *n.Prompt})
	case n.Parameters == nil || *n.Parameters == "":
		return json.RawMessage("{}"), nil
	case *n.Parameters == "-":
		raw, err := io.ReadAll(io.LimitReader(stdin, maxParameters+1))
		if err == nil && len(raw) > maxParameters {
			err = fmt.Errorf("--parameters: they are larger than %d bytes", maxParameters)
		}
		return raw, err
	}
	return json.RawMessage(*n.Parameters), nil
}
