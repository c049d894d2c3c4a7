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
