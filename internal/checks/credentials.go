package checks

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/exposure"
)

// credentials are those that the commands of a validation could use where they do not
// run isolated from Airlock.
type credentials struct {
	found    []exposure.Credential
	allowed  bool // the user allows the commands to use them
	ownToken bool // this process has a token, although its environment does not show it
}

// findCredentials looks for the credentials of this process and of its user.
func findCredentials(deps Deps, root string, allowed bool) credentials {
	src := exposure.Config{Environ: deps.Environ, Dir: root}
	if runtime.GOOS == "linux" {
		src.Proc = "/proc"
	}
	c := credentials{found: exposure.Find(src), allowed: allowed, ownToken: deps.TokenVariable != ""}
	if c.ownToken {
		c.found = slices.Insert(c.found, 0, exposure.Credential{Where: deps.TokenVariable, What: "Airlock holds this token itself, to write to GitHub", Refuses: true})
	}
	return c
}

// forbid reports whether the commands must not run unless they are isolated.
func (c credentials) forbid() bool {
	return !c.allowed && (c.ownToken || slices.ContainsFunc(c.found, func(s exposure.Credential) bool { return s.Refuses }))
}

// explain adds to the reason of a refusal where the credentials are. Unless Airlock has a token
// itself, it also names the option that allows the commands to use them.
func (c credentials) explain(err error) error {
	if c.ownToken {
		return fmt.Errorf("%w\n%s", err, c.list())
	}
	return fmt.Errorf("%w\n%s--allow-credentials runs the commands all the same", err, c.list())
}

// warning returns what to log where the commands run with credentials in reach, or "".
func (c credentials) warning() string {
	switch {
	case len(c.found) == 0:
		return ""
	case c.allowed && c.found[0].Refuses:
		return "WARNING: --allow-credentials: the repository's code runs where it can use these credentials, and send them anywhere:\n" + strings.TrimSuffix(c.list(), "\n")
	}
	return fmt.Sprintf("the commands run as you, so they can use your credentials, such as %s", c.found[0])
}

// maxListed is how many credentials a list names.
const maxListed = 20

// list returns a line for each credential.
func (c credentials) list() string {
	var b strings.Builder
	for _, s := range c.found[:min(len(c.found), maxListed)] {
		fmt.Fprintf(&b, "  %s\n", s)
	}
	if more := len(c.found) - maxListed; more > 0 {
		fmt.Fprintf(&b, "  and %d more\n", more)
	}
	return b.String()
}
