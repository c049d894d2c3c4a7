package intake

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/sanitize"
	"github.com/agent-airlock/airlock/internal/schema"
	"github.com/go-json-experiment/json/jsontext"
)

// door is what all workers share; it does not change.
type door struct {
	cfg    Config
	clean  *sanitize.Sanitizer
	shapes map[string]*shape
}

func newDoor(cfg Config) (*door, error) {
	if cfg.Sanitize.MaxBodyUTF16 == 0 {
		cfg.Sanitize.MaxBodyUTF16 = DefaultMaxBody
	}
	clean, err := sanitize.New(cfg.Sanitize)
	if err != nil {
		return nil, err
	}
	forms, err := shapes()
	if err != nil {
		return nil, err
	}
	return &door{cfg: cfg, clean: clean, shapes: forms}, nil
}

// verdict is what becomes of one record before it is counted.
type verdict struct {
	spec       safeoutput.Spec
	shape      *shape // the form that the record has; nil until its kind is known
	accepted   Accepted
	violations []Violation // not empty: rejected
	cleaned    bool
}

// judge parses, repairs and validates one record. It does not count, and it
// cleans only where no limit could drop the item.
func (d *door) judge(p *parser, l safeoutput.Line) verdict {
	v := verdict{accepted: Accepted{line: l.No}}
	j := judging{door: d, verdict: &v, notes: &v.accepted.notes}
	if l.Err != nil {
		j.refuse("$", l.Err.Error())
		return v
	}
	members, problem := p.object(l.Raw, j.notes)
	if problem != "" {
		if l.End > l.No {
			problem += fmt.Sprintf("; lines %d to %d were read together", l.No, l.End)
		}
		j.refuse("$", problem)
		return v
	}
	if !j.dispatch(members) {
		return v
	}
	members = j.normalise(members)
	j.validate(members)
	j.rules()
	if len(v.violations) == 0 && d.cfg.max(v.spec) < 0 {
		d.cleanItem(&v)
	}
	return v
}

// cleanItem cleans a valid item's texts; what is left of them must still be
// valid.
func (d *door) cleanItem(v *verdict) {
	j := judging{door: d, verdict: v, notes: &v.accepted.notes}
	j.clean()
	v.cleaned = true
}

// judging is the work on one record.
type judging struct {
	*door
	verdict *verdict
	notes   *Notes
	labels  []byte // the raw value of "labels"
}

func (j *judging) refuse(path, message string) {
	j.violation(schema.Violation{Path: path, Message: message})
}

// violation adds one of the record's violations.
func (j *judging) violation(v schema.Violation) {
	j.verdict.violations = append(j.verdict.violations, Violation{
		Line: j.verdict.accepted.line, Kind: j.verdict.spec.Kind, Path: v.Path, Message: v.Message, SchemaPath: v.SchemaPath,
	})
}

// refused reports whether something is wrong with the field already.
func (j *judging) refused(field string) bool {
	if len(j.verdict.violations) == 0 {
		return false
	}
	path := "$." + field
	return slices.ContainsFunc(j.verdict.violations, func(v Violation) bool {
		return v.Path == path || strings.HasPrefix(v.Path, path+"[") || strings.HasPrefix(v.Path, path+".")
	})
}

// dispatch finds the record's kind and the form of it.
func (j *judging) dispatch(members []schema.Member) bool {
	i := slices.IndexFunc(members, func(m schema.Member) bool { return m.Name == "type" })
	if i < 0 {
		hint := alike("type", namesOf(members))
		if slices.ContainsFunc(members, func(m schema.Member) bool { return m.Name == "items" }) {
			hint = " (a document of items is one object that begins with 'items' or 'errors', and holds a list in it)"
		}
		j.refuse("$.type", "'type' is a required property"+hint+"; the kinds enabled are: "+j.enabledKinds())
		return false
	}
	raw := members[i].Value
	if raw[0] != '"' {
		j.refuse("$.type", "'type' must be a string; the kinds enabled are: "+j.enabledKinds())
		return false
	}
	spec, ok := safeoutput.Lookup(string(raw[1 : len(raw)-1]))
	if !ok {
		name, err := jsontext.AppendUnquote(nil, raw)
		if spec, ok = safeoutput.Lookup(string(name)); !ok || err != nil {
			j.refuse("$.type", j.unknownKind(string(name)))
			return false
		}
	}
	j.verdict.spec = spec
	if j.cfg.Enabled != nil && !j.cfg.Enabled[spec.Kind] {
		j.refuse("$.type", "'type': this kind is not enabled; the kinds enabled are: "+j.enabledKinds())
		return false
	}
	j.verdict.shape = j.shapeOf(spec, members)
	return true
}

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
		case "sarif":
			if m.Value[0] == '{' {
				m.Value = j.parseSARIF(m.Value)
			}
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
	if j.verdict.shape.schema.AcceptsMember(m) {
		return m.Value
	}
	word := schema.Member{Name: m.Name, Value: to(m.Value)}
	if !j.verdict.shape.schema.AcceptsMember(word) {
		return m.Value
	}
	j.notes.repair(RepairLetterCase, m.Name)
	return word.Value
}

// validate checks the members against the form's schema, and gives the item
// the values of those that conform.
func (j *judging) validate(members []schema.Member) {
	it, shape := j.verdict.spec.New(), j.verdict.shape
	j.verdict.accepted.item = it
	found, err := shape.schema.ValidateMembers(members)
	if err != nil {
		j.refuse("$", err.Error())
	}
	for _, f := range found {
		if f.SchemaPath != "" {
			f.SchemaPath = shape.prefix + f.SchemaPath
		}
		j.violation(j.reword(f, members))
	}
	for _, m := range members {
		if m.Name == "type" || j.refused(m.Name) {
			continue
		}
		if _, known := shape.fields[m.Name]; !known {
			continue
		}
		if m.Name == "sarif" && m.Value[0] == '"' {
			m.Value = j.parseSARIF(m.Value)
		}
		if err := safeoutput.Assign(it, m.Name, m.Value); err != nil && !j.refused(m.Name) {
			why := quote(m.Name) + " cannot be read: " + err.Error()
			if shape.fields[m.Name] {
				why = notWhole(m)
			}
			j.refuse("$."+m.Name, why)
		}
	}
}

// reword says of a number what is expected instead of quoting the schema's
// alternatives, and of a missing field what was given in its place.
func (j *judging) reword(v schema.Violation, members []schema.Member) schema.Violation {
	name := strings.TrimPrefix(v.Path, "$.")
	if strings.HasSuffix(v.SchemaPath, "required") {
		v.Message += alike(name, j.notes.UnknownFields)
		if slices.Equal(j.verdict.shape.others, []string{"sarif"}) && !slices.ContainsFunc(members, j.required) {
			v.Message += " where there is no 'sarif'"
		}
		return v
	}
	if !j.verdict.shape.fields[name] {
		return v
	}
	for _, m := range members {
		if m.Name == name {
			v.Message = notWhole(m)
		}
	}
	return v
}

// required reports whether a member is a field of this form that may not be
// left out.
func (j *judging) required(m schema.Member) bool { return m.Name != "type" && !j.optional(m.Name) }

func notWhole(m schema.Member) string {
	want := "must be a whole number of at least 1"
	switch digits := strings.Trim(string(m.Value), `"`); {
	case digits == "" || strings.Trim(digits, "0123456789") != "" || strings.Trim(digits, "0") == "":
	case digits[0] == '0':
		want = "must be written without leading zeros"
	default:
		want = fmt.Sprintf("must be at most %d", math.MaxInt32)
	}
	return quote(m.Name) + " " + want + ", not " + value(m.Value)
}

func namesOf(members []schema.Member) []string {
	names := make([]string, len(members))
	for i, m := range members {
		names[i] = m.Name
	}
	return names
}

// sortViolations orders violations by their paths. Those of one path stay in the
// order in which they were found.
func sortViolations(list []Violation) []Violation {
	slices.SortStableFunc(list, func(a, b Violation) int { return schema.ComparePaths(a.Path, b.Path) })
	return list
}
