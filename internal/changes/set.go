package changes

import (
	"cmp"
	"slices"
	"sort"
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
