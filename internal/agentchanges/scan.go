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

// scan finds out which files of a work tree may differ from the last commit, and copies
// those that do. Finding them opens only the files of ignore rules and attributes.
type scan struct {
	tree      *gitrepo.WorkTree
	shadow    *shadow
	committed map[string]committedFile
	index     *index
	exclude   map[string]bool // paths that stay as they are committed

	trackedDirs map[string]bool // directories with tracked files
	pending     []string        // directories that are still to be listed
	unknown     []unknownName   // names of this round that the ignore rules decide on
	count       int             // of names
	present     map[string]bool // tracked files that exist, and others that count
	toRead      []string        // files and links that have to be read

	special, nested, submodules, filtered []string // what is left out, for the notes
}

// unknownName is something in the work tree that git does not track.
type unknownName struct {
	name string
	kind fs.FileMode
}

// run lists the directories in rounds. A directory that git does not track waits until the
// ignore rules of all directories above it are known, so that an ignored one is never
// opened.
func (s *scan) run(ctx context.Context) error {
	s.present, s.trackedDirs = map[string]bool{}, map[string]bool{"": true}
	for name := range s.index.files {
		for dir := parent(name); !s.trackedDirs[dir]; dir = parent(dir) {
			s.trackedDirs[dir] = true
		}
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
		if err := s.sortUnknown(ctx); err != nil {
			return err
		}
	}
	slices.Sort(s.toRead)
	return nil
}

// list sorts what is in a directory into what is tracked and what is unknown.
func (s *scan) list(ctx context.Context, dir string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	entries, err := s.tree.List(dir, maxWorkFiles-s.count)
	if errors.Is(err, gitrepo.ErrTooLarge) {
		return fmt.Errorf("%w: there are more than %d files", gitrepo.ErrTooLarge, maxWorkFiles)
	}
	if err != nil {
		return err
	}
	s.count += len(entries)
	nested := dir != "" && slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return isDotGit(e.Name()) })
	if nested {
		s.nested = append(s.nested, dir)
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		if s.exclude[name] {
			continue
		}
		if isDotGit(e.Name()) {
			if dir == "" && e.Name() != ".git" {
				s.nested = append(s.nested, name)
			}
			continue
		}
		if e.Name() == ".gitignore" || e.Name() == ".gitattributes" {
			if err := s.copyRules(name, e.Type()); err != nil {
				return err
			}
		}
		staged, tracked := s.index.files[name]
		switch kind := e.Type(); {
		case kind.IsDir() && tracked && staged.mode == modeSubmodule:
			s.present[name] = true
			if staged.oid != s.committed[name].oid {
				s.submodules = append(s.submodules, name)
			}
		case kind.IsDir() && s.trackedDirs[name]:
			s.pending = append(s.pending, name)
		case tracked && !kind.IsDir():
			s.present[name] = true
			if err := s.compare(name, staged, e); err != nil {
				return err
			}
		case !nested:
			s.unknown = append(s.unknown, unknownName{name, kind})
		}
	}
	return nil
}

// compare compares a tracked file with what the index has of it. Listing the directory has
// found out what is needed of each file already.
func (s *scan) compare(name string, staged stagedFile, e fs.DirEntry) error {
	if !e.Type().IsRegular() && e.Type() != fs.ModeSymlink {
		s.special = append(s.special, name)
		return nil
	}
	info, err := e.Info()
	if err != nil {
		return fmt.Errorf("%.300q: %w", name, err)
	}
	if c := s.committed[name]; c.oid != staged.oid || c.mode != staged.mode || !s.index.unchanged(staged, info) {
		s.toRead = append(s.toRead, name)
	}
	return nil
}

// copyRules copies a file of ignore rules or attributes to the shadow. As in git, a link does
// not count.
func (s *scan) copyRules(name string, kind fs.FileMode) error {
	if !kind.IsRegular() {
		return nil
	}
	data, err := s.tree.Read(name, maxRules)
	if err != nil {
		return fmt.Errorf("%.300q: %w", name, err)
	}
	return s.shadow.write(name, data, 0o600)
}

// sortUnknown asks the ignore rules about the unknown names of a round.
func (s *scan) sortUnknown(ctx context.Context) error {
	var names []string
	for _, u := range s.unknown {
		if u.kind.IsDir() { // rules can distinguish directories from files
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
			s.present[u.name] = true
			s.toRead = append(s.toRead, u.name)
		}
	}
	return nil
}

// removed lists the committed files that do not exist any more. What a sparse checkout
// leaves out, and submodules, may be absent without having been removed.
func (s *scan) removed() []string {
	var removed []string
	for name := range s.committed {
		staged, tracked := s.index.files[name]
		switch {
		case s.present[name], s.excluded(name), tracked && staged.skip, !tracked && s.sparse(name):
		case tracked && staged.mode == modeSubmodule:
			s.submodules = append(s.submodules, name)
		default:
			removed = append(removed, name)
		}
	}
	return removed
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
	return slices.ContainsFunc(s.index.sparseDirs, func(dir string) bool { return strings.HasPrefix(name, dir) })
}

// notes describes what was left out.
func (s *scan) notes() []string {
	var notes []string
	for _, left := range []struct {
		why   string
		names []string
	}{
		{"left out, as their content passes a filter (Git LFS, say) that does not run: ", s.filtered},
		{"left out, as they are neither files nor links: ", s.special},
		{"left out, as they are repositories of their own: ", s.nested},
		{"submodules stay as they are committed: ", s.submodules},
	} {
		if len(left.names) > 0 {
			slices.Sort(left.names)
			notes = append(notes, left.why+text.QuoteList(left.names))
		}
	}
	return notes
}

// copyChanged reads the files that may differ from the last commit, copies those that do to
// the shadow, and returns their names.
func (s *scan) copyChanged(ctx context.Context) (changed []string, err error) {
	filters, err := s.shadow.filters(ctx, s.toRead)
	if err != nil {
		return nil, err
	}
	total := 0
	for _, name := range s.toRead {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		data, mode, err := s.content(name)
		if err != nil {
			return nil, fmt.Errorf("%.300q: %w", name, err)
		}
		before := s.committed[name]
		if filters[name] != "" && mode != modeLink {
			if data = filtered(filters[name], data, before.oid); data == nil {
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
		switch mode {
		case modeLink:
			err = s.shadow.link(name, string(data))
		case modeExec:
			err = s.shadow.write(name, data, 0o700)
		default:
			err = s.shadow.write(name, data, 0o600)
		}
		if err != nil {
			return nil, err
		}
		changed = append(changed, name)
	}
	return changed, nil
}

// content reads a file, or the target of a link, and returns it with git's mode.
func (s *scan) content(name string) (data []byte, mode uint32, err error) {
	info, err := s.tree.Lstat(name)
	if err != nil {
		return nil, 0, err
	}
	mode = gitMode(info)
	if mode == modeLink {
		target, err := s.tree.Link(name)
		return []byte(target), mode, err
	}
	data, err = s.tree.Read(name, maxWorkFile)
	return data, mode, err
}

// filtered returns what a filter makes of a file, as far as this is known without running
// it: a file that was not changed becomes what is committed. Otherwise it returns nil.
func filtered(filter string, data []byte, committed string) []byte {
	const head = "version https://git-lfs.github.com/spec/v1\n" // of the small file that Git LFS commits instead of a large one
	pointer := fmt.Appendf(nil, "%soid sha256:%x\nsize %d\n", head, sha256.Sum256(data), len(data))
	switch {
	case gitrepo.IsBlob(committed, data):
		return data
	case filter == "lfs" && len(data) < 1024 && strings.HasPrefix(string(data), head): // a pointer itself
		return data
	case filter == "lfs" && gitrepo.IsBlob(committed, pointer):
		return pointer
	}
	return nil
}

// isDotGit reports whether any file system takes a name for ".git", which git allows in no
// tree.
func isDotGit(name string) bool {
	name, _, _ = strings.Cut(name, ":") // NTFS: a stream of the file
	name = strings.Map(func(r rune) rune {
		switch { // HFS+ ignores these in names
		case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
			return -1
		}
		return r
	}, name)
	name = strings.ToLower(strings.TrimRight(name, " ."))
	return name == ".git" || name == "git~1"
}

// parent returns the directory that a path is in, "" for the top.
func parent(name string) string {
	return name[:max(strings.LastIndexByte(name, '/'), 0)]
}
