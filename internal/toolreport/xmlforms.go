package toolreport

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/text"
)

// readXML reads one or more documents of checkstyle's XML or JUnit's and returns the
// form's name. It returns an error if a document is incomplete, and a limitError if it exceeds
// maxXMLDepth or maxXMLTag.
func readXML(b []byte, c *collector) (string, error) {
	if err := boundedTags(b); err != nil {
		return "", err
	}
	dec := xml.NewDecoder(bytes.NewReader(b))
	dec.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	reader := xmlReader{c: c}
	for depth := 0; ; {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			reader.done()
			return reader.form, nil
		}
		if err != nil {
			reader.done()
			if reader.form != "" && depth == 0 {
				return reader.form, nil // the text after the document is not XML
			}
			return reader.form, err
		}
		switch t := token.(type) {
		case xml.StartElement:
			if depth++; depth > maxXMLDepth {
				reader.done()
				return reader.form, limitError(fmt.Sprintf("its elements are nested more deeply than %d", maxXMLDepth))
			}
			reader.start(t)
		case xml.EndElement:
			depth--
			reader.end(t.Name.Local)
		case xml.CharData:
			if reader.inside && reader.details.Len() < maxXMLDetails {
				reader.details.WriteString(text.TruncateBytes(string(t), maxXMLDetails-reader.details.Len()))
			}
		}
	}
}

// Bounds of XML. Many attributes or deeply nested elements cost far more memory than their text.
const (
	maxXMLDepth = 200
	maxXMLTag   = 1 << 20 // bytes
	// maxXMLDetails bounds how many bytes of a failure's text are kept until its place is found in
	// them.
	maxXMLDetails = 64 << 10
)

// boundedTags returns a limitError if a tag is longer than maxXMLTag. Comments and character
// data may be longer.
func boundedTags(b []byte) error {
	for i := 0; ; {
		open := bytes.IndexByte(b[i:], '<')
		if open < 0 {
			return nil
		}
		i += open + 1
		if i < len(b) && b[i] == '!' { // a comment, CDATA or a declaration: none has attributes
			length := declarationLength(b[i:])
			if length < 0 {
				return nil
			}
			i += length
			continue
		}
		quote := byte(0)
		for start := i; i < len(b) && (quote != 0 || b[i] != '>'); i++ {
			switch c := b[i]; {
			case quote == c:
				quote = 0
			case quote == 0 && (c == '"' || c == '\''):
				quote = c
			}
			if i-start > maxXMLTag {
				return limitError(fmt.Sprintf("it has a tag of more than %d bytes", maxXMLTag))
			}
		}
	}
}

// declarationLength returns the length of the comment, CDATA or other declaration that begins with
// the "!" at the start of b, and -1 if it does not end.
func declarationLength(b []byte) int {
	end := ">"
	switch {
	case bytes.HasPrefix(b, []byte("!--")):
		end = "-->"
	case bytes.HasPrefix(b, []byte("![CDATA[")):
		end = "]]>"
	}
	i := bytes.Index(b, []byte(end))
	if i < 0 {
		return -1
	}
	return i + len(end)
}

// xmlReader reads the elements of a document.
type xmlReader struct {
	c      *collector
	form   string     // "checkstyle", "junit", or "" before the first element of either
	file   string     // the current file in checkstyle's XML
	suites []xmlSuite // the open ones in JUnit's XML, outermost first
	last   string     // the name of the last failed test, in pytest's XML
	ran    bool       // a test was not skipped

	test    Failure
	class   string          // of the test; some runners put its file there
	failed  bool            // the test failed
	todo    bool            // the test was expected to fail, which is not a failure
	skipped bool            // the test did not run
	details strings.Builder // the text of the failure element
	inside  bool            // the reader is in the failure element
}

// xmlSuite is a suite in JUnit's XML.
type xmlSuite struct {
	name, file string
	problems   int  // how many errors and failures the suite reports
	failed     bool // one of its tests failed, or one of a suite in it
	todo       bool // one of them failed as expected, which problems may include
}

func (x *xmlReader) suite() xmlSuite {
	if len(x.suites) == 0 {
		return xmlSuite{}
	}
	return x.suites[len(x.suites)-1]
}

func (x *xmlReader) start(e xml.StartElement) {
	attribute := func(name string) string {
		for _, a := range e.Attr {
			if a.Name.Local == name {
				return a.Value
			}
		}
		return ""
	}
	switch e.Name.Local {
	case "checkstyle":
		x.form = "checkstyle"
	case "file":
		x.file = attribute("name")
	case "error":
		if x.form == "checkstyle" {
			x.checkstyle(attribute)
			return
		}
		x.failure(attribute)
	case "failure":
		x.failure(attribute)
	case "skipped":
		kind := attribute("type")
		x.todo, x.skipped = kind == "todo", kind != "todo" && kind != "pytest.xfail"
	case "testsuite":
		x.form = "junit"
		x.suites = append(x.suites, xmlSuite{name: attribute("name"), file: attribute("file"), problems: atoi(attribute("errors")) + atoi(attribute("failures"))})
	case "testsuites":
		x.form = "junit"
	case "testcase":
		x.failed, x.todo, x.skipped, x.class = false, false, false, attribute("classname")
		x.test = Failure{Name: strings.TrimPrefix(attribute("classname")+" "+attribute("name"), " "), Unit: x.suite().name, Cause: Failed,
			Path: cmp.Or(attribute("file"), x.suite().file), Line: atoi(attribute("line"))}
		if attribute("name") == "" {
			x.test.Name, x.test.Unit = "", attribute("classname")
		}
	}
}

func (x *xmlReader) checkstyle(attribute func(string) string) {
	source := attribute("source") // a Java class
	rule := source[strings.LastIndexByte(source, '.')+1:]
	x.c.add(finding.Finding{
		Tool: "checkstyle", Path: x.file, Rule: strings.TrimSuffix(rule, "Check"), Message: attribute("message"), Severity: levelOf(attribute("severity")),
		Range: finding.Range{StartLine: atoi(attribute("line")), StartColumn: atoi(attribute("column"))},
	})
}

func (x *xmlReader) failure(attribute func(string) string) {
	if x.form == "junit" && !x.failed {
		x.failed, x.inside, x.test.Message = true, true, attribute("message")
		x.details.Reset()
	}
}

func (x *xmlReader) end(name string) {
	switch name {
	case "failure", "error":
		x.inside = false
	case "testcase":
		x.ran = x.ran || !x.skipped
		switch {
		case x.failed && x.todo:
			for i := range x.suites {
				x.suites[i].todo = true
			}
		case x.failed:
			x.testEnd()
		}
		x.failed = false
	case "testsuite":
		x.suiteEnd()
	}
}

// testEnd records a test that failed.
func (x *xmlReader) testEnd() {
	if len(x.suites) > 0 {
		x.suites[len(x.suites)-1].failed = true
	}
	if x.test.Unit == "pytest" {
		// A test that failed, and then failed to clean up, is in pytest's report twice.
		if x.last == x.test.Name {
			return
		}
		x.last = x.test.Name
		x.c.nameAsPytest(&x.test, x.class)
	}
	details := x.details.String()
	x.c.placeInDetails(&x.test, x.class, details)
	if x.test.Message == "" {
		x.test.Message = strings.TrimSpace(details)
	}
	x.test.Message = xmlEscapes.Replace(x.test.Message)
	x.c.fail(x.test)
}

// xmlEscapes restores the ESC character at the beginning of escape sequences, so that fail can
// remove the sequences. XML does not allow this character, and pytest and Surefire each write it
// in their own way.
var xmlEscapes = strings.NewReplacer("#x1B[", "\x1b[", "&#27;[", "\x1b[")

// suiteEnd ends a suite. If the suite reports failures but lists no test that failed, as expected
// or not, it counts as crashed.
func (x *xmlReader) suiteEnd() {
	if len(x.suites) == 0 {
		return
	}
	s := x.suite()
	if s.problems > 0 && !s.failed && !s.todo {
		x.c.fail(Failure{Unit: s.name, Cause: Crash, Path: s.file})
		s.failed = true
	}
	x.suites = x.suites[:len(x.suites)-1]
	if len(x.suites) > 0 && s.failed {
		x.suites[len(x.suites)-1].failed = true
	}
}

func (x *xmlReader) done() {
	for len(x.suites) > 0 { // of a document that is cut off
		x.suiteEnd()
	}
	if x.form == "junit" {
		x.c.tally.ended, x.c.tally.noTests = true, !x.ran && x.c.tally.failed == 0
	}
}

// placeInDetails sets the place of a failure that does not have both a file and a line. It looks
// for the place in details, the failure's text in a JUnit report. The text contains a stack trace
// in the form of the language. Of Java's frames only those of the test's class count.
func (c *collector) placeInDetails(f *Failure, class, details string) {
	if f.Path != "" && f.Line > 0 {
		return
	}
	outerClass, _, _ := strings.Cut(class, "$")
	for line := range strings.SplitSeq(details, "\n") {
		line = text.TruncateBytes(line, maxText)
		if m := javaFrame.match(line); m != nil {
			if name := c.javaFile(m[1], m[2]); name != "" && strings.HasPrefix(m[1], outerClass) {
				f.Path, f.Line = name, atoi(m[3])
				return
			}
			continue
		}
		if m := pytestPlace.match(line); m != nil && c.hasFile(m[1]) {
			f.Path, f.Line = m[1], atoi(m[2]) // the last place counts, as in pytestReader
			continue
		}
		if m := jsFrame.match(line); m != nil && !inLibrary(m[1]) && c.hasFile(m[1]) {
			f.Path, f.Line = m[1], atoi(m[2])
			return
		}
	}
}

// nameAsPytest names a test as pytest does in its output, "test/test_a.py::Class::test", and sets
// its unit and its path, if its file is found. In the report, the file and the class are joined by
// dots.
func (c *collector) nameAsPytest(f *Failure, class string) {
	parts := strings.Split(class, ".")
	if c.places.exists == nil || class == "" || len(parts) > 100 {
		return
	}
	for n := len(parts); n > 0; n-- {
		file := path.Join(parts[:n]...) + ".py"
		if !c.hasFile(file) {
			continue
		}
		name := strings.TrimPrefix(strings.TrimPrefix(f.Name, class), " ")
		f.Name = strings.Join(slices.Concat([]string{file}, parts[n:], []string{name}), "::")
		f.Unit, f.Path = file, cmp.Or(f.Path, file)
		return
	}
}

var javaFrame = containing("at ", `^\s*at (?:[\w.$@-]*/)*([\w.$]+)\.[\w$<>]+\((\w+\.(?:java|kt|groovy|scala)):(\d+)\)$`)

// javaFile returns the file of a class in one of the directories where Maven and Gradle
// look for tests and code, "" if it is in none.
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
