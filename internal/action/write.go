package action

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Pending is a file that is being written under a temporary name. Commit gives it its
// real name once it is complete.
type Pending struct {
	dir       *os.Root
	f         *os.File
	temp      string
	base      string
	shown     string
	done      bool // committed or aborted
	closeOnly bool // the target is a device, which is written to directly
}

// Create begins a file below the directory; see Open for the name. An ordinary
// file of that name is replaced, anything else is refused. The mode is 0644 less
// the umask. If this process is root, the file gets the owner of the directory
// that contains it.
func (d *Dir) Create(name string) (*Pending, error) {
	parent, base, err := d.walk(name)
	if err != nil {
		return nil, err
	}
	return create(parent, base, name)
}

// Write writes data as a file below the directory; see Create.
func (d *Dir) Write(name string, data []byte) error {
	p, err := d.Create(name)
	if err != nil {
		return err
	}
	return p.writeAll(data)
}

// CreateUserFile begins a file that the user of the command line named, in a directory
// that exists. A link is followed, and a device such as /dev/null is written to
// directly.
func CreateUserFile(path string) (*Pending, error) {
	if path == "" {
		return nil, errors.New("no file is named")
	}
	target := path
	if real, err := filepath.EvalSymlinks(path); err == nil {
		target = real
	}
	if info, err := os.Stat(target); err == nil && info.Mode()&fs.ModeDevice != 0 {
		f, err := os.OpenFile(target, os.O_WRONLY, 0)
		if err != nil {
			return nil, explain(path, err)
		}
		return &Pending{f: f, shown: path, closeOnly: true}, nil
	}
	dir, base := filepath.Split(target)
	if dir == "" {
		dir = "."
	}
	root, err := os.OpenRoot(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &FileError{path, "cannot be created", "there is no directory " + filepath.Clean(dir) + ", make it first", err}
	case err != nil:
		return nil, explain(path, err)
	}
	return create(root, base, path)
}

// WriteUserFile writes data as a file; see CreateUserFile.
func WriteUserFile(path string, data []byte) error {
	p, err := CreateUserFile(path)
	if err != nil {
		return err
	}
	return p.writeAll(data)
}

// create makes the file under a random name, exclusively. After an error it closes the directory.
func create(dir *os.Root, base, shown string) (p *Pending, err error) {
	defer func() {
		if err != nil {
			_ = dir.Close()
		}
	}()
	if base == "" || base == "." || base == ".." {
		return nil, &FileError{shown, "is a directory", "name a file in it", nil}
	}
	if info, err := dir.Lstat(base); err == nil {
		if err := checkOrdinary(shown, info); err != nil {
			return nil, err
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, explain(shown, err)
	}
	p = &Pending{dir: dir, base: base, shown: shown, temp: ".airlock-" + rand.Text() + ".tmp"}
	if p.f, err = dir.OpenFile(p.temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644); err != nil {
		return nil, explain(shown, err)
	}
	return p, nil
}

// Write implements io.Writer.
func (p *Pending) Write(b []byte) (int, error) {
	n, err := p.f.Write(b)
	if err != nil {
		err = explain(p.shown, err)
	}
	return n, err
}

// Commit gives the file its real name. After an error nothing is left of it, and
// a file that had the name before is unchanged.
func (p *Pending) Commit() error {
	if p.done {
		return errors.New("the file was committed or aborted before")
	}
	if p.closeOnly {
		p.done = true
		return p.f.Close()
	}
	info, err := p.dir.Stat(".")
	if err == nil {
		err = giveTo(p.f, info)
	}
	if err == nil {
		err = p.f.Close()
	}
	if err == nil {
		err = p.dir.Rename(p.temp, p.base)
	}
	if err != nil {
		return errors.Join(explain(p.shown, err), p.Abort())
	}
	p.done = true
	return p.dir.Close()
}

// Abort removes the file, unless it was committed: it may be deferred.
func (p *Pending) Abort() error {
	if p.done {
		return nil
	}
	p.done = true
	_ = p.f.Close() // Commit may have closed it
	if p.closeOnly {
		return nil
	}
	return errors.Join(p.dir.Remove(p.temp), p.dir.Close())
}

func (p *Pending) writeAll(data []byte) error {
	if _, err := p.Write(data); err != nil {
		return errors.Join(err, p.Abort())
	}
	return p.Commit()
}
