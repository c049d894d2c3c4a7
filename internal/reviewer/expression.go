package reviewer

import (
	"strings"
	"unicode"

	"github.com/rhysd/actionlint"

	"github.com/agent-airlock/airlock/internal/crash"
	"github.com/agent-airlock/airlock/internal/lazyregexp"
)

// expressionSpans returns from where to where in a text each expression of GitHub stands, with its
// braces. An expression ends with the first "}}" outside of its quoted texts.
func expressionSpans(text string) (spans [][2]int) {
	for at := 0; ; {
		begin := strings.Index(text[at:], "${{")
		if begin < 0 {
			return spans
		}
		begin += at
		at = begin + len("${{")
		for isQuoted := false; isQuoted || !strings.HasPrefix(text[at:], "}}"); at++ {
			if at == len(text) {
				return spans // GitHub does not run a workflow with an expression that does not end
			}
			isQuoted = isQuoted != (text[at] == '\'')
		}
		at += len("}}")
		spans = append(spans, [2]int{begin, at})
	}
}

// contextTexts are texts in GitHub's contexts, and the objects that have them. They form a tree; a
// path such as github.event.commits.*.message leads from a root to a text.
type contextTexts struct {
	nodes []contextNode
	paths []string // of the texts
}

// contextNode is a text or an object. Those in an object come after it.
type contextNode struct {
	name string // its key in lower case, or "*" if every key leads to it
	path string
	in   nodeSet // the object that has it; none for a root
}

// nodeSet is a set of up to 64 nodes of a contextTexts: bit i stands for nodes[i].
type nodeSet uint64

// newContextTexts makes a tree from the paths of its texts, which are separated by spaces.
func newContextTexts(paths string) *contextTexts {
	t := &contextTexts{paths: strings.Fields(paths)}
	known := map[string]int{}
	for _, path := range t.paths {
		in, at := nodeSet(0), ""
		for name := range strings.SplitSeq(path, ".") {
			at += "." + name
			i, isKnown := known[at]
			if !isKnown {
				i = len(t.nodes)
				if known[at] = i; i == 64 {
					panic("reviewer: more than 64 nodes of a context")
				}
				t.nodes = append(t.nodes, contextNode{name, at[1:], in})
			}
			in = 1 << i
		}
	}
	return t
}

// member returns what the key leads to from each node of a set. The key "*" stands for any key. A
// text leads to itself: the set may contain it as an element of a list.
func (t *contextTexts) member(of nodeSet, key string) (members nodeSet) {
	members = of & t.texts()
	for i, n := range t.nodes {
		if n.in&of != 0 && (key == "*" || n.name == "*" || n.name == key) {
			members |= 1 << i
		}
	}
	return members
}

// texts returns all texts.
func (t *contextTexts) texts() nodeSet {
	var objects nodeSet
	for _, n := range t.nodes {
		objects |= n.in
	}
	return (1<<len(t.nodes) - 1) &^ objects
}

// under returns the nodes of a set, and those below them in the tree.
func (t *contextTexts) under(set nodeSet) nodeSet {
	for i, n := range t.nodes {
		if n.in&set != 0 {
			set |= 1 << i
		}
	}
	return set
}

// at returns the nodes at some paths, and those below them.
func (t *contextTexts) at(paths []string) (set nodeSet) {
	for i, n := range t.nodes {
		for _, path := range paths {
			if n.path == path {
				set |= 1 << i
			}
		}
	}
	return t.under(set)
}

// anyElement matches one of the ways to write ".*".
var anyElement = lazyregexp.New(`\[\s*\*\s*\]`)

// writtenBy returns the texts that GitHub may write in the place of an expression, which includes
// its braces.
func (t *contextTexts) writtenBy(expression string) nodeSet {
	// longest is the length over which GitHub takes no expression. It bounds how deep one is nested.
	const longest = 21000
	expression = strings.TrimPrefix(expression, "${{")
	if !strings.Contains(strings.ToLower(expression), "github") {
		return 0
	}
	expression = strings.Map(func(c rune) rune {
		if unicode.IsSpace(c) { // the parser does not know all that GitHub does
			return ' '
		}
		return c
	}, anyElement.ReplaceAllLiteralString(expression, ".*"))
	var parsed actionlint.ExprNode
	if len(expression) <= longest {
		_ = crash.Try(func() error {
			node, err := actionlint.NewExprParser().Parse(actionlint.NewExprLexer(expression))
			if err == nil {
				parsed = node
			}
			return nil
		})
	}
	if parsed == nil {
		return t.named(expression)
	}
	return t.valueOf(parsed) & t.texts()
}

// named returns the texts that an expression names, in whatever form. It is for what the parser
// cannot read, of which GitHub may run more than the parser knows.
func (t *contextTexts) named(expression string) (set nodeSet) {
	words := map[string]bool{"*": true}
	for _, word := range strings.FieldsFunc(strings.ToLower(expression), func(c rune) bool {
		return c != '_' && c != '-' && !unicode.IsLetter(c) && !unicode.IsDigit(c)
	}) {
		words[word] = true
	}
	for i, n := range t.nodes {
		if words[n.name] && (n.in == 0 || n.in&set != 0) || words["tojson"] && n.in&set != 0 {
			set |= 1 << i
		}
	}
	return set & t.texts()
}

// noTexts are the functions whose results are no texts from their arguments.
var noTexts = wordSetOf("contains startswith endswith hashfiles success always failure cancelled")

// valueOf returns the texts and the objects that can be the value of an expression or in it.
func (t *contextTexts) valueOf(n actionlint.ExprNode) (set nodeSet) {
	switch n := n.(type) {
	case *actionlint.VariableNode:
		for i, root := range t.nodes {
			if root.in == 0 && root.name == n.Name {
				set |= 1 << i
			}
		}
	case *actionlint.ObjectDerefNode:
		return t.member(t.valueOf(n.Receiver), n.Property)
	case *actionlint.ArrayDerefNode:
		return t.member(t.valueOf(n.Receiver), "*")
	case *actionlint.IndexAccessNode:
		key := "*" // whatever the index is
		if literal, ok := n.Index.(*actionlint.StringNode); ok {
			key = strings.ToLower(literal.Value)
		}
		return t.member(t.valueOf(n.Operand), key)
	case *actionlint.LogicalOpNode:
		set = t.valueOf(n.Right)
		if n.Kind == actionlint.LogicalOpNodeKindOr { // the left side of && is its value only if that is empty
			set |= t.valueOf(n.Left)
		}
	case *actionlint.FuncCallNode:
		if noTexts[strings.ToLower(n.Callee)] {
			return 0
		}
		for _, argument := range n.Args { // toJSON(github.event) has all that is in it
			set |= t.under(t.valueOf(argument))
		}
	}
	return set
}
