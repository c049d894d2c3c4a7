package tree

import "slices"

// checkCollisions finds the new paths that are the same as another path of the tree
// on a file system that folds case or Unicode, where one of the two would replace the
// other. What collided before is allowed.
func (j *judgement) checkCollisions() {
	var added []string
	for _, c := range j.tree.Changes {
		if c.OldMode == "" && c.NewMode != "" && len(c.Path) <= maxPath {
			added = append(added, c.Path)
		}
	}
	if added == nil {
		return
	}
	places := foldedTree{}
	for _, path := range added {
		places.add(path)
	}
	all := slices.Concat(j.tree.Paths, added) // the tree's paths may not be known
	slices.Sort(all)
	files, below := occupants(places, slices.Compact(all))
	for _, path := range added {
		places.walk(path, func(node int, last bool) {
			same := files[node]
			switch {
			case last && below[node] != "":
				j.collide(path, "is the same as the directory of", below[node])
			case last && len(same) > 1 && same[0] == path:
				j.collide(path, "is the same file as", same[1])
			case last && same[0] != path:
				j.collide(path, "is the same file as", same[0])
			case !last && same != nil:
				j.collide(path, "needs a directory that is the same as", same[0])
			}
		})
	}
}

func (j *judgement) collide(path, how, other string) {
	j.report(RuleCollision, path, "%s %s where case or the form of Unicode does not count; use a name that differs in more", how, quotePath(other))
}

// occupants returns, for the nodes of a tree, up to two files at the node and one
// further below.
func occupants(places foldedTree, paths []string) (files map[int][]string, below map[int]string) {
	files, below = map[int][]string{}, map[int]string{}
	for _, path := range paths {
		places.walk(path, func(node int, last bool) {
			switch {
			case last && len(files[node]) < 2:
				files[node] = append(files[node], path)
			case !last && below[node] == "":
				below[node] = path
			}
		})
	}
	return files, below
}
