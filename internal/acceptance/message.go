package acceptance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/agent-airlock/airlock/internal/schema"
)

// maxDepth is how deep forms may be nested, the object itself included: an envelope whose content is
// a text with a fenced block, for example, is three deep.
const maxDepth = 4

// Unwrap returns the JSON object in a message, which has one of these forms:
//
//   - the object itself;
//   - a JSON string that contains one of these forms;
//   - a text, of which the first fenced block that is marked as json contains one of these
//     forms, or the first block of all if none is marked;
//   - a message envelope, whose member content is one of these forms.
func Unwrap(message []byte) (json.RawMessage, error) {
	if len(message) > MaxMessage {
		return nil, fmt.Errorf("the message is larger than %d MiB", MaxMessage>>20)
	}
	for range maxDepth {
		message = bytes.TrimSpace(bytes.TrimPrefix(message, []byte("\uFEFF")))
		switch {
		case len(message) == 0:
			return nil, errors.New("the message is empty; a JSON object is expected")
		case message[0] == '{':
			content, ok := contentOf(message)
			if !ok {
				return message, nil
			}
			message = []byte(content)
		case message[0] == '"':
			var text string
			if err := decodeLoose(message, &text); err != nil {
				return nil, fmt.Errorf("the message is not a JSON string: %w", err)
			}
			message = []byte(text)
		default:
			block, ok := firstBlock(string(message))
			if !ok && jsontext.Value(message).IsValid() {
				return nil, fmt.Errorf("a JSON object is expected, and the message is %s", schema.Quote(string(message)))
			}
			if !ok {
				return nil, errors.New("the message is neither JSON nor a text with a fenced block of JSON")
			}
			message = []byte(block)
		}
	}
	return nil, fmt.Errorf("a message in a message is read up to %d deep, and this one is deeper: send the JSON object itself", maxDepth)
}

// contentOf returns the content of a message envelope. Requests and responses, which have
// a task_id, are not envelopes.
func contentOf(raw []byte) (content string, ok bool) {
	var doc struct {
		TaskID  json.RawMessage `json:"task_id"`
		Content json.RawMessage `json:"content"`
	}
	if decodeLoose(raw, &doc) != nil || doc.TaskID != nil || doc.Content == nil {
		return "", false
	}
	if doc.Content[0] == '{' {
		return string(doc.Content), true
	}
	if decodeLoose(doc.Content, &content) != nil {
		return "", false
	}
	return content, true
}

// firstBlock returns the content of the first fenced block that is marked as json, or else of the
// first block. A block may be indented, because prompts in the source of a program are. A block
// without an end goes on to the end of the text.
func firstBlock(text string) (content string, ok bool) {
	var line, first string
	found := false
	for text != "" {
		line, text, _ = strings.Cut(text, "\n")
		fence, info := fenceOf(line)
		if fence == "" {
			continue
		}
		var block strings.Builder
		for text != "" {
			line, text, _ = strings.Cut(text, "\n")
			if closing, info := fenceOf(line); info == "" && len(closing) >= len(fence) && closing[0] == fence[0] {
				break
			}
			block.WriteString(line + "\n")
		}
		if word, _, _ := strings.Cut(info, " "); strings.EqualFold(word, "json") {
			return block.String(), true
		}
		if !found {
			first, found = block.String(), true
		}
	}
	return first, found
}

// fenceOf returns the fence that a line begins with, "" if it does not begin with one,
// and what follows it.
func fenceOf(line string) (fence, info string) {
	line = strings.TrimSpace(line)
	for _, c := range []string{"`", "~"} {
		rest := strings.TrimLeft(line, c)
		if n := len(line) - len(rest); n >= 3 {
			return line[:n], strings.TrimSpace(rest)
		}
	}
	return "", ""
}

// encodeIn wraps content in a message, as agents send requests and responses to each other. The
// result is indented JSON. If recipient is "", it is content itself.
func encodeIn(recipient string, content []byte, summary string) ([]byte, error) {
	if recipient == "" {
		return content, nil
	}
	return encode(struct {
		Type      string `json:"type"`
		Recipient string `json:"recipient"`
		Content   string `json:"content"`
		Summary   string `json:"summary"`
	}{"message", recipient, string(content), summary})
}

// DefaultRecipient is the recipient of a response if no other one is named.
const DefaultRecipient = "team-lead"

// decodeLoose decodes JSON whose keys are matched exactly. Unknown members are ignored,
// invalid UTF-8 is replaced, and of members with the same name the last one counts. Integers
// may have each form that a schema accepts, such as 200.0.
func decodeLoose(raw []byte, to any) error {
	return jsonv2.Unmarshal(raw, to, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true), integers)
}

var integers = jsonv2.WithUnmarshalers(jsonv2.UnmarshalFunc(func(raw []byte, n *int) (err error) {
	if *n, err = strconv.Atoi(string(raw)); err != nil {
		err = (*schema.Int)(n).UnmarshalJSON(raw)
	}
	return err
}))

// encode encodes a value as indented JSON with a newline at its end.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	err := schema.WriteDocument(&b, v)
	return b.Bytes(), err
}
