package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/text"
)

// maxOutput is how much of git's output is read when a call does not say, in
// bytes.
const maxOutput = 64 << 20

// call says how git runs beyond its arguments.
type call struct {
	stdin    io.Reader     // nil: empty
	limit    int           // of the output, in bytes; 0: maxOutput
	index    string        // the index file to use; "": none is used
	workTree string        // a work tree of our own making, never somebody's; "": none
	env      []string      // more variables, as NAME=value
	files    []*os.File    // that git and what it starts inherit, from 3 on
	timeout  time.Duration // 0: that of the Repo
	// fails makes every exit code an answer: none is an error.
	fails bool
}

// answer is what git said.
type answer struct {
	out  []byte
	code int
	// signal ended git, "" if none did.
	signal string
	// stderr is what git said to people, at most 64 KiB: not for parsing beyond
	// the words of an error, and never shown unquoted.
	stderr string
}

// records splits output that ends each record with a NUL.
func (a answer) records() []string {
	text := strings.TrimSuffix(string(a.out), "\x00")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\x00")
}

// line returns output that is one line.
func (a answer) line() string { return strings.TrimSpace(string(a.out)) }

// gitWith runs git in the repository, as the method git does, with more options. An
// exit code other than 0 is an error unless the call expects one.
func (r *Repo) gitWith(ctx context.Context, c call, args ...string) (answer, error) {
	if c.limit == 0 {
		c.limit = maxOutput
	}
	if c.timeout == 0 {
		c.timeout = r.opt.Timeout
	}
	global := []string{"--git-dir=" + r.gitDir()}
	if args[0] != "check-ignore" { // the only command that refuses it
		global = append(global, "--literal-pathspecs")
	}
	env, dir := append(r.env(), c.env...), r.dir
	if c.workTree != "" {
		global = append(global, "--work-tree="+c.workTree)
		dir = c.workTree
	}
	if c.index != "" {
		env = append(env, "GIT_INDEX_FILE="+c.index)
	}
	sink := &buffer{limit: c.limit}
	res, err := command.Run(ctx, command.Spec{
		Program: "git", Args: append(global, args...),
		Env: env, Dir: dir, Stdin: c.stdin, Stdout: sink, ExtraFiles: c.files, Timeout: c.timeout, OutputLimit: 64 << 10,
	})
	a := answer{out: sink.data, code: res.ExitCode, signal: res.Signal, stderr: res.Stderr.String()}
	switch {
	case errors.Is(err, errTooLarge):
		return a, fmt.Errorf("%w: git %s gives more than %s", ErrTooLarge, args[0], text.Bytes(c.limit))
	case err != nil:
		return a, err
	case res.TimedOut:
		return a, fmt.Errorf("git %s took longer than %v", args[0], c.timeout)
	case res.ExitCode < 0, res.ExitCode > 0 && !c.fails:
		return a, fmt.Errorf("git %s failed: %s", args[0], explain(a))
	}
	return a, nil
}

// scratch makes a private directory that is removed with the repository, or
// before by the function that it returns.
func (r *Repo) scratch() (dir string, remove func(), err error) {
	if dir, err = os.MkdirTemp(r.dir, "scratch-"); err != nil {
		return "", nil, fmt.Errorf("making a directory of our own: %w", err)
	}
	return dir, func() { _ = os.RemoveAll(dir) }, nil
}

// scratchFile writes a private file, which the function that it returns removes.
func (r *Repo) scratchFile(name, text string) (path string, remove func(), err error) {
	dir, remove, err := r.scratch()
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

// treeID returns the id of the tree of a commit, or of a tree itself.
func (r *Repo) treeID(ctx context.Context, commitOrTree string) (string, error) {
	if !isOID(commitOrTree) {
		return "", fmt.Errorf("%q is not a whole object id", commitOrTree)
	}
	a, err := r.gitWith(ctx, call{limit: 1 << 10}, "rev-parse", "--verify", "--quiet", commitOrTree+"^{tree}")
	return a.line(), err
}
