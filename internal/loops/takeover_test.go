//go:build postgres

package loops_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agent-airlock/airlock/internal/fixloop"
	"github.com/agent-airlock/airlock/internal/loops"
	"github.com/agent-airlock/airlock/internal/store"
	"github.com/agent-airlock/airlock/internal/store/storetest"
)

// TestADriverThatWasReplacedDeliversNothing interrupts the connection that has a driver's lock, in
// the middle of its turn, and lets another driver take over.
func TestADriverThatWasReplacedDeliversNothing(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, location string) {
		if !store.IsURL(location) {
			return // a file's lock goes with the process
		}
		script := map[fixloop.WorkKind][]reaction{
			fixloop.WorkFix: {fixed}, fixloop.WorkRevalidate: {results()}, fixloop.WorkFinal: {results()},
		}
		began, goOn := make(chan struct{}), make(chan struct{})
		old := &hands{script: map[fixloop.WorkKind][]reaction{fixloop.WorkValidate: {func(ctx context.Context, w fixloop.Work) (fixloop.Event, bool) {
			close(began)
			<-goOn
			return results(fixloop.Tests)(ctx, w)
		}}}}
		d := openDriver(t, location, old)
		defer d.Close()
		finish := sync.OnceFunc(func() { close(goOn) })
		defer finish()
		start(t, d)
		<-began
		st, err := store.Open(t.Context(), location)
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		for { // the driver may be faster, and take its lock again
			if _, err := st.Exec(t.Context(), `SELECT pg_terminate_backend(pid, 10000) FROM pg_locks
				WHERE locktype = 'advisory' AND objsubid = 1 AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`); err != nil {
				t.Fatal(err)
			}
			release, err := st.Lock(t.Context(), "executor "+loops.OfOne(name))
			if err == nil {
				release()
				break
			}
			if !errors.Is(err, store.ErrLocked) {
				t.Fatal(err)
			}
		}
		script[fixloop.WorkValidate] = []reaction{results(fixloop.Tests)}
		young := &hands{script: script}
		next := openDriver(t, location, young)
		defer next.Close()
		finish()
		if _, err := d.Wait(t.Context(), name, true); !errors.Is(err, store.ErrLost) {
			t.Errorf("the driver that was replaced: %v", err)
		}
		l, err := next.Wait(t.Context(), name, true)
		if err != nil || l.State.Outcome() != fixloop.Succeeded {
			t.Errorf("it ended as %s, %v", l.State.Outcome(), err)
		}
		if got := old.deliveries(); got != "" {
			t.Errorf("the driver that was replaced has delivered %s", got)
		}
		var kinds []string
		for _, s := range strings.Split(young.deliveries(), ", ") {
			kind, _, _ := strings.Cut(s, " ")
			kinds = append(kinds, kind)
		}
		if want := []string{"VFR", "FIXREQ", "FIXDONE", "REVAL", "REVALRES", "SUCCESS"}; !slices.Equal(kinds, want) {
			t.Errorf("delivered %q, want %q", kinds, want)
		}
	})
}
