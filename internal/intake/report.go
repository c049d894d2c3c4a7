package intake

import (
	"bufio"
	"encoding/json"
	"io"

	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/schema"
)

// Report is the document about a collection: every record that was rejected,
// dropped or changed. Other records are only counted. schemas/collect-report.json is
// its schema.
type Report struct {
	// Version changes when a member changes its meaning or is removed, not when one is
	// added.
	Version int      `json:"version"`
	Records []Record `json:"records"`
	Input   Input    `json:"input"`
	Counts  Counts   `json:"counts"`
	// Schemas are the schemas of the kinds of rejected records, if requested.
	Schemas map[safeoutput.Kind]json.RawMessage `json:"schemas,omitempty"`
}

// Record describes one record in the report.
type Record struct {
	Line    int             `json:"line"`
	Kind    safeoutput.Kind `json:"kind"` // "" if it is not known
	Outcome string          `json:"outcome"`
	// Violations are the reasons why the record was rejected.
	Violations []Violation `json:"violations,omitempty"`
	// Limit is how many items of the kind are accepted; nil unless the item was dropped.
	Limit *int `json:"limit,omitempty"`
	Notes
}

// The outcomes of a Record.
const (
	OutcomeAccepted = "accepted"
	OutcomeRejected = "rejected"
	OutcomeDropped  = "dropped"
)

// Record returns the outcome's description in the report.
func (o Outcome) Record() Record {
	switch {
	case o.Accepted != nil:
		return Record{Line: o.Accepted.line, Kind: o.Accepted.item.Kind(), Outcome: OutcomeAccepted, Notes: o.Accepted.notes}
	case o.Rejected != nil:
		return Record{Line: o.Rejected.Line, Kind: o.Rejected.Kind, Outcome: OutcomeRejected, Violations: o.Rejected.Violations, Notes: o.Rejected.Notes}
	}
	limit := o.Dropped.Limit
	return Record{Line: o.Dropped.Line, Kind: o.Dropped.Kind, Outcome: OutcomeDropped, Limit: &limit, Notes: o.Dropped.Notes}
}

// reportWriter writes a Report record by record.
type reportWriter struct {
	out     *bufio.Writer
	records int
	schemas map[safeoutput.Kind]json.RawMessage // nil if they are not requested
}

func newReportWriter(out io.Writer, withSchemas bool) *reportWriter {
	w := &reportWriter{out: bufio.NewWriterSize(out, 64<<10)}
	if withSchemas {
		w.schemas = map[safeoutput.Kind]json.RawMessage{}
	}
	w.out.WriteString(`{"version":1,"records":[`)
	return w
}

func (w *reportWriter) outcome(o Outcome) error {
	if o.Accepted != nil && o.Accepted.notes.Empty() {
		return nil
	}
	r := o.Record()
	if r.Outcome == OutcomeRejected && r.Kind != "" && w.schemas != nil && w.schemas[r.Kind] == nil {
		w.schemas[r.Kind], _ = schema.Source(string(r.Kind))
	}
	if w.records++; w.records > 1 {
		w.out.WriteByte(',')
	}
	w.out.WriteByte('\n')
	return w.value(r)
}

func (w *reportWriter) value(v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = w.out.Write(raw)
	return err
}

func (w *reportWriter) end(in Input, c Counts) error {
	w.out.WriteString("\n],\"input\":")
	if err := w.value(in); err != nil {
		return err
	}
	w.out.WriteString(",\n\"counts\":")
	if err := w.value(c); err != nil {
		return err
	}
	if w.schemas != nil {
		w.out.WriteString(",\n\"schemas\":")
		if err := w.value(w.schemas); err != nil {
			return err
		}
	}
	w.out.WriteString("}\n")
	return w.out.Flush()
}
