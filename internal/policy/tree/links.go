package tree

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// checkLinks checks that every changed link leads to a place in the tree, outside git's own files.
// It checks the same for every other link that leads through a changed link.
func (j *judgement) checkLinks() {
	for _, c := range j.tree.Changes {
		if c.NewMode != modeLink {
			continue
		}
		if _, _, why := j.links.follow(link{c.Path, c.Link, true}); why != "" {
			j.report(RuleLink, c.Path, "%s; a link to a path of this repository is allowed", why)
		}
	}
	for _, l := range j.links.links {
		if l.changed {
			continue
		}
		if _, through, why := j.links.follow(l); why != "" && through != "" {
			j.report(RuleLink, through, "changes where the link %s leads: it %s; a link to a path of this repository is allowed", quotePath(l.path), why)
		}
	}
}

// linkTargets returns the paths that protected links lead to, and the changed links that they lead
// through: folded path → the protected link's path. If CLAUDE.md is a protected link, an agent may
// change neither the file that it leads to nor the links on the way there. The target of a
// protected link may be another link, or contain one. That link counts as protected as well.
func (j *judgement) linkTargets() map[string]string {
	to := map[string]string{}
	var left []string
	for _, path := range slices.Sorted(maps.Keys(j.tree.Links)) {
		if _, protected := j.rules.protects(path); protected {
			j.addTargets(to, path, path)
		} else {
			left = append(left, path)
		}
	}
	for range maxHops { // each pass finds links that are one hop further away
		known := len(to)
		left = slices.DeleteFunc(left, func(path string) bool {
			by, ok := lookUpAbove(to, path)
			if ok {
				_, freed := j.rules.unprotected.find(path)
				ok = !freed
			}
			if ok {
				j.addTargets(to, path, by)
			}
			return ok
		})
		if len(to) == known {
			break
		}
	}
	return to
}

// addTargets adds the path that a link leads to, and the changed link that it leads through. by is
// the protected link because of which both are protected.
func (j *judgement) addTargets(to map[string]string, path, by string) {
	target, through, why := j.links.follow(link{path, j.tree.Links[path], false})
	for _, place := range []string{target, through} {
		if key := foldPath(place); why == "" && place != "" && to[key] == "" {
			to[key] = by
		}
	}
}

// behindLinks returns patterns for the paths that protected patterns with a slash reach through a
// link, and for the changed links on the way there. With the link config → settings/live,
// "config/deploy/**" also protects settings/live/deploy. A link that only a wildcard matches is not
// followed.
func (j *judgement) behindLinks() *patternSet {
	behind := newPatternSet(protecting, nil)
	if len(j.links.links)+len(j.links.gone) == 0 {
		return behind
	}
	add := func(path string, index int) {
		if path != "" {
			behind.addPlain(foldProtected(path), true, index)
		}
	}
	protected := j.rules.protected
	for _, path := range slices.Sorted(maps.Keys(protected.paths)) {
		if target, through, ok := j.resolve(path); ok {
			add(target, protected.paths[path])
			add(through, protected.paths[path])
		}
	}
	resolveGlobs := func(globs []compiledGlob, spell func(target string) string) (resolved []compiledGlob) {
		for _, g := range globs {
			fixed, rest := cutFixed(g.text)
			if target, through, ok := j.resolve(fixed); ok {
				text := strings.TrimPrefix(quoteWildcards.Replace(spell(target))+rest, "/")
				resolved = append(resolved, compiledGlob{text, g.index})
				add(through, g.index)
			}
		}
		return resolved
	}
	behind.folded = resolveGlobs(protected.folded, foldProtected)
	behind.globs = resolveGlobs(protected.globs, func(target string) string { return target })
	behind.hasClass = protected.hasClass
	return behind
}

// cutFixed divides a pattern without braces before the name that contains its first wildcard. It
// returns the path that the part before stands for, and the rest with the slash before it.
func cutFixed(pattern string) (path, rest string) {
	end := 0
	for i := 0; i < len(pattern) && strings.IndexByte("*?[", pattern[i]) < 0; i++ {
		switch pattern[i] {
		case '/':
			end = i
		case '\\':
			i++
		}
	}
	path, _ = plainText(pattern[:end])
	return path, pattern[end:]
}

var quoteWildcards = strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`, `{`, `\{`, `}`, `\}`, `\`, `\\`)

// resolve returns where a path leads and the changed link that it leads through. It returns false
// if no link is on the way, or if one there is not allowed.
func (j *judgement) resolve(path string) (target, through string, ok bool) {
	target, through, why := j.links.follow(link{"", path, false})
	return target, through, why == "" && (foldProtected(target) != foldProtected(path) || through != "")
}

// lookUpAbove returns the value of a path, or of a directory above it.
func lookUpAbove(values map[string]string, path string) (string, bool) {
	if len(values) == 0 || len(path) > maxPath {
		return "", false
	}
	path = foldPath(path)
	for {
		if v, ok := values[path]; ok {
			return v, true
		}
		dir, _ := cutName(path)
		if dir == "" {
			return "", false
		}
		path = dir
	}
}

// maxHops is how many links one link may lead through, as on Linux.
const maxHops = 40

// linkMap follows the links of a tree by their text alone; no file is opened.
type linkMap struct {
	places foldedTree
	links  map[int]link   // by the node of their path
	gone   map[int]string // the paths of links that the last changes removed, by their node
}

type link struct {
	path, target string
	changed      bool // it is new, or leads elsewhere than before
}

// newLinkMap returns the links of the resulting tree.
func newLinkMap(t Tree) linkMap {
	m := linkMap{foldedTree{}, map[int]link{}, map[int]string{}}
	for _, path := range slices.Sorted(maps.Keys(t.Links)) {
		m.links[m.places.add(path)] = link{path, t.Links[path], false}
	}
	m.apply(t.Changes)
	return m
}

// apply changes the links as a commit does, and reports whether it changes any. m may lack
// the links that the commit removes.
func (m linkMap) apply(all []Change) (changed bool) {
	changes := slices.DeleteFunc(slices.Clone(all), func(c Change) bool {
		_, isLink := m.find(c.Path)
		return c.NewMode != modeLink && c.OldMode != modeLink && !isLink
	})
	slices.SortFunc(changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Link, b.Link))
	})
	clear(m.gone)
	for _, c := range changes {
		if c.NewMode == modeLink {
			continue
		}
		node := m.places.add(c.Path)
		l, ok := m.links[node]
		if ok = ok && l.path == c.Path; ok {
			delete(m.links, node)
		}
		if ok || c.OldMode == modeLink {
			m.gone[node], changed = c.Path, true
		}
	}
	for _, c := range changes {
		if c.NewMode == modeLink {
			m.links[m.places.add(c.Path)] = link{c.Path, c.Link, true}
			changed = true
		}
	}
	return changed
}

// markExisting marks the links that these changes made as unchanged from now on.
func (m linkMap) markExisting(changes []Change) {
	for _, c := range changes {
		if l, ok := m.find(c.Path); ok && l.changed {
			l.changed = false
			m.links[m.places.add(c.Path)] = l
		}
	}
}

// find returns the link at a path.
func (m linkMap) find(path string) (l link, ok bool) {
	m.places.walk(path, func(node int, last bool) {
		if last {
			l, ok = m.links[node]
		}
	})
	return l, ok
}

// follow returns the path that a link leads to in the end. through is a changed link that it leads
// through, or a removed link that it led through, or "". If the link is not allowed, why is the
// rest of a sentence about it.
func (m linkMap) follow(l link) (path, through, why string) {
	dir, _ := cutName(l.path)
	var here position
	for name := range strings.SplitSeq(dir, "/") {
		here.enter(m.places, name)
	}
	rest, why := splitTarget(l.target)
	for hops := 0; why == "" && len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		switch {
		case name == ".." && len(here.names) == 0:
			return "", through, "leads out of the tree"
		case name == "..":
			here.leave()
			continue
		case isGitName(name):
			return "", through, "leads into git's own files"
		case strings.Trim(name, ". ") == "":
			return "", through, "leads out of the tree on Windows, which reads a name of dots and spaces as \"..\""
		}
		here.enter(m.places, name)
		next, ok := m.links[here.node()]
		if !ok {
			through = cmp.Or(m.gone[here.node()], through)
			continue
		}
		if next.changed {
			through = next.path
		}
		if hops++; hops > maxHops {
			return "", through, fmt.Sprintf("leads through more than %d links, or in a circle", maxHops)
		}
		here.leave()
		var more []string
		more, why = splitTarget(next.target)
		rest = slices.Concat(more, rest)
	}
	return strings.Join(here.names, "/"), through, why
}

// splitTarget divides a link's target into names. Its result why has the meaning that follow's has.
func splitTarget(target string) (names []string, why string) {
	switch {
	case target == "" || strings.ContainsRune(target, 0) || len(target) > maxPath:
		return nil, "does not point to a path"
	case target[0] == '/' || target[0] == '\\' || len(target) > 1 && target[1] == ':':
		return nil, "leads out of the tree, because its target is an absolute path"
	}
	// Windows reads "\" as a slash.
	names = strings.FieldsFunc(target, func(r rune) bool { return r == '/' || r == '\\' })
	return slices.DeleteFunc(names, func(name string) bool { return name == "." }), ""
}

// position is a directory or file on the way along a path.
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
