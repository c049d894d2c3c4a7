package agentchanges

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/agent-airlock/airlock/internal/crash"
	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/text"
)

// scan finds out which files of a work tree may differ from the last commit, and copies the files
// that do differ. To find them, it opens only the files of ignore rules and attributes.
type scan struct {
	tree      *gitrepo.WorkTree
	others    []*gitrepo.WorkTree // the same directory, opened for other goroutines
	shadow    *shadow
	committed map[string]*stagedFile // of the last commit: see committedFiles
	index     *index
	exclude   map[string]bool // paths that stay as they are committed
	// keepFiltered is WorkspaceConfig.KeepFiltered.
	keepFiltered bool

	trackedDirs map[string]bool // directories with tracked files
	pending     []string        // directories that are still to be listed
	unknown     []unknownName   // names of this round that the ignore rules decide on
	count       atomic.Int64    // how many names there are in the directories that were listed
	present     map[string]bool // files and links that are neither tracked nor ignored
	kept        int             // how many committed files are in the index and the work tree
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
			dirs := s.pending
			s.pending = nil
			listed, err := s.list(ctx, dirs)
			if err != nil {
				return err
			}
			for i, dir := range dirs {
				if err := s.classify(dir, listed[i]); err != nil {
					return fmt.Errorf("%.300q: %w", path.Clean(dir), err)
				}
			}
		}
		if err := s.classifyUnknown(ctx); err != nil {
			return err
		}
	}
	slices.Sort(s.toRead)
	return nil
}

// list lists directories, several at the same time: it takes most of the scan's time, in
// the kernel.
func (s *scan) list(ctx context.Context, dirs []string) ([][]fs.DirEntry, error) {
	listed, errs := make([][]fs.DirEntry, len(dirs)), make([]error, len(dirs))
	var next atomic.Int64 // the index of the next directory
	each := func(tree *gitrepo.WorkTree) {
		for i := int(next.Add(1) - 1); i < len(dirs); i = int(next.Add(1) - 1) {
			if errs[i] = ctx.Err(); errs[i] != nil {
				return
			}
			listed[i], errs[i] = tree.List(dirs[i], maxWorkFiles-int(s.count.Load()))
			if s.count.Add(int64(len(listed[i]))) > maxWorkFiles || errors.Is(errs[i], gitrepo.ErrTooLarge) {
				errs[i] = fmt.Errorf("%w: there are more than %d files", gitrepo.ErrTooLarge, maxWorkFiles)
			}
			if errs[i] != nil {
				next.Store(int64(len(dirs))) // the other goroutines end, too
			}
		}
	}
	var group crash.Group
	for _, tree := range s.others[:min(len(s.others), len(dirs)-1)] {
		group.Go(func() { each(tree) })
	}
	each(s.tree)
	group.Wait()
	for i, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("%.300q: %w", path.Clean(dirs[i]), err)
		}
	}
	return listed, nil
}

// classify decides about each name in a directory: it is listed as a directory, compared as a
// tracked file, left to the ignore rules, or left out.
func (s *scan) classify(dir string, entries []fs.DirEntry) error {
	// Of another repository below this one, only tracked files count.
	nested := dir != "" && slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return isDotGit(e.Name()) })
	if nested {
		s.nested = append(s.nested, dir)
	}
	prefix := dir
	if dir != "" {
		prefix += "/"
	}
	for _, e := range entries {
		name := prefix + e.Name()
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
			staged.present = true
			if c := s.committed[name]; c == nil || c.oid != staged.oid {
				s.submodules = append(s.submodules, name)
			}
		case kind.IsDir() && s.trackedDirs[name]:
			s.pending = append(s.pending, name)
		case tracked && !kind.IsDir():
			staged.present = true
			if err := s.compare(name, staged, e); err != nil {
				return err
			}
		case !nested:
			s.unknown = append(s.unknown, unknownName{name, kind})
		}
	}
	return nil
}

// compare adds a tracked file to toRead if its content may differ from the committed content. It
// does not open the file.
func (s *scan) compare(name string, staged *stagedFile, e fs.DirEntry) error {
	if !e.Type().IsRegular() && e.Type() != fs.ModeSymlink {
		s.special = append(s.special, name)
		return nil
	}
	info, err := e.Info()
	if err != nil {
		return fmt.Errorf("%.300q: %w", name, err)
	}
	unchanged := s.index.unchanged(staged, info)
	staged.fresh = unchanged && info.Size() == int64(staged.size)
	c := s.committed[name]
	if c != nil {
		s.kept++
	}
	if c == nil || c.oid != staged.oid || c.mode != staged.mode || !unchanged {
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
	s.shadow.hasAttributes = s.shadow.hasAttributes || path.Base(name) == ".gitattributes"
	return s.shadow.write(name, data, 0o600)
}

// classifyUnknown asks the ignore rules about the unknown names of a round. Directories that are
// not ignored wait for the next round.
func (s *scan) classifyUnknown(ctx context.Context) error {
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

// removed lists the committed files that do not exist any more. A file that is excluded, or that
// a sparse checkout leaves out, does not count as removed. Neither does an absent submodule, which
// is noted instead.
func (s *scan) removed() []string {
	if s.kept == len(s.committed) {
		return nil
	}
	var removed []string
	for name := range s.committed {
		staged, tracked := s.index.files[name]
		switch {
		case tracked && staged.present, s.present[name]: // it exists
		case s.excluded(name), tracked && staged.skip, !tracked && s.sparse(name): // it may be absent
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

// sparse reports whether the name is in a directory that a sparse checkout leaves out.
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
		before := cmp.Or(s.committed[name], &stagedFile{}) // of no mode and id, if there is none
		if filters[name] != "" && mode != modeLink {
			if known := filtered(filters[name], data, before.oid); known != nil {
				data = known
			} else if !s.keepFiltered {
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

// filtered returns the content that git would commit of a file with a filter, or nil if that is not
// known without running the filter. committed is the id of the file in the last commit.
func filtered(filter string, data []byte, committed string) []byte {
	// Instead of a large file, Git LFS commits a pointer: a small file that begins like this.
	const head = "version https://git-lfs.github.com/spec/v1\n"
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

// isDotGit reports whether any file system takes a name for ".git". Git allows no such name in a
// tree.
func isDotGit(name string) bool {
	if name != "" && name[0] < 0x80 && !strings.ContainsRune(".gG", rune(name[0])) {
		return false // as nearly all are
	}
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
