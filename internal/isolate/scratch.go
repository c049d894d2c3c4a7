package isolate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/agent-airlock/airlock/internal/command"
)

// What is copied into a Scratch at most, where the Config names no limits: it is made
// in the middle of the checks, for suggestions, which are not worth minutes.
const (
	maxScratchEntries = 200_000
	maxScratchBytes   = 2 << 30
)

// Scratch is a copy of the workspace that nobody keeps. Its programs run as this
// process's user and in the user's environment: unlike a Sandbox, it keeps nothing
// apart. Close must be called.
type Scratch struct {
	base  string // holds the copy alone
	dir   string
	env   []string
	notes []Note
}

// OpenScratch copies the workspace, without git's folder, into a folder that only this
// user may enter. Of the Config, Workspace, Environ, Scratch and Copy count. In the
// environment and in links, the workspace's name is replaced by the copy's, so that
// what changes files by their absolute names does so in the copy. Links out of the
// workspace lead to where they led.
//
// The error says why there can be no copy, and nothing is left of it then: the
// workspace is too large for the limits or for half of the free space, the scratch
// directory lies in it, or Airlock copies nothing on this system, such as Windows.
func OpenScratch(ctx context.Context, cfg Config) (*Scratch, error) {
	workspace, err := filepath.EvalSymlinks(cfg.Workspace)
	if err != nil {
		return nil, err
	}
	temp, err := filepath.EvalSymlinks(cmp.Or(cfg.Scratch, os.TempDir()))
	if err != nil {
		return nil, err
	}
	if rel, err := filepath.Rel(workspace, temp); err == nil && filepath.IsLocal(rel) {
		return nil, fmt.Errorf("the workspace cannot be copied below %s, which lies in it: set TMPDIR to a directory outside of it", temp)
	}
	limits := cfg.Copy
	limits.Entries, limits.Bytes = cmp.Or(limits.Entries, maxScratchEntries), cmp.Or(limits.Bytes, maxScratchBytes)
	to := temp // as an error names it
	if half := freeBytes(temp) / 2; half < limits.Bytes {
		limits.Bytes, to = max(half, 1), temp+", of which half the free space may be taken"
	}
	s := &Scratch{}
	if s.base, err = os.MkdirTemp(temp, "airlock-scratch-"); err != nil {
		return nil, err
	}
	s.dir = filepath.Join(s.base, filepath.Base(workspace)) // the name that tools may know
	inCopy := func(text string) string {
		return renamed(renamed(text, workspace, s.dir), filepath.Clean(cfg.Workspace), s.dir)
	}
	if err = os.Mkdir(s.dir, 0o700); err == nil {
		s.notes, err = copyOwn(ctx, workspace, s.dir, limits, func(dir, to string) string {
			if !filepath.IsAbs(to) {
				if filepath.IsLocal(filepath.Join(dir, to)) {
					return to
				}
				to = filepath.Join(workspace, dir, to) // out of the tree, and into it again perhaps
			}
			return inCopy(filepath.Clean(to))
		})
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("copying the workspace to %s: %w", to, err), s.Close())
	}
	for _, e := range cfg.Environ {
		s.env = append(s.env, inCopy(e))
	}
	return s, nil
}

// Dir is the copy of the workspace: absolute, and without links on its way.
func (s *Scratch) Dir() string { return s.dir }

// Notes lists what is not in the copy.
func (s *Scratch) Notes() []Note { return s.notes }

// Run runs a program as command.Run does. spec.Env adds to the environment, and
// spec.Dir is the copy if it is "".
func (s *Scratch) Run(ctx context.Context, spec command.Spec) (command.Result, error) {
	spec.Env = append(s.env[:len(s.env):len(s.env)], spec.Env...)
	spec.Dir = cmp.Or(spec.Dir, s.dir)
	return command.Run(ctx, spec)
}

// Close removes the copy, also where tools made folders in which nothing may be removed.
func (s *Scratch) Close() error { return removeAll(s.base) }

// renamed puts another name in the place of a folder's, wherever a text names the
// folder or what lies in it.
func renamed(text, from, to string) string {
	var b strings.Builder
	for at := 0; ; {
		i := strings.Index(text[at:], from)
		if i < 0 {
			b.WriteString(text[at:])
			return b.String()
		}
		begin, end := at+i, at+i+len(from)
		b.WriteString(text[at:begin])
		if startsName(text[:begin]) && endsName(text[end:]) {
			b.WriteString(to)
		} else {
			b.WriteString(from)
		}
		at = end
	}
}

// startsName reports whether an absolute name may begin behind a text.
func startsName(before string) bool {
	return before == "" || !inName(before[len(before)-1]) && !os.IsPathSeparator(before[len(before)-1])
}

// endsName reports whether a folder's name may have ended in front of a text.
func endsName(after string) bool { return after == "" || !inName(after[0]) }

// inName reports whether a byte is usual in names.
func inName(c byte) bool {
	return c >= 0x80 || c == '-' || c == '_' || c == '.' || c == '+' || c == '@' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}
