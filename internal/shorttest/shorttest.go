// Package shorttest selects the cases and tests that run with -short. Without -short, all run. It
// also sets how many tests run at once, and reports whether they run at the limits.
package shorttest

import (
	"flag"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// LeaveOut leaves the named tests out of a run with -short, in addition to those that -skip names. A
// TestMain calls it before it runs the tests.
func LeaveOut(tests ...string) {
	flag.Parse()
	if !testing.Short() {
		return
	}
	pattern := "^(" + strings.Join(tests, "|") + ")$"
	skip := flag.Lookup("test.skip").Value
	if also := skip.String(); also != "" {
		pattern += "|" + also
	}
	if err := skip.Set(pattern); err != nil {
		panic(err)
	}
}

// InParallel lets n tests run at once where -parallel does not say how many: for tests that
// wait for programs and servers more than they compute.
func InParallel(n int) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if given {
		return
	}
	if err := flag.Set("test.parallel", strconv.Itoa(n)); err != nil {
		panic(err)
	}
}

// First returns all cases of a table, with -short the first n.
func First[T any](n int, cases []T) []T {
	if testing.Short() && len(cases) > n {
		return cases[:n]
	}
	return cases
}

// Some returns all cases of a table, with -short the n whose names come first in the
// alphabet.
func Some[T any](n int, cases map[string]T) map[string]T {
	if !testing.Short() || len(cases) <= n {
		return cases
	}
	some := map[string]T{}
	for _, name := range slices.Sorted(maps.Keys(cases))[:n] {
		some[name] = cases[name]
	}
	return some
}

// Count returns n, or with -short n/part, but at least 1. It is for tests that repeat something, such
// as random schedules.
func Count(n, part uint64) uint64 {
	if testing.Short() {
		return max(1, n/part)
	}
	return n
}

// AtLimits reports whether tests handle as much data as the limits allow, which they do with
// the build tag limits.
func AtLimits() bool { return atLimits }
