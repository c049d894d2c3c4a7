package intake

import (
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/sanitize"
)

// clean cleans every text of the item.
func (j *judging) clean() {
	for _, t := range j.verdict.accepted.item.Texts() {
		if *t.Value == "" || t.Mode == safeoutput.Label { // labels are cleaned where they are checked
			continue
		}
		var out string
		var notes []sanitize.Note
		switch t.Mode {
		case safeoutput.Body:
			out, notes = j.door.clean.Body(*t.Value)
		case safeoutput.Title:
			out, notes = j.door.clean.Title(*t.Value)
		default:
			out, notes = j.door.clean.Plain(*t.Value)
		}
		if isBlank(out) {
			j.refuse("$."+t.Field, quote(t.Field)+" is empty once what may not be published is taken out")
			continue
		}
		if out != *t.Value {
			j.redacted(t.Field, notes)
			*t.Value = out
		}
	}
}

func (j *judging) redacted(field string, notes []sanitize.Note) {
	for _, n := range notes {
		j.notes.Redactions = append(j.notes.Redactions, Redaction{field, n.Rule, n.Detail, n.Count})
	}
}
