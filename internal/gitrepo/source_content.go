package gitrepo

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/agent-airlock/airlock/internal/text"
)

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
		data, mode, err := s.dirs.content(name)
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
		if before.mode == mode && matches(before.oid, object{kind: "blob", data: data}) {
			continue
		}
		if total += len(data); total > maxWorkBytes {
			return nil, fmt.Errorf("%w: the changed files have more than %s together", ErrTooLarge, text.Bytes(maxWorkBytes))
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
	case matches(committed, object{kind: "blob", data: data}), filter == "lfs" && isPointer(data):
		return data
	case filter == "lfs" && matches(committed, object{kind: "blob", data: pointer}):
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

// content reads a file, or the target of a link, and its mode.
func (d *dirs) content(name string) (data []byte, mode uint32, err error) {
	info, err := d.lstat(name)
	if err != nil {
		return nil, 0, err
	}
	if info.Mode().Type() == fs.ModeSymlink {
		target, err := d.link(name)
		return []byte(target), indexLink, err
	}
	data, err = d.read(name, maxWorkFile)
	return data, gitMode(info), err
}

// read reads an ordinary file of at most limit bytes, which nobody may write
// meanwhile.
func (d *dirs) read(name string, limit int64) ([]byte, error) {
	f, before, err := d.file(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if before.Size() > limit {
		return nil, fmt.Errorf("%w: it has %s, and at most %s are read", ErrTooLarge, text.Bytes(before.Size()), text.Bytes(limit))
	}
	data := make([]byte, before.Size())
	n, err := io.ReadFull(f, data)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	after, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if int64(n) != before.Size() || after.Size() != before.Size() || !after.ModTime().Equal(before.ModTime()) {
		return nil, errChanged
	}
	return data, nil
}
