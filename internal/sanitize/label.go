package sanitize

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

// MaxLabel is the longest label, in characters.
const MaxLabel = 50

// The reasons for which a label is refused.
var (
	ErrLabelEmpty = errors.New("the label is empty")
	ErrLabelDash  = errors.New("a label must not begin with '-'")
)

// Label cleans a label: trimmed, one line, no control or invisible
// characters. An empty one, one over MaxLabel characters and one with a
// leading '-' are errors.
func (s *Sanitizer) Label(text string) (string, []Note, error) {
	var n noter
	out := oneLine(characters(text, &n))
	switch {
	case out == "":
		return "", n.list(), ErrLabelEmpty
	case out[0] == '-':
		return "", n.list(), ErrLabelDash
	}
	if count := utf8.RuneCountInString(out); count > MaxLabel {
		return "", n.list(), fmt.Errorf("the label has %d characters; at most %d are allowed", count, MaxLabel)
	}
	return out, n.list(), nil
}
