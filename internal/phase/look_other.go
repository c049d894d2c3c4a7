//go:build !unix

package phase

import (
	"os"
	"path/filepath"
)

// look returns what an entry of an open directory is, without following a link, and the
// stamp of a regular file.
func (p *project) look(dir *os.File, entry string) (stamp, entryKind) {
	name, err := filepath.Rel(p.root.Name(), filepath.Join(dir.Name(), entry))
	if err != nil {
		return stamp{}, other
	}
	info, err := p.root.Lstat(name)
	switch {
	case err != nil:
	case info.IsDir():
		return stamp{}, directory
	case info.Mode().IsRegular():
		return stampOf(info), regular
	}
	return stamp{}, other
}
