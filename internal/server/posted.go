package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/agent-airlock/airlock/internal/text"
)

// withSoundIDs returns a handler that refuses some messages before inner sees them, as serveStdio
// does: a message that inner would answer under another id than the request's, two requests of a
// batch with one id, and a message with two members of one name. It also looks for such members in
// the "params" of a request, because inner would drop one of two "arguments" in silence. inner
// reports all other mistakes, and its errors are shortened.
func withSoundIDs(inner http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if problem := checkPosted(raw); problem != "" {
			http.Error(w, problem, http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(raw))
		inner.ServeHTTP(shortening{w}, r)
	})
}

// checkPosted returns what is wrong with the names and ids of one message, or of a batch of
// them; "" if nothing is, or if it cannot be read at all.
func checkPosted(raw []byte) string {
	var messages []json.RawMessage
	if json.Unmarshal(raw, &messages) != nil { // it is not a batch
		messages = []json.RawMessage{raw}
	}
	ids := map[string]bool{}
	for _, message := range messages {
		if name := repeatedName(message); name != "" {
			return fmt.Sprintf("the message has %q twice", text.Truncate(name, 100))
		}
		var request struct {
			ID     json.RawMessage `json:"id"`
			Method json.RawMessage `json:"method"`
			Params json.RawMessage `json:"params"`
		}
		if json.Unmarshal(message, &request) != nil || request.Method == nil || len(request.ID) == 0 {
			continue
		}
		if name := repeatedName(request.Params); name != "" {
			return fmt.Sprintf("the message has %q twice", text.Truncate(name, 100))
		}
		switch id := requestID(request.ID); {
		case id == "" && (request.ID[0] == '-' || request.ID[0] >= '0' && request.ID[0] <= '9'):
			return fmt.Sprintf(`invalid ID %s: "id" must be a text or a whole number of at most %d`, text.Truncate(string(request.ID), 50), maxID)
		case id != "" && ids[id]:
			return "two requests of the batch have one id: give each an id of its own"
		default:
			ids[id] = true
		}
	}
	return ""
}

// repeatedName returns a name that two members of an object have, or "".
func repeatedName(object []byte) string {
	dec := jsontext.NewDecoder(bytes.NewReader(object), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if dec.PeekKind() != '{' {
		return ""
	}
	if _, err := dec.ReadToken(); err != nil {
		return ""
	}
	names := map[string]bool{}
	for dec.PeekKind() == '"' {
		token, err := dec.ReadToken()
		if err != nil {
			return ""
		}
		name := token.String()
		if names[name] {
			return name
		}
		names[name] = true
		if dec.SkipValue() != nil {
			return ""
		}
	}
	return ""
}
