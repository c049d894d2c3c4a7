// Package builtin carries out the agents that are built in, as far as the owner of a worker allows
// them to work. They run no command but the owner's, and work in no directory outside of the owner's
// root.
package builtin

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/agent-airlock/airlock/internal/acceptance"
	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/agents"
	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/schema"
)

// StoreVariable is the environment variable with the location of the store that a loop is kept in.
const StoreVariable = "AIRLOCK_BUILTIN_STORE"

// Owner is what the owner of a worker allows.
type Owner struct {
	Root   string   // the agents work in it and below it; required
	Base   string   // the directory in which agents are started, "" for the current one
	Fixers []string // the commands that mend, each as NAME=COMMAND
	Checks config.Checks
}

// Rules returns a function for each agent, by its name, that checks the agent's parameters for
// rules that a schema cannot express.
func (o Owner) Rules() map[string]func(parameters []byte) []schema.Violation {
	return map[string]func([]byte) []schema.Violation{
		agents.PhaseValidation: o.validation,
		agents.Acceptance:      o.acceptance,
		agents.CollectOutput:   collection,
		agents.FixLoop:         o.fixLoop,
	}
}

// directoryMember is the parameter that names a directory, by the agent.
var directoryMember = map[string]string{agents.Acceptance: "worktree_path", agents.FixLoop: "directory", agents.PhaseValidation: "working_directory"}

// Parameters returns the parameters of a run as the agent gets them, or an error if this owner does
// not allow them. They are checked again, because the coordinator that accepted them may have other
// rules, and because the files on a path may have changed since. Symbolic links in the path of the
// directory are followed here, and not again later.
func (o Owner) Parameters(agent string, parameters []byte) ([]byte, error) {
	if rule := o.Rules()[agent]; rule != nil {
		if violations := rule(parameters); len(violations) > 0 {
			return nil, fmt.Errorf("this worker does not carry it out: %s: %s", violations[0].Path, violations[0].Message)
		}
	}
	var members map[string]json.RawMessage
	var dir string
	member := directoryMember[agent]
	if json.Unmarshal(parameters, &members) != nil || json.Unmarshal(members[member], &dir) != nil || dir == "" {
		return parameters, nil // there is no directory
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	if members[member], err = json.Marshal(dir); err != nil {
		return nil, err
	}
	return json.Marshal(members)
}

func (o Owner) validation(parameters []byte) (violations []schema.Violation) {
	var in struct {
		WorkingDirectory string `json:"working_directory"`
		FormatCommand    string `json:"format_command"`
		LintCommand      string `json:"lint_command"`
		BuildCommand     string `json:"build_command"`
		TestCommand      string `json:"test_command"`
	}
	if err := json.Unmarshal(parameters, &in); err != nil {
		return undecodable(err)
	}
	for _, c := range []struct{ member, given, configured string }{
		{"build_command", in.BuildCommand, o.Checks.BuildCommand}, {"format_command", in.FormatCommand, o.Checks.FormatCommand},
		{"lint_command", in.LintCommand, o.Checks.LintCommand}, {"test_command", in.TestCommand, o.Checks.TestCommand},
	} {
		if c.given != "" && c.given != c.configured {
			violations = append(violations, violation(c.member, schema.Quote(c.given)+" is not the command that the server's owner configured: leave it out"))
		}
	}
	if !o.contains(in.WorkingDirectory) {
		violations = append(violations, outside("working_directory", in.WorkingDirectory))
	}
	return violations
}

func (o Owner) acceptance(parameters []byte) []schema.Violation {
	req, err := acceptance.ReadRequest(parameters)
	var invalid *acceptance.InvalidError
	switch {
	case errors.As(err, &invalid):
		return invalid.Violations
	case err != nil:
		return undecodable(err)
	case req.Worktree == "" && !o.contains(""):
		return []schema.Violation{violation("worktree_path", "'worktree_path' is required here: agents are started outside of the server's root")}
	case req.Worktree != "" && !o.contains(req.Worktree):
		return []schema.Violation{outside("worktree_path", req.Worktree)}
	}
	return nil
}

// FixLoop are the parameters of the agent fix-loop.
type FixLoop struct {
	Issue         schema.Int
	Directory     string
	Repository    string
	Fixer         string // the name of a fixer of the owner's; "" where a person fixes
	Base          string
	Title         string
	MaxIterations schema.Int `json:"max_iterations"` // 5 if it is not given
}

// ReadFixLoop decodes the parameters of the agent fix-loop.
func ReadFixLoop(parameters []byte) (FixLoop, error) {
	in := FixLoop{MaxIterations: 5}
	err := json.Unmarshal(parameters, &in)
	return in, err
}

func (o Owner) fixLoop(parameters []byte) (violations []schema.Violation) {
	in, err := ReadFixLoop(parameters)
	if err != nil {
		return undecodable(err)
	}
	if !o.contains(in.Directory) {
		violations = append(violations, outside("directory", in.Directory))
	}
	if _, ok := o.Fixer(in.Fixer); in.Fixer != "" && !ok {
		violations = append(violations, violation("fixer", schema.Quote(in.Fixer)+" is not the name of a fixer that the server's owner configured"))
	}
	return violations
}

// Fixer returns the command of a fixer.
func (o Owner) Fixer(name string) (command string, ok bool) {
	for _, fixer := range o.Fixers {
		if n, command, _ := strings.Cut(fixer, "="); n == name {
			return command, true
		}
	}
	return "", false
}

func collection(parameters []byte) []schema.Violation {
	var in struct{ Policy json.RawMessage }
	if err := json.Unmarshal(parameters, &in); err != nil {
		return undecodable(err)
	}
	if in.Policy == nil {
		return nil
	}
	if _, err := config.Parse("policy", in.Policy); err != nil {
		return []schema.Violation{violation("policy", strings.ReplaceAll(err.Error(), "\n", "; "))}
	}
	return nil
}

// contains reports whether a directory is the root or below it, with every symbolic link followed.
func (o Owner) contains(dir string) bool {
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(o.Base, dir)
	}
	root, err := resolve(o.Root)
	if err != nil {
		return false
	}
	if dir, err = resolve(dir); err != nil {
		return false
	}
	if !action.IsDirectory(dir) {
		return false
	}
	rel, err := filepath.Rel(root, dir)
	return err == nil && filepath.IsLocal(rel)
}

// resolve returns the absolute path of a file without symbolic links; "" is the current directory.
func resolve(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

func violation(member, message string) schema.Violation {
	return schema.Violation{Path: "$." + member, Message: message, SchemaPath: "properties." + member}
}

func outside(member, dir string) schema.Violation {
	return violation(member, schema.Quote(dir)+" is not a directory below the server's root")
}

func undecodable(err error) []schema.Violation {
	return []schema.Violation{{Path: "$", Message: err.Error()}}
}
