package gitrepo

import (
	"fmt"
	"strings"
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
	text := fmt.Sprintf("change %d does not fit", c.Change+1)
	if len(c.Paths) > 0 {
		text += " in " + quoteList(c.Paths)
	}
	if c.Detail != "" {
		text += ": " + c.Detail
	}
	return text
}

// maxListed is how many names an error or a note lists.
const maxListed = 10

// quoteList writes names for people: quoted, so that no character of theirs
// acts, and at most maxListed.
func quoteList(names []string) string {
	var b strings.Builder
	for i, n := range names {
		if i == maxListed {
			fmt.Fprintf(&b, " and %d more", len(names)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%q", n)
	}
	return b.String()
}
