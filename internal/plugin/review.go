// Package plugin runs reviewers that the owner configures, such as a linter or an
// AI agent, and turns what they print into findings.
//
// The command is the owner's word alone. Of what a pull request holds, only the
// paths of changed files can become arguments, each one of its own that begins
// with "./", and the diff standard input. What a reviewer prints is hostile, since
// it reads a stranger's files: it is bounded, and says nothing about files outside
// the repository.
package plugin

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/agent-airlock/airlock/internal/changes"
	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/toolreport"
)

// Request is what is reviewed.
type Request struct {
	Repository string // the absolute path of the root, as the command sees it
	Files      []File // the changed files that have a text
	Diff       []changes.ChangedFile
	Env        []string // of the command, as NAME=value
}

// File is a changed file.
type File struct {
	Path     string // relative to the root, slash-separated
	Language string // as package changes calls it
	Lines    int    // how many lines it has; 0 where that is not known
}

// Result is what a reviewer said.
type Result struct {
	// Findings are about changed files, sorted, each once; also those on lines that
	// did not change.
	Findings []finding.Finding
	Rules    []toolreport.ToolRule // what the output says of their rules
	Notes    []string              // what people should know beside it, in whole sentences
}

// MissingError is that the reviewer's tool is not there.
type MissingError struct{ Reviewer, Tool, Command string }

// Error implements error.
func (e *MissingError) Error() string {
	return fmt.Sprintf("the tool %q is missing, which the reviewer %q runs: install it in the job or the image, or take the reviewer out of checks: reviewers", e.Tool, e.Reviewer)
}

// Review runs a sound reviewer (see Validate) on a request. The error is the
// context's, a *MissingError, or says why the review could not be done, or not
// wholly; the Result holds what was found all the same.
func Review(ctx context.Context, run phase.Runner, cfg Config, req Request) (Result, error) {
	w := &work{cfg: cfg, req: req, run: run, byPath: map[string]*File{}}
	for _, f := range req.Diff {
		w.byPath[f.Path] = &File{Path: f.Path}
	}
	for i := range req.Files {
		w.byPath[req.Files[i].Path] = &req.Files[i]
	}
	if len(w.byPath) == 0 {
		return Result{}, nil
	}
	dirs := cfg.Dirs
	if len(dirs) == 0 {
		dirs = []string{"."}
	}
	var err error
	for _, dir := range dirs {
		if err = w.review(ctx, path.Clean(dir)); err != nil {
			break
		}
	}
	w.countLeftOut()
	finding.Sort(w.out.Findings)
	return w.out, err
}

// work is one review.
type work struct {
	cfg    Config
	req    Request
	run    phase.Runner
	byPath map[string]*File
	out    Result
	// elsewhere, minor, outside and omitted count findings that are left out.
	elsewhere, minor, outside, omitted int
}

// review runs the command in one folder, as often as the files need.
func (w *work) review(ctx context.Context, dir string) error {
	if why := folder(w.req.Repository, dir); why != "" {
		w.note("%s was not run in %q: %s", w.cfg.Name, dir, why)
		return nil
	}
	var files []string
	for _, f := range w.req.Files {
		if rel, below := strings.CutPrefix(f.Path, dir+"/"); below && w.reads(f) {
			files = append(files, "./"+rel)
		} else if dir == "." && w.reads(f) {
			files = append(files, "./"+f.Path)
		}
	}
	calls, err := w.cfg.calls(files)
	if err != nil {
		return err
	}
	if len(calls) == 0 {
		w.note("%s had no changed file to look at in %q", w.cfg.Name, dir)
	}
	for _, c := range calls {
		report, err := w.once(ctx, dir, c)
		w.take(report)
		if err != nil {
			return err
		}
	}
	return nil
}

// reads reports whether the reviewer looks at files of the language.
func (w *work) reads(f File) bool {
	return len(w.cfg.Languages) == 0 || slices.Contains(w.cfg.Languages, f.Language)
}

func (w *work) note(format string, args ...any) {
	const most = 50
	text := fmt.Sprintf(format, args...)
	if len(w.out.Notes) < most && !slices.Contains(w.out.Notes, text) {
		w.out.Notes = append(w.out.Notes, text)
	}
}

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

func (w *work) check() phase.Check { return cmp.Or(w.cfg.Check, phase.CodeReview) }

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
		return fmt.Errorf("the output of %s is incomplete: %s", name, cmp.Or(strings.Join(report.Notes, "; "), "it reports that it failed"))
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

// take takes over what a run reported, as far as it is about changed files.
func (w *work) take(r toolreport.Report) {
	w.outside += r.Outside
	w.omitted += r.Omitted
	for _, n := range r.Notes {
		w.note("%s: %s", w.cfg.Name, strings.TrimPrefix(plain(n), w.cfg.Name+" "))
	}
	for _, rule := range r.Rules {
		rule.Tool, rule.ID = w.called(rule.Tool), oneLine(rule.ID)
		if rule.Precision == finding.PrecisionUnknown {
			rule.Precision = w.cfg.Precision
		}
		w.out.Rules = append(w.out.Rules, rule)
	}
	for _, f := range r.Findings {
		file, changed := w.byPath[f.Path]
		if !changed {
			w.elsewhere++
			continue
		}
		f = sound(f, file.Lines)
		f.Tool = w.called(f.Tool)
		if s, ok := w.cfg.Severity[f.Rule]; ok {
			f.Severity = s
		}
		if f.Severity.Rank() < w.cfg.MinSeverity.Rank() {
			w.minor++
			continue
		}
		if f.Check = string(w.check()); len(w.out.Findings) == toolreport.MaxFindings {
			w.omitted++
			continue
		}
		w.out.Findings = append(w.out.Findings, f)
	}
}

// called returns the name of a tool, which is never that of the built-in reviewer.
func (w *work) called(tool string) string {
	if tool = oneLine(tool); tool == "" || strings.EqualFold(tool, builtIn) {
		return w.cfg.Name
	}
	return tool
}

// countLeftOut notes how many findings are left out, and why.
func (w *work) countLeftOut() {
	for _, c := range []struct {
		n   int
		why string
	}{
		{w.elsewhere, "about files that did not change"},
		{w.minor, "below the severity that is asked for"},
		{w.outside, "about files outside the repository, or about none"},
		{w.omitted, "over the limit"},
	} {
		if c.n > 0 {
			w.note("%s: left out what is %s: %s", w.cfg.Name, c.why, count(c.n, "finding"))
		}
	}
}

// count is a number with the word for what it counts.
func count(n int, word string) string {
	if n != 1 {
		word += "s"
	}
	return fmt.Sprint(n, " ", word)
}

// sound makes a finding's texts plain and takes out a place that cannot be in a
// file of so many lines, and a suggestion with it.
func sound(f finding.Finding, lines int) finding.Finding {
	f.Rule, f.Message = oneLine(f.Rule), plain(f.Message)
	last := max(f.Range.StartLine, f.Range.EndLine)
	switch {
	case lines == 0 || last <= lines:
	case f.Range.StartLine > lines:
		f.Range, f.Suggestion = finding.Range{}, ""
	default:
		f.Range.EndLine, f.Range.EndColumn, f.Suggestion = lines, 0, ""
	}
	return f
}

// escapes are sequences by which a terminal is controlled.
var escapes = regexp.MustCompile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)?|[ -/]*[0-~])?")

// plain takes out what controls a terminal.
func plain(s string) string {
	s = escapes.ReplaceAllString(s, "")
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, s)
}

func oneLine(s string) string { return strings.Join(strings.Fields(plain(s)), " ") }
