package policy

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// maxHops is how many links one link may lead through, as on Linux.
const maxHops = 40

// linkMap follows the links of a tree by their text alone; no file is opened.
type linkMap struct {
	places foldedTree
	links  map[int]link // by their place
}

type link struct {
	path, target string
	changed      bool // the changes made it, or made it lead elsewhere
}

// newLinkMap returns the links of the resulting tree.
func newLinkMap(t Tree) linkMap {
	m := linkMap{foldedTree{}, map[int]link{}}
	for _, path := range slices.Sorted(maps.Keys(t.Links)) {
		m.links[m.places.add(path)] = link{path, t.Links[path], false}
	}
	changes := slices.SortedFunc(slices.Values(t.Changes), func(a, b TreeChange) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Link, b.Link))
	})
	for _, c := range changes {
		if l, ok := m.at(c.Path); ok && l.path == c.Path && c.NewMode != modeLink {
			delete(m.links, m.places.add(c.Path))
		}
	}
	for _, c := range changes {
		if c.NewMode == modeLink {
			m.links[m.places.add(c.Path)] = link{c.Path, c.Link, true}
		}
	}
	return m
}

// at returns the link at a path.
func (m linkMap) at(path string) (l link, ok bool) {
	m.places.walk(path, func(node int, last bool) {
		if last {
			l, ok = m.links[node]
		}
	})
	return l, ok
}

// follow returns the path that a link leads to in the end and a changed link that
// it leads through ("" for none), or why no such link may be. The reason continues
// a sentence about the link.
func (m linkMap) follow(l link) (path, through, why string) {
	folder, _ := cutName(l.path)
	var at position
	for name := range strings.SplitSeq(folder, "/") {
		at.enter(m.places, name)
	}
	rest, why := steps(l.target)
	for hops := 0; why == "" && len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		switch {
		case name == ".." && len(at.names) == 0:
			return "", through, "leads out of the tree"
		case name == "..":
			at.leave()
			continue
		case isGitName(name):
			return "", through, "leads into git's own files"
		case strings.Trim(name, ". ") == "":
			return "", through, "leads out of the tree on Windows, which reads a name of dots and blanks as \"..\""
		}
		at.enter(m.places, name)
		next, ok := m.links[at.node()]
		if !ok {
			continue
		}
		if next.changed {
			through = next.path
		}
		if hops++; hops > maxHops {
			return "", through, "leads through more than 40 links, or in a circle"
		}
		at.leave()
		var more []string
		more, why = steps(next.target)
		rest = slices.Concat(more, rest)
	}
	return strings.Join(at.names, "/"), through, why
}

// steps divides a link's target into names, or says why no such link may be.
func steps(target string) (names []string, why string) {
	switch {
	case target == "" || strings.ContainsRune(target, 0) || len(target) > maxPath:
		return nil, "points to no path"
	case target[0] == '/' || target[0] == '\\' || len(target) > 1 && target[1] == ':':
		return nil, "leads out of the tree, since its target is an absolute path"
	}
	// Windows reads "\" as a slash.
	names = strings.FieldsFunc(target, func(r rune) bool { return r == '/' || r == '\\' })
	return slices.DeleteFunc(names, func(name string) bool { return name == "." }), ""
}

// position is a folder or file on the way along a path.
type position struct {
	names []string
	nodes []int
}

func (p *position) node() int {
	if len(p.nodes) == 0 {
		return 0
	}
	return p.nodes[len(p.nodes)-1]
}

func (p *position) enter(places foldedTree, name string) {
	if name != "" {
		p.names, p.nodes = append(p.names, name), append(p.nodes, places.child(p.node(), foldPath(name)))
	}
}

func (p *position) leave() {
	p.names, p.nodes = p.names[:len(p.names)-1], p.nodes[:len(p.nodes)-1]
}
