package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/schema"
	"github.com/agent-airlock/airlock/internal/store"
	"github.com/agent-airlock/airlock/internal/text"
)

// Registry has all blueprints: those built in, those of files, and those in the store. It
// is safe for concurrent use, also by several processes on one store.
type Registry struct {
	Validator
	// Rules has functions by the names of built-in agents. Each checks what a schema cannot express
	// of the agent's parameters. It is called with parameters that conform to the schema.
	Rules map[string]func(parameters []byte) []schema.Violation

	store *store.Store
	fixed map[string]Blueprint // by name
}

// Parameters does what Validator.Parameters does, and also applies the Rules of an agent built in.
func (r *Registry) Parameters(b Blueprint, parameters []byte) error {
	if err := r.Validator.Parameters(b, parameters); err != nil {
		return err
	}
	rule, ok := r.Rules[b.Name]
	if !ok || b.Source != BuiltIn {
		return nil
	}
	if violations := rule(parameters); len(violations) > 0 {
		return &ParameterError{b.Name, violations, b.Schema()}
	}
	return nil
}

// New returns the registry of a store that was opened with Tables. The fixed blueprints, built in or
// of files, can be neither changed nor removed, and hide stored ones of the same name. Two fixed ones
// of the same name are an error. If the store is nil, there are only the fixed blueprints, and the
// registry is only read.
func New(s *store.Store, fixed ...Blueprint) (*Registry, error) {
	r := &Registry{store: s, fixed: map[string]Blueprint{}}
	for _, b := range fixed {
		if other, ok := r.fixed[b.Name]; ok {
			return nil, fmt.Errorf("there are two agents called %s, one %s and one of a %s: rename the latter", b.Name, other.Source, b.Source)
		}
		if b.Version == 0 {
			b.Version = 1
		}
		r.fixed[b.Name] = b
	}
	return r, nil
}

// NotFoundError reports that there is no agent of that name.
type NotFoundError struct {
	Name string
	near string // the name of an agent that was probably meant, or ""
}

// Error implements error.
func (e *NotFoundError) Error() string {
	then := ":"
	if e.near != "" {
		then = fmt.Sprintf("; did you mean %q?", e.near)
	}
	return fmt.Sprintf("there is no agent %q%s 'airlock agents list', GET /agents and the tool list_agent_blueprints list all agents", text.Truncate(e.Name, 100), then)
}

// ExistsError reports that there is an agent of that name already.
type ExistsError struct{ Name string }

// Error implements error.
func (e *ExistsError) Error() string {
	return fmt.Sprintf("there is an agent called %s already: choose another name, or change or remove that agent unless it is built in", e.Name)
}

// ReadOnlyError reports that an agent cannot be changed or removed.
type ReadOnlyError struct {
	Name   string
	Source Source
}

// Error implements error.
func (e *ReadOnlyError) Error() string {
	if e.Source == File {
		return fmt.Sprintf("the agent %s comes from a file: change or remove the file, and start the server again", e.Name)
	}
	return fmt.Sprintf("the agent %s is built in and cannot be changed or removed", e.Name)
}

// List returns all blueprints by name.
func (r *Registry) List(ctx context.Context) ([]Blueprint, error) {
	var stored []Blueprint
	if r.store != nil {
		var err error
		if stored, err = store.List(ctx, r.store, scan, selectAgents+` ORDER BY name`); err != nil {
			return nil, err
		}
	}
	list := make([]Blueprint, 0, len(r.fixed)+len(stored))
	for _, b := range r.fixed {
		list = append(list, b)
	}
	for _, b := range stored {
		if _, ok := r.fixed[b.Name]; !ok {
			list = append(list, b)
		}
	}
	slices.SortFunc(list, func(a, b Blueprint) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// Get returns one blueprint. The error may be a *NotFoundError, which names an agent with a similar
// name if there is one.
func (r *Registry) Get(ctx context.Context, name string) (Blueprint, error) {
	if b, ok := r.fixed[name]; ok {
		return b, nil
	}
	if r.store != nil && isName(name) {
		b, err := get(ctx, r.store, name)
		if _, isMissing := errors.AsType[*NotFoundError](err); !isMissing {
			return b, err
		}
	}
	near, err := r.near(ctx, name)
	if err != nil {
		return Blueprint{}, err
	}
	return Blueprint{}, &NotFoundError{name, near}
}

// near returns the name of an agent that was probably meant by name, or "".
func (r *Registry) near(ctx context.Context, name string) (string, error) {
	if len(name) > maxName+1 {
		return "", nil
	}
	names := slices.Sorted(maps.Keys(r.fixed))
	if r.store != nil {
		stored, err := store.List(ctx, r.store, func(row store.Row) (n string, err error) { return n, row.Scan(&n) }, `SELECT name FROM agents ORDER BY name`)
		if err != nil {
			return "", err
		}
		names = append(names, stored...)
	}
	return text.Nearest(name, names), nil
}

// maxName is how long an agent's name may be.
const maxName = 63

// isName reports whether a text is short enough for an agent's name, and has only characters of names.
// A store may not be able to look for any other text.
func isName(s string) bool {
	return len(s) <= maxName && !strings.ContainsFunc(s, func(r rune) bool { return (r < '0' || r > '9') && (r < 'a' || r > 'z') && r != '-' })
}

func get(ctx context.Context, q store.Querier, name string) (Blueprint, error) {
	b, err := scan(q.QueryRow(ctx, selectAgents+` WHERE name = $1`, name))
	if errors.Is(err, store.ErrNotFound) {
		return b, &NotFoundError{Name: name}
	}
	return b, err
}

// Add stores the blueprint that raw, JSON, describes. The error may be an *InvalidError
// or an *ExistsError.
func (r *Registry) Add(ctx context.Context, raw []byte) (Blueprint, error) {
	b, err := Parse(raw)
	if err != nil {
		return b, err
	}
	if _, ok := r.fixed[b.Name]; ok {
		return b, &ExistsError{b.Name}
	}
	added, err := r.store.Exec(ctx, `INSERT INTO agents (name, `+columns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT (name) DO NOTHING`, append([]any{b.Name}, b.values()...)...)
	if err == nil && added == 0 {
		err = &ExistsError{b.Name}
	}
	return b, err
}

// Patch changes a stored blueprint by a JSON merge patch; see Blueprint.Patched. The
// error may be a *NotFoundError, a *ReadOnlyError or an *InvalidError.
func (r *Registry) Patch(ctx context.Context, name string, patch []byte) (Blueprint, error) {
	if !isName(name) {
		return Blueprint{}, &NotFoundError{Name: name}
	}
	if b, ok := r.fixed[name]; ok {
		return b, &ReadOnlyError{name, b.Source}
	}
	var patched Blueprint
	err := r.store.Transact(ctx, func(tx store.Tx) error {
		b, err := get(ctx, tx, name)
		if err != nil {
			return err
		}
		if patched, err = b.Patched(patch); err != nil {
			return err
		}
		changed, err := tx.Exec(ctx, `UPDATE agents SET (`+columns+`) = ($2, $3, $4, $5, $6, $7, $8, $9, $10, $11) WHERE name = $1 AND version = $11 - 1`, append([]any{name}, patched.values()...)...)
		if err == nil && changed == 0 {
			err = fmt.Errorf("somebody else changed the agent %s at the same moment: try again", name)
		}
		return err
	})
	return patched, err
}

// Remove removes a stored blueprint. Its runs stay, and those that wait are carried out.
// The error may be a *NotFoundError or a *ReadOnlyError.
func (r *Registry) Remove(ctx context.Context, name string) error {
	if !isName(name) {
		return &NotFoundError{Name: name}
	}
	if b, ok := r.fixed[name]; ok {
		return &ReadOnlyError{name, b.Source}
	}
	removed, err := r.store.Exec(ctx, `DELETE FROM agents WHERE name = $1`, name)
	if err == nil && removed == 0 {
		err = &NotFoundError{Name: name}
	}
	return err
}

const columns = `type, description, parameters_schema, output_schema, command, tags, needs, time_limit_seconds, max_attempts, version`

const selectAgents = `SELECT name, ` + columns + ` FROM agents`

// values returns the blueprint's values for columns.
func (b Blueprint) values() []any {
	nullable := func(raw json.RawMessage) any {
		if raw == nil {
			return nil
		}
		return string(raw)
	}
	list := func(l []string) string {
		raw, _ := json.Marshal(l) // texts can be written
		return string(raw)
	}
	return []any{string(b.Type), b.Description, nullable(b.ParametersSchema), nullable(b.OutputSchema), list(b.Command), list(b.Tags), list(b.Needs), int64(b.TimeLimitSeconds), int64(b.MaxAttempts), b.Version}
}

func scan(row store.Row) (Blueprint, error) {
	b := Blueprint{Source: Stored}
	var parameters, output *string
	var command, tags, needs string
	if err := row.Scan(&b.Name, &b.Type, &b.Description, &parameters, &output, &command, &tags, &needs, &b.TimeLimitSeconds, &b.MaxAttempts, &b.Version); err != nil {
		return b, err
	}
	if parameters != nil {
		b.ParametersSchema = json.RawMessage(*parameters)
	}
	if output != nil {
		b.OutputSchema = json.RawMessage(*output)
	}
	return b, errors.Join(json.Unmarshal([]byte(command), &b.Command), json.Unmarshal([]byte(tags), &b.Tags), json.Unmarshal([]byte(needs), &b.Needs))
}
