package sanitize

import (
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/markdown"
)

// maxRounds is how often a body is read again before it is fenced in full. Two
// rounds are usual: one that edits and one that finds nothing.
const maxRounds = 8

// cutNote is the visible note of a body that was cut.
const cutNote = "*(cut: the text was longer than allowed)*"

// Body cleans a Markdown text, and is idempotent. It reads the text as GitHub does, edits what
// would act, and reads again until there is nothing to edit. After maxRounds, or if the text is
// nested too deeply, it fences the text instead. A text that is longer than s.maxBody is cut. A
// text that needs no edit is returned without allocation.
func (s *Sanitizer) Body(text string) (string, []Note) {
	var n noter
	text = s.cleanStart(text, &n)
	if s.maxBody <= 0 || len(text) <= s.maxBody {
		return text, n.list()
	}
	// Cleaning may make a cut text longer: cut until it fits.
	for size := s.maxBody; markdown.UTF16Len(text) > s.maxBody && size > 0; size -= 64 {
		cut, _ := markdown.Cut(text, size, cutNote)
		cut = s.clean(cut, &noter{})
		if markdown.UTF16Len(cut) <= s.maxBody {
			text = cut
			n.add(RuleSize, "body")
		}
	}
	return text, n.list()
}

// cleanStart cleans a text, or only its start if the rest will be cut anyway.
func (s *Sanitizer) cleanStart(text string, n *noter) string {
	if s.maxBody > 0 && len(text) > s.maxBody+s.maxBody/4 {
		// Cleaning adds more to most texts than it removes. So the text up to a little more than
		// the limit is usually enough. At most four times the limit is read.
		for _, size := range [...]int{s.maxBody + s.maxBody/4, 4 * s.maxBody} {
			start, cut := markdown.Cut(text, size, cutNote)
			if !cut {
				break
			}
			var found noter
			start = s.clean(start, &found)
			if got := markdown.UTF16Len(start); size == 4*s.maxBody || got >= s.maxBody {
				if *n = found; got <= s.maxBody { // otherwise Body cuts again, and notes it
					n.add(RuleSize, "body")
				}
				return start
			}
		}
	}
	return s.clean(text, n)
}

// clean applies the character rules, and reads and edits a body until there is nothing to edit. A
// body that does not get so far is fenced.
func (s *Sanitizer) clean(text string, n *noter) string {
	text = characters(text, n)
	calm := firstTrigger(text, 0, len(text))
	if calm == len(text) {
		return text
	}
	p, ok := s.passes.Get().(*pass)
	if !ok {
		p = new(pass)
	}
	defer p.release()
	p.read(s, text, calm)
	for range maxRounds {
		if p.doc.TooDeep {
			break
		}
		if len(p.edits) == 0 {
			return text
		}
		p.settle()
		quiet := !slices.ContainsFunc(p.edits, func(e edit) bool { return !e.quiet })
		text = p.apply(text, n)
		if mayHaveMarks(text) {
			size := len(text)
			text = characters(text, n) // what they stood next to may be gone
			quiet = quiet && len(text) == size
		}
		if quiet {
			return text
		}
		if calm = firstTrigger(text, 0, len(text)); calm == len(text) {
			return text
		}
		p.read(s, text, calm)
	}
	n.add(RuleCode, "unsettled")
	return markdown.Fence("", text)
}

// mayHaveMarks reports quickly whether a text may contain marks of a direction.
func mayHaveMarks(text string) bool {
	const isolates = "\xe2\x81" // the first two bytes of each
	return strings.Contains(text, string(lrm)) || strings.Contains(text, string(rlm)) ||
		strings.Contains(text, string(alm)) || strings.Contains(text, isolates)
}

// needsReading reports whether a text contains anything that may act or hide in some reader.
func needsReading(s string) bool { return firstTrigger(s, 0, len(s)) < len(s) }

// firstTrigger returns the offset of the first byte of s[from:end] that may be a sign of
// something that acts or hides, or end. It looks only at single bytes and what stands near them.
func firstTrigger(s string, from, end int) int {
	for i := from; i < end; i++ {
		if trigger[s[i]] && triggers(s, i) {
			return i
		}
	}
	return end
}

// trigger marks the bytes that triggers has to look at.
var trigger = [256]bool{
	'#': true, '&': true, '-': true, '.': true, '/': true, ':': true, '<': true, '@': true, '[': true, ']': true, '\\': true,
	'$': true, '%': true, '|': true, '`': true, '~': true,
	0xef: true, // the first byte of wideSlash
}

// triggers reports whether the byte at i may be part of something that acts.
func triggers(s string, i int) bool {
	next := byte(0)
	if i+1 < len(s) {
		next = s[i+1]
	}
	switch s[i] {
	case '@':
		return true
	case '#':
		return isDigit(next) || next == '\\' || vanishes(next)
	case '&':
		return next == '#' || isAlpha(next)
	case '-': // of "GH-1"
		return i >= 2 && (isDigit(next) || next == '\\' || vanishes(next)) &&
			(s[i-1]|0x20 == 'h' || s[i-1] == '\\' || vanishes(s[i-1]))
	case '.': // after "www"
		return i >= 3 && (s[i-1]|0x20 == 'w' && (s[i-2]|0x20 == 'w' || vanishes(s[i-2])) || s[i-1] == '\\' || vanishes(s[i-1]))
	case ':': // after a scheme, or in the row under the head of a table
		return next == '/' || next == '-' || vanishes(next)
	case '|': // the row under the head of a table
		return next == '-' || next == ':' || i > 0 && s[i-1] == '-' || next == ' ' && i+2 < len(s) && (s[i+2] == '-' || s[i+2] == ':')
	case '$':
		return next != 0 && next != ' ' && !isDigit(next)
	case '%':
		return next == '%'
	case '`', '~':
		return next == s[i] && i+2 < len(s) && s[i+2] == s[i] && (i == 0 || s[i-1] != s[i]) && isSpecialFence(s[i:])
	case '<':
		return isAlpha(next) || next == '/' || next == '!' || next == '?'
	case '[':
		return next == '^'
	case ']':
		return next == '(' || next == ':'
	case '\\':
		return next == '/'
	case '/': // of a command, whose first letter may be one for foldedLetter
		return (isAlpha(next) || next == 0xe2 || next == 0xef || next == 0xf0) && mayBeginLine(s, i)
	case 0xef:
		return strings.HasPrefix(s[i:], wideSlash)
	}
	return false
}

// isSpecialFence reports whether a line that begins with a fence may begin code that
// GitHub draws, or has a long info string.
func isSpecialFence(line string) bool {
	info := strings.TrimLeft(line, line[:1])
	info = strings.TrimLeft(info[:min(len(info), maxInfo)], " \t")
	return isDrawn(info) || len(line) > maxInfo && strings.IndexByte(line[:maxInfo], '\n') < 0
}

// isDrawn reports quickly whether an info string may begin with a language that GitHub
// draws.
func isDrawn(info string) bool {
	if len(info) < len("stl") {
		return false
	}
	switch info[0] | 0x20 {
	case 'm':
		return true
	case 'g', 's', 't':
		first := strings.ToLower(info[:len("stl")])
		return first == "geo" || first == "stl" || first == "top"
	}
	return false
}

// mayBeginLine reports whether there may be only blanks and marks of containers
// before s[i] on its line. It looks at three bytes at most.
func mayBeginLine(s string, i int) bool {
	if i == 0 {
		return true
	}
	switch c := s[i-1]; {
	case isAlnum(c):
		return false
	case c == ' ':
		// After a word and a blank it is in the middle of a sentence.
		return i < 3 || !isAlpha(s[i-2]) && !(isDigit(s[i-2]) && isAlnum(s[i-3]))
	}
	return true
}

// pass is one reading of a body and the edits that it asks for. The next reading
// uses its buffers again.
type pass struct {
	s   *Sanitizer
	src string
	doc markdown.Document
	// calm is a part of src that triggers nothing: what was looked through last.
	calm span
	plan
	dollars bool // there are dollar signs in src

	// The state of the leaf or HTML block that is being read.
	flat       flat
	images     int  // open images around the inline
	simple     bool // the leaf contains nothing but text, code and links with their addresses
	cut        bool // a link of the leaf was replaced by its text
	declared   bool // the leaf has text like a declaration
	linked     bool // the leaf has an address that links by itself
	labelStart int  // where the bracket of a footnote label begins
	attrs      []markdown.Attribute
	named      []string // the tag's attributes so far that have a rule, which are few
	anchors    []openAnchor
	shown      []span // the tags of the block of HTML that were made text
	squeezed   squeezed
	judged     judged
	usedZWSP   []int // offsets in flat of the markZWSP bytes that make something inert
	tickRuns   []tickRun
	// untilEmptyLine is set while a block of HTML of kind 6 or 7 is read: an empty line ends it.
	untilEmptyLine bool

	// The state of the body.
	openTags  map[string][]bool // open elements by name: whether the start tag was made text
	longTags  []span            // tags of several lines, in source order
	longCodes []span            // code spans of several lines, in source order
	imaged    bool              // there is an image
	small     [3]int            // open elements of each shrinkGroup
	closed    int               // closing words that act so far
	mentioned mentioned
	// anchorsKnown are the names that links in the body lead to, nil if they are not known yet.
	// namesLeft is how many bytes of other names may stay.
	anchorsKnown map[string]bool
	namesLeft    int
	defined      []judgedDefinition // the definitions that links have led to so far, or nil
	direction    directionCount     // of src
}

// read scans src and collects the edits. The bytes before the offset calm trigger nothing.
func (p *pass) read(s *Sanitizer, src string, calm int) {
	p.s, p.src, p.calm = s, src, span{0, calm}
	p.plan.reset(len(src))
	p.longTags, p.longCodes = p.longTags[:0], p.longCodes[:0]
	p.openTags, p.anchorsKnown, p.defined, p.direction = nil, nil, nil, directionCount{rest: src}
	p.dollars = strings.IndexByte(src, '$') >= 0
	p.small, p.imaged, p.closed, p.mentioned = [3]int{}, false, 0, nil
	p.doc.RescanBlocks(src)
	if p.doc.TooDeep {
		return
	}
	p.hiddenText()
	for i := range p.doc.Blocks {
		b := &p.doc.Blocks[i]
		switch b.Kind {
		case markdown.ParagraphBlock, markdown.HeadingBlock, markdown.CellBlock:
			if b.Hidden {
				if !p.doc.Blocks[i-1].Hidden {
					p.surplusCells(i)
				}
				continue
			}
			if p.leaf(i); p.doc.TooDeep {
				return
			}
		case markdown.HTMLBlock:
			p.htmlBlock(i)
		case markdown.FencedCodeBlock:
			p.fencedCode(b)
		case markdown.IndentedCodeBlock:
			p.indentedCode(i)
		}
	}
	p.commands()
}

// maxKept is the largest number of elements of a buffer that is kept for the next text; flat.text,
// which is in bytes, may have more. A megabyte of nothing but short marks needs as many elements.
const maxKept = 5 << 18

// release keeps the pass and its buffers for the next text, unless the buffers are very large.
func (p *pass) release() {
	s := p.s
	if cap(p.edits) > maxKept || cap(p.flat.text) > len("&lt;")*maxKept || cap(p.doc.Inlines) > maxKept {
		return
	}
	p.plan.reset(0)
	p.s, p.src, p.openTags, p.anchorsKnown, p.defined, p.direction = nil, "", nil, nil, nil, directionCount{}
	p.doc.Rescan("")
	s.passes.Put(p)
}
