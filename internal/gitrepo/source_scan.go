package gitrepo

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// scan finds out which files of a work tree may differ from the last commit. It
// opens none of them but the files of ignore rules and attributes.
type scan struct {
	dirs      *dirs
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
			return fmt.Errorf("%w: directories that are not committed lie more than %d deep: %.300q", ErrTooLarge, maxDepth, s.pending[0])
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
	entries, err := s.dirs.list(dir, maxWorkFiles-s.names)
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
	info, err := s.dirs.lstat(name)
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
	data, err := s.dirs.read(name, maxRules)
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
	for text, names := range map[string][]string{
		"left out, as they are neither files nor links: ":                               s.special,
		"left out, as they are repositories of their own: ":                             s.nested,
		"submodules stay as they are committed: ":                                       s.modules,
		"left out, as their content passes a filter (Git LFS, say) that does not run: ": s.filtered,
	} {
		if len(names) > 0 {
			slices.Sort(names)
			notes = append(notes, text+quoteList(names))
		}
	}
	slices.Sort(notes)
	return notes
}
