package intake

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/agent-airlock/airlock/internal/jsonrepair"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/sanitize"
	"github.com/agent-airlock/airlock/internal/sarif"
	"github.com/agent-airlock/airlock/internal/schema"
	"github.com/go-json-experiment/json/jsontext"
)

// parseSARIF returns a SARIF log as an object, even if it is in a string, and checks
// what later readers rely on. If that fails, it refuses the log and returns an empty object.
func (j *recordJudge) parseSARIF(raw []byte) []byte {
	text, what := raw, "'sarif'"
	var err error
	if raw[0] == '"' {
		what = "'sarif' is a string that is not a SARIF log: it"
		text, err = j.unquoteSARIF(raw)
	}
	if err == nil {
		err = checkLog(text)
	}
	if err != nil {
		j.refuse("$.sarif", what+" "+err.Error())
		return []byte("{}")
	}
	return text
}

// unquoteSARIF returns the log in a string. If it is not strict JSON, it is repaired
// as a record is.
func (j *recordJudge) unquoteSARIF(raw []byte) ([]byte, error) {
	text, err := jsontext.AppendUnquote(nil, raw)
	if err != nil {
		return nil, errors.New("is not valid JSON")
	}
	if jsontext.Value(text).IsValid() {
		return text, nil
	}
	fixed, repairs, err := jsonrepair.Fix(text)
	if err != nil {
		if e, ok := errors.AsType[*jsonrepair.Error](err); ok && e.Code == jsonrepair.SecondObject {
			e.Mend = "give one log, and no other text" // more lines would not help in a string
		}
		return nil, errors.New("is not valid JSON, and it cannot be repaired: " + err.Error())
	}
	if path, found := schema.Duplicate(fixed); found {
		return nil, fmt.Errorf("has two members of one name, %s; give it once", strings.TrimPrefix(path, "$."))
	}
	for _, r := range repairs {
		j.notes.Repairs = append(j.notes.Repairs, Repair{Kind: r.Kind, Field: "sarif", Offset: r.Offset, Count: r.Count})
	}
	return fixed, nil
}

// maxSARIFViolations is how many violations of a SARIF log are listed.
const maxSARIFViolations = 20

// readSARIF reads a log. If it cannot be read, readSARIF refuses it and returns nil.
func (j *recordJudge) readSARIF(raw []byte) *sarif.Log {
	log, err := sarif.Read(raw)
	if err != nil {
		j.refuse("$.sarif", err.Error())
		return nil
	}
	return log
}

// checkSARIF validates a log by the SARIF schema and by what else code scanning needs.
func (j *recordJudge) checkSARIF(log *sarif.Log) {
	found, err := log.Validate()
	if err != nil {
		j.refuse("$.sarif", "'sarif' cannot be checked: "+err.Error())
	}
	for i, f := range found {
		if i == maxSARIFViolations {
			j.refuse("$.sarif", "'sarif': there are more violations than are listed here")
			break
		}
		j.refuse("$.sarif"+strings.TrimPrefix(f.Path, "$"), f.Message)
	}
}

// cleanSARIF cleans the item's log. The result must still be valid.
func (j *recordJudge) cleanSARIF(it *safeoutput.CreateSecurityReport) {
	log := j.log
	j.log = nil
	if log == nil { // it was released after it was validated
		if log = j.readSARIF(it.SARIF); log == nil {
			return
		}
	}
	notes := log.Clean(sarifCleaner{j.sanitizer})
	if bytes.Equal(log.JSON(), it.SARIF) {
		return
	}
	it.SARIF = log.JSON()
	if len(notes) > 0 { // otherwise only the form of the JSON and line ends in strings differ
		j.checkSARIF(log) // a tool's name may be empty now
	}
	for _, n := range notes {
		j.notes.Redactions = append(j.notes.Redactions, Redaction{"sarif", n.Rule, n.Detail, n.Count})
	}
}

// checkLog checks that a log, which is valid JSON, is an object, and its depth and numbers.
func checkLog(text []byte) error {
	dec := jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true))
	if dec.PeekKind() != '{' {
		return errors.New("is not a JSON object")
	}
	for {
		tok, err := dec.ReadToken()
		if err != nil {
			return errors.New("is not valid JSON")
		}
		if tok.Kind() == '0' && !schema.BoundedNumber(tok.String()) {
			return errors.New("contains the number " + showValue([]byte(tok.String())) + ", which is out of range")
		}
		if dec.StackDepth() > safeoutput.MaxDepth {
			return fmt.Errorf("is nested more than %d deep", safeoutput.MaxDepth)
		}
		if dec.StackDepth() == 0 {
			return nil
		}
	}
}

// sarifCleaner adapts the sanitizer for package sarif.
type sarifCleaner struct{ s *sanitize.Sanitizer }

func (c sarifCleaner) Plain(text string) (string, []sarif.Note) {
	out, notes := c.s.Characters(text)
	return out, sarifNotes(notes)
}

func (c sarifCleaner) Message(text string) (string, []sarif.Note) {
	out, notes := c.s.Message(text)
	return out, sarifNotes(notes)
}

func (c sarifCleaner) Body(text string) (string, []sarif.Note) {
	out, notes := c.s.Body(text)
	return out, sarifNotes(notes)
}

func (c sarifCleaner) URL(address string) (string, bool) { return c.s.URL(address) }

func sarifNotes(notes []sanitize.Note) []sarif.Note {
	var out []sarif.Note
	for _, n := range notes {
		out = append(out, sarif.Note{Rule: n.Rule, Detail: n.Detail, Count: n.Count})
	}
	return out
}
