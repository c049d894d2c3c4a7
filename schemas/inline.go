package schemas

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// maxDepth bounds inlining: a definition that refers to itself has no finite
// form.
const maxDepth = 64

// inliner replaces references to a file's own definitions by what they name.
type inliner struct {
	definitions map[string]json.RawMessage
}

func (in inliner) value(raw json.RawMessage, depth int) (json.RawMessage, error) {
	if depth > maxDepth {
		return nil, errors.New("references are nested too deeply, or in a circle")
	}
	raw = bytes.TrimSpace(raw)
	switch {
	case len(raw) > 0 && raw[0] == '{':
		return in.object(raw, depth)
	case len(raw) > 0 && raw[0] == '[':
		return in.array(raw, depth)
	}
	return raw, nil
}

// object rebuilds an object in the order of its keys; in draft-07 what stands
// beside a $ref is ignored, so the reference replaces the whole object.
func (in inliner) object(raw json.RawMessage, depth int) (json.RawMessage, error) {
	var ref struct {
		Ref *string `json:"$ref"`
	}
	if err := json.Unmarshal(raw, &ref); err == nil && ref.Ref != nil {
		name, ok := refName(*ref.Ref)
		def, found := in.definitions[name]
		if !ok || !found {
			return nil, fmt.Errorf("cannot resolve %q", *ref.Ref)
		}
		return in.value(def, depth+1)
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	out := []byte{'{'}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		k, err := json.Marshal(key)
		if err != nil {
			return nil, err
		}
		v, err := in.next(dec, depth)
		if err != nil {
			return nil, err
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, k...), ':'), v...)
	}
	return append(out, '}'), nil
}

func (in inliner) array(raw json.RawMessage, depth int) (json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	out := []byte{'['}
	for dec.More() {
		v, err := in.next(dec, depth)
		if err != nil {
			return nil, err
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, v...)
	}
	return append(out, ']'), nil
}

func (in inliner) next(dec *json.Decoder, depth int) (json.RawMessage, error) {
	var v json.RawMessage
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	return in.value(v, depth+1)
}

func indent(raw []byte) (json.RawMessage, error) {
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		return nil, err
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}
