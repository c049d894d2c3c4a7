package gitrepo

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

// File is a file of a commit.
type File struct {
	Data []byte
	Exec bool
	Mode string // git's, of six digits; also of a link or a submodule; "" where nothing is
	// Err is set instead when there is no such file: fs.ErrNotExist, ErrTooLarge,
	// or that the path is a directory, a link or a submodule.
	Err error
}

// File reads one file of a commit; see Files.
func (r *Repo) File(ctx context.Context, commit, path string, limit int64) ([]byte, error) {
	files, err := r.Files(ctx, commit, []string{path}, limit)
	if err != nil {
		return nil, err
	}
	return files[path].Data, files[path].Err
}

// Files reads files of a commit, each of at most limit bytes. Every object on
// the way from the commit's id to a file is hashed, so that a clone whose
// objects somebody has replaced gives an error and never another text. All
// paths together take two runs of git a directory level, and directories that
// were read before take none.
func (r *Repo) Files(ctx context.Context, commit string, paths []string, limit int64) (map[string]File, error) {
	if _, ok := r.known.get(commit); !ok {
		if err := r.Require(ctx, commit); err != nil {
			return nil, err
		}
	}
	objects, err := r.read(ctx, []string{commit}, limit)
	if err != nil {
		return nil, err
	}
	tree, err := treeOf(objects[commit].data)
	if err != nil {
		return nil, err
	}
	files := make(map[string]File, len(paths))
	at := map[string]step{}
	for _, p := range paths {
		if !fs.ValidPath(p) || p == "." {
			files[p] = File{Err: fmt.Errorf("%q is not a path of a repository: %w", p, fs.ErrInvalid)}
			continue
		}
		at[p] = step{oid: tree, rest: p}
	}
	for len(at) > 0 {
		if objects, err = r.read(ctx, oidsOf(at), limit); err != nil {
			return nil, err
		}
		for p, s := range at {
			o := objects[s.oid]
			switch {
			case o.kind == "" && o.err == nil:
				return nil, fmt.Errorf("git cat-file left out %s", s.oid)
			case o.err != nil:
				files[p] = File{Mode: s.mode, Err: fmt.Errorf("%s: %w", p, o.err)}
			case s.rest == "" && o.kind == "blob":
				files[p] = File{Data: o.data, Exec: s.mode == modeExec, Mode: s.mode}
			case s.rest == "":
				files[p] = File{Mode: modeDir, Err: fmt.Errorf("%s is a directory in commit %s", p, commit)}
			default:
				next, err := s.descend(o.data)
				if err == nil {
					at[p] = next
					continue
				}
				files[p] = File{Mode: next.mode, Err: fmt.Errorf("%s in commit %s: %w", p, commit, err)}
			}
			delete(at, p)
		}
	}
	return files, nil
}

// step is how far a path has been followed: the object it has come to, what is
// left of it, and the mode once nothing is.
type step struct{ oid, rest, mode string }

// descend follows the next element of the path through a tree. Beside an error
// only the mode of the whole path is set, where it has one.
func (s step) descend(tree []byte) (step, error) {
	name, rest, _ := strings.Cut(s.rest, "/")
	bits, oid, err := lookup(tree, name, len(s.oid)/2)
	if err != nil {
		return step{}, err
	}
	n, err := strconv.ParseUint(bits, 8, 32)
	if err != nil {
		return step{}, errors.New("the tree cannot be read")
	}
	mode := canonical(n)
	at := step{oid: oid, rest: rest, mode: mode}
	if rest != "" {
		at.mode = ""
	}
	switch {
	case mode == modeLink:
		return step{mode: at.mode}, errors.New("a link is not followed")
	case mode == modeSubmodule:
		return step{mode: at.mode}, errors.New("a submodule is not followed")
	case rest != "" && mode != modeDir:
		return step{}, fs.ErrNotExist
	}
	return at, nil
}

// lookup finds an entry of a tree: "<mode> <name>\x00<id>", one after another.
func lookup(tree []byte, name string, idLen int) (mode, oid string, err error) {
	for len(tree) > 0 {
		head, rest, ok := bytes.Cut(tree, []byte{0})
		m, n, ok2 := bytes.Cut(head, []byte{' '})
		if !ok || !ok2 || len(rest) < idLen {
			return "", "", errors.New("the tree cannot be read")
		}
		if string(n) == name {
			return string(m), hex.EncodeToString(rest[:idLen]), nil
		}
		tree = rest[idLen:]
	}
	return "", "", fs.ErrNotExist
}

func treeOf(commit []byte) (string, error) {
	line, _, _ := strings.Cut(string(commit), "\n")
	oid, ok := strings.CutPrefix(line, "tree ")
	if !ok || !IsObjectID(oid) {
		return "", errors.New("the commit cannot be read")
	}
	return oid, nil
}

func oidsOf(at map[string]step) []string {
	seen := map[string]bool{}
	var oids []string
	for _, s := range at {
		if !seen[s.oid] {
			seen[s.oid] = true
			oids = append(oids, s.oid)
		}
	}
	return oids
}

// What is read of new contents to describe them, in bytes.
const (
	maxLink       = 4096
	maxLFSPointer = 1024
)

// TreeChange is one path at which a tree differs from another. A rename is two.
type TreeChange struct {
	Path             string // as git stores it: any bytes but NUL
	OldMode, NewMode string // git's modes of six digits, "" where there is nothing
	OldOID, NewOID   string
	Size             int64  // of the new content, in bytes
	Link             string // what a new link points to, at most 4096 bytes of it
	LFS              bool   // the new content is a Git LFS pointer
}

// TreeChanges lists every path at which two commits (or trees) differ, by path.
// From "" is the empty tree. The trees are checked against their ids, so that
// what is listed is what a server will see, whatever the clone was made to hold.
func (r *Repo) TreeChanges(ctx context.Context, from, to string) ([]TreeChange, error) {
	a, err := r.verifiedTree(ctx, from)
	if err != nil {
		return nil, err
	}
	b, err := r.verifiedTree(ctx, to)
	if err != nil || a == b {
		return nil, err
	}
	var changes []TreeChange
	err = r.walkTrees(ctx, a, b, func(path string, old, new entry) {
		changes = append(changes, TreeChange{Path: path, OldMode: old.mode, OldOID: old.oid, NewMode: new.mode, NewOID: new.oid})
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(changes, func(x, y TreeChange) int { return cmp.Compare(x.Path, y.Path) })
	return changes, r.describe(ctx, changes)
}

// TreePaths lists the paths of all files, links and submodules of a commit (or
// tree), sorted. The trees are checked against their ids.
func (r *Repo) TreePaths(ctx context.Context, commit string) ([]string, error) {
	tree, err := r.verifiedTree(ctx, commit)
	if err != nil {
		return nil, err
	}
	var paths []string
	err = r.walkTrees(ctx, "", tree, func(path string, _, _ entry) { paths = append(paths, path) })
	slices.Sort(paths)
	return paths, err
}

// TreeLinks returns the targets of all links of a commit (or tree) by their paths.
// A target of more than 4,096 bytes, which no system follows, is left out.
func (r *Repo) TreeLinks(ctx context.Context, commit string) (map[string]string, error) {
	tree, err := r.verifiedTree(ctx, commit)
	if err != nil {
		return nil, err
	}
	at := map[string]string{}
	var oids []string
	err = r.walkTrees(ctx, "", tree, func(path string, _, to entry) {
		if to.mode == modeLink {
			at[path] = to.oid
			oids = append(oids, to.oid)
		}
	})
	if err != nil || len(oids) == 0 {
		return nil, err
	}
	contents, err := r.read(ctx, unique(oids), maxLink)
	if err != nil {
		return nil, err
	}
	links := make(map[string]string, len(at))
	for path, oid := range at {
		switch o := contents[oid]; {
		case errors.Is(o.err, ErrTooLarge):
		case o.err != nil:
			return nil, fmt.Errorf("the link %q: %w", path, o.err)
		default:
			links[path] = string(o.data)
		}
	}
	return links, nil
}

// verifiedTree returns the id of the tree of a commit, or of a tree itself.
func (r *Repo) verifiedTree(ctx context.Context, oid string) (string, error) {
	if oid == "" {
		return "", nil
	}
	if !IsObjectID(oid) {
		return "", fmt.Errorf("%q is not a whole object id", oid)
	}
	objects, err := r.read(ctx, []string{oid}, maxObjects)
	if err != nil {
		return "", err
	}
	switch o := objects[oid]; {
	case o.err != nil:
		return "", fmt.Errorf("%w: %s%s: %s", ErrMissing, oid, r.WhyMissing(), deeper)
	case o.kind == "tree":
		return oid, nil
	case o.kind == "commit":
		return treeOf(o.data)
	default:
		return "", fmt.Errorf("the object %s is no commit", oid)
	}
}

// describe fills in what only the new contents tell.
func (r *Repo) describe(ctx context.Context, changes []TreeChange) error {
	var ids []string
	for _, c := range changes {
		if c.NewOID != "" && c.NewMode != modeSubmodule {
			ids = append(ids, c.NewOID)
		}
	}
	sizes, err := r.sizes(ctx, unique(ids))
	if err != nil {
		return err
	}
	var small []string
	for i := range changes {
		c := &changes[i]
		c.Size = sizes[c.NewOID]
		if c.NewMode == modeLink && c.Size <= maxLink || isFileMode(c.NewMode) && c.Size <= maxLFSPointer {
			small = append(small, c.NewOID)
		}
	}
	contents, err := r.read(ctx, unique(small), maxLink)
	if err != nil {
		return err
	}
	for i := range changes {
		c := &changes[i]
		o := contents[c.NewOID]
		switch {
		case c.NewMode == modeLink && c.Size > maxLink:
			return fmt.Errorf("%w: the link %q points to a path of %d bytes", ErrTooLarge, c.Path, c.Size)
		case o.err != nil:
			return fmt.Errorf("%q: %w", c.Path, o.err)
		case c.NewMode == modeLink:
			c.Link = string(o.data)
		case isFileMode(c.NewMode):
			c.LFS = isLFSPointer(o.data)
		}
	}
	return nil
}

// sizes returns the sizes of files' contents, in bytes.
func (r *Repo) sizes(ctx context.Context, oids []string) (map[string]int64, error) {
	if len(oids) == 0 {
		return nil, nil
	}
	stdin := strings.NewReader(strings.Join(oids, "\n") + "\n")
	a, err := r.Run(ctx, Call{Stdin: stdin, Limit: maxObjects}, "cat-file", "--batch-check=%(objectname) %(objecttype) %(objectsize)")
	if err != nil {
		return nil, err
	}
	sizes := make(map[string]int64, len(oids))
	for line := range strings.Lines(string(a.Stdout)) {
		fields := strings.Fields(line)
		if len(fields) != 3 || fields[1] != "blob" {
			return nil, fmt.Errorf("the content of a file is not there%s: %s", r.WhyMissing(), strings.TrimSpace(line))
		}
		if sizes[fields[0]], err = strconv.ParseInt(fields[2], 10, 64); err != nil {
			return nil, fmt.Errorf("git cat-file answered %q", line)
		}
	}
	return sizes, nil
}

func isFileMode(mode string) bool { return mode == modeFile || mode == modeExec }

// isLFSPointer reports whether a content stands for one that Git LFS keeps.
func isLFSPointer(data []byte) bool {
	head, rest, _ := bytes.Cut(data, []byte{'\n'})
	known := string(head) == "version https://git-lfs.github.com/spec/v1" || string(head) == "version https://hawser.github.com/spec/v1"
	return known && (bytes.HasPrefix(rest, []byte("oid sha256:")) || bytes.Contains(rest, []byte("\noid sha256:")))
}

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
