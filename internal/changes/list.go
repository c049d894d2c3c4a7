package changes

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/agent-airlock/airlock/internal/gitrepo"
)

// SetFromList takes the changed files from a list of paths below a work tree, whose
// files are read as they are now. Nothing is known of what was there before: every
// line counts as changed, and a path at which nothing is as deleted.
//
// The error names every path that is not relative, or leads out by "..".
func SetFromList(ctx context.Context, tree *gitrepo.WorkTree, paths []string, opt Options) (*Set, error) {
	names, err := cleanList(paths)
	if err != nil {
		return nil, err
	}
	s := &Set{Files: make([]File, 0, len(names)), listed: true}
	for _, name := range names {
		f := File{ChangedFile: ChangedFile{Path: name, Status: Modified}, Size: -1, AllChanged: true}
		if _, err := tree.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			f.Status, f.AllChanged = Deleted, false
		}
		s.Files = append(s.Files, f)
	}
	here := TreeContents(tree)
	return s, s.fill(ctx, here, here, opt)
}

// cleanList returns the paths in their shortest form, each once.
func cleanList(paths []string) ([]string, error) {
	var names []string
	var faults []error
	seen := map[string]bool{}
	for i, p := range paths {
		name := path.Clean(p)
		switch {
		case p == "":
			faults = append(faults, fmt.Errorf("changed file %d: the path is empty", i+1))
		case path.IsAbs(p):
			faults = append(faults, fmt.Errorf("changed file %d: %q must be relative to the working directory", i+1, p))
		case strings.Contains("/"+p+"/", "/../"):
			faults = append(faults, fmt.Errorf("changed file %d: %q must not contain '..'", i+1, p))
		case name == ".", strings.ContainsRune(p, 0), !fs.ValidPath(name):
			faults = append(faults, fmt.Errorf("changed file %d: %q is not the path of a file", i+1, p))
		case !seen[name]:
			seen[name] = true
			names = append(names, name)
		}
	}
	return names, errors.Join(faults...)
}
