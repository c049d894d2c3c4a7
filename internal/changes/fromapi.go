package changes

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
)

// MaxAPIFiles is how many files of a pull request GitHub's API lists.
const MaxAPIFiles = 3000

// APISource is what GitHub's API says of a pull request.
type APISource struct {
	Files []ChangedFile // see FromAPI
	Total int           // how many files the pull request itself says it changes
	Head  string        // the commit of the texts; "" where Contents is a work tree
	// Contents is where the texts are read: the head in git, or the work tree.
	Contents Contents
	// Rules is where .gitattributes is read, which should be the base: a pull request
	// can write its own. nil: none is.
	Rules Contents
}

// SetFromAPI takes the changed files from GitHub's API. It lists no more than
// MaxAPIFiles of them; the result then says how many are missing, and that git can
// list them all. The lines of a file whose diff GitHub leaves out all count as changed.
func SetFromAPI(ctx context.Context, src APISource, opt Options) (*Set, error) {
	if src.Contents == nil {
		return nil, errors.New("changes: APISource.Contents is required")
	}
	if src.Rules == nil {
		src.Rules = nothing{}
	}
	s := &Set{Head: src.Head, Missing: max(0, src.Total-len(src.Files))}
	for _, f := range src.Files {
		s.add(f)
	}
	switch {
	case s.Missing > 0 && len(src.Files) >= MaxAPIFiles:
		s.Notes = append(s.Notes, fmt.Sprintf("%d of %d changed files are not looked at: GitHub's API lists only the first %d. Git can list them all: set 'fetch-depth: 0' for actions/checkout.",
			s.Missing, src.Total, len(src.Files)))
	case s.Missing > 0:
		s.Notes = append(s.Notes, fmt.Sprintf("%d of %d changed files are not looked at: GitHub's API did not list them. The pull request may have changed meanwhile: run again.", s.Missing, src.Total))
	}
	return s, s.fill(ctx, src.Contents, src.Rules, opt)
}

// nothing is the contents of an empty repository.
type nothing struct{}

// Read implements Contents.
func (nothing) Read(_ context.Context, paths []string, _ int64) (map[string]Content, error) {
	found := make(map[string]Content, len(paths))
	for _, name := range paths {
		found[name] = Content{Err: fs.ErrNotExist}
	}
	return found, nil
}
