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

// TestLinesOfAShorterFileAreShownAgainAfterAnError asserts that all lines of a file that has become
// shorter count as all lines also in the call after an error of the caller.
func TestLinesOfAShorterFileAreShownAgainAfterAnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lines")
	if err := os.WriteFile(path, []byte("one\ntwo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, refused := NewLines(path), errors.New("refused")
	for i, step := range []struct {
		size  int64
		fails error
		shown string
		all   bool
	}{
		{8, nil, "one\ntwo\n", true},
		{4, refused, "one\n", true},
		{4, nil, "one\n", true},
		{4, nil, "", false},
	} {
		if err := os.Truncate(path, step.size); err != nil {
			t.Fatal(err)
		}
		err := l.Update(t.Context(), func(lines io.Reader, all bool) ([]byte, error) {
			data, err := io.ReadAll(lines)
			if err != nil {
				return nil, err
			}
			if string(data) != step.shown || all != step.all {
				t.Errorf("step %d shows %q, all again: %t", i, data, all)
			}
			return nil, step.fails
		})
		if !errors.Is(err, step.fails) {
			t.Errorf("step %d: %v", i, err)
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
