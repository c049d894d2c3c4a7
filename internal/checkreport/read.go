package checkreport

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/agent-airlock/airlock/internal/schema"
)

// Schema is the name of the published schema of the document.
const Schema = "findings.json"

// MaxBytes is how large a document may be.
const MaxBytes = 64 << 20

// maxPath is how many bytes the path of a file has at most; the schema counts
// characters.
const maxPath = 4096

// maxViolations is how many violations an error names.
const maxViolations = 10

// Read reads a document that another job has left. It is untrusted: whatever does
// not conform to the published schema, or is larger than MaxBytes, is an error
// that names what is wrong and where. What it says about the outcome is the other
// job's word, and only the numbers of it are believed.
func Read(r io.Reader) (*Document, error) {
	raw, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	if err != nil {
		return nil, err
	}
	switch {
	case len(raw) > MaxBytes:
		return nil, fmt.Errorf("it is larger than %d MiB, which no findings document is", MaxBytes>>20)
	}
	// Two members of one name would be one thing to the schema and another to Go.
	if !jsontext.Value(raw).IsValid() {
		return nil, errors.New("it is not JSON in UTF-8 whose names are each there once")
	}
	s, ok := schema.Published(Schema, "")
	if !ok {
		return nil, errors.New("there is no schema " + Schema)
	}
	violations, err := s.Validate(raw)
	if err != nil {
		return nil, err
	}
	if len(violations) > 0 {
		return nil, invalid(violations)
	}
	var d Document
	if err := json.Unmarshal(raw, &d); err != nil {
		return nil, fmt.Errorf("it is not a findings document: %w", err)
	}
	for i := range d.Findings { // a range is where it begins, at least
		f := &d.Findings[i]
		if path.Clean(f.Path) == "." || len(f.Path) > maxPath {
			f.Path = "" // it names no file
		}
		if f.StartLine == 0 || f.Path == "" {
			f.StartLine, f.EndLine, f.StartColumn, f.EndColumn, f.Suggestion = 0, 0, 0, 0, ""
		}
		if f.EndLine < f.StartLine {
			f.EndLine, f.EndColumn = 0, 0
		}
	}
	return &d, nil
}

func invalid(violations []schema.Violation) error {
	var b strings.Builder
	b.WriteString("it is not a findings document, as 'airlock schema " + Schema + "' describes it: ")
	for i, v := range violations {
		if i == maxViolations {
			fmt.Fprintf(&b, "; and %d more", len(violations)-i)
			break
		}
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(v.Path + ": " + v.Message)
	}
	return errors.New(b.String())
}

// Write writes the document as indented JSON.
func (d *Document) Write(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(d)
}
