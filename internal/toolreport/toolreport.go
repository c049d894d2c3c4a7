// Package toolreport reads what a tool printed: a linter's findings, a compiler's errors,
// and how many tests of a test runner really failed.
//
// How each tool's output is read is data (see rows). Every line of every stream passes
// through once, whatever its size: time is linear, and what is kept is bounded. Output is
// hostile, because a pull request's code can print anything: a path outside the root
// never becomes a finding, and what was not understood is reported as unknown.
package toolreport

import "github.com/agent-airlock/airlock/internal/finding"

// Limits of what is read and kept. Findings and failures beyond them are counted.
const (
	MaxFindings = 10_000
	MaxFailures = 1_000    // failing tests that are named
	MaxDocument = 64 << 20 // bytes of one JSON or XML document
)

// Tool describes whose output is read, and where it ran.
type Tool struct {
	// Name is the tool's name, one of Names. If it is "", the tool is recognised by Command
	// and by the output.
	Name string
	// Called is the tool's name in findings whose form does not name it; "" takes it from
	// Command.
	Called string
	// Command is the command line that ran, as one word or several.
	Command []string
	// Check is the check that findings belong to. With "tests", test runners are recognised
	// too.
	Check string
	// Formats, if set, are the only patterns with which the output is read as text. They are
	// patterns of Vim's errorformat; the first that matches wins.
	Formats []string
	// Roots are absolute paths of the repository's root, as the tool saw it.
	Roots []string
	// Dir is where the tool ran, relative to the root, slash-separated, "" for the root.
	Dir string
	// Module is the path of the Go module in Dir. Without it the place of a failing Go test
	// is not known.
	Module string
	// Exists reports whether a path relative to the root exists. A tool may print paths
	// relative to a directory above Dir, as cargo does in a workspace. If Exists is nil,
	// every path is taken to be relative to Dir.
	Exists func(path string) bool
}

// ToolRule is a rule of a tool, by the names that findings have.
type ToolRule struct {
	Tool string
	finding.Rule
}

// Exit is how a tool's run ended.
type Exit struct {
	Code     int  // -1 when a signal ended it
	TimedOut bool // its time limit ended it
}

// OK reports whether the run ended by itself with code 0.
func (e Exit) OK() bool { return e.Code == 0 && !e.TimedOut }

// Report is what was read.
type Report struct {
	// Tool is the name of the tool whose form the output has, "" if that is not known.
	Tool string
	// Findings are sorted, each once. Columns are as the tool counts them.
	Findings []finding.Finding
	// Rules is what the output reports about the rules that Findings name.
	Rules []ToolRule `json:",omitempty"`
	// Explained reports that the findings are all that the tool had to report, and the
	// reason for its exit code: nothing was cut off or in another form, and the tool did
	// not crash.
	Explained bool
	// Mixed reports that the exit code may be another program's, or the paths relative to
	// another directory: the command line starts several programs, and not all are known,
	// or it changes its directory on the way.
	Mixed bool `json:",omitempty"`
	// Broken reports that code could not be compiled or type-checked. Such errors may hide
	// others in other files.
	Broken bool
	// Unparsed are the files that could not be parsed by a tool that reads each file on its own.
	// They are sorted and relative to the repository. What the tool would find in them is not
	// known; its report on the other files is complete.
	Unparsed []string `json:",omitempty"`
	// Tests is set only for the check "tests".
	Tests   Tests
	Outside int // findings left out because they are about a file outside the root
	Omitted int // findings after MaxFindings
	// Notes tell people what could not be read, which tools a reviewer lacked, and what is
	// doubtful, such as exit code 0 after tests failed.
	Notes []string
	// FirstFailures are the lines from the first failure on, and the output's last lines, bounded.
	FirstFailures string
}

// Tests is what a test runner's output reports about its tests.
type Tests struct {
	// Failed counts the tests without subtests that failed, plus the units (a package, a
	// file, a target) that failed without such a test: they did not compile or load,
	// crashed or hung. A run that failed counts at least 1, unless None is set.
	Failed int
	// Known reports that the runner's output was complete and gives the number. Otherwise
	// Failed is the least possible number.
	Known bool
	// None reports that the runner itself ran, but ran no test: it found none, or skipped all.
	None bool
	// Failing lists failures, in the order in which the runner did, at most MaxFailures.
	Failing []Failure
}

// Failure is one test, or one unit of tests, that failed.
type Failure struct {
	Name    string // the test's, with those of its suites; "" for a unit
	Unit    string // the package, file or target, as the runner calls it
	Cause   Cause
	Path    string // relative to the root; "" where it was not printed
	Line    int    // 0 where it was not printed
	Message string // the first lines of what it printed, bounded
}

// Cause is why a test failed.
type Cause string

// The causes.
const (
	Failed  Cause = "failed"  // the test itself
	Build   Cause = "build"   // it, or its unit, did not compile or load
	Crash   Cause = "crash"   // its process ended
	Timeout Cause = "timeout" // its runner's time limit
)
