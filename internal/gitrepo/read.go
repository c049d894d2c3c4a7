package gitrepo

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/agent-airlock/airlock/internal/text"
)

// ReadFile reads a file below a directory: an ordinary one, of at most limit bytes, opened
// without blocking and not through a link. The info is from before it was opened.
func ReadFile(dir, name string, limit int64) (data []byte, info fs.FileInfo, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	if info, err = root.Lstat(name); err != nil {
		return nil, nil, err
	}
	data, err = readRegular(root, name, limit)
	return data, info, err
}

// readRegular reads a file below root: an ordinary one, of at most limit bytes,
// opened without blocking and not through a link.
func readRegular(root *os.Root, name string, limit int64) ([]byte, error) {
	full := filepath.Join(root.Name(), name)
	before, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not an ordinary file", full)
	}
	f, err := root.OpenFile(name, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !os.SameFile(before, info) {
		return nil, fmt.Errorf("%s changed while it was opened", full)
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%s is larger than %s", full, text.Bytes(limit))
	}
	return data, nil
}

// errTooLarge ends a program whose output is over the limit.
var errTooLarge = errors.New("the output is too large")

// buffer keeps what is written to it, up to a limit.
type buffer struct {
	data  []byte
	limit int
}

// Write implements io.Writer.
func (b *buffer) Write(p []byte) (int, error) {
	if len(p) > b.limit-len(b.data) {
		return 0, errTooLarge
	}
	b.data = append(b.data, p...)
	return len(p), nil
}
