package tree

import (
	"slices"
	"strconv"
)

// checkCollisions finds the new paths that collide with another path of the tree. A file system
// that folds case or Unicode takes the two paths for the same one, so that one file would replace
// the other. Paths that collided before are allowed.
func (j *judgement) checkCollisions() {
	added := addedPaths(j.tree.Changes)
	if added == nil {
		return
	}
	all := slices.Concat(j.tree.Paths, added) // Paths may be nil
	slices.Sort(all)
	j.collisions(newOccupancy(added, slices.Compact(all)), added)
}

// addedPaths returns the paths of changes at which nothing was before, without those that are too
// long: they are refused anyway.
func addedPaths(changes []Change) (added []string) {
	for _, c := range changes {
		if c.OldMode == "" && c.NewMode != "" && len(c.Path) <= maxPath {
			added = append(added, c.Path)
		}
	}
	return added
}

// collisions reports the added paths that collide with another path.
func (j *judgement) collisions(o *occupancy, added []string) {
	for _, path := range added {
		o.places.walk(path, func(node int, last bool) {
			same := o.files[node]
			switch {
			case last && o.below[node].count > 0:
				j.collide(path, "is the same as the directory of", o.below[node].example)
			case last && len(same) > 1 && same[0] == path:
				j.collide(path, "is the same file as", same[1])
			case last && len(same) > 0 && same[0] != path:
				j.collide(path, "is the same file as", same[0])
			case !last && len(same) > 0:
				j.collide(path, "needs a directory that is the same as", same[0])
			}
		})
	}
}

// collide reports that a path is in the way of another one, whose letters outside of ASCII it writes
// as code points: the two may look the same.
func (j *judgement) collide(path, how, other string) {
	j.report(RuleCollision, path, "%s %s where case or the form of Unicode does not count; use a name that differs in more", how, quotePathBy(strconv.QuoteToASCII, other))
}

// occupancy has the files of a tree at some places, and below these places.
type occupancy struct {
	places foldedTree       // which places; others are not looked at
	files  map[int][]string // the files at a place, in the order in which they were added
	below  map[int]descendants
}

// descendants are the files somewhere below a place.
type descendants struct {
	count   int
	example string // one of them, or one that was removed
}

// newOccupancy returns an occupancy whose places are the interesting paths and the directories that
// contain them. paths are the tree's files.
func newOccupancy(interesting, paths []string) *occupancy {
	o := &occupancy{foldedTree{}, map[int][]string{}, map[int]descendants{}}
	for _, path := range interesting {
		o.places.add(path)
	}
	for _, path := range paths {
		o.add(path)
	}
	return o
}

// add adds a file to the tree.
func (o *occupancy) add(path string) {
	o.places.walk(path, func(node int, last bool) {
		if last {
			o.files[node] = append(o.files[node], path)
			return
		}
		d := o.below[node]
		if d.count++; d.count == 1 {
			d.example = path
		}
		o.below[node] = d
	})
}

// remove removes a file from the tree.
func (o *occupancy) remove(path string) {
	o.places.walk(path, func(node int, last bool) {
		if last {
			o.files[node] = slices.DeleteFunc(o.files[node], func(p string) bool { return p == path })
			return
		}
		d := o.below[node]
		d.count--
		o.below[node] = d
	})
}
