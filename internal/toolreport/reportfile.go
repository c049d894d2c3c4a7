package toolreport

import (
	"bytes"
	"cmp"
	"errors"
	"io"
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

// AddReport reads a report that the tool's test runner wrote. It is called after the tool ended,
// before Report. The pull request's code can forge the report, so the report can only add failures
// to the printed ones: see verdict.addFiles. A report that cannot be read becomes a note.
func (r *Reader) AddReport(file ReportFile, from io.Reader) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.files == nil {
		r.files = newCollector(r.tool, newPlaces(r.tool), callerName(r.tool))
	}
	notRead := func(why string) {
		r.unreadFile = true
		r.files.note("the test report " + text.TruncateBytes(file.Name, maxName) + " " + why)
	}
	raw, err := io.ReadAll(io.LimitReader(from, MaxDocument+1))
	if err == nil && len(raw) > MaxDocument {
		err = errors.New("it is longer than 64 MiB")
	}
	if err != nil {
		notRead("was not read: " + err.Error())
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
	_, isBeyond := errors.AsType[limitError](err)
	switch {
	case err != nil && form != "" || isBeyond:
		notRead(unread(err))
	case form == "" || !c.tally.ended:
		notRead("has no form that is known")
		return
	}
	r.files.tally.join(c.tally)
	r.filesForm = cmp.Or(r.filesForm, form)
}

// characterReference matches references to characters. If a test printed in colour, some runners
// write references that XML does not allow.
var characterReference = lazyregexp.New(`&#(x[0-9A-Fa-f]{1,8}|[0-9]{1,9});`)

// legibleXML replaces text that XML does not allow and that Go's reader refuses: invalid UTF-8,
// control characters and references to them.
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
