// Package isolate runs a pull request's code apart from Airlock's credentials: as a
// user that owns nothing, in a copy of the workspace, with an environment from
// zero, while the runner's files are closed to others.
package isolate

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"sync"

	"github.com/agent-airlock/airlock/internal/command"
)

// DefaultIdentity is the user and group of what runs in a Sandbox: nobody's, in the
// image and on usual systems.
var DefaultIdentity = command.Identity{UID: 65532, GID: 65532}

// Config says what is kept apart from what.
type Config struct {
	Workspace string // absolute; a directory
	// Credential says that a token or a credential of git's can be seen by this
	// process or lies in its files. Without separation, Open refuses then.
	Credential bool
	Environ    []string // this process's environment, as os.Environ returns it
	Pass       []string // names of Environ to pass on; nil: DefaultPass
	// Closed are files, folders and sockets that lose all rights for others until
	// Close: see RunnerPaths. The workspace need not be named.
	Closed []string
	// Scratch is an existing directory for the copy, which others may enter; "" is
	// the system's temporary directory.
	Scratch  string
	Identity *command.Identity // nil: DefaultIdentity, or another that is free
	Limits   command.Limits    // of each program whose Spec has none
	Copy     CopyLimits
	// Disk is how many bytes a program may take from the copy's file system,
	// beyond which it is ended; 0: no limit. Others' use of it counts too.
	Disk int64
}

// Note is something that Open did not take over, and why.
type Note struct{ Name, Why string }

// RefusedError is why nothing of a pull request may run here.
type RefusedError struct{ Why string }

// Error implements error.
func (e *RefusedError) Error() string {
	return "refusing to run the repository's code: " + e.Why + "; run the checks in a job without secrets (permissions: contents: read), or as root on Linux, as the action does"
}

// Sandbox is where a pull request's code runs. Close must be called.
type Sandbox struct {
	apart  bool
	base   string   // absolute: holds all that the sandbox has made
	dir    string   // absolute
	env    []string // without what differs from user to user
	notes  []Note
	limits command.Limits
	disk   int64
	owners []uint32 // of what is closed: none of the sandbox's programs may be one of them
	undo   []func() error

	// users are those that the sandbox's programs run as, the sandbox's own first; each has
	// one program at a time.
	users   []*user
	workers []*Worker
	// mu is held for writing by whoever needs the whole sandbox, for reading by the workers'
	// programs; it guards split.
	mu    sync.RWMutex
	split bool // the workers' folders are their users'
}

// Apart reports whether what runs in the sandbox is apart from this process. It is
// not where neither root nor a credential is at stake: there it runs in the
// workspace itself, as the user, in the user's environment.
func (r *Sandbox) Apart() bool { return r.apart }

// Dir is the workspace as the sandbox's programs see it. What lies there after a run
// was made by a stranger: read it without following links.
func (r *Sandbox) Dir() string { return r.dir }

// Notes lists what is not in the copy and which variables are not passed on.
func (r *Sandbox) Notes() []Note { return r.notes }

// Open prepares a sandbox. Where it needs to be apart and cannot be, the error is a
// *RefusedError. Of two sandboxes that close the same paths, the one that is left first
// gives them their rights back.
func Open(ctx context.Context, cfg Config) (*Sandbox, error) {
	why := cannotSeparate()
	if why != "" && cfg.Credential {
		return nil, &RefusedError{"a token or git credential can be seen here, and " + why}
	}
	if why != "" {
		return &Sandbox{dir: cfg.Workspace, env: cfg.Environ}, nil
	}
	r := &Sandbox{apart: true, limits: cfg.Limits, disk: cfg.Disk}
	if err := r.separate(ctx, cfg); err != nil {
		_ = r.Close()
		return nil, err
	}
	return r, nil
}

// Run runs a program in the sandbox as command.Run does; in a sandbox that is apart, while
// no other runs there. The sandbox gives the identity and, where the Spec has none, the
// limits and the directory; spec.Env adds to the sandbox's environment.
func (r *Sandbox) Run(ctx context.Context, spec command.Spec) (command.Result, error) {
	if !r.apart {
		return command.Run(ctx, r.complete(spec, nil))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.unite(ctx); err != nil {
		return command.Result{ExitCode: -1}, err
	}
	return r.runAs(ctx, r.users[0], spec)
}

// runAs runs a program as one of the sandbox's users. The caller holds r.mu, and nothing
// else runs as that user.
func (r *Sandbox) runAs(ctx context.Context, u *user, spec command.Spec) (command.Result, error) {
	spec.Identity = &u.identity
	if spec.Limits == (command.Limits{}) {
		spec.Limits = r.limits
	}
	ctx, stop := watchDisk(ctx, r.dir, r.disk)
	defer stop()
	return command.Run(ctx, r.complete(spec, u.env()))
}

// complete fills in what the sandbox gives.
func (r *Sandbox) complete(spec command.Spec, own []string) command.Spec {
	spec.Env = slices.Concat(r.env, own, spec.Env)
	if spec.Dir == "" {
		spec.Dir = r.dir
	}
	return spec
}

// Replacements returns the names of the sandbox's places, and after each what stands for it
// where it means something to a reader: pairs, as strings.NewReplacer takes them. They
// are none where the programs run in the workspace itself.
func (r *Sandbox) Replacements() []string {
	if !r.apart {
		return nil
	}
	names := []string{r.dir + string(filepath.Separator), "", r.dir, "."}
	for _, u := range r.users {
		names = append(names, u.home, "~", u.temp, "$TMPDIR")
	}
	return append(names, filepath.Join(r.base, sharedHome), "~")
}

// Close removes the copy and what the programs left in the system's shared
// directories, and gives the closed paths their rights back.
func (r *Sandbox) Close() error {
	var first error
	for i := len(r.undo) - 1; i >= 0; i-- {
		if err := r.undo[i](); err != nil && first == nil {
			first = fmt.Errorf("clearing up after the checks: %w", err)
		}
	}
	r.undo = nil
	for _, u := range r.users { // only now may others be these users
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

// sharedHome is the folder in a sandbox for what its users share.
const sharedHome = "shared"

// user is one that programs of a sandbox run as, one program at a time.
type user struct {
	identity   command.Identity
	home, temp string // absolute: folders of its own
	lock       io.Closer
}

// env is what a user's environment has beside the sandbox's.
func (u *user) env() []string { return []string{"HOME=" + u.home, "TMPDIR=" + u.temp} }

// ids returns the ids of the sandbox's users.
func (r *Sandbox) ids() []uint32 {
	ids := make([]uint32, len(r.users))
	for i, u := range r.users {
		ids[i] = u.identity.UID
	}
	return ids
}

// RunnerPaths returns what GitHub's runner mounts into a container action or names
// in a step's environment: its folders, the folders of its command files and of
// the event, and the engine's sockets. Off a runner there is nothing of the kind
// but the sockets.
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
