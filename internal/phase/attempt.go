package phase

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/lazyregexp"
	"github.com/agent-airlock/airlock/internal/toolreport"
)

// grace is the time between asking a command to end and killing it.
const grace = 2 * time.Second

// attempt is one run of a command.
type attempt struct {
	result  command.Result
	report  toolreport.Report
	missing string // the tool that is not installed
	fault   string // why the command could not be run, for another reason
	clean   bool   // it failed only because of findings or tests that do not count for the check
	ran     bool   // the command was tried; false only before the first attempt
	notes   []string
}

// passed reports whether the attempt shows that all is well.
func (a attempt) passed(c commandLine) bool {
	if a.clean {
		return true
	}
	if a.fault != "" || a.missing != "" || !a.result.OK() || c.strict && len(a.report.Findings) > 0 {
		return false
	}
	return !c.silent || len(a.result.Stdout.Head) == 0
}

// forCheck returns an attempt with only the findings of one check, because one run can do two
// checks. The findings of a check are those of rules for which part reports true, and errors about
// files that cannot be parsed. The check has passed if the tool has found problems only of the other
// check, and has reported nothing else. If part is nil, forCheck returns the attempt as it is.
func (a attempt) forCheck(part func(rule string) bool, check string) attempt {
	if part == nil {
		return a
	}
	all := a.report.Findings
	a.report.Findings = nil
	for _, f := range all {
		if part(f.Rule) || slices.Contains(a.report.Unparsed, f.Path) && f.Severity == finding.High {
			f.Check = check
			a.report.Findings = append(a.report.Findings, f)
		}
	}
	isComplete := a.explained() && a.report.Outside+a.report.Omitted == 0
	if len(all) > 0 && len(a.report.Findings) == 0 && isComplete {
		a.clean = true
	}
	return a
}

// explained reports whether the findings are all that there is to know about the attempt.
func (a attempt) explained() bool { return a.report.Explained && !a.report.Mixed }

// ending describes how an attempt ended that did not pass.
func (a attempt) ending(c commandLine, limit time.Duration) string {
	switch {
	case a.fault != "":
		return fmt.Sprintf("'%s' could not be run: %s", c.line, a.fault)
	case a.result.TimedOut && watches.MatchString(c.line+"\n"+a.result.Stdout.String()+a.result.Stderr.String()):
		return fmt.Sprintf("'%s' was ended after %s, the time limit of a command: it watches files and does not end by itself; run it without its watch mode (--run, --watch=false), or set another command", c.line, limit)
	case a.result.TimedOut:
		return fmt.Sprintf("'%s' was ended after %s, the time limit of a command; raise time-limit if it needs longer", c.line, limit)
	case a.result.Signal != "":
		return fmt.Sprintf("'%s' was ended by a signal: %s", c.line, a.result.Signal)
	case a.result.ExitCode == 0:
		return fmt.Sprintf("'%s' printed something, which means failure", c.line)
	case a.report.FirstFailures == "":
		return fmt.Sprintf("'%s' ended with exit code %d and printed nothing: run it by hand to see why it failed", c.line, a.result.ExitCode)
	}
	return fmt.Sprintf("'%s' ended with exit code %d", c.line, a.result.ExitCode)
}

// watches matches what programs print while they wait for files to change, and the options that
// make them wait.
var watches = lazyregexp.New(`(?i)(?:^|\s)--watch(?:all)?(?:$|\s|=true)|\[nodemon\] |\bwatch(?:ing)? (?:mode|usage|for (?:file )?changes)|waiting for (?:file )?changes`)

// attempt runs a command of a root, and reads its output and the reports of test runners. If the
// command may have failed because of the request for reports, attempt runs it again without this
// request. Unless toolreport.New fails, the error is the context's: all else is in the attempt.
func (e *engine) attempt(ctx context.Context, r root, check Check, c commandLine) (attempt, error) {
	asked := e.askForReports(ctx, r, check, c)
	if asked != nil {
		defer asked.close()
	}
	a, err := e.attemptAsking(ctx, r, check, c, asked)
	if asked != nil && err == nil && asked.harmed(a.result) {
		return e.attemptAsking(ctx, r, check, c, nil)
	}
	return a, err
}

// attemptAsking runs a command once, in the environment that asks for reports, if there are
// to be any.
func (e *engine) attemptAsking(ctx context.Context, r root, check Check, c commandLine, asked *reports) (attempt, error) {
	tool := e.tool(r, check, c)
	if repository, err := os.OpenRoot(e.repository); err == nil {
		defer repository.Close() //nolint:errcheck // it was only read
		tool.Exists = existsIn(repository)
	}
	reader, err := toolreport.New(tool)
	if err != nil {
		return attempt{}, err
	}
	a := attempt{ran: true}
	spec := command.Spec{
		Program: "sh", Args: []string{"-c", cmp.Or(c.shell, c.line)}, Env: e.deps.Env, PathFirst: e.toolDirs(r),
		Dir:    filepath.Join(e.dir, filepath.FromSlash(r.dir)),
		Stdout: reader.Stdout(), Stderr: reader.Stderr(),
		Timeout: e.config.TimeLimit, Grace: grace,
	}
	if asked != nil {
		spec.Env = slices.Concat(spec.Env, asked.env)
	}
	if c.args != nil {
		spec.Program, spec.Args = c.args[0], c.args[1:]
		if strings.Contains(spec.Program, "/") && !filepath.IsAbs(spec.Program) {
			spec.Program = filepath.Join(spec.Dir, spec.Program) // as a shell would find it
		}
	}
	if c.pin != "" {
		if spec, err = e.pinned(ctx, r, c.pin, spec, &a); err != nil {
			return a, err
		}
	}
	e.started.Store(true)
	a.result, err = e.runner(r)(ctx, spec)
	if ctx.Err() != nil {
		return a, context.Cause(ctx)
	}
	if asked != nil {
		asked.read(e, r, reader)
	}
	a.report = reader.Report(toolreport.Exit{Code: a.result.ExitCode, TimedOut: a.result.TimedOut})
	if e.deps.Mask != nil {
		a.report.FirstFailures = e.deps.Mask(a.report.FirstFailures)
	}
	if c.tool == "gofmt" {
		a.leaveOutSkipped(path.Join(e.prefix, r.dir))
	}
	a.missing = MissingProgram(c.line, c.args, a.result, err)
	if a.missing == "" && err != nil {
		a.fault = describeFault(err, check)
	}
	return a, nil
}

// describeFault describes why a command could not be run, and what to do.
func describeFault(err error, check Check) string {
	switch {
	case errors.Is(err, syscall.E2BIG):
		return err.Error() + "; the changed files are more than a program can be given: let the command look at a directory instead of {files}"
	case errors.Is(err, fs.ErrPermission):
		return err.Error() + "; the user that runs the checks may not run it, or not enter its directory: install it for every user, or set " + overrideName(check) + " to another command"
	}
	return err.Error()
}

// runner returns the Runner for a root's commands.
func (e *engine) runner(r root) Runner {
	if run, ok := e.runners[r.dir]; ok {
		return run
	}
	return e.deps.Run
}

// toolDirs returns the directories in which a project, or one around it, has tools of its own,
// inner ones first: where its package manager installs them, and its virtual environments.
func (e *engine) toolDirs(r root) []string {
	var below []string
	switch r.language.family() {
	case JavaScript:
		below = []string{"node_modules/.bin"}
	case Python:
		below = []string{".venv/bin", "venv/bin"}
	}
	var dirs []string
	for dir := path.Join(e.prefix, r.dir); ; dir = path.Dir(dir) {
		for _, b := range below {
			dirs = append(dirs, filepath.Join(e.repository, filepath.FromSlash(dir), filepath.FromSlash(b)))
		}
		if dir == "." {
			return dirs
		}
	}
}

// existsIn returns a function that reports whether a path exists in a directory. It looks
// once for each path.
func existsIn(dir *os.Root) func(string) bool {
	known := map[string]bool{}
	return func(name string) bool {
		return cached(known, name, func(name string) bool {
			_, err := dir.Lstat(filepath.FromSlash(name))
			return err == nil
		})
	}
}

// tool describes a command for the reading of its output.
func (e *engine) tool(r root, check Check, c commandLine) toolreport.Tool {
	t := toolreport.Tool{Name: c.tool, Command: []string{c.line}, Check: string(check), Roots: []string{e.repository}, Dir: path.Join(e.prefix, r.dir)}
	if t.Dir == "." {
		t.Dir = ""
	}
	if r.language == Go && check == Tests {
		t.Module = e.project.goModulePath(r.dir)
	}
	return t
}

// leaveOutSkipped removes from an attempt of gofmt the findings in files that "go fmt"
// skips. If gofmt has reported nothing else, the attempt has passed.
func (a *attempt) leaveOutSkipped(dir string) {
	files := map[string]bool{}
	kept := slices.DeleteFunc(a.report.Findings, func(f finding.Finding) bool {
		if !isIn(dir, f.Path) || !goFmtSkips(strings.TrimPrefix(f.Path, dir+"/")) {
			return false
		}
		files[f.Path] = true
		return true
	})
	if len(files) == 0 {
		return
	}
	a.report.Findings = kept
	a.report.Notes = append(a.report.Notes, fmt.Sprintf("left out: files that are not formatted in directories that 'go fmt' passes over, such as testdata (%d)", len(files)))
	a.report.Unparsed = slices.DeleteFunc(a.report.Unparsed, func(name string) bool { return files[name] })
	a.clean = len(kept) == 0 && a.report.Explained && a.report.Outside+a.report.Omitted == 0
}

// goFmtSkips reports whether "go fmt ./..." skips a file, whose path is relative to the
// module. gofmt, which checks instead, looks at all files. Test data is broken on purpose,
// and vendored code is not the project's to format.
func goFmtSkips(file string) bool {
	return slices.ContainsFunc(strings.Split(path.Dir(file), "/"), func(part string) bool {
		return part == "testdata" || part == "vendor" || part != "." && (part[0] == '_' || part[0] == '.')
	})
}

// notFoundCode is a shell's exit code for a command that it does not find.
const notFoundCode = 127

// missingSigns are messages by which programs report that something they run is missing. The first
// group of a pattern is the missing name. If the pattern has no group, the missing name is the
// first word after the program in the command line that is not an option.
var missingSigns = []struct {
	program, pattern string
	stdout           bool // it is printed on standard output
}{
	{"python", `(?m)^\S*python[^\s:]*: No module named (\w+)$`, false},
	{"python3", `(?m)^\S*python[^\s:]*: No module named (\w+)$`, false},
	{"poetry", `(?m)^Command not found: (\S+)`, false},
	{"cargo", "(?m)^error: (?:no such command: `|'cargo-)([a-z]+)[`']", false},
	{"npx", `(?m)^npm (?:ERR!|error) (?:could not determine executable to run|npx canceled due to missing packages|code (?:E404|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ENOTCACHED|ENOVERSIONS))`, false},
	{"yarn", `Couldn't find a script named "([^"\s]+)"`, true},
	{"yarn", `error Command "([^"\s]+)" not found`, false},
	{"go", `(?m)^go: no such tool "([^"\s]+)"`, false},
	{"mvn", `No plugin found for prefix '([a-z]+)'`, true},
}

// MissingProgram returns the name of the tool that a run shows to be missing, "" if it
// shows nothing of the kind. args are the program and its arguments; if there are none, a
// shell read the line.
func MissingProgram(line string, args []string, r command.Result, err error) string {
	if err != nil {
		program := "sh"
		if len(args) > 0 {
			program = args[0]
		}
		if errors.Is(err, command.ErrNotFound) || errors.Is(err, fs.ErrNotExist) && strings.Contains(program, "/") {
			return program
		}
		return ""
	}
	if r.OK() || r.TimedOut {
		return ""
	}
	stderr := cmp.Or(string(r.Stderr.Tail), string(r.Stderr.Head))
	if r.ExitCode == notFoundCode {
		return notFound(stderr + "\n" + r.Stdout.String())
	}
	for _, sign := range missingSigns {
		if len(args) == 0 || sign.program != args[0] {
			continue
		}
		printed := stderr
		if sign.stdout {
			printed = r.Stdout.String()
		}
		m := regexp.MustCompile(sign.pattern).FindStringSubmatch(printed)
		if m == nil {
			continue
		}
		if len(m) > 1 {
			return m[1]
		}
		words := strings.Fields(line)[1:]
		if i := slices.IndexFunc(words, func(w string) bool { return !strings.HasPrefix(w, "-") }); i >= 0 {
			return words[i]
		}
		return sign.program
	}
	return ""
}

// notFound returns the program that a shell, bundler or env reports as not found. It returns "" if
// none of them reports one, because any program may end with the exit code that they use.
func notFound(printed string) string {
	for _, pattern := range []string{
		`command not found: (\S+)`,
		`([^\s:'"‘’]+)['’]?: (?:command )?not found`,
		`([^\s:'"‘’]+)['’]?: No such file or directory`,
		`(?m)^sh: \d+: ([^\s:]+): Permission denied$`, // dash, if a directory of PATH is closed to the user
	} {
		if m := regexp.MustCompile(pattern).FindStringSubmatch(printed); m != nil {
			return m[1]
		}
	}
	return ""
}
