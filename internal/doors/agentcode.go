package doors

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/agentchanges"
	"github.com/agent-airlock/airlock/internal/apply"
	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// AgentCode describes where the changes of items that carry code are.
type AgentCode struct {
	// File is a patch or a bundle, and Open opens it. Without one, the changes are what
	// the workspace contains beyond the commit that was checked out.
	File string
	Open func() (io.ReadCloser, error)
	// Base is the commit or branch that the changes were made from; "" to find it out.
	Base string
	// Workspace is the root of the work tree, and Exclude lists the slash-separated
	// paths in it that are not changes.
	Workspace string // required
	Exclude   []string
	PathList  string // the directories in which git is looked for
}

// maxChanges is how large a patch or bundle may be, in bytes.
const maxChanges = 64 << 20

// CarriesCode reports whether an accepted item needs the agent's changes.
func CarriesCode(res intake.Result) bool {
	return slices.ContainsFunc(res.Accepted, func(a intake.Accepted) bool { return safeoutput.SpecOf(a.Item().Kind()).CarriesCode })
}

// lostCode returns why the first item that carries code and did not come through both doors was
// stopped; "" where all came through.
func lostCode(res intake.Result, denied []policy.Denied) string {
	for _, r := range res.Rejected {
		if safeoutput.SpecOf(r.Kind).CarriesCode {
			return fmt.Sprintf("%s was rejected: %s", r.Kind, r.Violations[0].Message)
		}
	}
	for _, d := range denied {
		if safeoutput.SpecOf(d.Item().Kind()).CarriesCode {
			return fmt.Sprintf("%s was denied: %s", d.Item().Kind(), d.Message)
		}
	}
	return ""
}

// Load sets up the agent's changes for the items that carry code. It returns nil where the changes
// are not available, and a Code with nothing but the reason where no File is given and the
// workspace's clone cannot be used. git is that clone, nil without one. release, which is never
// nil, undoes what was set up. Errors carry their exit code.
func (c AgentCode) Load(git *LocalGit, ev event.Event, conn Connection) (code *apply.Code, release func(), err error) {
	release = func() {}
	var repo *gitrepo.Repo
	switch {
	case git != nil:
		repo = git.Repo
	case c.File == "":
		if err := c.tryClone(); err != nil && !errors.Is(err, gitrepo.ErrNotRepository) {
			return &apply.Code{Unusable: err.Error()}, release, nil
		}
		return nil, release, nil
	default:
		if repo, err = gitrepo.New(nil, gitrepo.Options{PathList: c.PathList}); err != nil {
			return nil, release, exitcode.UsageError(err)
		}
		release = func() { _ = repo.Close() }
	}
	known, err := c.bases(git, ev)
	if err != nil {
		return nil, release, exitcode.UsageError(err)
	}
	code = &apply.Code{Repo: repo, File: c.File, Bases: known}
	if !conn.Token.IsZero() {
		code.Connect = conn.Remote
	}
	if c.File == "" {
		code.Series = func(ctx context.Context, bases []string) (gitrepo.Series, error) {
			return agentchanges.FromWorkspace(ctx, agentchanges.WorkspaceConfig{Repo: repo, Dir: c.Workspace, Bases: c.candidates(known, bases), Exclude: c.Exclude})
		}
		return code, release, nil
	}
	data, err := c.read()
	if err != nil {
		return nil, release, exitcode.UsageError(fmt.Errorf("the file of changes: %w", err))
	}
	code.Series = func(ctx context.Context, bases []string) (gitrepo.Series, error) {
		return agentchanges.FromFile(ctx, agentchanges.FileConfig{Repo: repo, Name: c.File, Data: data, Bases: c.candidates(known, bases)})
	}
	return code, release, nil
}

// LoadClone is Load with the workspace's clone, which it opens. log receives why git cannot be
// used there.
func (c AgentCode) LoadClone(ctx context.Context, ev event.Event, conn Connection, log func(string)) (code *apply.Code, release func(), err error) {
	git := OpenLocalGit(ctx, c.Workspace, c.PathList, ev, log)
	code, undo, err := c.Load(git, ev, conn)
	return code, func() { undo(); git.Close() }, err
}

// tryClone returns why the workspace's clone cannot be used.
func (c AgentCode) tryClone() error {
	clone, err := gitrepo.Locate(c.Workspace)
	if err != nil {
		return err
	}
	repo, err := gitrepo.New(clone, gitrepo.Options{PathList: c.PathList})
	if err != nil {
		return err
	}
	return repo.Close()
}

// candidates returns the commits that the changes may have been made from: those that are known
// and, unless the user names the base, further ones.
func (c AgentCode) candidates(known, further []string) []string {
	if c.Base != "" {
		return known
	}
	return slices.Concat(known, further)
}

func (c AgentCode) read() ([]byte, error) {
	f, err := c.Open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxChanges+1))
	if err == nil && len(data) > maxChanges {
		err = fmt.Errorf("%s is larger than %d MiB", c.File, maxChanges>>20)
	}
	return data, err
}

// bases returns the commits that the changes may have been made from: the one that the
// user names, otherwise those of the event.
func (c AgentCode) bases(git *LocalGit, ev event.Event) ([]string, error) {
	switch {
	case gitrepo.IsObjectID(c.Base):
		return []string{c.Base}, nil
	case c.Base != "" && git == nil:
		return nil, fmt.Errorf("the base %q of the changes is not a full commit id, and there is no clone to look the name up in: give the commit id, or check the repository out in this job", c.Base)
	case c.Base != "":
		oid, err := git.ResolveCommit(c.Base)
		if errors.Is(err, gitrepo.ErrNoRef) {
			return nil, fmt.Errorf("the base %q of the changes names no commit of the clone (%w): correct changes-base, or set 'fetch-depth: 0' for actions/checkout", c.Base, err)
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

// PathsBelow returns those of the paths that lie below dir, relative to it and with
// slashes. Relative paths are relative to cwd. A text that is not a path is left out: "",
// "-" or JSON.
func PathsBelow(dir, cwd string, paths ...string) []string {
	root, err := filepath.Abs(dir)
	if err != nil {
		return nil
	}
	var below []string
	for _, p := range paths {
		if p == "" || p == "-" || strings.HasPrefix(p, "{") {
			continue
		}
		if !filepath.IsAbs(p) {
			p = filepath.Join(cwd, p)
		}
		abs, err := filepath.Abs(p)
		if err != nil {
			continue
		}
		rel, err := filepath.Rel(root, abs)
		if err != nil || !filepath.IsLocal(rel) { // dir or the path may lead through a link
			rel, err = filepath.Rel(realPath(root), filepath.Join(realPath(filepath.Dir(abs)), filepath.Base(abs)))
		}
		if err == nil && filepath.IsLocal(rel) && rel != "." {
			below = append(below, filepath.ToSlash(rel))
		}
	}
	return below
}

// realPath returns the path of a directory without links, or the path itself if there is no such
// directory.
func realPath(dir string) string {
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		return resolved
	}
	return dir
}
