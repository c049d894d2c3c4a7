package reviewer

import (
	"slices"
	"sort"
	"strings"
)

// kind is what a token is, as far as rules need to know it, in every language.
type kind uint8

const (
	word       kind = iota // a name or a keyword: query, return
	number                 // 12, 0x1f
	stringText             // a string literal, or a literal part of a string with holes
	opening                // ( [ { and what begins a string with holes or a hole: `, ${
	closing                // what ends an opening
	operator               // any other punctuation: . + => ;
	comment                // such tokens are kept apart from the others
)

// token is a piece of source text. Blanks are in no token.
type token struct {
	kind kind
	// first is set for the first token on its line.
	first bool
	// start and end are the token's bytes; from and to are those of a literal's
	// content, without prefix and quotes.
	start, end, from, to int32
	// pair is the index of the bracket that belongs to an opening or closing one, or -1.
	pair int32
}

// source is a file as tokens. Its methods take indexes of tokens, which are in range unless the
// method's comment allows others.
type source struct {
	path     string
	text     string
	lang     *language
	tokens   []token // without comments, so that rules see code only
	comments []token
	lines    []int32 // where each line begins
	units    []units // in the order of the text; nil before unitsBefore is called
	// first is the result of the last call of firstOnLine, for firstLine.
	firstLine, first int
}

// units is how many UTF-16 code units are before a character.
type units struct {
	offset int32 // of the character
	before int
}

// is reports whether the token at index i, which may be out of range, is written like that. For a
// string literal it returns false.
func (s *source) is(i int, written string) bool {
	return i >= 0 && i < len(s.tokens) && s.tokens[i].kind != stringText && s.written(i) == written
}

// isOneOf reports whether the token at index i, which may be out of range, is written in one of
// several ways. For a string literal it returns false.
func (s *source) isOneOf(i int, written ...string) bool {
	return i >= 0 && i < len(s.tokens) && s.tokens[i].kind != stringText && slices.Contains(written, s.written(i))
}

// isSequence reports whether the tokens from index i on are written like these texts, in their order.
// For a string literal among them it returns false.
func (s *source) isSequence(i int, written ...string) bool {
	for n, w := range written {
		if !s.is(i+n, w) {
			return false
		}
	}
	return true
}

// kindAt returns the kind of the token at index i. Where i is out of range, it returns comment.
func (s *source) kindAt(i int) kind {
	if i < 0 || i >= len(s.tokens) {
		return comment
	}
	return s.tokens[i].kind
}

// written returns a token as the file has it.
func (s *source) written(i int) string { return s.text[s.tokens[i].start:s.tokens[i].end] }

// content returns the content of a literal, without its quotes.
func (s *source) content(i int) string { return s.text[s.tokens[i].from:s.tokens[i].to] }

// after returns the index after the token, or after the group that it opens.
func (s *source) after(i int) int {
	if t := s.tokens[i]; t.kind == opening && int(t.pair) > i {
		return int(t.pair) + 1
	}
	return i + 1
}

// line returns the number of the line, from 1, on which a byte is.
func (s *source) line(offset int32) int {
	return sort.Search(len(s.lines), func(i int) bool { return s.lines[i] > offset })
}

// lineText returns a line, from 1, cut where it is too long.
func (s *source) lineText(number int) string {
	begin := int(s.lines[number-1])
	line, _, _ := strings.Cut(s.text[begin:min(len(s.text), begin+longestSource)], "\n")
	return line
}

// firstOnLine returns the offset of the first byte of a line, from 1, that is not a blank or a tab.
func (s *source) firstOnLine(number int) int {
	if s.firstLine != number {
		s.firstLine, s.first = number, int(s.lines[number-1])
		for s.first < len(s.text) && (s.text[s.first] == ' ' || s.text[s.first] == '\t') {
			s.first++
		}
	}
	return s.first
}

// column returns the column of a byte, from 1, in UTF-16 code units.
func (s *source) column(offset int32) int {
	begin := s.lines[s.line(offset)-1]
	if offset-begin <= longestSource {
		return 1 + countUnits(s.text[begin:offset])
	}
	return 1 + s.unitsBefore(offset) - s.unitsBefore(begin) // many findings may be in one line
}

// unitsBefore returns how many UTF-16 code units are before a byte.
func (s *source) unitsBefore(offset int32) int {
	if s.units == nil {
		n, next := 0, 0
		for i, r := range s.text {
			if i >= next {
				s.units = append(s.units, units{int32(i), n})
				next = i + longestSource
			}
			n += unitsOf(r)
		}
	}
	near := s.units[sort.Search(len(s.units), func(i int) bool { return s.units[i].offset > offset })-1]
	return near.before + countUnits(s.text[near.offset:offset])
}

// countUnits returns how many UTF-16 code units a text has.
func countUnits(text string) (n int) {
	for _, r := range text {
		n += unitsOf(r)
	}
	return n
}

// unitsOf returns how many UTF-16 code units a character has.
func unitsOf(r rune) int {
	if r > 0xffff {
		return 2
	}
	return 1
}

// indent returns how many bytes stand before a token on its line.
func (s *source) indent(i int) int {
	start := s.tokens[i].start
	return int(start - s.lines[s.line(start)-1])
}

// lineStarts returns where each line begins.
func lineStarts(text string) []int32 {
	starts := []int32{0}
	for i := range len(text) {
		if text[i] == '\n' && i+1 < len(text) {
			starts = append(starts, int32(i+1))
		}
	}
	return starts
}
