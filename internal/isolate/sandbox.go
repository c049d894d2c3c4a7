// Package isolate runs a pull request's code apart from Airlock's credentials: as a
// user that owns nothing, in a copy of the workspace, with an environment built from
// nothing, while the runner's files are closed to other users.
package isolate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/agent-airlock/airlock/internal/command"
)

// Config is what programs run on, and what they are kept apart from.
type Config struct {
	Workspace string   // required; the absolute path of a directory
	Environ   []string // required; this process's environment, as os.Environ returns it
	Pass      []string // names of variables to pass on from Environ; nil: DefaultPass
	// Credential is true where this process can see a token or a credential of git, or has
	// one in its files. Open then refuses unless it can keep the programs apart.
	Credential bool
	// Closed are files, directories and sockets that other users lose all rights to until
	// Close: see RunnerPaths. The workspace is always one of them.
	Closed []string
	// TempDir is an existing directory below which the copy is made, and which other users
	// may enter; "" is the system's directory for temporary files.
	TempDir  string
	Identity *command.Identity // nil: one that no other process uses
	// Seed is a directory with caches of toolchains, "" if there is none. Each user's home
	// directory begins with links to its files. Nobody but root may write there.
	Seed string
	// NoNetwork gives each program a network of its own, in which there is only the
	// loopback. Open returns a *NoNetworkError where that cannot be had.
	NoNetwork bool
	Limits    command.Limits // of each program whose Spec has none
	Copy      CopyLimits
	// Copied, if not nil, is called with the number of entries that have been copied: with 0
	// at the beginning, and then now and then, from several goroutines.
	Copied func(entries int64)
	// Disk is how many bytes of the copy's file system a program may take before it is
	// ended; 0: no limit. What others take of it counts too.
	Disk int64
}

// Note is a file, variable or directory of PATH that is not in a sandbox or a copy, and why.
type Note struct{ Name, Why string }

// RefusedError is why no code of a pull request may run here.
type RefusedError struct{ Why string }

// Error implements error.
func (e *RefusedError) Error() string {
	return "refusing to run the repository's code: " + e.Why + "; run the checks in a job without secrets (permissions: contents: read), or as root on Linux, as the action does"
}

// NoNetworkError is why programs cannot be kept from the network here.
type NoNetworkError struct{ Why error }

// Error implements error.
func (e *NoNetworkError) Error() string {
	return fmt.Sprintf("the programs cannot be kept from the network here: %v. This needs Linux, and root with the right to make network namespaces (which the container of an action does not have) or a system that lets every user make them", e.Why)
}

// Unwrap returns the cause.
func (e *NoNetworkError) Unwrap() error { return e.Why }

// Sandbox is where a pull request's code runs. Close must be called.
type Sandbox struct {
	apart     bool
	noNetwork bool
	seed      string
	base      string   // the absolute path of the directory that contains all that the sandbox has made
	dir       string   // the absolute path of the workspace copy
	env       []string // the part of the environment that all users have in common
	notes     []Note
	limits    command.Limits
	disk      int64
	owners    []uint32       // the owners of what is closed; no program may run as one of them
	undo      []func() error // what Close does, last first

	// users are the users as which programs run, the sandbox's own first.
	users   []*user
	workers []*Worker
	// mu guards split. The workers' programs run while it is held for reading, programs of
	// the sandbox itself while it is held for writing.
	mu sync.RWMutex
	// splitting is held while a worker takes mu for reading, so that none waits with split unset to
	// take it for writing while the program of another runs.
	splitting sync.Mutex
	split     bool // the workers' users own their directories, instead of the sandbox's own user
}

// user is a user of the system as which programs of a sandbox run, one at a time.
type user struct {
	identity   command.Identity
	home, temp string    // absolute paths of directories of its own
	lock       io.Closer // keeps other processes from using the identity
}

// env returns the part of the environment that differs from user to user.
func (u *user) env() []string { return []string{"HOME=" + u.home, "TMPDIR=" + u.temp} }

// Open prepares a sandbox. It is apart from this process if this process is root's, on Linux.
// Otherwise the code runs in the workspace itself, and only Workspace, Environ and NoNetwork of
// the Config apply; but if there is a credential at stake, the error is a *RefusedError. If two
// sandboxes close the same paths, others have their rights again as soon as the one that was opened
// first is closed.
func Open(ctx context.Context, cfg Config) (*Sandbox, error) {
	why := cannotSeparate()
	if why != "" && cfg.Credential {
		return nil, &RefusedError{"a token or git credential can be seen here, and " + why}
	}
	if cfg.NoNetwork {
		if err := command.ProbeNoNetwork(); isExhausted(err) {
			return nil, err
		} else if err != nil {
			return nil, &NoNetworkError{err}
		}
	}
	if why != "" {
		return &Sandbox{dir: cfg.Workspace, env: cfg.Environ, noNetwork: cfg.NoNetwork}, nil
	}
	s := &Sandbox{apart: true, noNetwork: cfg.NoNetwork, seed: cfg.Seed, limits: cfg.Limits, disk: cfg.Disk}
	if err := s.separate(ctx, cfg); err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

// isExhausted reports whether an error says that there are too few file descriptors or processes, or
// too little memory. Such an error says nothing about what this system permits.
func isExhausted(err error) bool {
	for _, e := range []error{syscall.EMFILE, syscall.ENFILE, syscall.EAGAIN, syscall.ENOMEM} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// Apart reports whether the programs are kept apart from this process. If not, they run
// in the workspace itself, as the user of this process and in its environment.
func (s *Sandbox) Apart() bool { return s.apart }

// Dir returns the absolute path of the workspace as programs see it. What is there after
// a run was written by a stranger: read it without following links.
func (s *Sandbox) Dir() string { return s.dir }

// Notes lists the files that are not in the copy, the variables that are not passed on, and the
// directories of PATH that programs may not enter.
func (s *Sandbox) Notes() []Note { return s.notes }

// Getenv returns a variable of the environment that all programs of the sandbox have in
// common, "" if it is not set.
func (s *Sandbox) Getenv(name string) string {
	for _, e := range slices.Backward(s.env) { // of several, the last counts
		if value, ok := strings.CutPrefix(e, name+"="); ok {
			return value
		}
	}
	return ""
}

// Replacements returns the names of the sandbox's directories, and after each what a
// reader should see instead: pairs for strings.NewReplacer. There are none if programs run
// in the workspace itself.
func (s *Sandbox) Replacements() []string {
	if !s.apart {
		return nil
	}
	pairs := []string{s.dir + string(filepath.Separator), "", s.dir, "."}
	for _, u := range s.users {
		pairs = append(pairs, u.home, "~", u.temp, "$TMPDIR")
	}
	return append(pairs, s.sharedHome(), "~")
}

// sharedHome returns the directory for files that all users share.
func (s *Sandbox) sharedHome() string { return filepath.Join(s.base, "shared") }

// Run runs a program as command.Run does. In a sandbox that is apart, no other program
// runs meanwhile, and the sandbox sets the identity and, where the Spec has none, the limits.
// It sets the directory where the Spec has none, and adds spec.Env to its environment.
func (s *Sandbox) Run(ctx context.Context, spec command.Spec) (command.Result, error) {
	if !s.apart {
		return command.Run(ctx, s.complete(spec, nil))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.assign(ctx, false); err != nil {
		return command.Result{ExitCode: -1}, err
	}
	return s.runAs(ctx, s.users[0], spec)
}

// runAs runs a program as one of the users. The caller holds s.mu, and nothing else runs
// as that user.
func (s *Sandbox) runAs(ctx context.Context, u *user, spec command.Spec) (command.Result, error) {
	spec.Identity = &u.identity
	spec.Limits = cmp.Or(spec.Limits, s.limits)
	ctx, stop := watchDisk(ctx, s.dir, s.disk)
	defer stop()
	return command.Run(ctx, s.complete(spec, u.env()))
}

// complete sets NoNetwork, and adds the environment and, if there is none, the directory.
func (s *Sandbox) complete(spec command.Spec, own []string) command.Spec {
	spec.Env = slices.Concat(s.env, own, spec.Env)
	spec.NoNetwork = s.noNetwork
	spec.Dir = cmp.Or(spec.Dir, s.dir)
	return spec
}

// ids returns the ids of the users.
func (s *Sandbox) ids() []uint32 {
	ids := make([]uint32, len(s.users))
	for i, u := range s.users {
		ids[i] = u.identity.UID
	}
	return ids
}

// Close removes the copy and what the programs left in the system's shared directories,
// and gives others their rights to the closed paths back.
func (s *Sandbox) Close() error {
	var first error
	for _, undo := range slices.Backward(s.undo) {
		if err := undo(); err != nil && first == nil {
			first = fmt.Errorf("clearing up after the checks: %w", err)
		}
	}
	s.undo = nil
	for _, u := range s.users { // only now may other processes use these identities
		if u.lock == nil {
			continue
		}
		if err := u.lock.Close(); err != nil && first == nil {
			first = err
		}
		u.lock = nil
	}
	return first
}

// RunnerPaths returns what GitHub's runner mounts into a container action or names in a
// step's environment: its directories, its command files and the event with their directories,
// and the sockets of container engines. Outside of a runner there are only the sockets.
func RunnerPaths(getenv func(string) string) []string {
	paths := []string{"/var/run/docker.sock", "/run/docker.sock", "/run/containerd/containerd.sock", "/run/podman/podman.sock"}
	if getenv("GITHUB_ACTIONS") != "true" {
		return paths
	}
	paths = append(paths, "/github")
	for _, name := range []string{"GITHUB_WORKSPACE", "RUNNER_TEMP", "HOME", "RUNNER_WORKSPACE"} {
		paths = append(paths, getenv(name))
	}
	for _, name := range []string{"GITHUB_EVENT_PATH", "GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STATE", "GITHUB_STEP_SUMMARY"} {
		if file := getenv(name); file != "" {
			paths = append(paths, filepath.Dir(file), file)
		}
	}
	return slices.DeleteFunc(paths, func(p string) bool { return !filepath.IsAbs(p) || filepath.Clean(p) == "/" })
}
