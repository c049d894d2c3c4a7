package guide

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/text"
	"github.com/agent-airlock/airlock/schemas"
)

// Schema returns a published schema by a file's name, with or without its ending, or by any name of
// a kind.
func Schema(name string) (json.RawMessage, error) {
	if spec, ok := safeoutput.Lookup(name); ok {
		name = string(spec.Kind)
	}
	raw, ok := schemas.Lookup(name)
	if !ok {
		known := schemas.Names()
		for _, spec := range safeoutput.Kinds() {
			known = append(append(known, string(spec.Kind)), spec.Aliases...)
		}
		return nil, fmt.Errorf("there is no schema %q%s ('airlock schema' lists them)", text.Truncate(name, 60), text.DidYouMean(name, known))
	}
	return raw, nil
}

// ListSchemas writes the names of the schemas that Schema knows, and what each kind is for.
func ListSchemas(w io.Writer) error {
	list := strings.Join(schemas.Names(), "\n") + "\n"
	for _, spec := range safeoutput.Kinds() {
		list += fmt.Sprintf("%-36s %s\n", spec.Kind, spec.Summary)
	}
	_, err := io.WriteString(w, list)
	return err
}
