package toolreport

import (
	"bytes"
	"encoding/json"
	"errors"
)

// maxObjects bounds the number of opening braces in a document, and so the number of objects in a
// JSON document. Each object takes far more memory than its text, which may have only three bytes.
const maxObjects = 1_000_000

var errObjects = errors.New("it may have more than 1,000,000 objects")

// document collects what may be a JSON or XML document in a stream: from the first line
// that begins like one to the end.
type document struct {
	data    bytes.Buffer
	started bool
	dropped bool // it turned out to be something else
	tooLong bool // longer than MaxDocument
}

func (d *document) line(line string) {
	if d.dropped {
		return
	}
	if !d.started {
		if !beginsDocument(line) {
			return
		}
		d.started = true
	}
	if d.data.Len()+len(line) >= MaxDocument {
		d.tooLong = true
		return
	}
	d.data.WriteString(line)
	d.data.WriteByte('\n')
}

// drop discards what turned out not to be a document.
func (d *document) drop() {
	d.dropped = true
	d.data = bytes.Buffer{}
}

func beginsDocument(line string) bool {
	return line == "{" || line == "[" || line == "{}" ||
		startsWithAny(line, []string{`{"`, "[{", "[]", "<?xml ", "<checkstyle", "<testsuite", `{ "`, "[ {"})
}

// read reads the document into the collector and returns the name of its form, "" if
// that is not known or the document is too long. The error reports that the document is
// incomplete or malformed, or exceeds another limit.
func (d *document) read(c *collector) (string, error) {
	b := bytes.TrimSpace(d.data.Bytes())
	if len(b) == 0 || d.tooLong {
		return "", nil
	}
	if bytes.Count(b, []byte("{")) > maxObjects {
		return "", errObjects
	}
	if b[0] == '<' {
		return readXML(b, c)
	}
	// A tool may print several values after each other, and text after them.
	var found string
	dec := json.NewDecoder(bytes.NewReader(b))
	for {
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			if found == "" && dec.InputOffset() == 0 {
				return "", err
			}
			return found, nil
		}
		if name := readJSON(raw, c); name != "" {
			found = name
		}
	}
}
