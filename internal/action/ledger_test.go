package action_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/action"
)

// TestLedger asserts that Begin reports whether an earlier Begin for the same server had one of its
// keys.
func TestLedger(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i, c := range []struct {
		server string
		keys   []string
		before bool
	}{
		{"a", []string{"1", "2"}, false},
		{"a", []string{"3"}, false},
		{"a", []string{"4", "2"}, true},
		{"b", []string{"1", "2"}, false},
		{"a", nil, false},
		{"a", []string{"4"}, true},
	} {
		ledger := action.LedgerOf(action.Env{Temp: dir, OnRunner: true, APIURL: c.server}, os.Getenv)
		before, end, err := ledger.Begin(c.keys)
		if err != nil || before != c.before {
			t.Errorf("%d: %v of %q: %t, %v", i, c.keys, c.server, before, err)
		}
		end()
	}
}

// TestLedgerInATerminal asserts that outside of a workflow the records are in the user's cache
// directory, and count for a day.
func TestLedgerInATerminal(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	environment := map[string]string{"HOME": home}
	begin := func() bool {
		before, end, err := action.LedgerOf(action.Env{}, func(name string) string { return environment[name] }).Begin([]string{"1"})
		if err != nil {
			t.Fatal(err)
		}
		end()
		return before
	}
	if begin() || !begin() {
		t.Error("the second process does not learn of the first")
	}
	records, err := filepath.Glob(filepath.Join(home, ".cache", "airlock", "airlock-begun-*"))
	if err != nil || len(records) != 1 {
		t.Fatalf("%q, %v", records, err)
	}
	old := time.Now().Add(-25 * time.Hour)
	if err := os.Chtimes(records[0], old, old); err != nil {
		t.Fatal(err)
	}
	if begin() {
		t.Error("a record of yesterday counts")
	}
	delete(environment, "HOME")
	for range 2 {
		if begin() {
			t.Error("without a directory something was recorded")
		}
	}
}

// TestLedgerInAContainer plays two steps in an action's container, whose environment names a
// temporary directory that it does not have: the records are in the home directory, which they
// share.
func TestLedgerInAContainer(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	file := filepath.Join(home, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, temp := range []string{filepath.Join(home, "none"), file} {
		getenv := func(name string) string { return map[string]string{"HOME": home}[name] }
		for i := range 2 {
			before, end, err := action.LedgerOf(action.Env{Temp: temp, OnRunner: true}, getenv).Begin([]string{temp})
			if err != nil || before != (i == 1) {
				t.Errorf("%s, step %d: %t, %v", temp, i+1, before, err)
			}
			end()
		}
	}
	nowhere := action.LedgerOf(action.Env{Temp: file, OnRunner: true}, func(string) string { return "" })
	for range 2 {
		if before, _, err := nowhere.Begin([]string{"1"}); before || err != nil {
			t.Errorf("without a directory: %t, %v", before, err)
		}
	}
}

// TestLedgerAtOnce calls Begin eight times at once, each time with a key that all share and one
// that no other has: one call succeeds, and the others end with ErrAtWork.
func TestLedgerAtOnce(t *testing.T) {
	t.Parallel()
	ledger := action.LedgerOf(action.Env{Temp: t.TempDir(), OnRunner: true}, os.Getenv)
	var first, refused atomic.Int32
	var all sync.WaitGroup
	ends := make(chan func(), 8)
	for i := range 8 {
		all.Go(func() {
			switch before, end, err := ledger.Begin([]string{"all", fmt.Sprint("only ", i)}); {
			case errors.Is(err, action.ErrAtWork):
				refused.Add(1)
			case err != nil || before:
				t.Errorf("%t, %v", before, err)
			default:
				first.Add(1)
				ends <- end
			}
		})
	}
	all.Wait()
	if first.Load() != 1 || refused.Load() != 7 {
		t.Fatalf("%d went on and %d were refused", first.Load(), refused.Load())
	}
	if before, end, err := ledger.Begin([]string{"another"}); before || err != nil {
		t.Errorf("with another key: %t, %v", before, err)
	} else {
		end()
	}
	(<-ends)()
	if before, _, err := ledger.Begin([]string{"all"}); !before || err != nil {
		t.Errorf("after the first has ended: %t, %v", before, err)
	}
}

// TestLedgerWithoutLocks puts a directory or a link in the place of the file that is locked: the
// records are made all the same, and the link is not followed.
func TestLedgerWithoutLocks(t *testing.T) {
	t.Parallel()
	for name, obstruct := range map[string]func(t *testing.T, path string){
		"a directory": func(t *testing.T, path string) {
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
		},
		"a link": func(t *testing.T, path string) {
			if err := os.Symlink(filepath.Join(filepath.Dir(path), "elsewhere"), path); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			obstruct(t, filepath.Join(dir, "airlock-at-work"))
			ledger := action.LedgerOf(action.Env{Temp: dir, OnRunner: true}, os.Getenv)
			for i := range 2 {
				if before, _, err := ledger.Begin([]string{"1"}); err != nil || before != (i == 1) {
					t.Errorf("process %d: %t, %v", i+1, before, err)
				}
			}
			if _, err := os.Stat(filepath.Join(dir, "elsewhere")); err == nil {
				t.Error("the link was followed")
			}
		})
	}
}
