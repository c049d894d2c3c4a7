package tree

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// foldPath returns a path as file systems compare it that do not tell upper and
// lower case apart (NTFS, APFS, HFS+) or forms of Unicode (APFS, HFS+), and that
// pass over some code points (HFS+): two paths with the same result may be one
// file there.
func foldPath(path string) string {
	for i := 0; i < len(path); i++ {
		if path[i] >= utf8.RuneSelf {
			return norm.NFC.String(cases.Fold().String(norm.NFD.String(withoutIgnored(path))))
		}
	}
	return strings.ToLower(path)
}

// withoutIgnored takes out the code points that HFS+ does not compare, the list
// that git has of them.
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
