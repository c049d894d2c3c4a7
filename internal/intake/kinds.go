package intake

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/schema"
)

// unionFile is the published schema of the union.
const unionFile = "agent-output.json"

// shape is one form that an item of a kind can have.
type shape struct {
	spec   safeoutput.Spec
	schema *schema.Schema
	// fields are the fields of this form: true for those that are numbers.
	fields map[string]bool
	// others are fields of the kind that do not go with this form.
	others []string
	// prefix is where the form's schema stands in the kind's.
	prefix string
}

// The two forms of a security report, as definitions of the union's schema.
const (
	formSARIF   = "security-report-sarif"
	formFinding = "security-report-finding"
)

// newShape returns the form of a kind that a definition of the union's schema describes.
// The error is that there is no such definition.
func newShape(spec safeoutput.Spec, definition string) (*shape, error) {
	s := &shape{spec: spec, fields: map[string]bool{}}
	var ok bool
	if s.schema, ok = schema.Published(unionFile, definition); !ok {
		return nil, fmt.Errorf("%s: schemas/%s has no definition %q", spec.Kind, unionFile, definition)
	}
	it := spec.New()
	for _, name := range safeoutput.FieldNames(spec.Kind) {
		_, s.fields[name] = safeoutput.Field(it, name).(*int)
	}
	switch definition {
	case formSARIF:
		s.prefix = "oneOf.0."
		for name := range s.fields {
			if name != "sarif" && name != "category" {
				s.others = append(s.others, name)
			}
		}
		slices.Sort(s.others)
		for _, name := range s.others {
			delete(s.fields, name)
		}
	case formFinding:
		s.prefix = "oneOf.1."
		s.others = []string{"sarif"} // null, or there would be the other form
		delete(s.fields, "sarif")
	}
	return s, nil
}

// shapes returns the forms of all kinds, by definition name.
func shapes() (map[string]*shape, error) {
	m := map[string]*shape{}
	for _, spec := range safeoutput.Kinds() {
		names := []string{string(spec.Kind)}
		if spec.Kind == safeoutput.KindCreateSecurityReport {
			names = []string{formSARIF, formFinding}
		}
		for _, n := range names {
			s, err := newShape(spec, n)
			if err != nil {
				return nil, err
			}
			m[n] = s
		}
	}
	return m, nil
}

// shapeOf picks the form that an object with these members has.
func (d *door) shapeOf(spec safeoutput.Spec, members []schema.Member) *shape {
	name := string(spec.Kind)
	if spec.Kind == safeoutput.KindCreateSecurityReport {
		name = formFinding
		if slices.ContainsFunc(members, func(m schema.Member) bool { return m.Name == "sarif" && (m.Value[0] != 'n' || d.cfg.Strict) }) {
			name = formSARIF
		}
	}
	return d.shapes[name]
}

// enabledKinds lists the kinds that are let in, in the order of the table.
func (d *door) enabledKinds() string {
	var names []string
	for _, s := range safeoutput.Kinds() {
		if d.cfg.Enabled == nil || d.cfg.Enabled[s.Kind] {
			names = append(names, string(s.Kind))
		}
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// unknownKind says that there is no such kind, and which one was meant.
func (d *door) unknownKind(name string) string {
	msg := "'type' (" + quote(name) + ") is not a kind of safe output"
	if near := nearestKind(name); near != "" {
		return msg + "; did you mean '" + near + "'? The kinds enabled are: " + d.enabledKinds()
	}
	return msg + "; the kinds enabled are: " + d.enabledKinds()
}

// nearestKind returns the canonical kind whose name or alias is nearest to
// name, or "" where none is near.
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
			d := editDistance(name, known)
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

// editDistance counts the insertions, deletions and replacements of bytes that
// turn a into b (Levenshtein).
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
