package agents

import (
	"encoding/json"
	"fmt"

	"github.com/agent-airlock/airlock/internal/schema"
)

// Patched returns b with a JSON merge patch (RFC 7396) applied: a member that is null in the patch
// is removed from b, an object is merged into that of b, and any other value replaces that of b.
// The patch must not have a name. The source stays as it is, and the version is one higher. The
// error is an *InvalidError if the patch or the result is not valid.
func (b Blueprint) Patched(patch []byte) (Blueprint, error) {
	members, err := decodeObject(patch)
	if err != nil {
		return b, err
	}
	if _, ok := members["name"]; ok {
		return b, &InvalidError{"the patch", []schema.Violation{{Path: "$.name", Message: "the name of an agent cannot be changed: add another agent instead"}}}
	}
	current, err := json.Marshal(b)
	if err != nil {
		return b, err
	}
	target, err := decodeObject(current)
	if err != nil {
		return b, err
	}
	for _, name := range []string{"source", "version"} { // a document has neither
		delete(target, name)
	}
	raw, err := json.Marshal(merge(target, members))
	if err != nil {
		return b, err
	}
	patched, err := Parse(raw)
	if err != nil {
		return b, err
	}
	patched.Source, patched.Version = b.Source, b.Version+1
	return patched, nil
}

// anyObject lets every object pass, within the limits of any value from outside.
var anyObject = schema.New(func() (any, error) { return map[string]any{"type": "object"}, nil })

func decodeObject(raw []byte) (map[string]json.RawMessage, error) {
	violations, err := anyObject.Validate(raw)
	if err != nil {
		return nil, err
	}
	if len(violations) == 0 {
		violations = duplicates(raw)
	}
	if len(violations) > 0 {
		return nil, &InvalidError{"the patch", violations}
	}
	var m map[string]json.RawMessage
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, fmt.Errorf("agents: %w", err)
	}
	return m, nil
}

// merge applies a merge patch to an object. Values are kept as they are written.
func merge(target, patch map[string]json.RawMessage) map[string]json.RawMessage {
	for name, value := range patch {
		if string(value) == "null" {
			delete(target, name)
			continue
		}
		var inner map[string]json.RawMessage
		if json.Unmarshal(value, &inner) != nil {
			target[name] = value // not an object
			continue
		}
		var outer map[string]json.RawMessage
		if json.Unmarshal(target[name], &outer) != nil || outer == nil {
			outer = map[string]json.RawMessage{}
		}
		merged, err := json.Marshal(merge(outer, inner))
		if err != nil {
			continue // raw JSON that has been read can be written
		}
		target[name] = merged
	}
	return target
}
