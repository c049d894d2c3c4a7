package tree

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// foldPath returns a path in the form in which some file systems compare it: without
// regard to case (NTFS, APFS, HFS+), to the form of Unicode (APFS, HFS+), and to code
// points that show nothing (HFS+, ext4 and f2fs with case folding). Two paths with the same
// result may be the same file there.
func foldPath(path string) string {
	if isASCII(path) {
		return strings.ToLower(path)
	}
	return norm.NFC.String(foldCase(norm.NFD.String(withoutIgnored(path))))
}

// foldProtected returns a path as foldPath does, and also treats characters as equal that only
// look different (on ZFS with formKC, a wide letter is the letter). It is for comparing a path
// with protected paths, where it does no harm to find two different paths equal.
func foldProtected(path string) string {
	if isASCII(path) {
		return strings.ToLower(path)
	}
	folded := foldCase(norm.NFKD.String(withoutIgnored(path)))
	// Turkish has an i without a dot and an I with one: some systems take them for i and I.
	folded = strings.ReplaceAll(folded, "i\u0307", "i")
	return norm.NFKC.String(withoutIgnored(folded))
}

// foldedRunes returns the characters that are one other character in the form that foldProtected
// returns, in order, each with that one.
var foldedRunes = sync.OnceValue(func() (all []foldedRune) {
	// There is none after the supplement of the compatibility ideographs: what follows are
	// ideographs, tags and private characters.
	for r := rune(0); r <= 0x2fa1f; r++ {
		if to := []rune(foldProtected(string(r))); len(to) == 1 && to[0] != r && utf8.ValidRune(r) {
			all = append(all, foldedRune{r, to[0]})
		}
	}
	return all
})

type foldedRune struct{ from, to rune }

// foldRanges returns the folded forms of the characters in ranges that are not in ranges
// themselves, other than a slash. A character whose folded form are several has none here.
func foldRanges(ranges []charRange) (folded []charRange) {
	var added []rune
	for _, f := range foldedRunes() {
		if contains(ranges, f.from) && !contains(ranges, f.to) && f.to != '/' {
			added = append(added, f.to)
		}
	}
	slices.Sort(added)
	for _, r := range slices.Compact(added) {
		if n := len(folded); n > 0 && folded[n-1].hi == r-1 {
			folded[n-1].hi = r
		} else {
			folded = append(folded, charRange{r, r})
		}
	}
	return folded
}

func contains(ranges []charRange, r rune) bool {
	return slices.ContainsFunc(ranges, func(in charRange) bool { return in.lo <= r && r <= in.hi })
}

// foldCase folds case by Unicode's rules and by those of NTFS. NTFS compares names in upper case,
// where the dotless i is an I.
func foldCase(path string) string {
	return cases.Fold().String(strings.Map(unicode.ToUpper, path))
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// withoutIgnored removes the code points that file systems ignore: those of git's list, which
// is HFS+'s, and those that Unicode calls format characters or ignorable by default.
func withoutIgnored(path string) string {
	return strings.Map(func(r rune) rune {
		if r >= utf8.RuneSelf && (r == 0xad || unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)) {
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

// walk calls visit with each node of a path, from the root's child on, as far as they are in
// the tree; last is true at the path's end.
func (t foldedTree) walk(path string, visit func(node int, last bool)) {
	node, rest, more := 0, foldPath(path), true
	for more {
		var name string
		name, rest, more = strings.Cut(rest, "/")
		if node = t.child(node, name); node == nowhere {
			return
		}
		visit(node, !more)
	}
}
