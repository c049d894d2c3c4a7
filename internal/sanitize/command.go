package sanitize

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agent-airlock/airlock/internal/markdown"
)

// commandAt returns the length of a command ("/word", then a blank or the end
// of the line) at the start of s, 0 when there is none.
func commandAt(s string) int {
	if len(s) < 2 || s[0] != '/' || !isAlpha(s[1]) {
		return 0
	}
	k := 2
	for k < len(s) && isNameByte(s[k]) {
		k++
	}
	if k == len(s) {
		return k
	}
	if r, _ := utf8.DecodeRuneInString(s[k:]); unicode.IsSpace(r) {
		return k
	}
	return 0
}

// findCommands calls found for each command that begins a line of the source:
// nothing but blanks, quote marks and list marks stand before it. That is how
// bots read a body that know no Markdown, and those that know some.
func findCommands(src string, found func(start, end int)) {
	for from := 0; ; {
		k := strings.IndexByte(src[from:], '/')
		if k < 0 {
			return
		}
		k += from
		from = k + 1
		size := commandAt(src[k:])
		if size == 0 || !beginsLine(src, k) {
			continue
		}
		found(k, k+size)
	}
}

// beginsLine tells that only blanks, quote marks and list marks stand between
// the start of the line and k. The look back ends at the first other byte, so
// no byte is looked at for two commands.
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
	block, tag, code := 0, 0, 0
	findCommands(p.src, func(start, end int) {
		for block < len(p.doc.Blocks) && !p.reaches(block, start) {
			block++
		}
		if block < len(p.doc.Blocks) && p.doc.Blocks[block].Start <= start && isCode(p.doc.Blocks[block].Kind) {
			return
		}
		for tag < len(p.tags) && p.tags[tag].end <= start {
			tag++
		}
		for code < len(p.codes) && p.codes[code].end <= start {
			code++
		}
		if code < len(p.codes) && p.codes[code].start < start {
			return // the lines of the code span are joined, now or in the next round
		}
		word := p.src[start:end]
		if tag < len(p.tags) && p.tags[tag].start < start {
			p.joinLine(p.tags[tag], start, word)
			return
		}
		p.edit(start, start+1, "&#47;", RuleCommands, word)
	})
}

// reaches tells that the leaf ends behind offset at. Containers are passed:
// their leaves follow.
func (p *pass) reaches(block, at int) bool {
	b := &p.doc.Blocks[block]
	switch b.Kind {
	case markdown.QuoteBlock, markdown.ItemBlock, markdown.FootnoteBlock, markdown.TableBlock, markdown.RowBlock:
		return false
	}
	return b.End > at
}

func isCode(k markdown.BlockKind) bool {
	return k == markdown.FencedCodeBlock || k == markdown.IndentedCodeBlock
}

// joinLine handles a command that begins a line within a tag: the line break
// becomes the space that it is read as.
func (p *pass) joinLine(tag span, at int, word string) {
	start := strings.LastIndexByte(p.src[tag.start:at], '\n') + tag.start
	if start > tag.start {
		p.edit(start, at, " ", RuleCommands, word)
	}
}
