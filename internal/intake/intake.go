// Package intake is the first door: it accepts only safe outputs that are well
// formed, within the limits, and clean.
//
// Each record of the input becomes exactly one of Accepted, Rejected and Dropped. It
// is parsed, repaired if it is not strict JSON, validated by the schema of its kind
// and by rules that a schema cannot express, counted, and, unless a limit drops it,
// cleaned.
package intake

import (
	"context"
	"fmt"
	"io"

	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/sanitize"
	"github.com/agent-airlock/airlock/internal/text"
)

// Config is the configuration of the door. The zero value accepts every kind with
// its default limits and cleans by the strictest rules.
type Config struct {
	// Strict makes an unknown field, and null for an optional field, a violation. Otherwise the
	// field is left out of the item and noted, unless the item would then write something else.
	Strict bool
	// Enabled are the kinds that are accepted; nil means all. Any other kind is a violation, whose
	// message lists the enabled kinds. collect sets it, because it reports to the agent at once.
	// apply does not, because the policy denies such an item.
	Enabled map[safeoutput.Kind]bool
	// Max is how many items of a kind are accepted; a negative number means no
	// limit. Other kinds have their default limit.
	Max map[safeoutput.Kind]int
	// Counted is how many items of a kind were accepted before these records. They count
	// toward Max and Min.
	Counted map[safeoutput.Kind]int
	// Min is how many items of a kind must be accepted. If there are fewer, what TooFew
	// returns is added to the rejected records.
	Min map[safeoutput.Kind]int
	// MaxLabels is how many labels an item of a kind with such a limit may have. 0
	// means the default, a negative number no limit.
	MaxLabels int
	// Repository is the workflow run's own, as owner/name. An item that names another repository is
	// rejected. If Repository is "", the item keeps the name, for the policy to judge.
	Repository string
	// Sanitize is how texts are cleaned. A MaxBodyUTF16 of 0 means defaultMaxBody.
	Sanitize sanitize.Config
	// KeepSource is how many bytes of its record's text each outcome keeps, until the outcomes
	// keep maxSources together; 0 keeps none.
	KeepSource int
	// Mask masks secrets in what outcomes quote of the records: reasons, names of fields, labels. It
	// does not change the items. If it is nil, nothing is masked.
	Mask func(string) string
	// Workers is how many records are judged at the same time; 0 means one for each
	// processor.
	Workers int
}

// defaultMaxBody is the greatest length of a body in UTF-16 units: GitHub's limit
// with some room.
const defaultMaxBody = 65000

// max returns the limit of a kind, negative for none.
func (c Config) max(spec *safeoutput.Spec) int {
	if n, ok := c.Max[spec.Kind]; ok {
		return n
	}
	return spec.DefaultMax
}

// maxLabels returns how many labels an item of the kind may name, negative for
// no limit.
func (c Config) maxLabels(spec *safeoutput.Spec) int {
	switch {
	case spec.DefaultMaxLabels == 0:
		return -1
	case c.MaxLabels == 0:
		return spec.DefaultMaxLabels
	}
	return c.MaxLabels
}

// Accepted is an item that passed the door. Only this package makes one.
type Accepted struct {
	item    safeoutput.Item
	line    int
	notes   Notes
	asked   []askedText
	encoded []byte
	source  string
	own     bool
	stable  string
}

// askedText is a text as it was before it was cleaned.
type askedText struct{ field, text string }

// Item returns the item, canonical and clean. Callers do not change it.
func (a Accepted) Item() safeoutput.Item { return a.item }

// Asked returns a text of the item as it was asked for, before it was cleaned. It is as
// hostile as the file; ok is false where cleaning changed nothing.
func (a Accepted) Asked(field string) (text string, ok bool) {
	for _, t := range a.asked {
		if t.field == field {
			return t.text, true
		}
	}
	return "", false
}

// Source returns the beginning of the record's text as the agent wrote it; Config.KeepSource limits
// its length. It is as hostile as the file.
func (a Accepted) Source() string { return a.source }

// Own reports whether Airlock itself made the item. Only the function Own makes such
// items; a file cannot contain them.
func (a Accepted) Own() bool { return a.own }

// Stable returns the name by which later workflow runs find one of Airlock's own
// items again. It is "" if there is none, and for an agent's items.
func (a Accepted) Stable() string { return a.stable }

// Line returns the number of the item's first line in the file, or 0 for one of
// Airlock's own items.
func (a Accepted) Line() int { return a.line }

// Notes returns what there is to report about the record.
func (a Accepted) Notes() Notes { return a.notes }

// Rejected is a record that the door refused.
type Rejected struct {
	// Line is the number of the record's first line.
	Line int
	// Kind is the canonical kind; "" if the record has no known one.
	Kind safeoutput.Kind
	// Violations are all the reasons: at least one.
	Violations []Violation
	Notes      Notes
	// Source is the record's text, as Accepted.Source; "" for one that could not be read.
	Source string
	// TooFew is set where no record is rejected, but one is missing: see Config.Min.
	TooFew bool

	crashed bool
}

// Crashed reports whether the record is rejected because Airlock itself failed on it.
func (r *Rejected) Crashed() bool { return r.crashed }

// TooFew returns the rejection, with line 0, for a kind with too few accepted items: required is the
// least number, and count how many there are.
func TooFew(kind safeoutput.Kind, required, count int) Rejected {
	there := "there is none"
	if count > 0 {
		there = fmt.Sprintf("there are only %d", count)
	}
	message := fmt.Sprintf("at least %s of this kind must be asked for and allowed (min), and %s", text.Count(required, "item"), there)
	return Rejected{Kind: kind, TooFew: true, Violations: []Violation{{Kind: kind, Path: "$", Message: message}}}
}

// Dropped is a valid item beyond the limit of its kind.
type Dropped struct {
	Line  int
	Kind  safeoutput.Kind
	Limit int // how many items of the kind are accepted
	Notes Notes
	// Source is the record's text, as Accepted.Source.
	Source string
}

// Outcome is the outcome of one record, or what TooFew returns: exactly one field is set.
type Outcome struct {
	Accepted *Accepted
	Rejected *Rejected
	Dropped  *Dropped
}

// refusedWith returns the outcome as a rejection with the message as its reason. An outcome
// that is a rejection already stays as it is.
func (o Outcome) refusedWith(message string) Outcome {
	var r Rejected
	switch {
	case o.Accepted != nil:
		r = Rejected{Line: o.Accepted.line, Kind: o.Accepted.item.Kind(), Notes: o.Accepted.notes, Source: o.Accepted.source}
	case o.Dropped != nil:
		r = Rejected{Line: o.Dropped.Line, Kind: o.Dropped.Kind, Notes: o.Dropped.Notes, Source: o.Dropped.Source}
	default:
		return o
	}
	r.Violations = []Violation{{Line: r.Line, Kind: r.Kind, Path: "$", Message: message}}
	return Outcome{Rejected: &r}
}

// masked returns the outcome with its reasons and notes passed through mask.
func (o Outcome) masked(mask func(string) string) Outcome {
	switch {
	case mask == nil:
	case o.Accepted != nil:
		o.Accepted.notes.mask(mask)
	case o.Rejected != nil:
		o.Rejected.Notes.mask(mask)
		for i := range o.Rejected.Violations {
			v := &o.Rejected.Violations[i]
			v.Path, v.Message = mask(v.Path), mask(v.Message)
		}
	default:
		o.Dropped.Notes.mask(mask)
	}
	return o
}

// Result is what Collect returns, each list in the order of the input.
type Result struct {
	Accepted []Accepted
	Rejected []Rejected
	Dropped  []Dropped
	Input    Input
}

// Input describes the file.
type Input struct {
	Records int `json:"records"`
	// Fences is how many lines of code fences around records were skipped.
	Fences int `json:"fences"`
	// Document is whether the file is one {"items": [...]} document; Errors is its
	// list of errors, and Unknown are the names of its other members.
	Document bool     `json:"document"`
	Errors   []string `json:"errors,omitempty"`
	Unknown  []string `json:"unknown,omitempty"`
}

// Add adds the outcome of a record to the lists.
func (r *Result) Add(o Outcome) {
	switch {
	case o.Accepted != nil:
		r.Accepted = append(r.Accepted, *o.Accepted)
	case o.Rejected != nil:
		r.Rejected = append(r.Rejected, *o.Rejected)
	default:
		r.Dropped = append(r.Dropped, *o.Dropped)
	}
}

// Collect judges the records of r, NDJSON or one {"items": [...], "errors": [...]}
// document. The error is the context's, the reader's, or about an invalid setting in
// Config.Sanitize; a rejected record is not an error. When Collect returns before the
// end, a Read of r may still be in progress.
func Collect(ctx context.Context, r io.Reader, cfg Config) (Result, error) {
	var res Result
	in, err := run(ctx, r, cfg, false, func(o Outcome) error { res.Add(o); return nil })
	res.Input = in
	return res, err
}
