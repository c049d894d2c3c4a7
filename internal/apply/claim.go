package apply

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/agent-airlock/airlock/internal/event"
)

// ClaimedError is the refusal of a run because another job of the same workflow run has the same
// identity and is at work: each would treat the other's objects as its own.
type ClaimedError struct {
	Run event.Run
	URL string // of what the other job wrote
}

// Error implements error.
func (e *ClaimedError) Error() string {
	same := fmt.Sprintf("the same key %q", e.Run.Job)
	if e.Run.Name != "" {
		same = fmt.Sprintf("the same name %q", e.Run.Name)
	}
	return fmt.Sprintf("another job of this workflow run has %s and wrote %s; each would take over what the other writes. Give each its own value of the input \"name\", such as the name of the job that calls the reusable workflow", same, cmp.Or(e.URL, "something"))
}

// unclaimed returns c without its claim, for a text that may keep the marker of another item: the
// claim would say that this job wrote that item.
func (c Config) unclaimed() Config {
	c.Run.Claim = ""
	return c
}

// externalID returns the id that we give a check run: the item's key and, where another job may
// have the same identity, the workflow run's id and the claim.
func externalID(key string, run event.Run) string {
	if run.Claim == "" {
		return key
	}
	return strings.Join([]string{key, strconv.FormatInt(run.ID, 10), run.Claim}, ".")
}

// readExternalID divides an external id; run is 0 and claim "" where it has neither.
func readExternalID(id string) (key string, run int64, claim string) {
	key, rest, _ := strings.Cut(id, ".")
	number, claim, _ := strings.Cut(rest, ".")
	run, _ = strconv.ParseInt(number, 10, 64)
	return key, run, claim
}

// claimed returns an error if this job would adopt, update, hide or replace an object that another
// job of this workflow run, with the same identity, has written.
func claimed(cfg Config, ev event.Event, entries []*entry, s *Snapshot) error {
	if cfg.Run.Claim == "" {
		return nil
	}
	var touched []Object
	for _, op := range trialPlan(cfg, ev, entries, s).Operations {
		touched = append(touched, op.Adopts...)
		if w, ok := op.work.(*minimiseWork); ok {
			for _, r := range w.resolve {
				touched = append(touched, r.there)
			}
		}
	}
	for _, own := range s.own {
		for _, o := range own {
			if o.Type == objCheckRun { // it was found by its name: whatever its key, it may be the other job's
				touched = append(touched, o)
			}
		}
	}
	for _, o := range touched {
		if cfg.Run.ClaimedByOther(o.claim) && o.isOf(cfg.Run) {
			return &ClaimedError{cfg.Run, o.URL}
		}
	}
	return nil
}

// isOf reports whether o, an object that a workflow run found, was last written by that run. An
// object that later workflow runs update names the last run that wrote it. Any other object has a
// key that is made from its run, so only that run can have found it.
func (o Object) isOf(run event.Run) bool {
	return o.known == nil || o.known.run == 0 || o.known.run == run.ID
}
