package pages

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/schema"
	"github.com/agent-airlock/airlock/internal/text"
)

// parameterForm is the form of an agent's parameters: a field for each property of the
// schema.
type parameterForm struct {
	Fields []*formField
	// WhyJSON is why the parameters can only be given as one text of JSON; "" if each has its field.
	WhyJSON string
}

// maxFields is how many properties get a field each.
const maxFields = 200

// formField is one parameter in a form.
type formField struct {
	ID       string // in the page
	Name     string // in the form
	Property string
	Label    string
	// Kind is line, area, number, choice, list or json.
	Kind        string
	Description string
	Hints       []string
	Required    bool
	Options     []formOption // of a choice, with one for none first
	Value       string       // as it was typed
	Errors      []string

	path    string // as violations write it
	numbers bool   // the elements of a list are numbers
}

// Note returns the id of the field's description, where there is one.
func (f *formField) Note() string { return f.ID + "-note" }

// Problem returns the id of the field's errors.
func (f *formField) Problem() string { return f.ID + "-problem" }

// Describers returns the ids of what describes the field.
func (f *formField) Describers() string {
	var ids []string
	if len(f.Errors) > 0 {
		ids = append(ids, f.Problem())
	}
	if f.Description != "" || len(f.Hints) > 0 {
		ids = append(ids, f.Note())
	}
	return strings.Join(ids, " ")
}

// Rows returns how many lines the field shows.
func (f *formField) Rows() int {
	return min(max(strings.Count(f.Value, "\n")+2, 3), 20)
}

// formOption is one value of a choice.
type formOption struct {
	Value    string // as JSON; "" for none
	Label    string
	Selected bool
}

// property is the part of a property's schema that a form uses.
type property struct {
	Ref              string            `json:"$ref"`
	Type             any               `json:"type"`
	Enum             []json.RawMessage `json:"enum"`
	Const            json.RawMessage   `json:"const"`
	Title            string            `json:"title"`
	Description      string            `json:"description"`
	Default          json.RawMessage   `json:"default"`
	Examples         []json.RawMessage `json:"examples"`
	Format           string            `json:"format"`
	Pattern          string            `json:"pattern"`
	MinLength        json.Number       `json:"minLength"`
	MaxLength        json.Number       `json:"maxLength"`
	MinItems         json.Number       `json:"minItems"`
	MaxItems         json.Number       `json:"maxItems"`
	UniqueItems      bool              `json:"uniqueItems"`
	Minimum          json.Number       `json:"minimum"`
	Maximum          json.Number       `json:"maximum"`
	ExclusiveMinimum json.Number       `json:"exclusiveMinimum"`
	ExclusiveMaximum json.Number       `json:"exclusiveMaximum"`
	MultipleOf       json.Number       `json:"multipleOf"`
	Items            json.RawMessage   `json:"items"`
}

// newParameterForm returns the empty form of a schema of type object.
func newParameterForm(raw json.RawMessage) parameterForm {
	var top struct {
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	}
	if err := json.Unmarshal(raw, &top); err != nil {
		return parameterForm{WhyJSON: "The schema does not name its parameters one by one."}
	}
	list, err := schema.MembersOf(top.Properties)
	switch {
	case err != nil || len(list) == 0:
		return parameterForm{WhyJSON: "The schema does not name its parameters one by one."}
	case len(list) > maxFields:
		return parameterForm{WhyJSON: fmt.Sprintf("The agent takes %d parameters: too many for a field each.", len(list))}
	}
	var f parameterForm
	for i, m := range list {
		f.Fields = append(f.Fields, newField(i, m.Name, m.Value, raw, slices.Contains(top.Required, m.Name)))
	}
	return f
}

// Usable reports whether there are fields.
func (f parameterForm) Usable() bool { return f.WhyJSON == "" }

// Failing returns the fields with errors.
func (f parameterForm) Failing() []*formField {
	return slices.DeleteFunc(slices.Clone(f.Fields), func(field *formField) bool { return len(field.Errors) == 0 })
}

// newField returns the empty field of the parameter at index i, whose schema is raw. root is the
// schema of all parameters.
func newField(i int, name string, raw, root json.RawMessage, required bool) *formField {
	f := &formField{ID: fmt.Sprintf("p%d", i), Name: "p." + name, Property: name, Label: text.Truncate(text.OneLine(name), 100), Required: required, Kind: "json", path: schema.PropertyPath(name)}
	p := resolved(raw, root)
	f.Description = text.TruncateBytes(shown(strings.TrimSpace(p.Description)), 4000)
	if p.Title != "" {
		f.Hints = append(f.Hints, text.Truncate(text.OneLine(p.Title), 200))
	}
	kind, nullable := p.kind()
	switch {
	case p.Const != nil:
		f.Kind = "choice"
		p.Enum = []json.RawMessage{p.Const}
	case len(p.Enum) > 0 && len(p.Enum) <= 500:
		f.Kind = "choice"
	case kind == "boolean":
		f.Kind = "choice"
		p.Enum = []json.RawMessage{json.RawMessage("true"), json.RawMessage("false")}
	case kind == "string":
		f.Kind = "area"
		if n, err := p.MaxLength.Float64(); p.Format != "" || p.Pattern != "" || err == nil && n <= 200 {
			f.Kind = "line"
		}
	case kind == "integer":
		f.Kind = "number"
		f.Hints = append(f.Hints, "a whole number")
	case kind == "number":
		f.Kind = "number"
		f.Hints = append(f.Hints, "a number")
	case kind == "array":
		switch element, _ := resolved(p.Items, root).kind(); element {
		case "integer", "number", "string":
			f.Kind = "list"
			f.numbers = element != "string"
			f.Hints = append(f.Hints, "one on each line")
		}
	}
	if f.Kind == "choice" {
		f.Options = append(f.Options, formOption{Label: "not given"})
		for _, e := range p.Enum {
			f.Options = append(f.Options, formOption{Value: compactJSON(e), Label: text.Truncate(plainValue(e), 200)})
		}
	}
	switch {
	case f.Kind == "json" && kind == "object":
		f.Hints = append(f.Hints, "JSON object, such as {}")
	case f.Kind == "json" && kind == "array":
		f.Hints = append(f.Hints, "JSON array, such as []")
	case f.Kind == "json":
		f.Hints = append(f.Hints, "JSON")
	case nullable && !required:
		f.Hints = append(f.Hints, "may be left out")
	}
	f.Hints = append(f.Hints, p.hints()...)
	return f
}

// resolved returns a property's schema, with references within root followed. A schema that is not
// an object, or whose reference leads nowhere, allows anything.
func resolved(raw, root json.RawMessage) (p property) {
	for range 8 {
		p = property{}
		if json.Unmarshal(raw, &p) != nil {
			return property{}
		}
		pointer, local := strings.CutPrefix(p.Ref, "#/")
		if !local {
			return p
		}
		target := root
		if strings.Count(pointer, "/") > maxIndent {
			return property{}
		}
		for step := range strings.SplitSeq(pointer, "/") {
			if unescaped, err := url.PathUnescape(step); err == nil {
				step = unescaped
			}
			var members map[string]json.RawMessage
			if json.Unmarshal(target, &members) != nil {
				return property{}
			}
			target = members[strings.NewReplacer("~1", "/", "~0", "~").Replace(step)]
		}
		if target == nil {
			return property{}
		}
		raw = target
	}
	return property{} // it goes in a circle
}

// kind returns the type of the property's values, apart from null; "" if they can have several.
func (p property) kind() (kind string, nullable bool) {
	switch t := p.Type.(type) {
	case string:
		return t, false
	case []any:
		for _, one := range t {
			switch s, _ := one.(string); {
			case s == "null":
				nullable = true
			case kind != "":
				return "", nullable
			default:
				kind = s
			}
		}
	}
	return kind, nullable
}

// hints returns the limits, the examples and the default in words.
func (p property) hints() (list []string) {
	addIf := func(applies bool, format string, args ...any) {
		if applies {
			list = append(list, text.Truncate(text.OneLine(fmt.Sprintf(format, args...)), 300))
		}
	}
	span := func(least, most json.Number, thing string) {
		counted := func(n json.Number) string {
			switch {
			case thing == "":
				return string(n)
			case n == "1":
				return "1 " + thing
			}
			return string(n) + " " + thing + "s"
		}
		addIf(least != "" && most != "", "%s to %s", least, counted(most))
		addIf(least != "" && most == "", "at least %s", counted(least))
		addIf(least == "" && most != "", "at most %s", counted(most))
	}
	span(p.MinLength, p.MaxLength, "character")
	span(p.MinItems, p.MaxItems, "element")
	span(p.Minimum, p.Maximum, "")
	addIf(p.ExclusiveMinimum != "", "more than %s", p.ExclusiveMinimum)
	addIf(p.ExclusiveMaximum != "", "less than %s", p.ExclusiveMaximum)
	addIf(p.MultipleOf != "", "a multiple of %s", p.MultipleOf)
	addIf(p.UniqueItems, "each once")
	addIf(p.Format != "", "format: %s", p.Format)
	addIf(p.Pattern != "", "pattern: %s", p.Pattern)
	var examples []string
	for _, e := range p.Examples[:min(len(p.Examples), 3)] {
		examples = append(examples, plainValue(e))
	}
	addIf(examples != nil, "for example %s", strings.Join(examples, " or "))
	addIf(p.Default != nil, "default: %s", plainValue(p.Default))
	return list
}

// plainValue returns a JSON value as a person would write it: a string without quotes.
func plainValue(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil && len(raw) > 0 && raw[0] == '"' {
		return text.OneLine(s)
	}
	return compact(raw)
}

func compactJSON(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

// Parameters turns the values of the form into JSON, and keeps them in the fields. It leaves out
// empty fields. A value that does not fit its field, such as a word in place of a number, becomes a
// JSON string, which the server refuses. If a value should be JSON but is not, unreadable also has
// a violation about it.
func (f parameterForm) Parameters(form url.Values) (raw json.RawMessage, unreadable []schema.Violation) {
	b := bytes.NewBufferString("{")
	for _, field := range f.Fields {
		field.Value = form.Get(field.Name)
		for i := range field.Options {
			field.Options[i].Selected = field.Options[i].Value == field.Value
		}
		value, problem := field.value()
		if problem != "" {
			unreadable = append(unreadable, schema.Violation{Path: field.path, Message: problem})
		}
		if value == nil {
			continue
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		b.Write(plainJSON(field.Property))
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), unreadable
}

// value returns the typed value as JSON; nil if nothing was typed.
func (f *formField) value() (raw json.RawMessage, problem string) {
	trimmed := strings.TrimSpace(f.Value)
	switch {
	case f.Value == "" || f.Kind != "area" && f.Kind != "line" && trimmed == "":
		return nil, ""
	case f.Kind == "number" && isNumber(trimmed), f.Kind == "choice" && json.Valid([]byte(trimmed)):
		return json.RawMessage(trimmed), ""
	case f.Kind == "list":
		var list []json.RawMessage
		for line := range strings.SplitSeq(strings.TrimRight(f.Value, "\n"), "\n") {
			if f.numbers && isNumber(strings.TrimSpace(line)) {
				list = append(list, json.RawMessage(strings.TrimSpace(line)))
			} else {
				list = append(list, plainJSON(line))
			}
		}
		return plainJSON(list), ""
	case f.Kind == "json":
		if problem := notJSON(trimmed); problem != "" {
			return plainJSON(trimmed), problem
		}
		return json.RawMessage(trimmed), ""
	}
	return plainJSON(f.Value), ""
}

// plainJSON encodes a value as JSON, without escaping <, > and &. The value must be made of strings
// and valid JSON.
func plainJSON(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // encoding strings and valid JSON cannot fail
	return bytes.TrimSpace(b.Bytes())
}

func isNumber(s string) bool {
	return s != "" && (s[0] == '-' || s[0] >= '0' && s[0] <= '9') && json.Valid([]byte(s))
}

// notJSON returns why a text is not JSON; "" if it is.
func notJSON(s string) string {
	var value any
	err := json.Unmarshal([]byte(s), &value)
	syntax, isSyntax := errors.AsType[*json.SyntaxError](err)
	switch {
	case err == nil:
		return ""
	case isSyntax && s != "":
		wrong := int(syntax.Offset) - 1 // where the wrong character is
		if strings.HasPrefix(syntax.Error(), "unexpected end") {
			wrong = len(s)
		}
		before := s[:min(max(wrong, 0), len(s))]
		line := strings.Count(before, "\n") + 1
		column := len([]rune(before[strings.LastIndexByte(before, '\n')+1:])) + 1
		return fmt.Sprintf("this is not JSON: line %d, column %d: %s", line, column, syntax)
	}
	return "this is not JSON: " + err.Error()
}

// Explain puts violations next to the fields that they are about, and returns the others.
func (f parameterForm) Explain(violations []schema.Violation) (others []schema.Violation) {
	for _, v := range violations {
		var nearest *formField // of those that contain the path
		for _, field := range f.Fields {
			if isBelow(v.Path, field.path) && (nearest == nil || len(field.path) > len(nearest.path)) {
				nearest = field
			}
		}
		switch {
		case nearest == nil:
			others = append(others, v)
		case v.Path == nearest.path:
			nearest.Errors = append(nearest.Errors, text.OneLine(v.Message))
		default:
			nearest.Errors = append(nearest.Errors, text.OneLine(v.Path+": "+v.Message))
		}
	}
	return others
}

// isBelow reports whether a violation's path is parent or below it.
func isBelow(path, parent string) bool {
	rest, ok := strings.CutPrefix(path, parent)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// Fill puts parameters into the fields, and reports whether the fields express all of them.
func (f parameterForm) Fill(parameters json.RawMessage) bool {
	list, err := schema.MembersOf(parameters)
	if err != nil {
		return false
	}
	complete := true
	for _, m := range list {
		i := slices.IndexFunc(f.Fields, func(field *formField) bool { return field.Property == m.Name })
		filled := i >= 0 && f.Fields[i].fill(m.Value)
		complete = complete && filled
	}
	return complete
}

// fill puts a value into the field, and reports whether the field expresses it.
func (f *formField) fill(raw json.RawMessage) bool {
	var s string
	isText := json.Unmarshal(raw, &s) == nil && raw[0] == '"'
	switch f.Kind {
	case "area", "line":
		f.Value = s
		return isText && s != "" && !strings.Contains(s, "\r") && (f.Kind == "area" || !strings.Contains(s, "\n"))
	case "number":
		f.Value = string(raw)
		return isNumber(f.Value)
	case "choice":
		f.Value = compactJSON(raw)
		found := false
		for i := range f.Options {
			f.Options[i].Selected = f.Options[i].Value == f.Value
			found = found || f.Options[i].Selected
		}
		return found
	case "list":
		lines, ok := f.linesOf(raw)
		if ok {
			f.Value = strings.Join(lines, "\n")
		}
		return ok && strings.TrimSpace(f.Value) != "" // blank lines alone count as nothing
	}
	f.Value = indent(raw)
	return true
}

// linesOf returns the elements of a list, each as a line of the field; ok is false if one cannot be a
// line, or there are none.
func (f *formField) linesOf(raw json.RawMessage) (lines []string, ok bool) {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil || len(list) == 0 {
		return nil, false
	}
	for _, e := range list {
		var s string
		switch {
		case !f.numbers && json.Unmarshal(e, &s) == nil && e[0] == '"' && s != "" && !strings.ContainsAny(s, "\r\n"):
			lines = append(lines, s)
		case f.numbers && isNumber(string(e)):
			lines = append(lines, string(e))
		default:
			return nil, false
		}
	}
	return lines, true
}
