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

// writeFixed writes one file in place, so that its owner and permissions stay.
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
	if _, err := file.WriteAt(f.After, 0); err != nil {
		return err
	}
	return file.Truncate(int64(len(f.After)))
}
