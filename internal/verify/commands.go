package verify

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/acceptance"
	"github.com/agent-airlock/airlock/internal/checks"
	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/text"
)

// Limits of commands.
const (
	grace      = 2 * time.Second // between asking a command to end and killing it
	maxPrinted = 1 << 20         // bytes of a command's output that are kept
	maxReasons = 50
	maxAnswer  = 2 * acceptance.MaxMessage // bytes that a program of the owner may print
)

// commandPlace returns the place where commands run, which the first of them opens.
func (w *worktree) commandPlace(ctx context.Context) (*checks.Place, error) {
	w.opening.Lock()
	defer w.opening.Unlock()
	if w.place != nil || w.refused != nil {
		return w.place, w.refused
	}
	set, err := w.set()
	if err != nil {
		return nil, err
	}
	in := checks.ConfiguredInput(w.cfg.Checks)
	in.WorkingDirectory = w.dir
	w.place, w.refused = checks.Open(ctx, checks.Config{Root: w.root, Changes: set, Checks: w.cfg.Checks, Input: in, Event: w.cfg.Changes.Event,
		CheckOnly: true, AllowCredentials: w.cfg.AllowCredentials}, w.deps.Deps)
	if exitcode.IsFull(w.refused) {
		w.refused = fmt.Errorf("%w; make room there, and verify again", w.refused)
	}
	if w.refused != nil {
		return nil, w.refused
	}
	w.learnNames()
	return w.place, nil
}

// learnNames makes w.mask replace the names of the directories that the place has by now. The place
// must not get other directories while it runs.
func (w *worktree) learnNames() {
	mask := w.place.Masker()
	w.masking.Lock()
	defer w.masking.Unlock()
	w.placeMask = mask
}

// Run implements acceptance.Worktree.
func (w *worktree) Run(ctx context.Context, line string) (acceptance.Ran, error) {
	place, err := w.commandPlace(ctx)
	if err != nil {
		return acceptance.Ran{}, err
	}
	r, err := place.Run(ctx, command.Spec{Program: "sh", Args: []string{"-c", line}, Grace: grace, OutputLimit: maxPrinted,
		Timeout: cmp.Or(w.cfg.Checks.Phase.TimeLimit, phase.DefaultTimeLimit)})
	if err != nil {
		return acceptance.Ran{}, err
	}
	ran := acceptance.Ran{ExitCode: r.ExitCode, TimedOut: r.TimedOut, Signal: r.Signal, Missing: phase.MissingProgram(line, nil, r, nil)}
	if printed := r.Stdout.Masked(w.mask) + r.Stderr.Masked(w.mask); printed != "" {
		ran.Output = []byte(printed)
	}
	return ran, nil
}

// Checks implements acceptance.Worktree.
func (w *worktree) Checks(ctx context.Context, names []string) (map[string]acceptance.Checked, error) {
	only := make([]phase.Check, len(names))
	for i, name := range names {
		only[i] = phase.Check(name)
	}
	result, err := w.validate(ctx, only, "")
	if err != nil {
		return nil, err
	}
	out := map[string]acceptance.Checked{}
	for _, name := range names {
		check := phase.Check(name)
		out[name] = judged(result, check, allOf(result, check))
	}
	return out, nil
}

// judged combines the results of one check, as checkedOf does. If the check failed and a tool that
// it needs is not installed, nothing was verified, so the result is blocked.
func judged(r phase.Result, check phase.Check, all []phase.CheckResult) acceptance.Checked {
	c := checkedOf(all)
	if c.Status == acceptance.Fail && slices.ContainsFunc(r.Missing, func(m phase.MissingTool) bool { return m.Check == check }) {
		c.Status = acceptance.Blocked
	}
	return c
}

// Test implements acceptance.Worktree.
func (w *worktree) Test(ctx context.Context, name string) (acceptance.Checked, error) {
	result, err := w.validate(ctx, []phase.Check{phase.Tests}, name)
	if err != nil {
		return acceptance.Checked{}, err
	}
	all := allOf(result, phase.Tests)
	ran := slices.DeleteFunc(slices.Clone(all), func(c phase.CheckResult) bool { return c.NoTests })
	if len(ran) == 0 && len(all) > 0 { // a test that is not there, or is skipped, does not pass
		c := checkedOf(all)
		c.Status, c.Reasons = acceptance.Fail, []string{"no test of that name has run: there is none, or it was skipped"}
		return c, nil
	}
	return judged(result, phase.Tests, ran), nil
}

// validate runs some of the checks. Unless testName is "", it runs only the tests of that name.
func (w *worktree) validate(ctx context.Context, only []phase.Check, testName string) (phase.Result, error) {
	place, err := w.commandPlace(ctx)
	if err != nil {
		return phase.Result{}, err
	}
	w.validating.Lock()
	defer w.validating.Unlock()
	result, err := place.Validate(ctx, only, testName)
	w.learnNames()
	return result, err
}

// allOf returns the results of one check: of each root, or of the change for a review.
func allOf(r phase.Result, check phase.Check) []phase.CheckResult {
	all := slices.Clone(r.Reviews)
	for _, root := range r.Roots {
		all = append(all, root.Checks...)
	}
	return slices.DeleteFunc(all, func(c phase.CheckResult) bool { return c.Check != check })
}

// checkedOf combines the results of one check. It is blocked if it failed only where no command
// could be run.
func checkedOf(all []phase.CheckResult) acceptance.Checked {
	out := acceptance.Checked{Status: acceptance.Skip}
	var commands []string
	var printed strings.Builder
	failing, isTests := 0, false
	for _, c := range all {
		isTests = isTests || c.Check == phase.Tests
		failing += c.Failing
		if c.Command != "" && !slices.Contains(commands, c.Command) {
			commands = append(commands, c.Command)
		}
		if c.Status == phase.Fail || out.ExitCode == 0 {
			out.ExitCode = c.ExitCode
		}
		out.Reasons = append(out.Reasons, c.Problems...)
		for _, f := range c.Failures {
			reason := cmp.Or(strings.Join(strings.Fields(f.Unit+" "+f.Name), " "), "a test") + " failed"
			if f.Unit+f.Name == "" && f.Message != "" {
				reason += ": " + text.OneLine(f.Message)
			}
			out.Reasons = append(out.Reasons, reason)
		}
		printed.WriteString(c.Excerpt)
		switch {
		case c.NotRun != "": // its status is Pass, but nothing was verified
			out.Reasons = append(out.Reasons, cmp.Or(strings.Join(c.Notes, "; "), string(c.NotRun)))
		case c.Status == phase.Fail && c.Command == "" && c.Check != phase.CodeReview && c.Check != phase.SecurityReview:
			if out.Status != acceptance.Fail {
				out.Status = acceptance.Blocked
			}
		case c.Status == phase.Fail:
			out.Status = acceptance.Fail
		case c.Status == phase.Pass && out.Status == acceptance.Skip:
			out.Status = acceptance.Pass
		case c.Status == phase.Skipped && out.Status == acceptance.Skip:
			out.Reasons = append(out.Reasons, c.Notes...)
		}
	}
	if out.Status == acceptance.Fail && isTests {
		out.Failing = &failing
	}
	if out.Status == acceptance.Pass {
		out.Reasons = nil
	}
	out.Reasons = out.Reasons[:min(len(out.Reasons), maxReasons)]
	out.Command = strings.Join(commands, " && ")
	out.Output = printed.String() // acceptance masks it, and cuts it then
	return out
}

// program returns one of the owner's programs, nil if its command line is "".
func (w *worktree) program(line string) *acceptance.Program {
	if line == "" {
		return nil
	}
	return &acceptance.Program{Name: line, Find: func() error { return w.find(line) }, Collect: w.collect,
		Ask: func(ctx context.Context, question []byte) ([]byte, error) { return w.ask(ctx, line, question) }}
}

// find returns an error if the program that a command line begins with is not installed. It returns
// nil if only a shell can tell which program that is.
func (w *worktree) find(line string) error {
	words, err := phase.SplitWords(line)
	if err != nil || strings.Contains(words[0], "=") {
		return nil
	}
	name := words[0]
	if strings.Contains(name, "/") && !filepath.IsAbs(name) {
		name = filepath.Join(w.dir, name)
	}
	_, err = command.LookPath(name, w.deps.Getenv("PATH"))
	return err
}

// ask runs one of the owner's programs where commands run, with the variables that the
// owner passes it.
func (w *worktree) ask(ctx context.Context, line string, question []byte) ([]byte, error) {
	place, err := w.commandPlace(ctx)
	if err != nil {
		return nil, err
	}
	dir, err := w.makeTemp(ctx, place)
	if err != nil {
		return nil, err
	}
	env := []string{EvidenceVariable + "=" + dir}
	for _, name := range w.cfg.Acceptance.PassEnv {
		for _, e := range w.deps.Environ {
			if strings.HasPrefix(e, name+"=") {
				env = append(env, e)
			}
		}
	}
	r, err := place.Run(ctx, command.Spec{Program: "sh", Args: []string{"-c", line}, Stdin: bytes.NewReader(question), Env: env, Grace: grace,
		Stdout: &bounded{maxAnswer}, OutputLimit: maxAnswer})
	switch {
	case errors.Is(err, errTooMuch): // Stdout ended the program, which might never stop
		return nil, errTooMuch
	case err != nil:
		return nil, err
	case !r.OK():
		return nil, errors.New(describeEnd(r, w.mask))
	}
	return r.Stdout.Bytes(), nil
}

// errTooMuch is the reason for ending a program that prints more than an answer may have.
var errTooMuch = fmt.Errorf("it printed more than an answer may have (%s)", text.Bytes(maxAnswer))

// bounded discards up to a number of bytes, and then returns an error, which ends the program.
type bounded struct{ left int }

// Write implements io.Writer.
func (b *bounded) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		return 0, errTooMuch
	}
	return len(p), nil
}
