package phase

import (
	"io/fs"
	"slices"
	"time"
)

// maxSnapshot bounds how many files are watched.
const maxSnapshot = 200_000

// snapshot is when each file was last written, and its size.
type snapshot map[string]stamp

type stamp struct {
	modified time.Time
	size     int64
}

// snapshot looks at a folder's regular files, but for those of other projects
// and those that builds make.
func (p *project) snapshot(dir string) snapshot {
	s := snapshot{}
	sub, err := fs.Sub(p.at.FS(), dir)
	if err != nil {
		return s
	}
	_ = fs.WalkDir(sub, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // what cannot be read cannot be formatted either
		case d.IsDir() && name != "." && slices.Contains([]string{".git", "node_modules", "target", "vendor", "__pycache__", ".venv"}, d.Name()):
			return fs.SkipDir
		case len(s) == maxSnapshot:
			return fs.SkipAll
		case d.Type().IsRegular():
			if info, err := d.Info(); err == nil {
				s[name] = stamp{info.ModTime(), info.Size()}
			}
		}
		return nil
	})
	return s
}

// rewritten returns the files that were changed since; new ones are caches as
// often as not.
func (s snapshot) rewritten(now snapshot) []string {
	var names []string
	for name, st := range now {
		if before, ok := s[name]; ok && before != st {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
