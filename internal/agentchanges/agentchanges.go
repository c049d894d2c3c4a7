// Package agentchanges reads what an agent changed, from a workspace, a patch or a
// bundle, as a series of changes. All of it was written by a stranger: git runs only in a
// repository of our own making, which keeps the objects that result.
package agentchanges

import (
	"context"
	"errors"

	"github.com/agent-airlock/airlock/internal/gitrepo"
)

// ErrNoBase is returned if the commit that changes were made from cannot be read or
// found out.
var ErrNoBase = errors.New("the commit that the changes were made from is not known")

// WorkspaceConfig describes a work tree that an agent has worked in.
type WorkspaceConfig struct {
	Repo  *gitrepo.Repo // required; of the clone that is at Dir
	Dir   string        // required; the root of the work tree
	Bases []string      // commits that the changes may have been made from, best first
	// Exclude are slash-separated paths below Dir that are never part of the changes.
	Exclude []string
	// KeepFiltered takes a file as it is in the work tree even if git would pass its content
	// through a filter. Otherwise such a file is left out if only the filter could tell what git
	// would commit.
	KeepFiltered bool
}

// FileConfig describes a file that contains an agent's changes: a patch or a bundle.
type FileConfig struct {
	Repo  *gitrepo.Repo // required
	Name  string        // required; for messages
	Data  []byte        // required; what is in the file
	Bases []string      // commits that the changes may have been made from, best first
}

// FromFile reads the changes of a bundle, which it recognises by its first line, or of a
// patch.
//
// A bundle must have a single tip or a HEAD; its commits become the changes. The base is
// the commit of cfg.Bases that they were made from or, if none of these is known, a commit
// that the bundle builds on. The objects are checked as git fsck does.
//
// In a patch, each mail of git format-patch becomes a change with its author and message; a
// diff, as git diff and diff -u write it, becomes one change. An empty file, or mails without a
// patch, make a series without changes. Candidates for the base are the commits in the file's
// base-commit lines, then cfg.Bases. The base is the first of them to which everything applies. If
// there is none, it is the first to which everything can be merged three-way, from the file
// versions that the patch names.
//
// More than 1,000 commits or mails, and a history whose first parents do not lead to the base,
// become one change without author and message: see Joined of gitrepo.Series.
//
// The error is ErrNoBase if no base can be read, or if a commit that a bundle builds on is
// missing; gitrepo.ErrTooLarge if a limit is exceeded; and a *gitrepo.Conflict if a patch fits
// none of the commits. If the file is not a patch, or changes a path outside the repository, the
// error names the line.
func FromFile(ctx context.Context, cfg FileConfig) (gitrepo.Series, error) {
	r := reader{cfg.Repo}
	if bundleStart.Match(cfg.Data) {
		return r.bundle(ctx, cfg)
	}
	return r.patches(ctx, cfg)
}

// reader reads changes into a repository.
type reader struct{ repo *gitrepo.Repo }
