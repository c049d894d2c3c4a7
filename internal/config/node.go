package config

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Limits of a configuration document. Aliases count as often as they are used,
// so a small document cannot unfold into a large one.
const (
	maxBytes = 1 << 20 // of the text
	maxNodes = 20_000  // values, keys included
	maxDepth = 32      // lists and mappings in one another
)

// nodeKind is the kind of a value in a document.
type nodeKind int

const (
	nullNode nodeKind = iota
	boolNode
	numberNode
	textNode
	listNode
	mapNode
)

// node is a value of a YAML or JSON document with its place.
type node struct {
	kind      nodeKind
	line, col int
	text      string // of a text; a number or a truth value as written
	items     []node // of a list
	entries   []entry
}

// entry is a key of a mapping and its value.
type entry struct {
	key       string
	line, col int // of the key
	value     node
}

// describe names the value in an error message.
func (n node) describe() string {
	switch n.kind {
	case boolNode, numberNode:
		return n.text
	case textNode:
		return "the text " + strconv.Quote(shorten(n.text))
	case listNode:
		return "a list"
	case mapNode:
		return "a mapping"
	}
	return "nothing"
}

// shorten keeps quoted values in messages readable.
func shorten(s string) string {
	const most = 60
	for i := range s {
		if i > most {
			return s[:i] + "…"
		}
	}
	return s
}

// document is a configuration's text as values.
type document struct {
	root node
	// frontMatter is true when the text is Markdown with a front matter: keys
	// beside safe-outputs are then somebody else's.
	frontMatter bool
}

// parseDocument reads a configuration's text: YAML, JSON, or Markdown that
// begins with a YAML front matter.
func parseDocument(source string, data []byte) (document, error) {
	if len(data) > maxBytes {
		return document{}, oneProblem(source, 0, 0, "the configuration is larger than 1 MiB; is this the right file?")
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if at := badText(data); at >= 0 {
		line := 1 + bytes.Count(data[:at], []byte("\n"))
		return document{}, oneProblem(source, line, 0, "this is not text in UTF-8; a configuration is YAML or JSON")
	}
	if matter, ok := frontMatter(data); ok {
		root, err := parseYAML(source, matter)
		return document{root, true}, err
	}
	if len(bytes.TrimLeft(data, " \t\r\n")) == 0 {
		return document{root: node{line: 1, col: 1}}, nil
	}
	if !looksLikeJSON(data) {
		root, err := parseYAML(source, data)
		return document{root: root}, err
	}
	root, err := parseJSON(source, data)
	if err != nil && !strings.HasSuffix(source, ".json") {
		// A flow mapping of YAML may quote its keys and still be no JSON.
		if fromYAML, yamlErr := parseYAML(source, data); yamlErr == nil {
			return document{root: fromYAML}, nil
		}
	}
	return document{root: root}, err
}

// badText returns the offset of the first byte that is not UTF-8 text, or -1.
func badText(data []byte) int {
	for i := 0; i < len(data); {
		if data[i] == 0 {
			return i
		}
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}

// frontMatter returns the YAML between a first line "---" and the next such
// line, after as many empty lines as keep the line numbers right. A text with
// only one such line is a YAML document.
func frontMatter(data []byte) ([]byte, bool) {
	first, rest, ok := bytes.Cut(data, []byte("\n"))
	if !ok || string(bytes.TrimRight(first, " \t\r")) != "---" {
		return nil, false
	}
	for at := 0; at < len(rest); {
		line, _, more := bytes.Cut(rest[at:], []byte("\n"))
		if string(bytes.TrimRight(line, " \t\r")) == "---" {
			return append([]byte("\n"), rest[:at]...), true
		}
		if !more {
			break
		}
		at += len(line) + 1
	}
	return nil, false
}
