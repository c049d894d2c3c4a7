package policy

import "strings"

// foldedTree numbers paths by their folded names, so that looking one up costs no
// more than reading it. Node 0 is the root.
type foldedTree map[step]int

type step struct {
	node int
	name string
}

// nowhere is the node of what the tree does not hold.
const nowhere = -1

// add returns the node of a path, which it makes where it is not there.
func (t foldedTree) add(path string) int {
	node := 0
	for name := range strings.SplitSeq(foldPath(path), "/") {
		s := step{node, name}
		if _, ok := t[s]; !ok {
			t[s] = len(t) + 1
		}
		node = t[s]
	}
	return node
}

// child returns the node of a folded name below a node.
func (t foldedTree) child(node int, name string) int {
	if next, ok := t[step{node, name}]; ok {
		return next
	}
	return nowhere
}

// walk calls each with the nodes of a path as far as the tree holds it, from the
// root on; last is true at the path's end.
func (t foldedTree) walk(path string, each func(node int, last bool)) {
	node, rest, more := 0, foldPath(path), true
	for more {
		var name string
		name, rest, more = strings.Cut(rest, "/")
		if node = t.child(node, name); node == nowhere {
			return
		}
		each(node, !more)
	}
}
