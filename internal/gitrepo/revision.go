package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"github.com/agent-airlock/airlock/internal/text"
)

// Limits of what Revision takes, and of what it reads of a clone.
const (
	maxRefFiles  = 200_000
	maxRefBytes  = 256 << 20
	maxGitConfig = 4 << 20
	maxRevision  = 4096 // bytes of a revision
)

// Revision returns the id of the commit that a revision names in the clone, by any of the forms
// that git knows (gitrevisions(7)): main~2, an abbreviated id, v1^{}, @{u}, main@{yesterday},
// :/message. Git resolves it in a directory of our own. The clone's refs are copied there as data
// and, if the revision contains @{, so are their logs and the upstreams of its branches. Nothing
// else of the clone's configuration is used. The error is ErrNoRef if the revision is invalid or
// names no commit.
func (r *Repo) Revision(ctx context.Context, revision string) (string, error) {
	if err := checkRevision(revision); err != nil {
		return "", err
	}
	dir, remove, err := r.TempDir()
	if err != nil {
		return "", err
	}
	defer remove()
	gitDir := filepath.Join(dir, "refs.git")
	if err := r.initIn(gitDir); err != nil {
		return "", fmt.Errorf("making a temporary repository: %w", err)
	}
	if err := r.clone.copyRefs(gitDir, strings.Contains(revision, "@{")); err != nil {
		return "", fmt.Errorf("reading the refs of the clone: %w", err)
	}
	if strings.Contains(revision, "@{") {
		if err := r.copyUpstreams(ctx, dir, gitDir); err != nil {
			return "", fmt.Errorf("reading the upstreams of the clone's branches: %w", err)
		}
	}
	parse := func(what string) (Output, error) {
		return r.Run(ctx, Call{MaxExit: AnyExit, Env: []string{localZone()}, gitDir: gitDir}, "rev-parse", "--verify", what)
	}
	out, err := parse(revision)
	if err != nil {
		return "", err
	}
	if out.ExitCode != 0 {
		return "", fmt.Errorf("%w: git says %s", ErrNoRef, out.Reason())
	}
	oid := out.Line()
	if !IsObjectID(oid) { // for "^main", git prints the id of main after a "^"
		return "", fmt.Errorf("%w: git prints %.60q for it, which is not an object id", ErrNoRef, oid)
	}
	out, err = parse(oid + "^{commit}")
	if err != nil {
		return "", err
	}
	if out.ExitCode != 0 {
		return "", fmt.Errorf("%w: it names %.7s, which is not a commit", ErrNoRef, oid)
	}
	return out.Line(), nil
}

// checkRevision refuses a text that cannot be a revision, or that git would take for an option.
func checkRevision(revision string) error {
	switch {
	case revision == "":
		return fmt.Errorf("%w: it is empty", ErrNoRef)
	case len(revision) > maxRevision:
		return fmt.Errorf("%w: it is longer than %s", ErrNoRef, text.Bytes(maxRevision))
	case revision[0] == '-':
		return fmt.Errorf("%w: no revision begins with a hyphen", ErrNoRef)
	case strings.ContainsFunc(revision, unicode.IsControl):
		return fmt.Errorf("%w: it contains a control character", ErrNoRef)
	}
	return nil
}

// localZone returns the variable that makes git read times in a revision as local times.
func localZone() string {
	_, offset := time.Now().Zone()
	sign := '-' // POSIX counts to the west
	if offset < 0 {
		sign, offset = '+', -offset
	}
	return fmt.Sprintf("TZ=LOCAL%c%d:%02d", sign, offset/3600, offset%3600/60)
}

// copyRefs copies the refs of a clone to a directory of git's, with their logs if logs is
// true. Only ordinary files are copied.
func (c *Clone) copyRefs(to string, logs bool) error {
	if head, err := c.looseRef("HEAD"); err == nil && strings.HasPrefix(head, "ref: refs/heads/.invalid") {
		return errReftable
	}
	copied := refCopy{to: to}
	for _, from := range []string{c.CommonDir, c.GitDir} { // what is copied last wins: the worktree's own
		trees := []string{"refs"}
		if logs {
			trees = append(trees, "logs")
		}
		for _, tree := range trees {
			if err := copied.tree(from, tree); err != nil {
				return err
			}
		}
		if c.GitDir == c.CommonDir {
			break
		}
	}
	if err := copied.file(c.CommonDir, "packed-refs"); err != nil {
		return err
	}
	entries, err := os.ReadDir(c.GitDir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Type().IsRegular() && (e.Name() == "HEAD" || strings.HasSuffix(e.Name(), "_HEAD")) { // FETCH_HEAD, ORIG_HEAD and the like
			if err := copied.file(c.GitDir, e.Name()); err != nil {
				return err
			}
		}
	}
	return nil
}

// refCopy copies files of a clone's git directory, within limits.
type refCopy struct {
	to    string
	files int
	bytes int64
}

// tree copies the ordinary files below a directory, except git's locks, if it is there.
func (c *refCopy) tree(from, name string) error {
	root, err := os.OpenRoot(from)
	if err != nil {
		return err
	}
	defer root.Close()
	if info, err := root.Lstat(name); err != nil || !info.IsDir() {
		return nil
	}
	return fs.WalkDir(root.FS(), name, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // git has just removed it
		}
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(c.to, filepath.FromSlash(path)), 0o700)
		}
		if !d.Type().IsRegular() || strings.HasSuffix(path, ".lock") {
			return nil
		}
		return c.file(from, path)
	})
}

// file copies one file, if it is there.
func (c *refCopy) file(from, name string) error {
	data, _, err := ReadFile(from, filepath.FromSlash(name), maxList)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	c.files++
	c.bytes += int64(len(data))
	if c.files > maxRefFiles || c.bytes > maxRefBytes {
		return fmt.Errorf("the clone has more than %d refs or %s of them and their logs: name a full commit id, or run 'git pack-refs --all'", maxRefFiles, text.Bytes(maxRefBytes))
	}
	return os.WriteFile(filepath.Join(c.to, filepath.FromSlash(name)), data, 0o600)
}

// upstreamKeys matches the settings that say which ref a branch follows, and where it is pushed.
const upstreamKeys = `^(branch\..*\.(remote|merge|pushremote)|remote\..*\.(fetch|push)|remote\.pushdefault|push\.default)$`

// copyUpstreams copies the settings of the branches' upstreams from the clone's configuration to
// that in gitDir. Git reads the clone's file as data, without the files that it includes.
func (r *Repo) copyUpstreams(ctx context.Context, scratch, gitDir string) error {
	data, _, err := ReadFile(r.clone.CommonDir, "config", maxGitConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	file := filepath.Join(scratch, "clone-config")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		return err
	}
	out, err := r.Run(ctx, Call{MaxExit: 1}, "config", "--file", file, "--no-includes", "--null", "--get-regexp", upstreamKeys)
	if err != nil {
		return err
	}
	var settings strings.Builder
	for _, record := range out.Records() {
		key, value, _ := strings.Cut(record, "\n")
		section, rest, _ := strings.Cut(key, ".")
		subsection, name := "", rest
		if dot := strings.LastIndexByte(rest, '.'); dot >= 0 {
			subsection, name = rest[:dot], rest[dot+1:]
		}
		if subsection != "" {
			section += " " + quote(subsection)
		}
		fmt.Fprintf(&settings, "[%s]\n\t%s = %s\n", section, name, quote(value))
	}
	config, err := os.OpenFile(filepath.Join(gitDir, "config"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = config.WriteString(settings.String())
	return errors.Join(err, config.Close())
}
