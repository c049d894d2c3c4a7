package changes

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"sort"
	"strings"

	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/text"
)

// File is a changed file as it is at the head.
type File struct {
	ChangedFile
	Mode     string // git's, of six digits; "" where it is not known, and of a deleted file
	Size     int64  // of the content in bytes; -1 where it is not known
	Language string // see LanguageOf; "" for all others
	// Changed holds the lines of the new file that the change added or rewrote, in
	// order. With AllChanged, where no diff tells them, every line counts.
	Changed    []Span
	AllChanged bool
	Marks      []Marked
	// Text is the content of a file without a hard mark: UTF-8 without NUL, with
	// U+FFFD for what is none. Of every other file, and of an empty one, it is nil.
	Text []byte
}

// ChangedLine reports whether a line, counted from 1, is one that the change
// added or rewrote.
func (f *File) ChangedLine(line int) bool {
	if f.AllChanged {
		return line > 0
	}
	i := sort.Search(len(f.Changed), func(i int) bool { return f.Changed[i].Last >= line })
	return i < len(f.Changed) && f.Changed[i].Contains(line)
}

// Marked returns the file's mark of that kind.
func (f *File) Marked(m Mark) (Marked, bool) {
	i := slices.IndexFunc(f.Marks, func(x Marked) bool { return x.Mark == m })
	if i < 0 {
		return Marked{}, false
	}
	return f.Marks[i], true
}

// Skip returns the mark for which the file is skipped: the hard one, for which it
// has no text, or else the first of the soft marks that the caller skips too.
func (f *File) Skip(soft ...Mark) (Marked, bool) {
	for _, m := range f.Marks {
		if m.Mark.Hard() {
			return m, true
		}
	}
	for _, s := range soft {
		if m, ok := f.Marked(s); ok {
			return m, true
		}
	}
	return Marked{}, false
}

func (f *File) mark(m Mark, why string) { f.Marks = append(f.Marks, Marked{m, why}) }

// Set is what a pull request changes.
type Set struct {
	Files []File // by path
	// Base is the commit that the diff starts from, "" where there is none; Head
	// the commit of the texts, "" where they are those of a work tree.
	Base, Head string
	// Missing counts the changed files that the list does not hold, since GitHub's
	// API names no more than 3,000: only git can list them all.
	Missing int
	// Notes say in whole sentences what a reader of the result must know.
	Notes []string

	listed bool // the user names the files
}

// Skipped is a file that nobody looks at, and why.
type Skipped struct {
	Path   string
	Mark   Mark
	Reason string
}

// Split parts the files into those to look at and those to skip: all with a hard
// mark, and those with one of the soft marks given. Both are in the order of the
// paths. The kept files point into s.
func (s *Set) Split(soft ...Mark) (kept []*File, skipped []Skipped) {
	for i := range s.Files {
		f := &s.Files[i]
		if m, ok := f.Skip(soft...); ok {
			skipped = append(skipped, Skipped{f.Path, m.Mark, m.Why})
			continue
		}
		kept = append(kept, f)
	}
	return kept, skipped
}

// OfLanguage returns the paths of the files in a language that have a text: those
// that a tool can be given. A path may begin with "-": put "./" before it where it
// becomes an argument.
func (s *Set) OfLanguage(language string) []string {
	var paths []string
	for i := range s.Files {
		f := &s.Files[i]
		if _, skip := f.Skip(); !skip && f.Language == language {
			paths = append(paths, f.Path)
		}
	}
	return paths
}

func (s *Set) sort() {
	slices.SortStableFunc(s.Files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
}

// Options limit what is read. The zero value takes the defaults.
type Options struct {
	MaxFile  int64 // bytes of one file; 0: 1 MiB. A larger one has no text
	MaxTotal int64 // bytes of all texts together; 0: 64 MiB. Files after that have none
}

// batchBytes is how much one question for contents may bring.
const batchBytes = 128 << 20

func (o Options) withDefaults() Options {
	if o.MaxFile <= 0 {
		o.MaxFile = 1 << 20
	}
	o.MaxFile = min(o.MaxFile, batchBytes)
	if o.MaxTotal <= 0 {
		o.MaxTotal = 64 << 20
	}
	return o
}

// fill reads the texts of the set's files from head, and marks each file. The
// attributes are read from where rules says. It ends with the files in order.
func (s *Set) fill(ctx context.Context, head, rules Contents, opt Options) error {
	opt = opt.withDefaults()
	s.sort()
	said, err := s.readRules(ctx, rules)
	if err != nil {
		return err
	}
	var todo []*File
	for i := range s.Files {
		f := &s.Files[i]
		if f.Status == Deleted {
			f.mark(MarkDeleted, s.gone())
			continue
		}
		todo = append(todo, f)
	}
	room := opt.MaxTotal
	for batch := range slices.Chunk(todo, int(max(1, min(512, batchBytes/opt.MaxFile)))) {
		if room < 0 {
			for _, f := range batch {
				f.markTotal(opt)
			}
			continue
		}
		contents, err := head.Read(ctx, pathsOf(batch), opt.MaxFile)
		if err != nil {
			return fmt.Errorf("reading the changed files: %w", err)
		}
		for _, f := range batch {
			f.take(contents[f.Path], opt, &room)
		}
	}
	for i := range s.Files {
		if err := ctx.Err(); err != nil { // many long patterns take seconds
			return err
		}
		f := &s.Files[i]
		f.Language = LanguageOf(f.Path, f.Text)
		f.markOrigin(said.of(f.Path))
	}
	return nil
}

// gone says why there is nothing at a path. Where the user names the files, only that
// is known.
func (s *Set) gone() string {
	if s.listed {
		return "there is no such file: it is deleted, or its name is misspelt"
	}
	return "it is deleted"
}

// take sets what the content tells, and gives the file its text or a hard mark.
func (f *File) take(c Content, opt Options, room *int64) {
	if c.Mode != "" {
		f.Mode = c.Mode
	}
	if c.Size > 0 {
		f.Size = c.Size
	}
	switch {
	case c.Mode == modeSubmodule:
		f.mark(MarkSubmodule, "it is a submodule: its commit, not its files, is changed here")
	case c.Mode == modeLink && c.Link != "":
		f.mark(MarkLink, fmt.Sprintf("it is a link to %q, which is not followed", clip(c.Link)))
	case c.Mode == modeLink:
		f.mark(MarkLink, "it is a link, which is not followed")
	case c.Mode == modeDir, c.Mode == "" && c.Err != nil && !errors.Is(c.Err, fs.ErrNotExist):
		f.mark(MarkNotFile, clause(c.Err))
	case errors.Is(c.Err, fs.ErrNotExist):
		f.mark(MarkUnread, "it is not there")
	case errors.Is(c.Err, gitrepo.ErrTooLarge):
		f.mark(MarkTooLarge, fmt.Sprintf("it is larger than %s", text.Bytes(opt.MaxFile)))
	case c.Err != nil:
		f.mark(MarkUnread, "it could not be read: "+clause(c.Err))
	default:
		f.takeText(c.Data, opt, room)
	}
}

func (f *File) takeText(data []byte, opt Options, room *int64) {
	f.Size = int64(len(data))
	text, m, why := textOf(f.Path, data)
	if m != "" {
		f.mark(m, why)
	}
	if m.Hard() && m != "" {
		f.Binary = m == MarkBinary
		return
	}
	if *room -= f.Size; *room < 0 {
		f.markTotal(opt)
		return
	}
	if len(text) > 0 {
		f.Text = bytes.Clone(text) // not the whole batch that it is part of
	}
	if f.Binary { // the old content was, or the source of the diff said no more
		f.Binary, f.AllChanged = false, true
	}
}

func (f *File) markTotal(opt Options) {
	f.mark(MarkTooLarge, fmt.Sprintf("the changed files have more than %s together", text.Bytes(opt.MaxTotal)))
}

// clause makes an error part of a sentence of one line.
func clause(err error) string {
	return strings.ReplaceAll(err.Error(), "\n", "; ")
}

func pathsOf(files []*File) []string {
	paths := make([]string, len(files))
	for i, f := range files {
		paths[i] = f.Path
	}
	return paths
}

// readRules reads the .gitattributes of every directory above a changed file.
func (s *Set) readRules(ctx context.Context, from Contents) (attributeRules, error) {
	seen := map[string]bool{}
	var paths []string
	for i := range s.Files {
		for dir := path.Dir(s.Files[i].Path); !seen[dir]; dir = path.Dir(dir) {
			seen[dir] = true
			paths = append(paths, path.Join(dir, attributesName))
		}
	}
	rules, count := attributeRules{}, 0
	slices.Sort(paths)
	for batch := range slices.Chunk(paths, 512) {
		contents, err := from.Read(ctx, batch, maxAttributes)
		if err != nil {
			return nil, fmt.Errorf("reading .gitattributes: %w", err)
		}
		for _, name := range batch {
			c := contents[name]
			switch {
			case errors.Is(c.Err, fs.ErrNotExist):
				continue
			case c.Err != nil:
				s.Notes = append(s.Notes, fmt.Sprintf("%q is not used: %s.", name, clause(c.Err)))
				continue
			}
			found := parseAttributes(string(c.Data))
			if count += len(found); count > maxAttributeSet {
				s.Notes = append(s.Notes, fmt.Sprintf("%q and what comes after it is not used: .gitattributes has more than %d lines on generated and vendored files.", name, maxAttributeSet))
				return rules, nil
			}
			rules[strings.TrimSuffix(strings.TrimSuffix(name, attributesName), "/")] = found
		}
	}
	return rules, nil
}
