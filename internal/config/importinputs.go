package config

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// importInputs are the inputs of an imported file, which its front matter names as
// ${{ github.aw.import-inputs.NAME }}.
type importInputs struct {
	d    *decoder
	file string // the imported file's name
	at   *node  // where the importing file names it
	// values are the inputs by name: the values that the importing file gives below "with",
	// otherwise the defaults of the imported file's import-schema.
	values map[string]*node
}

// resolveInputs returns a Markdown file's text with the inputs of its front matter filled in.
// Lists and mappings become JSON, which YAML can read. ok is false where the inputs do not fit
// the file's import-schema or cannot be filled in; the problems are recorded then.
func (im *importing) resolveInputs(data []byte, name string, from importEntry) (filled []byte, ok bool) {
	in := &importInputs{d: im.d, file: name, at: from.file, values: map[string]*node{}}
	before := len(im.d.problems)
	if from.with != nil {
		for i := range from.with.entries {
			e := &from.with.entries[i]
			in.values[e.key] = &e.value
		}
	}
	// An error is not recorded here: the text is parsed again with its inputs.
	if doc, err := parseDocument(name, data); err == nil {
		if schema := doc.root.valueOf("import-schema"); schema != nil {
			in.check(schema, from.with)
		}
	}
	matter, body, _ := splitFrontMatter(data)
	filledMatter := in.fill(matter)
	return append(filledMatter, body...), len(im.d.problems) == before
}

// check compares the inputs with an import-schema, and adds its defaults.
func (in *importInputs) check(schema, with *node) {
	if with != nil {
		for i := range with.entries {
			if e := &with.entries[i]; schema.valueOf(e.key) == nil {
				in.d.fail(e.keyNode(), "imports: %s has no input %s; its import-schema knows %s", in.file, quote(e.key), cmp.Or(strings.Join(schema.quotedKeys(), ", "), "none"))
			}
		}
	}
	for i := range schema.entries {
		name, rule := schema.entries[i].key, &schema.entries[i].value
		value, given := in.values[name]
		switch {
		case given:
			in.checkValue(name, value, rule)
		case rule.valueOf("default") != nil:
			in.values[name] = rule.valueOf("default")
		case isTrue(rule.valueOf("required")):
			in.d.fail(in.at, "imports: %s needs the input %s; give it below \"with\"", in.file, quote(name))
		}
	}
}

// inputTypes are the types of an import-schema.
var inputTypes = map[string]struct {
	kind     nodeKind
	describe string
}{
	"string":  {textNode, "a text"},
	"number":  {numberNode, "a number"},
	"boolean": {boolNode, "true or false"},
	"choice":  {textNode, "a text"},
	"array":   {listNode, "a list"},
	"object":  {mapNode, "a mapping"},
}

// checkValue compares a value, its items and its members with the rule of an import-schema for it.
// A type that is not known takes everything.
func (in *importInputs) checkValue(name string, value, rule *node) {
	typeName := rule.valueOf("type")
	if typeName == nil {
		return
	}
	takes, known := inputTypes[typeName.text]
	if !known {
		return
	}
	if value.kind != takes.kind {
		in.d.fail(value, "imports: the input %s of %s takes %s, not %s", quote(name), in.file, takes.describe, value.describe())
		return
	}
	switch typeName.text {
	case "choice":
		options := rule.valueOf("options")
		if options != nil && !slices.ContainsFunc(options.items, func(o node) bool { return o.kind == textNode && o.text == value.text }) {
			var names []string
			for _, o := range options.items {
				names = append(names, quote(o.text))
			}
			in.d.fail(value, "imports: the input %s of %s takes one of %s, not %s", quote(name), in.file, strings.Join(names, ", "), quote(value.text))
		}
	case "array":
		if items := rule.valueOf("items"); items != nil {
			for i := range value.items {
				in.checkValue(fmt.Sprintf("%s[%d]", name, i), &value.items[i], items)
			}
		}
	case "object":
		if properties := rule.valueOf("properties"); properties != nil {
			in.checkProperties(name, value, properties)
		}
	}
}

// checkProperties compares the members of a mapping with the rules for them.
func (in *importInputs) checkProperties(name string, value, properties *node) {
	for i := range value.entries {
		if e := &value.entries[i]; properties.valueOf(e.key) == nil {
			in.d.fail(e.keyNode(), "imports: the input %s of %s has no member %s; it knows %s", quote(name), in.file, quote(e.key), cmp.Or(strings.Join(properties.quotedKeys(), ", "), "none"))
		}
	}
	for i := range properties.entries {
		member, rule := properties.entries[i].key, &properties.entries[i].value
		switch given := value.valueOf(member); {
		case given != nil:
			in.checkValue(name+"."+member, given, rule)
		case isTrue(rule.valueOf("required")):
			in.d.fail(value, "imports: the input %s of %s needs the member %s", quote(name), in.file, quote(member))
		}
	}
}

// fill replaces each expression for an input by the input's value, if it has one. Other
// expressions stay, and are refused later in places where they would be taken literally.
func (in *importInputs) fill(matter []byte) []byte {
	var out bytes.Buffer
	for {
		begin := bytes.Index(matter, []byte("${{"))
		if begin < 0 {
			break
		}
		length := bytes.Index(matter[begin:], []byte("}}"))
		if length < 0 {
			break
		}
		end := begin + length + len("}}")
		out.Write(matter[:begin])
		out.WriteString(in.replacement(string(matter[begin:end])))
		matter = matter[end:]
	}
	out.Write(matter)
	return out.Bytes()
}

// replacement returns the text for an expression: the value of the input. It returns the
// expression itself if the input has no value, or if the value cannot be written in a front
// matter.
func (in *importInputs) replacement(expression string) string {
	inside := strings.TrimSuffix(strings.TrimPrefix(expression, "${{"), "}}")
	value := in.named(strings.TrimSpace(inside))
	if value == nil || value.kind == nullNode {
		return expression
	}
	filled, why := inputText(value)
	if why != "" {
		in.d.fail(value, "imports: the input for %s in %s %s; write the setting itself below safe-outputs of the importing file", quote(expression), in.file, why)
		return expression
	}
	return filled
}

// inputPrefixes begin the expressions that name an input; the second is older.
var inputPrefixes = []string{"github.aw.import-inputs.", "github.aw.inputs."}

// namesInput reports whether a text has an expression that names an input of an import.
func namesInput(text string) bool {
	return slices.ContainsFunc(inputPrefixes, func(prefix string) bool { return strings.Contains(text, prefix) })
}

// named returns the value of the input, or of the member of one, that an expression names; nil if
// it names none.
func (in *importInputs) named(expression string) *node {
	for _, prefix := range inputPrefixes {
		path, ok := strings.CutPrefix(expression, prefix)
		if !ok {
			continue
		}
		name, member, hasMember := strings.Cut(path, ".")
		value := in.values[name]
		if value != nil && hasMember {
			return value.valueOf(member)
		}
		return value
	}
	return nil
}

// inputText returns a value as the text that replaces an expression in a front matter; why is set if
// the value cannot be written there.
func inputText(value *node) (filled, why string) {
	switch value.kind {
	case textNode:
		if strings.ContainsAny(value.text, "\r\n") {
			return "", "has several lines, which would be other lines of that file"
		}
		return value.text, ""
	case listNode, mapNode:
		plain, why := plainValue(value)
		if why != "" {
			return "", why
		}
		encoded, err := json.Marshal(plain)
		if err != nil {
			return "", "cannot be written as JSON: " + err.Error()
		}
		return string(encoded), ""
	}
	plain, why := plainValue(value)
	return fmt.Sprint(plain), why
}

// plainValue returns a value for package json to encode; why is set for a number that can be
// written in several ways.
func plainValue(n *node) (value any, why string) {
	switch n.kind {
	case boolNode:
		return n.text == "true", ""
	case numberNode:
		if _, err := strconv.ParseInt(n.text, 10, 64); err != nil {
			if f, err := strconv.ParseFloat(n.text, 64); err != nil || fmt.Sprint(f) != n.text {
				return nil, "is the number " + quote(n.text) + ", which can be written in several ways"
			}
		}
		return json.Number(n.text), ""
	case textNode:
		return n.text, ""
	case listNode:
		list := make([]any, len(n.items))
		for i := range n.items {
			if list[i], why = plainValue(&n.items[i]); why != "" {
				return nil, why
			}
		}
		return list, ""
	case mapNode:
		members := make(map[string]any, len(n.entries))
		for _, e := range n.entries {
			if members[e.key], why = plainValue(&e.value); why != "" {
				return nil, why
			}
		}
		return members, ""
	}
	return nil, ""
}

// sameInputs reports whether two imports of a file give it the same inputs; nil gives none.
func sameInputs(a, b *node) bool {
	none := &node{kind: mapNode}
	return sameValue(cmp.Or(a, none), cmp.Or(b, none))
}

// sameValue reports whether two values are written in the same way, but for the order of the keys
// of mappings.
func sameValue(a, b *node) bool {
	if a.kind != b.kind || a.text != b.text || len(a.entries) != len(b.entries) {
		return false
	}
	others := make(map[string]*node, len(b.entries))
	for i := range b.entries {
		others[b.entries[i].key] = &b.entries[i].value
	}
	return slices.EqualFunc(a.items, b.items, func(x, y node) bool { return sameValue(&x, &y) }) &&
		!slices.ContainsFunc(a.entries, func(e entry) bool {
			other := others[e.key]
			return other == nil || !sameValue(&e.value, other)
		})
}
