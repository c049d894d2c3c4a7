package agentchanges

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/text"
)

// scan finds out which files of a work tree may differ from the last commit. It
// opens none of them but the files of ignore rules and attributes.
type scan struct {
	tree      *gitrepo.WorkTree
	shadow    *shadow
	committed map[string]committedFile
	index     *stagedFiles
	exclude   map[string]bool // paths that stay as they are committed

	inner   map[string]bool // directories with tracked files
	pending []string        // directories that are still to be listed
	unknown []unknownName   // of this round: what the ignore rules decide on
	names   int
	there   map[string]bool // tracked files, and others that count
	found   []string        // files and links that have to be read

	special, nested, modules, filtered []string // left out, for the notes
}

// unknownName is something in the work tree that git does not track.
type unknownName struct {
	name string
	kind fs.FileMode
}

// run lists the directories. Those that git does not track wait for the ignore
// rules of all that are above them, so that an ignored one is never opened.
func (s *scan) run(ctx context.Context) error {
	s.there, s.inner = map[string]bool{}, map[string]bool{"": true}
	for name := range s.index.files {
		s.addParents(name)
	}
	s.pending = []string{""}
	for round := 0; len(s.pending) > 0; round++ {
		if round > maxDepth {
			return fmt.Errorf("%w: directories that are not committed lie more than %d deep: %.300q", gitrepo.ErrTooLarge, maxDepth, s.pending[0])
		}
		s.unknown = nil
		for len(s.pending) > 0 {
			dir := s.pending[len(s.pending)-1]
			s.pending = s.pending[:len(s.pending)-1]
			if err := s.list(ctx, dir); err != nil {
				return fmt.Errorf("%.300q: %w", path.Clean(dir), err)
			}
		}
		if err := s.sift(ctx); err != nil {
			return err
		}
	}
	slices.Sort(s.found)
	return nil
}

func (s *scan) addParents(name string) {
	for dir := parent(name); !s.inner[dir]; dir = parent(dir) {
		s.inner[dir] = true
	}
}

// list looks at what is in a directory.
func (s *scan) list(ctx context.Context, dir string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	entries, err := s.tree.List(dir, maxWorkFiles-s.names)
	if errors.Is(err, gitrepo.ErrTooLarge) {
		return fmt.Errorf("%w: there are more than %d files", gitrepo.ErrTooLarge, maxWorkFiles)
	}
	if err != nil {
		return err
	}
	s.names += len(entries)
	nested := dir != "" && slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return isDotGit(e.Name()) })
	if nested {
		s.nested = append(s.nested, dir)
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		if isDotGit(e.Name()) || s.exclude[name] {
			if dir == "" && e.Name() != ".git" && !s.exclude[name] {
				s.nested = append(s.nested, name)
			}
			continue
		}
		if e.Name() == ".gitignore" || e.Name() == ".gitattributes" {
			if err := s.rules(name, e.Type()); err != nil {
				return err
			}
		}
		staged, tracked := s.index.files[name]
		switch kind := e.Type(); {
		case kind.IsDir() && tracked && staged.mode == indexGitlink:
			s.there[name] = true
			if staged.oid != s.committed[name].oid {
				s.modules = append(s.modules, name)
			}
		case kind.IsDir() && s.inner[name]:
			s.pending = append(s.pending, name)
		case tracked && !kind.IsDir():
			s.there[name] = true
			if err := s.look(name, staged, kind); err != nil {
				return err
			}
		case !nested:
			s.unknown = append(s.unknown, unknownName{name, kind})
		}
	}
	return nil
}

// look compares a tracked file with what the index knows of it.
func (s *scan) look(name string, staged stagedFile, kind fs.FileMode) error {
	if !kind.IsRegular() && kind != fs.ModeSymlink {
		s.special = append(s.special, name)
		return nil
	}
	info, err := s.tree.Lstat(name)
	if err != nil {
		return fmt.Errorf("%.300q: %w", name, err)
	}
	if c := s.committed[name]; c.oid != staged.oid || c.mode != staged.mode || !s.index.fresh(staged, info) {
		s.found = append(s.found, name)
	}
	return nil
}

// rules copies a file of rules to the shadow. As in git, a link is none.
func (s *scan) rules(name string, kind fs.FileMode) error {
	if !kind.IsRegular() {
		return nil
	}
	data, err := s.tree.Read(name, maxRules)
	if err != nil {
		return fmt.Errorf("%.300q: %w", name, err)
	}
	return s.shadow.write(name, data, 0o600)
}

// sift asks the ignore rules about the names of a round.
func (s *scan) sift(ctx context.Context) error {
	var names []string
	for _, u := range s.unknown {
		if u.kind.IsDir() { // rules can tell directories from files
			if err := s.shadow.mkdir(u.name); err != nil {
				return err
			}
		}
		names = append(names, u.name)
	}
	ignored, err := s.shadow.ignored(ctx, names)
	if err != nil {
		return err
	}
	for _, u := range s.unknown {
		switch {
		case ignored[u.name]:
		case u.kind.IsDir():
			s.pending = append(s.pending, u.name)
		case !u.kind.IsRegular() && u.kind != fs.ModeSymlink:
			s.special = append(s.special, u.name)
		default:
			s.there[u.name] = true
			s.found = append(s.found, u.name)
		}
	}
	return nil
}

// removed lists the committed files that are no longer there. What a sparse
// checkout leaves out and submodules are not removed by being absent.
func (s *scan) removed() []string {
	var gone []string
	for name := range s.committed {
		staged, tracked := s.index.files[name]
		switch {
		case s.there[name], s.excluded(name), tracked && staged.skip, !tracked && s.sparse(name):
		case tracked && staged.mode == indexGitlink:
			s.modules = append(s.modules, name)
		default:
			gone = append(gone, name)
		}
	}
	return gone
}

// excluded reports whether the name, or a directory that it is in, is excluded.
func (s *scan) excluded(name string) bool {
	for ; name != ""; name = parent(name) {
		if s.exclude[name] {
			return true
		}
	}
	return false
}

func (s *scan) sparse(name string) bool {
	return slices.ContainsFunc(s.index.dirs, func(dir string) bool { return strings.HasPrefix(name, dir) })
}

// notes says what was left out.
func (s *scan) notes() []string {
	var notes []string
	for note, names := range map[string][]string{
		"left out, as they are neither files nor links: ":                               s.special,
		"left out, as they are repositories of their own: ":                             s.nested,
		"submodules stay as they are committed: ":                                       s.modules,
		"left out, as their content passes a filter (Git LFS, say) that does not run: ": s.filtered,
	} {
		if len(names) > 0 {
			slices.Sort(names)
			notes = append(notes, note+text.QuoteList(names))
		}
	}
	slices.Sort(notes)
	return notes
}

// pointerHead begins the small file that Git LFS commits for a large one.
const pointerHead = "version https://git-lfs.github.com/spec/v1\n"

// read reads the files that may differ from the last commit. Those that do it
// puts into the shadow, and returns their names.
func (s *scan) read(ctx context.Context) (put []string, err error) {
	filters, err := s.shadow.filters(ctx, s.found)
	if err != nil {
		return nil, err
	}
	total := 0
	for _, name := range s.found {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		data, mode, err := readContent(s.tree, name)
		if err != nil {
			return nil, fmt.Errorf("%.300q: %w", name, err)
		}
		before := s.committed[name]
		if filters[name] != "" && mode != indexLink {
			if data = s.cleaned(name, filters[name], data); data == nil {
				s.filtered = append(s.filtered, name)
				continue
			}
		}
		if before.mode == mode && gitrepo.IsBlob(before.oid, data) {
			continue
		}
		if total += len(data); total > maxWorkBytes {
			return nil, fmt.Errorf("%w: the changed files have more than %s together", gitrepo.ErrTooLarge, text.Bytes(maxWorkBytes))
		}
		if err := s.put(name, mode, data); err != nil {
			return nil, err
		}
		put = append(put, name)
	}
	return put, nil
}

// cleaned is what a filter makes of a file, as far as that is known without it:
// a file that was not changed is what is committed. Otherwise it is nil.
func (s *scan) cleaned(name, filter string, data []byte) []byte {
	committed := s.committed[name].oid
	pointer := []byte(pointerTo(data))
	switch {
	case gitrepo.IsBlob(committed, data), filter == "lfs" && isPointer(data):
		return data
	case filter == "lfs" && gitrepo.IsBlob(committed, pointer):
		return pointer
	}
	return nil
}

func (s *scan) put(name string, mode uint32, data []byte) error {
	switch mode {
	case indexLink:
		return s.shadow.link(name, string(data))
	case indexExec:
		return s.shadow.write(name, data, 0o700)
	}
	return s.shadow.write(name, data, 0o600)
}

// isPointer reports whether the text is what Git LFS commits.
func isPointer(data []byte) bool {
	return len(data) < 1024 && strings.HasPrefix(string(data), pointerHead)
}

// pointerTo is what Git LFS commits for a file.
func pointerTo(data []byte) string {
	return fmt.Sprintf("%soid sha256:%x\nsize %d\n", pointerHead, sha256.Sum256(data), len(data))
}

// readContent reads a file, or the target of a link, and its mode.
func readContent(tree *gitrepo.WorkTree, name string) (data []byte, mode uint32, err error) {
	info, err := tree.Lstat(name)
	if err != nil {
		return nil, 0, err
	}
	if info.Mode().Type() == fs.ModeSymlink {
		target, err := tree.Link(name)
		return []byte(target), indexLink, err
	}
	data, err = tree.Read(name, maxWorkFile)
	return data, gitMode(info), err
}

// isDotGit reports whether some file system takes a name for ".git": git lets no
// tree have one.
func isDotGit(name string) bool {
	name, _, _ = strings.Cut(name, ":") // NTFS: a stream of the file
	name = strings.Map(func(r rune) rune {
		switch { // HFS+: passed over in names
		case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
			return -1
		}
		return r
	}, name)
	name = strings.ToLower(strings.TrimRight(name, " ."))
	return name == ".git" || name == "git~1"
}

// parent is the directory that a path is in, "" for the top.
func parent(name string) string {
	i := strings.LastIndexByte(name, '/')
	if i < 0 {
		return ""
	}
	return name[:i]
}
