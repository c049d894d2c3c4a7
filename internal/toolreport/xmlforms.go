package toolreport

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"io"
	"strings"

	"github.com/agent-airlock/airlock/internal/finding"
)

// readXML reads one or more documents of checkstyle's XML or JUnit's and returns the
// form's name. It returns an error if a document is incomplete.
func readXML(b []byte, c *collector) (string, error) {
	dec := xml.NewDecoder(bytes.NewReader(b))
	dec.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	x := xmlReader{c: c}
	for depth := 0; ; {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			x.done()
			return x.form, nil
		}
		if err != nil {
			x.done()
			if x.form != "" && depth == 0 {
				return x.form, nil // the text after the document is not XML
			}
			return x.form, err
		}
		switch t := token.(type) {
		case xml.StartElement:
			depth++
			x.start(t)
		case xml.EndElement:
			depth--
			x.end(t.Name.Local)
		case xml.CharData:
			if x.inside && x.details.Len() < maxMessage {
				x.details.Write(t[:min(len(t), maxMessage)])
			}
		}
	}
}

// xmlReader reads the elements of a document.
type xmlReader struct {
	c    *collector
	form string // "checkstyle", "junit", or "" before the first element of either
	file string // the current file in checkstyle's XML

	// The current suite and test in JUnit's XML.
	suite struct {
		name, file string
		problems   int  // how many errors and failures the suite reports
		failed     bool // one of its tests failed
	}
	test    Failure
	failed  bool            // the test failed
	details strings.Builder // the text of the failure element
	inside  bool            // the reader is in the failure element
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
	case "testsuite":
		x.form = "junit"
		x.suiteEnd()
		x.suite.name, x.suite.file, x.suite.problems = attribute("name"), attribute("file"), atoi(attribute("errors"))+atoi(attribute("failures"))
	case "testcase":
		x.failed = false
		x.test = Failure{Name: strings.TrimPrefix(attribute("classname")+" "+attribute("name"), " "), Unit: x.suite.name, Cause: Failed,
			Path: cmp.Or(attribute("file"), x.suite.file), Line: atoi(attribute("line"))}
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
		if x.failed {
			if x.test.Message == "" {
				x.test.Message = strings.TrimSpace(x.details.String())
			}
			x.suite.failed = true
			x.c.fail(x.test)
		}
		x.failed = false
	case "testsuite":
		x.suiteEnd()
	}
}

// suiteEnd records a suite that reports failures but lists no failed test as a crash.
func (x *xmlReader) suiteEnd() {
	if x.suite.problems > 0 && !x.suite.failed {
		x.c.fail(Failure{Unit: x.suite.name, Cause: Crash, Path: x.suite.file})
	}
	x.suite.problems, x.suite.failed = 0, false
}

func (x *xmlReader) done() {
	if x.form == "junit" {
		x.c.tally.closed = true
	}
}
