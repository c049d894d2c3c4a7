package intake

import (
	"bytes"

	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/sanitize"
	"github.com/agent-airlock/airlock/internal/sarif"
)

// clean cleans every text of the item, and all that is in a SARIF log.
func (j *judging) clean() {
	for _, t := range j.verdict.accepted.item.Texts() {
		if *t.Value == "" || t.Mode == safeoutput.Label { // labels are cleaned where they are checked
			continue
		}
		out, notes := j.door.cleanText(t)
		if isBlank(out) {
			if !j.mayBeEmpty(t.Field) {
				j.refuse("$."+t.Field, quote(t.Field)+" is empty once what may not be published is taken out")
				continue
			}
			out = ""
		}
		if out != *t.Value {
			j.redacted(t.Field, notes)
			*t.Value = out
		}
	}
	if it, ok := j.verdict.accepted.item.(*safeoutput.CreateSecurityReport); ok && it.SARIF != nil {
		log, notes, err := sarif.Clean(it.SARIF, sarifCleaner{j.door.clean})
		if err != nil {
			j.refuse("$.sarif", "'sarif': "+err.Error())
			return
		}
		if bytes.Equal(log, it.SARIF) {
			return
		}
		it.SARIF = log
		j.checkSARIF(log) // a tool's name may be empty now
		for _, n := range notes {
			j.notes.Redactions = append(j.notes.Redactions, Redaction{"sarif", n.Rule, n.Detail, n.Count})
		}
	}
}

// cleanText cleans one text by how it will be read.
func (d *door) cleanText(t safeoutput.Text) (string, []sanitize.Note) {
	switch t.Mode {
	case safeoutput.Body:
		return d.clean.Body(*t.Value)
	case safeoutput.Title:
		return d.clean.Title(*t.Value)
	case safeoutput.Literal:
		return d.clean.Characters(*t.Value)
	}
	return d.clean.Plain(*t.Value)
}

func (j *judging) redacted(field string, notes []sanitize.Note) {
	for _, n := range notes {
		j.notes.Redactions = append(j.notes.Redactions, Redaction{field, n.Rule, n.Detail, n.Count})
	}
}
