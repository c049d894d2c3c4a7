package gitrepo

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// The modes of a tree's entries, as git writes them.
const (
	modeDir       = "040000"
	modeFile      = "100644"
	modeExec      = "100755"
	modeLink      = "120000"
	modeSubmodule = "160000"
)

// Limits of the new contents that are read to describe a change, in bytes.
const (
	maxLink       = 4096
	maxLFSPointer = 1024
)

// Limits of the walks of one call: small trees can stand for more paths than there is memory.
const (
	maxTreeBytes = 256 << 20 // of all paths and their overheads: about a million paths
	pathOverhead = 200       // added to the length of each path
)

// File is a file of a commit.
type File struct {
	Data []byte
	Mode string // git's, of six digits; also of a link or a submodule; "" if nothing is there
	// Err is set instead if the file cannot be returned, for example because it does not exist
	// (fs.ErrNotExist), is too large (ErrTooLarge), or is a directory, a link or a submodule.
	Err error
}

// TreeChange is one path at which a tree differs from another. A rename is two of them.
type TreeChange struct {
	Path             string // as git stores it: any bytes but NUL
	OldMode, NewMode string // git's modes of six digits, "" if nothing is there
	OldOID, NewOID   string
	Size             int64  // of the new content, in bytes
	Link             string // what a new link points to
	LFS              bool   // the new content is a Git LFS pointer
}

// File reads one file of a commit; see Files.
func (r *Repo) File(ctx context.Context, commit, path string, limit int64) ([]byte, error) {
	files, err := r.Files(ctx, commit, []string{path}, limit)
	if err != nil {
		return nil, err
	}
	return files[path].Data, files[path].Err
}

// Files reads files of a commit, each of at most limit bytes. Every object on the way from
// the commit's id to a file is hashed, so replaced objects in the clone lead to an error,
// never to other contents. For all paths together, git is asked once or twice for each level of
// directories; it is not asked for directories that have been read before.
func (r *Repo) Files(ctx context.Context, commit string, paths []string, limit int64) (map[string]File, error) {
	c, err := r.Commit(ctx, commit)
	if err != nil {
		return nil, err
	}
	files := make(map[string]File, len(paths))
	steps := map[string]step{}
	for _, p := range paths {
		if !fs.ValidPath(p) || p == "." {
			files[p] = File{Err: fmt.Errorf("%q is not a path of a repository: %w", p, fs.ErrInvalid)}
			continue
		}
		steps[p] = step{oid: c.Tree, rest: p}
	}
	for len(steps) > 0 {
		var oids []string
		for _, s := range steps {
			oids = append(oids, s.oid)
		}
		objects, err := r.read(ctx, unique(oids), limit)
		if err != nil {
			return nil, err
		}
		for p, s := range steps {
			o := objects[s.oid]
			switch {
			case o.kind == "" && o.err == nil:
				return nil, fmt.Errorf("git cat-file left out %s", s.oid)
			case o.err != nil:
				files[p] = File{Mode: s.mode, Err: fmt.Errorf("%s: %w", p, o.err)}
			case s.rest == "" && o.kind == "blob":
				files[p] = File{Data: o.data, Mode: s.mode}
			case s.rest == "":
				files[p] = File{Mode: modeDir, Err: fmt.Errorf("%s is a directory in commit %s", p, commit)}
			default:
				next, err := s.next(o.data)
				if err == nil {
					steps[p] = next
					continue
				}
				files[p] = File{Mode: next.mode, Err: fmt.Errorf("%s in commit %s: %w", p, commit, err)}
			}
			delete(steps, p)
		}
	}
	return files, nil
}

// step is how far a path has been followed: the object that has been reached, the rest of the path,
// and the object's mode if nothing of the path is left.
type step struct{ oid, rest, mode string }

// next follows the next element of the path through a tree. If the path ends at a link or a
// submodule, the result contains its mode in addition to the error.
func (s step) next(tree []byte) (step, error) {
	name, rest, _ := strings.Cut(s.rest, "/")
	e, err := lookup(tree, name, len(s.oid)/2)
	if err != nil {
		return step{}, err
	}
	next := step{oid: e.oid, rest: rest}
	if rest == "" {
		next.mode = e.mode
	}
	switch {
	case e.mode == modeLink:
		return step{mode: next.mode}, errors.New("a link is not followed")
	case e.mode == modeSubmodule:
		return step{mode: next.mode}, errors.New("a submodule is not followed")
	case rest != "" && e.mode != modeDir:
		return step{}, fs.ErrNotExist
	}
	return next, nil
}

// TreeID returns the id of the tree of a commit, or of a tree itself. The commit is not
// checked against its id.
func (r *Repo) TreeID(ctx context.Context, commitOrTree string) (string, error) {
	if !IsObjectID(commitOrTree) {
		return "", fmt.Errorf("%q is not a full object id", commitOrTree)
	}
	var tree header
	if err := r.inspect(ctx, []string{commitOrTree + "^{tree}"}, func(h header) { tree = h }); err != nil {
		return "", err
	}
	if tree.kind != "tree" {
		return "", fmt.Errorf("the repository has no tree of %s%s", commitOrTree, damageHint)
	}
	return tree.oid, nil
}

// TreeChanges lists every path at which two commits (or trees) differ, by path. If from is "", it
// is the empty tree. The trees are checked against their ids, so the list shows what a server will
// see, whatever somebody has done to the clone.
func (r *Repo) TreeChanges(ctx context.Context, from, to string) ([]TreeChange, error) {
	changes, err := r.SeriesChanges(ctx, from, to)
	if err != nil {
		return nil, err
	}
	return changes[0], nil
}

// maxPairs is how many pairs of trees are compared at once.
const maxPairs = 32

// SeriesChanges does what TreeChanges does for each pair of neighbours in a list of commits (or
// trees), and asks git few questions for all of them together. All pairs together may have about a
// million changes: more are ErrTooLarge.
func (r *Repo) SeriesChanges(ctx context.Context, commits ...string) ([][]TreeChange, error) {
	trees, err := r.verifiedTrees(ctx, commits)
	if err != nil {
		return nil, err
	}
	all := make([][]TreeChange, len(trees)-1)
	left := maxTreeBytes
	for first := 0; first < len(all); first += maxPairs {
		var pairs []treePair
		for i := first; i < min(first+maxPairs, len(all)); i++ {
			if trees[i] != trees[i+1] {
				pairs = append(pairs, treePair{step: i, from: trees[i], to: trees[i+1]})
			}
		}
		var changes []TreeChange
		var steps []int
		err := r.walkTrees(ctx, pairs, &left, func(step int, path string, old, new entry) {
			changes = append(changes, TreeChange{Path: path, OldMode: old.mode, OldOID: old.oid, NewMode: new.mode, NewOID: new.oid})
			steps = append(steps, step)
		})
		if err != nil {
			return nil, err
		}
		if err := r.describe(ctx, changes); err != nil {
			return nil, err
		}
		for i, c := range changes {
			all[steps[i]] = append(all[steps[i]], c)
		}
	}
	for _, changes := range all {
		slices.SortFunc(changes, func(x, y TreeChange) int { return cmp.Compare(x.Path, y.Path) })
	}
	return all, nil
}

// TreePaths lists the paths of all files, links and submodules of a commit (or tree), sorted, and
// the targets of its links by their paths. It leaves out targets of more than 4,096 bytes, which no
// system follows. The trees are checked against their ids.
func (r *Repo) TreePaths(ctx context.Context, commit string) (paths []string, links map[string]string, err error) {
	tree, err := r.verifiedTree(ctx, commit)
	if err != nil {
		return nil, nil, err
	}
	targets := map[string]string{} // the ids of the links' contents
	left := maxTreeBytes
	err = r.walkTrees(ctx, []treePair{{to: tree}}, &left, func(_ int, path string, _, new entry) {
		paths = append(paths, path)
		if new.mode == modeLink {
			targets[path] = new.oid
		}
	})
	if err != nil {
		return nil, nil, err
	}
	slices.Sort(paths)
	contents, err := r.read(ctx, unique(slices.Collect(maps.Values(targets))), maxLink)
	if err != nil {
		return nil, nil, err
	}
	links = make(map[string]string, len(targets))
	for path, oid := range targets {
		switch o := contents[oid]; {
		case errors.Is(o.err, ErrTooLarge):
		case o.err != nil:
			return nil, nil, fmt.Errorf("the link %q: %w", path, o.err)
		default:
			links[path] = string(o.data)
		}
	}
	return paths, links, nil
}

// verifiedTree returns the id of the tree of a commit, or of a tree itself, after checking
// the object against its id.
func (r *Repo) verifiedTree(ctx context.Context, oid string) (string, error) {
	trees, err := r.verifiedTrees(ctx, []string{oid})
	if err != nil {
		return "", err
	}
	return trees[0], nil
}

// verifiedTrees does what verifiedTree does for many commits or trees. "" stays "": the empty tree.
func (r *Repo) verifiedTrees(ctx context.Context, oids []string) ([]string, error) {
	const atOnce = 1000 // bounds what is read at once: an agent may have written long messages
	trees := make([]string, len(oids))
	for first := 0; first < len(oids); first += atOnce {
		part := oids[first:min(first+atOnce, len(oids))]
		var wanted []string
		for _, oid := range part {
			if oid == "" {
				continue
			}
			if !IsObjectID(oid) {
				return nil, fmt.Errorf("%q is not a full object id", oid)
			}
			wanted = append(wanted, oid)
		}
		objects, err := r.read(ctx, unique(wanted), maxObjects)
		if err != nil {
			return nil, err
		}
		for i, oid := range part {
			if oid == "" {
				continue
			}
			switch o := objects[oid]; {
			case o.err != nil:
				return nil, fmt.Errorf("%w: %s%s: %s", ErrMissing, oid, r.WhyMissing(), deepen)
			case o.kind == "tree":
				trees[first+i] = oid
			case o.kind == "commit":
				c, err := parseCommit(string(o.data))
				if err != nil {
					return nil, fmt.Errorf("commit %s: %w", oid, err)
				}
				trees[first+i] = c.Tree
			default:
				return nil, fmt.Errorf("the object %s is not a commit", oid)
			}
		}
	}
	return trees, nil
}

// describe sets Size, Link and LFS, which depend on the new contents.
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
	sizes := make(map[string]int64, len(oids))
	missing := ""
	err := r.inspect(ctx, oids, func(h header) {
		if h.kind != "blob" {
			missing = h.oid
		}
		sizes[h.oid] = h.size
	})
	if err == nil && missing != "" {
		err = fmt.Errorf("the content of a file is missing%s: %s", r.WhyMissing(), missing)
	}
	return sizes, err
}

func isFileMode(mode string) bool { return mode == modeFile || mode == modeExec }

// isLFSPointer reports whether data is a Git LFS pointer.
func isLFSPointer(data []byte) bool {
	head, rest, _ := bytes.Cut(data, []byte{'\n'})
	known := string(head) == "version https://git-lfs.github.com/spec/v1" || string(head) == "version https://hawser.github.com/spec/v1"
	return known && (bytes.HasPrefix(rest, []byte("oid sha256:")) || bytes.Contains(rest, []byte("\noid sha256:")))
}

// entry is what a tree has under a name.
type entry struct{ mode, oid string }

// treePair is a directory in two trees that are compared.
type treePair struct {
	step     int    // the index of the comparison, for the caller of walkTrees
	path     string // "", or a path that ends with a slash
	from, to string // ids; "" for a tree that has no directory there
}

// walkTrees calls differs for each path at which the two trees of a pair differ, if at least one
// tree has something other than a directory there. A zero entry stands for nothing, or for a
// directory. Every tree that is read is checked against its id; equal trees are not read. The sizes
// of the paths are subtracted from bytesLeft.
func (r *Repo) walkTrees(ctx context.Context, level []treePair, bytesLeft *int, differs func(step int, path string, from, to entry)) error {
	for len(level) > 0 {
		var oids []string
		for _, p := range level {
			for _, oid := range []string{p.from, p.to} {
				if oid != "" {
					oids = append(oids, oid)
				}
			}
		}
		oids = unique(oids)
		objects, err := r.read(ctx, oids, maxObjects)
		if err != nil {
			return err
		}
		trees := map[string]map[string]entry{}
		for _, oid := range oids {
			if trees[oid], err = parseTree(oid, objects[oid]); err != nil {
				return err
			}
		}
		var next []treePair
		for _, p := range level {
			for d := range differences(trees[p.from], trees[p.to]) {
				path := p.path + d.name
				if *bytesLeft -= len(path) + pathOverhead; *bytesLeft < 0 {
					return fmt.Errorf("%w: the tree has too many paths, about a million are read", ErrTooLarge)
				}
				below := treePair{step: p.step, path: path + "/"}
				if d.from.mode == modeDir {
					below.from, d.from = d.from.oid, entry{}
				}
				if d.to.mode == modeDir {
					below.to, d.to = d.to.oid, entry{}
				}
				if below.from != below.to {
					next = append(next, below)
				}
				if d.from != d.to {
					differs(p.step, path, d.from, d.to)
				}
			}
		}
		level = next
	}
	return nil
}

// difference is a name under which two trees have different entries; one of them may be zero.
type difference struct {
	name     string
	from, to entry
}

// differences compares two trees. The differences are in no order.
func differences(from, to map[string]entry) iter.Seq[difference] {
	return func(yield func(difference) bool) {
		for name, old := range from {
			if old != to[name] && !yield(difference{name, old, to[name]}) {
				return
			}
		}
		for name, new := range to {
			if _, both := from[name]; !both && !yield(difference{name, entry{}, new}) {
				return
			}
		}
	}
}

// parseTree returns what a tree contains, by name.
func parseTree(oid string, o object) (map[string]entry, error) {
	if o.err != nil {
		return nil, o.err
	}
	entries := make(map[string]entry, len(o.data)/40)
	for data := o.data; len(data) > 0; {
		mode, name, id, rest, ok := cutEntry(data, len(oid)/2)
		if !ok || o.kind != "tree" {
			return nil, fmt.Errorf("the object %s cannot be read as a tree", oid)
		}
		e, err := newEntry(mode, id)
		if err != nil {
			return nil, fmt.Errorf("the tree %s: %q: %w", oid, name, err)
		}
		if _, twice := entries[string(name)]; twice || len(name) == 0 || string(name) == "." || string(name) == ".." || bytes.ContainsRune(name, '/') {
			return nil, fmt.Errorf("the tree %s is broken: the name %q is invalid or a duplicate", oid, name)
		}
		entries[string(name)] = e
		data = rest
	}
	return entries, nil
}

// lookup finds an entry of a tree by its name. Without one, the error is fs.ErrNotExist.
func lookup(tree []byte, wanted string, idLen int) (entry, error) {
	for len(tree) > 0 {
		mode, name, id, rest, ok := cutEntry(tree, idLen)
		if !ok {
			return entry{}, errors.New("the tree cannot be read")
		}
		if string(name) == wanted {
			return newEntry(mode, id)
		}
		tree = rest
	}
	return entry{}, fs.ErrNotExist
}

// cutEntry cuts off the first entry of a tree: "<mode> <name>\x00<id>", with an id of idLen
// bytes.
func cutEntry(tree []byte, idLen int) (mode, name, id, rest []byte, ok bool) {
	head, rest, ok := bytes.Cut(tree, []byte{0})
	mode, name, ok2 := bytes.Cut(head, []byte{' '})
	if !ok || !ok2 || len(rest) < idLen {
		return nil, nil, nil, nil, false
	}
	return mode, name, rest[:idLen], rest[idLen:], true
}

func newEntry(mode, id []byte) (entry, error) {
	bits, err := strconv.ParseUint(string(mode), 8, 32)
	if err != nil {
		return entry{}, fmt.Errorf("the mode %.20q is invalid", mode)
	}
	return entry{canonicalMode(bits), hex.EncodeToString(id)}, nil
}

// canonicalMode returns the mode as which git treats an entry with these bits.
func canonicalMode(bits uint64) string {
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
