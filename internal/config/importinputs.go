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

// importInputs are the values that stand in an imported file for
// ${{ github.aw.import-inputs.NAME }}: what the importing file gives below "with", and for the
// rest the defaults of the imported file's import-schema.
type importInputs struct {
	d    *decoder
	file string // that is imported
	at   *node  // what is imported, in the importing file
	// values are what is given, and defaults, by name.
	values map[string]*node
}

// resolveInputs returns a file's text with the inputs of its front matter filled in, as the text
// of the values: a list or a mapping as JSON, which YAML reads as what it is. ok is false where
// the inputs do not fit the file's import-schema; the problems are recorded then.
func (im *importing) resolveInputs(data []byte, name string, from importEntry) (filled []byte, ok bool) {
	in := &importInputs{d: im.d, file: name, at: from.file, values: map[string]*node{}}
	failed := len(im.d.problems)
	if from.with != nil {
		for i := range from.with.entries {
			e := &from.with.entries[i]
			in.values[e.key] = &e.value
		}
	}
	// What is wrong with the front matter is recorded when it is read with its inputs.
	if doc, err := parseDocument(name, data); err == nil {
		if schema := doc.root.entry("import-schema"); schema != nil {
			in.check(schema, from.with)
		}
	}
	matter, body := splitFrontMatter(data)
	filledMatter := in.fill(matter)
	return append(filledMatter, body...), len(im.d.problems) == failed
}

// check compares the inputs with an import-schema, and adds its defaults.
func (in *importInputs) check(schema, with *node) {
	if with != nil {
		for i := range with.entries {
			if e := &with.entries[i]; schema.entry(e.key) == nil {
				in.d.fail(e.keyNode(), "imports: %s has no input %s; its import-schema knows %s", in.file, quote(e.key), cmp.Or(strings.Join(schema.keys(), ", "), "none"))
			}
		}
	}
	for i := range schema.entries {
		name, rule := schema.entries[i].key, &schema.entries[i].value
		value, given := in.values[name]
		switch {
		case given:
			in.checkValue(name, value, rule)
		case rule.entry("default") != nil:
			in.values[name] = rule.entry("default")
		case isTrue(rule.entry("required")):
			in.d.fail(in.at, "imports: %s needs the input %s; give it below \"with\"", in.file, quote(name))
		}
	}
}

// checkValue compares a value with the rule of an import-schema for it, or for its items or
// properties.
func (in *importInputs) checkValue(name string, value, rule *node) {
	want := rule.entry("type")
	if want == nil {
		return
	}
	fits := map[string]nodeKind{"string": textNode, "number": numberNode, "boolean": boolNode, "choice": textNode, "array": listNode, "object": mapNode}
	kind, known := fits[want.text]
	if !known {
		return
	}
	if value.kind != kind {
		in.d.fail(value, "imports: the input %s of %s takes %s, not %s", quote(name), in.file, inputTypes[want.text], value.describe())
		return
	}
	switch want.text {
	case "choice":
		options := rule.entry("options")
		if options != nil && !slices.ContainsFunc(options.items, func(o node) bool { return o.kind == textNode && o.text == value.text }) {
			var names []string
			for _, o := range options.items {
				names = append(names, quote(o.text))
			}
			in.d.fail(value, "imports: the input %s of %s takes one of %s, not %s", quote(name), in.file, strings.Join(names, ", "), quote(value.text))
		}
	case "array":
		if items := rule.entry("items"); items != nil {
			for i := range value.items {
				in.checkValue(fmt.Sprintf("%s[%d]", name, i), &value.items[i], items)
			}
		}
	case "object":
		if properties := rule.entry("properties"); properties != nil {
			in.checkProperties(name, value, properties)
		}
	}
}

// checkProperties compares the members of a mapping with the rules for them.
func (in *importInputs) checkProperties(name string, value, properties *node) {
	for i := range value.entries {
		if e := &value.entries[i]; properties.entry(e.key) == nil {
			in.d.fail(e.keyNode(), "imports: the input %s of %s has no member %s; it knows %s", quote(name), in.file, quote(e.key), cmp.Or(strings.Join(properties.keys(), ", "), "none"))
		}
	}
	for i := range properties.entries {
		member, rule := properties.entries[i].key, &properties.entries[i].value
		switch given := value.entry(member); {
		case given != nil:
			in.checkValue(name+"."+member, given, rule)
		case isTrue(rule.entry("required")):
			in.d.fail(value, "imports: the input %s of %s needs the member %s", quote(name), in.file, quote(member))
		}
	}
}

// inputTypes describes the types of an import-schema.
var inputTypes = map[string]string{
	"string": "a text", "number": "a number", "boolean": "true or false", "choice": "a text", "array": "a list", "object": "a mapping",
}

// fill replaces the expressions that name an input which has a value. Others stay, and are refused
// where they would be taken literally.
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
		expression := matter[begin:end]
		if value := in.named(strings.TrimSpace(string(matter[begin+len("${{") : begin+length]))); value == nil || value.kind == nullNode {
			out.Write(expression)
		} else if filled, why := inputText(value); why != "" {
			in.d.fail(value, "imports: the input for %s in %s %s; write it below safe-outputs of the importing file, where it counts", quote(string(expression)), in.file, why)
			out.Write(expression)
		} else {
			out.WriteString(filled)
		}
		matter = matter[end:]
	}
	out.Write(matter)
	return out.Bytes()
}

// inputPrefixes begin the expressions that name an input, the second by an older name.
var inputPrefixes = []string{"github.aw.import-inputs.", "github.aw.inputs."}

// namesInput reports whether a text has an expression that names an input of an import.
func namesInput(text string) bool {
	return slices.ContainsFunc(inputPrefixes, func(prefix string) bool { return strings.Contains(text, prefix) })
}

// named returns the value that an expression names, nil if it names none: an input, or a member of
// one that is a mapping.
func (in *importInputs) named(expression string) *node {
	path, ok := strings.CutPrefix(expression, inputPrefixes[0])
	if !ok {
		if path, ok = strings.CutPrefix(expression, inputPrefixes[1]); !ok {
			return nil
		}
	}
	name, member, hasMember := strings.Cut(path, ".")
	value := in.values[name]
	if value != nil && hasMember {
		return value.entry(member)
	}
	return value
}

// inputText returns a value as it stands in a front matter in place of an expression; why is set
// where it cannot stand there.
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

// plainValue returns a value for JSON.
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

// splitFrontMatter returns a Markdown file's front matter, with its first and without its last
// line, and the rest.
func splitFrontMatter(data []byte) (matter, rest []byte) {
	at := 0
	for line := range bytes.Lines(data) {
		if at > 0 && string(bytes.TrimRight(line, " \t\r\n")) == "---" {
			return data[:at:at], data[at:]
		}
		at += len(line)
	}
	return data[:len(data):len(data)], nil
}

// sameInputs reports whether two imports of a file give it the same inputs.
func sameInputs(a, b *node) bool {
	text := func(n *node) string {
		if n == nil || len(n.entries) == 0 {
			return ""
		}
		plain, why := plainValue(n)
		encoded, err := json.Marshal(plain)
		if err != nil {
			why = err.Error()
		}
		return cmp.Or(why, string(encoded))
	}
	return text(a) == text(b)
}

// entry returns the value of a key of a mapping, nil if there is none.
func (n *node) entry(key string) *node {
	for i := range n.entries {
		if n.entries[i].key == key {
			return &n.entries[i].value
		}
	}
	return nil
}

// keys returns the keys of a mapping, quoted.
func (n *node) keys() []string {
	var keys []string
	for _, e := range n.entries {
		keys = append(keys, quote(e.key))
	}
	return keys
}

// isTrue reports whether a value is the truth value true.
func isTrue(n *node) bool { return n != nil && n.kind == boolNode && n.text == "true" }
