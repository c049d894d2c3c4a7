package apply

import (
	"fmt"
	"time"

	"github.com/agent-airlock/airlock/internal/event"
)

// lookAgain reads the lists of a later attempt once more where something is
// missing: the attempt before may have been killed right after a write that GitHub
// did not list yet. After the wait everything that was written before this
// attempt began is listed.
func (o *observer) lookAgain(begun time.Time, entries []*entry) error {
	if o.cfg.Run.Attempt <= 1 || !createsSomething(o.cfg, o.ev, entries, o.s) {
		return nil
	}
	if wait := begun.Add(listLag).Sub(o.w.Clock.Now()); wait > 0 {
		o.w.log(fmt.Sprintf("waiting %v for GitHub's lists, since an earlier attempt may just have written something", wait.Round(time.Second)))
		if err := o.w.Clock.Sleep(o.ctx, wait); err != nil {
			return err
		}
	}
	return o.lists()
}

// createsSomething reports whether the plan for a snapshot would create an object
// that it found nowhere.
func createsSomething(cfg Config, ev event.Event, entries []*entry, s *Snapshot) bool {
	trial := make([]*entry, len(entries))
	for i, e := range entries {
		c := *e
		trial[i] = &c
	}
	for _, op := range planEntries(cfg, ev, trial, s).Operations {
		creates := false
		switch w := op.work.(type) {
		case *createWork, *violationWork:
			creates = true
		case *reviewWork:
			creates = w.comments() > 0
		case *checkWork: // or it adds annotations, which are there twice when they are added twice
			creates = true
		case *pullWork: // an issue, where GitHub lets no pull request be opened
			creates = w.st.pull == nil && w.e.settings.Changes.FallbackIssue
		}
		if creates && !op.Staged {
			return true
		}
	}
	return false
}
