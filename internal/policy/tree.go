package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
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

// TreeChange is one path at which a tree differs from another. A rename is two:
// the path that is gone and the one that is new.
type TreeChange struct {
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
	Changes []TreeChange
	// Paths are all file paths of the tree.
	Paths []string
	// Links are the targets of links that did not change, where they are known.
	// Without them, links through such links are taken by their text alone, and what
	// a protected link leads to is not protected.
	Links map[string]string
}

// TreeViolation is a rule about files that changes break.
type TreeViolation struct {
	// Rule is one of the constants.
	Rule string
	// Path is the path it is about, "" for the changes as a whole.
	Path string
	// Message names rule, path and what would be allowed, in one line. It may
	// hold the agent's words, so whoever shows it escapes it.
	Message string
}

// JudgeTree holds a resulting tree against the rules about files, and returns
// every violation in the order of paths. It judges the tree alone: how the
// changes were written down (quoting, renames, order) makes no difference.
func JudgeTree(s ChangeSettings, t Tree) []TreeViolation {
	j := treeJudge{settings: s, tree: t, links: newLinkMap(t)}
	j.limits()
	j.protected()
	j.allowed()
	j.kinds()
	j.names()
	j.collisions()
	j.judgeLinks()
	slices.SortFunc(j.found, func(a, b TreeViolation) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Message, b.Message))
	})
	return slices.Compact(j.found)
}

// treeJudge collects what is wrong with a tree.
type treeJudge struct {
	settings ChangeSettings
	tree     Tree
	links    linkMap
	found    []TreeViolation
}

// broke notes a violation; format continues a sentence that begins with the path.
func (j *treeJudge) broke(rule, path, format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	if path != "" {
		message = quotePath(path) + " " + message
	}
	j.found = append(j.found, TreeViolation{rule, path, rule + ": " + message})
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

// TreeNotes says what about changes is allowed and worth knowing: files that
// became executable. It returns nil where there is nothing to say.
func TreeNotes(t Tree) []Note {
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
	return []Note{{RuleExecutable, fmt.Sprintf("made executable: %s", quoteAll(slices.Compact(paths)))}}
}
