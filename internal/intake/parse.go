package intake

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/agent-airlock/airlock/internal/jsonrepair"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/schema"
	"github.com/go-json-experiment/json/jsontext"
)

// parser splits records into the members of their object. Each worker has its own,
// which reuses its memory.
type parser struct {
	dec     *jsontext.Decoder
	src     bytes.Buffer
	members []schema.Member
	names   map[string]string // all fields' names, so that they are not allocated for each record
}

func newParser() *parser {
	p := &parser{names: map[string]string{"type": "type"}}
	p.dec = jsontext.NewDecoder(&p.src)
	for _, s := range safeoutput.Kinds() {
		for f := range safeoutput.FieldAliases(s.Kind) {
			p.names[f] = f
		}
	}
	return p
}

// maxMembers is how many members a record may have: far more than any kind has fields.
const maxMembers = 1000

// shapeError reports that a text is JSON, but not an object that a record can be.
type shapeError string

// Error implements error.
func (e shapeError) Error() string { return string(e) }

// object returns the record's members, no two of which have the same name. They are
// valid until the next call. If the record is not strict JSON, it is repaired and the
// repairs are noted. The problem is nil or the one violation.
func (p *parser) object(raw []byte, notes *Notes) (members []schema.Member, problem *schema.Violation) {
	err := p.read(raw)
	if err == nil {
		return p.members, nil
	}
	if shape, ok := errors.AsType[shapeError](err); ok {
		return nil, refused(shape.Error())
	}
	fixed, repairs, err := jsonrepair.Fix(raw)
	if err != nil {
		return nil, refused("not valid JSON, and it cannot be repaired: " + err.Error())
	}
	for _, r := range repairs {
		if r.Kind == jsonrepair.ProseAround {
			return nil, refused(safeoutput.ErrInText.Error())
		}
		notes.Repairs = append(notes.Repairs, Repair{Kind: r.Kind, Offset: r.Offset, Count: r.Count})
	}
	err = p.read(fixed)
	if err == nil {
		return p.members, nil
	}
	if path, found := schema.Duplicate(fixed); found {
		return nil, &schema.Violation{Path: path, Message: duplicateMessage}
	}
	return nil, refused(err.Error())
}

// duplicateMessage is about a name that two members of an object have. Which of them an
// agent meant cannot be known, and other programs may take the other one.
const duplicateMessage = "the object has two members of this name; give it once"

// refused returns a violation of the entire record.
func refused(message string) *schema.Violation { return &schema.Violation{Path: "$", Message: message} }

// read parses one object of strict JSON.
func (p *parser) read(raw []byte) error {
	p.src = *bytes.NewBuffer(raw)
	p.dec.Reset(&p.src)
	p.members = p.members[:0]
	if k := p.dec.PeekKind(); k != '{' {
		if err := p.dec.SkipValue(); err != nil {
			return err
		}
		if err := p.end(raw); err != nil {
			return err // "2025-01-02 {...}" begins with a number, too
		}
		return notObject(raw)
	}
	if _, err := p.dec.ReadToken(); err != nil {
		return err
	}
	for p.dec.PeekKind() != '}' {
		if len(p.members) == maxMembers {
			return shapeError(fmt.Sprintf("the object has more than %d members", maxMembers))
		}
		quoted, err := p.dec.ReadValue()
		if err != nil {
			return err
		}
		name, known := p.names[string(quoted[1:len(quoted)-1])]
		if !known {
			unquoted, err := jsontext.AppendUnquote(nil, quoted)
			if err != nil {
				return err
			}
			name = string(unquoted)
		}
		value, err := p.dec.ReadValue()
		if err != nil {
			return err
		}
		// The decoder may reuse the memory of value, so use that of the record.
		end := int(p.dec.InputOffset())
		p.members = append(p.members, schema.Member{Name: name, Value: raw[end-len(value) : end : end]})
	}
	if _, err := p.dec.ReadToken(); err != nil {
		return err
	}
	return p.end(raw)
}

// end returns an error if something follows the value that was read from raw.
func (p *parser) end(raw []byte) error {
	if len(bytes.TrimSpace(raw[p.dec.InputOffset():])) > 0 {
		return errors.New("there is more after the value")
	}
	return nil
}

// notObject returns the error about a valid JSON value that is not an object.
func notObject(raw []byte) shapeError {
	what := "a number"
	switch t := bytes.TrimSpace(raw); {
	case bytes.HasPrefix(t, []byte("[")):
		what = "an array"
	case bytes.HasPrefix(t, []byte(`"`)):
		what = "a string"
	case slices.Contains([]string{"null", "true", "false"}, string(t)):
		what = string(t)
	}
	return shapeError("an object is expected, not " + what + "; write one JSON object a line")
}
