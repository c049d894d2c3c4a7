package checks

import (
	"fmt"

	"github.com/agent-airlock/airlock/internal/isolate"
)

// outbox is the directory in which test runners leave reports of their own.
type outbox struct {
	dir string // "" if there is none
	err error  // why there is none
}

func openOutbox(sandbox *isolate.Sandbox, temp string) outbox {
	dir, err := sandbox.Outbox(temp)
	return outbox{dir, err}
}

// names returns the directory's name with what a reader sees instead, as
// strings.NewReplacer takes them.
func (o outbox) names() []string {
	if o.dir == "" {
		return nil
	}
	return []string{o.dir, "$TMPDIR"}
}

func (o outbox) notes() []string {
	if o.err == nil {
		return nil
	}
	return []string{fmt.Sprintf("Test runners were not asked for reports of their own, so that tests are counted by what was printed: %v.", o.err)}
}
