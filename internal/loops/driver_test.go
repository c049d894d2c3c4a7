package loops_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agent-airlock/airlock/internal/engine"
	"github.com/agent-airlock/airlock/internal/fixloop"
	"github.com/agent-airlock/airlock/internal/loops"
	"github.com/agent-airlock/airlock/internal/shorttest"
	"github.com/agent-airlock/airlock/internal/store"
	"github.com/agent-airlock/airlock/internal/store/storetest"
)

func TestMain(m *testing.M) {
	shorttest.LeaveOut( // these start several engines, or wait for minutes of virtual time
		"TestALoopOutlivesItsWorkflow", "TestOldLoopsAreDeleted", "TestTimersOutliveTheProcess",
		"TestASlowValidation",
	)
	os.Exit(storetest.Main(m))
}

// hands follow a script.
type hands struct {
	// script has for each kind of work what to do the first time, the second time and so on. The
	// last one is repeated.
	script map[fixloop.WorkKind][]reaction
	poll   time.Duration
	fails  string // the beginning of the ids of messages that cannot be delivered

	mu        sync.Mutex
	began     time.Time
	count     map[fixloop.WorkKind]int
	delivered []string
}

func (h *hands) Work(ctx context.Context, _ loops.Loop, w fixloop.Work, send func(fixloop.Event) error) (fixloop.Event, bool) {
	if w.Kind == fixloop.WorkStart {
		return fixloop.Event{Type: fixloop.EventStart, Head: "c0ffee"}, true
	}
	if w.Kind == fixloop.WorkFix {
		_ = send(fixloop.Event{Type: fixloop.EventFixStarted, Iteration: w.Iteration})
	}
	h.mu.Lock()
	list := h.script[w.Kind]
	n := min(h.count[w.Kind], len(list)-1)
	h.count[w.Kind]++
	h.mu.Unlock()
	if n < 0 {
		return fixloop.Event{}, false
	}
	return list[n](ctx, w)
}

func (h *hands) Deliver(_ context.Context, _ loops.Loop, m fixloop.Message) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if m.ID == "" { // a change of status
		return nil
	}
	if h.fails != "" && strings.HasPrefix(m.ID, h.fails) {
		return errors.New("nobody is there")
	}
	kind, _, _ := strings.Cut(m.ID, "-")
	h.delivered = append(h.delivered, fmt.Sprintf("%s %s", kind, time.Since(h.began).Round(time.Minute)))
	return nil
}

// deliveries returns the kinds of the messages that were delivered, each with the time since the
// beginning.
func (h *hands) deliveries() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Join(h.delivered, ", ")
}

type reaction = func(context.Context, fixloop.Work) (fixloop.Event, bool)

// results reports the checks that are asked for; those that are named fail.
func results(failing ...fixloop.Check) reaction {
	return func(_ context.Context, w fixloop.Work) (fixloop.Event, bool) {
		e := fixloop.Event{Type: fixloop.EventResult, Op: w.Op}
		for _, c := range w.Checks {
			r := fixloop.Result{Check: c, Status: fixloop.ResultPass}
			if slices.Contains(failing, c) {
				r.Status, r.Failures = fixloop.ResultFail, []fixloop.Failure{{Message: "wrong total", Path: "shop.go", Line: 3}}
			}
			e.Results = append(e.Results, r)
		}
		return e, true
	}
}

func fixed(_ context.Context, w fixloop.Work) (fixloop.Event, bool) {
	return fixloop.Event{Type: fixloop.EventFixDone, Iteration: w.Iteration, Files: []string{"shop.go"}}, true
}

// hang does nothing until its context is done, and has no answer then.
func hang(ctx context.Context, _ fixloop.Work) (fixloop.Event, bool) {
	<-ctx.Done()
	return fixloop.Event{}, false
}

const name = "o/r#7.1"

func openDriver(t testing.TB, location string, h *hands) *loops.Driver {
	t.Helper()
	st, err := store.Open(t.Context(), location, loops.Schema)
	if err != nil {
		t.Fatal(err)
	}
	h.mu.Lock()
	if h.count == nil {
		h.count, h.began = map[fixloop.WorkKind]int{}, time.Now()
	}
	h.mu.Unlock()
	d, err := loops.Open(context.WithoutCancel(t.Context()), st, loops.Config{Name: loops.OfOne(name), Hands: func(*loops.Book) loops.Hands { return h }, Poll: h.poll, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// start starts a loop whose limits are short, because the engine queries its store each virtual
// second.
func start(t *testing.T, d *loops.Driver) loops.Loop {
	t.Helper()
	limits := fixloop.Limits{Validation: 3 * time.Minute, Fix: 3 * time.Minute, Grace: time.Minute}
	l, _, err := d.Start(t.Context(), fixloop.Loop{Repository: "o/r", Issue: 7, Limits: limits}, []byte(`{}`), loops.OfOne)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// A loop goes on when it is started again even if its workflow has ended before it.
func TestALoopOutlivesItsWorkflow(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, location string) {
		d := openDriver(t, location, &hands{script: map[fixloop.WorkKind][]reaction{fixloop.WorkValidate: {hang}}})
		start(t, d)
		d.Close()
		st, err := store.Open(t.Context(), location, loops.Schema)
		if err != nil {
			t.Fatal(err)
		}
		e, err := engine.Open(t.Context(), st, engine.Config{Logger: slog.New(slog.DiscardHandler)})
		if err == nil {
			err = e.Cancel("loop " + name)
		}
		if err != nil {
			t.Fatal(err)
		}
		e.Close()

		d = openDriver(t, location, &hands{script: map[fixloop.WorkKind][]reaction{fixloop.WorkValidate: {results()}}})
		defer d.Close()
		start(t, d)
		l, err := d.Wait(t.Context(), name, true)
		if err != nil || l.State.Outcome() != fixloop.Succeeded {
			t.Errorf("it ended as %s, %v", l.State.Outcome(), err)
		}
	})
}

func TestALoopFromStartToEnd(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, location string) {
		h := &hands{script: map[fixloop.WorkKind][]reaction{
			fixloop.WorkValidate: {results(fixloop.Tests)}, fixloop.WorkFix: {fixed},
			fixloop.WorkRevalidate: {results()}, fixloop.WorkFinal: {results()},
		}}
		d := openDriver(t, location, h)
		defer d.Close()
		l := start(t, d)
		if l.ID != name {
			t.Errorf("the first loop is %s", l.ID)
		}
		ended, err := d.Wait(t.Context(), l.ID, true)
		if err != nil || ended.State.Outcome() != fixloop.Succeeded {
			t.Fatalf("it ended as %s, %v", ended.State.Outcome(), err)
		}
		if got := h.deliveries(); got != "VFR 0s, FIXREQ 0s, FIXDONE 0s, REVAL 0s, REVALRES 0s, SUCCESS 0s" {
			t.Errorf("delivered %s", got)
		}
		messages, err := d.Messages(t.Context(), l.ID)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, m := range messages {
			if m.Counts() {
				ids = append(ids, m.ID)
			}
		}
		if got := strings.Join(ids, " "); got != "VFR-7-tests-1 FIXREQ-7-1 FIXDONE-7-1 REVAL-7-tests-2 REVALRES-7-tests-2 SUCCESS-7-tests-2" {
			t.Errorf("recorded %s", got)
		}

		var refused *fixloop.Refused
		if err := d.Apply(t.Context(), l.ID, "k", fixloop.Event{Type: fixloop.EventDecision, Decision: fixloop.DecideAbort}); !errors.As(err, &refused) || refused.Code != fixloop.CodeFinal {
			t.Errorf("a decision about a loop that has ended: %v", err)
		}
		next, opened, err := d.Start(t.Context(), fixloop.Loop{Repository: "o/r", Issue: 7}, []byte(`{"n":2}`), loops.OfOne)
		if err != nil || !opened || next.ID != "o/r#7.2" {
			t.Errorf("the next loop: %s, %t, %v", next.ID, opened, err)
		}
		again, opened, err := d.Start(t.Context(), fixloop.Loop{Repository: "o/r", Issue: 7}, []byte(`{"n":3}`), loops.OfOne)
		if err != nil || opened || again.ID != next.ID || string(again.Settings) != `{"n":3}` {
			t.Errorf("a loop that is open: %s, %t, %s, %v", again.ID, opened, again.Settings, err)
		}
		if all, err := d.List(t.Context(), loops.Filter{Repository: "o/r"}); err != nil || len(all) != 2 {
			t.Errorf("%d loops, %v", len(all), err)
		}
		if _, err := d.Find(t.Context(), "o/r", 8, 0); !errors.Is(err, loops.ErrNoLoop) {
			t.Errorf("an unknown loop: %v", err)
		}
	})
}

// Hours of protocol on the real engine: the fixer never answers, nobody runs the loop for
// a while, and a person decides in the end.
func TestTimersOutliveTheProcess(t *testing.T) {
	t.Parallel()
	location := filepath.Join(t.TempDir(), "s.db")
	synctest.Test(t, func(t *testing.T) {
		h := &hands{poll: 10 * time.Second, script: map[fixloop.WorkKind][]reaction{
			fixloop.WorkValidate: {results(fixloop.Tests)}, fixloop.WorkFix: {hang}, fixloop.WorkRevalidate: {results()}, fixloop.WorkFinal: {results()},
		}}
		d := openDriver(t, location, h)
		l := start(t, d)
		<-time.After(2 * time.Minute)
		d.Close()
		<-time.After(30 * time.Second)
		d = openDriver(t, location, h)
		if l, err := d.Wait(t.Context(), l.ID, true); err != nil || l.State.Work().Kind != fixloop.WorkDecide {
			t.Fatalf("%v, %v", l.State.Work().Kind, err)
		}
		if got := h.deliveries(); got != "VFR 0s, FIXREQ 0s, TIMEOUT 3m0s, ESC 4m0s" {
			t.Errorf("delivered %s", got)
		}
		d.Close()

		// The next driver does what became due while nobody ran the loop.
		time.Sleep(10 * time.Minute)
		d = openDriver(t, location, h)
		if err := d.Apply(t.Context(), l.ID, "decision", fixloop.Event{Type: fixloop.EventDecision, Decision: fixloop.DecideExtend, N: 1}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		d.Close()
		time.Sleep(3 * time.Hour)
		d = openDriver(t, location, h)
		if l, err := d.Wait(t.Context(), l.ID, true); err != nil || l.State.Work().Kind != fixloop.WorkDecide {
			t.Fatalf("%v, %v", l.State.Work().Kind, err)
		}
		if got := h.deliveries(); !strings.HasSuffix(got, "ESC 4m0s, TIMEOUT 3h15m0s, ESC 3h16m0s") {
			t.Errorf("delivered %s", got)
		}
		if err := d.Apply(t.Context(), l.ID, "fixed", fixloop.Event{Type: fixloop.EventDecision, Decision: fixloop.DecideFixed}); err != nil {
			t.Fatal(err)
		}
		if l, err := d.Wait(t.Context(), l.ID, false); err != nil || l.State.Outcome() != fixloop.Succeeded {
			t.Errorf("it ended as %s, %v", l.State.Outcome(), err)
		}
		d.Close()
	})
}

// TestASlowValidation asserts that a validation that takes too long leads to a reminder and an
// escalation, as a slow fix does, and that its late answer changes nothing.
func TestASlowValidation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var ended error // why the validation's context ended
		h := &hands{poll: 10 * time.Second, script: map[fixloop.WorkKind][]reaction{fixloop.WorkValidate: {func(ctx context.Context, w fixloop.Work) (fixloop.Event, bool) {
			<-ctx.Done()
			ended = context.Cause(ctx)
			return results()(ctx, w)
		}}}}
		d := openDriver(t, filepath.Join(t.TempDir(), "s.db"), h)
		l := start(t, d)
		l, err := d.Wait(t.Context(), l.ID, true)
		if err != nil || l.State.Reason() != fixloop.ReasonTimeout {
			t.Errorf("escalated because of %q, %v", l.State.Reason(), err)
		}
		if got := h.deliveries(); got != "TIMEOUT 3m0s, ESC 4m0s" {
			t.Errorf("delivered %s", got)
		}
		synctest.Wait()
		if ended == nil {
			t.Error("the validation that nobody waits for goes on")
		}
		if l, err := d.Get(t.Context(), l.ID); err != nil || l.State.Work().Kind != fixloop.WorkDecide || l.State.Reason() != fixloop.ReasonTimeout {
			t.Errorf("after the late answer: work %q, escalated because of %q, %v", l.State.Work().Kind, l.State.Reason(), err)
		}
		d.Close()
	})
}

func TestWhatCannotBeDelivered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := &hands{fails: "FIXREQ", script: map[fixloop.WorkKind][]reaction{fixloop.WorkValidate: {results(fixloop.Linter)}, fixloop.WorkFix: {hang}}}
		d := openDriver(t, filepath.Join(t.TempDir(), "s.db"), h)
		l := start(t, d)
		l, err := d.Wait(t.Context(), l.ID, true)
		if err != nil || l.State.Reason() != fixloop.ReasonUndelivered {
			t.Errorf("escalated because of %q, %v", l.State.Reason(), err)
		}
		if got := h.deliveries(); got != "VFR 0s, ERR 0s, ESC 0s" {
			t.Errorf("delivered %s", got)
		}
		d.Close()
	})
}

func TestKept(t *testing.T) {
	t.Parallel()
	d := openDriver(t, filepath.Join(t.TempDir(), "s.db"), &hands{})
	defer d.Close()
	for _, body := range []string{"first", "second"} {
		if kept, err := d.Keep(t.Context(), name, "fix/1", body); err != nil || kept != "first" {
			t.Errorf("Keep(%s) = %q, %v", body, kept, err)
		}
	}
	if body, ok, err := d.Kept(t.Context(), name, "fix/1"); body != "first" || !ok || err != nil {
		t.Errorf("Kept = %q, %t, %v", body, ok, err)
	}
	if _, ok, err := d.Kept(t.Context(), name, "fix/2"); ok || err != nil {
		t.Errorf("Kept of nothing = %t, %v", ok, err)
	}
}
