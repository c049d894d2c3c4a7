package gitrepo

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"strconv"
)

// Limits of one walk: small trees can stand for more paths than there is memory.
const (
	maxTreeBytes = 256 << 20 // of all paths together, and
	bytesOfPath  = 200       // for each as much again: a million paths or so
)

// The modes of entries, as git writes them.
const (
	modeDir       = "040000"
	modeFile      = "100644"
	modeExec      = "100755"
	modeLink      = "120000"
	modeSubmodule = "160000"
)

// entry is what a tree holds under a name.
type entry struct{ mode, oid string }

// treePair is a directory in two trees; an id is "" where it is none.
type treePair struct{ path, from, to string }

// walkTrees calls differs for each path at which two trees are not the same and
// at least one of them holds something that is no directory. A zero entry says
// that there is nothing, or a directory. Every tree that is read is checked
// against its id, and equal ones are not read.
func (r *Repo) walkTrees(ctx context.Context, from, to string, differs func(path string, from, to entry)) error {
	room := maxTreeBytes
	for level := []treePair{{"", from, to}}; len(level) > 0; {
		var oids []string
		for _, p := range level {
			for _, oid := range []string{p.from, p.to} {
				if oid != "" {
					oids = append(oids, oid)
				}
			}
		}
		objects, err := r.read(ctx, unique(oids), maxObjects)
		if err != nil {
			return err
		}
		var next []treePair
		trees := map[string]map[string]entry{}
		for _, oid := range unique(oids) {
			if trees[oid], err = parseTree(oid, objects[oid]); err != nil {
				return err
			}
		}
		for _, p := range level {
			a, b := trees[p.from], trees[p.to]
			visit := func(name string, old, new entry) error {
				if old == new {
					return nil
				}
				path := p.path + name
				if room -= len(path) + bytesOfPath; room < 0 {
					return fmt.Errorf("%w: the tree holds too many paths, about a million are read", ErrTooLarge)
				}
				sub := treePair{path: path + "/"}
				if old.mode == modeDir {
					sub.from, old = old.oid, entry{}
				}
				if new.mode == modeDir {
					sub.to, new = new.oid, entry{}
				}
				if sub.from != sub.to {
					next = append(next, sub)
				}
				if old != new {
					differs(path, old, new)
				}
				return nil
			}
			for name, old := range a {
				if err := visit(name, old, b[name]); err != nil {
					return err
				}
			}
			for name, new := range b {
				if _, ok := a[name]; !ok {
					if err := visit(name, entry{}, new); err != nil {
						return err
					}
				}
			}
		}
		level = next
	}
	return nil
}

// parseTree returns what a tree holds, by name.
func parseTree(oid string, o object) (map[string]entry, error) {
	if o.err != nil {
		return nil, o.err
	}
	entries := make(map[string]entry, len(o.data)/40)
	for data := o.data; len(data) > 0; {
		head, rest, ok := bytes.Cut(data, []byte{0})
		mode, name, ok2 := bytes.Cut(head, []byte{' '})
		if o.kind != "tree" || !ok || !ok2 || len(rest) < len(oid)/2 {
			return nil, fmt.Errorf("the object %s cannot be read as a tree", oid)
		}
		bits, err := strconv.ParseUint(string(mode), 8, 32)
		_, twice := entries[string(name)]
		switch n := string(name); {
		case err != nil:
			return nil, fmt.Errorf("the tree %s gives %q a mode that is none", oid, n)
		case twice, n == "", n == ".", n == "..", bytes.ContainsRune(name, '/'):
			return nil, fmt.Errorf("the tree %s is broken: git does not allow the name %q in it, or not twice", oid, n)
		}
		entries[string(name)] = entry{canonical(bits), hex.EncodeToString(rest[:len(oid)/2])}
		data = rest[len(oid)/2:]
	}
	return entries, nil
}

// canonical returns the mode that git takes an entry for, whatever the bits are.
func canonical(bits uint64) string {
	switch bits & 0o170000 {
	case 0o040000:
		return modeDir
	case 0o120000:
		return modeLink
	case 0o100000:
		if bits&0o100 != 0 {
			return modeExec
		}
		return modeFile
	}
	return modeSubmodule
}

// unique returns the strings without repetitions, in their order.
func unique(list []string) []string {
	seen := make(map[string]bool, len(list))
	var kept []string
	for _, s := range list {
		if !seen[s] {
			seen[s] = true
			kept = append(kept, s)
		}
	}
	return kept
}
