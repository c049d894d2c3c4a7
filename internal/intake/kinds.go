package intake

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/schema"
	"github.com/agent-airlock/airlock/internal/text"
)

// unionFile is the published schema of the union.
const unionFile = "agent-output.json"

// form is one form of a kind's items. A security report has two, every other kind one.
type form struct {
	spec   safeoutput.Spec
	schema *schema.Schema
	// fields are the fields of the form; has and isNumber read it. The value is true for
	// numbers.
	fields map[string]bool
	names  []string // of the fields, in the order of the kind's type
	// plain finds a field by its name in lower case and without separators.
	plain map[string]string
	// others are the fields of the kind's other form, which this form must not have.
	others []string
	// prefix is the path of the form's schema in its kind's schema: "oneOf.0.".
	prefix string
}

// has reports whether the form has a field.
func (f *form) has(field string) bool {
	_, ok := f.fields[field]
	return ok
}

// isNumber reports whether the form has a field that is a number.
func (f *form) isNumber(field string) bool { return f.fields[field] }

// The two forms of a security report, as definitions of the union's schema.
const (
	formSARIF   = "security-report-sarif"
	formFinding = "security-report-finding"
)

// newForm returns the form of a kind that a definition of the union's schema
// describes. It is an error if there is no such definition.
func newForm(spec safeoutput.Spec, definition string) (*form, error) {
	f := &form{spec: spec, fields: map[string]bool{}}
	var ok bool
	if f.schema, ok = schema.Published(unionFile, definition); !ok {
		return nil, fmt.Errorf("%s: schemas/%s has no definition %q", spec.Kind, unionFile, definition)
	}
	it := spec.New()
	for _, name := range safeoutput.FieldNames(spec.Kind) {
		_, f.fields[name] = safeoutput.Field(it, name).(*int)
	}
	switch definition {
	case formSARIF:
		f.prefix = "oneOf.0."
		for name := range f.fields {
			if name != "sarif" && name != "category" && name != "repo" {
				f.others = append(f.others, name)
				delete(f.fields, name)
			}
		}
		slices.Sort(f.others)
	case formFinding:
		f.prefix = "oneOf.1."
		f.others = []string{"sarif"} // it can only be null here: any other value selects formSARIF
		delete(f.fields, "sarif")
	}
	f.names = slices.DeleteFunc(safeoutput.FieldNames(spec.Kind), func(name string) bool { return !f.has(name) })
	f.plain = map[string]string{"type": "type"}
	for _, name := range f.names {
		f.plain[strings.ToLower(strings.ReplaceAll(name, "_", ""))] = name
	}
	return f, nil
}

// newForms returns the forms of all kinds, by the names of their definitions.
func newForms() (map[string]*form, error) {
	forms := map[string]*form{}
	for _, spec := range safeoutput.Kinds() {
		names := []string{string(spec.Kind)}
		if spec.Kind == safeoutput.KindCreateSecurityReport {
			names = []string{formSARIF, formFinding}
		}
		for _, n := range names {
			f, err := newForm(spec, n)
			if err != nil {
				return nil, err
			}
			forms[n] = f
		}
	}
	return forms, nil
}

// formOf returns the form of a record with these members.
func (d *door) formOf(kind safeoutput.Kind, members []schema.Member) *form {
	if kind != safeoutput.KindCreateSecurityReport {
		return d.forms[string(kind)]
	}
	if slices.ContainsFunc(members, func(m schema.Member) bool { return m.Name == "sarif" && !d.absent(m) }) {
		return d.forms[formSARIF]
	}
	return d.forms[formFinding]
}

// listKinds lists the kinds that are accepted, in the order of the table, as a clause. If
// the map is nil, all kinds are accepted here, and the clause does not say "enabled",
// because it is not known which kinds the owner has enabled.
func listKinds(enabled map[safeoutput.Kind]bool) string {
	which := "the kinds enabled are: "
	if enabled == nil {
		which = "the kinds are: "
	}
	var names []string
	for _, s := range safeoutput.Kinds() {
		if enabled == nil || enabled[s.Kind] {
			names = append(names, string(s.Kind))
		}
	}
	if len(names) == 0 {
		return which + "none"
	}
	return which + strings.Join(names, ", ")
}

// maxSuggestions is how many messages about unknown kinds suggest a similar kind and list the
// accepted kinds. Later messages do neither, because the search for a similar kind takes longer than
// reading the line.
const maxSuggestions = 1000

// unknownKind returns the message about a kind that does not exist. suggested is how many
// earlier records had such a kind.
func (d *door) unknownKind(name string, suggested int) string {
	msg := "'type' (" + quote(name) + ") is not a kind of safe output"
	if suggested >= maxSuggestions {
		return msg + "; the first such lines list the kinds"
	}
	if near := nearestKind(name); near != "" {
		return msg + "; did you mean '" + near + "'? T" + d.whichKinds[1:] // "The kinds …"
	}
	return msg + "; " + d.whichKinds
}

// nearestKind returns the canonical kind whose name or alias is most similar to name,
// or "" if none is similar.
func nearestKind(name string) string {
	if len(name) > 60 {
		return ""
	}
	name = strings.ToLower(strings.NewReplacer("_", "-", " ", "-").Replace(strings.TrimSpace(name)))
	words := strings.Split(name, "-")
	for i, w := range words {
		switch w {
		case "pr", "mr":
			words[i] = "pull-request"
		case "open", "file", "new":
			words[i] = "create"
		case "close", "reopen", "edit":
			words[i] = "update"
		}
	}
	if name = strings.Join(words, "-"); name == "" {
		return ""
	}
	best, distance := "", len(name)/3+2
	for _, s := range safeoutput.Kinds() {
		for _, known := range append([]string{string(s.Kind)}, s.Aliases...) {
			d := text.Distance(name, known, distance)
			if len(name) >= 5 && strings.Contains(known, name) {
				d = min(d, 2)
			}
			if d < distance {
				best, distance = string(s.Kind), d
			}
		}
	}
	return best
}
