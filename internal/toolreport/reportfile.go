package toolreport

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agent-airlock/airlock/internal/lazyregexp"
	"github.com/agent-airlock/airlock/internal/text"
)

// ReportFile is a report that a test runner wrote into a file: JUnit's XML, or the JSON of
// rspec and others.
type ReportFile struct {
	// Name is the file's name as people see it.
	Name string
	// Dir is the directory of the project that the report is about, relative to the root,
	// slash-separated. "" is the directory where the tool ran.
	Dir string
}

// AddReport reads a report that the tool's test runner wrote. It is called after the tool
// ended, before Report. The pull request's code can write there what it likes, so a report
// can only add failures to what was printed: see verdict.addFiles. A report that cannot be
// read becomes a note.
func (r *Reader) AddReport(file ReportFile, from io.Reader) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.files == nil {
		r.files = newCollector(r.tool, newPlaces(r.tool), callerName(r.tool))
	}
	fileName := text.TruncateBytes(file.Name, maxName)
	raw, err := io.ReadAll(io.LimitReader(from, MaxDocument+1))
	if err == nil && len(raw) > MaxDocument {
		err = errors.New("it is longer than 64 MiB")
	}
	if err != nil {
		r.files.note(fmt.Sprintf("the test report %s was not read: %v", fileName, err))
		return
	}
	t := r.tool
	if file.Dir != "" {
		t.Dir = file.Dir
	}
	places := newPlaces(t)
	places.strict = true
	c := newCollector(t, places, callerName(t))
	d := document{started: true}
	d.data.Write(legibleXML(raw))
	form, err := d.read(c)
	switch {
	case err != nil && form != "":
		r.files.note(fmt.Sprintf("the test report %s is incomplete: %s", fileName, text.TruncateBytes(err.Error(), maxName)))
		c.tally.ended = false
	case form == "" || !c.tally.ended:
		r.files.note("the test report " + fileName + " has no form that is known")
		return
	}
	r.files.tally.join(c.tally)
	r.filesForm = cmp.Or(r.filesForm, form)
}

// addFiles adds what the runners' own reports say about the tests. The worse of them and of
// what was printed counts, so that a forged report hides nothing; the list of failures that
// names more places is kept.
func (v *verdict) addFiles(files tally, form string) {
	printed := v.tally
	if files.failed > printed.failed || files.failed == printed.failed && located(files.failing) > located(printed.failing) {
		v.tally.failed, v.tally.failing = files.failed, files.failing
	}
	v.tally.ended = printed.ended || files.ended
	v.tally.lost = v.tally.lost || files.lost && files.failed >= printed.failed
	v.tally.noTests = files.noTests && (printed.noTests || !printed.ended)
	if len(v.names) == 0 {
		v.names = append(v.names, form)
	}
}

// located counts the failures whose place is known.
func located(failures []Failure) int {
	n := 0
	for _, f := range failures {
		if f.Path != "" && f.Line > 0 {
			n++
		}
	}
	return n
}

// characterReference is one of a character that XML does not allow, though runners write
// it: what a test printed in colour.
var characterReference = lazyregexp.New(`&#(x[0-9A-Fa-f]{1,8}|[0-9]{1,9});`)

// legibleXML replaces what XML does not allow, and Go's reader refuses: invalid UTF-8, control
// characters and references to them.
func legibleXML(b []byte) []byte {
	b = bytes.ToValidUTF8(b, []byte("\uFFFD"))
	b = bytes.Map(func(r rune) rune {
		if !isXML(r) {
			return ' '
		}
		return r
	}, b)
	if !bytes.Contains(b, []byte("&#")) {
		return b
	}
	return characterReference.ReplaceAllFunc(b, func(ref []byte) []byte {
		digits, base := string(ref[2:len(ref)-1]), 10
		if strings.HasPrefix(digits, "x") {
			digits, base = digits[1:], 16
		}
		if n, err := strconv.ParseInt(digits, base, 32); err == nil && isXML(rune(n)) {
			return ref
		}
		return []byte(" ")
	})
}

// isXML reports whether XML 1.0 allows a character.
func isXML(r rune) bool {
	return r == '\t' || r == '\n' || r == '\r' || r >= ' ' && r <= 0xD7FF || r >= 0xE000 && r <= 0xFFFD || r >= 0x10000 && r <= utf8.MaxRune
}

// placeInDetails sets the place of a failure, if it has none, from the text that a JUnit
// report has about it: the stack trace of the language.
func (c *collector) placeInDetails(f *Failure, class, details string) {
	if f.Path != "" && f.Line > 0 {
		return
	}
	for line := range strings.SplitSeq(details, "\n") {
		line = text.TruncateBytes(line, maxText)
		if m := javaFrame.match(line); m != nil {
			if name := c.javaFile(m[1], m[2]); name != "" && (class == "" || strings.HasPrefix(m[1], outerClass(class))) {
				f.Path, f.Line = name, atoi(m[3])
				return
			}
			continue
		}
		if m := pytestPlace.match(line); m != nil && c.hasFile(m[1]) {
			f.Path, f.Line = m[1], atoi(m[2]) // the last is the test's or what it called, as in pytest's text
			continue
		}
		if m := mochaFrame.match(line); m != nil && !inLibrary(m[1]) && !strings.HasPrefix(m[1], "node:") && c.hasFile(m[1]) {
			f.Path, f.Line = m[1], atoi(m[2])
			return
		}
	}
}

// nameAsPytest names a test as pytest does in its output, "test/test_a.py::Class::test", if
// its file is found. In the report, the file and the class are joined by dots.
func (c *collector) nameAsPytest(f *Failure, class string) {
	parts := strings.Split(class, ".")
	if c.places.exists == nil || len(parts) > 100 {
		return
	}
	for n := len(parts); n > 0; n-- {
		file := path.Join(parts[:n]...) + ".py"
		if class == "" || !c.hasFile(file) {
			continue
		}
		name := strings.TrimPrefix(strings.TrimPrefix(f.Name, class), " ")
		f.Name = strings.Join(append(append([]string{file}, parts[n:]...), name), "::")
		if f.Unit = file; f.Path == "" {
			f.Path = file
		}
		return
	}
}

var javaFrame = containing("at ", `^\s*at (?:[\w.$@-]*/)*([\w.$]+)\.[\w$<>]+\((\w+\.(?:java|kt|groovy|scala)):(\d+)\)$`)

func outerClass(class string) string {
	outer, _, _ := strings.Cut(class, "$")
	return outer
}

// javaFile returns the file of a class in one of the directories where Maven and Gradle
// look for tests, "" if it is in none.
func (c *collector) javaFile(class, file string) string {
	pkg := ""
	if i := strings.LastIndexByte(class, '.'); i >= 0 {
		pkg = strings.ReplaceAll(class[:i], ".", "/")
	}
	for _, dir := range []string{"src/test/java", "src/test/kotlin", "src/test/groovy", "src/test/scala", "src/integrationTest/java", "src/main/java"} {
		if name := path.Join(dir, pkg, file); c.places.exists != nil && c.hasFile(name) {
			return name
		}
	}
	return ""
}

// hasFile reports whether a printed path is one in the root.
func (c *collector) hasFile(printed string) bool {
	_, ok := c.places.rel(printed)
	return ok
}
