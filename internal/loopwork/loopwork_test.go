package loopwork

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/fixer"
	"github.com/agent-airlock/airlock/internal/loops"
	"github.com/agent-airlock/airlock/internal/store"
)

// TestAnotherProcessKeptItsFix has a second process keep its result of a fix while the command of
// this one runs. keptFix must return the kept result, without a trace of this process's own.
func TestAnotherProcessKeptItsFix(t *testing.T) {
	t.Parallel()
	st, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "s.db"), loops.Schema)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	h := &Hands{book: loops.NewBook(st)}
	kept := fixer.Result{Files: []fixer.File{{Path: "old.go", Before: "100644 c0ffee"}}} // which removes old.go
	got, err := h.keptFix(t.Context(), "l", "fix/1/1", func() (fixer.Result, error) {
		raw, err := json.Marshal(kept)
		if err != nil {
			return fixer.Result{}, err
		}
		_, err = h.book.Keep(t.Context(), "l", "fix/1/1", string(raw))
		return fixer.Result{
			Files:  []fixer.File{{Path: "new.go", Mode: "100644", Content: []byte("package a\n")}},
			Fixes:  []string{"a new file"},
			Failed: "killed",
		}, err
	})
	if diff := cmp.Diff(kept, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}

// TestEmptyListNamesTheRepository asserts that the note about an empty list names the repository if
// only its loops are listed, because the store may contain those of others.
func TestEmptyListNamesTheRepository(t *testing.T) {
	t.Parallel()
	for want, list := range map[string]List{
		"airlock: there is no loop in s.db\n":              {store: "s.db"},
		"airlock: there is no loop of octo/shop in s.db\n": {store: "s.db", repository: "octo/shop"},
	} {
		var out, notes strings.Builder
		if err := list.Text(&out, &notes); err != nil || out.String() != "" || notes.String() != want {
			t.Errorf("%v: %q, %q, want %q", err, out.String(), notes.String(), want)
		}
	}
}
