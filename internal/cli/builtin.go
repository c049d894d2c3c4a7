package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agent-airlock/airlock/internal/acceptance"
	"github.com/agent-airlock/airlock/internal/agents"
	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/schema"
	"github.com/agent-airlock/airlock/internal/verify"
)

// newBuiltIn returns the command by which a worker carries out an agent that is built in,
// as it does any other: parameters on standard input, JSON on standard output. A process
// of its own can be stopped with everything that it started.
func newBuiltIn(env Environment) *cobra.Command {
	var configFile, root string
	var fixers, passEnv []string
	cmd := &cobra.Command{
		Use: "builtin NAME", Short: "Carry out an agent that is built in", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			parameters, err := workerParameters(env, args[0], configFile, root, fixers)
			if err != nil {
				return err
			}
			env.Stdin = bytes.NewReader(parameters)
			switch args[0] {
			case agents.Acceptance:
				return builtInAcceptance(cmd.Context(), env, configFile)
			case agents.FixLoop:
				return builtInLoop(cmd.Context(), env, configFile, fixers, passEnv)
			case agents.PhaseValidation:
				return builtInValidation(cmd.Context(), env, configFile)
			case agents.CollectOutput:
				return builtInCollection(cmd.Context(), env)
			}
			return exitcode.UsageError(fmt.Errorf("there is no agent %q built in", args[0]))
		},
	}
	cmd.Flags().StringVar(&configFile, "config", "", configUsage)
	cmd.Flags().StringVar(&root, "root", "", "")
	cmd.Flags().StringArrayVar(&fixers, "fixer", nil, "")
	cmd.Flags().StringSliceVar(&passEnv, "pass-env", nil, "")
	return cmd
}

// maxParameters bounds the parameters of a run, in bytes: a coordinator takes no longer ones.
const maxParameters = 1 << 20

// directoryMember is the parameter that names a directory, by the agent.
var directoryMember = map[string]string{agents.Acceptance: "worktree_path", agents.FixLoop: "directory", agents.PhaseValidation: "working_directory"}

// workerParameters returns the parameters of a run, held against this worker's own rules: the
// coordinator that accepted them may have others, and what a path leads to may have changed
// since. Every symbolic link in the directory is followed once, here.
func workerParameters(env Environment, agent, configFile, root string, fixers []string) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(env.Stdin, maxParameters+1))
	if err != nil || len(raw) > maxParameters {
		return nil, exitcode.UsageError(errors.Join(errors.New("the parameters cannot be read, or are too long"), err))
	}
	owner, err := loadConfig(env, configFile)
	if err != nil {
		return nil, err
	}
	var violations []schema.Violation
	if rule := builtInRules(places{root: root}, fixers, owner)[agent]; rule != nil {
		violations = rule(raw)
	}
	if len(violations) > 0 {
		return nil, exitcode.UsageError(fmt.Errorf("this worker does not carry it out: %s: %s", violations[0].Path, violations[0].Message))
	}
	member := directoryMember[agent]
	var parameters map[string]json.RawMessage
	var dir string
	if json.Unmarshal(raw, &parameters) != nil || json.Unmarshal(parameters[member], &dir) != nil || dir == "" {
		return raw, nil // there is no directory
	}
	if dir, err = filepath.EvalSymlinks(dir); err == nil {
		parameters[member], err = json.Marshal(dir)
	}
	if err == nil {
		raw, err = json.Marshal(parameters)
	}
	return raw, err
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

// builtInStore is the variable with the location of the store that a loop is kept in.
const builtInStore = "AIRLOCK_BUILTIN_STORE"

// loopInput is what fix-loop takes.
type loopInput struct {
	Issue         int
	Directory     string
	Repository    string
	Fixer         string
	Base          string
	Title         string
	MaxIterations int `json:"max_iterations"`
}

// builtInLoop is 'airlock loop start'. A loop that waits for a decision, or did not
// succeed, is an answer.
func builtInLoop(ctx context.Context, env Environment, configFile string, fixers, passEnv []string) error {
	in := loopInput{MaxIterations: 5}
	if err := json.NewDecoder(env.Stdin).Decode(&in); err != nil {
		return exitcode.UsageError(err)
	}
	line, ok := fixerNamed(fixers, in.Fixer)
	if in.Fixer != "" && !ok {
		return exitcode.UsageError(fmt.Errorf("there is no fixer %q on this machine", in.Fixer))
	}
	var out bytes.Buffer
	answering := env
	answering.Stdout = &out
	f := loopStartFlags{
		loopFlags: loopFlags{issue: in.Issue, repository: in.Repository, dir: in.Directory, store: env.Getenv(builtInStore), json: true},
		fixer:     line, base: in.Base, config: configFile, title: in.Title, passEnv: passEnv, iterations: in.MaxIterations,
		fixTime: 30 * time.Minute, checkTime: 30 * time.Minute, grace: 5 * time.Minute,
	}
	f.given = func(flag string) bool {
		return flag == "dir" || flag == "fixer" || flag == "pass-env" || flag == "base" && in.Base != "" || flag == "config" && configFile != ""
	}
	err := startLoop(ctx, answering, f)
	if out.Len() == 0 || err != nil && !errors.Is(err, exitcode.ErrFindings) {
		return err
	}
	_, err = env.Stdout.Write(out.Bytes())
	return err
}

// fixerNamed returns the command of a fixer among those that the owner configured, each
// as NAME=COMMAND.
func fixerNamed(fixers []string, name string) (line string, ok bool) {
	for _, fixer := range fixers {
		if n, line, _ := strings.Cut(fixer, "="); n == name {
			return line, true
		}
	}
	return "", false
}

func loopRule(parameters []byte, at places, fixers []string) (violations []schema.Violation) {
	var in loopInput
	if err := json.Unmarshal(parameters, &in); err != nil {
		return []schema.Violation{{Path: "$", Message: err.Error()}}
	}
	if !at.contain(in.Directory) {
		violations = append(violations, notBelow("directory", in.Directory))
	}
	if _, ok := fixerNamed(fixers, in.Fixer); in.Fixer != "" && !ok {
		violations = append(violations, schema.Violation{Path: "$.fixer", Message: schema.Quote(in.Fixer) + " is not the name of a fixer that the server's owner configured", SchemaPath: "properties.fixer"})
	}
	return violations
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

// builtInRules returns what holds for parameters that come over the wire: they name no
// command but the owner's, and no directory outside of the root.
func builtInRules(at places, fixers []string, owner config.SafeOutputs) map[string]func([]byte) []schema.Violation {
	return map[string]func([]byte) []schema.Violation{
		agents.PhaseValidation: func(parameters []byte) []schema.Violation { return validationRule(parameters, at, owner.Checks) },
		agents.Acceptance:      func(parameters []byte) []schema.Violation { return acceptanceRule(parameters, at) },
		agents.CollectOutput:   collectionRule,
		agents.FixLoop:         func(parameters []byte) []schema.Violation { return loopRule(parameters, at, fixers) },
	}
}

func validationRule(parameters []byte, at places, owner config.Checks) (violations []schema.Violation) {
	var in struct {
		WorkingDirectory string `json:"working_directory"`
		FormatCommand    string `json:"format_command"`
		LintCommand      string `json:"lint_command"`
		BuildCommand     string `json:"build_command"`
		TestCommand      string `json:"test_command"`
	}
	if err := json.Unmarshal(parameters, &in); err != nil {
		return []schema.Violation{{Path: "$", Message: err.Error()}}
	}
	for _, c := range []struct{ member, given, configured string }{
		{"build_command", in.BuildCommand, owner.BuildCommand}, {"format_command", in.FormatCommand, owner.FormatCommand},
		{"lint_command", in.LintCommand, owner.LintCommand}, {"test_command", in.TestCommand, owner.TestCommand},
	} {
		if c.given != "" && c.given != c.configured {
			violations = append(violations, schema.Violation{Path: "$." + c.member, Message: schema.Quote(c.given) + " is not the command that the server's owner configured: leave it out", SchemaPath: "properties." + c.member})
		}
	}
	if !at.contain(in.WorkingDirectory) {
		violations = append(violations, notBelow("working_directory", in.WorkingDirectory))
	}
	return violations
}

func notBelow(member, dir string) schema.Violation {
	return schema.Violation{Path: "$." + member, Message: schema.Quote(dir) + " is not a directory below the server's root", SchemaPath: "properties." + member}
}

func acceptanceRule(parameters []byte, at places) []schema.Violation {
	req, err := acceptance.ReadRequest(parameters)
	var invalid *acceptance.InvalidError
	switch {
	case errors.As(err, &invalid):
		return invalid.Violations
	case err != nil:
		return []schema.Violation{{Path: "$", Message: err.Error()}}
	case req.Worktree == "" && !at.contain(""):
		return []schema.Violation{{Path: "$.worktree_path", Message: "'worktree_path' is required here: agents are started outside of the server's root", SchemaPath: "properties.worktree_path"}}
	case req.Worktree != "" && !at.contain(req.Worktree):
		return []schema.Violation{notBelow("worktree_path", req.Worktree)}
	}
	return nil
}

// places are where agents built in may work.
type places struct {
	root string // they work in it and below it
	base string // what relative paths are relative to: where agents are started; "" is here
}

// contain reports whether a directory, "" for the one in which agents are started, is the
// root or below it, with every symbolic link followed.
func (p places) contain(dir string) bool {
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(p.base, dir)
	}
	root, err := resolved(p.root)
	if err != nil {
		return false
	}
	if dir, err = resolved(dir); err != nil || !isDirectory(dir) {
		return false
	}
	rel, err := filepath.Rel(root, dir)
	return err == nil && filepath.IsLocal(rel)
}

// resolved returns the absolute path of a file without symbolic links; "" is the current
// directory.
func resolved(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

func collectionRule(parameters []byte) []schema.Violation {
	var in struct{ Policy json.RawMessage }
	if err := json.Unmarshal(parameters, &in); err != nil {
		return []schema.Violation{{Path: "$", Message: err.Error()}}
	}
	if in.Policy == nil {
		return nil
	}
	if _, err := config.Parse("policy", in.Policy); err != nil {
		return []schema.Violation{{Path: "$.policy", Message: strings.ReplaceAll(err.Error(), "\n", "; "), SchemaPath: "properties.policy"}}
	}
	return nil
}
