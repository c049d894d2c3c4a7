package loopwork

import (
	"errors"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/fixloop"
	"github.com/agent-airlock/airlock/internal/loops"
	"github.com/agent-airlock/airlock/internal/store"
)

// TestALoopThatCannotBegin asserts that limits out of range are wrong usage, and that a store which
// does not answer is not.
func TestALoopThatCannotBegin(t *testing.T) {
	st, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "store.db"), loops.Schema)
	if err != nil {
		t.Fatal(err)
	}
	d, err := loops.Open(t.Context(), st, loops.Config{Name: "test", Hands: func(*loops.Book) loops.Hands { return nil }, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	begin := func(iterations, want int) {
		t.Helper()
		s := Start{Key: Key{Repository: "octo/shop", Issue: 7}, Limits: fixloop.Limits{Iterations: iterations}}
		_, err := s.drive(t.Context(), d, nil, settings{})
		if e, ok := errors.AsType[*exitcode.Error](err); !ok || e.Code != want {
			t.Errorf("%d iterations: %v, want the exit code %d", iterations, err, want)
		}
	}
	begin(1_000_000_000, exitcode.Usage)
	d.Close()
	begin(3, exitcode.Failed)
}
