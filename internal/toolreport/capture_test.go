package toolreport_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/agent-airlock/airlock/internal/toolreport"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// output is what a tool printed, the reports that its test runner wrote, and how it ended.
type output struct {
	Stdout, Stderr io.Reader // nil for nothing
	Reports        []string  // named 0.xml, 1.xml, …
	Exit           toolreport.Exit
}

// read reads an output: standard error first, then standard output, then the reports.
func read(t testing.TB, tool toolreport.Tool, out output) toolreport.Report {
	t.Helper()
	r, err := toolreport.New(tool)
	if err != nil {
		t.Fatal(err)
	}
	for _, stream := range []struct {
		to   io.Writer
		from io.Reader
	}{{r.Stderr(), out.Stderr}, {r.Stdout(), out.Stdout}} {
		if stream.from == nil {
			continue
		}
		if _, err := io.Copy(stream.to, stream.from); err != nil {
			t.Fatal(err)
		}
	}
	for i, report := range out.Reports {
		r.AddReport(toolreport.ReportFile{Name: fmt.Sprintf("%d.xml", i)}, strings.NewReader(report))
	}
	return r.Report(out.Exit)
}

// capture is one row of testdata/MANIFEST.tsv.
type capture struct {
	name, tool, version, check, dir, command, contents string
	exit                                               toolreport.Exit
}

func captures(t testing.TB) []capture {
	t.Helper()
	raw, err := os.ReadFile("testdata/MANIFEST.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var all []capture
	for i, line := range strings.Split(strings.TrimSpace(string(raw)), "\n") {
		f := strings.Split(line, "\t")
		if len(f) != 8 {
			t.Fatalf("line %d has %d fields", i+1, len(f))
		}
		if i == 0 {
			continue
		}
		c := capture{name: f[0], tool: f[1], version: f[2], check: f[3], dir: f[4], command: f[5], contents: f[7]}
		if f[6] == "timeout" {
			c.exit = toolreport.Exit{Code: -1, TimedOut: true}
		} else if c.exit.Code, err = strconv.Atoi(f[6]); err != nil {
			t.Fatalf("line %d: %v", i+1, err)
		} else if c.exit.Code > 128 { // the shell reports a signal like this
			c.exit.Code = -1
		}
		all = append(all, c)
	}
	return all
}

// ranTool returns how a capture's tool ran: in a directory below the root /src.
func (c capture) ranTool() toolreport.Tool {
	return toolreport.Tool{
		Command: strings.Fields(c.command), Check: c.check, Dir: c.dir,
		Roots: []string{"/src"}, Module: "example.com/app",
	}
}

func (c capture) output(t testing.TB) output {
	t.Helper()
	open := func(ending string) *os.File {
		f, err := os.Open(filepath.Join("testdata", "captures", filepath.FromSlash(c.name)+ending))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		return f
	}
	return output{Stdout: open(".out"), Stderr: open(".err"), Exit: c.exit}
}

func TestCaptures(t *testing.T) {
	t.Parallel()
	for _, c := range captures(t) {
		t.Run(c.name, func(t *testing.T) {
			got := read(t, c.ranTool(), c.output(t))
			golden(t, filepath.Join("testdata", "captures", filepath.FromSlash(c.name)+".json"), got)
		})
	}
}

func golden(t *testing.T, file string, got any) {
	t.Helper()
	raw, err := json.MarshalIndent(got, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	raw = append(raw, '\n')
	if *update {
		if err := os.WriteFile(file, raw, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(raw), "\n")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestCapturesNameNoHomeDirectory(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/captures/*/*")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, place := range []string{"/root/", "/home/"} {
			if strings.Contains(string(raw), place) {
				t.Errorf("%s contains %s", f, place)
			}
		}
	}
}

// TestFailingCounts compares two numbers for each capture of tests: the failed tests that a report
// counts, and the tests that really fail, counted by hand in the project's sources.
func TestFailingCounts(t *testing.T) {
	t.Parallel()
	const unknown = -1 // at least 1: the run ended before the runner reported the number
	want := map[string]int{
		// A test prints a line that looks like a failure: in text it counts as one, in JSON not.
		"go-test/fail": 4, "go-test/verbose": 4, "go-test-json/fail": 3,
		"go-test/pass": 0, "go-test/crash": 3, "go-test/hang": 1, "go-test/killed": unknown, "go-test/nocompile": 3,
		"go-test-json/pass": 0, "go-test-json/crash": 3, "go-test-json/hang": 1, "go-test-json/killed": unknown, "go-test-json/nocompile": 3,
		"jest/pass": 0, "jest/fail": 2, "jest/crash": 2, "jest/hang": unknown, "jest/nocompile": 2, "jest/none": 0, "jest-json/crash": 2, "npm/test": 2,
		"vitest/pass": 0, "vitest/fail": 2, "vitest/crash": 2, "vitest/hang": unknown, "vitest/nocompile": 1, "vitest/none": 0, "vitest-json/crash": 2,
		// Mocha gives up at the first file that it cannot load.
		"mocha/pass": 0, "mocha/fail": 2, "mocha/crash": 1, "mocha/hang": unknown, "mocha/nocompile": unknown, "mocha/none": 0, "mocha-json/fail": 2,
		"node-spec/pass": 0, "node-spec/fail": 3, "node-spec/crash": 2, "node-spec/hang": unknown, "node-spec/nocompile": 1, "node-spec/none": 0,
		"node-tap/pass": 0, "node-tap/fail": 3, "node-tap/crash": 2, "node-tap/hang": unknown, "node-tap/nocompile": 1, "node-tap/none": 0,
		"pytest/pass": 0, "pytest/fail": 7, "pytest/quiet": 7, "pytest/verbose": 7, "pytest/crash": unknown, "pytest/hang": unknown, "pytest/nocompile": 2, "pytest/none": 0,
		"unittest/pass": 0, "unittest/fail": 4, "unittest/crash": unknown, "unittest/hang": unknown, "unittest/nocompile": 2, "unittest/none": 0,
		// Cargo stops at the first target that fails, by default.
		"cargo-test/pass": 0, "cargo-test/fail": unknown, "cargo-test/all": 4, "cargo-test/crash": unknown, "cargo-test/hang": unknown, "cargo-test/nocompile": unknown,
		"rspec/pass": 0, "rspec/fail": 2, "rspec/documentation": 2, "rspec/crash": unknown, "rspec/hang": unknown, "rspec/nocompile": 2, "rspec/none": 0, "rspec-json/fail": 2, "rspec-json/nocompile": 2,
		"minitest/pass": 0, "minitest/fail": 2, "minitest/verbose": 2, "minitest/crash": unknown, "minitest/hang": unknown, "minitest/nocompile": unknown, "minitest/none": 0,
		"maven/pass": 0, "maven/fail": 3, "maven/crash": 1, "maven/hang": unknown, "maven/nocompile": 1, "junit-xml/fail": 3,
		"bun/pass": 0, "bun/fail": 3, "deno/pass": 0, "deno/fail": 2, "jasmine/pass": 0, "jasmine/fail": 2, "playwright/pass": 0, "playwright/fail": 2,
		"wrapped/nyc": 2, "wrapped/ava": 3, "wrapped/c8": 2, "wrapped/run-p": 3, "wrapped/run-s": 3, "wrapped/concurrently": 3, "wrapped/turbo": 3, "wrapped/lerna": 3, "wrapped/pnpm": 3, "wrapped/yarn": 2,
		"wrapped/make": 2, "wrapped/coverage": 2, "wrapped/nox": 2, "wrapped/tox": 4,
		"gradle/pass": 0, "gradle/fail": 2, "gradle/crash": 1, "gradle/hang": unknown, "gradle/nocompile": 1,
		"ctest/pass": 0, "ctest/fail": 2, "ctest/none": 0, "meson/pass": 0, "meson/fail": 2, "meson/none": 0, "phpunit/pass": 0, "phpunit/fail": 2, "phpunit/none": 0, "prove/none": 0,
	}
	for _, c := range captures(t) {
		if c.check != "tests" {
			continue
		}
		count, ok := want[c.name]
		if !ok {
			t.Errorf("nobody has counted %s", c.name)
			continue
		}
		got := read(t, c.ranTool(), c.output(t))
		tests := got.Tests
		switch {
		case count == unknown && (tests.Known || tests.Failed < 1):
			t.Errorf("%s: %d failed, known %v; want at least 1, and not known how many", c.name, tests.Failed, tests.Known)
		case count != unknown && (!tests.Known || tests.Failed != count):
			t.Errorf("%s: %d failed, known %v; want %d", c.name, tests.Failed, tests.Known, count)
		case tests.None != strings.HasSuffix(c.name, "/none"):
			t.Errorf("%s: none is %v", c.name, tests.None)
		case len(tests.Failing) > tests.Failed:
			t.Errorf("%s: names %d of %d failures", c.name, len(tests.Failing), tests.Failed)
		}
	}
}

// TestStreaming writes each capture in small pieces, alternating between the streams:
// the report must not depend on how the output arrives.
func TestStreaming(t *testing.T) {
	t.Parallel()
	for _, c := range captures(t) {
		all := read(t, c.ranTool(), c.output(t))
		for _, size := range []int{7, 1000} {
			r, err := toolreport.New(c.ranTool())
			if err != nil {
				t.Fatal(err)
			}
			out := c.output(t)
			for open := true; open; {
				a, _ := io.CopyN(r.Stdout(), out.Stdout, int64(size))
				b, _ := io.CopyN(r.Stderr(), out.Stderr, int64(size))
				open = a > 0 || b > 0
			}
			got := r.Report(c.exit)
			got.FirstFailures, all.FirstFailures = "", "" // follow the order of arrival
			if diff := cmp.Diff(all, got); diff != "" {
				t.Errorf("%s in pieces of %d (-at once +pieces)\n%s", c.name, size, diff)
			}
		}
	}
}

func TestBothStreamsAtOnce(t *testing.T) {
	t.Parallel()
	for _, c := range captures(t) {
		r, err := toolreport.New(c.ranTool())
		if err != nil {
			t.Fatal(err)
		}
		out := c.output(t)
		var group sync.WaitGroup
		group.Go(func() { _, _ = io.Copy(r.Stdout(), out.Stdout) })
		group.Go(func() { _, _ = io.Copy(r.Stderr(), out.Stderr) })
		group.Wait()
		want := read(t, c.ranTool(), c.output(t))
		got := r.Report(c.exit)
		got.FirstFailures, want.FirstFailures = "", "" // follow the order of arrival
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-one after the other +at once)\n%s", c.name, diff)
		}
	}
}

// TestEachToolWasCaptured asserts that there is a capture of each tool of the registry, run with its
// Flags.
func TestEachToolWasCaptured(t *testing.T) {
	t.Parallel()
	commands := map[string][]string{}
	for _, c := range captures(t) {
		got := read(t, c.ranTool(), c.output(t))
		commands[got.Tool] = append(commands[got.Tool], c.command)
	}
	for _, name := range toolreport.Names() {
		if name == "ruff" { // it could not be installed for the captures; see jsonforms_test.go
			continue
		}
		flags := strings.Join(toolreport.Flags(name), " ")
		if !slices.ContainsFunc(commands[name], func(c string) bool { return strings.Contains(c, flags) }) {
			t.Errorf("%s with the flags %q was never captured", name, flags)
		}
	}
	if toolreport.Flags("no such tool") != nil {
		t.Error("a tool that is not known has flags")
	}
}
