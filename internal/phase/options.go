package phase

import (
	"context"
	"time"

	"github.com/agent-airlock/airlock/internal/changes"
	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/finding"
)

// Limits that hold where a Config does not say.
const (
	DefaultTimeLimit  = 300 * time.Second // of one command
	DefaultRetryDelay = 2 * time.Second   // between a fix and the next try
)

// Job is what to validate.
type Job struct {
	Input Input
	// Repository is the absolute path of the repository's root, at or above the
	// input's working directory, which it is where this is "". Findings name
	// their files relative to it.
	Repository string
	// Diff is what changed, with paths relative to Repository. Without it, every
	// line of a changed file counts as changed.
	Diff []changes.ChangedFile
}

// Config is what the owner decides.
type Config struct {
	// CheckOnly has no fix command run, and no command that is known to write.
	CheckOnly bool
	// Scratch tells that the working directory is a copy that nobody keeps, so that
	// World.Copy need not make one. With CheckOnly, a formatter that only writes is run
	// in a copy all the same, and judged by what it changes.
	Scratch bool
	// Suggest has the fix of a formatter or linter that failed run once in a copy, at
	// the very end, where CheckOnly is set, too. What it changes in the changed files
	// becomes the suggestions of findings; where a formatter names only the file, one
	// finding for each run of lines stands in its place, so that NewOnly can tell old
	// lines from new ones.
	Suggest bool
	// NewOnly lets only findings on changed lines fail the formatter, the linter
	// and the reviews, where the output could be read whole.
	NewOnly bool
	// Informational are checks whose failure does not fail the whole.
	Informational []Check
	// Roots, if any, are what is validated in the place of the roots that are found.
	// A changed file that lies in none of them is for the reviews only.
	Roots      []Root
	TimeLimit  time.Duration // of one command; 0: DefaultTimeLimit
	RetryDelay time.Duration // 0: DefaultRetryDelay
}

// Runner runs a command as command.Run does, under whichever identity and in
// whichever place it decides.
type Runner func(ctx context.Context, spec command.Spec) (command.Result, error)

// Copy is a copy of the repository that nobody keeps.
type Copy struct {
	Repository string // absolute
	Run        Runner // of commands that work in it
}

// Reviewer reviews the changed files. An error means that it could not, or not
// wholly; it is asked once more then. What it found all the same counts.
type Reviewer func(ctx context.Context, r ReviewRequest) ([]finding.Finding, error)

// ReviewRequest is what a reviewer looks at.
type ReviewRequest struct {
	Repository string   // the absolute path of the root
	Files      []string // the changed files, relative to the root, slash-separated
	Diff       []changes.ChangedFile
}

// World is what the validation uses of the world.
type World struct {
	Run Runner
	// Split makes it possible to work on several roots at the same time. It is called
	// once, before the first command, with lanes: lists of folders, absolute, none
	// in another. It returns a Runner for each lane, which is used for one command at
	// a time, while those of other lanes are at work; or nil, where all commands have
	// to run one after the other, as they do if Split is nil.
	Split func(lanes [][]string) []Runner
	Env   []string // the commands' whole environment, as NAME=value
	// Copy copies the repository as it is now, but for folders of the names in leave.
	// It is called once at most, only with Config.CheckOnly and without Config.Scratch,
	// and only when a command is to run that writes. An error tells why there can be no
	// copy, as it is told to people: there are no suggestions then. Whoever gives it
	// removes the copy when the validation is over. It may be nil.
	Copy func(ctx context.Context, leave []string) (Copy, error)
	// Now tells the time, and Wait waits or returns the context's error.
	Now  func() time.Time
	Wait func(ctx context.Context, d time.Duration) error
	// CodeReview and SecurityReview may be nil: that check then passes without
	// having looked, and the result says so.
	CodeReview, SecurityReview Reviewer
	Progress                   func(Event) // one call at a time; may be nil
	Cores                      int         // how many roots are worked on at the same time; 0: one
}

// Event is one step of a running check.
type Event struct {
	Root    string // relative to the working directory, "." for itself
	Check   Check
	Command string
	Retries int
	// Status is "" while the check goes on.
	Status  Status
	Elapsed time.Duration // since the check began
}
