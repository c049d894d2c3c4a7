package phase

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"

	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/toolreport"
)

// attempt is one run of a command.
type attempt struct {
	result  command.Result
	report  toolreport.Report
	missing string // the tool that is not there
	fault   string // why the command could not be run, for another reason
	clean   bool   // all that it failed for does not count
}

// passed reports whether the run shows that all is well.
func (a attempt) passed(c commandLine) bool {
	if a.clean {
		return true
	}
	if a.fault != "" || a.missing != "" || !a.result.OK() {
		return false
	}
	return !c.silent || len(a.result.Stdout.Head) == 0
}

// explained reports that what was read is all that there is to say of the run.
func (a attempt) explained() bool { return a.report.Explained && !a.report.Mixed }

// once runs a command of a root, and reads what it prints. The error is the
// context's: all else is a result.
func (e *engine) once(ctx context.Context, r root, check Check, c commandLine) (attempt, error) {
	tool := e.tool(r, check, c)
	if at, err := os.OpenRoot(e.repository); err == nil {
		defer at.Close() //nolint:errcheck // it was only asked
		tool.Exists = existing(at)
	}
	reader, err := toolreport.New(tool)
	if err != nil {
		return attempt{}, err
	}
	spec := command.Spec{
		Program: "sh", Args: []string{"-c", c.line}, Env: e.world.Env,
		Dir:    filepath.Join(e.dir, filepath.FromSlash(r.dir)),
		Stdout: reader.Stdout(), Stderr: reader.Stderr(),
		Timeout: e.config.TimeLimit, Grace: grace,
	}
	if c.args != nil {
		spec.Program, spec.Args = c.args[0], c.args[1:]
		if strings.Contains(spec.Program, "/") && !filepath.IsAbs(spec.Program) {
			spec.Program = filepath.Join(spec.Dir, spec.Program) // as a shell would find it
		}
	}
	a := attempt{}
	run, ok := e.runners[r.dir]
	if !ok {
		run = e.world.Run
	}
	a.result, err = run(ctx, spec)
	if ctx.Err() != nil {
		return a, context.Cause(ctx)
	}
	a.report = reader.Report(toolreport.Exit{Code: a.result.ExitCode, TimedOut: a.result.TimedOut})
	if c.tool == "gofmt" {
		a.leaveAlone(path.Join(e.prefix, r.dir))
	}
	if a.missing = MissingProgram(c.line, c.args, a.result, err); a.missing == "" && err != nil {
		a.fault = err.Error()
		if errors.Is(err, syscall.E2BIG) {
			a.fault += "; the changed files are more than a program can be given: let the command look at a folder in the place of {files}"
		}
		if errors.Is(err, fs.ErrPermission) {
			a.fault += "; the user that runs the checks may not run it, or not enter its folder: install it for every user, or set " + overrideName(check) + " to another command"
		}
	}
	return a, nil
}

// existing tells, once for each path, whether it is in a folder.
func existing(at *os.Root) func(string) bool {
	known := map[string]bool{}
	return func(name string) bool {
		there, ok := known[name]
		if !ok {
			_, err := at.Lstat(filepath.FromSlash(name))
			there = err == nil
			known[name] = there
		}
		return there
	}
}

func (e *engine) tool(r root, check Check, c commandLine) toolreport.Tool {
	t := toolreport.Tool{Name: c.tool, Command: []string{c.line}, Check: string(check), Roots: []string{e.repository}, Dir: path.Join(e.prefix, r.dir)}
	if t.Dir == "." {
		t.Dir = ""
	}
	if r.language == Go && check == Tests {
		if module := e.project.goModule(r.dir); module != "" {
			t.Modules = map[string]string{module: t.Dir}
		}
	}
	return t
}

// goModule returns the module path of a folder's go.mod, "" if it tells none.
func (p *project) goModule(dir string) string {
	raw, err := p.read(path.Join(dir, "go.mod"))
	if err != nil {
		return ""
	}
	m := regexp.MustCompile(`(?m)^module\s+"?([^\s"]+)`).FindSubmatch(raw)
	if m == nil {
		return ""
	}
	return string(m[1])
}

// ended says how a run ended that did not pass.
func ended(c commandLine, a attempt, limit fmt.Stringer) string {
	switch {
	case a.fault != "":
		return fmt.Sprintf("'%s' could not be run: %s", c.line, a.fault)
	case a.result.TimedOut:
		return fmt.Sprintf("'%s' was ended after %s, the time limit of a command; raise time-limit if it needs longer", c.line, limit)
	case a.result.Signal != "":
		return fmt.Sprintf("'%s' was ended by a signal: %s", c.line, a.result.Signal)
	case a.result.ExitCode == 0:
		return fmt.Sprintf("'%s' printed something, which means failure", c.line)
	}
	return fmt.Sprintf("'%s' ended with exit code %d", c.line, a.result.ExitCode)
}
