package intake

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/schema"
	"github.com/agent-airlock/airlock/internal/text"
	"github.com/go-json-experiment/json/jsontext"
)

// Violation is one reason why a record is rejected.
type Violation struct {
	Line int             `json:"line"`
	Kind safeoutput.Kind `json:"kind"` // "" if the record has no known one
	// Path is the place in the record: "$.labels[2]".
	Path string `json:"path"`
	// Message is one line. It may quote what the agent wrote, but shortened, and with escapes for
	// characters that do not print.
	Message string `json:"message"`
	// SchemaPath is the place of the violated keyword in the kind's schema, or "" for a
	// rule that the schema does not contain.
	SchemaPath string `json:"schema_path"`
}

// String returns the violation as a sentence with line, kind and field:
// "Line 7: create-issue: 'title' is a required property".
func (v Violation) String() string {
	field := strings.TrimPrefix(strings.TrimPrefix(v.Path, "$"), ".")
	msg := v.Message
	if field != "" && !strings.Contains(msg, "'"+field+"'") {
		msg = "'" + field + "': " + msg
	}
	return prefix(v.Line, v.Kind) + msg
}

// prefix returns what a sentence about a record begins with: "Line 7: create-issue: ". It
// leaves out what is not known.
func prefix(line int, kind safeoutput.Kind) string {
	switch {
	case line == 0 && kind == "":
		return ""
	case line == 0: // one of Airlock's own items, or a missing item
		return string(kind) + ": "
	case kind == "":
		return "Line " + strconv.Itoa(line) + ": "
	}
	return "Line " + strconv.Itoa(line) + ": " + string(kind) + ": "
}

// String returns a sentence about the dropped item.
func (d Dropped) String() string {
	return prefix(d.Line, d.Kind) + "dropped: " + atMost(d.Limit, "item of this kind is", "items of this kind are") + " accepted"
}

// atMost returns a limit in words, as in "at most 3 labels are".
func atMost(n int, one, several string) string {
	switch n {
	case 0:
		return "no " + one
	case 1:
		return "at most 1 " + one
	}
	return "at most " + strconv.Itoa(n) + " " + several
}

// Repair is one kind of repair to a record or to one of its fields.
type Repair struct {
	// Kind is one of package jsonrepair's kinds, or one of the constants below.
	Kind string `json:"kind"`
	// Field is the name of the repaired field; "" means the record.
	Field string `json:"field,omitempty"`
	// Offset is the byte offset in the record of the first repair of this kind. In a SARIF log that
	// is in a string, it is the offset in that string. It is 0 for other repairs to a field.
	Offset int `json:"offset,omitempty"`
	Count  int `json:"count"`
}

// The kinds of repair in addition to package jsonrepair's.
const (
	RepairNullField  = "null-field"  // an optional field that is null is left out
	RepairLetterCase = "letter-case" // a word gets the letter case of the schema
	RepairBlankField = "blank-field" // an optional text that is blank is left out
	RepairLabel      = "label"       // space around a label is removed, or a repeated label is left out
)

// Redaction is what one rule of package sanitize changed in one text.
type Redaction struct {
	Field  string `json:"field"`
	Rule   string `json:"rule"`
	Detail string `json:"detail"` // what the rule found; it quotes at most a name or a host of the text
	Count  int    `json:"count"`
}

// Notes is what there is to report about a record in addition to its outcome.
type Notes struct {
	Repairs    []Repair    `json:"repairs,omitempty"`
	Redactions []Redaction `json:"redactions,omitempty"`
	// UnknownFields are fields that are not in the kind's schema and were left out.
	UnknownFields []string `json:"unknown_fields,omitempty"`
	// DroppedLabels are the labels beyond LabelLimit.
	DroppedLabels []string `json:"dropped_labels,omitempty"`
	LabelLimit    int      `json:"-"`
}

// Empty reports whether there is nothing to report.
func (n Notes) Empty() bool {
	return len(n.Repairs)+len(n.Redactions)+len(n.UnknownFields)+len(n.DroppedLabels) == 0
}

// mask passes what the notes quote of the record through a function that masks secrets.
func (n *Notes) mask(mask func(string) string) {
	for _, list := range [][]string{n.UnknownFields, n.DroppedLabels} {
		for i := range list {
			list[i] = mask(list[i])
		}
	}
	for i := range n.Repairs {
		n.Repairs[i].Field = mask(n.Repairs[i].Field)
	}
	for i := range n.Redactions {
		n.Redactions[i].Field, n.Redactions[i].Detail = mask(n.Redactions[i].Field), mask(n.Redactions[i].Detail)
	}
}

func (n *Notes) repair(kind, field string) {
	for i := range n.Repairs {
		if r := &n.Repairs[i]; r.Kind == kind && r.Field == field {
			r.Count++
			return
		}
	}
	n.Repairs = append(n.Repairs, Repair{Kind: kind, Field: field, Count: 1})
}

// Problems returns how many sentences Errors returns.
func (o Outcome) Problems() int {
	switch {
	case o.Rejected != nil:
		return len(o.Rejected.Violations)
	case o.Dropped != nil, o.Accepted != nil && len(o.Accepted.notes.DroppedLabels) > 0:
		return 1
	}
	return 0
}

// Errors returns the sentences for an agent output document: one for each violation,
// one for a dropped item, and one for dropped labels.
func (o Outcome) Errors() []string {
	switch {
	case o.Rejected != nil:
		list := make([]string, len(o.Rejected.Violations))
		for i, v := range o.Rejected.Violations {
			list[i] = v.String()
		}
		return list
	case o.Dropped != nil:
		return []string{o.Dropped.String()}
	case o.Accepted != nil && len(o.Accepted.notes.DroppedLabels) > 0:
		n := o.Accepted.notes
		return []string{prefix(o.Accepted.line, o.Accepted.item.Kind()) + "labels dropped: " +
			quoteLabels(n.DroppedLabels) + "; " + atMost(n.LabelLimit, "label is", "labels are") + " accepted"}
	}
	return nil
}

func quote(s string) string { return schema.Quote(s) }

// similarName returns a hint at the name in names that was probably meant as the missing one: the
// first that differs from it only in letter case and separators, otherwise one that looks like a
// misspelling of it. It returns "" if there is none. At most a hundred names are compared.
func similarName(missing string, names []string) string {
	plain := strings.NewReplacer("_", "", "-", "", " ", "")
	var short []string
	for _, n := range names[:min(len(names), 100)] {
		if len(n) >= 64 {
			continue
		}
		if strings.EqualFold(plain.Replace(n), plain.Replace(missing)) {
			return " (" + quote(n) + " is another name: names are matched exactly)"
		}
		short = append(short, n)
	}
	if near := text.Nearest(missing, short); near != "" {
		return " (there is no field " + quote(near) + ": did you mean " + quote(missing) + "?)"
	}
	return ""
}

func quoteLabels(labels []string) string {
	const most = 10
	var quoted []string
	for _, l := range labels[:min(len(labels), most)] {
		quoted = append(quoted, quote(l))
	}
	if len(labels) > most {
		quoted = append(quoted, fmt.Sprintf("and %d more", len(labels)-most))
	}
	return strings.Join(quoted, ", ")
}

// showValue writes a raw value for a message: a string quoted, a long number shortened, and of an
// object or array only what it is.
func showValue(raw []byte) string {
	if raw[0] == '"' {
		if text, err := jsontext.AppendUnquote(nil, raw); err == nil {
			return quote(string(text))
		}
	}
	switch raw[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	}
	if len(raw) > 40 {
		return string(raw[:40]) + "…"
	}
	return string(raw)
}
