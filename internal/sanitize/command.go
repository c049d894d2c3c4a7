package sanitize

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agent-airlock/airlock/internal/markdown"
)

// commandAt returns the length of a command ("/word", then white space or the end
// of the text) at the start of s, 0 if there is none.
func commandAt(s string) int {
	if len(s) < 2 || s[0] != '/' || !isAlpha(s[1]) {
		return 0
	}
	k := 2
	for k < len(s) && isNameByte(s[k]) {
		k++
	}
	if r, _ := utf8.DecodeRuneInString(s[k:]); k < len(s) && !unicode.IsSpace(r) {
		return 0
	}
	return k
}

// findCommands calls found for each command that begins a line of the source, after
// nothing but blanks, quote marks and list marks. That is how bots read a body,
// both those that ignore Markdown and those that know some.
func findCommands(src string, found func(start, end int)) {
	for from := 0; ; {
		k := strings.IndexByte(src[from:], '/')
		if k < 0 {
			return
		}
		k += from
		from = k + 1
		if size := commandAt(src[k:]); size > 0 && beginsLine(src, k) {
			found(k, k+size)
		}
	}
}

// beginsLine reports whether there are only blanks, quote marks and list marks
// between the start of the line and k. It reads back to the first other byte, so
// it reads no byte for two commands.
func beginsLine(src string, k int) bool {
	for k > 0 {
		c := src[k-1]
		switch {
		case c == '\n':
			return true
		case c == ' ', c == '\t', c == '>', c == '-', c == '+', c == '*':
			k--
			continue
		case c == '.' || c == ')':
			j := k - 1
			for j > 0 && isDigit(src[j-1]) && k-j < 12 {
				j--
			}
			if j == k-1 {
				return false
			}
			k = j
			continue
		case c < utf8.RuneSelf:
			return false
		}
		r, size := utf8.DecodeLastRuneInString(src[:k])
		if r == '\u2028' || r == '\u2029' {
			return true
		}
		if !unicode.IsSpace(r) {
			return false
		}
		k -= size
	}
	return true
}

// commands makes the commands inert that begin a line outside of code blocks.
func (p *pass) commands() {
	blocks, tags, codes := p.doc.Blocks, p.longTags, p.longCodes
	findCommands(p.src, func(start, end int) {
		for len(blocks) > 0 && !leafEndsAfter(&blocks[0], start) {
			blocks = blocks[1:]
		}
		if len(blocks) > 0 && blocks[0].Start <= start &&
			(blocks[0].Kind == markdown.FencedCodeBlock || blocks[0].Kind == markdown.IndentedCodeBlock) {
			return
		}
		for len(tags) > 0 && tags[0].end <= start {
			tags = tags[1:]
		}
		for len(codes) > 0 && codes[0].end <= start {
			codes = codes[1:]
		}
		command := p.src[start:end]
		switch {
		case len(codes) > 0 && codes[0].start < start:
			// The lines of the code span are joined, now or in the next round.
		case len(tags) > 0 && tags[0].start < start:
			// The line break in the tag becomes the space as which it is read.
			if lineBreak := lineStart(p.src, start) - 1; lineBreak > tags[0].start {
				p.edit(lineBreak, start, " ", RuleCommands, command)
			}
		default:
			p.edit(start, start+1, reference('/'), RuleCommands, command)
		}
	})
}

// leafEndsAfter reports whether b is a leaf and ends after an offset. The leaves of
// a container follow it.
func leafEndsAfter(b *markdown.Block, offset int) bool {
	switch b.Kind {
	case markdown.QuoteBlock, markdown.ItemBlock, markdown.FootnoteBlock, markdown.TableBlock, markdown.RowBlock:
		return false
	}
	return b.End > offset
}
