// Package intake is the first door: it lets in only safe outputs that are well
// formed, within the limits, and clean.
//
// Each record of the input becomes exactly one of Accepted, Rejected and
// Dropped. On the way it is parsed, repaired where it is not strict JSON,
// checked against the schema of its kind and against the rules that a schema
// cannot state, counted, and cleaned: what a limit drops is never cleaned.
package intake

import (
	"context"
	"io"

	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/sanitize"
)

// Config says what the door lets in. The zero value lets in every kind with
// its default limits and cleans by the strictest rules.
type Config struct {
	// Strict makes a field that the schema does not know, and null for a field
	// that may be left out, a violation; otherwise such a field is left out of
	// the item and noted.
	Strict bool
	// Enabled holds the kinds that are let in; nil means all. A kind that is
	// not in it is a violation that lists those that are. It serves collect,
	// which tells the agent at once; apply leaves it nil, because there policy
	// denies such an item with its rule's name.
	Enabled map[safeoutput.Kind]bool
	// Max is how many items of a kind are let in. A kind that is not in it has
	// its default limit; a negative number means no limit.
	Max map[safeoutput.Kind]int
	// MaxLabels is how many labels one add-issue-label may name. 0 means the
	// default, a negative number no limit.
	MaxLabels int
	// Sanitize says what texts may do. Its MaxBodyUTF16, if 0, is DefaultMaxBody.
	Sanitize sanitize.Config
	// Workers is how many records are worked on at the same time; 0 means one
	// for each processor.
	Workers int
}

// DefaultMaxBody is how long a body may be in UTF-16 units: what GitHub takes,
// with some room.
const DefaultMaxBody = 65000

// max returns the limit of a kind, negative for none.
func (c Config) max(spec safeoutput.Spec) int {
	if n, ok := c.Max[spec.Kind]; ok {
		return n
	}
	return spec.DefaultMax
}

// maxLabels returns how many labels an item of the kind may name, negative for
// no limit.
func (c Config) maxLabels(spec safeoutput.Spec) int {
	switch {
	case spec.DefaultMaxLabels == 0:
		return -1
	case c.MaxLabels == 0:
		return spec.DefaultMaxLabels
	}
	return c.MaxLabels
}

// Accepted is an item that the door has let in. Only this package makes one.
type Accepted struct {
	item    safeoutput.Item
	line    int
	notes   Notes
	encoded []byte
	own     bool
	stable  string
}

// Item returns the item, canonical and clean. Callers do not change it.
func (a Accepted) Item() safeoutput.Item { return a.item }

// Own reports whether Airlock itself made the item. No file can say so: only Own
// makes such an item.
func (a Accepted) Own() bool { return a.own }

// Stable returns the name by which later workflow runs find an item of Airlock's
// own again; "" for none, and for every item of an agent's.
func (a Accepted) Stable() string { return a.stable }

// Line returns the number of the item's first line in the file; 0 for an item of
// Airlock's own.
func (a Accepted) Line() int { return a.line }

// Repairs returns what was mended before the record could be read.
func (a Accepted) Repairs() []Repair { return a.notes.Repairs }

// Redactions returns what cleaning changed in the item's texts.
func (a Accepted) Redactions() []Redaction { return a.notes.Redactions }

// Notes returns all that is to be said about the record.
func (a Accepted) Notes() Notes { return a.notes }

// Rejected is a record that the door has refused.
type Rejected struct {
	// Line is the number of the record's first line.
	Line int
	// Kind is the canonical kind; "" where the record names none that exists.
	Kind safeoutput.Kind
	// Violations are all the reasons: at least one.
	Violations []Violation
	// Notes says what was mended before the record could be judged.
	Notes Notes
}

// Dropped is a valid item beyond the limit of its kind.
type Dropped struct {
	Line  int
	Kind  safeoutput.Kind
	Limit int // how many items of the kind are let in
	Notes Notes
}

// Outcome is what became of one record: exactly one field is set.
type Outcome struct {
	Accepted *Accepted
	Rejected *Rejected
	Dropped  *Dropped
}

// Result is what Collect returns, each list in the order of the input.
type Result struct {
	Accepted []Accepted
	Rejected []Rejected
	Dropped  []Dropped
	Input    Input
}

// Input says what the file was.
type Input struct {
	// Records is how many records were read.
	Records int `json:"records"`
	// Fences is how many lines of code fences around records were passed over.
	Fences int `json:"fences"`
	// Document is whether the file was one {"items": [...]} document; Errors
	// are those listed in it, and Unknown its other members, by name.
	Document bool     `json:"document"`
	Errors   []string `json:"errors,omitempty"`
	Unknown  []string `json:"unknown,omitempty"`
}

// Run reads r, NDJSON or one {"items": [...], "errors": [...]} document, and
// hands each record's outcome to sink, in the order of the input, on the
// caller's goroutine. Memory is bounded by the longest record.
//
// A record that is refused is no error. The error is the context's, the
// reader's, the sink's, safeoutput.ErrUTF16 or ErrNotText, or that of a
// setting of Config.Sanitize. When Run returns before the end, a Read of r
// that is under way may still be finishing.
func Run(ctx context.Context, r io.Reader, cfg Config, sink func(Outcome) error) error {
	_, err := run(ctx, r, cfg, false, sink)
	return err
}

// Collect is Run with the outcomes gathered in lists.
func Collect(ctx context.Context, r io.Reader, cfg Config) (Result, error) {
	var res Result
	in, err := run(ctx, r, cfg, false, func(o Outcome) error {
		switch {
		case o.Accepted != nil:
			res.Accepted = append(res.Accepted, *o.Accepted)
		case o.Rejected != nil:
			res.Rejected = append(res.Rejected, *o.Rejected)
		default:
			res.Dropped = append(res.Dropped, *o.Dropped)
		}
		return nil
	})
	res.Input = in
	return res, err
}
