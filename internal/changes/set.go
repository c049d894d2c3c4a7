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
	"strings"

	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/text"
)

// File is a changed file as it is at the head.
type File struct {
	ChangedFile
	Mode     string // git's mode, six digits; "" if it is not known or the file is deleted
	Size     int64  // the content's size in bytes; -1 if it is not known
	Language string // as LanguageOf returns it
	// Changed is the lines of the new file that the change added or rewrote, in
	// order. With AllChanged, where there is no usable diff, every line counts.
	Changed    []Span
	AllChanged bool
	Marks      []Marked
	// Text is the content of a file without a hard mark: UTF-8 with U+FFFD in place of NUL and of
	// invalid bytes. It is nil for every other file and for an empty one.
	Text []byte
}

// Marked returns the file's mark of that kind.
func (f *File) Marked(m Mark) (Marked, bool) {
	i := slices.IndexFunc(f.Marks, func(marked Marked) bool { return marked.Mark == m })
	if i < 0 {
		return Marked{}, false
	}
	return f.Marks[i], true
}

// Skip returns the file's first hard mark, because of which it has no text.
func (f *File) Skip() (Marked, bool) {
	for _, m := range f.Marks {
		if m.Mark.Hard() {
			return m, true
		}
	}
	return Marked{}, false
}

func (f *File) mark(m Mark, why string) { f.Marks = append(f.Marks, Marked{m, why}) }

// Set is what a pull request changes.
type Set struct {
	Files []File // by path
	// Base is the commit that the diff starts from, "" if git did not make the diff; Head
	// the commit of the texts, "" where they are those of a work tree.
	Base, Head string
	// Missing counts the changed files that are not in Files, because GitHub's API did not
	// list them: it lists at most MaxAPIFiles, and the pull request may have changed.
	Missing int
	// Notes are complete sentences that a reader of the result must know.
	Notes []string

	fromList bool // the user listed the files
}

// Options limit what is read. The zero value takes the defaults.
type Options struct {
	MaxFile  int64 // bytes of one file, at most 128 MiB; 0 means 1 MiB. A larger file has no text
	MaxTotal int64 // bytes of all texts together; 0 means 64 MiB. Files after that have no text
}

// batchBytes is how much one read of contents may return.
const batchBytes = 128 << 20

// fill sorts the set's files, reads their texts from head, and sets their languages and marks. The
// attributes are read from rules, which may be nil.
func (s *Set) fill(ctx context.Context, head, rules Contents, opt Options) error {
	opt.MaxFile = min(cmp.Or(max(opt.MaxFile, 0), 1<<20), batchBytes)
	opt.MaxTotal = cmp.Or(max(opt.MaxTotal, 0), 64<<20)
	slices.SortStableFunc(s.Files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	attributes, err := s.readAttributes(ctx, rules)
	if err != nil {
		return err
	}
	var present []*File
	for i := range s.Files {
		f := &s.Files[i]
		switch {
		case f.Status != Deleted:
			present = append(present, f)
		case s.fromList:
			f.mark(MarkDeleted, "there is no such file: it is deleted, or its name is misspelt")
		default:
			f.mark(MarkDeleted, "it is deleted")
		}
	}
	left := opt.MaxTotal
	for batch := range slices.Chunk(present, int(max(1, min(512, batchBytes/opt.MaxFile)))) {
		if left < 0 {
			for _, f := range batch {
				f.markTotal(opt)
			}
			continue
		}
		paths := make([]string, len(batch))
		for i, f := range batch {
			paths[i] = f.Path
		}
		contents, err := head.Read(ctx, paths, opt.MaxFile)
		if err != nil {
			return fmt.Errorf("reading the changed files: %w", err)
		}
		for _, f := range batch {
			f.setContent(contents[f.Path], opt, &left)
		}
	}
	for i := range s.Files {
		if err := ctx.Err(); err != nil { // many long patterns take seconds
			return err
		}
		f := &s.Files[i]
		f.Language = LanguageOf(f.Path, f.Text)
		f.markOrigin(attributes.forPath(f.Path))
	}
	return nil
}

// readAttributes reads the .gitattributes of every directory above a changed file.
func (s *Set) readAttributes(ctx context.Context, from Contents) (attributeRules, error) {
	if from == nil {
		return nil, nil
	}
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
		contents, err := from.Read(ctx, batch, maxAttributesFile)
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
			if count += len(found); count > maxAttributeRules {
				s.Notes = append(s.Notes, fmt.Sprintf("%q and what comes after it is not used: .gitattributes has more than %d lines on generated and vendored files.", name, maxAttributeRules))
				return rules, nil
			}
			rules[strings.TrimSuffix(strings.TrimSuffix(name, attributesName), "/")] = found
		}
	}
	return rules, nil
}

// setContent sets what was read at the file's path: its text, or a hard mark. left is
// how many bytes of text the set may still have.
func (f *File) setContent(c Content, opt Options, left *int64) {
	f.Mode = cmp.Or(c.Mode, f.Mode)
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
		f.setText(c.Data, opt, left)
	}
}

func (f *File) setText(data []byte, opt Options, left *int64) {
	f.Size = int64(len(data))
	content, m, why := textOf(f.Path, data)
	if m != "" {
		f.mark(m, why)
		if m.Hard() {
			f.Binary = m == MarkBinary
			return
		}
	}
	if *left -= f.Size; *left < 0 {
		f.markTotal(opt)
		return
	}
	if len(content) > 0 {
		f.Text = bytes.Clone(content) // not the entire batch that it is part of
	}
	if f.Binary { // there are no changed lines, because the old content was binary or seemed to be
		f.Binary, f.AllChanged = false, true
	}
}

func (f *File) markTotal(opt Options) {
	f.mark(MarkTooLarge, fmt.Sprintf("the changed files have more than %s together", text.Bytes(opt.MaxTotal)))
}

// clause makes an error part of a sentence of one line.
func clause(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// clip keeps a quoted text in a message readable.
func clip(s string) string { return text.TruncateBytes(s, 60) }
