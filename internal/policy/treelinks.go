package policy

import (
	"maps"
	"slices"
)

// judgeLinks holds every link that the changes bear on against one rule: it leads
// to a place in the tree, and not to git's own files. A link that was there
// before is held to it if it leads through a changed one.
func (j *treeJudge) judgeLinks() {
	for _, c := range j.tree.Changes {
		if c.NewMode != modeLink {
			continue
		}
		if _, _, why := j.links.follow(link{c.Path, c.Link, true}); why != "" {
			j.broke(RuleLink, c.Path, "%s; a link to a path of this repository is allowed", why)
		}
	}
	for _, l := range j.links.links {
		if l.changed {
			continue
		}
		if _, through, why := j.links.follow(l); why != "" && through != "" {
			j.broke(RuleLink, through, "changes where the link %s leads: it %s; a link to a path of this repository is allowed", quotePath(l.path), why)
		}
	}
}

// reached returns what protected links lead to: folded path → the link's path.
// Who may not change CLAUDE.md may not change the file that it is a link to.
func (j *treeJudge) reached(protected func(path string) bool) map[string]string {
	to := map[string]string{}
	for _, path := range slices.Sorted(maps.Keys(j.tree.Links)) {
		if !protected(path) {
			continue
		}
		if target, _, why := j.links.follow(link{path, j.tree.Links[path], false}); why == "" && target != "" {
			to[foldPath(target)] = path
		}
	}
	return to
}

// above returns the value of a path, or of a folder above it.
func above(values map[string]string, path string) (string, bool) {
	if len(values) == 0 || len(path) > maxPath {
		return "", false
	}
	path = foldPath(path)
	for {
		if v, ok := values[path]; ok {
			return v, true
		}
		folder, _ := cutName(path)
		if folder == path || folder == "" {
			return "", false
		}
		path = folder
	}
}
