package intake

import (
	"bytes"
	"slices"

	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/schema"
)

// normalise gives fields and words their canonical form, and leaves out what
// the kind does not know.
func (j *judging) normalise(members []schema.Member) []schema.Member {
	kind, shape := j.verdict.spec.Kind, j.verdict.shape
	kept := members[:0]
	for _, m := range members {
		if m.Name == "type" {
			m.Value = []byte(`"` + string(kind) + `"`)
			kept = append(kept, m)
			continue
		}
		name := safeoutput.CanonicalField(kind, m.Name)
		_, known := shape.fields[name]
		if j.absent(m) && (known && j.optional(name) || slices.Contains(shape.others, name)) {
			j.notes.repair(RepairNullField, m.Name)
			continue
		}
		if name != m.Name {
			if i := slices.IndexFunc(members, func(o schema.Member) bool { return o.Name == name && !j.absent(o) }); i >= 0 {
				if !sameNumber(members[i].Value, m.Value) {
					j.refuse("$."+m.Name, quote(m.Name)+" is another name of "+quote(name)+", and they differ; give one of them")
				}
				continue
			}
			m.Name = name
		}
		if !known && j.unknown(m) {
			continue
		}
		switch m.Name {
		case "severity", "status":
			m.Value = j.inCase(m, bytes.ToLower)
		case "side":
			m.Value = j.inCase(m, bytes.ToUpper)
		case "labels":
			m.Value = j.trimLabels(m.Value)
			j.labels = m.Value
		}
		kept = append(kept, m)
	}
	return kept
}

// absent reports whether a member counts as not given: as null, which is how
// agents that have to write every field leave one out.
func (j *judging) absent(m schema.Member) bool { return m.Value[0] == 'n' && !j.cfg.Strict }

// sameNumber reports whether two raw values are equal, or say the same number.
func sameNumber(a, b []byte) bool {
	n, err := safeoutput.ParseWhole(a)
	m, err2 := safeoutput.ParseWhole(b)
	return bytes.Equal(a, b) || err == nil && err2 == nil && n == m
}

// unknown deals with a field that the form does not have, and reports whether
// it is left out.
func (j *judging) unknown(m schema.Member) bool {
	if slices.Contains(j.verdict.shape.others, m.Name) {
		j.refuse("$."+m.Name, quote(m.Name)+" cannot be given together with 'sarif': report either a SARIF log or one finding")
		return true
	}
	if j.cfg.Strict {
		return false // the schema refuses it
	}
	j.notes.UnknownFields = append(j.notes.UnknownFields, m.Name)
	return true
}

// optional reports whether the schema lets a field of this form be left out.
func (j *judging) optional(name string) bool {
	return !slices.Contains(j.verdict.shape.schema.Required(), name)
}

// inCase gives a word the letter case that the schema has it in, if it is one
// of the schema's words then.
func (j *judging) inCase(m schema.Member, to func([]byte) []byte) []byte {
	if j.verdict.shape.schema.SurelyHolds(m) {
		return m.Value
	}
	word := schema.Member{Name: m.Name, Value: to(m.Value)}
	if !j.verdict.shape.schema.SurelyHolds(word) {
		return m.Value
	}
	j.notes.repair(RepairLetterCase, m.Name)
	return word.Value
}
