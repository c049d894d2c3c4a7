package action

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLinesShowWhatIsNew asserts that each call of Update shows the complete lines since the last
// call, and all lines at the first call and where the file was replaced or has become shorter.
func TestLinesShowWhatIsNew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lines")
	l := NewLines(path)
	update := func(add string) (shown string, again bool) {
		t.Helper()
		err := l.Update(t.Context(), func(added io.Reader, all bool) ([]byte, error) {
			data, err := io.ReadAll(added)
			shown, again = string(data), all
			if add == "" {
				return nil, err
			}
			return []byte(add), err
		})
		if err != nil {
			t.Fatal(err)
		}
		return shown, again
	}
	appendByHand := func(text string) {
		t.Helper()
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		if err == nil {
			_, err = f.WriteString(text)
		}
		if err = errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	for i, step := range []struct {
		before func()
		add    string
		shown  string
		again  bool
	}{
		{nil, "one", "", true},
		{nil, "two", "one\n", false},
		{func() { appendByHand("three\nunfini") }, "", "two\nthree\n", false},
		{nil, "four", "", false},
		{nil, "", "unfini\nfour\n", false},
		{func() { _ = os.Truncate(path, 4) }, "", "one\n", true},
		{func() { _ = os.Rename(path, path+".old"); _ = os.WriteFile(path, []byte("new\n"), 0o600) }, "", "new\n", true},
		{func() { appendByHand(strings.Repeat("x", 200_000)) }, "", "", false},
	} {
		if step.before != nil {
			step.before()
		}
		if shown, again := update(step.add); shown != step.shown || again != step.again {
			t.Errorf("step %d shows %q, all again: %t", i, shown, again)
		}
	}
}

// TestLinesKeepTheFileOnErrors asserts that an error of the caller leaves the file as it is.
func TestLinesKeepTheFileOnErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lines")
	l, refused := NewLines(path), errors.New("refused")
	if err := l.Update(t.Context(), func(io.Reader, bool) ([]byte, error) { return []byte("x"), refused }); !errors.Is(err, refused) {
		t.Error(err)
	}
	if data, err := os.ReadFile(path); err != nil || len(data) > 0 {
		t.Errorf("the file says %q (%v)", data, err)
	}
}
