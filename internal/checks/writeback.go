package checks

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/agent-airlock/airlock/internal/nofollow"
	"github.com/agent-airlock/airlock/internal/phase"
)

// writeBack writes the files that were fixed in a copy of the workspace into the workspace itself.
// It returns a note for each that it did not write, or not in full, such as one that somebody has
// changed meanwhile, or that is not an ordinary file; one note for all if the workspace cannot be
// opened. Links in the workspace are not followed out of it.
func writeBack(workspace string, fixed []phase.FixedFile) (notes []string) {
	if len(fixed) == 0 {
		return nil
	}
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return []string{fmt.Sprintf("What was fixed in a copy is not in the workspace: %v.", err)}
	}
	defer root.Close() //nolint:errcheck // each file is closed by itself
	for _, f := range fixed {
		if err := writeFixed(root, f); err != nil {
			notes = append(notes, fmt.Sprintf("Fixed in a copy, but not in the workspace: %s (%v).", f.Path, err))
		}
	}
	return notes
}

// writeFixed writes one file in place: a new file under its name would have another owner, other
// permissions and attributes, and would not be what hard links to the old one lead to.
func writeFixed(root *os.Root, f phase.FixedFile) (err error) {
	file, _, err := nofollow.Open(root, filepath.FromSlash(f.Path), os.O_RDWR)
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := file.Close(); err == nil {
			err = closeErr
		}
	}()
	now, err := io.ReadAll(io.LimitReader(file, int64(len(f.Before))+1))
	if err != nil {
		return err
	}
	if !bytes.Equal(now, f.Before) {
		return errors.New("it has changed since the checks began")
	}
	return replaceContent(file, f.Before, f.After)
}

// replaceContent replaces the content of a file, which is before. If it cannot, for example on a full
// disk, the file has its old content again. If not even that succeeds, the error says so.
func replaceContent(file interface {
	io.WriterAt
	Truncate(size int64) error
}, before, after []byte) error {
	write := func() error {
		// What needs more space comes first: if there is none, the old content was not touched yet.
		if grown := min(len(before), len(after)); grown < len(after) {
			if _, err := file.WriteAt(after[grown:], int64(grown)); err != nil {
				return err
			}
		}
		if _, err := file.WriteAt(after[:min(len(before), len(after))], 0); err != nil {
			return err
		}
		return file.Truncate(int64(len(after)))
	}
	err := write()
	if err == nil {
		return nil
	}
	_, failed := file.WriteAt(before, 0)
	if failed = errors.Join(failed, file.Truncate(int64(len(before)))); failed != nil {
		return fmt.Errorf("%w; it has a part of the new content now, because the old one could not be written again (%w): restore it from git", err, failed)
	}
	return err
}
