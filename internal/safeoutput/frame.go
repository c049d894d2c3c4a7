package safeoutput

import (
	"bytes"
	"strings"

	"github.com/agent-airlock/airlock/internal/jsonrepair"
	"github.com/agent-airlock/airlock/internal/lazyregexp"
)

// MaxDepth is how deeply objects and arrays may be nested in a record.
const MaxDepth = 512

// frame scans a record for strings and brackets, to find the end of its object. A
// closing brace closes the innermost open object and all arrays in it, so that a
// record does not continue through the entire file because of a missing ']'.
type frame struct {
	stack    [MaxDepth/64 + 1]uint64 // a bit for each open bracket: 1 means an object
	depth    int
	inString bool
	tooDeep  bool
	last     byte // the last byte outside strings that is not space
}

// reset makes the frame ready for another record. The stack is not cleared: push sets each bit.
func (f *frame) reset() { f.depth, f.inString, f.tooDeep, f.last = 0, false, false, 0 }

// inArray reports whether the innermost open bracket is that of an array; false where it is
// deeper than the stack records.
func (f *frame) inArray() bool {
	d := f.depth - 1
	return d >= 0 && d <= MaxDepth && f.stack[d/64]&(1<<(d%64)) == 0
}

// push opens a bracket. One that is deeper than the stack records is only counted.
func (f *frame) push(object bool) {
	if d := f.depth; d <= MaxDepth {
		f.stack[d/64] &^= 1 << (d % 64)
		if object {
			f.stack[d/64] |= 1 << (d % 64)
		}
	}
	f.depth++
	f.tooDeep = f.tooDeep || f.depth > MaxDepth
}

// pop closes an object and the arrays that are open in it, or an array if that is
// the innermost bracket.
func (f *frame) pop(object bool) {
	if f.depth > MaxDepth { // too deep: brackets are only counted
		f.depth--
		return
	}
	if !object {
		if f.inArray() {
			f.depth--
		}
		return
	}
	for f.depth > 0 {
		array := f.inArray()
		f.depth--
		if !array {
			return
		}
	}
}

// scan continues with b, a part of the record that does not begin in the middle of
// an escape. It returns the offset after the brace that closes the record's
// outermost object, or -1 if the object is still open.
func (f *frame) scan(b []byte) int {
	for i := 0; i < len(b); {
		if f.inString {
			end := stringEnd(b[i:])
			if end < 0 {
				return -1
			}
			i += end
			f.inString, f.last = false, '"'
			continue
		}
		c := b[i]
		i++
		switch c {
		case '"':
			f.inString = true
		case '{':
			f.push(true)
		case '[':
			f.push(false)
		case '}':
			if f.pop(true); f.depth == 0 {
				return i
			}
		case ']':
			f.pop(false)
		case ' ', '\t', '\r', '\n', 0:
			continue
		}
		f.last = c
	}
	return -1
}

// stringEnd returns the offset after the quote that ends a string, or -1.
func stringEnd(b []byte) int {
	for i := 0; ; {
		q := bytes.IndexByte(b[i:], '"')
		if q < 0 {
			return -1
		}
		q += i
		slashes := 0
		for q-slashes > i && b[q-slashes-1] == '\\' {
			slashes++
		}
		i = q + 1
		if slashes%2 == 0 {
			return i
		}
	}
}

// awaitsValue reports whether a value may follow, so that an object on the next
// line may be part of this record.
func (f *frame) awaitsValue() bool {
	return !f.inString && (f.last == '[' || f.last == ':' || f.last == ',' && f.inArray())
}

const byteOrderMark = "\ufeff"

func isSpace(c byte) bool {
	return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == 0 || c == '\v' || c == '\f'
}

// bounds returns where b[from:to] begins and ends without the white space, NUL
// bytes and byte order marks around it.
func bounds(b []byte, from, to int) (int, int) {
	for from < to {
		switch {
		case isSpace(b[from]):
			from++
		case isSpace(b[to-1]):
			to--
		case b[from] == byteOrderMark[0] && bytes.HasPrefix(b[from:to], []byte(byteOrderMark)):
			from += len(byteOrderMark)
		case b[to-1] == byteOrderMark[2] && bytes.HasSuffix(b[from:to], []byte(byteOrderMark)):
			to -= len(byteOrderMark)
		default:
			return from, to
		}
	}
	return from, from
}

func trim(b []byte) []byte {
	from, to := bounds(b, 0, len(b))
	return b[from:to]
}

// isFence reports whether a trimmed line opens or closes a Markdown code fence: three or
// more backticks or tildes, which a language and its attributes may follow.
func isFence(line []byte) bool {
	if len(line) < 3 || line[0] != '`' && line[0] != '~' {
		return false
	}
	info := bytes.TrimLeft(line, string(line[0]))
	if len(line)-len(info) < 3 || len(info) > 128 || bytes.IndexByte(info, line[0]) >= 0 || objectStart(info) >= 0 {
		return false
	}
	language, attributes, _ := bytes.Cut(bytes.TrimSpace(info), []byte(" "))
	if len(language) > 32 || bytes.Count(attributes, []byte(" ")) > 3 {
		return false
	}
	for _, c := range language {
		word := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.' || c == '+' || c == '#'
		if !word {
			return false
		}
	}
	return true
}

// codeFence is the code fence that was opened last. The zero value means that none is
// open.
type codeFence struct {
	mark  byte
	width int
	// diff is whether it shows changes. Lines that it removes are not requests.
	diff bool
	// why is why nothing in it is a request, as in NotRequestError, or "".
	why string
}

// next opens or closes the fence by a line that isFence accepts, or leaves it as it is.
func (f *codeFence) next(line []byte) {
	mark := line[0]
	info := bytes.TrimLeft(line, string(mark))
	width := len(line) - len(info)
	words := strings.Fields(strings.ToLower(string(info)))
	switch {
	case f.width == 0:
		*f = codeFence{mark: mark, width: width}
		for i, w := range words {
			switch {
			case i == 0 && (w == "diff" || w == "patch"):
				f.diff = true
			case i == 0 && programming[w]:
				f.why = "it is in " + w + " code"
			case strings.TrimSuffix(w, "s") == "example":
				f.why = anExample
			}
		}
	case mark == f.mark && width >= f.width && len(words) == 0:
		*f = codeFence{}
	}
}

// programming are languages, and other names of them, whose code may contain an object
// that is not meant as JSON.
var programming = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`bash c c# c++ console cpp cs csharp css dart elixir elm erlang fish go golang gotemplate groovy haskell
		html java jinja jsx julia kotlin kt liquid lua make makefile nix objc ocaml perl php pl powershell ps1 py python r rb rs ruby rust
		scala sh shell shell-session sql svelte swift terraform tf ts tsx typescript vue xml zig zsh`) {
		m[w] = true
	}
	return m
}()

// objectAt returns the offset of the object that a line begins with. Before it the line may have
// only text that jsonrepair.IsWrapping accepts. If there is no such object, ok is false, and the
// offset is that of objectStart, which may be -1.
func objectAt(line []byte) (offset int, ok bool) {
	n := bytes.IndexByte(line, '{')
	if n >= 0 && jsonrepair.IsWrapping(line[:n]) {
		return n, true
	}
	return objectStart(line), false
}

// objectStart returns the offset of the first brace in a line that looks like the
// beginning of a JSON object and not like prose, or -1.
func objectStart(line []byte) int {
	for i := 0; ; i++ {
		n := bytes.IndexByte(line[i:], '{')
		if n < 0 {
			return -1
		}
		i += n
		next := bytes.TrimLeft(line[i+1:], " \t")
		if len(next) == 0 || next[0] == '"' || next[0] == '\'' || next[0] == '}' {
			return i
		}
	}
}

// sniffSize is how many bytes at the start of a file decide whether it is a document, and
// whether it is UTF-16.
const sniffSize = 4096

// isUTF16 reports whether the beginning of a file is UTF-16: by its byte order
// mark, or because every other one of the first eight bytes is NUL, and only those.
func isUTF16(head []byte) bool {
	if hasUTF16Mark(head) {
		return true
	}
	if len(head) < 8 {
		return false
	}
	var zeros [2]int // at even and at odd offsets
	for i, c := range head[:8] {
		if c == 0 {
			zeros[i%2]++
		}
	}
	return zeros == [2]int{4, 0} || zeros == [2]int{0, 4}
}

// hasUTF16Mark reports whether a text begins with a byte order mark of UTF-16.
func hasUTF16Mark(text []byte) bool {
	return bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff"))
}

// documentStart matches the beginning of a document that collect writes: an object
// whose first member is "items" or "errors", with a list or null.
var documentStart = lazyregexp.New(strings.ReplaceAll(`^_\{_"(items|errors)"_:_(\[|null)`, "_", `[\s\v\x00\x{feff}]*`))

// isDocument reports whether a file begins like the document that collect writes.
func isDocument(head []byte) bool { return documentStart.Match(head) }
