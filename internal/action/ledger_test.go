package action_test

import (
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/action"
)

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
		if before, err := ledger.Begin(c.keys); err != nil || before != c.before {
			t.Errorf("%d: %v of %q: %t, %v", i, c.keys, c.server, before, err)
		}
	}
}

// TestLedgerInATerminal keeps the records in the user's cache directory, for a day.
func TestLedgerInATerminal(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	environment := map[string]string{"HOME": home}
	begin := func() bool {
		before, err := action.LedgerOf(action.Env{}, func(name string) string { return environment[name] }).Begin([]string{"1"})
		if err != nil {
			t.Fatal(err)
		}
		return before
	}
	if begin() || !begin() {
		t.Error("the second process does not learn of the first")
	}
	records, err := filepath.Glob(filepath.Join(home, ".cache", "airlock", "*"))
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

// TestLedgerInAContainer plays an action's container, whose environment names a temporary
// directory that it does not have: two steps share the home directory.
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
			before, err := action.LedgerOf(action.Env{Temp: temp, OnRunner: true}, getenv).Begin([]string{temp})
			if err != nil || before != (i == 1) {
				t.Errorf("%s, step %d: %t, %v", temp, i+1, before, err)
			}
		}
	}
	nowhere := action.LedgerOf(action.Env{Temp: file, OnRunner: true}, func(string) string { return "" })
	for range 2 {
		if before, err := nowhere.Begin([]string{"1"}); before || err != nil {
			t.Errorf("without a directory: %t, %v", before, err)
		}
	}
}

// TestLedgerAtOnce asserts that of several processes at the same moment exactly one is the first.
func TestLedgerAtOnce(t *testing.T) {
	t.Parallel()
	ledger := action.LedgerOf(action.Env{Temp: t.TempDir(), OnRunner: true}, os.Getenv)
	var first atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if before, err := ledger.Begin([]string{"1"}); err != nil {
				t.Error(err)
			} else if !before {
				first.Add(1)
			}
		})
	}
	all.Wait()
	if n := first.Load(); n != 1 {
		t.Errorf("%d are the first", n)
	}
}
