// Package lazyregexp compiles regular expressions when they are first needed, so that a
// program with hundreds of them starts as fast as one with none.
package lazyregexp

import (
	"regexp"
	"sync"
)

// Regexp is a regular expression that is compiled when it is first used. Its methods are
// those of regexp.Regexp.
type Regexp struct{ compile func() *regexp.Regexp }

// New returns a Regexp. An invalid expression panics when it is first used, so every one
// has to be used by a test.
func New(expression string) *Regexp {
	return &Regexp{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })}
}

// Find is that of regexp.Regexp.
func (r *Regexp) Find(b []byte) []byte { return r.compile().Find(b) }

// FindAllString is that of regexp.Regexp.
func (r *Regexp) FindAllString(s string, n int) []string { return r.compile().FindAllString(s, n) }

// FindAllStringSubmatch is that of regexp.Regexp.
func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.compile().FindAllStringSubmatch(s, n)
}

// FindAllStringSubmatchIndex is that of regexp.Regexp.
func (r *Regexp) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return r.compile().FindAllStringSubmatchIndex(s, n)
}

// FindAllSubmatchIndex is that of regexp.Regexp.
func (r *Regexp) FindAllSubmatchIndex(b []byte, n int) [][]int {
	return r.compile().FindAllSubmatchIndex(b, n)
}

// FindIndex is that of regexp.Regexp.
func (r *Regexp) FindIndex(b []byte) []int { return r.compile().FindIndex(b) }

// FindString is that of regexp.Regexp.
func (r *Regexp) FindString(s string) string { return r.compile().FindString(s) }

// FindStringIndex is that of regexp.Regexp.
func (r *Regexp) FindStringIndex(s string) []int { return r.compile().FindStringIndex(s) }

// FindStringSubmatch is that of regexp.Regexp.
func (r *Regexp) FindStringSubmatch(s string) []string { return r.compile().FindStringSubmatch(s) }

// FindStringSubmatchIndex is that of regexp.Regexp.
func (r *Regexp) FindStringSubmatchIndex(s string) []int {
	return r.compile().FindStringSubmatchIndex(s)
}

// Match is that of regexp.Regexp.
func (r *Regexp) Match(b []byte) bool { return r.compile().Match(b) }

// MatchString is that of regexp.Regexp.
func (r *Regexp) MatchString(s string) bool { return r.compile().MatchString(s) }

// ReplaceAllFunc is that of regexp.Regexp.
func (r *Regexp) ReplaceAllFunc(b []byte, with func([]byte) []byte) []byte {
	return r.compile().ReplaceAllFunc(b, with)
}

// ReplaceAllLiteralString is that of regexp.Regexp.
func (r *Regexp) ReplaceAllLiteralString(s, with string) string {
	return r.compile().ReplaceAllLiteralString(s, with)
}

// ReplaceAllString is that of regexp.Regexp.
func (r *Regexp) ReplaceAllString(s, with string) string {
	return r.compile().ReplaceAllString(s, with)
}

// ReplaceAllStringFunc is that of regexp.Regexp.
func (r *Regexp) ReplaceAllStringFunc(s string, with func(string) string) string {
	return r.compile().ReplaceAllStringFunc(s, with)
}

// Split is that of regexp.Regexp.
func (r *Regexp) Split(s string, n int) []string { return r.compile().Split(s, n) }

// String is that of regexp.Regexp.
func (r *Regexp) String() string { return r.compile().String() }
