package policy

import (
	"strings"
	"testing"
	"unicode"
)

// TestLikenessOfASCII checks that a text of ASCII, which is folded in a quicker way, has the form that
// it has as part of another text.
func TestLikenessOfASCII(t *testing.T) {
	t.Parallel()
	for c := range rune(unicode.MaxASCII + 1) {
		inText := strings.TrimSuffix(likeness(string(c)+"漢"), "漢")
		if got := likeness(string(c)); got != inText {
			t.Errorf("%q alone becomes %q, in a text %q", c, got, inText)
		}
	}
	if got := likeness("Wide|B\tx"); got != "widelb x" {
		t.Errorf("got %q", got)
	}
}
