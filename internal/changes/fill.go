package changes

import (
	"bytes"
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
