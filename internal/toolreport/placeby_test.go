package toolreport

import (
	"io"
	"strings"
	"testing"
)

// TestPlacesNextToCrash asserts that failures keep the places which reports name although the process
// of other tests ended without a report, so that more failures are printed than reported.
func TestPlacesNextToCrash(t *testing.T) {
	t.Parallel()
	const output = `[ERROR] Tests run: 3, Failures: 3, Errors: 0, Skipped: 0, Time elapsed: 0.1 s <<< FAILURE! - in p.ATest
[ERROR] adds[1 größe, x#y](p.ATest)  Time elapsed: 0.018 s  <<< FAILURE!
[ERROR] adds[2](p.ATest)  Time elapsed: 0.018 s  <<< FAILURE!
[ERROR] p.ATest.subs -- Time elapsed: 0.018 s <<< FAILURE!
[ERROR] Tests run: 3, Failures: 3, Errors: 0, Skipped: 0
[INFO] BUILD FAILURE
[ERROR] Crashed tests:
[ERROR] p.BTest
`
	const report = `<testsuite name="p.ATest" tests="3" failures="3">
<testcase name="adds[1 größe, x#y]" classname="p.ATest"><failure message="one">	at p.ATest.adds(ATest.java:4)
</failure></testcase>
<testcase name="adds[2]" classname="p.ATest"><failure message="two">	at p.ATest.adds(ATest.java:5)
</failure></testcase>
<testcase name="subs" classname="p.ATest"><failure message="three">	at p.ATest.subs(ATest.java:6)
</failure></testcase></testsuite>`
	r, err := New(Tool{Name: "maven", Check: "tests", Exists: func(p string) bool { return p == "a/src/test/java/p/ATest.java" }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(r.Stdout(), output); err != nil {
		t.Fatal(err)
	}
	r.AddReport(ReportFile{Name: "a/target/surefire-reports/TEST-p.ATest.xml", Dir: "a"}, strings.NewReader(report))
	got := r.Report(Exit{Code: 1}).Tests
	if got.Failed != 4 || len(got.Failing) != 4 {
		t.Fatalf("%+v", got)
	}
	for i, line := range []int{4, 5, 6} {
		if f := got.Failing[i]; f.Path != "a/src/test/java/p/ATest.java" || f.Line != line {
			t.Errorf("%+v, want line %d", f, line)
		}
	}
	if got.Failing[3].Unit != "p.BTest" || got.Failing[3].Path != "" {
		t.Errorf("%+v", got.Failing[3])
	}
}

// TestPlaceOfWhichTest asserts that a failure gets no place if it has no name or several tests have
// the words of its name, and that it keeps a place that it has.
func TestPlaceOfWhichTest(t *testing.T) {
	t.Parallel()
	failures := []Failure{{Name: "a.b"}, {Name: ""}, {Name: "c", Path: "c.go", Line: 3}}
	placeBy(failures, []Failure{{Name: "a b", Path: "x", Line: 1}, {Name: "b a", Path: "y", Line: 2}, {Name: "b, a", Path: "z", Line: 2}, {Path: "x", Line: 4}, {Name: "c", Path: "x", Line: 5}})
	if failures[0].Line != 0 || failures[1].Line != 0 || failures[2].Line != 3 {
		t.Errorf("%+v", failures)
	}
}
