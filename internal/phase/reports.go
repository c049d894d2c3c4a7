package phase

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/lazyregexp"
	"github.com/agent-airlock/airlock/internal/nofollow"
	"github.com/agent-airlock/airlock/internal/toolreport"
)

// Bounds of the reports that a run of tests leaves: its code can write any number.
const (
	maxReports      = 2_000     // files that are read
	maxReportBytes  = 256 << 20 // of all of them
	maxReportWalk   = 100_000   // files and directories that are looked at for them
	maxReportLevels = 12        // directories below the root
)

// reports is the directory in which the runner of one run of tests leaves its reports, and the
// variables that ask for them. Maven and Gradle leave their reports in the project.
type reports struct {
	dir   string   // absolute
	root  *os.Root // of dir; a link that replaces it later leads nowhere
	began time.Time
	env   []string
	asked []string // names of the files that are asked for
}

// unquoted matches words that need no quotes in a variable or a command line.
var unquoted = lazyregexp.New(`^[A-Za-z0-9/._-]+$`)

// askForReports makes the directory of one run of a root's tests, and the variables that ask its
// runner for a report there. It returns nil for other checks, and if no directory can be made whose
// name needs no quotes.
func (e *engine) askForReports(ctx context.Context, r root, check Check, c commandLine) *reports {
	if check != Tests || e.deps.Reports == "" || !unquoted.MatchString(e.deps.Reports) {
		return nil
	}
	dir, err := os.MkdirTemp(e.deps.Reports, "tests-")
	if err != nil || os.Chmod(dir, 0o777) != nil { // the commands' user is not known here
		return nil
	}
	opened, err := os.OpenRoot(dir)
	if err != nil {
		return nil
	}
	p := &reports{dir: dir, root: opened}
	if info, err := opened.Stat("."); err == nil {
		p.began = info.ModTime() // by the clock of files
	}
	if !e.project.hasContent(r.dir, pytestReport.Match, "pytest.ini", ".pytest.ini", "pyproject.toml", "setup.cfg", "tox.ini") {
		p.ask(e, "PYTEST_ADDOPTS", "pytest.xml", "--junitxml=%s")
	}
	if !e.project.hasContent(r.dir, rspecReport.Match, ".rspec", ".rspec-local") {
		p.ask(e, "SPEC_OPTS", "rspec.json", "--format progress --format json --out %s")
	}
	if reporter := e.nodeReporter(ctx, r, c); reporter != "" {
		p.ask(e, "NODE_OPTIONS", "node.xml", "--test-reporter="+reporter+" --test-reporter-destination=stdout --test-reporter=junit --test-reporter-destination=%s")
	}
	return p
}

// ask adds an option to a variable. With it, a runner writes its report to a file.
func (p *reports) ask(e *engine, variable, file, format string) {
	value := fmt.Sprintf(format, filepath.Join(p.dir, file))
	if before := e.variable(variable); before != "" {
		value = before + " " + value
	}
	p.env = append(p.env, variable+"="+value)
	p.asked = append(p.asked, file)
}

// variable returns a variable that commands see.
func (e *engine) variable(name string) string {
	for _, v := range slices.Backward(e.deps.Env) {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	if e.deps.Getenv == nil {
		return ""
	}
	return e.deps.Getenv(name)
}

// Options in a project's own configuration that decide where its runner writes the report.
var (
	pytestReport = lazyregexp.New(`junit-?xml`)
	rspecReport  = lazyregexp.New(`(?m)(?:^|\s)(?:-o|--out)(?:\s|=|$)`)
)

// nodeReporter returns the reporter that node's test runner uses by default, so that the output
// stays the same. It is "" if no command or script of the root runs this runner, because all
// programs of node read the variable that asks for a report. It is "" if the command, a script or
// the environment chooses reporters, because they would then need destinations, too. It is "" if
// the command or a script sets the variable itself, and hides ours. It is "" for Node before
// version 20, which does not always read options from the variable.
func (e *engine) nodeReporter(ctx context.Context, r root, c commandLine) string {
	lines := append([]string{c.line}, e.project.readManifest(r.dir).scriptTexts()...)
	runs := false
	for _, line := range lines {
		if strings.Contains(line, "--test-reporter") || strings.Contains(line, "NODE_OPTIONS") {
			return ""
		}
		runs = runs || slices.Contains(strings.Fields(line), "--test")
	}
	if !runs || strings.Contains(e.variable("NODE_OPTIONS"), "--test-reporter") {
		return ""
	}
	result, err := e.runner(r)(ctx, command.Spec{Program: "node", Args: []string{"--version"}, Env: e.deps.Env, Dir: filepath.Join(e.dir, filepath.FromSlash(r.dir)), Timeout: e.config.TimeLimit, Grace: grace})
	if err != nil || !result.OK() {
		return ""
	}
	major, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(result.Stdout.String()), "v"), ".")
	switch version, err := strconv.Atoi(major); {
	case err != nil || version < 20:
		return ""
	case version < 23:
		return "tap" // to what is not a terminal
	default:
		return "spec"
	}
}

// refused are texts by which programs refuse the options of askForReports.
var refused = []string{"not allowed in NODE_OPTIONS", "must match the number of specified '--test-reporter-destination'"}

// harmed reports whether a run that failed may have failed because it was asked for
// reports: it wrote none, and printed something about them.
func (p *reports) harmed(r command.Result) bool {
	if r.OK() || r.TimedOut {
		return false
	}
	for _, name := range p.asked {
		if info, err := p.root.Lstat(name); err == nil && info.Size() > 0 {
			return false
		}
	}
	printed := r.Stdout.String() + r.Stderr.String()
	return strings.Contains(printed, p.dir) || slices.ContainsFunc(refused, func(sign string) bool { return strings.Contains(printed, sign) })
}

// close removes the run's directory. What cannot be removed now is removed with the directory
// of all runs.
func (p *reports) close() {
	_ = p.root.Close()
	_ = os.RemoveAll(p.dir)
}

// read reads the reports of a run of a root's tests.
func (p *reports) read(e *engine, r root, reader *toolreport.Reader) {
	left := reportBudget{files: maxReports, bytes: maxReportBytes}
	for _, name := range p.asked {
		left.read(&project{root: p.root}, name, toolreport.ReportFile{Name: name}, reader)
	}
	if r.language != Java {
		return
	}
	for _, name := range e.project.javaReports(r.dir, p.began) {
		left.read(e.project, name, toolreport.ReportFile{Name: path.Join(e.prefix, name), Dir: path.Join(e.prefix, reportedModule(name))}, reader)
	}
}

// reportBudget is how much more is read of one run's reports.
type reportBudget struct {
	files int
	bytes int64
}

// read reads a report, if it is a regular file and the budget lasts.
func (b *reportBudget) read(p *project, name string, file toolreport.ReportFile, reader *toolreport.Reader) {
	f, info, err := nofollow.Open(p.root, name, os.O_RDONLY)
	if err != nil {
		return
	}
	defer f.Close() //nolint:errcheck // it was only read
	if info.Size() == 0 {
		return
	}
	b.files--
	b.bytes -= min(info.Size(), toolreport.MaxDocument)
	if b.files < 0 || b.bytes < 0 {
		return
	}
	reader.AddReport(file, f)
}

// javaReports returns the names of the reports below a directory that Maven or Gradle wrote
// since a time, sorted.
func (p *project) javaReports(dir string, since time.Time) []string {
	var names []string
	looked := 0
	var walk func(dir string, levels int)
	walk = func(dir string, levels int) {
		f, err := p.open(dir)
		if err != nil {
			return
		}
		defer f.Close() //nolint:errcheck // it was only read
		for err == nil && looked < maxReportWalk {
			var entries []fs.DirEntry
			entries, err = f.ReadDir(1024)
			looked += len(entries)
			for _, entry := range entries {
				name := path.Join(dir, entry.Name())
				switch {
				case entry.IsDir() && levels < maxReportLevels && !slices.Contains([]string{".git", ".gradle", "node_modules"}, entry.Name()):
					walk(name, levels+1)
				case entry.Type().IsRegular() && reportedModule(name) != "" && len(names) < maxReports:
					if info, err := entry.Info(); err == nil && !info.ModTime().Before(since) {
						names = append(names, name)
					}
				}
			}
		}
	}
	walk(dir, 0)
	slices.Sort(names)
	return names
}

// reportedModule returns the directory of the module whose tests a file reports, such as "a" for
// "a/target/surefire-reports/TEST-x.xml" and "a/build/test-results/test/TEST-x.xml"; "" if the
// file is not a test report.
func reportedModule(name string) string {
	if base := path.Base(name); !strings.HasPrefix(base, "TEST-") || !strings.HasSuffix(base, ".xml") {
		return ""
	}
	parts := strings.Split(name, "/")
	for i := range parts[:len(parts)-1] {
		pair := parts[i] + "/" + parts[i+1]
		if pair == "target/surefire-reports" || pair == "target/failsafe-reports" || pair == "build/test-results" {
			return path.Join(append([]string{"."}, parts[:i]...)...)
		}
	}
	return ""
}
