package reviewer

import (
	"sort"
	"unicode/utf8"
)

// kind tells the tokens of every language apart, as far as rules need it.
type kind uint8

const (
	word       kind = iota // a name or keyword
	number                 //
	stringText             // a string literal, or the literal part of one with holes
	open                   // ( [ { and where a string with holes or a hole begins
	closing                // what ends an open
	op                     // any other punctuation
	comment                //
)

// token is a piece of source text. Blanks are in no token.
type token struct {
	kind kind
	// first says that the token is the first one on its line.
	first bool
	// start and end are the token's bytes; from and to are those of a literal's
	// content, without prefix and quotes.
	start, end, from, to int32
	// pair is the index of the bracket that belongs to an open or closing one, or -1.
	pair int32
}

// source is a file as tokens.
type source struct {
	path   string
	text   string
	lang   *language
	tokens []token // without comments
	// comments stand apart, so that rules see code only.
	comments []token
	lines    []int32 // where each line begins
}

// is reports whether the token at index i, which may be out of range, is written so.
func (s *source) is(i int, written string) bool {
	return i >= 0 && i < len(s.tokens) && s.tokens[i].kind != stringText && s.written(i) == written
}

// kindAt returns the kind of the token at index i, and comment out of range.
func (s *source) kindAt(i int) kind {
	if i < 0 || i >= len(s.tokens) {
		return comment
	}
	return s.tokens[i].kind
}

// written returns a token as it stands in the file.
func (s *source) written(i int) string { return s.text[s.tokens[i].start:s.tokens[i].end] }

// content returns what a literal says, without its quotes.
func (s *source) content(i int) string { return s.text[s.tokens[i].from:s.tokens[i].to] }

// after returns the index behind the token, or behind the group that it opens.
func (s *source) after(i int) int {
	if t := s.tokens[i]; t.kind == open && int(t.pair) > i {
		return int(t.pair) + 1
	}
	return i + 1
}

// line returns the number of the line, from 1, that holds a byte.
func (s *source) line(at int32) int {
	return sort.Search(len(s.lines), func(i int) bool { return s.lines[i] > at })
}

// column returns the column of a byte, from 1, in UTF-16 code units.
func (s *source) column(at int32) int {
	column := 1
	for rest := s.text[s.lines[s.line(at)-1]:at]; rest != ""; {
		r, size := utf8.DecodeRuneInString(rest)
		if column++; r > 0xffff {
			column++
		}
		rest = rest[size:]
	}
	return column
}

// indent returns the column of a line's first token, in bytes.
func (s *source) indent(i int) int {
	at := s.tokens[i].start
	return int(at - s.lines[s.line(at)-1])
}

// lineStarts returns where each line begins.
func lineStarts(t string) []int32 {
	starts := []int32{0}
	for i := range len(t) {
		if t[i] == '\n' && i+1 < len(t) {
			starts = append(starts, int32(i+1))
		}
	}
	return starts
}
