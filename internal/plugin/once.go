package plugin

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/toolreport"
)

// grace is the time that a command has to end by itself when its time is over.
const grace = 2 * time.Second

// keptOutput is how much of each stream is kept for saying what went wrong, in
// bytes. Findings are read while it is printed.
const keptOutput = 16 << 10

// once runs the command once and reads what it prints.
func (w *work) once(ctx context.Context, dir string, c call) (toolreport.Report, error) {
	reader, err := toolreport.New(w.tool(dir, c))
	if err != nil {
		return toolreport.Report{}, err
	}
	limit := cmp.Or(w.cfg.TimeLimit, DefaultTimeLimit)
	spec := command.Spec{
		Program: c.args[0], Args: c.args[1:], Env: w.req.Env, Dir: filepath.Join(w.req.Repository, filepath.FromSlash(dir)),
		Stdout: reader.Stdout(), OutputLimit: keptOutput, Timeout: limit, Grace: grace,
	}
	if f := w.cfg.format(); f == Auto || f == Text {
		spec.Stderr = reader.Stderr() // where compilers print
	}
	var lines *agentLines
	if w.cfg.format() == SafeOutputs {
		lines = readLines(reader.Stdout())
		spec.Stdout = lines
	}
	if strings.Contains(spec.Program, "/") && !filepath.IsAbs(spec.Program) {
		spec.Program = filepath.Join(spec.Dir, spec.Program) // as a shell would find it
	}
	if w.cfg.Diff {
		prompt, left := w.cfg.prompt(w.req.Diff)
		if spec.Stdin = strings.NewReader(prompt); left > 0 {
			w.note("%s was not shown the diff of %s: all that changed is longer than %d MiB", w.cfg.Name, count(left, "file"), maxDiff>>20)
		}
	}
	result, err := w.run(ctx, spec)
	if lines != nil {
		for _, why := range lines.end() {
			w.note("%s: %s", w.cfg.Name, plain(why))
		}
	}
	if ctx.Err() != nil {
		return toolreport.Report{}, context.Cause(ctx)
	}
	args := c.args
	if c.shell {
		args = nil
	}
	if tool := phase.MissingProgram(c.line, args, result, err); tool != "" {
		return toolreport.Report{}, &MissingError{w.cfg.Name, tool, c.line}
	}
	if err != nil {
		return toolreport.Report{}, fmt.Errorf("%s could not be run: %w", w.cfg.Name, err)
	}
	exit := toolreport.Exit{Code: result.ExitCode, TimedOut: result.TimedOut}
	if w.found(result.ExitCode) {
		exit.Code = 0 // what it says by it is in its output
	}
	report := reader.Report(exit)
	return report, w.failure(result, report, limit)
}

// tool says how the output is read.
func (w *work) tool(dir string, c call) toolreport.Tool {
	t := toolreport.Tool{Called: w.cfg.Name, Check: string(w.check()), Formats: w.cfg.Patterns, Roots: []string{w.req.Repository}}
	if real, err := filepath.EvalSymlinks(w.req.Repository); err == nil && real != w.req.Repository {
		t.Roots = append(t.Roots, real) // as a tool names it that asks for its folder
	}
	if dir != "." {
		t.Dir = dir
	}
	if w.cfg.format() == Auto {
		t.Command = c.args
	}
	return t
}

func (w *work) check() phase.Check { return cmp.Or(w.cfg.Check, phase.CodeReviewed) }

// found reports whether an exit code only says that there are findings.
func (w *work) found(code int) bool {
	if w.cfg.FoundExits == nil {
		return code == 1
	}
	return slices.Contains(w.cfg.FoundExits, code)
}

// failure says why a run was no review, or not a whole one; nil where it was.
func (w *work) failure(r command.Result, report toolreport.Report, limit time.Duration) error {
	name, format := w.cfg.Name, w.cfg.format()
	switch {
	case r.TimedOut:
		return fmt.Errorf("%s was ended after %s, its time limit; raise its time-limit", name, limit)
	case r.Signal != "":
		return fmt.Errorf("%s was ended by a signal: %s", name, r.Signal)
	case r.ExitCode != 0 && !w.found(r.ExitCode):
		return fmt.Errorf("%s ended with exit code %d%s (it failed; if the code means findings, name it in the reviewer's exit-codes)", name, r.ExitCode, gist(r))
	case r.ExitCode != 0 && len(report.Findings)+report.Outside == 0:
		return fmt.Errorf("%s ended with exit code %d and named no finding%s (it failed, or its findings have a form that its format or patterns do not say)", name, r.ExitCode, gist(r))
	}
	has := format == Auto || format == Text || slices.Contains(strings.Split(report.Tool, ", "), format.form())
	empty := len(r.Stdout.Head) == 0 && r.Stdout.Dropped == 0
	switch {
	case !has && empty && !format.mayBeEmpty():
		return fmt.Errorf("%s printed nothing, where its format is %q%s", name, format, gist(r))
	case !has && !empty:
		return fmt.Errorf("%s printed nothing of its format, %q%s", name, format, gist(r))
	case has && report.Tool != "" && !report.Explained:
		return fmt.Errorf("the output of %s is not whole: %s", name, cmp.Or(strings.Join(report.Notes, "; "), "it says that it failed"))
	}
	if format == Auto && report.Tool == "" && len(report.Findings) == 0 && !empty {
		w.note("%s printed something of no known form; set its format", name)
	}
	return nil
}

// gist is what a command said last, on one line.
func gist(r command.Result) string {
	said := r.Stderr.String()
	if strings.TrimSpace(said) == "" {
		said = r.Stdout.String()
	}
	words := strings.Join(strings.Fields(plain(said)), " ")
	if words == "" {
		return ""
	}
	const most = 300
	if over := len(words) - most; over > 0 {
		words = "…" + strings.ToValidUTF8(words[over:], "")
	}
	return ": " + words
}
