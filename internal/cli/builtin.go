package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agent-airlock/airlock/internal/acceptance"
	"github.com/agent-airlock/airlock/internal/agents"
	"github.com/agent-airlock/airlock/internal/builtin"
	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/verify"
)

// newBuiltIn returns the command by which a worker carries out an agent that is built in,
// as it does any other: parameters on standard input, JSON on standard output. A process
// of its own can be stopped with everything that it started.
func newBuiltIn(env Environment) *cobra.Command {
	var configFile string
	var owner builtin.Owner
	var passEnv []string
	cmd := &cobra.Command{
		Use: "builtin NAME", Short: "Carry out an agent that is built in", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := loadConfig(env, configFile)
			if err != nil {
				return err
			}
			owner.Checks = cfg.Checks
			parameters, err := readParameters(env.Stdin)
			if err == nil {
				parameters, err = owner.Parameters(args[0], parameters)
			}
			if err != nil {
				return exitcode.UsageError(err)
			}
			env.Stdin = bytes.NewReader(parameters)
			switch args[0] {
			case agents.Acceptance:
				return builtInAcceptance(cmd.Context(), env, configFile)
			case agents.FixLoop:
				return builtInLoop(cmd.Context(), env, configFile, parameters, owner, passEnv)
			case agents.PhaseValidation:
				return builtInValidation(cmd.Context(), env, configFile)
			case agents.CollectOutput:
				return builtInCollection(cmd.Context(), env)
			}
			return exitcode.UsageError(fmt.Errorf("there is no agent %q built in", args[0]))
		},
	}
	cmd.Flags().StringVar(&configFile, "config", "", configUsage)
	cmd.Flags().StringVar(&owner.Root, "root", "", "")
	cmd.Flags().StringArrayVar(&owner.Fixers, "fixer", nil, "")
	cmd.Flags().StringSliceVar(&passEnv, "pass-env", nil, "")
	return cmd
}

// maxParameters bounds the parameters of a run, in bytes: a coordinator takes no longer ones.
const maxParameters = 1 << 20

func readParameters(from io.Reader) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(from, maxParameters+1))
	if err != nil || len(raw) > maxParameters {
		return nil, errors.Join(errors.New("the parameters cannot be read, or are too long"), err)
	}
	return raw, nil
}

// builtInValidation is 'airlock check --input -'. A validation that fails is an answer.
func builtInValidation(ctx context.Context, env Environment, configFile string) error {
	var out bytes.Buffer
	answering := env
	answering.Stdout = &out
	err := runCheck(ctx, answering, checkFlags{input: "-", config: configFile, json: true, given: func(string) bool { return false }})
	var exit *exitcode.Error
	if out.Len() == 0 || err != nil && (!errors.As(err, &exit) || exit.Code == exitcode.Failed) {
		return err
	}
	_, err = env.Stdout.Write(out.Bytes())
	return err
}

// builtInAcceptance is 'airlock verify --request -' for a stranger: a command has to be one
// that the owner configured, and an address one that the owner allows (rule R11).
func builtInAcceptance(ctx context.Context, env Environment, configFile string) error {
	f := verifyFlags{request: "-", config: configFile}
	cfg, err := loadConfig(env, configFile)
	if err != nil {
		return err
	}
	gate, err := newGate(env, cfg, false, ownRepository(env))
	if err != nil {
		return err
	}
	req, err := f.readRequest(env, "standard input", "-")
	if err != nil {
		return err
	}
	what, err := f.verifyConfig(req, gate)
	if err != nil {
		return err
	}
	what.Trust = acceptance.Stranger
	response, err := verify.Run(ctx, what, verifyDeps(env, gate))
	if err != nil {
		return err
	}
	raw, err := response.Encode()
	if err != nil {
		return exitcode.FailedError(err)
	}
	_, err = env.Stdout.Write(raw)
	return err
}

// builtInLoop is 'airlock loop start'. A loop that waits for a decision, or did not
// succeed, is an answer.
func builtInLoop(ctx context.Context, env Environment, configFile string, parameters []byte, owner builtin.Owner, passEnv []string) error {
	in, err := builtin.ReadFixLoop(parameters)
	if err != nil {
		return exitcode.UsageError(err)
	}
	line, ok := owner.Fixer(in.Fixer)
	if in.Fixer != "" && !ok {
		return exitcode.UsageError(fmt.Errorf("there is no fixer %q on this machine", in.Fixer))
	}
	var out bytes.Buffer
	answering := env
	answering.Stdout = &out
	f := loopStartFlags{
		loopFlags: loopFlags{issue: in.Issue, repository: in.Repository, dir: in.Directory, store: env.Getenv(builtin.StoreVariable), json: true},
		fixer:     line, base: in.Base, config: configFile, title: in.Title, passEnv: passEnv, iterations: in.MaxIterations,
		fixTime: 30 * time.Minute, checkTime: 30 * time.Minute, grace: 5 * time.Minute,
	}
	f.given = func(flag string) bool {
		return flag == "dir" || flag == "fixer" || flag == "pass-env" || flag == "base" && in.Base != "" || flag == "config" && configFile != ""
	}
	err = startLoop(ctx, answering, f)
	if out.Len() == 0 || err != nil && !errors.Is(err, exitcode.ErrFindings) {
		return err
	}
	_, err = env.Stdout.Write(out.Bytes())
	return err
}

// builtInCollection is 'airlock collect' with the lines and the policy of its parameters.
func builtInCollection(ctx context.Context, env Environment) error {
	var in struct {
		Lines  json.RawMessage
		Policy json.RawMessage
		Strict bool
	}
	if err := json.NewDecoder(env.Stdin).Decode(&in); err != nil {
		return exitcode.UsageError(err)
	}
	var cfg config.SafeOutputs
	if in.Policy != nil {
		var err error
		if cfg, err = config.Parse("policy", in.Policy); err != nil {
			return exitcode.UsageError(err)
		}
	}
	gate, err := newGate(env, cfg, in.Strict, "")
	if err != nil {
		return err
	}
	lines, err := linesOf(in.Lines)
	if err != nil {
		return exitcode.UsageError(err)
	}
	_, err = gate.Write(ctx, lines, intake.Documents{Output: env.Stdout}, true)
	return err
}

// linesOf returns JSON lines that are one text, or a list of objects.
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
