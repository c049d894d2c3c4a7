package cli

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/exposure"
)

// credentials are those that the commands of a validation could use where they do
// not run apart from Airlock.
type credentials struct {
	seen    []exposure.Credential
	allowed bool // by --allow-credentials
	token   bool // this process holds one, though nobody sees it
}

// seeCredentials looks for the credentials of this process and of its user.
func seeCredentials(w World, root string) credentials {
	src := exposure.Config{Environ: w.Environ, Dir: root}
	if runtime.GOOS == "linux" {
		src.Proc = "/proc"
	}
	seen := exposure.Find(src)
	if _, name := w.Secrets.Token(); name != "" {
		seen = slices.Insert(seen, 0, exposure.Credential{Where: name, What: "Airlock holds this token itself, to write to GitHub", Refuses: true})
	}
	return credentials{seen: seen}
}

// refuse reports whether the commands may run only apart from Airlock.
func (c credentials) refuse() bool {
	return !c.allowed && (c.token || slices.ContainsFunc(c.seen, func(s exposure.Credential) bool { return s.Refuses }))
}

// refused adds to the reason of a refusal where the credentials are.
func (c credentials) refused(err error) error {
	if c.token {
		return fmt.Errorf("%w\n%s", err, c.list())
	}
	return fmt.Errorf("%w\n%s--allow-credentials runs it beside them all the same", err, c.list())
}

// warning is what is said where the commands run beside credentials, or "".
func (c credentials) warning() string {
	switch {
	case len(c.seen) == 0:
		return ""
	case c.allowed && c.seen[0].Refuses:
		return "WARNING: --allow-credentials: the repository's code runs where it can use these credentials, and send them anywhere:\n" + strings.TrimSuffix(c.list(), "\n")
	}
	return fmt.Sprintf("the commands run as you, so they can use your credentials, such as %s", c.seen[0])
}

// maxListed is how many credentials a list names.
const maxListed = 20

// list has a line for each.
func (c credentials) list() string {
	var b strings.Builder
	for _, s := range c.seen[:min(len(c.seen), maxListed)] {
		fmt.Fprintf(&b, "  %s\n", s)
	}
	if more := len(c.seen) - maxListed; more > 0 {
		fmt.Fprintf(&b, "  and %d more\n", more)
	}
	return b.String()
}
