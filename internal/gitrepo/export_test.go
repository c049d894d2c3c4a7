package gitrepo

import (
	"maps"
	"slices"
)

// GitDir is the repository itself, so that a test can ask git what is in it.
func (r *Repo) GitDir() string { return r.gitDir() }

// Fresh tells of each file in the index whether it need not be read.
func Fresh(c *Clone, dir string) (map[string]bool, error) {
	x, err := c.readIndex()
	if err != nil {
		return nil, err
	}
	d, err := newDirs(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	fresh := map[string]bool{}
	for name, f := range x.files {
		info, err := d.lstat(name)
		fresh[name] = err == nil && x.fresh(f, info)
	}
	return fresh, nil
}

// ParseIndex reads an index with ids of idLen bytes and returns its names.
func ParseIndex(data []byte, idLen int) ([]string, error) {
	x, err := parseIndex(data, idLen)
	if err != nil {
		return nil, err
	}
	return append(slices.Collect(maps.Keys(x.files)), x.unmerged...), nil
}
