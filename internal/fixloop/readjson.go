package fixloop

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
)

// Bounds of readJSON: how deep a completion may be in other values, and how many lines that begin
// like an object may not be one.
const (
	maxJSONDepth = 8
	maxNotJSON   = 100
)

// readJSON returns the fix completions in a text that are written as the JSON of a Message. Each is
// an object that begins a line, in a fence or not, or is in such an object: as it is, or as a text,
// which may also be Markdown. Agents print such envelopes around what they answer. A message of another
// type is not looked into: a fix request quotes what the checks printed.
func readJSON(src string, depth int) (out []Message, err error) {
	for failed := 0; src != "" && failed < maxNotJSON && depth < maxJSONDepth; {
		line := strings.TrimLeft(src, " \t>")
		if strings.HasPrefix(line, "{") {
			var object json.RawMessage
			dec := json.NewDecoder(strings.NewReader(line))
			if dec.Decode(&object) == nil {
				found, err := completionsIn(object, depth+1)
				if err != nil {
					return nil, err
				}
				out, src = append(out, found...), line[dec.InputOffset():]
				continue
			}
			failed++
		}
		_, src, _ = strings.Cut(src, "\n")
	}
	return out, nil
}

// completionsIn returns the fix completions in a value of JSON; those in an object in the order of the
// members' names.
func completionsIn(value json.RawMessage, depth int) (out []Message, err error) {
	var members map[string]json.RawMessage
	var elements []json.RawMessage
	var printed string
	switch {
	case depth >= maxJSONDepth:
	case json.Unmarshal(value, &members) == nil:
		var head struct{ Type Type }
		_ = json.Unmarshal(value, &head) // it has a type or not
		if head.Type == FixCompletion {
			m, err := completionOf(value)
			return []Message{m}, err
		}
		if _, known := spelling[head.Type]; known {
			return nil, nil
		}
		for _, name := range slices.Sorted(maps.Keys(members)) {
			elements = append(elements, members[name])
		}
	case json.Unmarshal(value, &elements) == nil:
	case json.Unmarshal(value, &printed) == nil:
		return readMessages(printed, depth)
	}
	for _, e := range elements {
		found, err := completionsIn(e, depth+1)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// completionOf decodes a fix completion. Its id, what was mended and which files changed are read.
func completionOf(object json.RawMessage) (Message, error) {
	var given struct {
		ID    string   `json:"id"`
		Fixes []string `json:"fixes"`
		Files []string `json:"files"`
	}
	in := &interpreter{form: form{title: spelling[FixCompletion].title}}
	err := json.Unmarshal(object, &given)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		in.fail("the member %q of the %s has the wrong type: %s", wrong.Field, FixCompletion, wrong.Value)
	} else if err != nil {
		in.fail("the %s cannot be read: %v", FixCompletion, err)
	}
	m := Message{Type: FixCompletion, ID: given.ID, From: Fixer, To: Orchestrator, Priority: PriorityHigh, Fixes: given.Fixes, Files: given.Files}
	if m.ID == "" {
		in.fail(`the %s has no "id"`, FixCompletion)
	} else {
		in.identifier(&m)
	}
	if len(in.problems) > 0 {
		return Message{}, &ParseError{in.problems}
	}
	return m, nil
}
