package toolreport

// Tests is what a test runner's output says about its tests.
type Tests struct {
	// Failed counts the tests without subtests that failed, plus the units (a
	// package, a file, a target) that failed without such a test: they did not
	// compile or load, crashed or hung. A run that failed counts at least 1.
	Failed int
	// Known reports that the runner's own output says how many failed, to its
	// end. If not, Failed is the least that there can be.
	Known bool
	// None reports that the runner ran, and found no test.
	None bool
	// Failing names failures, in the order in which the runner did, at most
	// MaxFailures.
	Failing []Failure
}

// Failure is one test, or one unit of tests, that failed.
type Failure struct {
	Name    string // the test's, with those of its suites; "" for a unit
	Unit    string // the package, file or target, as the runner calls it
	Cause   Cause
	Path    string // relative to the root; "" where it was not printed
	Line    int    // 0 where it was not printed
	Message string // the first lines of what it said, bounded
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

// tally counts failures while a runner's output is read.
type tally struct {
	failed  int
	closed  bool // the runner came to its end
	none    bool // it said that it found no test
	lost    bool // there was too much to count exactly
	failing []Failure
}

// add counts one failure.
func (t *tally) add(f Failure) {
	t.failed++
	if len(t.failing) < MaxFailures {
		f.Name, f.Unit, f.Message = clip(f.Name, maxName), clip(f.Unit, maxName), clip(f.Message, maxMessage)
		t.failing = append(t.failing, f)
	}
}

// tests judges the tally by how the run ended.
func (t *tally) tests(exit Exit) Tests {
	r := Tests{Failed: t.failed, Known: t.closed && !t.lost && !exit.TimedOut && exit.Code >= 0, None: t.none && t.failed == 0, Failing: t.failing}
	if !exit.OK() && r.Failed == 0 && !r.None {
		r.Failed, r.Known = 1, false
	}
	return r
}
