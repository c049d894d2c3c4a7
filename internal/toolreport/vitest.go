package toolreport

import "strings"

var (
	vitestSection = starting("⎯", `^⎯+ (Failed Suites|Failed Tests|Unhandled Errors?|[A-Z][\w ]*?)(?: (\d+))? ⎯+$`)
	vitestTotals  = containing(" Tests  ", `^ +Tests  (?:(\d+) failed)?.*?(?:\((\d+)\)|no tests)$`)
	vitestFrame   = starting(" ❯ ", `^ ❯ (.+?):(\d+):\d+\)?$`)
)

// vitestRun is what both streams of vitest report together: the failures are on
// standard error, the totals on standard output.
type vitestRun struct {
	*collector
	suites int // files that failed to load, and hooks that failed
	failed int // tests
	ran    bool
}

// vitestReader reads one of the streams.
type vitestReader struct {
	*vitestRun
	failureList
	section string
}

func openVitest(c *collector) [2]lineReader {
	run := &vitestRun{collector: c}
	return [2]lineReader{&vitestReader{vitestRun: run}, &vitestReader{vitestRun: run}}
}

func (v *vitestReader) line(line string) {
	if m := vitestSection.match(line); m != nil {
		v.section, v.current = m[1], nil
		if v.section == "Failed Suites" {
			v.suites += atoi(m[2])
		}
		return
	}
	if m := vitestTotals.match(line); m != nil {
		v.tally.ended, v.section, v.current = true, "", nil
		v.failed += atoi(m[1])
		v.ran = v.ran || strings.Contains(line, " passed") || strings.Contains(line, " failed")
		return
	}
	switch {
	case strings.HasPrefix(line, " Test Files  "):
		v.recognised = true
	case strings.HasPrefix(line, "No test files found"):
		v.recognised, v.tally.ended, v.tally.noTests = true, true, true
	case strings.HasPrefix(line, " FAIL  ") && strings.HasPrefix(v.section, "Failed"):
		v.failure(strings.TrimSpace(line[len(" FAIL  "):]))
	case v.current == nil:
	case strings.HasPrefix(line, " ❯ "):
		if m := vitestFrame.match(line); m != nil && v.current.Line == 0 && !inLibrary(m[1]) {
			v.current.locate(v.framePath(m[1]), m[2])
		}
	case v.current.Message == "":
		v.current.Message = strings.TrimSpace(line)
	}
}

// framePath returns the path at the end of a frame: a function's name may come before it, and both
// may have spaces. If no such file is known to exist, the path is the last word.
func (v *vitestReader) framePath(frame string) string {
	const longestPath = 1000 // bytes
	frame = frame[max(0, len(frame)-longestPath):]
	for rest, found := frame, true; found; _, rest, found = strings.Cut(rest, " ") {
		if path, ok := v.places.rel(rest); ok && v.places.exists != nil && v.places.exists(path) {
			return rest
		}
	}
	return strings.TrimPrefix(frame[strings.LastIndexByte(frame, ' ')+1:], "(")
}

// failure reads "add.test.js > add > throws" and "load.test.js [ load.test.js ]".
func (v *vitestReader) failure(title string) {
	file, name, _ := strings.Cut(title, " > ")
	f := Failure{Name: name, Unit: file, Cause: Failed}
	if v.section == "Failed Suites" {
		file, _, _ = strings.Cut(file, " [ ")
		f.Unit, f.Cause, f.Path = file, Build, file
	}
	v.begin(f)
}

func (v *vitestReader) end() {
	v.failAll(v.list)
	if v.tally.ended {
		v.tally.failed = v.failed + v.suites
		v.tally.noTests = !v.ran
	}
}
