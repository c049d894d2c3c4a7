package intake

import (
	"bufio"
	"context"
	"io"

	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/text"
	"github.com/go-json-experiment/json/jsontext"
)

// maxErrorText is how many bytes of errors a document lists, so that no file can fill
// the memory; another error says how many more there are. The report lists them all.
const maxErrorText = 16 << 20

// Documents are the destinations of Write.
type Documents struct {
	// Output receives the agent output document, {"items": [...], "errors": [...]}, by
	// its published schema, with each item on a line, in the order of the input.
	Output io.Writer // required
	// Report receives a Report as JSON, unless it is nil.
	Report io.Writer
	// Schemas adds to the report the schemas of the kinds of rejected records, so that
	// an agent can correct itself.
	Schemas bool
	// Each, unless it is nil, is called with each outcome, in the order of the input. An accepted
	// item is valid only until Each returns.
	Each func(Outcome)
}

// Write is like Collect, but writes the outcomes as documents and does not keep them
// in memory. It ends with the first error of a writer.
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
	out    *bufio.Writer // Flush returns its first error
	report *reportWriter
	counts Counts

	items   int
	errors  errorList
	omitted int
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
		o.Accepted.encoded = nil // its memory will be reused
	}
	if w.errors.size > maxErrorText {
		w.omitted += o.Problems()
	} else {
		for _, e := range o.Errors() {
			w.addError(e)
		}
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

// addError adds an error to the document, or counts it where there is no room for it.
func (w *documentWriter) addError(e string) {
	if w.errors.size > maxErrorText {
		w.omitted++
		return
	}
	w.errors.add(e)
}

// errorList is the text of a document's errors: JSON strings, one on each line. It is in
// parts, so that at most the last part is copied when it grows.
type errorList struct {
	parts [][]byte
	last  []byte // the part that is being filled
	size  int    // of all of them
}

func (l *errorList) add(e string) {
	const partSize, nearlyFull = 64 << 10, 60 << 10
	if len(l.last) > nearlyFull {
		l.parts, l.last = append(l.parts, l.last), make([]byte, 0, partSize)
	}
	before := len(l.last)
	if l.size > 0 {
		l.last = append(l.last, ',')
	}
	l.last, _ = jsontext.AppendQuote(append(l.last, '\n'), e) // the error is about invalid UTF-8, which is replaced
	l.size += len(l.last) - before
}

func (w *documentWriter) end() error {
	if w.omitted > 0 {
		w.errors.add("Not listed here: " + text.Count(w.omitted, "more error") + "; the report lists them all.")
	}
	if w.items > 0 {
		w.out.WriteByte('\n')
	}
	w.out.WriteString(`],"errors":[`)
	for _, part := range append(w.errors.parts, w.errors.last) {
		w.out.Write(part)
	}
	if w.errors.size > 0 {
		w.out.WriteByte('\n')
	}
	w.out.WriteString("]}\n")
	return w.out.Flush()
}

// Counts are numbers of records, except DroppedLabels.
type Counts struct {
	Accepted int `json:"accepted"`
	Rejected int `json:"rejected"`
	Dropped  int `json:"dropped"`
	// DroppedLabels is the number of labels of accepted items that a limit dropped.
	DroppedLabels int `json:"dropped_labels"`
	Repaired      int `json:"repaired"` // records that were repaired
	Redacted      int `json:"redacted"` // accepted items that cleaning changed
	// Kinds are the numbers of accepted items by kind.
	Kinds map[safeoutput.Kind]int `json:"kinds"`
}

// Clean reports whether every record was accepted completely.
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
