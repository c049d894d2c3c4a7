package sanitize

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agent-airlock/airlock/internal/markdown"
)

// wideSlash is the full-width solidus. Bots that normalize a text (NFKC) read it as a
// slash.
const wideSlash = "\uff0f"

// commandAt returns the length of a command at the start of s, a slash and a name;
// 0 if there is none. Whatever follows the name ends it, because many bots only ask
// whether a text starts with "/name". System directories, and paths below
// other well-known directories, are not commands.
func commandAt(s string) int {
	slash := 1
	if strings.HasPrefix(s, wideSlash) {
		slash = len(wideSlash)
	}
	k := slash
	for k < len(s) {
		if k > slash && isNameByte(s[k]) || isAlpha(s[k]) {
			k++
			continue
		}
		size := foldedLetter(s[k:])
		if size == 0 {
			break
		}
		k += size
	}
	if k == slash {
		return 0
	}
	if name := s[slash:k]; isSystemDirectory(name) || k+1 < len(s) && s[k] == '/' && s[k+1] > ' ' && beginsPaths(name) {
		return 0
	}
	return k
}

// foldedLetter returns the length of the character at the start of s if bots that
// normalize a text (NFKC) read it as an ASCII letter: a full-width, circled or
// mathematical letter. It returns 0 for other characters.
func foldedLetter(s string) int {
	if s[0] < utf8.RuneSelf {
		return 0
	}
	switch r, size := utf8.DecodeRuneInString(s); {
	case r >= 0xff21 && r <= 0xff3a, r >= 0xff41 && r <= 0xff5a, // full-width
		r >= 0x24b6 && r <= 0x24e9,   // circled
		r >= 0x1d400 && r <= 0x1d6a3, // mathematical
		r >= 0x2100 && r <= 0x2149:   // letterlike, most of them mathematical as well
		return size
	}
	return 0
}

// isSystemDirectory reports whether a name stands for a directory of Unix wherever it
// follows a slash. No bot's command is among these.
func isSystemDirectory(name string) bool {
	switch name {
	case "etc", "lib", "lib64", "mnt", "opt", "proc", "sbin", "srv", "sys", "tmp", "usr", "var":
		return true
	}
	return false
}

// beginsPaths reports whether absolute paths, of a file or of an API, often begin
// with a name.
func beginsPaths(name string) bool {
	switch strings.ToLower(name) {
	case "api", "app", "applications", "bin", "boot", "data", "dev", "docs", "home", "library", "media", "path", "private",
		"root", "src", "users", "v1", "v2", "v3", "volumes", "work", "workspace":
		return true
	}
	return false
}

// findCommands calls found for each command that begins a line of the source, after nothing but
// blanks, quote marks, list marks and boxes of tasks. Bots find commands there, whether they ignore
// Markdown or know some of it. An escaped slash counts, too: the escape is then a part of the
// command.
func findCommands(src string, found func(start, slash, end int)) {
	slash, wide := -1, -1
	for k := 0; ; k++ {
		if slash < k {
			slash = indexFrom(src, "/", k)
		}
		if wide < k {
			wide = indexFrom(src, wideSlash, k)
		}
		if k = min(slash, wide); k == len(src) {
			return
		}
		if k > 0 && inSentence[src[k-1]] {
			continue
		}
		if size := commandAt(src[k:]); size > 0 {
			start := k
			if k > 0 && src[k-1] == '\\' {
				start--
			}
			if beginsLine(src, start) {
				found(start, k, k+size)
			}
		}
	}
}

// indexFrom returns the index of the first instance of substr in s from k on, len(s) if there is none.
func indexFrom(s, substr string, k int) int {
	if i := strings.Index(s[k:], substr); i >= 0 {
		return k + i
	}
	return len(s)
}

// inSentence marks the bytes that cannot stand directly before a command, such as most bytes of
// addresses and paths.
var inSentence = func() (marked [256]bool) {
	for c := byte('!'); c < 0x7f; c++ {
		marked[c] = strings.IndexByte(`\>-+*.)`, c) < 0
	}
	return marked
}()

// beginsLine reports whether there are only blanks, quote marks, list marks and boxes of
// tasks between the start of the line and k. It stops at the first other byte. So no
// byte is read for two commands.
func beginsLine(src string, k int) bool {
	for k > 0 {
		c := src[k-1]
		switch {
		case c == '\n':
			return true
		case c == ' ', c == '\t', c == '>', c == '-', c == '+', c == '*':
			k--
			continue
		case c == ']': // the box of a task
			if k < 4 || src[k-3] != '[' || src[k-4] != ' ' || strings.IndexByte(" xX", src[k-2]) < 0 {
				return false
			}
			k -= 3
			continue
		case c == '.' || c == ')':
			const longest = 12 // number of an item, a little longer than Markdown allows
			j := k - 1
			for j > 0 && isDigit(src[j-1]) && k-j < longest {
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
	findCommands(p.src, func(start, slash, end int) {
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
		command := p.src[slash:end]
		if command[0] != '/' {
			command = "/" + command[len(wideSlash):]
		}
		switch {
		case len(codes) > 0 && codes[0].start < start:
			// The lines of the code span are joined, now or in the next round.
		case len(tags) > 0 && tags[0].start < start:
			// A line break in a tag is read as a space, so a space replaces it.
			if lineBreak := lineStart(p.src, start) - 1; lineBreak > tags[0].start {
				p.edit(lineBreak, start, " ", RuleCommands, command)
			}
		default:
			edit := p.edit
			if start == slash && !p.imaged && len(p.doc.Definitions) == 0 && len(p.doc.Footnotes) == 0 &&
				len(blocks) > 0 && blocks[0].Kind == markdown.ParagraphBlock {
				edit = p.quietEdit
			}
			r, size := utf8.DecodeRuneInString(p.src[slash:])
			edit(start, slash+size, reference(r), RuleCommands, command)
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
