// Package fixer runs a command that mends the failures of a fix request in a copy of the
// workspace, and takes over its changes.
package fixer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/fixloop"
	"github.com/agent-airlock/airlock/internal/isolate"
	"github.com/agent-airlock/airlock/internal/text"
)

// Config describes the command and the workspace that it mends.
type Config struct {
	Command []string // required: the program and its arguments; no shell reads them
	Root    string   // required: the absolute path of a git work tree's root
	Environ []string // required: this process's environment
	// Pass names variables of Environ, such as keys, that the command gets in addition to those
	// that toolchains need. CheckVariable must accept them.
	Pass     []string
	PathList string              // the directories in which git is looked for
	Mask     func(string) string // required: removes secrets from what the command printed
	Rules    Rules               // what a fix may change
}

// grace is the time between asking the command to end and killing it.
const grace = 5 * time.Second

// maxAnswer bounds how much of the command's output is read, in bytes.
const maxAnswer = 1 << 20

// tokens are variables that contain GitHub's tokens, or lead to them.
var tokens = []string{"GITHUB_TOKEN", "GH_TOKEN", "GITHUB_ENTERPRISE_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_PAT", "GH_PAT",
	"ACTIONS_RUNTIME_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_URL"}

// CheckVariable returns an error if a variable cannot be passed to the command.
func CheckVariable(name string) error {
	if slices.Contains(tokens, strings.ToUpper(name)) || strings.HasPrefix(strings.ToUpper(name), "INPUT_") {
		return errors.New("may contain GitHub's token, which a fixer never gets: it changes files, and Airlock delivers them")
	}
	return nil
}

// Result is the result of a fix.
type Result struct {
	// Files are the changed files. They are not in the workspace before Apply.
	Files []File `json:"files"`
	// Fixes are the command's own descriptions of what it mended, and then descriptions of changes
	// that git does not take. If there are such changes and the command described nothing, the number
	// of changed files comes first.
	Fixes []string `json:"fixes,omitempty"`
	// Refused are the reasons for which the fix is not taken over; Files is empty then.
	Refused []string `json:"refused,omitempty"`
	// Failed is why the command did not do its work, or why its changes cannot be taken over;
	// Nonsense is why its output is not an answer to the request. At most one of them is set.
	Failed   string `json:"failed,omitempty"`
	Nonsense string `json:"nonsense,omitempty"`
}

// Paths returns the names of the files that changed.
func (r Result) Paths() []string {
	paths := make([]string, len(r.Files))
	for i, f := range r.Files {
		paths[i] = f.Path
	}
	return paths
}

// Run runs the command on a copy of the workspace, with the request on its standard input:
// as the Markdown of spec 003, then as JSON in a fenced block. AIRLOCK_FIX_REQUEST and
// AIRLOCK_FIX_ATTEMPT in its environment name the request and how often it was made.
// notice, unless nil, describes what was wrong with the previous answer, and comes first.
//
// Whatever the command does leads to a Result, even if the command cannot be started. An error
// means that the context ended, that the copy or the request cannot be made, or that the changes
// cannot be judged.
func Run(ctx context.Context, cfg Config, request fixloop.Message, notice *fixloop.Message, attempt int) (Result, error) {
	place, err := open(ctx, cfg)
	if err != nil {
		return Result{}, fmt.Errorf("a fixer needs a copy of the workspace: %w", causeOf(ctx, err))
	}
	defer place.close()
	copied, err := beginCopy(ctx, cfg, place.dir(), place.apart)
	if err != nil {
		return Result{}, fmt.Errorf("git is needed to find a fixer's changes: %w", causeOf(ctx, err))
	}
	defer copied.close()
	stdin, err := prompt(request, notice)
	if err != nil {
		return Result{}, err
	}
	run, err := place.run(ctx, command.Spec{
		Program: cfg.Command[0], Args: cfg.Command[1:], Dir: place.dir(), Stdin: strings.NewReader(stdin), Grace: grace, OutputLimit: maxAnswer,
		Env: append(cfg.passed(), fmt.Sprintf("AIRLOCK_FIX_REQUEST=%s", request.ID), fmt.Sprintf("AIRLOCK_FIX_ATTEMPT=%d", attempt)),
	})
	switch {
	case ctx.Err() != nil:
		return Result{}, context.Cause(ctx)
	case err != nil:
		return Result{Failed: "it cannot be run: " + cfg.Mask(err.Error())}, nil
	case !run.OK():
		return Result{Failed: failure(run, cfg.Mask)}, nil
	}
	result := answer(run.Stdout.Masked(cfg.Mask), request)
	if result.Nonsense != "" {
		return result, nil
	}
	var leftOut []string
	if result.Files, leftOut, err = copied.changes(ctx); err != nil {
		if ctx.Err() != nil {
			return Result{}, context.Cause(ctx)
		}
		return Result{Failed: "what it changed cannot be taken over: " + cfg.Mask(err.Error())}, nil
	}
	refused, err := copied.judge(ctx, result.Files, cfg.Rules)
	if err != nil {
		return Result{}, fmt.Errorf("checking a fixer's changes by the rules about files: %w", causeOf(ctx, err))
	}
	switch {
	case len(refused) > 0:
		result.Files = nil
	case len(result.Files) == 0:
		refused = leftOut
	case len(leftOut) > 0:
		if len(result.Fixes) == 0 {
			result.Fixes = []string{"changed " + text.Count(len(result.Files), "file")}
		}
		for _, note := range leftOut {
			result.Fixes = append(result.Fixes, cfg.Mask(note))
		}
	}
	for _, why := range refused {
		result.Refused = append(result.Refused, cfg.Mask(why))
	}
	return result, nil
}

// causeOf returns why the context ended, or the error if it has not.
func causeOf(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// prompt returns the command's standard input.
func prompt(request fixloop.Message, notice *fixloop.Message) (string, error) {
	raw, err := json.MarshalIndent(request, "", "  ")
	if err != nil {
		return "", err
	}
	out := request.Markdown() + "\n```json\n" + string(raw) + "\n```\n"
	if notice != nil {
		out = notice.Markdown() + "\n" + out
	}
	return out, nil
}

// passed returns the variables that Pass names and CheckVariable accepts.
func (c Config) passed() []string {
	return c.variables(func(name string) bool { return slices.Contains(c.Pass, name) && CheckVariable(name) == nil })
}

// variables returns the variables of Environ whose names are wanted, as NAME=value.
func (c Config) variables(wanted func(name string) bool) (env []string) {
	for _, e := range c.Environ {
		if name, _, ok := strings.Cut(e, "="); ok && wanted(name) {
			env = append(env, e)
		}
	}
	return env
}

// failure describes how the command ended, with the last lines of its standard error or, if that
// is empty, of its output. They are masked, and then cut.
func failure(run command.Result, mask func(string) string) string {
	reason := fmt.Sprintf("it ended with exit code %d", run.ExitCode)
	if run.Signal != "" {
		reason = "it was ended by the signal " + run.Signal
	}
	output := strings.TrimSpace(run.Stderr.Masked(mask))
	if output == "" {
		output = strings.TrimSpace(run.Stdout.Masked(mask))
	}
	if lines := strings.Split(output, "\n"); len(lines) > 20 {
		output = strings.Join(lines[len(lines)-20:], "\n")
	}
	if output == "" {
		return reason + " and said nothing"
	}
	return reason + ": " + output
}

// answer reads the command's output. Of the protocol's messages in it, the last one counts: it must
// be the fix completion signal of spec 003 that answers the request. Output that does not look
// like a message is ignored: a command that succeeded is done, and the checks show whether it
// mended anything.
func answer(printed string, request fixloop.Message) Result {
	messages, err := fixloop.ParseAll(printed)
	switch {
	case err != nil && mentionsSignal(printed):
		return Result{Nonsense: err.Error()}
	case err != nil:
		return Result{}
	}
	want := strings.Replace(request.ID, "FIXREQ-", "FIXDONE-", 1)
	m := messages[len(messages)-1]
	switch {
	case m.Type != fixloop.FixCompletion:
		return Result{Nonsense: fmt.Sprintf("it answers with a message of type %s (%s) instead of a fix completion signal, %s", m.Type, text.OneLine(m.ID), want)}
	case m.ID != want:
		return Result{Nonsense: fmt.Sprintf("its fix completion signal is %s instead of %s", text.OneLine(m.ID), want)}
	}
	return Result{Fixes: m.Fixes}
}

// mentionsSignal reports whether a text looks like a message of the protocol.
func mentionsSignal(printed string) bool {
	return strings.Contains(printed, "## Fix Completion") || strings.Contains(printed, "**Message ID**") || strings.Contains(printed, `"`+string(fixloop.FixCompletion))
}

// place is where the command runs.
type place struct {
	dir   func() string
	run   func(context.Context, command.Spec) (command.Result, error)
	close func()
	apart bool // the command's user cannot read the workspace
}

// open copies the workspace. If this process is root, the fixer runs as a user that owns nothing.
// Otherwise it runs as the user of this process, in an environment of its own, and ends, with
// everything it started, when this process ends.
func open(ctx context.Context, cfg Config) (*place, error) {
	sandbox, err := isolate.Open(ctx, isolate.Config{Workspace: cfg.Root, Environ: cfg.Environ})
	if err != nil {
		return nil, err
	}
	if sandbox.Apart() {
		return &place{sandbox.Dir, sandbox.Run, func() { _ = sandbox.Close() }, true}, nil
	}
	_ = sandbox.Close()
	scratch, err := isolate.OpenScratch(ctx, isolate.Config{Workspace: cfg.Root, Environ: cfg.base()})
	if err != nil {
		return nil, err
	}
	run := func(ctx context.Context, spec command.Spec) (command.Result, error) {
		spec.Supervised = true
		return scratch.Run(ctx, spec)
	}
	return &place{scratch.Dir, run, func() { _ = scratch.Close() }, false}, nil
}

// base returns the environment that a command of this user begins with: CI=true, and the variables
// that toolchains need or that describe the user's home, language and terminal.
func (c Config) base() []string {
	names := append(isolate.DefaultPass(), "PATH", "HOME", "LANG", "LC_ALL", "TERM", "TMPDIR", "USER", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")
	return append([]string{"CI=true"}, c.variables(func(name string) bool { return slices.Contains(names, name) })...)
}

// isMissing reports whether an error means that a file is not there, or that a file is in the place of
// its directory.
func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
