package loops_test

import (
	"errors"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/fixloop"
	"github.com/agent-airlock/airlock/internal/loops"
	"github.com/agent-airlock/airlock/internal/store/storetest"
)

// TestOldLoopsAreDeleted asserts that a loop and its messages are deleted some time after its
// end, that an open loop is not, and that the number of a deleted loop is not used again.
func TestOldLoopsAreDeleted(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, location string) {
		ctx := t.Context()
		h := &hands{script: map[fixloop.WorkKind][]reaction{
			fixloop.WorkValidate: {results(fixloop.Tests)}, fixloop.WorkFix: {fixed},
			fixloop.WorkRevalidate: {results()}, fixloop.WorkFinal: {results()},
		}}
		d := openDriver(t, location, h)
		defer d.Close()
		l := start(t, d)
		if err := d.Expire(ctx, time.Nanosecond); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Get(ctx, l.ID); err != nil {
			t.Errorf("an open loop: %v", err)
		}
		if _, err := d.Wait(ctx, l.ID, true); err != nil {
			t.Fatal(err)
		}
		if err := d.Expire(ctx, time.Hour); err != nil {
			t.Fatal(err)
		}
		if messages, err := d.Messages(ctx, l.ID); err != nil || len(messages) == 0 {
			t.Errorf("a loop that ended just now has %d messages, %v", len(messages), err)
		}
		for gone := false; !gone; { // until its messages are delivered and the clock has advanced
			if err := d.Expire(ctx, time.Nanosecond); err != nil {
				t.Fatal(err)
			}
			_, err := d.Get(ctx, l.ID)
			gone = errors.Is(err, loops.ErrNoLoop)
		}
		if messages, err := d.Messages(ctx, l.ID); err != nil || len(messages) != 0 {
			t.Errorf("%d messages are left, %v", len(messages), err)
		}
		next, opened, err := d.Start(ctx, fixloop.Loop{Repository: "o/r", Issue: 7}, []byte(`{}`), loops.OfOne)
		if err != nil || !opened || next.ID != "o/r#7.2" {
			t.Errorf("the next loop: %s, %t, %v", next.ID, opened, err)
		}
	})
}
