package intake

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/go-json-experiment/json/jsontext"
)

// trimLabels takes the space from around labels before the schema counts their
// characters. What is not an array of strings stays as it is.
func (j *judging) trimLabels(raw []byte) []byte {
	var list []string
	if len(raw) > 1<<16 || !needsTrim(raw) || json.Unmarshal(raw, &list) != nil || bytes.Contains(raw, []byte("null")) {
		return raw
	}
	changed := false
	for i, l := range list {
		list[i] = strings.TrimSpace(l)
		changed = changed || list[i] != l
	}
	if !changed {
		return raw
	}
	j.notes.repair(RepairLabel, "labels")
	out := []byte{'['}
	for i, l := range list {
		if i > 0 {
			out = append(out, ',')
		}
		out, _ = jsontext.AppendQuote(out, l)
	}
	return append(out, ']')
}

// needsTrim reports whether a label could have space around it: a quote beside
// a space, or an escape or a character beyond ASCII anywhere.
func needsTrim(raw []byte) bool {
	for i, c := range raw {
		if c == '\\' || c >= 0x80 || c == ' ' && (raw[i-1] == '"' || i+1 < len(raw) && raw[i+1] == '"') {
			return true
		}
	}
	return false
}

// checkLabels cleans labels, which are short, before items are counted:
// whether one is valid is known only then. It leaves out repetitions, which
// GitHub ignores as well, and what is beyond the limit.
func (j *judging) checkLabels(labels []string) []string {
	if j.labels != nil && labels == nil {
		j.checkRefusedLabels()
		return nil
	}
	out := labels[:0]
	for i, l := range labels { // of which the schema allows a hundred
		clean, ok := j.checkLabel(i, l)
		if !ok {
			continue
		}
		if slices.ContainsFunc(out, func(o string) bool { return strings.EqualFold(o, clean) }) {
			j.notes.repair(RepairLabel, "labels")
			continue
		}
		out = append(out, clean)
	}
	if n := j.cfg.maxLabels(j.verdict.spec); n >= 0 && len(out) > n && len(j.verdict.violations) == 0 {
		j.notes.DroppedLabels, j.notes.LabelLimit = out[n:], n
		if out = out[:n:n]; n == 0 {
			j.refuse("$.labels", "'labels': no label is accepted")
		}
	}
	return out
}

func (j *judging) checkLabel(i int, label string) (clean string, ok bool) {
	field := safeoutput.LabelField(i)
	clean, notes, err := j.door.clean.Label(label)
	if err != nil {
		if !j.refused(field) {
			j.refuse("$."+field, quote(field)+" ("+quote(label)+"): "+err.Error())
		}
		return "", false
	}
	if clean != label {
		j.redacted(field, notes)
	}
	return clean, true
}

// checkRefusedLabels looks for more to say about labels in which the schema
// has found something wrong.
func (j *judging) checkRefusedLabels() {
	var list []any
	if json.Unmarshal(j.labels, &list) != nil {
		return
	}
	for i, l := range list[:min(len(list), maxLabelsChecked)] {
		if s, ok := l.(string); ok {
			j.checkLabel(i, s)
		}
	}
}

// maxLabelsChecked is how many labels the schema allows.
const maxLabelsChecked = 100
