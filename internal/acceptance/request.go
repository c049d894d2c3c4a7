package acceptance

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/schema"
)

// Names of the published schemas of requests and responses.
const (
	RequestSchema  = "validation-request.schema.json"
	ResponseSchema = "validation-response.schema.json"
)

// DefaultTimeout is the time limit of a verification whose request sets none.
const DefaultTimeout = 300 * time.Second

// MaxMessage is how large a message with a request or a response may be, in bytes.
const MaxMessage = 16 << 20

// Type is who verifies.
type Type string

// The types. With Both, each side must pass.
const (
	Code    Type = "code"    // a machine if it can verify the hint, otherwise the validator
	Browser Type = "browser" // the browser command
	Both    Type = "both"
)

// Request is what to verify, as in spec 001. ReadRequest or IssueRequest makes it.
type Request struct {
	TaskID   string      `json:"task_id"`
	PRD      string      `json:"prd_id,omitempty"` // of the requirements document
	Type     Type        `json:"validation_type"`
	Criteria []Criterion `json:"acceptance_criteria"`
	Claim    *Claim      `json:"claimed_evidence,omitempty"`
	Worktree string      `json:"worktree_path,omitempty"` // absolute
	Branch   string      `json:"branch,omitempty"`
	Services *Services   `json:"services,omitempty"`
	Focus    []string    `json:"focus_areas,omitempty"`
	Timeout  schema.Int  `json:"timeout_seconds,omitempty"` // 0: DefaultTimeout

	raw json.RawMessage // as it was received, with the properties that are not known here
}

// Criterion is one acceptance criterion.
type Criterion struct {
	ID          string `json:"id"`
	Description string `json:"description"`
	Hint        string `json:"validation_hint"`
}

// Claim is what the author of a change says was done.
type Claim struct {
	Summary string   `json:"summary,omitempty"`
	Files   []string `json:"files_modified,omitempty"`
	Tests   string   `json:"test_results,omitempty"`
	Commit  string   `json:"commit_hash,omitempty"`
}

// Services are the services that must run before the verification.
type Services struct {
	AppURL string       `json:"app_url,omitempty"`
	APIURL string       `json:"api_url,omitempty"`
	Ports  []schema.Int `json:"required_ports,omitempty"`
}

// InvalidError lists all violations of a message: of its schema, and of rules that the schema
// cannot express.
type InvalidError struct {
	Schema     string // the name of the published schema
	Violations []schema.Violation
}

// Error implements error.
func (e *InvalidError) Error() string {
	lines := make([]string, len(e.Violations))
	for i, v := range e.Violations {
		lines[i] = fmt.Sprintf("%s: %s", v.Path, v.Message)
		if v.SchemaPath != "" {
			lines[i] += " (" + v.SchemaPath + ")"
		}
	}
	return strings.Join(lines, "\n")
}

// Answer returns the error as JSON with which the sender can correct the message: the
// violations, and the schema itself.
func (e *InvalidError) Answer() ([]byte, error) {
	source, ok := schema.Source(e.Schema)
	if !ok {
		return nil, errors.New("there is no schema " + e.Schema)
	}
	return encode(struct {
		Error      string             `json:"error"`
		Message    string             `json:"message"`
		Violations []schema.Violation `json:"validation_errors"`
		Schema     json.RawMessage    `json:"schema"`
	}{"validation_failed", "The message does not conform to " + e.Schema, e.Violations, source})
}

// invalid returns an InvalidError about the entire message.
func invalid(schemaName string, err error) *InvalidError {
	return &InvalidError{Schema: schemaName, Violations: []schema.Violation{{Path: "$", Message: err.Error()}}}
}

// ReadRequest reads a request from a message in any of the forms that Unwrap knows. The
// error is an *InvalidError with all violations, unless Airlock itself failed.
func ReadRequest(message []byte) (Request, error) {
	req, raw, err := readMessage[Request](message, RequestSchema)
	req.raw = raw
	return req, err
}

// readMessage reads a document of a schema from a message in any of the forms that Unwrap knows,
// and returns its JSON, too. After an error both are zero.
func readMessage[T interface{ contradictions() []schema.Violation }](message []byte, schemaName string) (doc T, raw json.RawMessage, err error) {
	var zero T
	if raw, err = Unwrap(message); err != nil {
		return zero, nil, invalid(schemaName, err)
	}
	violations, err := violationsOf(schemaName, raw)
	if err != nil {
		return zero, nil, err
	}
	err = decodeLoose(raw, &doc)
	switch {
	case err == nil:
		violations = append(violations, doc.contradictions()...)
	case len(violations) == 0: // otherwise the violations say why
		return zero, nil, invalid(schemaName, err)
	}
	if len(violations) > 0 {
		return zero, nil, &InvalidError{schemaName, violations}
	}
	return doc, raw, nil
}

// violationsOf validates a document, in which no member may be given twice.
func violationsOf(name string, raw []byte) ([]schema.Violation, error) {
	s, ok := schema.Published(name, "")
	if !ok {
		return nil, errors.New("there is no schema " + name)
	}
	violations, err := s.Validate(raw)
	if err != nil {
		return nil, err
	}
	if place, twice := schema.Duplicate(raw); twice {
		violations = append(violations, schema.Violation{Path: place, Message: "it is given twice"})
	}
	return violations, nil
}

// contradictions returns the violations that a schema cannot express.
func (r Request) contradictions() (out []schema.Violation) {
	seen := map[string]int{}
	for i, c := range r.Criteria {
		if c.ID == "" {
			continue // the schema says so
		}
		if first, twice := seen[c.ID]; twice {
			out = append(out, schema.Violation{Path: fmt.Sprintf("$.acceptance_criteria[%d].id", i),
				Message: fmt.Sprintf("%s is the id of acceptance_criteria[%d] already: give each criterion its own", schema.Quote(c.ID), first), SchemaPath: "properties.acceptance_criteria.items.properties.id"})
			continue
		}
		seen[c.ID] = i
	}
	return out
}

// timeout returns how long the verification may take.
func (r Request) timeout() time.Duration {
	return cmp.Or(time.Duration(r.Timeout)*time.Second, DefaultTimeout)
}

// focused returns the indexes of the criteria, first those of the focus areas. A focus area
// is the id of a criterion, or a text that its description or hint contains.
func (r Request) focused() []int {
	var first, rest []int
	for i, c := range r.Criteria {
		text := strings.ToLower(c.Description + "\n" + c.Hint)
		named := slices.ContainsFunc(r.Focus, func(area string) bool {
			area = strings.ToLower(strings.TrimSpace(area))
			return area != "" && (area == strings.ToLower(c.ID) || strings.Contains(text, area))
		})
		if named {
			first = append(first, i)
		} else {
			rest = append(rest, i)
		}
	}
	return append(first, rest...)
}

// withCriteria returns the request for a validator as JSON. It contains the criteria with these
// indexes, or all if indexes is nil. The given members are added, or replace those of the request;
// the map itself may be changed. Unknown properties of the request stay.
func (r Request) withCriteria(indexes []int, members map[string]any) ([]byte, error) {
	doc := map[string]json.RawMessage{}
	if err := decodeLoose(r.raw, &doc); err != nil {
		return nil, err
	}
	if indexes != nil {
		var all, kept []json.RawMessage
		if err := decodeLoose(doc["acceptance_criteria"], &all); err != nil {
			return nil, err
		}
		for _, i := range indexes {
			kept = append(kept, all[i])
		}
		members["acceptance_criteria"] = kept
	}
	for name, value := range members {
		raw, err := encode(value)
		if err != nil {
			return nil, err
		}
		doc[name] = raw
	}
	return encode(doc)
}
