package action

import (
	"errors"
	"io/fs"
	"os"
)

// Mkdir makes a directory below this one, unless it is there already: mode 0755
// less the umask and, when this process is root, the owner of the directory that
// it lies in. A link in its place is refused.
func (d *Dir) Mkdir(name string) error {
	parent, base, err := d.walk(name)
	if err != nil {
		return err
	}
	defer parent.Close()
	switch err := parent.Mkdir(base, 0o755); {
	case errors.Is(err, fs.ErrExist):
		dir, err := enter(parent, base, name)
		if err != nil {
			return err
		}
		return dir.Close()
	case err != nil:
		return explain(name, err)
	}
	dir, err := enter(parent, base, name)
	if err != nil {
		return err
	}
	defer dir.Close()
	info, err := parent.Stat(".")
	if err != nil {
		return explain(name, err)
	}
	f, err := dir.OpenFile(".", os.O_RDONLY, 0)
	if err != nil {
		return explain(name, err)
	}
	defer f.Close()
	return giveTo(f, info)
}
