package config

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// shape is what a key takes as its value.
type shape struct {
	// schema is the same as JSON Schema (draft-07), for editors. A test holds
	// the two together.
	schema string
	// wants says what is expected, with an example.
	wants string
	// parse decodes a node, or says what is wrong with it.
	parse func(n *node) (any, *fault)
}

// fault is what is wrong with a value. at is the node to point at and why the
// reason; nil and "" mean the whole value and "expected ..., found ...".
type fault struct {
	at  *node
	why string
}

// mismatch is the fault of a value that is not of its shape at all.
func mismatch() (any, *fault) { return nil, &fault{} }

func wrong(at *node, format string, args ...any) (any, *fault) {
	return nil, &fault{at, fmt.Sprintf(format, args...)}
}

// read decodes a node; at and why say what is wrong if why is not empty.
func (s shape) read(n *node) (value any, at *node, why string) {
	value, f := s.parse(n)
	if f == nil {
		return value, n, ""
	}
	if f.at == nil {
		f.at = n
	}
	switch {
	case f.why != "":
	case n.kind == nullNode:
		f.why = fmt.Sprintf("a value is missing; expected %s, or remove the key", s.wants)
	case n.kind == textNode && strings.Contains(n.text, "${{"):
		f.why = fmt.Sprintf("%s is an expression, which only a workflow file evaluates; expected %s", quote(n.text), s.wants)
	default:
		f.why = fmt.Sprintf("expected %s, found %s", s.wants, n.describe())
	}
	return nil, f.at, f.why
}

func quote(s string) string { return strconv.Quote(shorten(s)) }

func boolean() shape {
	return shape{`{"type": "boolean"}`, "true or false", func(n *node) (any, *fault) {
		if n.kind != boolNode {
			return mismatch()
		}
		return n.text == "true", nil
	}}
}

// field is true, false or no value at all, which means true: the widely used
// form "title:" allows the title.
func field() shape {
	return shape{`{"anyOf": [{"type": "boolean"}, {"type": "null"}]}`, "true, false or no value", func(n *node) (any, *fault) {
		if n.kind != boolNode && n.kind != nullNode {
			return mismatch()
		}
		return n.kind == nullNode || n.text == "true", nil
	}}
}

// wholeNumber returns the number that a node holds.
func wholeNumber(n *node) (int, bool) {
	if n.kind != numberNode {
		return 0, false
	}
	if i, err := strconv.ParseInt(n.text, 10, 32); err == nil {
		return int(i), true
	}
	f, err := strconv.ParseFloat(n.text, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > math.MaxInt32 {
		return 0, false
	}
	return int(f), true
}

// limit is a number of things: at least 1, or -1 for no limit.
func limit(example int) shape {
	wants := fmt.Sprintf("a whole number of at least 1, such as %d, or -1 for no limit", example)
	return shape{`{"anyOf": [{"const": -1}, {"type": "integer", "minimum": 1, "maximum": 2147483647}]}`, wants, func(n *node) (any, *fault) {
		i, ok := wholeNumber(n)
		switch {
		case ok && i == 0:
			return wrong(n, "0 would let nothing through; expected %s (\"enabled: false\" switches a kind off)", wants)
		case !ok || i < -1:
			return mismatch()
		}
		return i, nil
	}}
}

// text is one line of text, at most so many characters.
func text(most int, example string) shape {
	schema := fmt.Sprintf(`{"type": "string", "minLength": 1, "maxLength": %d, "pattern": "^[^\\r\\n]*$"}`, most)
	return shape{schema, "one line of text, such as " + example, func(n *node) (any, *fault) {
		if n.kind != textNode || n.text == "" || strings.ContainsAny(n.text, "\r\n") {
			return mismatch()
		}
		if count := utf8.RuneCountInString(n.text); count > most {
			return wrong(n, "the text has %d characters; at most %d are allowed", count, most)
		}
		return n.text, nil
	}}
}

// oneOf is one of a few words.
func oneOf(words ...string) shape {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = strconv.Quote(w)
	}
	all := strings.Join(quoted, ", ")
	return shape{`{"enum": [` + all + `]}`, "one of " + all, func(n *node) (any, *fault) {
		switch {
		case n.kind != textNode:
			return mismatch()
		case slices.Contains(words, n.text):
			return n.text, nil
		}
		near := nearest(n.text, words)
		for _, w := range words {
			if strings.EqualFold(w, n.text) {
				near = w
			}
		}
		if near != "" {
			return wrong(n, "expected one of %s, found %s; did you mean %q?", all, n.describe(), near)
		}
		return mismatch()
	}}
}

// texts is a list of texts, or a single one. item is the schema of one, and
// check says what is wrong with one.
func texts(item, example string, check func(string) string) shape {
	wants := "a list of texts, such as " + example
	schema := fmt.Sprintf(`{"anyOf": [{"type": "array", "items": %[1]s}, %[1]s]}`, item)
	return shape{schema, wants, func(n *node) (any, *fault) {
		items := []node{*n}
		if n.kind == listNode {
			items = n.items
		} else if n.kind != textNode {
			return mismatch()
		}
		list := make([]string, 0, len(items))
		for i := range items {
			if items[i].kind != textNode {
				return wrong(&items[i], "expected %s, found %s in the list", wants, items[i].describe())
			}
			if why := check(items[i].text); why != "" {
				return wrong(&items[i], "%s %s", quote(items[i].text), why)
			}
			list = append(list, items[i].text)
		}
		return list, nil
	}}
}

// anything accepts every value, the missing one included: for keys that are
// understood and not used.
func anything() shape {
	return shape{`{}`, "anything", func(n *node) (any, *fault) { return n, nil }}
}
