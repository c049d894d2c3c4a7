package apply

import (
	"slices"

	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/policy/tree"
)

// File is one path that an item's code changes, and the rules about files that it breaks.
type File struct {
	// Path is the path as git stores it; "" for a rule that all changes together break. The agent
	// chose it, so whoever shows it masks secrets in it.
	Path string
	// Change is added, changed or removed; "" where Path is "", and for a path that the changes
	// together leave as it is.
	Change string
	// OldMode and NewMode are git's modes, if the mode changes or the new one is not that of a
	// plain file. Otherwise both are "".
	OldMode, NewMode string
	Size             int64 // of the new content, in bytes
	// Broken are the rules that the path breaks; none if it may be pushed. Their messages may quote
	// the agent.
	Broken []tree.Violation
}

// Two of the modes that git gives to the entries of a tree.
const (
	plainMode     = "100644" // a file that is neither a program nor a link
	submoduleMode = "160000"
)

// files returns the broken rules that belong to no changed file, and after them the changed files in
// the order of their paths, each with the rules that it breaks.
func (st *codeState) files() []File {
	if len(st.changes)+len(st.broken) == 0 {
		return nil
	}
	index := map[string]int{}
	changed := make([]File, 0, len(st.changes))
	for _, ch := range st.changes {
		index[ch.Path] = len(changed)
		changed = append(changed, fileOf(ch))
	}
	var others []File
	for _, v := range st.broken {
		if i, ok := index[v.Path]; ok {
			changed[i].Broken = append(changed[i].Broken, v)
		} else {
			others = append(others, File{Path: v.Path, Broken: []tree.Violation{v}})
		}
	}
	return slices.Concat(others, changed)
}

// fileOf returns a changed path without the rules that it breaks.
func fileOf(ch gitrepo.TreeChange) File {
	f := File{Path: ch.Path, Change: "changed", Size: ch.Size}
	switch {
	case ch.NewMode == "":
		f.Change = "removed"
	case ch.OldMode == "":
		f.Change = "added"
	}
	isModeChanged := ch.OldMode != "" && ch.NewMode != "" && ch.OldMode != ch.NewMode
	if isModeChanged || ch.NewMode != "" && ch.NewMode != plainMode {
		f.OldMode, f.NewMode = ch.OldMode, ch.NewMode
	}
	return f
}
