package gitrepo

import (
	"fmt"

	"github.com/agent-airlock/airlock/internal/text"
)

// Person is an author or a committer. The zero Person is an unknown one.
type Person struct{ Name, Email string }

// Change is one commit of a series: the step from one tree to the next.
type Change struct {
	Before, After string // ids of trees, which the Repo can read
	Author        Person // zero: unknown
	Message       string // as it was written, not cleaned; "": none
}

// Series is what an agent changed, oldest first. Each change begins with the
// tree that the one before it ended with, and the first with the tree of Base.
// No change is empty; a series without changes says that nothing was changed.
type Series struct {
	Base    string // the commit that the series was made from
	Changes []Change
	// Notes say in plain words what was left out, and why. Names of files in them
	// are quoted.
	Notes []string
}

// Conflict is the error of a change that does not fit the commit that it is
// put on.
type Conflict struct {
	Change int      // its index in the series
	Paths  []string // the files concerned, as far as they are known
	Detail string   // one line, in plain words
}

// Error implements error in one line.
func (c *Conflict) Error() string {
	message := fmt.Sprintf("change %d does not fit", c.Change+1)
	if len(c.Paths) > 0 {
		message += " in " + text.QuotedList(c.Paths, maxListed)
	}
	if c.Detail != "" {
		message += ": " + c.Detail
	}
	return message
}

// maxListed is how many names an error lists.
const maxListed = 10
