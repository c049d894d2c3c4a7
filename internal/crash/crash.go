// Package crash turns panics into errors. So a defect fails one task and does not lose the results
// of others, and a secret in the value of a panic is not printed.
package crash

import (
	"errors"
	"fmt"
	"path"
	"runtime"
	"strconv"
	"strings"
	"sync"
)

// Error is a panic that was caught.
type Error struct {
	// What is the runtime's own description, which may have numbers, such as an index, but no text
	// that the program handles. For a value that the program panicked with, What is only the
	// value's type, because the value may contain a secret.
	What string
	// Where are the places of the calls that led to it, the innermost first.
	Where []string
}

// Error describes the panic in one line, which contains no text that the program handles.
func (e *Error) Error() string {
	return fmt.Sprintf("Airlock itself failed: %s (at %s); please report this as a defect of Airlock", e.What, strings.Join(e.Where, ", "))
}

// Is reports whether err is due to a panic.
func Is(err error) bool {
	var e *Error
	return errors.As(err, &e)
}

// Recover sets err if the function that defers it panics.
func Recover(err *error) {
	if v := recover(); v != nil {
		*err = caught(v)
	}
}

// Try calls f and returns its error, or its panic as an error.
func Try(f func() error) (err error) {
	defer Recover(&err)
	return f()
}

// maxPlaces is how many calls an Error names.
const maxPlaces = 6

// caught describes a panic. It finds the places only while the goroutine panics, in a deferred
// function.
func caught(value any) *Error {
	if e, ok := value.(*Error); ok {
		return e // from another goroutine
	}
	e := &Error{What: fmt.Sprintf("a panic with a value of the type %T", value)}
	if described, ok := value.(runtime.Error); ok {
		e.What = described.Error()
	}
	calls := make([]uintptr, 64)
	frames := runtime.CallersFrames(calls[:runtime.Callers(1, calls)])
	panicked := false
	for more := true; more && len(e.Where) < maxPlaces; {
		var f runtime.Frame
		f, more = frames.Next()
		inRuntime := strings.HasPrefix(f.Function, "runtime.")
		if panicked && !inRuntime {
			e.Where = append(e.Where, path.Base(path.Dir(f.File))+"/"+path.Base(f.File)+":"+strconv.Itoa(f.Line))
		}
		panicked = panicked || f.Function == "runtime.gopanic"
	}
	return e
}

// Group is a sync.WaitGroup whose functions may panic: Wait panics then, in the goroutine that
// can do something about it. The zero Group is ready for use.
type Group struct {
	all   sync.WaitGroup
	once  sync.Once
	first *Error
}

// Go calls f in a goroutine.
func (g *Group) Go(f func()) {
	g.all.Go(func() {
		if err := Try(func() error { f(); return nil }); err != nil {
			g.once.Do(func() { errors.As(err, &g.first) })
		}
	})
}

// Wait waits for all goroutines, and panics with the first *Error among them.
func (g *Group) Wait() {
	g.all.Wait()
	if g.first != nil {
		panic(g.first)
	}
}
