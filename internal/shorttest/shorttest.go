// Package shorttest picks the cases of a table that a test plays with -short, for tests
// whose every case starts programs. Without -short, all are played.
package shorttest

import (
	"maps"
	"slices"
	"testing"
)

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

// Count returns n, with -short a part of it that is at least 1: how many random schedules
// a test plays.
func Count(n, part uint64) uint64 {
	if testing.Short() {
		return max(1, n/part)
	}
	return n
}

// AtLimits reports whether a test handles as much data as the limits allow: not with -short,
// and not with the race detector, which is many times slower and finds in much data what it
// finds in little. CI plays those tests without it as well.
func AtLimits() bool { return !testing.Short() && !raceDetector }
