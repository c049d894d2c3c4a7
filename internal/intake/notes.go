package intake

import (
	"fmt"
	"strings"

	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/schema"
	"github.com/go-json-experiment/json/jsontext"
)

// Violation is one reason for which a record is refused.
type Violation struct {
	Line int             `json:"line"`
	Kind safeoutput.Kind `json:"kind"` // "" where the record names none that exists
	// Path is where in the record: "$.labels[2]".
	Path string `json:"path"`
	// Message says what is wrong, on one line. It can quote what the agent
	// wrote, shortened and with what does not print escaped.
	Message string `json:"message"`
	// SchemaPath is the violated keyword's place in the kind's schema, dotted;
	// "" for a rule that the schema does not state.
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

func prefix(line int, kind safeoutput.Kind) string {
	switch {
	case line == 0 && kind == "":
		return ""
	case line == 0: // an item of Airlock's own, which comes from no file
		return string(kind) + ": "
	case kind == "":
		return fmt.Sprintf("Line %d: ", line)
	}
	return fmt.Sprintf("Line %d: %s: ", line, kind)
}

// String returns a sentence about what the limit dropped.
func (d Dropped) String() string {
	return prefix(d.Line, d.Kind) + "dropped: " + atMost(d.Limit, "item of this kind is", "items of this kind are") + " accepted"
}

func atMost(n int, one, several string) string {
	switch n {
	case 0:
		return "no " + one
	case 1:
		return "at most 1 " + one
	}
	return fmt.Sprintf("at most %d %s", n, several)
}

// Repair is one kind of repair to a record, or to one field of it.
type Repair struct {
	// Kind is one of package jsonrepair's kinds, or one of those below.
	Kind string `json:"kind"`
	// Field is the field's name, where the repair is of one.
	Field string `json:"field,omitempty"`
	// Offset is where the first one is, in bytes from 0: in the record, or in the
	// text of the string that holds a SARIF log. It is 0 for any other repair to
	// a field.
	Offset int `json:"offset,omitempty"`
	// Count is how many there are.
	Count int `json:"count"`
}

// The kinds of repair beside package jsonrepair's.
const (
	RepairDuplicateKey = "duplicate-key" // a key was given more than once; the last counts
	RepairNullField    = "null-field"    // null for a field that may be left out; it was left out
	RepairLetterCase   = "letter-case"   // a word that is right but for its letter case
	RepairBlankField   = "blank-field"   // a blank text for a field that may be left out; it was left out
	RepairLabel        = "label"         // a label with space around it, or one given twice
)

// Redaction is what one rule of package sanitize changed in one text.
type Redaction struct {
	Field  string `json:"field"`
	Rule   string `json:"rule"`
	Detail string `json:"detail"` // what the rule met; never more of the text than a name or a host
	Count  int    `json:"count"`
}

// Notes is what is to be said about a record beside whether it is let in.
type Notes struct {
	Repairs    []Repair    `json:"repairs,omitempty"`
	Redactions []Redaction `json:"redactions,omitempty"`
	// UnknownFields are the fields that were left out because the kind's schema
	// does not know them.
	UnknownFields []string `json:"unknown_fields,omitempty"`
	// DroppedLabels are the labels beyond the limit; LabelLimit is that limit.
	DroppedLabels []string `json:"dropped_labels,omitempty"`
	LabelLimit    int      `json:"-"`
}

// Empty reports whether there is nothing to be said.
func (n Notes) Empty() bool {
	return len(n.Repairs)+len(n.Redactions)+len(n.UnknownFields)+len(n.DroppedLabels) == 0
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

// Errors returns the sentences that an agent output document lists for the
// outcome: one for each violation, one for a dropped item, one for labels that
// were dropped; none for an item that was let in whole.
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
			strings.Join(quoteSome(n.DroppedLabels, 10), ", ") + "; " + atMost(n.LabelLimit, "label is", "labels are") + " accepted"}
	}
	return nil
}

func quote(s string) string { return schema.Quote(s) }

// alike says which of names is the wanted one but for letter case and
// separators; "" if none is.
func alike(wanted string, names []string) string {
	plain := strings.NewReplacer("_", "", "-", "", " ", "")
	for _, n := range names {
		if len(n) < 64 && strings.EqualFold(plain.Replace(n), plain.Replace(wanted)) {
			return " (" + quote(n) + " is another name: names are matched exactly)"
		}
	}
	return ""
}

func quoteSome(list []string, most int) []string {
	var out []string
	for i, s := range list {
		if i == most {
			return append(out, fmt.Sprintf("and %d more", len(list)-most))
		}
		out = append(out, quote(s))
	}
	return out
}

// value writes a raw value for a message: strings quoted, the rest shortened.
func value(raw []byte) string {
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
