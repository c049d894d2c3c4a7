package acceptance

import (
	"context"
	"errors"
	"time"
)

// Config is what the owner and the user decide.
type Config struct {
	Trust Trust // of the author of the request
	// Roots are absolute paths of the work tree, with slashes. A path in a hint or claim that lies
	// below one of them is a path in the work tree. Empty ones are ignored.
	Roots []string
	// Commands are those that a stranger's criteria may run, each a complete command line.
	Commands []string
	// StrangersToValidator lets the validator and the browser command judge a stranger's criteria.
	StrangersToValidator bool
	// Parallel is how many criteria are evaluated at the same time; 0: one.
	Parallel int
	// JudgeOptional lets the task pass although the judge gives no valid answer.
	JudgeOptional bool
	// AcceptPartial lets the task pass with the verdict PARTIAL.
	AcceptPartial bool
}

// Deps are what a verification is given from outside. Texts that they return may be a
// stranger's.
type Deps struct {
	Now func() time.Time // required
	// Worktree opens the work tree of the request. An error explains to people why nothing
	// can be verified there.
	Worktree func(ctx context.Context) (Worktree, error) // required
	// Reach connects to a TCP address, host:port, and closes the connection.
	Reach func(ctx context.Context, address string) error // required
	// Fetch sends a request without a body. It follows no redirect to another host, nor to a URL
	// that it would refuse.
	Fetch func(ctx context.Context, r Fetch) (Answer, error) // required
	// Validator, Browser and Judge are the owner's programs; nil if none is configured.
	Validator, Browser, Judge *Program
	// Mask masks secrets in a text, and replaces names of directories that mean nothing to a
	// reader.
	Mask func(string) string // required
	// Save keeps a file of evidence by its slash-separated name; nil keeps none. Several goroutines
	// call it at once, each with another name.
	Save func(name string, data []byte) error
	// Progress receives each step, one call at a time; nil for nobody.
	Progress func(Step)
}

// Worktree is the work tree that a request is about, and the place where its commands
// run. Paths are relative to it, with slashes. Several goroutines may use it at once.
type Worktree interface {
	// Branch returns the branch that is checked out, and "" if it is a commit without one.
	Branch() (string, error)
	// IsAt reports whether the branch of that name is at the commit that is checked out.
	IsAt(branch string) bool
	// Paths lists all files, without those of git.
	Paths(ctx context.Context) ([]string, error)
	// Stat describes a file or directory, and follows no link. The error is ErrNoPath where
	// there is none.
	Stat(path string) (Entry, error)
	// Read reads an ordinary file of at most limit bytes.
	Read(path string, limit int64) ([]byte, error)
	// Changed returns the paths that the branch changes, and what they are compared with.
	Changed(ctx context.Context) (paths []string, comparedWith string, err error)
	// HasCommit reports whether the branch contains a commit, by its abbreviated or complete id.
	HasCommit(ctx context.Context, id string) (bool, error)
	// Run runs a command line where checks run. The error is why it could not be run.
	Run(ctx context.Context, line string) (Ran, error)
	// Checks runs some of the six checks. The error is why none of them ran.
	Checks(ctx context.Context, names []string) (map[string]Checked, error)
	// Test runs the tests of one name.
	Test(ctx context.Context, name string) (Checked, error)
}

// ErrNoPath is returned by Worktree.Stat for a path that does not exist.
var ErrNoPath = errors.New("there is no such path")

// Entry is what is at a path.
type Entry struct {
	Kind EntryKind
	Size int64 // of a file, in bytes
}

// EntryKind is what sort of thing an entry is.
type EntryKind int

// The kinds of entries.
const (
	OtherEntry EntryKind = iota // such as a link or a device
	FileEntry
	DirectoryEntry
)

// Ran is a command that ran.
type Ran struct {
	ExitCode int    // -1 if a signal or the time limit ended it
	TimedOut bool   // its time limit ended it
	Signal   string // the name of the signal that ended it; "" if it exited
	Missing  string // the program that is not installed; "" if none is missing
	Output   []byte // both streams, bounded; nil if it printed nothing
}

// Checked is how a check, or the tests of one name, ended.
type Checked struct {
	Status   Status // Pass, Fail, Skip if there was nothing to check, Blocked if it could not run
	Command  string // "" if none ran
	ExitCode int
	Reasons  []string // why it did not pass
	Failing  *int     // the number of failing tests, if known
	Output   string   // the part where the failure begins, and the end; bounded
}

// Fetch is a request without a body.
type Fetch struct {
	Method, URL string
	// Redirects follows redirects to the same host. A redirect that is not followed is the answer.
	Redirects bool
	// Trust is the trust in the author of the URL.
	Trust Trust
}

// Answer is the answer to a request.
type Answer struct {
	Status int
	Body   []byte // its beginning
	// NotFollowed says, as a clause, that and why the answer is a redirect although Fetch.Redirects is
	// set; "" if it is not. Secrets in it are masked.
	NotFollowed string
}

// Program is a program of the owner's that is asked by JSON on standard input and answers
// on standard output.
type Program struct {
	Name string
	// Find returns an error if the program is not installed.
	Find func() error
	Ask  func(ctx context.Context, question []byte) (answer []byte, err error)
	// Collect reads a file that the program has left, such as a picture; nil if it leaves none.
	Collect func(path string) ([]byte, error)
}

// Step is one step of a verification.
type Step struct {
	Criterion string // its id; "" for the verification itself
	Text      string // what begins, or a remark; "" when the criterion ended
	Status    Status // "" while it goes on
	Elapsed   time.Duration
}
