package sanitize

import (
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/bidi"
)

// TestBidiShortcuts compares isRightToLeft, directionCount and indexBidi, for each character, with
// Unicode's table or with the table of classes.
func TestBidiShortcuts(t *testing.T) {
	table := runeClasses()
	for r := rune(0); r <= utf8.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		properties, _ := bidi.LookupRune(r)
		class := properties.Class()
		want := (class == bidi.R || class == bidi.AL) && r != rlm && r != alm
		if got := isRightToLeft(r); got != want {
			t.Errorf("isRightToLeft(%U) = %t, the class is %v", r, got, class)
		}
		text := "a\n" + string(r) + "\u00e9"
		direction := directionCount{rest: text}
		if got := direction.atLeast(1) && !direction.atLeast(2); got != want {
			t.Errorf("directionCount leaves out or counts %U, the class is %v", r, class)
		}
		if got := indexBidi(text) == len("a\n"); got != table.isBidi(r) {
			t.Errorf("indexBidi finds %U: %t, isBidi: %t", r, got, !got)
		}
	}
}
