package safeoutput

import (
	"bytes"
	"fmt"
	"strings"
)

// NotRequestError is the error of a record that contains an object and does not ask
// for it: it is commented out, struck through, quoted, or part of a sentence.
type NotRequestError struct {
	// Why continues a sentence about the record: "it is commented out".
	Why string
}

// Error implements error.
func (e *NotRequestError) Error() string {
	return e.Why + ", so it is not a request; to ask for an item, write its object alone on a line"
}

// ErrInText is the error of an object with words before or after it.
var ErrInText = &NotRequestError{"it is part of a longer text"}

// hider is what opens a part of a text that is not meant to be read as requests.
type hider struct {
	open, end string
	why       string
	// anywhere is whether it also counts in the middle of a line. It then ends with its
	// paragraph at the latest, as in Markdown.
	anywhere bool
}

// commentedOut is why a comment is not a request.
const commentedOut = "it is commented out"

// hiders are matched in this order, without regard to letter case. A tag must end
// after its name.
var hiders = []hider{
	{"<!--", "-->", commentedOut, true},
	{"/*", "*/", commentedOut, false},
	{"~~", "~~", "it is struck through", true},
	{"<del", "</del", "it is struck through", true},
	{"<strike", "</strike", "it is struck through", true},
	{"<s", "</s", "it is struck through", true},
	{"<blockquote", "</blockquote", "it is quoted", true},
	{"<q", "</q", "it is quoted", true},
	{"<template", "</template", "it is hidden", true},
	{"<script", "</script", "it is hidden", true},
	{"<style", "</style", "it is hidden", true},
	{"<textarea", "</textarea", "it is hidden", true},
	{"<noscript", "</noscript", "it is hidden", false},
	{"<noembed", "</noembed", "it is hidden", false},
	{"<noframes", "</noframes", "it is hidden", false},
	{"<iframe", "</iframe", "it is hidden", false},
	{"<title", "</title", "it is hidden", false},
	{"<think", "</think", "it is part of a draft", false},
	{"<thinking", "</thinking", "it is part of a draft", false},
	{"<thought", "</thought", "it is part of a draft", false},
	{"<reasoning", "</reasoning", "it is part of a draft", false},
	{"<scratchpad", "</scratchpad", "it is part of a draft", false},
	{"<draft", "</draft", "it is part of a draft", false},
	{"<example", "</example", "it is an example", false},
	{"<examples", "</examples", "it is an example", false},
	{"<<<<<<< ", ">>>>>>> ", "it is part of a merge conflict", false},
	{"<?", "?>", "it is hidden", false},
	{"<![cdata[", "]]>", "it is hidden", false},
	{"{% comment", "endcomment", commentedOut, false},
	{"%%", "%%", commentedOut, false},
}

// hidden is a part of a file in which nothing is a request.
type hidden struct {
	hider
	line int // where it begins; 0 means that there is none
}

// err returns the error of a record in it.
func (h *hidden) err() error {
	return &NotRequestError{fmt.Sprintf("%s, by the %q on line %d", h.why, h.open, h.line)}
}

// read continues through a text on a line, which is not part of an object. start is
// whether the text begins the line.
func (h *hidden) read(text []byte, line int, start bool) {
	for i := 0; ; {
		if h.line > 0 {
			n := indexFold(text[i:], h.end)
			if n < 0 {
				return
			}
			i += n + len(h.end)
			h.line = 0
		}
		found, n := firstHider(text, i, start)
		if n < 0 {
			return
		}
		h.hider, h.line = found, line
		i = n + len(found.open)
		if found.open == "<!--" && (bytes.HasPrefix(text[i:], []byte(">")) || bytes.HasPrefix(text[i:], []byte("->"))) {
			h.line = 0 // an empty comment
		}
	}
}

// paragraphEnd ends what cannot continue after an empty line.
func (h *hidden) paragraphEnd() {
	if h.anywhere {
		h.line = 0
	}
}

// firstHider returns the first hider in text[from:] and its offset in text, or -1. Code
// in backticks and what a backslash escapes are only text. start is whether the text begins a line: a hider that stands there continues through
// empty lines, except that of struck-out text.
func firstHider(text []byte, from int, start bool) (found hider, offset int) {
	lead := -1
	if start {
		lead = len(text) - len(bytes.TrimLeft(text, " \t-*+>"))
		if h, ok := definition(text[lead:]); ok && from == 0 {
			return h, len(text) - len(h.open)
		}
	}
	var ticks codeSpans
	for i := max(from, 0); i < len(text); i++ {
		if i > lead { // only hiders that count anywhere are left
			n := bytes.IndexAny(text[i:], "<~`\\")
			if n < 0 {
				break
			}
			i += n
		}
		switch text[i] {
		case '\\':
			i++
			continue
		case '`':
			i += ticks.width(text[i:]) - 1
			continue
		}
		for _, h := range hiders {
			if i != lead && !h.anywhere || !hasPrefixFold(text[i:], h.open) {
				continue
			}
			if after := i + len(h.open); isNameByte(text[after-1]) && after < len(text) && strings.IndexByte(" \t>/", text[after]) < 0 {
				continue // another name, which begins like this one
			}
			if h.open == "%%" && i+2 < len(text) && isNameByte(text[i+2]) && !bytes.Contains(text[i+2:], []byte("%%")) {
				continue // a command to a notebook, such as %%bash
			}
			if h.open == "~~" && i != lead && (i+2 == len(text) || text[i+2] == ' ') {
				continue // what is struck through begins with a letter
			}
			h.anywhere = h.anywhere && (i != lead || h.open[0] != '<')
			return h, i
		}
		if h, ok := hiddenElement(text[i:]); ok {
			h.anywhere = i != lead
			return h, i
		}
	}
	return hider{}, -1
}

// hiddenElement returns the hider of a start tag whose attributes hide its element.
func hiddenElement(text []byte) (hider, bool) {
	const longest = 1000
	if text[0] != '<' || len(text) == 1 || !isNameByte(text[1]) {
		return hider{}, false
	}
	text = text[:min(len(text), longest)]
	if end := bytes.IndexByte(text, '>'); end >= 0 {
		text = text[:end]
	}
	name := 1
	for name < len(text) && isNameByte(text[name]) {
		name++
	}
	attributes := strings.ToLower(string(text[name:]))
	style := strings.NewReplacer(" ", "", "\t", "").Replace(attributes)
	if !strings.Contains(attributes, " hidden") && !strings.Contains(style, "display:none") && !strings.Contains(style, "visibility:hidden") {
		return hider{}, false
	}
	tag := strings.ToLower(string(text[:name]))
	return hider{open: tag, end: "</" + tag[1:], why: "it is hidden"}, true
}

// codeSpans remembers for how many backticks a line has no code span any more.
type codeSpans [32]bool

// width returns the width of the code span that text begins with, or of its backticks if
// none ends it.
func (spans *codeSpans) width(text []byte) int {
	ticks := len(text) - len(bytes.TrimLeft(text, "`"))
	if ticks >= len(spans) || spans[ticks] {
		return ticks
	}
	for i := ticks; ; {
		n := bytes.IndexByte(text[i:], '`')
		if n < 0 {
			spans[ticks] = true
			return ticks
		}
		i += n
		run := len(text[i:]) - len(bytes.TrimLeft(text[i:], "`"))
		if i += run; run == ticks {
			return i
		}
	}
}

// definition returns the hider of a line that begins a link definition, whose title the
// next lines continue: people write comments like that.
func definition(line []byte) (hider, bool) {
	if len(line) < len("[a]: b (") || line[0] != '[' || !bytes.Contains(line, []byte("]:")) {
		return hider{}, false
	}
	for _, title := range [...][2]string{{"(", ")"}, {`"`, `"`}, {"'", "'"}} {
		if bytes.HasSuffix(line, []byte(" "+title[0])) {
			return hider{title[0], title[1], commentedOut, true}, true
		}
	}
	return hider{}, false
}

func isNameByte(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '-'
}

// hasPrefixFold reports whether b begins with a lower-case ASCII text, whatever its
// letter case there.
func hasPrefixFold(b []byte, lower string) bool {
	return len(b) >= len(lower) && strings.EqualFold(string(b[:len(lower)]), lower)
}

// indexFold returns the offset of the first occurrence of a lower-case ASCII text in
// b, whatever its letter case there, or -1.
func indexFold(b []byte, lower string) int {
	first := string(lower[0])
	if isNameByte(lower[0]) {
		first += strings.ToUpper(first)
	}
	for i := 0; ; i++ {
		n := bytes.IndexAny(b[i:], first)
		if n < 0 {
			return -1
		}
		if i += n; hasPrefixFold(b[i:], lower) {
			return i
		}
	}
}

// notRequest returns the error of a line that contains an object with such a text
// before it.
func notRequest(before []byte) error {
	if h, n := firstHider(before, 0, true); n >= 0 {
		return &NotRequestError{h.why}
	}
	if t := bytes.TrimLeft(before, " \t-*+"); len(t) > 0 && t[0] == '>' {
		return &NotRequestError{"it is quoted"}
	}
	return ErrInText
}
