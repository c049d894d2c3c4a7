// Package gitrepo reads git repositories with git, by argument list, from a
// repository of its own making: git never runs inside a clone that somebody
// else has written.
package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/text"
)

// Options say how git runs.
type Options struct {
	PathList string        // the PATH that git is found in, and runs with; "": DefaultPath
	TempDir  string        // where the repository is made; "": the system's
	Timeout  time.Duration // of each command; 0: two minutes
	MaxDiff  int           // bytes of a diff's hunks that are read; 0: 128 MiB
	OIDLen   int           // of a Repo without a clone: hex digits of an object id, 40 or 64; 0: 40
}

// Repo is a bare repository in a temporary directory. It has no hooks, no
// attributes and no configuration but its own, and borrows a clone's objects.
// Close removes it. Its methods may be used by several goroutines.
type Repo struct {
	dir   string
	clone *Clone
	opt   Options
	known cache // commits and trees that were read and checked
}

// ErrMissing is returned for a commit that the clone does not have.
var ErrMissing = errors.New("the commit is not in the clone")

// ErrShallow is returned when the clone's history ends before the answer.
var ErrShallow = errors.New("the clone is shallow")

// ErrUnreachable is returned for a fetch that did not get through to the server, or
// not through to its end: it may succeed another time.
var ErrUnreachable = errors.New("the connection failed")

// ErrTooLarge is returned for a diff or a file over the limit.
var ErrTooLarge = errors.New("too large")

// deeper is how to mend a clone that lacks history.
const deeper = "set 'fetch-depth: 0' for actions/checkout, or leave the diff to GitHub's API"

// New makes a repository that borrows the objects of the clone, or an empty one
// for a nil clone.
func New(clone *Clone, opt Options) (*Repo, error) {
	switch {
	case clone != nil:
	case opt.OIDLen == 0, opt.OIDLen == 40, opt.OIDLen == 64:
		clone = &Clone{oidLen: max(opt.OIDLen, 40)}
	default:
		return nil, fmt.Errorf("an object id has 40 or 64 hex digits, not %d", opt.OIDLen)
	}
	if opt.PathList == "" {
		opt.PathList = DefaultPath
	}
	if opt.Timeout <= 0 {
		opt.Timeout = 2 * time.Minute
	}
	if opt.MaxDiff <= 0 {
		opt.MaxDiff = maxDiff
	}
	if _, err := command.LookPath("git", opt.PathList); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(opt.TempDir, "airlock-git-")
	if err != nil {
		return nil, fmt.Errorf("making a repository of our own: %w", err)
	}
	r := &Repo{dir: dir, clone: clone, opt: opt}
	if err := r.lay(); err != nil {
		return nil, errors.Join(fmt.Errorf("making a repository of our own: %w", err), r.Close())
	}
	return r, nil
}

// Clone returns the clone whose objects the repository borrows. Of a repository without
// one, all its paths are empty.
func (r *Repo) Clone() *Clone { return r.clone }

// IDLen returns how many hex digits an object id has: 40, or 64 for SHA-256.
func (r *Repo) IDLen() int { return r.clone.oidLen }

// Close removes the repository.
func (r *Repo) Close() error { return os.RemoveAll(r.dir) }

// lay writes the files that make a directory a bare repository.
func (r *Repo) lay() error {
	config := "[core]\n\trepositoryformatversion = 0\n"
	if r.clone.oidLen == 64 {
		config = "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n"
	}
	config += `[core]
	bare = true
	hooksPath = /dev/null
	attributesFile = /dev/null
	fsmonitor = false
	commitGraph = false
	fsync = none
	quotePath = true
	protectHFS = true
	protectNTFS = true
	pager = cat
[gc]
	auto = 0
[maintenance]
	auto = false
[credential]
	helper =
[protocol]
	allow = never
[protocol "https"]
	allow = always
`
	files := map[string]string{
		"HEAD":   "ref: refs/heads/airlock-none\n",
		"config": config,
	}
	if r.clone.ObjectDir != "" {
		files["objects/info/alternates"] = quotePath(r.clone.ObjectDir) + "\n"
	}
	if len(r.clone.Shallow) > 0 {
		files["shallow"] = strings.Join(r.clone.Shallow, "\n") + "\n"
	}
	for _, d := range []string{"objects/info", "objects/pack", "refs/heads", "refs/tags"} {
		if err := os.MkdirAll(filepath.Join(r.gitDir(), filepath.FromSlash(d)), 0o700); err != nil {
			return err
		}
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(r.gitDir(), filepath.FromSlash(name)), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return os.Mkdir(filepath.Join(r.dir, "home"), 0o700)
}

func (r *Repo) gitDir() string { return filepath.Join(r.dir, "repo.git") }

// quotePath writes a path as a line of objects/info/alternates, in quotes, so
// that no character of it has a meaning.
func quotePath(path string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(filepath.ToSlash(path)) + `"`
}

// env is the whole environment that git sees.
func (r *Repo) env() []string {
	return []string{
		"PATH=" + r.opt.PathList,
		"HOME=" + filepath.Join(r.dir, "home"),
		"XDG_CONFIG_HOME=" + filepath.Join(r.dir, "home"),
		"LC_ALL=C", "TZ=UTC",
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_CONFIG_SYSTEM=" + os.DevNull,
		"GIT_ATTR_NOSYSTEM=1",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_ASKPASS=",
		"GIT_ALLOW_PROTOCOL=https",
		"GIT_NO_REPLACE_OBJECTS=1",
		"GIT_NO_LAZY_FETCH=1",
		"GIT_OPTIONAL_LOCKS=0",
		"GIT_PAGER=cat",
	}
}

// git runs git in the repository, without a work tree. It returns the exit code,
// which is 0 or 1, and the output if it is no larger than limit bytes.
func (r *Repo) git(ctx context.Context, limit int, stdin io.Reader, args ...string) (out []byte, code int, err error) {
	a, err := r.Run(ctx, Call{Stdin: stdin, Limit: limit, AnyExit: true}, args...)
	if err == nil && a.ExitCode > 1 {
		err = fmt.Errorf("git %s failed: %s", args[0], a.Reason())
	}
	if err != nil {
		return nil, a.ExitCode, err
	}
	return a.Stdout, a.ExitCode, nil
}

// maxOutput is how much of git's output is read when a call does not say, in
// bytes.
const maxOutput = 64 << 20

// Call says how git runs beyond its arguments.
type Call struct {
	Stdin    io.Reader     // nil: empty
	Limit    int           // of the output, in bytes; 0: maxOutput
	Index    string        // the index file to use; "": none is used
	WorkTree string        // a work tree of our own making, never somebody's; "": none
	Env      []string      // more variables, as NAME=value
	files    []*os.File    // that git and what it starts inherit, from 3 on
	timeout  time.Duration // 0: that of the Repo
	// AnyExit makes every exit code an answer: none is an error.
	AnyExit bool
}

// Output is what git said.
type Output struct {
	Stdout   []byte
	ExitCode int
	// Signal ended git, "" if none did.
	Signal string
	// Stderr is what git said to people, at most 64 KiB: not for parsing beyond
	// the words of an error, and never shown unquoted.
	Stderr string
}

// Reason returns the first line of what git said to people, or its exit code, quoted and
// cut to 300 bytes, for an error message.
func (a Output) Reason() string {
	reason, _, _ := strings.Cut(strings.TrimSpace(a.Stderr), "\n")
	if len(reason) > 300 {
		reason = reason[:300] + "..."
	}
	if reason == "" {
		reason = fmt.Sprintf("exit code %d %s", a.ExitCode, a.Signal)
	}
	return strconv.Quote(reason)
}

// Records splits output that ends each record with a NUL.
func (a Output) Records() []string {
	text := strings.TrimSuffix(string(a.Stdout), "\x00")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\x00")
}

// Line returns output that is one Line.
func (a Output) Line() string { return strings.TrimSpace(string(a.Stdout)) }

// Run runs git in the repository, as the method git does, with more options. An
// exit code other than 0 is an error unless the call expects one.
func (r *Repo) Run(ctx context.Context, c Call, args ...string) (Output, error) {
	if c.Limit == 0 {
		c.Limit = maxOutput
	}
	if c.timeout == 0 {
		c.timeout = r.opt.Timeout
	}
	global := []string{"--git-dir=" + r.gitDir()}
	if args[0] != "check-ignore" { // the only command that refuses it
		global = append(global, "--literal-pathspecs")
	}
	env, dir := append(r.env(), c.Env...), r.dir
	if c.WorkTree != "" {
		global = append(global, "--work-tree="+c.WorkTree)
		dir = c.WorkTree
	}
	if c.Index != "" {
		env = append(env, "GIT_INDEX_FILE="+c.Index)
	}
	sink := &buffer{limit: c.Limit}
	res, err := command.Run(ctx, command.Spec{
		Program: "git", Args: append(global, args...),
		Env: env, Dir: dir, Stdin: c.Stdin, Stdout: sink, ExtraFiles: c.files, Timeout: c.timeout, OutputLimit: 64 << 10,
	})
	a := Output{Stdout: sink.data, ExitCode: res.ExitCode, Signal: res.Signal, Stderr: res.Stderr.String()}
	switch {
	case errors.Is(err, errTooLarge):
		return a, fmt.Errorf("%w: git %s gives more than %s", ErrTooLarge, args[0], text.Bytes(c.Limit))
	case err != nil:
		return a, err
	case res.TimedOut:
		return a, fmt.Errorf("git %s took longer than %v", args[0], c.timeout)
	case res.ExitCode < 0, res.ExitCode > 0 && !c.AnyExit:
		return a, fmt.Errorf("git %s failed: %s", args[0], a.Reason())
	}
	return a, nil
}

// TempDir makes a private directory that is removed with the repository, or
// before by the function that it returns.
func (r *Repo) TempDir() (dir string, remove func(), err error) {
	if dir, err = os.MkdirTemp(r.dir, "scratch-"); err != nil {
		return "", nil, fmt.Errorf("making a directory of our own: %w", err)
	}
	return dir, func() { _ = os.RemoveAll(dir) }, nil
}

// scratchFile writes a private file, which the function that it returns removes.
func (r *Repo) scratchFile(name, text string) (path string, remove func(), err error) {
	dir, remove, err := r.TempDir()
	if err != nil {
		return "", nil, err
	}
	path = filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		remove()
		return "", nil, fmt.Errorf("writing a file of our own: %w", err)
	}
	return path, remove, nil
}

// TreeID returns the id of the tree of a commit, or of a tree itself.
func (r *Repo) TreeID(ctx context.Context, commitOrTree string) (string, error) {
	if !IsObjectID(commitOrTree) {
		return "", fmt.Errorf("%q is not a whole object id", commitOrTree)
	}
	a, err := r.Run(ctx, Call{Limit: 1 << 10}, "rev-parse", "--verify", "--quiet", commitOrTree+"^{tree}")
	return a.Line(), err
}
