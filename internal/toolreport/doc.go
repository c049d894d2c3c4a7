// Package toolreport reads what a tool printed: a linter's findings, a
// compiler's errors, and how many tests of a test runner really failed.
//
// How each tool's output is read is data (see rows). Every line of every stream
// passes through once, whatever its size: time is linear, and what is kept is
// bounded. Output is hostile, since a pull request's code can print anything:
// a path outside the root never becomes a finding, and what was not understood
// is said to be unknown.
package toolreport
