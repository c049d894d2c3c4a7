package config

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// parseYAML reads one YAML document.
func parseYAML(source string, data []byte) (node, error) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc yaml.Node
	if err := dec.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			return node{line: 1, col: 1}, nil
		}
		return node{}, yamlProblem(source, err)
	}
	var second yaml.Node
	if err := dec.Decode(&second); err == nil {
		return node{}, oneProblem(source, second.Line, second.Column, "a second document starts here; a configuration is one document")
	} else if !errors.Is(err, io.EOF) {
		return node{}, yamlProblem(source, err)
	}
	c := yamlConverter{source: source}
	return c.convert(&doc, 0)
}

// yamlConverter converts the library's nodes and counts them.
type yamlConverter struct {
	source string
	count  int
}

func (c *yamlConverter) convert(y *yaml.Node, depth int) (node, error) {
	if c.count++; c.count > maxNodes {
		return node{}, c.problem(y, "the configuration has more than %d values, those that aliases repeat included", maxNodes)
	}
	if depth > maxDepth {
		return node{}, c.problem(y, "lists and mappings are nested more than %d deep here", maxDepth)
	}
	n := node{line: y.Line, col: y.Column}
	switch y.Kind {
	case yaml.DocumentNode:
		if len(y.Content) == 0 {
			return node{line: 1, col: 1}, nil
		}
		return c.convert(y.Content[0], depth)
	case yaml.AliasNode:
		value, err := c.convert(y.Alias, depth+1)
		value.line, value.col = y.Line, y.Column
		return value, err
	case yaml.SequenceNode:
		n.kind = listNode
		for _, child := range y.Content {
			item, err := c.convert(child, depth+1)
			if err != nil {
				return node{}, err
			}
			n.items = append(n.items, item)
		}
		return n, nil
	case yaml.MappingNode:
		n.kind = mapNode
		return c.mapping(n, y, depth)
	}
	return c.scalar(n, y)
}

// mapping converts keys and values. The values of a merge key ("<<") come
// after the mapping's own, which win.
func (c *yamlConverter) mapping(n node, y *yaml.Node, depth int) (node, error) {
	var merged []entry
	own := map[string]int{} // key → line
	for i := 0; i+1 < len(y.Content); i += 2 {
		k, v := y.Content[i], y.Content[i+1]
		value, err := c.convert(v, depth+1)
		if err != nil {
			return node{}, err
		}
		if k.Tag == "!!merge" {
			more, err := c.merge(v, value)
			if err != nil {
				return node{}, err
			}
			merged = append(merged, more...)
			continue
		}
		key := k
		if k.Kind == yaml.AliasNode {
			key = k.Alias
		}
		if key.Kind != yaml.ScalarNode {
			return node{}, c.problem(k, "a key must be plain text, not a list or a mapping")
		}
		if first, twice := own[key.Value]; twice {
			return node{}, c.problem(k, "the key %s is given twice, first on line %d; remove one of them", quote(key.Value), first)
		}
		own[key.Value] = k.Line
		n.entries = append(n.entries, entry{key.Value, k.Line, k.Column, value})
	}
	for _, e := range merged {
		if _, ok := own[e.key]; !ok {
			own[e.key] = e.line
			n.entries = append(n.entries, e)
		}
	}
	return n, nil
}

// merge returns the entries of a merge key: those of one mapping, or of a list of
// mappings, of which the first wins.
func (c *yamlConverter) merge(y *yaml.Node, value node) ([]entry, error) {
	list := []node{value}
	if value.kind == listNode {
		list = value.items
	}
	var all []entry
	for _, m := range list {
		if m.kind != mapNode {
			return nil, c.problem(y, "\"<<\" takes a mapping, or a list of mappings, from an anchor")
		}
		all = append(all, m.entries...)
	}
	return all, nil
}

func (c *yamlConverter) scalar(n node, y *yaml.Node) (node, error) {
	n.text = y.Value
	switch y.ShortTag() {
	case "!!null":
		n.text = ""
	case "!!bool":
		n.kind, n.text = boolNode, strings.ToLower(y.Value)
	case "!!int", "!!float":
		n.kind = numberNode
	case "!!str", "!!timestamp":
		n.kind = textNode
	default:
		return node{}, c.problem(y, "the tag %s has no meaning here; write plain text, a number, true or false", quote(y.Tag))
	}
	return n, nil
}

func (c *yamlConverter) problem(y *yaml.Node, format string, args ...any) error {
	return oneProblem(c.source, y.Line, y.Column, format, args...)
}

// yamlProblem converts the library's error and adds a hint for usual mistakes.
func yamlProblem(source string, err error) error {
	message, line := strings.TrimPrefix(err.Error(), "yaml: "), 0
	if rest, ok := strings.CutPrefix(message, "line "); ok {
		if number, words, ok := strings.Cut(rest, ": "); ok {
			if n, convErr := strconv.Atoi(number); convErr == nil {
				line, message = n, words
			}
		}
	}
	for _, h := range []struct{ in, hint string }{
		{"cannot start any token", "YAML does not take tabs for indentation, nor text that starts with @, ` or % without quotes"},
		{"mapping values are not allowed", "a colon within text needs quotes around the text, or the indentation is off"},
		{"did not find expected key", "the indentation is off, or a quote is missing"},
		{"could not find expected ':'", "a key needs a colon after it"},
		{"did not find expected alphabetic or numeric character", "text that starts with * needs quotes: \"*\""},
		{"did not find expected ',' or ']'", "a bracket or a comma is missing"},
		{"did not find expected ',' or '}'", "a brace or a comma is missing, or a comment does not begin with #"},
		{"unknown anchor", "text that starts with * needs quotes"},
		{"found unexpected end of stream", "a quote is missing at the end of a text"},
	} {
		if strings.Contains(message, h.in) {
			message += " (" + h.hint + ")"
			break
		}
	}
	return oneProblem(source, line, 0, "this is not valid YAML: %s", message)
}
