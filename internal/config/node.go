package config

import "strconv"

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
