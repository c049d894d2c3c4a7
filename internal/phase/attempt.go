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
	"slices"
	"strings"
	"syscall"

	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/finding"
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
		Program: "sh", Args: []string{"-c", c.line}, Env: e.deps.Env,
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
		run = e.deps.Run
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

// notFoundCode is a shell's exit code for a command that it does not find.
const notFoundCode = 127

// MissingProgram returns the name of the tool that a run shows to be missing, ""
// where it shows no such thing. args are the program and its arguments; with none,
// a shell read the line.
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
	said := string(r.Stderr.Tail)
	if len(r.Stderr.Tail) == 0 {
		said = string(r.Stderr.Head)
	}
	if r.ExitCode == notFoundCode {
		return notFound(said + "\n" + r.Stdout.String())
	}
	if len(args) == 0 {
		return ""
	}
	for _, sign := range []struct{ program, pattern string }{
		{"python", `(?m)^\S*python[^\s:]*: No module named (\w+)$`},
		{"python3", `(?m)^\S*python[^\s:]*: No module named (\w+)$`},
		{"cargo", "(?m)^error: (?:no such command: `|'cargo-)([a-z]+)[`']"},
		{"npx", `(?m)^npm (?:ERR!|error) (?:could not determine executable to run|npx canceled due to missing packages|code (?:E404|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ENOTCACHED|ENOVERSIONS))`},
		{"mvn", `No plugin found for prefix '([a-z]+)'`},
	} {
		if sign.program != args[0] {
			continue
		}
		if sign.program == "mvn" { // says what went wrong on standard output
			said = r.Stdout.String()
		}
		m := regexp.MustCompile(sign.pattern).FindStringSubmatch(said)
		switch {
		case m == nil:
		case len(m) > 1:
			return m[1]
		default:
			return firstWord(strings.Fields(line)[1:])
		}
	}
	return ""
}

// notFound returns the program that a shell, bundler or env says is not there, ""
// where none of them says so: a program may end with their exit code, too.
func notFound(said string) string {
	for _, pattern := range []string{
		`command not found: (\S+)`,
		`([^\s:'"‘’]+)['’]?: (?:command )?not found`,
		`([^\s:'"‘’]+)['’]?: No such file or directory`,
		`(?m)^sh: \d+: ([^\s:]+): Permission denied$`, // dash, where a folder of PATH is closed to the user
	} {
		if m := regexp.MustCompile(pattern).FindStringSubmatch(said); m != nil {
			return m[1]
		}
	}
	return ""
}

// firstWord returns the first word that is no option.
func firstWord(words []string) string {
	for _, w := range words {
		if !strings.HasPrefix(w, "-") {
			return w
		}
	}
	return "npx"
}

// goLeavesAlone reports whether "go fmt ./..." passes over a file, whose path is
// relative to the module: gofmt, which checks in its place, looks at all files. What
// tests are fed with is broken on purpose, and vendored code is nobody's to format.
func goLeavesAlone(file string) bool {
	return slices.ContainsFunc(strings.Split(path.Dir(file), "/"), func(part string) bool {
		return part == "testdata" || part == "vendor" || part != "." && (part[0] == '_' || part[0] == '.')
	})
}

// leaveAlone takes out of a run of gofmt what it says of files that the formatter
// itself passes over. If there is nothing else, the run has passed.
func (a *attempt) leaveAlone(dir string) {
	files := map[string]bool{}
	kept := slices.DeleteFunc(a.report.Findings, func(f finding.Finding) bool {
		rel, ok := strings.CutPrefix(f.Path, dir+"/")
		if ok = (ok || dir == ".") && goLeavesAlone(rel); ok {
			files[f.Path] = true
		}
		return ok
	})
	if len(files) == 0 {
		return
	}
	a.report.Findings = kept
	a.report.Notes = append(a.report.Notes, fmt.Sprintf("left out: files that are not formatted in folders that 'go fmt' passes over, such as testdata (%d)", len(files)))
	a.report.Broken = slices.ContainsFunc(kept, func(f finding.Finding) bool { return f.Severity == finding.High })
	a.clean = len(kept) == 0 && a.report.Explained && a.report.Outside+a.report.Omitted == 0
}
