package config

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agent-airlock/airlock/internal/text"
)

// Limits of a configuration document. Aliases count as often as they are used,
// so a small document cannot unfold into a large one.
const (
	maxBytes = 1 << 20 // of the text
	maxNodes = 20_000  // values; the keys of mappings do not count
	maxDepth = 32      // nested lists and mappings
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
	source    string // the file that it is from, where that is not the configuration itself
	text      string // of a text; a number as written; "true" or "false"
	items     []node // of a list
	entries   []entry
}

// entry is a key of a mapping and its value.
type entry struct {
	key       string
	line, col int // of the key
	value     node
}

// indexOf returns the index of the entry with a key, or -1. The key is given with "-"; the entry
// may spell it with "_".
func indexOf(entries []entry, key string) int {
	return slices.IndexFunc(entries, func(e entry) bool { return canonical(e.key) == key })
}

// keyNode returns a node at the place of the key, for errors about it.
func (e entry) keyNode() *node { return &node{line: e.line, col: e.col, source: e.value.source} }

// setSource sets the file that a value, and all values in it, are from.
func (n *node) setSource(source string) {
	n.source = source
	for i := range n.items {
		n.items[i].setSource(source)
	}
	for i := range n.entries {
		n.entries[i].value.setSource(source)
	}
}

// valueOf returns the value of a key of a mapping, nil if there is none.
func (n *node) valueOf(key string) *node {
	for i := range n.entries {
		if n.entries[i].key == key {
			return &n.entries[i].value
		}
	}
	return nil
}

// quotedKeys returns the keys of a mapping, quoted for a message.
func (n *node) quotedKeys() []string {
	var keys []string
	for _, e := range n.entries {
		keys = append(keys, quote(e.key))
	}
	return keys
}

// itemAt returns the i-th item of a list. A text may stand for a list of one item; then itemAt
// returns the text itself.
func (n *node) itemAt(i int) *node {
	if n.kind == listNode {
		return &n.items[i]
	}
	return n
}

// isTrue reports whether a value is the truth value true.
func isTrue(n *node) bool { return n != nil && n.kind == boolNode && n.text == "true" }

// describe names the value in an error message.
func (n node) describe() string {
	switch n.kind {
	case boolNode, numberNode:
		return n.text
	case textNode:
		return "the text " + quote(n.text)
	case listNode:
		return "a list"
	case mapNode:
		return "a mapping"
	}
	return "nothing"
}

// quote quotes a text for a message, shortened.
func quote(s string) string { return strconv.Quote(text.Truncate(s, 60)) }

// document is a configuration's text as values.
type document struct {
	root node
	// frontMatter is true when the text is Markdown with a front matter: keys
	// other than safe-outputs then belong to others.
	frontMatter bool
}

// parseDocument reads a configuration's text: YAML, JSON, or Markdown that
// begins with a YAML front matter.
func parseDocument(source string, data []byte) (document, error) {
	if len(data) > maxBytes {
		return document{}, oneProblem(source, 0, 0, "the configuration is larger than %s; is this the right file?", text.Bytes(maxBytes))
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if at := findBinary(data); at >= 0 {
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
		// A flow mapping of YAML may quote its keys and still not be JSON.
		if fromYAML, yamlErr := parseYAML(source, data); yamlErr == nil {
			return document{root: fromYAML}, nil
		}
	}
	return document{root: root}, err
}

// findBinary returns the offset of the first byte that is NUL or not UTF-8, or -1.
func findBinary(data []byte) int {
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == 0 || r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}

// splitFrontMatter splits a text whose first line is "---" in two: rest begins at the next such line.
// If the first line differs or no such line follows, the text has no front matter, and ok is false.
func splitFrontMatter(data []byte) (matter, rest []byte, ok bool) {
	end := 0
	for line := range bytes.Lines(data) {
		isFence := string(bytes.TrimRight(line, " \t\r\n")) == "---"
		switch {
		case end == 0 && !isFence:
			return nil, nil, false
		case end > 0 && isFence:
			return data[:end], data[end:], true
		}
		end += len(line)
	}
	return nil, nil, false
}

// frontMatter returns the YAML of a front matter, with an empty line before it that keeps the
// line numbers right.
func frontMatter(data []byte) ([]byte, bool) {
	matter, _, ok := splitFrontMatter(data)
	if !ok {
		return nil, false
	}
	_, inside, _ := bytes.Cut(matter, []byte("\n"))
	return append([]byte("\n"), inside...), true
}
