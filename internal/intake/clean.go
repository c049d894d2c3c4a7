package intake

import (
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/sanitize"
	"github.com/agent-airlock/airlock/internal/text"
)

// clean cleans the texts of a valid item, except for labels, and its SARIF log. It refuses the item
// if it is no longer valid then.
func (j *recordJudge) clean() {
	j.cleaned, j.before = true, *j.notes
	for _, t := range j.accepted.item.Texts() {
		if *t.Value == "" || t.Mode == safeoutput.Label { // labels are cleaned where they are checked
			continue
		}
		out, notes := j.cleanText(t)
		if text.IsBlank(out) {
			if !j.mayBeEmpty(t.Field) {
				j.refuse("$."+t.Field, quote(t.Field)+" is empty after what may not be published is removed")
				continue
			}
			out = ""
		}
		if out != *t.Value {
			j.redacted(t.Field, notes)
			j.accepted.asked = append(j.accepted.asked, askedText{t.Field, *t.Value})
			*t.Value = out
		}
	}
	if it, ok := j.accepted.item.(*safeoutput.CreateSecurityReport); ok && it.SARIF != nil {
		j.cleanSARIF(it)
	}
}

// cleanText cleans one text by the rules of its mode.
func (d *door) cleanText(t safeoutput.Text) (string, []sanitize.Note) {
	switch t.Mode {
	case safeoutput.Body:
		return d.sanitizer.Body(*t.Value)
	case safeoutput.Title:
		return d.sanitizer.Title(*t.Value)
	case safeoutput.Literal:
		return d.sanitizer.Characters(*t.Value)
	case safeoutput.Message:
		return d.sanitizer.Message(*t.Value)
	}
	return d.sanitizer.Plain(*t.Value)
}

func (j *recordJudge) redacted(field string, notes []sanitize.Note) {
	for _, n := range notes {
		j.notes.Redactions = append(j.notes.Redactions, Redaction{field, n.Rule, n.Detail, n.Count})
	}
}
