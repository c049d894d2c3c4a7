package intake

import (
	"fmt"
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
	return &door{cfg: cfg, clean: clean, shapes: shapes()}, nil
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
