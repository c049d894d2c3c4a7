package isolate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/tempdir"
)

// The limits of a Scratch if the Config sets none. It is made in the middle of the checks,
// for suggestions, which are not worth minutes.
const (
	maxScratchEntries = 200_000
	maxScratchBytes   = 2 << 30
)

// Scratch is a temporary copy of the workspace. Unlike in a Sandbox, programs run in it as this
// process's user and with its environment. Close must be called.
type Scratch struct {
	temp  *tempdir.Dir // contains the copy
	dir   string
	env   []string
	notes []Note

	noNetwork bool
}

// OpenScratch copies the workspace, without git's directory, to a directory that only this
// user may enter. It uses Workspace, Environ, TempDir, Copy and NoNetwork of the Config. In
// the environment and in links, the copy's name replaces the workspace's, so that a program
// that changes files by their absolute names does so in the copy. Links out of the
// workspace lead where they led.
//
// The error explains why there can be no copy: the workspace is too large for the limits or for
// half of the free space, the directory for temporary files is in it, or Airlock cannot
// copy on this system, such as Windows. Nothing is left of the copy then.
func OpenScratch(ctx context.Context, cfg Config) (*Scratch, error) {
	workspace, err := filepath.EvalSymlinks(cfg.Workspace)
	if err != nil {
		return nil, err
	}
	temp, err := filepath.EvalSymlinks(cmp.Or(cfg.TempDir, os.TempDir()))
	if err != nil {
		return nil, err
	}
	if rel, err := filepath.Rel(workspace, temp); err == nil && filepath.IsLocal(rel) {
		return nil, fmt.Errorf("the workspace cannot be copied below %s, which lies in it: set TMPDIR to a directory outside of it", temp)
	}
	limits := cfg.Copy
	limits.Entries, limits.Bytes = cmp.Or(limits.Entries, maxScratchEntries), cmp.Or(limits.Bytes, maxScratchBytes)
	where := temp // as an error describes it
	if half := freeBytes(temp) / 2; half < limits.Bytes {
		limits.Bytes, where = max(half, 1), temp+", of which half the free space may be taken"
	}
	s := &Scratch{noNetwork: cfg.NoNetwork}
	if s.temp, err = tempdir.Make(temp, "airlock-scratch-", removeAll); err != nil {
		return nil, err
	}
	s.dir = filepath.Join(s.temp.Path, "copy", filepath.Base(workspace)) // tools may expect this name
	inCopy := func(text string) string {
		return replaceDir(replaceDir(text, workspace, s.dir), filepath.Clean(cfg.Workspace), s.dir)
	}
	retarget := func(dir, target string) string {
		if !filepath.IsAbs(target) {
			if filepath.IsLocal(filepath.Join(dir, target)) {
				return target
			}
			target = filepath.Join(workspace, dir, target) // out of the tree, and perhaps into it again
		}
		return inCopy(filepath.Clean(target))
	}
	if err = os.MkdirAll(s.dir, 0o700); err == nil {
		s.notes, err = copyTree(ctx, workspace, s.dir, copyOptions{limits: limits, retarget: retarget})
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("copying the workspace to %s: %w", where, err), s.Close())
	}
	for _, e := range cfg.Environ {
		s.env = append(s.env, inCopy(e))
	}
	return s, nil
}

// Dir returns the path of the copy: absolute, and without links on its way.
func (s *Scratch) Dir() string { return s.dir }

// Notes lists what is not in the copy.
func (s *Scratch) Notes() []Note { return s.notes }

// Run runs a program as command.Run does. spec.Env is added to the environment,
// spec.Dir is the copy if it is "", and the Config decides about NoNetwork.
func (s *Scratch) Run(ctx context.Context, spec command.Spec) (command.Result, error) {
	spec.Env = slices.Concat(s.env, spec.Env)
	spec.Dir = cmp.Or(spec.Dir, s.dir)
	spec.NoNetwork = s.noNetwork
	return command.Run(ctx, spec)
}

// Close removes the copy, even if tools have made directories in it from which nothing may
// be removed.
func (s *Scratch) Close() error { return s.temp.Close() }

// replaceDir replaces the name of a directory wherever a text contains it, or the name of
// something in it.
func replaceDir(text, dir, by string) string {
	var b strings.Builder
	for start := 0; ; {
		i := strings.Index(text[start:], dir)
		if i < 0 {
			b.WriteString(text[start:])
			return b.String()
		}
		begin, end := start+i, start+i+len(dir)
		b.WriteString(text[start:begin])
		if mayBegin(text[:begin]) && mayEnd(text[end:]) {
			b.WriteString(by)
		} else {
			b.WriteString(dir)
		}
		start = end
	}
}

// mayBegin reports whether an absolute name may begin after a text.
func mayBegin(before string) bool {
	return before == "" || !inName(before[len(before)-1]) && !os.IsPathSeparator(before[len(before)-1])
}

// mayEnd reports whether the name of a directory may end before a text.
func mayEnd(after string) bool { return after == "" || !inName(after[0]) }

// inName reports whether a byte is usual in names.
func inName(c byte) bool {
	return c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' || strings.IndexByte("-_.+@", c) >= 0
}
