// Package gitrepo runs git by argument list, in repositories of our own making only: git
// never runs in a clone that somebody else has written, because a clone's configuration,
// attributes and hooks can name programs.
package gitrepo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/lazyregexp"
	"github.com/agent-airlock/airlock/internal/nofollow"
	"github.com/agent-airlock/airlock/internal/tempdir"
	"github.com/agent-airlock/airlock/internal/text"
)

// Options are how git runs. The zero value is usable.
type Options struct {
	PathList string // the PATH that git is found in, and runs with; "": DefaultPath
	TempDir  string // where the repository is made; "": the system's directory for temporary files
	MaxDiff  int    // bytes of a diff's hunks that are read; 0: 128 MiB
	OIDLen   int    // hex digits of an object id in a Repo without a clone, 40 or 64; 0: 40
	// MaxMemory is how many bytes each process of git may write to, on Linux; 0: 2 GiB.
	MaxMemory int64
}

// Repo is a bare repository in a temporary directory. It has no hooks, no attributes and no
// configuration but its own, and borrows a clone's objects. Close removes it. Its methods
// may be used by several goroutines.
type Repo struct {
	temp    *tempdir.Dir
	clone   *Clone
	opt     Options
	store   *objectStore // the clone's
	known   cache        // commits and trees that have been read and checked
	batches batches      // processes of git cat-file that read objects
	// present caches the ids of commits that the repository is known to have.
	present sync.Map
}

// ErrMissing is returned for a commit that the clone does not have.
var ErrMissing = errors.New("the commit is not in the clone")

// ErrShallow is returned if the clone's history is cut off before the answer.
var ErrShallow = errors.New("the clone is shallow")

// ErrUnreachable is returned for a fetch whose connection to the server failed: it may
// succeed another time.
var ErrUnreachable = errors.New("the connection failed")

// ErrTooLarge is returned for what is over a limit, such as a diff, a file, or the output or memory
// of a run of git.
var ErrTooLarge = nofollow.ErrTooLarge

// deepen is the remedy for a clone that lacks history.
const deepen = "set 'fetch-depth: 0' for actions/checkout, or leave the diff to GitHub's API"

// New makes a repository that borrows the objects of the clone, or an empty one for a nil clone. It
// removes repositories that killed processes left. It refuses a clone if an object directory
// contains something that is neither an ordinary file nor a directory.
func New(clone *Clone, opt Options) (*Repo, error) {
	switch {
	case clone != nil:
	case opt.OIDLen == 0, opt.OIDLen == 40, opt.OIDLen == 64:
		clone = &Clone{oidLen: cmp.Or(opt.OIDLen, 40)}
	default:
		return nil, fmt.Errorf("an object id has 40 or 64 hex digits, not %d", opt.OIDLen)
	}
	opt.PathList = cmp.Or(opt.PathList, DefaultPath)
	if opt.MaxDiff <= 0 {
		opt.MaxDiff = maxDiff
	}
	if _, err := command.LookPath("git", opt.PathList); err != nil {
		return nil, err
	}
	store, err := inspectStore(clone.objectDirs)
	if err != nil {
		return nil, err
	}
	temp, err := tempdir.Make(opt.TempDir, "airlock-git-", nil)
	if err != nil {
		return nil, fmt.Errorf("making a temporary repository: %w", err)
	}
	r := &Repo{temp: temp, clone: clone, opt: opt, store: store}
	err = r.initIn(r.gitDir())
	if err == nil {
		err = os.Mkdir(r.homeDir(), 0o700)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("making a temporary repository: %w", err), r.Close())
	}
	return r, nil
}

// Clone returns the clone whose objects the repository borrows. If the repository was made without
// a clone, all paths of the result are empty.
func (r *Repo) Clone() *Clone { return r.clone }

// IDLen returns how many hex digits an object id has: 40, or 64 for SHA-256.
func (r *Repo) IDLen() int { return r.clone.oidLen }

// Close removes the repository, and restores those modification times in the clone that git has
// changed.
func (r *Repo) Close() error {
	r.batches.close()
	return errors.Join(r.temp.Close(), r.store.restore())
}

// initIn writes the files that make a directory a bare repository with the clone's objects.
func (r *Repo) initIn(gitDir string) error {
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
	bigFileThreshold = 16m
	protectHFS = true
	protectNTFS = true
	pager = cat
[pack]
	windowMemory = 64m
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
		files["objects/info/alternates"] = quote(filepath.ToSlash(r.clone.ObjectDir)) + "\n"
	}
	if len(r.clone.Shallow) > 0 {
		files["shallow"] = strings.Join(r.clone.Shallow, "\n") + "\n"
	}
	for _, dir := range []string{"objects/info", "objects/pack", "refs/heads", "refs/tags"} {
		if err := os.MkdirAll(filepath.Join(gitDir, filepath.FromSlash(dir)), 0o700); err != nil {
			return err
		}
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(gitDir, filepath.FromSlash(name)), []byte(content), 0o600); err != nil {
			return err
		}
	}
	return nil
}

func (r *Repo) gitDir() string { return filepath.Join(r.temp.Path, "repo.git") }

// homeDir is git's home directory, which is empty.
func (r *Repo) homeDir() string { return filepath.Join(r.temp.Path, "home") }

// quote writes a value of a configuration, or a line of objects/info/alternates, in quotes, so
// that none of its characters has a meaning.
func quote(value string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(value) + `"`
}

// env returns the environment of git, to which a Call can add.
func (r *Repo) env() []string {
	return []string{
		"PATH=" + r.opt.PathList,
		"HOME=" + r.homeDir(),
		"XDG_CONFIG_HOME=" + r.homeDir(),
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

// AnyExit is the MaxExit of a Call for which no exit code is an error.
const AnyExit = 255

// The limits of one run of git, unless a Call has others.
const (
	maxOutput  = 64 << 20 // bytes of its output
	maxMemory  = 2 << 30  // bytes that each of its processes may write to, unless Options say otherwise
	gitTimeout = 2 * time.Minute
)

// Call is how git runs, in addition to its arguments.
type Call struct {
	Stdin    io.Reader // nil: empty
	Limit    int       // of the output, in bytes; 0: 64 MiB
	Index    string    // the index file to use; "": none
	WorkTree string    // a work tree of our own making, never somebody else's; "": none
	Env      []string  // more variables, as NAME=value
	MaxExit  int       // the highest exit code that is a result; those above are errors

	gitDir  string        // another directory of our own making that git works on; "": the repository
	files   []*os.File    // git and its child processes inherit them, as descriptors from 3 on
	timeout time.Duration // 0: gitTimeout
}

// Output is what git printed, and how it ended.
type Output struct {
	Stdout   []byte
	ExitCode int
	Signal   string // that ended git; "": none
	// Stderr is what git printed for people, at most 64 KiB. It is searched for the words of
	// errors. It may be shown only in quotes, or as one line that is safe to show.
	Stderr string
	wait   time.Duration // that the remote's last answer asks for; 0: none
}

// Reason returns the first line that git printed for people, cut to 300 bytes, or
// its exit code and signal. The result is quoted, for an error message.
func (o Output) Reason() string {
	reason, _, _ := strings.Cut(strings.TrimSpace(o.Stderr), "\n")
	if len(reason) > 300 {
		reason = strings.ToValidUTF8(reason[:300], "") + "..." // without a part of a character
	}
	if reason == "" {
		reason = fmt.Sprintf("exit code %d %s", o.ExitCode, o.Signal)
	}
	return strconv.Quote(reason)
}

// Records splits output in which each record ends with a NUL.
func (o Output) Records() []string {
	records := strings.TrimSuffix(string(o.Stdout), "\x00")
	if records == "" {
		return nil
	}
	return strings.Split(records, "\x00")
}

// Line returns output that is one line.
func (o Output) Line() string { return strings.TrimSpace(string(o.Stdout)) }

// Run runs git in the repository. The error is ErrTooLarge if it prints more than the
// limit; the Output is what was read until then.
func (r *Repo) Run(ctx context.Context, c Call, args ...string) (Output, error) {
	stdout := &buffer{limit: cmp.Or(c.Limit, maxOutput)}
	spec := r.spec(c, stdout, args...)
	spec.Timeout = cmp.Or(c.timeout, gitTimeout)
	res, err := command.Run(ctx, spec)
	out := Output{Stdout: stdout.data, ExitCode: res.ExitCode, Signal: res.Signal, Stderr: res.Stderr.String()}
	if errors.Is(err, errFull) {
		return out, fmt.Errorf("%w: git %s prints more than %s", ErrTooLarge, args[0], text.Bytes(stdout.limit))
	}
	return out, r.outcome(c, args[0], out, res, err)
}

// spec returns how git runs, without its time limit.
func (r *Repo) spec(c Call, stdout io.Writer, args ...string) command.Spec {
	global := []string{"--git-dir=" + cmp.Or(c.gitDir, r.gitDir())}
	if args[0] != "check-ignore" { // the only command that does not accept it
		global = append(global, "--literal-pathspecs")
	}
	env, dir := append(r.env(), c.Env...), r.temp.Path
	if c.WorkTree != "" {
		global = append(global, "--work-tree="+c.WorkTree)
		dir = c.WorkTree
	}
	if c.Index != "" {
		env = append(env, "GIT_INDEX_FILE="+c.Index)
	}
	return command.Spec{
		Program: "git", Args: append(global, args...),
		Env: env, Dir: dir, Stdin: c.Stdin, Stdout: stdout, ExtraFiles: c.files, OutputLimit: 64 << 10, MaxMemory: cmp.Or(r.opt.MaxMemory, maxMemory),
	}
}

// outcome returns the error that a run of git ended with, nil if it is a result.
func (r *Repo) outcome(c Call, name string, out Output, res command.Result, err error) error {
	switch {
	case err != nil:
		return err
	case res.ExitCode != 0 && outOfMemory.MatchString(out.Stderr):
		return fmt.Errorf("%w: git %s needs more than %s of memory", ErrTooLarge, name, text.Bytes(cmp.Or(r.opt.MaxMemory, maxMemory)))
	case res.TimedOut:
		return fmt.Errorf("git %s took longer than %v", name, cmp.Or(c.timeout, gitTimeout))
	case res.ExitCode < 0, res.ExitCode > c.MaxExit:
		hint := ""
		if damage.MatchString(out.Stderr) {
			hint = damageHint
		}
		return fmt.Errorf("git %s failed: %s%s", name, out.Reason(), hint)
	}
	return nil
}

// damage matches what git prints if an object is missing or cannot be read.
var damage = lazyregexp.New(`(?m)^(fatal|error): (inflate:|unable to (read|unpack|parse) |(missing|bad) (blob|tree|commit|object)\b|loose object .* is corrupt|object file .* is empty|corrupt |garbage at end of loose object|hash mismatch)`)

// damageHint is the next step where objects are missing or cannot be read.
const damageHint = "; objects of the clone are missing or damaged: 'git fsck' lists them, and a new checkout has them"

// outOfMemory matches what git prints if it gets no more memory.
var outOfMemory = lazyregexp.New(`(?mi)^(fatal|error): .*(out of memory|cannot allocate memory)`)

// errFull ends a program whose output is over the limit.
var errFull = errors.New("the output is too large")

// buffer keeps what is written to it, up to a limit.
type buffer struct {
	data  []byte
	limit int
}

// Write implements io.Writer.
func (b *buffer) Write(p []byte) (int, error) {
	if len(p) > b.limit-len(b.data) {
		return 0, errFull
	}
	b.data = append(b.data, p...)
	return len(p), nil
}

// TempDir makes a private directory. Close removes it, and so does the function that TempDir
// returns.
func (r *Repo) TempDir() (dir string, remove func(), err error) {
	if dir, err = os.MkdirTemp(r.temp.Path, "scratch-"); err != nil {
		return "", nil, fmt.Errorf("making a temporary directory: %w", err)
	}
	return dir, func() { _ = os.RemoveAll(dir) }, nil
}

// tempFile writes a private file, which the function that it returns removes.
func (r *Repo) tempFile(name, content string) (path string, remove func(), err error) {
	dir, remove, err := r.TempDir()
	if err != nil {
		return "", nil, err
	}
	path = filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		remove()
		return "", nil, fmt.Errorf("writing a temporary file: %w", err)
	}
	return path, remove, nil
}
