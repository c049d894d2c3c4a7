package apply

import (
	"strings"

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
