package apply

import (
	"context"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/changes"
	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/sanitize"
	"github.com/agent-airlock/airlock/internal/secrets"
)

// Config is what a run of this package depends on besides the items, the event
// and the world.
type Config struct {
	// Run identifies the step of the workflow run: its keys are made from it.
	Run event.Run
	// Workflow is the workflow's name for people, for the built-in footer.
	Workflow string
	// DryRun stages every item.
	DryRun bool
	// Settle says when to look for doubles that another run of the same job made
	// at the same moment.
	Settle Settle
	// MaxInline is how many review comments are posted inline; 0 means
	// DefaultMaxInline. The others go into the review's body.
	MaxInline int
	// Tool is the name that findings without a configured driver are reported
	// under; "" means DefaultTool.
	Tool string
	// Version is Airlock's own, which such findings are reported with.
	Version string
	// Server is the address of the GitHub server's pages; "" means
	// https://github.com.
	Server string
	// Secrets looks through everything before it is written; an item that holds a
	// secret is denied. nil looks for nothing.
	Secrets *secrets.Scanner
	// LostCode says why items that carry code did not come this far: texts that go
	// with them say so, or are held back. "" when none was lost.
	LostCode string
	// HoldText holds texts back that go with changes which were not delivered;
	// otherwise they carry a visible note.
	HoldText bool
	// Sanitizer cleans every composed text once more as a whole, so that parts
	// which are harmless each by itself stay so together. Required.
	Sanitizer *sanitize.Sanitizer
}

// server is the address of the server's pages.
func (c Config) server() string {
	if c.Server == "" {
		return "https://github.com"
	}
	return strings.TrimRight(c.Server, "/")
}

// DefaultMaxInline is how many comments one review carries: 65 in one call
// tripped GitHub's secondary limit, 30 is safe practice.
const DefaultMaxInline = 30

// DefaultTool is the tool that agents' findings are reported under.
const DefaultTool = "Airlock agent findings"

// Settle says when Execute looks, at its end, for doubles of what it created.
type Settle int

// The values of Settle. Looking costs a wait of 30 seconds after the last
// creation and one listing of each list that was written to.
const (
	SettleAuto   Settle = iota // after a creation that was tried again
	SettleAlways               // whenever something was created: two runs of one job may work at the same moment
	SettleNever
)

// Clock is the time that Execute waits by.
type Clock interface {
	Now() time.Time
	// Sleep waits for d, or returns ctx's error as soon as ctx is done.
	Sleep(ctx context.Context, d time.Duration) error
}

// Files takes what could not be delivered to GitHub, such as a SARIF file.
type Files interface {
	// WriteFile stores data under a name and returns the path for people and
	// later steps.
	WriteFile(name string, data []byte) (path string, err error)
}

// Source reads files of a commit, by their path from the repository's root.
type Source interface {
	ReadFile(commit, path string) ([]byte, error)
}

// World is everything outside that Observe and Execute touch.
type World struct {
	// GitHub is nil without a token.
	GitHub GitHub
	Clock  Clock
	// Files is nil where nothing can be stored.
	Files Files
	// Source is nil where no commit's files are at hand; they are then
	// asked of GitHub.
	Source Source
	// Diff is the diff of the event's pull request from git; nil when there is
	// none, and GitHub is asked.
	Diff []changes.ChangedFile
	// Code is nil where items that carry code cannot be applied.
	Code *Code
	// Log is told, one line each, what is going on. A line may hold the agent's
	// words: whoever shows it escapes it. Log may be nil.
	Log func(string)
}

func (w World) log(line string) {
	if w.Log != nil {
		w.Log(line)
	}
}
