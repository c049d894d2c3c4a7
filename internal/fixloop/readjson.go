package fixloop

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
)

// maxJSONDepth is how deep a completion may be in other values.
const maxJSONDepth = 8

// jsonReader reads completions in JSON. left is how many bytes it may still read of what begins like an
// object but is not one.
type jsonReader struct{ left int }

// newJSONReader returns a reader for a text and all values in it.
func newJSONReader(text string) *jsonReader { return &jsonReader{left: 16 * len(text)} }

// readJSON returns the fix completions in a text that are written as the JSON of a Message, and all
// messages in the Markdown that strings of JSON contain. It looks for objects that begin a line, in a
// fence or not, and into their members and strings: agents print such envelopes around what they
// answer. The JSON of a message of another type is not looked into: a fix request quotes what the
// checks printed.
func (r *jsonReader) readJSON(src string, depth int) (out []Message, err error) {
	for src != "" && r.left > 0 && depth < maxJSONDepth {
		line := strings.TrimLeft(src, " \t>")
		if strings.HasPrefix(line, "{") {
			var object json.RawMessage
			dec := json.NewDecoder(strings.NewReader(line))
			wrong := dec.Decode(&object)
			if wrong == nil {
				found, err := r.completionsIn(object, depth+1)
				if err != nil {
					return nil, err
				}
				out, src = append(out, found...), line[dec.InputOffset():]
				continue
			}
			read := len(line)
			if syntax, ok := errors.AsType[*json.SyntaxError](wrong); ok {
				read = int(syntax.Offset)
			}
			r.left -= read
		}
		_, src, _ = strings.Cut(src, "\n")
	}
	return out, nil
}

// completionsIn returns the fix completions in a value of JSON, and the messages that its texts
// contain as Markdown. Those in an object are in the order of the members' names.
func (r *jsonReader) completionsIn(value json.RawMessage, depth int) (out []Message, err error) {
	var members map[string]json.RawMessage
	var elements []json.RawMessage
	var printed string
	switch {
	case depth >= maxJSONDepth:
	case json.Unmarshal(value, &members) == nil:
		var head struct{ Type Type }
		_ = json.Unmarshal(value, &head) // a type that is not a string counts as none
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
		return readMessages(printed, r, depth)
	}
	for _, e := range elements {
		found, err := r.completionsIn(e, depth+1)
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
