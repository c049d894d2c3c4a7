// Package command runs a program with an environment from zero and limits of time and output, and
// with Spec.Identity as a user of its own. It also ends what the program started: its process group
// or, with Spec.Identity or Spec.Supervised, everything.
package command

import (
	"errors"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// DefaultOutputLimit is how many bytes of each output stream are kept when
// Spec.OutputLimit is 0.
const DefaultOutputLimit = 4 << 20

// Spec is what to run. No shell is involved: each argument reaches the
// program as it is.
type Spec struct {
	// Program is a path, or a name that is looked up in the PATH of Env.
	Program string   // required
	Args    []string // without the program's name
	// Env is the complete environment, as NAME=value; nothing is inherited.
	Env []string
	// PathFirst are absolute directories that come before those of Env's PATH, for the
	// program and for what it starts.
	PathFirst []string
	Dir       string    // required: the working directory
	Stdin     io.Reader // nil reads as empty
	// Stdout and Stderr additionally receive the complete streams as they come; nil
	// for none. A write error ends the run.
	Stdout, Stderr io.Writer
	// ExtraFiles are inherited by the program as its files 3, 4 and so on. They can
	// pass a secret that must not show in arguments and environment. Windows cannot
	// do that: the program is not started then.
	ExtraFiles []*os.File
	Timeout    time.Duration // 0: only the context ends the run
	// Grace is the time between asking the process group to end (SIGTERM) and
	// killing it; 0 kills at once. On Windows it is always killed at once.
	Grace       time.Duration
	OutputLimit int // bytes kept of each stream; 0: DefaultOutputLimit
	// MaxMemory limits memory as Limits.Memory does, but is set only right after the start. So the
	// program must be trusted in the moment before. It does nothing where there is no such limit; 0
	// sets none.
	MaxMemory int64
	// Identity runs the program apart from this process; nil runs it as this
	// process's user.
	Identity *Identity
	Limits   Limits
	// Supervised ends everything that the program started, in whatever group or session,
	// when the program or this process has ended, however that happens. On systems
	// other than Linux it ends the group only. It cannot be combined with Identity, Limits,
	// NoNetwork or ExtraFiles.
	Supervised bool
	// NoNetwork runs the program in a network of its own, in which there is only a loopback.
	// Sockets in the file system stay reachable. It requires Linux, and what ProbeNoNetwork
	// asks for.
	NoNetwork bool
}

// Identity is the user and group that a program runs as, apart from this process:
// in a session of its own, without supplementary groups and capabilities, unable
// to gain any (a setuid program does not help), and killed when this process ends.
// It requires Linux and root.
//
// Nobody else may use the user and the group, because every process of UID is killed
// when the program has ended, and UID+1 must not be used at all. So only one program
// runs as an identity at a time.
type Identity struct {
	UID, GID uint32
	// GroupWrites lets the group write what the program makes (umask 002), so that
	// several users with one group can work on the same files. Otherwise only the
	// user may (umask 022).
	GroupWrites bool
}

// Result is how a run ended. A program that fails is a result, not an error.
type Result struct {
	ExitCode int    // -1 when a signal ended the program
	Signal   string // the signal's name, "" when there was none
	TimedOut bool   // Spec.Timeout ran out
	// Lingered reports that a process which left the group still had the output
	// open: what it wrote later is not captured. It cannot happen with an Identity.
	Lingered       bool
	Stdout, Stderr Output
	Duration       time.Duration
}

// OK reports whether the program ended by itself with exit code 0.
func (r Result) OK() bool { return r.ExitCode == 0 && !r.TimedOut }

// check validates the spec and returns the program's path.
func (s Spec) check() (string, error) {
	if s.Dir == "" {
		return "", errors.New("command: no working directory is given")
	}
	for _, e := range s.Env {
		if name, _, ok := strings.Cut(e, "="); !ok || name == "" || strings.ContainsRune(e, 0) {
			return "", errors.New("command: the environment has an entry that is not NAME=value")
		}
	}
	return LookPath(s.Program, s.pathList())
}

// pathList returns the PATH of the environment.
func (s Spec) pathList() (list string) {
	for _, e := range s.Env {
		if name, value, _ := strings.Cut(e, "="); name == "PATH" || runtime.GOOS == "windows" && strings.EqualFold(name, "PATH") {
			list = value
		}
	}
	return list
}

// withPath returns the spec with PathFirst in its environment.
func (s Spec) withPath() Spec {
	if len(s.PathFirst) > 0 {
		list := slices.Clone(s.PathFirst)
		if rest := s.pathList(); rest != "" {
			list = append(list, rest)
		}
		s.Env = append(slices.Clip(s.Env), "PATH="+strings.Join(list, string(os.PathListSeparator)))
	}
	return s
}

// Limits bound what a program may use. Each counts per process, except Processes; a
// limit that is zero is not set, and none can be raised above what this process has
// itself. Any of them requires Linux.
type Limits struct {
	// Memory is the private memory that a process may write to, in bytes
	// (RLIMIT_DATA). Address space that is only reserved does not count: Java, Node
	// and Go's race detector reserve far more than they use.
	Memory   int64
	FileSize int64         // the greatest size of a file that is written, in bytes
	CPU      time.Duration // processor time, rounded up to seconds
	// Processes counts all processes and threads of the user, whoever started them.
	Processes int
	OpenFiles int
}
