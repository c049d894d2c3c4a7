// Package tree judges a resulting git tree: whether the changes that lead to it keep to
// the rules about files. It looks at paths, modes and link targets alone, and opens no
// file.
package tree

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-airlock/airlock/internal/text"
)

// Config is what the owner allows changes to do. The zero value has the built-in list of
// protected files and the default limits, and allows all other paths.
type Config struct {
	// Allowed are the patterns that every changed path must match as a whole; nil
	// allows all, an empty list none.
	Allowed []string
	// Protected are the patterns that no changed path may match, as it is or by a
	// directory above it, whatever the case; nil means ProtectedByDefault, an empty
	// list none.
	Protected []string
	// AlsoProtected are protected in addition to Protected or the built-in list.
	AlsoProtected []string
	// Unprotected are the patterns taken out of the protected files again.
	Unprotected []string
	// ProtectManifests adds dependency manifests and lock files to the protected files.
	ProtectManifests bool
	// MaxFiles bounds the number of changed files, MaxSizeKB their new contents in
	// KiB: 0 means the default (100 and 1,024), negative no limit.
	MaxFiles, MaxSizeKB int
}

// The rules by name, as Judge gives them.
const (
	RuleAllowedFiles = "allowed-files"   // a path is not on the list
	RuleProtected    = "protected-files" // a path is protected
	RuleMaxFiles     = "max-patch-files" // too many files changed
	RuleMaxSize      = "max-patch-size"  // too much is new
	RuleLink         = "link"            // a link leads out of the tree, or into git's own files
	RuleSubmodule    = "submodule"       // a submodule was added, changed or removed
	RuleMode         = "mode"            // a file became a link or the reverse, or has a mode that git does not write
	RuleLFS          = "lfs"             // a Git LFS pointer whose content is not in the changes
	RuleGitPath      = "git-path"        // a path that means .git, at least on some file systems
	RulePath         = "path"            // a path that is another one, or none, on some file systems
	RuleCollision    = "path-collision"  // two paths that are one on file systems that fold case or Unicode
)

// The limits of changes that set none.
const (
	defaultMaxFiles  = 100
	defaultMaxSizeKB = 1024
)

// The modes that git gives to what a tree holds.
const (
	modeFile       = "100644"
	modeExecutable = "100755"
	modeLink       = "120000"
	modeSubmodule  = "160000"
)

// Change is one path at which a tree differs from another. A rename is two:
// the path that is gone and the one that is new.
type Change struct {
	// Path is the path as git stores it: not quoted, "/" between names.
	Path string
	// OldMode and NewMode are git's modes, "" where the path is absent.
	OldMode, NewMode string
	// OldOID and NewOID are the contents' object ids, where they are known. With
	// them, contents that were there before are not counted as new.
	OldOID, NewOID string
	// Size is the new content's, in bytes.
	Size int64
	// Link is what a new link points to.
	Link string
	// LFS says that the new content is a Git LFS pointer.
	LFS bool
}

// Tree is the tree that changes lead to.
type Tree struct {
	// Changes are all differences from the tree before.
	Changes []Change
	// Paths are all file paths of the tree.
	Paths []string
	// Links are the targets of links that did not change, where they are known.
	// Without them, links through such links are taken by their text alone, and what
	// a protected link leads to is not protected.
	Links map[string]string
}

// Violation is a rule about files that changes break.
type Violation struct {
	// Rule is one of the constants.
	Rule string
	// Path is the path it is about, "" for the changes as a whole.
	Path string
	// Message names rule, path and what would be allowed, in one line. It may
	// hold the agent's words, so whoever shows it escapes it.
	Message string
}

// Judge holds a resulting tree against the rules about files, and returns
// every violation in the order of paths. It judges the tree alone: how the
// changes were written down (quoting, renames, order) makes no difference.
func Judge(cfg Config, t Tree) []Violation {
	j := judgement{cfg: cfg, tree: t, links: newLinkMap(t)}
	j.limits()
	j.protected()
	j.allowed()
	j.kinds()
	j.names()
	j.collisions()
	j.judgeLinks()
	slices.SortFunc(j.found, func(a, b Violation) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Message, b.Message))
	})
	return slices.Compact(j.found)
}

// judgement collects what is wrong with a tree.
type judgement struct {
	cfg   Config
	tree  Tree
	links linkMap
	found []Violation
}

// broke notes a violation; format continues a sentence that begins with the path.
func (j *judgement) broke(rule, path, format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	if path != "" {
		message = quotePath(path) + " " + message
	}
	j.found = append(j.found, Violation{rule, path, rule + ": " + message})
}

// quotePath writes a path so that it stays on its line and nothing in it acts.
func quotePath(path string) string {
	const most = 300
	if len(path) > most {
		return strconv.Quote(strings.ToValidUTF8(path[:most], "")) + "…"
	}
	return strconv.Quote(path)
}

// known returns the ids of contents that the tree before held.
func (t Tree) known() map[string]bool {
	ids := map[string]bool{}
	for _, c := range t.Changes {
		if c.OldOID != "" {
			ids[c.OldOID] = true
		}
	}
	return ids
}

// Notes returns what about changes is allowed and worth knowing: which files became
// executable. It returns nil where there is nothing to report.
func Notes(t Tree) []string {
	var paths []string
	for _, c := range t.Changes {
		if c.NewMode == modeExecutable && c.OldMode != modeExecutable {
			paths = append(paths, c.Path)
		}
	}
	if paths == nil {
		return nil
	}
	slices.Sort(paths)
	return []string{"made executable: " + text.QuoteList(slices.Compact(paths))}
}

// kinds holds what each changed path is, and was, against what may be changed:
// ordinary files and links, each staying what it is.
func (j *judgement) kinds() {
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
