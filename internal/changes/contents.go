package changes

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/text"
)

// Content is what is at a path.
type Content struct {
	Mode string // git's mode, six digits; "" if nothing is there or git has no mode for it
	Size int64  // a file's size in bytes; of one over the limit only where it is known, otherwise 0
	Data []byte // a file's content
	Link string // the target of a symbolic link, if known
	// Err is why there is no Data: fs.ErrNotExist if nothing is there,
	// gitrepo.ErrTooLarge for a file over the limit, or another reason.
	Err error
}

// Contents reads the files of one state of a repository.
type Contents interface {
	// Read reads the paths, each file of at most limit bytes; the result has each
	// path once. An error means that none could be read.
	Read(ctx context.Context, paths []string, limit int64) (map[string]Content, error)
}

// The modes of git.
const (
	modeFile      = "100644"
	modeExec      = "100755"
	modeLink      = "120000"
	modeSubmodule = "160000"
	modeDir       = "040000"
)

// commitContents reads the files of a commit, and checks every object against its id.
type commitContents struct {
	repo   *gitrepo.Repo
	commit string
}

// Read implements Contents.
func (c commitContents) Read(ctx context.Context, paths []string, limit int64) (map[string]Content, error) {
	files, err := c.repo.Files(ctx, c.commit, paths, limit)
	if err != nil {
		return nil, err
	}
	found := make(map[string]Content, len(files))
	for name, f := range files {
		found[name] = Content{Mode: f.Mode, Size: int64(len(f.Data)), Data: f.Data, Err: f.Err}
	}
	return found, nil
}

type treeContents struct{ tree *gitrepo.WorkTree }

// TreeContents reads the files of a work tree as they are now. A directory that is
// a repository of its own counts as a submodule. It is not safe for concurrent use.
func TreeContents(tree *gitrepo.WorkTree) Contents { return treeContents{tree} }

// Read implements Contents.
func (t treeContents) Read(ctx context.Context, paths []string, limit int64) (map[string]Content, error) {
	found := make(map[string]Content, len(paths))
	for _, name := range paths {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		found[name] = t.read(name, limit)
	}
	return found, nil
}

func (t treeContents) read(name string, limit int64) Content {
	info, err := t.tree.Lstat(name)
	switch {
	case err != nil:
		return Content{Err: err}
	case info.Mode().Type() == fs.ModeSymlink:
		target, err := t.tree.Link(name)
		return Content{Mode: modeLink, Link: target, Err: errors.Join(errors.New("a link is not followed"), err)}
	case info.IsDir():
		if _, err := t.tree.Lstat(name + "/.git"); err == nil {
			return Content{Mode: modeSubmodule, Err: errors.New("a submodule is not followed")}
		}
		return Content{Mode: modeDir, Err: errors.New("it is a directory")}
	case !info.Mode().IsRegular():
		return Content{Err: fmt.Errorf("it is a %s, not a regular file", text.FileKind(info.Mode()))}
	}
	c := Content{Mode: modeFile, Size: info.Size()}
	if info.Mode()&0o100 != 0 {
		c.Mode = modeExec
	}
	c.Data, c.Err = t.tree.Read(name, limit)
	return c
}
