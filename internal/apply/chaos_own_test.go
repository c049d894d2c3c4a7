package apply

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// drawOwn makes what the checks say in one schedule: a comment, a check run with
// one or more requests full of annotations, and findings, of which one is new, one
// is kept, one is gone and one has come back since the workflow runs before.
func drawOwn(r *rand.Rand) []chaosItem {
	items := []chaosItem{drawSticky(r), drawCheckRun([]int{3, 60, 120}[r.IntN(3)])}
	for i, name := range []string{"back", "kept", "new"} {
		items = append(items, drawFinding(name, i+1))
	}
	items = append(items, drawSettling("gone", "finding/back", "finding/kept"))
	r.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
	return items
}

// before plays the workflow runs whose findings are there already, or were settled.
func (b *bench) before() error {
	one := *b
	for n, names := range [][]string{{"back", "gone", "kept"}, {"gone", "kept"}} {
		one.cfg.Run.ID = b.cfg.Run.ID - 2 + int64(n)
		var own []intake.OwnItem
		var keep []string
		for i, name := range names {
			own, keep = append(own, found(name, i+1)), append(keep, "finding/"+name)
		}
		own = append(own, intake.OwnItem{Item: &safeoutput.MinimiseComments{Scopes: []string{"finding"}, Keep: keep}})
		if _, err := one.process(context.Background(), b.srv.Transport(), b.clock, one.approve(own)); err != nil {
			return err
		}
		b.clock.Advance(time.Minute) // GitHub lists it all
	}
	return nil
}

func drawSticky(r *rand.Rand) chaosItem {
	text := chaosText(r, 1000)
	return chaosItem{
		name: "sticky comment", once: true,
		own: &intake.OwnItem{Item: &safeoutput.StickyComment{Name: "checks", Body: text}},
		times: func(st githubtest.Fixture) (times int) {
			for _, c := range issueIn(st, pullNumber).Comments {
				times += strings.Count(c.Body, text)
			}
			return times
		},
	}
}

// drawCheckRun makes a check run. It counts when the one that GitHub shows has all
// annotations: one that was made twice cannot be removed, nor an annotation.
func drawCheckRun(n int) chaosItem {
	own := checked(n)
	return chaosItem{
		name: fmt.Sprintf("check run of %d annotations", n), once: true, own: &own,
		times: func(st githubtest.Fixture) int {
			for _, k := range slices.Backward(st.Checks) {
				said := map[string]bool{}
				for _, a := range k.Annotations {
					said[a.Message] = true
				}
				if len(said) == n && len(k.Annotations) == n {
					return 1
				}
			}
			return 0
		},
	}
}

const settledNote = "no longer find this"

// drawFinding makes a finding. Its comment counts where it can be read.
func drawFinding(name string, line int) chaosItem {
	own := found(name, line)
	return chaosItem{
		name: "finding " + name, own: &own, once: true,
		times: func(st githubtest.Fixture) (times int) {
			for _, c := range issueIn(st, pullNumber).Pull.Comments {
				if c.Minimized == "" && !strings.Contains(c.Body, settledNote) {
					times += strings.Count(c.Body, "Found "+name+".")
				}
			}
			return times
		},
	}
}

// drawSettling makes the settling of all but the findings to keep, of which one is
// there: gone.
func drawSettling(gone string, keep ...string) chaosItem {
	return chaosItem{
		name: "settling", once: true,
		own: &intake.OwnItem{Item: &safeoutput.MinimiseComments{Scopes: []string{"finding"}, Keep: keep}},
		times: func(st githubtest.Fixture) (times int) {
			for _, c := range issueIn(st, pullNumber).Pull.Comments {
				if c.Minimized == "resolved" && strings.Count(c.Body, settledNote) == 1 {
					times += strings.Count(c.Body, "Found "+gone+".")
				}
			}
			return times
		},
	}
}
