package intake

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

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

var errNotObject = errors.New("not an object")

// object returns the record's members, no two of which have the same name. They are
// valid until the next call. If the record is not strict JSON, it is repaired and the
// repairs are noted. The problem is one sentence, or "".
func (p *parser) object(raw []byte, notes *Notes) (members []schema.Member, problem string) {
	err := p.read(raw)
	if err == nil {
		return p.members, ""
	}
	if errors.Is(err, errNotObject) {
		return nil, notObject(raw)
	}
	fixed, repairs, err := jsonrepair.Fix(raw)
	if err != nil {
		return nil, "not valid JSON, and it cannot be repaired: " + err.Error()
	}
	for _, r := range repairs {
		if r.Kind == jsonrepair.ProseAround {
			return nil, safeoutput.ErrInText.Error()
		}
		notes.Repairs = append(notes.Repairs, Repair{Kind: r.Kind, Offset: r.Offset, Count: r.Count})
	}
	if err := p.read(fixed, jsontext.AllowDuplicateNames(true)); err != nil {
		return nil, notObject(fixed)
	}
	return p.lastWins(notes), ""
}

// read parses one object, as strictly as opts allow.
func (p *parser) read(raw []byte, opts ...jsontext.Options) error {
	p.src = *bytes.NewBuffer(raw)
	p.dec.Reset(&p.src, opts...)
	p.members = p.members[:0]
	if k := p.dec.PeekKind(); k != '{' {
		if err := p.dec.SkipValue(); err != nil {
			return err
		}
		if err := p.end(raw); err != nil {
			return err // "2025-01-02 {...}" begins with a number, too
		}
		return errNotObject
	}
	if _, err := p.dec.ReadToken(); err != nil {
		return err
	}
	for p.dec.PeekKind() != '}' {
		name, err := p.dec.ReadValue()
		if err != nil {
			return err
		}
		known, ok := p.names[string(name[1:len(name)-1])]
		if !ok {
			unquoted, err := jsontext.AppendUnquote(nil, name)
			if err != nil {
				return err
			}
			known = string(unquoted)
		}
		value, err := p.dec.ReadValue()
		if err != nil {
			return err
		}
		// The decoder may reuse the memory of value, so use that of the record.
		end := int(p.dec.InputOffset())
		p.members = append(p.members, schema.Member{Name: known, Value: raw[end-len(value) : end : end]})
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

// lastWins keeps the last of members with the same name, at every depth.
func (p *parser) lastWins(notes *Notes) []schema.Member {
	known := map[string]int{}
	kept := p.members[:0]
	for _, m := range p.members {
		if v := jsontext.Value(m.Value); !v.IsValid() {
			m.Value = rebuild(m.Value)
			notes.repair(RepairDuplicateKey, m.Name)
		}
		if i, ok := known[m.Name]; ok {
			kept[i].Value = m.Value
			notes.repair(RepairDuplicateKey, m.Name)
			continue
		}
		known[m.Name] = len(kept)
		kept = append(kept, m)
	}
	p.members = kept
	return kept
}

// rebuild decodes and encodes a value, which keeps the last of duplicate names.
func rebuild(raw []byte) []byte {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return raw
	}
	out, err := json.Marshal(v)
	if err != nil {
		return raw
	}
	return out
}

func notObject(raw []byte) string {
	what := "a number"
	switch t := strings.TrimSpace(string(raw[:min(len(raw), 8)])); {
	case strings.HasPrefix(t, "["):
		what = "an array"
	case strings.HasPrefix(t, `"`):
		what = "a string"
	case t == "null" || t == "true" || t == "false":
		what = t
	}
	return "an object is expected, not " + what + "; write one JSON object a line"
}
