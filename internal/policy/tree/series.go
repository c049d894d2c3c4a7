package tree

import "maps"

// Series are commits that lead from one tree to another, one after the other.
type Series struct {
	// Commits are the changes of each commit from the one before it, oldest first. Required.
	Commits [][]Change
	// Paths are all file paths of the tree that the first commit begins with. Required.
	Paths []string
	// Links are the targets of all links of that tree, by path.
	Links map[string]string
	// Messages is the size of all commit messages together, in bytes.
	Messages int64
}

// Together is the index that JudgeSeries returns if only all commits together break a rule.
const Together = -1

// JudgeSeries checks every commit of a series as Judge checks a single tree, because whoever can
// read a repository can read each of its commits. It returns the index of the first commit that
// breaks a rule, and the violations. The changes and new contents of all commits count together
// against the limits, even if a later commit removes them again. If only the limits are exceeded,
// the index is Together. Without a violation broken is empty, and the index means nothing.
//
// Its time grows with the number of changes and of the tree's paths, not with their product. Only
// a commit that changes a link has all links followed again.
func JudgeSeries(cfg Config, s Series) (commit int, broken []Violation) {
	j := judgement{cfg: cfg, rules: newRules(cfg), tree: Tree{Links: maps.Clone(s.Links)}}
	j.links = newLinkMap(j.tree)
	var added []string
	for _, changes := range s.Commits {
		added = append(added, addedPaths(changes)...)
	}
	places := newOccupancy(added, s.Paths)
	targets, behind := j.linkTargets(), j.behindLinks()
	for i, changes := range s.Commits {
		j.tree.Changes = changes
		linksChanged := j.advance(places)
		if linksChanged {
			targets, behind = j.linkTargets(), j.behindLinks()
		}
		j.checkProtected(targets, behind)
		j.checkAllowed()
		j.checkModes()
		j.checkNames()
		j.collisions(places, addedPaths(changes))
		if linksChanged {
			j.checkLinks()
			j.links.markExisting(changes)
		}
		if len(j.found) > 0 {
			return i, j.violations()
		}
	}
	files, size := s.sum()
	j.checkLimits(files, size)
	return Together, j.violations()
}

// advance moves on to the tree that the changes lead to, and reports whether they change
// links.
func (j *judgement) advance(places *occupancy) (linksChanged bool) {
	for _, c := range j.tree.Changes {
		if c.OldMode != "" && c.NewMode == "" {
			places.remove(c.Path)
		}
		if c.NewMode != modeLink {
			delete(j.tree.Links, c.Path)
		}
	}
	for _, c := range j.tree.Changes {
		if c.OldMode == "" && c.NewMode != "" {
			places.add(c.Path)
		}
		if c.NewMode == modeLink {
			if j.tree.Links == nil {
				j.tree.Links = map[string]string{}
			}
			j.tree.Links[c.Path] = c.Link
		}
	}
	return j.links.apply(j.tree.Changes)
}

// sum returns how many files all commits change together, and the bytes of their messages and of
// the contents that they add. A file counts once, even if it moves. A content counts once, too. A
// content that was at one of the changed paths before the series is not new.
func (s Series) sum() (files int, size int64) {
	touched := map[string]bool{}         // paths
	counted := map[string]bool{"": true} // contents that are not new, or have been added
	for _, changes := range s.Commits {
		firstTouched := map[string]bool{} // paths that no commit before touched
		removed := map[string]int{}       // how many files the commit removes, by content
		for _, c := range changes {
			if !touched[c.Path] {
				files++
				touched[c.Path] = true
				firstTouched[c.Path] = true
				counted[c.OldOID] = true
			}
			if c.NewMode == "" {
				removed[c.OldOID]++
			}
		}
		// A new file with the content of a removed file is that file, moved.
		for _, c := range changes {
			if c.OldMode == "" && c.NewOID != "" && removed[c.NewOID] > 0 && firstTouched[c.Path] {
				removed[c.NewOID]--
				files--
			}
		}
	}
	size = s.Messages
	for _, changes := range s.Commits {
		for _, c := range changes {
			if c.NewMode != "" && !counted[c.NewOID] {
				counted[c.NewOID] = true
				size = addSize(size, c.Size)
			}
		}
	}
	return files, size
}
