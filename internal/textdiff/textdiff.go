// Package textdiff shows how two texts differ.
package textdiff

import "github.com/rogpeppe/go-internal/diff"

// Unified returns the unified difference of two texts with three lines of context, or nil if
// they are equal. It takes O(n log n) time, where n is the number of lines.
func Unified(oldName string, oldText []byte, newName string, newText []byte) []byte {
	return diff.Diff(oldName, oldText, newName, newText)
}
