package agentchanges

import (
	"context"
	"maps"
	"slices"

	"github.com/agent-airlock/airlock/internal/gitrepo"
)

// FromBundle reads a file as a bundle, whatever it begins with.
func FromBundle(ctx context.Context, cfg FileConfig) (gitrepo.Series, error) {
	return reader{cfg.Repo}.bundle(ctx, cfg)
}

// Fresh reports of each file in the index whether it need not be read.
func Fresh(repo *gitrepo.Repo, dir string) (map[string]bool, error) {
	x, err := reader{repo}.readIndex()
	if err != nil {
		return nil, err
	}
	d, err := gitrepo.OpenWorkTree(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	fresh := map[string]bool{}
	for name, f := range x.files {
		info, err := d.Lstat(name)
		fresh[name] = err == nil && x.unchanged(f, info)
	}
	return fresh, nil
}

// ParseIndex reads an index with ids of idLen bytes and returns its names.
func ParseIndex(data []byte, idLen int) ([]string, error) {
	f, err := parseIndex(data, idLen)
	if err != nil {
		return nil, err
	}
	x := f.index()
	return append(slices.Collect(maps.Keys(x.files)), x.unmerged...), nil
}
