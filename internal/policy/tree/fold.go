package tree

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// foldPath returns a path in the form in which some file systems compare it: without
// regard to case (NTFS, APFS, HFS+), to the form of Unicode (APFS, HFS+), and to some
// code points (HFS+). Two paths with the same result may be the same file there.
func foldPath(path string) string {
	for i := 0; i < len(path); i++ {
		if path[i] >= utf8.RuneSelf {
			return norm.NFC.String(cases.Fold().String(norm.NFD.String(withoutIgnored(path))))
		}
	}
	return strings.ToLower(path)
}

// withoutIgnored removes the code points that HFS+ ignores; the list is git's.
func withoutIgnored(path string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 0x200c <= r && r <= 0x200f, 0x202a <= r && r <= 0x202e, 0x206a <= r && r <= 0x206f, r == 0xfeff:
			return -1
		}
		return r
	}, path)
}

// foldedTree numbers paths by their folded names, so that looking one up costs no
// more than reading it. Node 0 is the root.
type foldedTree map[edge]int

// edge is a folded name below a node.
type edge struct {
	node int
	name string
}

// nowhere is the node of paths that are not in the tree.
const nowhere = -1

// add returns the node of a path, and adds it if it is missing.
func (t foldedTree) add(path string) int {
	node := 0
	for name := range strings.SplitSeq(foldPath(path), "/") {
		e := edge{node, name}
		if _, ok := t[e]; !ok {
			t[e] = len(t) + 1
		}
		node = t[e]
	}
	return node
}

// child returns the node of a folded name below a node.
func (t foldedTree) child(node int, name string) int {
	if next, ok := t[edge{node, name}]; ok {
		return next
	}
	return nowhere
}

// walk calls each with the nodes of a path, from the root on, as far as they are in
// the tree; last is true at the path's end.
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
