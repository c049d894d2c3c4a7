package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/agent-airlock/airlock/internal/apply"
	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// codeSource says where the changes of items that carry code are.
type codeSource struct {
	// file is a patch or a bundle, and open opens it; without one, the changes are
	// what the workspace holds beyond the commit that was checked out.
	file string
	open func() (io.ReadCloser, error)
	// base is the commit or branch that they were made from; "" to find it out.
	base string
	// workspace is the work tree's root, and exclude what in it is no change.
	workspace string
	exclude   []string
	pathList  string // where git is found
}

// maxChanges is how large a patch or bundle may be, in bytes.
const maxChanges = 64 << 20

// carriesCode reports whether an item needs the agent's changes.
func carriesCode(res intake.Result) bool {
	return slices.ContainsFunc(res.Accepted, func(a intake.Accepted) bool { return isCode(a.Item().Kind()) })
}

func isCode(k safeoutput.Kind) bool {
	return k == safeoutput.KindCreatePullRequest || k == safeoutput.KindPushToBranch
}

// lostCode says why items that carry code did not come through the first door; ""
// where all did.
func lostCode(res intake.Result) string {
	for _, r := range res.Rejected {
		if isCode(r.Kind) {
			return fmt.Sprintf("%s was rejected: %s", r.Kind, r.Violations[0].Message)
		}
	}
	return ""
}

// code sets up what items that carry code need; nil where the changes are not at
// hand. git is the workspace's clone, nil without one. release undoes what was set
// up.
func (s codeSource) code(git *localGit, ev event.Event, conn connection) (code *apply.Code, release func(), err error) {
	release = func() {}
	var repo *gitrepo.Repo
	switch {
	case git != nil:
		repo = git.repo
	case s.file == "":
		return nil, release, nil
	default:
		if repo, err = gitrepo.New(nil, gitrepo.Options{PathList: s.pathList}); err != nil {
			return nil, release, usageError(err)
		}
		release = func() { _ = repo.Close() }
	}
	known, err := s.bases(git, ev)
	if err != nil {
		return nil, release, usageError(err)
	}
	code = &apply.Code{Repo: repo, File: s.file, Bases: known}
	if !conn.tok.IsZero() {
		code.Connect = conn.remote
	}
	if s.file == "" {
		code.Series = func(ctx context.Context, bases []string) (gitrepo.Series, error) {
			return repo.WorkspaceSeries(ctx, gitrepo.WorkspaceSource{Dir: s.workspace, Bases: s.candidates(known, bases), Exclude: s.exclude})
		}
		return code, release, nil
	}
	data, err := s.read()
	if err != nil {
		return nil, release, usageError(fmt.Errorf("the file of changes: %w", err))
	}
	code.Series = func(ctx context.Context, bases []string) (gitrepo.Series, error) {
		file := gitrepo.FileSource{Name: s.file, Data: data, Bases: s.candidates(known, bases)}
		if isBundle(data) {
			return repo.BundleSeries(ctx, file)
		}
		return repo.PatchSeries(ctx, file)
	}
	return code, release, nil
}

// candidates are the commits that the changes may have been made from: where the
// user has named one, no other.
func (s codeSource) candidates(known, bases []string) []string {
	if s.base != "" {
		return known
	}
	return slices.Concat(known, bases)
}

func (s codeSource) read() ([]byte, error) {
	f, err := s.open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxChanges+1))
	if err == nil && len(data) > maxChanges {
		err = fmt.Errorf("%s is larger than %d MiB", s.file, maxChanges>>20)
	}
	return data, err
}

// isBundle recognises git's bundle files by their first line.
func isBundle(data []byte) bool {
	return bytes.HasPrefix(data, []byte("# v2 git bundle\n")) || bytes.HasPrefix(data, []byte("# v3 git bundle\n"))
}

// bases are the commits that the changes may have been made from: the one that the
// user names, else those of the event.
func (s codeSource) bases(git *localGit, ev event.Event) ([]string, error) {
	switch {
	case objectID.MatchString(s.base):
		return []string{s.base}, nil
	case s.base != "" && git == nil:
		return nil, fmt.Errorf("the base %q of the changes is no whole commit id, and there is no clone to look the name up in: give the commit id, or check the repository out in this job", s.base)
	case s.base != "":
		oid, err := git.commitNamed(s.base)
		if errors.Is(err, gitrepo.ErrNoRef) {
			return nil, fmt.Errorf("the base %q of the changes is neither a whole commit id nor a branch or tag of the clone: correct changes-base, or set 'fetch-depth: 0' for actions/checkout", s.base)
		}
		if err != nil {
			return nil, err
		}
		return []string{oid}, nil
	}
	var known []string
	for _, oid := range []string{ev.SHA, ev.Head.SHA, ev.Base.SHA} {
		if oid != "" && !slices.Contains(known, oid) {
			known = append(known, oid)
		}
	}
	return known, nil
}
