package policy

import (
	"slices"
	"strings"
)

// kinds holds what each changed path is, and was, against what may be changed:
// ordinary files and links, each staying what it is.
func (j *treeJudge) kinds() {
	known := j.tree.known()
	for _, c := range j.tree.Changes {
		_, name := cutName(c.Path)
		switch {
		case c.OldMode == modeSubmodule || c.NewMode == modeSubmodule:
			j.broke(RuleSubmodule, c.Path, "is a submodule; submodules are changed by people, files may be")
		case isModulesName(name):
			j.broke(RuleSubmodule, c.Path, "says which submodules there are; submodules are changed by people, other files may be")
		case c.NewMode != "" && !slices.Contains([]string{modeFile, modeExecutable, modeLink}, c.NewMode):
			j.broke(RuleMode, c.Path, "has the mode %q; allowed are %s (a file), %s (an executable one) and %s (a link)", c.NewMode, modeFile, modeExecutable, modeLink)
		case c.OldMode == modeLink && c.NewMode != "" && c.NewMode != modeLink:
			j.broke(RuleMode, c.Path, "was a link and becomes a file; keep the link, or use another path")
		case c.NewMode == modeLink && c.OldMode != "" && c.OldMode != modeLink:
			j.broke(RuleMode, c.Path, "was a file and becomes a link; keep the file, or use another path")
		case c.LFS && c.NewMode != "" && c.NewMode != modeLink && !(c.NewOID != "" && known[c.NewOID]):
			j.broke(RuleLFS, c.Path, "is a Git LFS pointer, whose content is not in the changes; only files outside Git LFS, and moves of pointers, are allowed")
		}
	}
}

// names holds the path of everything that is there afterwards against what means
// the same file on all systems. What was there before may keep a name that only
// some systems cannot hold.
func (j *treeJudge) names() {
	for _, c := range j.tree.Changes {
		if c.NewMode == "" {
			continue
		}
		if len(c.Path) > maxPath {
			j.broke(RulePath, c.Path, "is longer than %d bytes; shorten it", maxPath)
			continue
		}
		for name := range strings.SplitSeq(c.Path, "/") {
			if rule, why := badName(name, c.OldMode == ""); rule != "" {
				j.broke(rule, c.Path, "%s", why)
			}
		}
	}
}

// badName returns the rule that a name breaks and the message about its path.
func badName(name string, added bool) (rule, why string) {
	switch {
	case isGitName(name):
		return RuleGitPath, "leads into git's own files, at least on some systems; files of the work tree are allowed"
	case name == "" || name == "." || name == ".." || strings.ContainsRune(name, 0):
		return RulePath, "is no path below the repository's root; write folder/file"
	case added:
		if why := unportable(name); why != "" {
			return RulePath, why
		}
	}
	return "", ""
}

// cutName divides a path into its folder, "" for the root, and its name.
func cutName(path string) (folder, name string) {
	i := strings.LastIndexByte(path, '/')
	return path[:max(i, 0)], path[i+1:]
}
