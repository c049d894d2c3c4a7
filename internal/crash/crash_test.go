package crash

import (
	"errors"
	"strings"
	"testing"
)

func TestTry(t *testing.T) {
	var none map[string]int
	var list []int
	other := errors.New("an error")
	for name, tt := range map[string]struct {
		f    func() error
		what string // "" where it does not panic
	}{
		"nothing":        {func() error { return nil }, ""},
		"an error":       {func() error { return other }, ""},
		"an index":       {func() error { list[len(none)]++; return nil }, "runtime error: index out of range [0] with length 0"},
		"a nil map":      {func() error { none["x"]++; return nil }, "assignment to entry in nil map"},
		"a text":         {func() error { panic("ghs_secret") }, "a panic with a value of the type string"},
		"an error value": {func() error { panic(errors.New("ghs_secret")) }, "a panic with a value of the type *errors.errorString"},
		"nil":            {func() error { panic(nil) }, "panic called with nil argument"},
		"in a group": {func() error {
			var g Group
			g.Go(func() {})
			g.Go(func() { panic("ghs_secret") })
			g.Wait()
			return nil
		}, "a panic with a value of the type string"},
	} {
		err := Try(tt.f)
		var e *Error
		if errors.As(err, &e) != (tt.what != "") || Is(err) != (tt.what != "") {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if e == nil {
			if want := tt.f(); err != want {
				t.Errorf("%s: %v, want %v", name, err, want)
			}
			continue
		}
		if e.What != tt.what || len(e.Where) == 0 || !strings.HasPrefix(e.Where[0], "crash/crash_test.go:") {
			t.Errorf("%s: %q at %q, want %q in this file", name, e.What, e.Where, tt.what)
		}
		if strings.Contains(err.Error(), "ghs_") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
