package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// maxListed is how many violations the error of ReadDocument lists.
const maxListed = 10

// WriteDocument writes a value as indented JSON, which people can read as well, with a newline at
// its end.
func WriteDocument(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// ReadDocument reads into v, a pointer, a JSON document that another job or program has left.
// The document has to conform to the published schema in file, and to have at most limit bytes.
// Errors call such a document by name, for example "a findings document". They describe what is
// wrong and where. They are about the document unless r fails or the schema cannot be used.
//
// An object with two members of one name is an error, because the schema might judge one of
// them and Go read the other.
func ReadDocument(r io.Reader, file, name string, limit int64, v any) error {
	raw, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return err
	}
	if int64(len(raw)) > limit {
		return fmt.Errorf("it is larger than %d MiB, the limit of %s", limit>>20, name)
	}
	if place, twice := Duplicate(raw); twice {
		return fmt.Errorf("an object in it has two members of one name: %s", place)
	}
	if !jsontext.Value(raw).IsValid() {
		return errors.New("it is not JSON in UTF-8")
	}
	s, ok := Published(file, "")
	if !ok {
		return errors.New("there is no schema " + file)
	}
	violations, err := s.Validate(raw)
	if err != nil {
		return err
	}
	if len(violations) > 0 {
		return fmt.Errorf("it is not %s, as 'airlock schema %s' describes it: %s", name, strings.TrimSuffix(file, ".json"), listed(violations))
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return fmt.Errorf("it is not %s: %w", name, err)
	}
	return nil
}

// listed lists violations in one line.
func listed(violations []Violation) string {
	var problems []string
	for _, v := range violations[:min(len(violations), maxListed)] {
		problems = append(problems, v.Path+": "+v.Message)
	}
	if more := len(violations) - maxListed; more > 0 {
		problems = append(problems, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(problems, "; ")
}
