package intake

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/sanitize"
	"github.com/agent-airlock/airlock/internal/sarif"
	"github.com/agent-airlock/airlock/internal/schema"
	"github.com/go-json-experiment/json/jsontext"
)

// door is what all workers share; it does not change.
type door struct {
	cfg       Config
	sanitizer *sanitize.Sanitizer
	forms     map[string]*form // by the name of their definition in the schema
	// whichKinds is a clause that lists the kinds that are accepted.
	whichKinds string
}

func newDoor(cfg Config) (*door, error) {
	if cfg.Sanitize.MaxBodyUTF16 == 0 {
		cfg.Sanitize.MaxBodyUTF16 = defaultMaxBody
	}
	sanitizer, err := sanitize.New(cfg.Sanitize)
	if err != nil {
		return nil, err
	}
	forms, err := newForms()
	if err != nil {
		return nil, err
	}
	return &door{cfg: cfg, sanitizer: sanitizer, forms: forms, whichKinds: listKinds(cfg.Enabled)}, nil
}

// verdict is the outcome of one record before it is counted.
type verdict struct {
	kind       safeoutput.Kind // "" if it is unknown
	unknown    string          // the name of a kind that does not exist; its violation lacks the message
	form       *form           // nil if the kind is unknown or not enabled
	accepted   Accepted
	violations []Violation // if there are any, the record is rejected
	log        *sarif.Log  // the item's, from when it is validated until the worker is done with the record
	cleaned    bool        // whether the item was cleaned; it may have become invalid then
	before     Notes       // those from before the item was cleaned
	crashed    bool        // Airlock itself failed on the record
}

// judge parses, repairs and validates one record. It does not count or clean it.
func (d *door) judge(p *parser, l safeoutput.Line) verdict {
	v := verdict{accepted: Accepted{line: l.No}}
	j := d.judgeOf(&v)
	if l.Err != nil {
		j.refuse("$", l.Err.Error())
		return v
	}
	members, problem := p.object(l.Raw, j.notes)
	if problem != nil {
		if l.End > l.No {
			problem.Message += fmt.Sprintf("; lines %d to %d were read together", l.No, l.End)
		}
		j.violation(*problem)
		return v
	}
	if !j.dispatch(members) {
		return v
	}
	members = j.normalise(members)
	j.validate(members)
	j.rules()
	return v
}

// recordJudge judges one record: it changes the verdict.
type recordJudge struct {
	*door
	*verdict
	notes   *Notes // those of the verdict
	members []schema.Member
	labels  []byte // the JSON of the field "labels"
	owner   string // the repository's owner, where the record names it in a field of its own
	// written maps a field to the alias under which the record has it.
	written       map[string]string
	refusedFields int // how many fields changesMeaning has refused
}

// judgeOf returns a judge that fills in the verdict.
func (d *door) judgeOf(v *verdict) *recordJudge {
	return &recordJudge{door: d, verdict: v, notes: &v.accepted.notes}
}

// refuse adds a violation of a rule that no schema contains.
func (j *recordJudge) refuse(path, message string) {
	j.violation(schema.Violation{Path: path, Message: message})
}

// violation adds a violation of the record.
func (j *recordJudge) violation(v schema.Violation) {
	j.violations = append(j.violations, Violation{
		Line: j.accepted.line, Kind: j.kind, Path: v.Path, Message: v.Message, SchemaPath: v.SchemaPath,
	})
}

// refused reports whether the field already has a violation.
func (j *recordJudge) refused(field string) bool {
	if len(j.violations) == 0 {
		return false
	}
	path := "$." + field
	return slices.ContainsFunc(j.violations, func(v Violation) bool {
		return v.Path == path || strings.HasPrefix(v.Path, path+"[") || strings.HasPrefix(v.Path, path+".")
	})
}

// dispatch finds the record's kind and form. It returns false if there is none.
func (j *recordJudge) dispatch(members []schema.Member) bool {
	i := slices.IndexFunc(members, func(m schema.Member) bool { return m.Name == "type" })
	if i < 0 {
		hint := similarName("type", namesOf(members))
		if slices.ContainsFunc(members, func(m schema.Member) bool { return m.Name == "items" }) {
			hint = " (a document of items is one object that begins with 'items' or 'errors', and has a list there)"
		}
		j.refuse("$.type", "'type' is a required property"+hint+"; "+j.whichKinds)
		return false
	}
	raw := members[i].Value
	if raw[0] != '"' {
		j.refuse("$.type", "'type' must be a string; "+j.whichKinds)
		return false
	}
	if string(raw) == `""` {
		j.refuse("$.type", "'type': '' must not be blank; "+j.whichKinds)
		return false
	}
	spec, ok := safeoutput.Lookup(string(raw[1 : len(raw)-1]))
	if !ok { // it may have escapes
		name, err := jsontext.AppendUnquote(nil, raw)
		if spec, ok = safeoutput.Lookup(string(name)); !ok || err != nil {
			j.refuse("$.type", "") // the message is added when records of unknown kinds are counted
			j.unknown = string(name)
			return false
		}
	}
	j.kind = spec.Kind
	if j.cfg.Enabled != nil && !j.cfg.Enabled[spec.Kind] {
		j.refuse("$.type", "'type': this kind is not enabled; "+j.whichKinds)
		return false
	}
	j.form = j.formOf(spec.Kind, members)
	return true
}

// normalise returns the members with fields and words in their canonical form, without those
// that say nothing, and without those that dropUnknown leaves out.
func (j *recordJudge) normalise(members []schema.Member) []schema.Member {
	kind, form := j.kind, j.form
	j.members = members
	kept := members[:0]
	for _, m := range members {
		if m.Name == "type" {
			m.Value = []byte(`"` + string(kind) + `"`)
			kept = append(kept, m)
			continue
		}
		name := m.Name // in its canonical form
		if !form.has(name) {
			name = safeoutput.CanonicalField(kind, name)
		}
		known := form.has(name)
		needless := known && j.optional(name) || slices.Contains(form.others, name)
		if needless && j.absent(m) {
			j.notes.repair(RepairNullField, m.Name)
			continue
		}
		if (name == "repo" || name == "operation") && string(m.Value) == `""` {
			j.notes.repair(RepairBlankField, m.Name)
			continue
		}
		if name != m.Name { // an alias
			if i := slices.IndexFunc(members, func(o schema.Member) bool { return o.Name == name && !j.absent(o) }); i >= 0 {
				if !equalValues(members[i].Value, m.Value) {
					j.refuse("$."+m.Name, quote(m.Name)+" is another name of "+quote(name)+", and they differ; give one of them")
				}
				continue
			}
			if j.written == nil {
				j.written = map[string]string{}
			}
			j.written[name], m.Name = m.Name, name
		}
		if !known && j.dropUnknown(m) {
			continue
		}
		m.Value = j.normaliseValue(m)
		kept = append(kept, m)
	}
	return kept
}

// normaliseValue returns the value of a field in its canonical form.
func (j *recordJudge) normaliseValue(m schema.Member) []byte {
	switch m.Name {
	case "severity", "status":
		return j.inCase(m, bytes.ToLower)
	case "operation":
		return j.inCase(m, func(word []byte) []byte { return bytes.ReplaceAll(bytes.ToLower(word), []byte("_"), []byte("-")) })
	case "side":
		return j.inCase(m, bytes.ToUpper)
	case "labels":
		j.labels = j.trimLabels(m.Value)
		return j.labels
	case "sarif":
		if m.Value[0] == '{' { // a string is parsed by the method validate, after the schema has accepted it
			return j.parseSARIF(m.Value)
		}
	}
	return m.Value
}

// absent reports whether a member counts as not given: it is null, which some agents write
// for every field that they do not use. In strict mode no member counts as that.
func (d *door) absent(m schema.Member) bool { return m.Value[0] == 'n' && !d.cfg.Strict }

// equalValues reports whether two values are the same bytes, or the same number.
func equalValues(a, b []byte) bool {
	n, errA := safeoutput.ParseWhole(a)
	m, errB := safeoutput.ParseWhole(b)
	return bytes.Equal(a, b) || errA == nil && errB == nil && n == m
}

// dropUnknown notes or refuses a field that the form does not have, and reports
// whether to leave it out.
func (j *recordJudge) dropUnknown(m schema.Member) bool {
	if slices.Contains(j.form.others, m.Name) {
		j.refuse("$."+m.Name, quote(m.Name)+" cannot be given together with 'sarif': report either a SARIF log or one finding")
		return true
	}
	if j.storeOwner(m) || j.changesMeaning(m) {
		return true
	}
	if j.cfg.Strict {
		return false // the schema refuses it
	}
	j.notes.UnknownFields = append(j.notes.UnknownFields, m.Name)
	return true
}

// optional reports whether the schema lets a field of this form be left out.
func (j *recordJudge) optional(name string) bool {
	return !slices.Contains(j.form.schema.Required(), name)
}

// inCase returns a member's word as rewrite changes it, if the schema accepts it only then;
// otherwise the word as it is.
func (j *recordJudge) inCase(m schema.Member, rewrite func([]byte) []byte) []byte {
	if j.form.schema.AcceptsMember(m) {
		return m.Value
	}
	word := schema.Member{Name: m.Name, Value: rewrite(m.Value)}
	if !j.form.schema.AcceptsMember(word) {
		return m.Value
	}
	j.notes.repair(RepairLetterCase, m.Name)
	return word.Value
}

// validate validates the members by the form's schema, and assigns the valid ones to the item's
// fields.
func (j *recordJudge) validate(members []schema.Member) {
	it, form := j.form.spec.New(), j.form
	j.accepted.item = it
	found, err := form.schema.ValidateMembers(members)
	if err != nil {
		j.refuse("$", err.Error())
	}
	for _, f := range found {
		if f.SchemaPath != "" {
			f.SchemaPath = form.prefix + f.SchemaPath
		}
		j.violation(j.reword(f, members))
	}
	for _, m := range members {
		if m.Name == "type" || j.refused(m.Name) || !form.has(m.Name) {
			continue
		}
		if m.Name == "sarif" && m.Value[0] == '"' {
			m.Value = j.parseSARIF(m.Value)
		}
		if err := safeoutput.Assign(it, m.Name, m.Value); err != nil && !j.refused(m.Name) {
			why := quote(m.Name) + " cannot be read: " + err.Error()
			if form.isNumber(m.Name) {
				why = j.notWholeNumber(m)
			}
			j.refuse("$."+m.Name, why)
		}
	}
}

// reword makes three kinds of messages more helpful: about a missing field, because the record may
// have one with a similar name; about the repository; and about a number, because the schema has
// alternatives for it.
func (j *recordJudge) reword(v schema.Violation, members []schema.Member) schema.Violation {
	name := strings.TrimPrefix(v.Path, "$.")
	if strings.HasSuffix(v.SchemaPath, "required") {
		v.Message += similarName(name, j.notes.UnknownFields)
		if slices.Equal(j.form.others, []string{"sarif"}) && !slices.ContainsFunc(members, j.required) {
			v.Message += " where there is no 'sarif'"
		}
		return v
	}
	if name == "repo" {
		v.Message = "'repo' must be owner/name; leave it out where it is this repository"
		return v
	}
	if !j.form.isNumber(name) {
		return v
	}
	for _, m := range members {
		if m.Name == name {
			v.Message = j.notWholeNumber(m)
		}
	}
	return v
}

// required reports whether a member is a field that the schema requires.
func (j *recordJudge) required(m schema.Member) bool { return m.Name != "type" && !j.optional(m.Name) }

// notWholeNumber returns the message about a value that the field, a number, does not accept.
func (j *recordJudge) notWholeNumber(m schema.Member) string {
	want := fmt.Sprintf("must be at most %d", math.MaxInt32)
	digits := strings.Trim(string(m.Value), `"`)
	isPositive := isNumber(digits) && strings.Trim(digits, "0") != ""
	number, _ := strconv.ParseFloat(string(m.Value), 64) // in any form; 0 for a string
	switch {
	case number > math.MaxInt32:
	case !isPositive:
		want = "must be a whole number of at least 1"
	case digits[0] == '0':
		want = "must be written without leading zeros"
	}
	name := quote(m.Name)
	if alias := j.written[m.Name]; alias != "" {
		name += " (here " + quote(alias) + ")"
	}
	return name + " " + want + ", not " + showValue(m.Value)
}

func namesOf(members []schema.Member) []string {
	names := make([]string, len(members))
	for i, m := range members {
		names[i] = m.Name
	}
	return names
}

// sortViolations sorts violations by their paths, otherwise in the order in which
// they were found.
func sortViolations(list []Violation) []Violation {
	slices.SortStableFunc(list, func(a, b Violation) int { return schema.ComparePaths(a.Path, b.Path) })
	return list
}
