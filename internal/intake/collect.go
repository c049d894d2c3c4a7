package intake

import (
	"bufio"
	"context"
	"fmt"
	"io"

	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/go-json-experiment/json/jsontext"
)

// maxErrorText is how many bytes of errors a document lists, so that a file of
// nothing but rubbish cannot fill the memory; the last one says how many more
// there are. The report lists them all.
const maxErrorText = 16 << 20

// Documents says where Write writes to.
type Documents struct {
	// Output gets the agent output document, {"items": [...], "errors": [...]}:
	// valid against the published schema, each item on a line of its own, in
	// the order of the input.
	Output io.Writer
	// Report, unless nil, gets the report document: a Report as JSON.
	Report io.Writer
	// Schemas adds to the report the schema of each kind that an item of was
	// rejected, so that an agent can correct itself.
	Schemas bool
	// Each, unless nil, is called with each outcome, in the order of the input,
	// and may keep it.
	Each func(Outcome)
}

// Write is Run with the outcomes written as documents while they come: items
// are not gathered in memory. An error of one of the writers ends it.
func Write(ctx context.Context, r io.Reader, cfg Config, docs Documents) (Counts, error) {
	w := documentWriter{out: bufio.NewWriterSize(docs.Output, 64<<10), docs: docs, counts: Counts{Kinds: map[safeoutput.Kind]int{}}}
	if docs.Report != nil {
		w.report = newReportWriter(docs.Report, docs.Schemas)
	}
	w.out.WriteString(`{"items":[`)
	in, err := run(ctx, r, cfg, true, w.outcome)
	if err != nil {
		return w.counts, err
	}
	if err := w.end(); err != nil {
		return w.counts, err
	}
	if w.report != nil {
		return w.counts, w.report.end(in, w.counts)
	}
	return w.counts, nil
}

type documentWriter struct {
	docs   Documents
	out    *bufio.Writer // keeps the first error, and gives it with Flush
	report *reportWriter
	counts Counts

	items   int
	errors  []byte // JSON strings, one on each line
	omitted int
	listed  int
}

func (w *documentWriter) outcome(o Outcome) error {
	w.counts.add(o)
	if o.Accepted != nil {
		if w.items++; w.items > 1 {
			w.out.WriteByte(',')
		}
		w.out.WriteByte('\n')
		if _, err := w.out.Write(o.Accepted.encoded); err != nil {
			return err
		}
		o.Accepted.encoded = nil // its memory is used again
	}
	for _, e := range o.Errors() {
		w.addError(e)
	}
	if w.report != nil {
		if err := w.report.outcome(o); err != nil {
			return err
		}
	}
	if w.docs.Each != nil {
		w.docs.Each(o)
	}
	return nil
}

func (w *documentWriter) addError(e string) {
	if len(w.errors) > maxErrorText {
		w.omitted++
		return
	}
	if w.listed++; w.listed > 1 {
		w.errors = append(w.errors, ',')
	}
	w.errors = append(w.errors, '\n')
	w.errors, _ = jsontext.AppendQuote(w.errors, e) // what is invalid UTF-8 is replaced
}

func (w *documentWriter) end() error {
	if w.omitted > 0 {
		e := fmt.Sprintf("There are %d more errors; the report lists them all.", w.omitted)
		w.errors, _ = jsontext.AppendQuote(append(w.errors, ",\n"...), e)
	}
	if w.items > 0 {
		w.out.WriteByte('\n')
	}
	w.out.WriteString(`],"errors":[`)
	w.out.Write(w.errors)
	if w.listed > 0 {
		w.out.WriteByte('\n')
	}
	w.out.WriteString("]}\n")
	return w.out.Flush()
}

// Counts is how many records ended how.
type Counts struct {
	Accepted int `json:"accepted"`
	Rejected int `json:"rejected"`
	Dropped  int `json:"dropped"`
	// DroppedLabels counts labels that a limit dropped of accepted items.
	DroppedLabels int `json:"dropped_labels"`
	// Repaired and Redacted count records that were repaired, and accepted
	// items that cleaning changed.
	Repaired int `json:"repaired"`
	Redacted int `json:"redacted"`
	// Kinds counts the accepted items by kind.
	Kinds map[safeoutput.Kind]int `json:"kinds"`
}

// Clean reports whether every record was let in whole.
func (c Counts) Clean() bool { return c.Rejected+c.Dropped+c.DroppedLabels == 0 }

func (c *Counts) add(o Outcome) {
	var n Notes
	switch {
	case o.Accepted != nil:
		c.Accepted++
		n = o.Accepted.notes
		c.DroppedLabels += len(n.DroppedLabels)
		c.Kinds[o.Accepted.item.Kind()]++
		if len(n.Redactions) > 0 {
			c.Redacted++
		}
	case o.Rejected != nil:
		c.Rejected++
		n = o.Rejected.Notes
	default:
		c.Dropped++
		n = o.Dropped.Notes
	}
	if len(n.Repairs) > 0 {
		c.Repaired++
	}
}
