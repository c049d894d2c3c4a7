// Package tree judges a resulting git tree: whether the changes that lead to it follow
// the rules about files. It looks only at paths, modes and link targets and opens no
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

// Config is what the owner allows changes to do. No field is required: the zero value
// protects the built-in list of files, allows all other paths, and has the default
// limits.
type Config struct {
	// Allowed are patterns, one of which every changed path must match from its beginning
	// to its end; nil allows all, an empty list none.
	Allowed []string
	// Protected are the patterns that no changed path, and no directory above one, may
	// match, in upper or lower case; nil means ProtectedByDefault, an empty list none.
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

// ProtectedPatterns returns the patterns of all protected files: the owner's list or the built-in
// one, the patterns added to it, and the manifests if they are protected. The patterns may match
// files that Unprotected names.
func (c Config) ProtectedPatterns() []string {
	patterns := slices.Clone(c.Protected)
	if c.Protected == nil {
		patterns = ProtectedByDefault()
	}
	patterns = append(patterns, c.AlsoProtected...)
	if c.ProtectManifests {
		patterns = append(patterns, Manifests()...)
	}
	return patterns
}

// FileLimit returns the greatest number of changed files, negative for no limit.
func (c Config) FileLimit() int { return cmp.Or(c.MaxFiles, defaultMaxFiles) }

// SizeLimitKB returns how much new content there may be, in KiB; negative for no limit.
func (c Config) SizeLimitKB() int { return cmp.Or(c.MaxSizeKB, defaultMaxSizeKB) }

// The rules by name, as Judge gives them.
const (
	RuleAllowedFiles = "allowed-files"   // a path is not on the list
	RuleProtected    = "protected-files" // a path is protected
	RuleMaxFiles     = "max-patch-files" // too many files changed
	RuleMaxSize      = "max-patch-size"  // too much is new, in all or in one file
	RuleLink         = "link"            // a link leads out of the tree, or into git's own files
	RuleSubmodule    = "submodule"       // a submodule, or .gitmodules, was added, changed or removed
	RuleMode         = "mode"            // a file became a link or the reverse, or has a mode that git does not write
	RuleLFS          = "lfs"             // a Git LFS pointer whose content is not in the changes
	RuleGitPath      = "git-path"        // a path that means .git, at least on some file systems
	RulePath         = "path"            // a path that some file systems cannot have, or take for another
	RuleCollision    = "path-collision"  // two paths that are one on file systems that fold case or Unicode
)

// The limits where Config sets none.
const (
	defaultMaxFiles  = 100
	defaultMaxSizeKB = 1024
)

// maxFileSize is the size of the largest file that GitHub accepts, in bytes.
const maxFileSize = 100 << 20

// The modes that git gives to the entries of a tree.
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
	// OldOID and NewOID are the contents' object ids, where they are known. Contents
	// that a changed path had before are then not counted as new.
	OldOID, NewOID string
	// Size is the size of the new content, in bytes.
	Size int64
	// Link is what a new link points to.
	Link string
	// LFS is whether the new content is a Git LFS pointer.
	LFS bool
}

// Tree is the tree that changes lead to.
type Tree struct {
	// Changes are all differences from the tree before. Required.
	Changes []Change
	// Paths are all file paths of the tree. Without them, paths that are added are compared
	// with each other alone.
	Paths []string
	// Links are the links that did not change: path → target. Without them, a link that leads
	// through one is judged by its own text alone, and the target of an unchanged protected link
	// is not protected.
	Links map[string]string
}

// Violation is a rule about files, broken by the changes.
type Violation struct {
	// Rule is one of the constants.
	Rule string
	// Path is the path it is about, "" for all changes together.
	Path string
	// Message names the rule, the path and what would be allowed, in one line. It may
	// quote the agent, so whoever shows it escapes it.
	Message string
}

// Judge checks a resulting tree against the rules about files and returns every
// violation, in the order of paths. Only the tree counts: how the changes were
// written down (quoting, renames, order) makes no difference.
func Judge(cfg Config, t Tree) []Violation {
	j := judgement{cfg: cfg, rules: newRules(cfg), tree: t, links: newLinkMap(t)}
	j.checkLimits(j.countFiles(), j.newSize())
	j.reportBroken()
	j.checkProtected(j.linkTargets(), j.behindLinks())
	j.checkAllowed()
	j.checkModes()
	j.checkNames()
	j.checkCollisions()
	j.checkLinks()
	return j.violations()
}

// judgement collects what is wrong with a tree.
type judgement struct {
	cfg   Config
	rules rules
	tree  Tree
	links linkMap
	found []Violation
}

// violations returns what was found, each once and in the order of paths.
func (j *judgement) violations() []Violation {
	slices.SortFunc(j.found, func(a, b Violation) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Message, b.Message))
	})
	return slices.Compact(j.found)
}

// report adds a violation; format continues a sentence that begins with the path.
func (j *judgement) report(rule, path, format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	if path != "" {
		message = quotePath(path) + " " + message
	}
	j.found = append(j.found, Violation{rule, path, rule + ": " + message})
}

// quotePath quotes a path for a message: on one line, shortened, and with escapes for characters
// that do not print. U+200B is written as <U+200B>. Package sanitize inserts that character to
// make texts inert, and would take "\u200b" for one that it has inserted itself.
func quotePath(path string) string { return quotePathBy(strconv.Quote, path) }

func quotePathBy(quote func(string) string, path string) string {
	const most = 300
	shortened := ""
	if len(path) > most {
		path, shortened = strings.ToValidUTF8(path[:most], ""), "…"
	}
	return strings.ReplaceAll(quote(path), `\u200b`, "<U+200B>") + shortened
}

// oldContents returns the known object ids of the contents before the changes.
func (t Tree) oldContents() map[string]bool {
	ids := map[string]bool{}
	for _, c := range t.Changes {
		if c.OldOID != "" {
			ids[c.OldOID] = true
		}
	}
	return ids
}

// Notes reports what is allowed and worth knowing: which files became executable. It
// returns nil if there is nothing.
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

// checkModes checks that each changed path is, and was, a file or a link, remains what it
// was, has a size that GitHub accepts, and is neither .gitmodules nor a new Git LFS pointer.
func (j *judgement) checkModes() {
	old := j.tree.oldContents()
	for _, c := range j.tree.Changes {
		_, name := cutName(c.Path)
		switch {
		case c.OldMode == modeSubmodule || c.NewMode == modeSubmodule:
			j.report(RuleSubmodule, c.Path, "is a submodule, which only people may change; files are allowed")
		case isModulesName(name):
			j.report(RuleSubmodule, c.Path, "lists the submodules, which only people may change; other files are allowed")
		case c.NewMode != "" && !slices.Contains([]string{modeFile, modeExecutable, modeLink}, c.NewMode):
			j.report(RuleMode, c.Path, "has the mode %q; allowed are %s (a file), %s (an executable one) and %s (a link)", c.NewMode, modeFile, modeExecutable, modeLink)
		case c.OldMode == modeLink && c.NewMode != "" && c.NewMode != modeLink:
			j.report(RuleMode, c.Path, "was a link and becomes a file; keep the link, or use another path")
		case c.NewMode == modeLink && c.OldMode != "" && c.OldMode != modeLink:
			j.report(RuleMode, c.Path, "was a file and becomes a link; keep the file, or use another path")
		case c.NewMode != "" && c.Size > maxFileSize && !old[c.NewOID]:
			j.report(RuleMaxSize, c.Path, "has %s, and GitHub accepts no file of more than %s; leave it out, whatever max-patch-size says", text.Bytes(c.Size), text.Bytes(maxFileSize))
		case c.LFS && c.NewMode != "" && c.NewMode != modeLink && !old[c.NewOID]:
			j.report(RuleLFS, c.Path, "is a Git LFS pointer, whose content is not in the changes; only files outside Git LFS, and moves of pointers, are allowed")
		}
	}
}

// checkLimits checks the number of changed files and the bytes of what is new. A file
// that only moved counts once, and its content not at all.
func (j *judgement) checkLimits(files int, size int64) {
	most := j.cfg.FileLimit()
	if most > 0 && files > most {
		j.report(RuleMaxFiles, "", "%s changed, at most %d may; change fewer, or set max-patch-files", text.Count(files, "file"), most)
	}
	mostKiB := int64(j.cfg.SizeLimitKB())
	if size := (size + 1023) / 1024; mostKiB > 0 && size > mostKiB {
		j.report(RuleMaxSize, "", "the changes have %d KiB of new contents, at most %d KiB are allowed; change less, or set max-patch-size", size, mostKiB)
	}
}

// countFiles counts the paths that changed, a moved file once.
func (j *judgement) countFiles() int {
	added := map[string]int{}
	for _, c := range j.tree.Changes {
		if c.OldMode == "" && c.NewOID != "" {
			added[c.NewOID]++
		}
	}
	n := 0
	for _, c := range j.tree.Changes {
		if c.NewMode == "" && added[c.OldOID] > 0 {
			added[c.OldOID]--
			continue
		}
		n++
	}
	return n
}

// newSize sums the sizes of the new contents, without those that a changed path had before.
func (j *judgement) newSize() int64 {
	old := j.tree.oldContents()
	var sum int64
	for _, c := range j.tree.Changes {
		if c.NewMode != "" && !old[c.NewOID] {
			sum = addSize(sum, c.Size)
		}
	}
	return sum
}

// addSize adds a size, in bytes, to a sum that cannot overflow.
func addSize(sum, size int64) int64 {
	const most = 1 << 60
	return min(sum+min(max(size, 0), most), most)
}
