package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agent-airlock/airlock/internal/runs"
	"github.com/agent-airlock/airlock/internal/schema"
	"github.com/agent-airlock/airlock/internal/text"
)

// bodySchema returns the schema of an object that may have these members and no others. required
// has the names of those that it must have.
func bodySchema(required []any, members map[string]any) *schema.Schema {
	return schema.New(func() (any, error) {
		return map[string]any{"type": "object", "required": append([]any{}, required...), "additionalProperties": false, "properties": members}, nil
	})
}

// receive reads a body. Its errors are those of the API, except that those of a body that is too
// large or too slow stay as they are.
func receive(r *http.Request) ([]byte, error) {
	if err := checkEncoding(r); err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(r.Body)
	if err == nil || isA[*http.MaxBytesError](err) || errors.Is(err, os.ErrDeadlineExceeded) {
		return raw, err
	}
	return nil, invalidRequest("the body cannot be read (%s): send as many bytes as Content-Length says, or well-formed chunks", err)
}

// readBody reads a body that must be JSON, and checks that it is UTF-8 and not empty. It does not
// look at Content-Type, because curl -d sends that of a form.
func readBody(r *http.Request) ([]byte, error) {
	raw, err := receive(r)
	if err != nil {
		return nil, err
	}
	if raw = bytes.TrimSpace(raw); len(raw) == 0 {
		return nil, invalidRequest("the body is empty: send a JSON object")
	}
	if !utf8.Valid(raw) {
		return nil, invalidRequest("the body is not UTF-8, as JSON must be")
	}
	return raw, nil
}

// checkEncoding refuses a body that is compressed.
func checkEncoding(r *http.Request) error {
	if coding := strings.Join(r.Header.Values("Content-Encoding"), ", "); coding != "" && !strings.EqualFold(coding, "identity") {
		return refuse(http.StatusUnsupportedMediaType, "unsupported_media_type", "the body is encoded (%s): send it as it is, without Content-Encoding", shown(coding))
	}
	return nil
}

// decodeBody reads a body that conforms to a schema. The error has every violation, or else
// the first member that is there twice.
func decodeBody(r *http.Request, form *schema.Schema, into any) error {
	raw, err := readBody(r)
	if err != nil {
		return err
	}
	violations, err := form.Validate(raw)
	if err != nil {
		return err
	}
	if path, twice := schema.Duplicate(raw); twice && len(violations) == 0 {
		violations = []schema.Violation{{Path: path, Message: "the member is there twice"}}
	}
	if len(violations) > 0 {
		e := invalidRequest("the body is not valid: %s: %s", text.Truncate(violations[0].Path, 200), violations[0].Message)
		e.ValidationErrors = violations
		return e
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return invalidRequest("the body is not valid: %s", err)
	}
	return nil
}

// idempotencyKey returns the idempotency key of a request, "" for none.
func idempotencyKey(r *http.Request) (string, error) {
	values, given := r.Header["Idempotency-Key"]
	if !given {
		return "", nil
	}
	key := strings.Join(values, ",")
	if !runs.ValidKey(key) {
		return "", invalidRequest("Idempotency-Key must be 1 to %d printable ASCII characters", runs.MaxKey)
	}
	return key, nil
}

// number returns the whole number that the query gives for a parameter, or fallback if given is "".
func number(given, name string, fallback, least, most int) (int, error) {
	if given == "" {
		return fallback, nil
	}
	n, err := strconv.Atoi(given)
	if err != nil || n < least || n > most {
		return 0, invalidRequest("%s must be a whole number from %d to %d", name, least, most)
	}
	return n, nil
}
