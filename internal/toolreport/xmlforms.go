package toolreport

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"

	"github.com/agent-airlock/airlock/internal/finding"
)

// readXML reads checkstyle's XML and JUnit's, several documents one after the
// other, and returns the form's name. The error is a document that is not whole.
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
				return x.form, nil // other text behind the document
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
			if x.text != nil && len(*x.text) < maxMessage {
				*x.text += string(t[:min(len(t), maxMessage)])
			}
		}
	}
}

// xmlReader is where the reading of an XML document stands.
type xmlReader struct {
	c    *collector
	form string
	file string // checkstyle's
	// JUnit's: the suite, the test case, whether it has failed, where its text goes.
	suite struct {
		name, file string
		errors     int
		failed     bool
	}
	test   Failure
	bad    bool
	text   *string
	detail string
}

func (x *xmlReader) start(e xml.StartElement) {
	at := func(name string) string {
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
		x.file = at("name")
	case "error":
		if x.form == "checkstyle" {
			x.checkstyle(at)
			return
		}
		x.failure(at)
	case "failure":
		x.failure(at)
	case "testsuite":
		x.form = "junit"
		x.suiteEnd()
		x.suite.name, x.suite.file, x.suite.errors, x.suite.failed = at("name"), at("file"), number(at("errors"))+number(at("failures")), false
	case "testcase":
		x.bad = false
		x.test = Failure{Name: strings.TrimPrefix(at("classname")+" "+at("name"), " "), Unit: x.suite.name, Cause: Failed, Path: at("file"), Line: number(at("line"))}
		if at("name") == "" {
			x.test.Name, x.test.Unit = "", at("classname")
		}
		if x.test.Path == "" {
			x.test.Path = x.suite.file
		}
	}
}

func (x *xmlReader) checkstyle(at func(string) string) {
	rule := at("source")
	if i := strings.LastIndexByte(rule, '.'); i >= 0 {
		rule = rule[i+1:]
	}
	severity := levelOf(at("severity"))
	x.c.add(finding.Finding{
		Tool: "checkstyle", Path: x.file, Rule: strings.TrimSuffix(rule, "Check"), Message: at("message"), Severity: severity,
		Range: finding.Range{StartLine: number(at("line")), StartColumn: number(at("column"))},
	})
}

func (x *xmlReader) failure(at func(string) string) {
	if x.form == "junit" && !x.bad {
		x.bad, x.detail = true, ""
		x.test.Message, x.text = at("message"), &x.detail
	}
}

func (x *xmlReader) end(name string) {
	switch name {
	case "failure", "error":
		x.text = nil
	case "testcase":
		if x.bad {
			if x.test.Message == "" {
				x.test.Message = strings.TrimSpace(x.detail)
			}
			x.suite.failed = true
			x.c.fail(x.test)
		}
		x.bad = false
	case "testsuite":
		x.suiteEnd()
	}
}

// suiteEnd counts a suite that says that it has failures and has no such test.
func (x *xmlReader) suiteEnd() {
	if x.suite.errors > 0 && !x.suite.failed {
		x.c.fail(Failure{Unit: x.suite.name, Cause: Crash, Path: x.suite.file})
	}
	x.suite.errors, x.suite.failed = 0, false
}

func (x *xmlReader) done() {
	if x.form == "junit" {
		x.c.tally.closed = true
	}
}
