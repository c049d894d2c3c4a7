package safeoutput

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/jsonrepair"
)

// NotRequestError is the error of a record whose object is not meant as a request: it is commented
// out, for example, or part of a sentence.
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

// hider is a mark that opens a part of a text in which nothing is meant as a request.
type hider struct {
	open, end string
	why       string
	// anywhere is whether it also counts in the middle of a line. In what firstHider returns, it is
	// whether the part ends with its paragraph at the latest, as in Markdown.
	anywhere bool
	// style is how a terminal shows the text after it, until a control sequence resets it. The
	// end of such a hider is "".
	style jsonrepair.TerminalStyle
}

// Why an object is not a request.
const (
	commentedOut  = "it is commented out"
	struckThrough = "it is struck through"
	quotation     = "it is quoted"
	unseen        = "it is hidden"
	anExample     = "it is an example"
	partOfDraft   = "it is part of a draft"
	rejected      = "it is rejected"
)

// hiders are matched in this order, without regard to letter case.
var hiders = slices.Concat(
	[]hider{
		{open: "<!--", end: "-->", why: commentedOut, anywhere: true},
		{open: "/*", end: "*/", why: commentedOut},
		{open: "~~", end: "~~", why: struckThrough, anywhere: true},
		{open: "<<<<<<< ", end: ">>>>>>> ", why: "it is part of a merge conflict"},
		{open: "<?", end: "?>", why: unseen},
		{open: "<![cdata[", end: "]]>", why: unseen},
		{open: "{% comment", end: "endcomment", why: commentedOut},
		{open: "%%", end: "%%", why: commentedOut},
		{open: "=begin", end: "=end", why: commentedOut},
		{open: ifZero, end: "#endif", why: commentedOut},
		{open: "#|", end: "|#", why: commentedOut},
		{open: "(*", end: "*)", why: commentedOut},
		{open: "<%--", end: "--%>", why: commentedOut},
		{open: "<#--", end: "-->", why: commentedOut},
		// Marks that some models write around their thoughts.
		{open: "[think]", end: "[/think]", why: partOfDraft},
		{open: "<|start_thinking|>", end: "<|end_thinking|>", why: partOfDraft},
		{open: "<|channel|>analysis<|message|>", end: "<|end|>", why: partOfDraft},
		{open: "<|start|>assistant<|channel|>analysis<|message|>", end: "<|end|>", why: partOfDraft},
	},
	elements(struckThrough, anywhere, "del", "strike", "s"),
	elements(quotation, anywhere, "blockquote", "q"),
	elements(quotation, lineStart, "quote"),
	elements(unseen, anywhere, "template", "script", "style", "textarea"),
	elements(unseen, lineStart, "noscript", "noembed", "noframes", "iframe", "title"),
	elements(partOfDraft, lineStart, "think", "thinking", "antthinking", "seed:think", "thought", "thoughts", "reasoning", "scratchpad", "draft", "reflection", "monologue"),
	elements(anExample, lineStart, "example", "examples", "sample"),
	elements(commentedOut, lineStart, "comment"),
	elements(rejected, lineStart, "rejected", "discarded", "ignored", "skipped", "cancelled", "canceled"),
)

// Where a hider counts: see hider.anywhere.
const (
	anywhere  = true
	lineStart = false
)

// elements returns the hiders of the elements with these names. A start tag may have attributes.
func elements(why string, anywhere bool, names ...string) []hider {
	all := make([]hider, len(names))
	for i, name := range names {
		all[i] = hider{open: "<" + name, end: "</" + name, why: why, anywhere: anywhere}
	}
	return all
}

// escape begins a control sequence of a terminal.
const escape = 0x1B

// ifZero begins what C leaves out.
const ifZero = "#if 0"

// hidden is a part of a file in which nothing is a request. Each record in it is refused, and
// the error names the line where the part begins. If nothing ends it, it continues to the end
// of the file. The zero value means that there is none.
type hidden struct {
	hider
	line  int // where it begins; 0 if there is none
	depth int // of conditions of C within it
}

// active reports whether the next text is in such a part.
func (h *hidden) active() bool { return h.line > 0 }

// err returns the error of a record in it.
func (h *hidden) err() error {
	return &NotRequestError{fmt.Sprintf("%s, by the %q on line %d", h.why, h.open, h.line)}
}

// read continues through a text that is not part of an object. line is the number of its line, and
// start is whether it begins the line.
func (h *hidden) read(text []byte, line int, start bool) {
	for i := 0; ; {
		if h.active() && h.open == ifZero {
			h.readCondition(text)
			return
		}
		if h.active() {
			n := h.endIn(text[i:])
			if n < 0 {
				return
			}
			i += n
			h.line = 0
		}
		found, n := firstHider(text, i, start)
		if n < 0 {
			return
		}
		h.hider, h.line, h.depth = found, line, 0
		if found.open == ifZero {
			return // it continues on the next line
		}
		i = n + len(found.open)
		if found.open == "<!--" && (bytes.HasPrefix(text[i:], []byte(">")) || bytes.HasPrefix(text[i:], []byte("->"))) {
			h.line = 0 // an empty comment
		}
	}
}

// endIn returns the offset after what ends h in a text, or -1. It updates the style of h.
func (h *hidden) endIn(text []byte) int {
	if h.style == 0 {
		n := indexFold(text, h.end)
		if n < 0 {
			return -1
		}
		return n + len(h.end)
	}
	for i := 0; ; {
		n := bytes.IndexByte(text[i:], escape)
		if n < 0 {
			return -1
		}
		i += n
		var width int
		if h.style, width = h.style.After(text[i:]); h.style == 0 {
			return i + width
		}
		i += max(width, 1)
	}
}

// readCondition continues through a line of what C leaves out: an #endif, #else or #elif ends it,
// unless it belongs to a condition within it.
func (h *hidden) readCondition(text []byte) {
	directive, ok := bytes.CutPrefix(bytes.TrimLeft(text, " \t"), []byte("#"))
	if !ok {
		return
	}
	switch directive = bytes.TrimLeft(directive, " \t"); {
	case hasPrefixFold(directive, "if"):
		h.depth++
	case hasPrefixFold(directive, "endif") && h.depth > 0:
		h.depth--
	case hasPrefixFold(directive, "endif"), h.depth == 0 && hasPrefixFold(directive, "el"): // #else, #elif
		h.line = 0
	}
}

// paragraphEnd ends a hidden part that cannot continue after an empty line.
func (h *hidden) paragraphEnd() {
	if h.anywhere {
		h.line = 0
	}
}

// firstHider returns the first hider in text[from:] and its offset in text, or -1. Code in
// backticks and what a backslash escapes are only text. start is whether the text begins a line. A
// hider at the beginning of a line continues through empty lines, except ~~ and the title of a link
// definition.
func firstHider(text []byte, from int, start bool) (found hider, offset int) {
	lead := -1
	if start {
		lead = len(text) - len(bytes.TrimLeft(text, " \t-*+>"))
		if h, ok := definition(text[lead:]); ok && from == 0 {
			return h, len(text) - len(h.open)
		}
	}
	var ticks codeSpans
	for i := from; i < len(text); i++ {
		if i > lead { // only hiders that count anywhere are left
			n := bytes.IndexAny(text[i:], "<~`\\\x1b")
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
		case escape:
			if h, ok := hiddenByStyle(text[i:]); ok {
				return h, i
			}
			continue
		}
		for _, h := range hiders {
			if h.begins(text[i:], i == lead) {
				if i == lead && h.open[0] == '<' { // it continues through empty lines
					h.anywhere = false
				}
				return h, i
			}
		}
		if h, ok := hiddenElement(text[i:]); ok {
			h.anywhere = i != lead
			return h, i
		}
	}
	return hider{}, -1
}

// hiddenByStyle returns the hider of a terminal's control sequence, if the text begins with one
// that hides what follows or strikes it out.
func hiddenByStyle(text []byte) (hider, bool) {
	style, width := jsonrepair.TerminalStyle(0).After(text)
	if style == 0 {
		return hider{}, false
	}
	why := unseen
	if style == jsonrepair.StruckOut {
		why = struckThrough
	}
	return hider{open: string(text[:width]), why: why, style: style}, true
}

// begins reports whether the hider opens at the beginning of a text. atStart is whether
// that is the beginning of a line.
func (h hider) begins(text []byte, atStart bool) bool {
	if !atStart && !h.anywhere || !hasPrefixFold(text, h.open) {
		return false
	}
	after := text[len(h.open):]
	switch {
	case len(after) == 0:
		return h.open != "~~" || atStart
	case isNameByte(h.open[len(h.open)-1]) && strings.IndexByte(" \t>/", after[0]) < 0: // another name, which begins like this one
		return false
	case h.open == "%%" && isNameByte(after[0]) && !bytes.Contains(after, []byte("%%")): // a command to a notebook, such as %%bash
		return false
	case h.open == ifZero && !isDirectiveEnd(after): // a sentence about #if 0
		return false
	case h.open == "~~" && !atStart && after[0] == ' ': // what is struck through does not begin with a space
		return false
	}
	return true
}

// isDirectiveEnd reports whether the rest of a line may follow a condition of C.
func isDirectiveEnd(rest []byte) bool {
	rest = bytes.TrimSpace(rest)
	return len(rest) == 0 || bytes.HasPrefix(rest, []byte("//")) || bytes.HasPrefix(rest, []byte("/*")) || bytes.HasPrefix(rest, []byte("&&"))
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
	if indexFold(text, "hidden") < 0 && indexFold(text, "none") < 0 { // nearly every tag
		return hider{}, false
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
	return hider{open: tag, end: "</" + tag[1:], why: unseen}, true
}

// codeSpans remembers, by number of backticks, that no further run of that many is on the line,
// so that none can end a code span.
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
			return hider{open: title[0], end: title[1], why: commentedOut, anywhere: true}, true
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

// notRequest returns the error of an object that other text precedes on its line.
func notRequest(before []byte) error {
	if h, n := firstHider(before, 0, true); n >= 0 {
		return &NotRequestError{h.why}
	}
	if t := bytes.TrimLeft(before, " \t-*+"); len(t) > 0 && t[0] == '>' {
		return &NotRequestError{quotation}
	}
	return ErrInText
}
