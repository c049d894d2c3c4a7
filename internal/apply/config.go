package apply

import (
	"cmp"
	"net/url"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/sanitize"
	"github.com/agent-airlock/airlock/internal/secrets"
)

// Config is what a run depends on in addition to the items, the event and Deps.
type Config struct {
	// Run identifies the step of the workflow run. The items' keys are made from it.
	Run event.Run // required
	// Sanitizer cleans every composed text again, so that parts which are harmless
	// by themselves stay so together.
	Sanitizer *sanitize.Sanitizer // required
	// Workflow is the workflow's name for people, for the built-in footer.
	Workflow string
	// DryRun stages every item.
	DryRun bool
	// FirstLook is how long a first attempt waits after a creation before it looks for duplicates,
	// if another job may have the same identity; 0 means 30 s, the longest that GitHub's lists lag.
	// Duplicates that appear after this wait are found by a later attempt.
	FirstLook time.Duration
	// Version is Airlock's own version, for findings that are reported as Airlock's.
	Version string
	// Server is the address of the GitHub server's pages; "" means https://github.com.
	Server string
	// Secrets scans everything before it is written; an item that contains a secret is
	// denied. nil scans nothing.
	Secrets *secrets.Scanner
	// LostCode is why items that carry code were lost before they came here; "" if none
	// were. Texts that go with them mention it, or are held back.
	LostCode string
	// HoldText holds back texts that go with changes which were not delivered;
	// otherwise they carry a visible note.
	HoldText bool

	// FirstIndex is the number of the first item, which is not 0 where an earlier plan is
	// continued.
	FirstIndex int

	incomplete string // why the agent did not complete its task; planEntries sets it
}

// server returns the address of the server's pages, without a slash at its end.
func (c Config) server() string {
	return strings.TrimRight(cmp.Or(c.Server, "https://github.com"), "/")
}

// host returns the server's name, with which the noreply addresses of its accounts end; "" if Server
// is not an address.
func (c Config) host() string {
	u, err := url.Parse(c.server())
	if err != nil {
		return ""
	}
	return u.Hostname()
}
