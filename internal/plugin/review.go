// Package plugin runs reviewers that the owner configures, such as a linter or an AI agent,
// and turns what they print into findings.
//
// Only the owner decides on the command. Of a pull request, the paths of changed files can
// become arguments, each a separate one that begins with "./", and the diff can become
// standard input. What a reviewer prints is hostile, because it reads a stranger's files:
// it is bounded, and has no effect on files outside the repository.
package plugin

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/agent-airlock/airlock/internal/changes"
	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/lazyregexp"
	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/text"
	"github.com/agent-airlock/airlock/internal/toolreport"
)

// Request is what is reviewed.
type Request struct {
	Repository string // the absolute path of the root, as the command sees it
	Files      []File // the changed files that have a text, without LeftOut
	// LeftOut are changed files that have a text and that no argument names. Diff may contain them.
	LeftOut []File
	Diff    []changes.ChangedFile
	Env     []string // of the command, as NAME=value
	// Mask masks secrets in the command's output, before an error quotes a part of it; nil masks
	// nothing.
	Mask func(string) string
}

// File is a changed file.
type File struct {
	Path     string // relative to the root, slash-separated
	Language string // as package changes calls it
	Lines    int    // how many lines it has; 0 if that is not known
}

// Result is what a reviewer found.
type Result struct {
	// Findings are sorted and about changed files, including their unchanged lines. Each run of the
	// command adds a finding at most once.
	Findings []finding.Finding
	Rules    []toolreport.ToolRule // what the output contains about their rules
	Notes    []string              // for people, in complete sentences
	// NotGiven are the paths of those files of Request.LeftOut that the reviewer would otherwise have
	// been given, each with whether the diff that it was given has the file. A command that takes no
	// files reads what it likes, so it was given all files if it ran.
	NotGiven map[string]bool `json:",omitempty"`
}

// MissingError is returned if the reviewer's tool is not installed.
type MissingError struct{ Reviewer, Tool, Command string }

// Error implements error.
func (e *MissingError) Error() string {
	return fmt.Sprintf("the tool %q is missing, which the reviewer %q runs: install it in the job or the image, or remove the reviewer from checks: reviewers", e.Tool, e.Reviewer)
}

// Review runs a valid reviewer (see Validate) on a request. The error is the context's, a
// *MissingError, or explains why the review is missing or incomplete. The Result has what
// was found before an error, except what was printed by a run that the context ended.
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
	w.noteLeftOut()
	for path := range w.out.NotGiven {
		w.out.NotGiven[path] = w.shown[path]
	}
	finding.Sort(w.out.Findings)
	return w.out, err
}

// work is one running review.
type work struct {
	cfg    Config
	req    Request
	run    phase.Runner
	byPath map[string]*File
	shown  map[string]bool // the paths of Diff that the command was given
	out    Result
	// elsewhere, minor, outside and omitted count findings that are left out.
	elsewhere, minor, outside, omitted int
}

func (w *work) note(format string, args ...any) {
	const most = 50
	note := fmt.Sprintf(format, args...)
	if len(w.out.Notes) < most && !slices.Contains(w.out.Notes, note) {
		w.out.Notes = append(w.out.Notes, note)
	}
}

// review runs the command in one directory, as often as the files need.
func (w *work) review(ctx context.Context, dir string) error {
	if why := unusable(w.req.Repository, dir); why != "" {
		w.note("%s was not run in %q: %s", w.cfg.Name, dir, why)
		return nil
	}
	var files []string
	for _, f := range w.concerned(w.req.Files, dir) {
		files = append(files, "./"+strings.TrimPrefix(f.Path, dir+"/"))
	}
	calls, err := w.cfg.calls(files)
	if err != nil {
		return err
	}
	if len(calls) == 0 {
		w.note("%s had no changed file to look at in %q", w.cfg.Name, dir)
	}
	if len(calls) == 0 || w.cfg.takesFiles() {
		for _, f := range w.concerned(w.req.LeftOut, dir) {
			if w.out.NotGiven == nil {
				w.out.NotGiven = map[string]bool{}
			}
			w.out.NotGiven[f.Path] = false
		}
	}
	for _, c := range calls {
		report, err := w.call(ctx, dir, c)
		w.add(report)
		if err != nil {
			return err
		}
	}
	return nil
}

// concerned returns those of the files that lie below the directory and are in a language of the
// reviewer.
func (w *work) concerned(files []File, dir string) []File {
	var some []File
	for _, f := range files {
		if (dir == "." || strings.HasPrefix(f.Path, dir+"/")) && (len(w.cfg.Languages) == 0 || slices.Contains(w.cfg.Languages, f.Language)) {
			some = append(some, f)
		}
	}
	return some
}

// grace is the time that a command has to end by itself after its time limit.
const grace = 2 * time.Second

// keptOutput is how much of each stream is kept for error messages, in bytes. Findings are
// read while the command prints them.
const keptOutput = 16 << 10

// call runs the command once and reads what it prints.
func (w *work) call(ctx context.Context, dir string, c call) (toolreport.Report, error) {
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
		lines = newAgentLines(reader.Stdout())
		spec.Stdout = lines
	}
	if strings.Contains(spec.Program, "/") && !filepath.IsAbs(spec.Program) {
		spec.Program = filepath.Join(spec.Dir, spec.Program) // as a shell would find it
	}
	if w.cfg.Diff {
		prompt, shown := w.cfg.prompt(w.req.Diff)
		spec.Stdin = strings.NewReader(prompt)
		w.shown = shown
		if omitted := len(w.req.Diff) - len(shown); omitted > 0 {
			w.note("%s was not shown the diff of %s: the entire diff is longer than %d MiB", w.cfg.Name, text.Count(omitted, "file"), maxDiff>>20)
		}
	}
	result, err := w.run(ctx, spec)
	if lines != nil {
		for _, problem := range lines.end() {
			w.note("%s: %s", w.cfg.Name, printable(problem))
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
	if w.meansFindings(result.ExitCode) {
		exit.Code = 0 // the findings are in its output
	}
	report := reader.Report(exit)
	return report, w.failure(result, report, limit)
}

// tool returns how the output is read.
func (w *work) tool(dir string, c call) toolreport.Tool {
	t := toolreport.Tool{Called: w.cfg.Name, Check: string(w.check()), Formats: w.cfg.Patterns, Roots: []string{w.req.Repository}}
	if real, err := filepath.EvalSymlinks(w.req.Repository); err == nil && real != w.req.Repository {
		t.Roots = append(t.Roots, real) // the path that a tool prints if it asks the system for its working directory
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

// meansFindings reports whether an exit code other than 0 only means that there are
// findings.
func (w *work) meansFindings(code int) bool {
	if w.cfg.FoundExits == nil {
		return code == 1
	}
	return slices.Contains(w.cfg.FoundExits, code)
}

// failure explains why a run was not a review, or not a complete one; nil if it was.
func (w *work) failure(r command.Result, report toolreport.Report, limit time.Duration) error {
	name, format := w.cfg.Name, w.cfg.format()
	switch {
	case r.TimedOut:
		return fmt.Errorf("%s was ended after %s, its time limit; raise its time-limit", name, limit)
	case r.Signal != "":
		return fmt.Errorf("%s was ended by a signal: %s", name, r.Signal)
	case r.ExitCode != 0 && !w.meansFindings(r.ExitCode):
		return fmt.Errorf("%s ended with exit code %d%s (it failed; if the code means findings, list it in the reviewer's exit-codes)", name, r.ExitCode, w.lastLines(r))
	case r.ExitCode != 0 && len(report.Findings)+report.Outside == 0:
		return fmt.Errorf("%s ended with exit code %d and reported no finding%s (it failed, or its findings have a form that its format or patterns do not describe)", name, r.ExitCode, w.lastLines(r))
	}
	// hasForm is whether the output has the form that its format names, or the format names none.
	hasForm := format == Auto || format == Text || slices.Contains(strings.Split(report.Tool, ", "), format.form())
	isEmpty := len(r.Stdout.Head) == 0 && r.Stdout.Dropped == 0
	switch {
	case !hasForm && isEmpty && !format.mayBeEmpty():
		return fmt.Errorf("%s printed nothing, but its format is %q%s", name, format, w.lastLines(r))
	case !hasForm && !isEmpty:
		return fmt.Errorf("%s printed nothing of its format, %q%s", name, format, w.lastLines(r))
	case hasForm && report.Tool != "" && !report.Explained:
		return fmt.Errorf("the output of %s is incomplete: %s", name, cmp.Or(strings.Join(report.Notes, "; "), "it reports that it failed"))
	}
	if format == Auto && report.Tool == "" && len(report.Findings) == 0 && !isEmpty {
		w.note("%s printed something of an unknown form; set its format", name)
	}
	return nil
}

// lastLines returns the end of what a command printed, as ": " and one line, or "" if it printed
// nothing. Standard output counts only if standard error is blank.
func (w *work) lastLines(r command.Result) string {
	mask := w.req.Mask
	if mask == nil {
		mask = func(s string) string { return s }
	}
	printed := r.Stderr.Masked(mask)
	if text.IsBlank(printed) {
		printed = r.Stdout.Masked(mask)
	}
	line := printableLine(printed)
	if line == "" {
		return ""
	}
	const most = 300
	if over := len(line) - most; over > 0 {
		line = "…" + strings.ToValidUTF8(line[over:], "")
	}
	return ": " + line
}

// add adds what a run reported about changed files.
func (w *work) add(r toolreport.Report) {
	w.outside += r.Outside
	w.omitted += r.Omitted
	for _, n := range r.Notes {
		w.note("%s: %s", w.cfg.Name, strings.TrimPrefix(printable(n), w.cfg.Name+" "))
	}
	for _, rule := range r.Rules {
		rule.Tool, rule.ID = w.toolName(rule.Tool), printableLine(rule.ID)
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
		f = checked(f, file.Lines)
		f.Tool, f.Check = w.toolName(f.Tool), string(w.check())
		if s, ok := w.cfg.Severity[f.Rule]; ok {
			f.Severity = s
		}
		switch {
		case f.Severity.Rank() < w.cfg.MinSeverity.Rank():
			w.minor++
		case len(w.out.Findings) == toolreport.MaxFindings:
			w.omitted++
		default:
			w.out.Findings = append(w.out.Findings, f)
		}
	}
}

// toolName returns the name of a tool or, if that is empty or the built-in reviewer's, this
// reviewer's.
func (w *work) toolName(tool string) string {
	if tool = printableLine(tool); tool == "" || strings.EqualFold(tool, builtIn) {
		return w.cfg.Name
	}
	return tool
}

// noteLeftOut notes how many findings are left out, and why.
func (w *work) noteLeftOut() {
	for _, c := range []struct {
		n   int
		why string
	}{
		{w.elsewhere, "about files that did not change"},
		{w.minor, "below the configured severity"},
		{w.outside, "about files outside the repository, or about none"},
		{w.omitted, "over the limit"},
	} {
		if c.n > 0 {
			w.note("%s: left out %s %s", w.cfg.Name, text.Count(c.n, "finding"), c.why)
		}
	}
}

// checked returns a finding with printable texts, and removes from its place what is beyond the
// file's last line. A finding that loses a part of its place loses its suggestion, too.
func checked(f finding.Finding, lines int) finding.Finding {
	f.Rule, f.Message = printableLine(f.Rule), printable(f.Message)
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

// escapes are the sequences that control a terminal.
var escapes = lazyregexp.New("\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)?|[ -/]*[0-~])?")

// printable removes what controls a terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, escapes.ReplaceAllString(s, ""))
}

// printableLine returns what printable leaves, as one line.
func printableLine(s string) string { return text.OneLine(printable(s)) }
