package sanitize

import (
	"strings"

	"github.com/agent-airlock/airlock/internal/markdown"
)

// hidden removes what is in the source but not in what people see: reference
// definitions that nothing uses, and the titles of those that are used.
// Footnotes that nothing refers to are shown.
func (p *pass) hidden() {
	for i := range p.doc.Definitions {
		d := &p.doc.Definitions[i]
		switch {
		case p.src[d.Start:d.End] == separator:
		case d.Shadowed || !d.Used:
			text := ""
			if p.doc.Blocks[d.Block].Kind == markdown.DefinitionBlock && p.parts(d.Block) {
				text = separator
			}
			p.edit(d.Start, d.End, text, RuleHiddenText, "definition")
		case !d.Title.Empty():
			p.edit(d.Title.Start, d.Title.End, "", RuleHiddenText, "title")
		}
	}
	p.guardTitles()
	for i := range p.doc.Footnotes {
		f := &p.doc.Footnotes[i]
		if f.Shadowed || !f.Used {
			at := p.doc.Blocks[f.Block].Start
			p.edit(at, at, `\`, RuleHiddenText, "footnote")
		}
	}
}

// guardTitles escapes a quote or parenthesis that begins the line after a
// definition without a title: some readers take that line as the title.
func (p *pass) guardTitles() {
	for i := range p.doc.Definitions {
		d := &p.doc.Definitions[i]
		if i+1 < len(p.doc.Definitions) && p.doc.Definitions[i+1].Block == d.Block {
			continue
		}
		b := &p.doc.Blocks[d.Block]
		if b.Kind == markdown.DefinitionBlock || b.PieceCount == 0 {
			continue
		}
		at := p.doc.PiecesOf(b)[0].Start
		switch p.src[at] {
		case '"', '\'', '(':
			p.edit(at, at, `\`, "", "")
		}
	}
}

// info removes invisible characters that stand as references in the info
// string of fenced code.
func (p *pass) info(b *markdown.Block) {
	for i := b.Info.Start; i < b.Info.End; i++ {
		if p.src[i] != '&' {
			continue
		}
		text, size := markdown.DecodeEntity(p.src[i:b.Info.End])
		if size > 0 && hasStray(text) {
			p.edit(i, i+size, "", RuleCharacters, "invisible")
			i += size - 1
		}
	}
}

// separator is a definition that nobody uses and that says nothing: it parts
// blocks as a comment did that stood in its place.
const separator = "[//]: #"

// dissolved keeps what follows an HTML block apart from it when edits take its
// opening away: text that was HTML becomes a paragraph, and would swallow the
// next line, or a list would take in the code behind it.
func (p *pass) dissolved(i int, edits []edit) {
	b := &p.doc.Blocks[i]
	if b.Data > 5 || len(edits) == 0 {
		return
	}
	if int(edits[0].start) > b.Start {
		if last := p.src[strings.LastIndexByte(p.src[:b.End], '\n')+1 : b.End]; b.Data == 1 && b.Closed && !strings.Contains(strings.ToLower(last), "</pre>") {
			p.edit(b.End, b.End, "</pre>", "", "") // what closed the block becomes text
		}
		return
	}
	if edits[0].text == "" && strings.Trim(p.src[min(int(edits[0].end), b.End):b.End], " \t\n>") == "" {
		if p.parts(i) {
			e := &p.edits[len(p.edits)-len(edits)]
			e.text = "\n" + separator + "\n"
		}
		return
	}
	if b.End >= len(p.src) || p.src[b.End] != '\n' {
		return
	}
	next := p.src[b.End+1:]
	line, _, _ := strings.Cut(next, "\n")
	if strings.Trim(line, " \t>") == "" {
		return
	}
	p.edit(b.End+1, b.End+1, p.prefix(b.End)+"\n", "", "")
}

// indented writes indented code that holds anything that could act, and that
// some readers take for something else, in a way on which all agree: behind a
// list, table or HTML block between fences, within a list or quote without tabs.
func (p *pass) indented(i int) {
	b := &p.doc.Blocks[i]
	text := p.doc.Literal(b, b.Span)
	if !needsReading(text) {
		return
	}
	if b.Depth > 0 {
		p.expandTabs(b)
		return
	}
	before := i - 1
	for before >= 0 && p.doc.Blocks[before].Parent >= 0 {
		before = int(p.doc.Blocks[before].Parent)
	}
	if before < 0 {
		return
	}
	switch p.doc.Blocks[before].Kind {
	case markdown.ItemBlock, markdown.FootnoteBlock, markdown.TableBlock, markdown.HTMLBlock, markdown.QuoteBlock:
		pieces := p.doc.PiecesOf(b)
		line := strings.LastIndexByte(p.src[:pieces[0].Start], '\n') + 1
		end := pieces[len(pieces)-1].End
		code := p.doc.Literal(b, markdown.Span{Start: pieces[0].Start, End: end})
		fence := strings.TrimSuffix(markdown.Fence("", code), "\n")
		if end > line && p.src[end-1] == '\n' {
			end--
		}
		p.edit(line, end, fence, RuleCode, "indented")
	}
}

// expandTabs replaces the tabs before the lines of a leaf by spaces.
func (p *pass) expandTabs(b *markdown.Block) {
	for _, piece := range p.doc.PiecesOf(b) {
		line := strings.LastIndexByte(p.src[:piece.Start], '\n') + 1
		before := p.src[line:piece.Start]
		if strings.IndexByte(before, '\t') < 0 {
			continue
		}
		var out strings.Builder
		for i := 0; i < len(before); i++ {
			if before[i] != '\t' {
				out.WriteByte(before[i])
				continue
			}
			for n := 4 - out.Len()%4; n > 0; n-- {
				out.WriteByte(' ')
			}
		}
		p.edit(line, piece.Start, out.String(), RuleCode, "tabs")
	}
}

// prefix returns the quote marks at the start of the line that holds offset at:
// a line that holds no more is empty within the same quote.
func (p *pass) prefix(at int) string {
	line := p.src[strings.LastIndexByte(p.src[:at], '\n')+1 : at]
	return strings.TrimRight(line[:len(line)-len(strings.TrimLeft(line, " >"))], " ")
}

// parts tells that the top-level block i stands between a list or footnote and
// something that these would take in if the block were not there.
func (p *pass) parts(i int) bool {
	blocks := p.doc.Blocks
	b := &blocks[i]
	if b.Depth > 0 || i == 0 || int(b.Next) >= len(blocks) {
		return false
	}
	before := i - 1
	for blocks[before].Parent >= 0 {
		before = int(blocks[before].Parent)
	}
	switch blocks[before].Kind {
	case markdown.ItemBlock, markdown.FootnoteBlock:
	default:
		return false
	}
	switch blocks[b.Next].Kind {
	case markdown.ItemBlock, markdown.IndentedCodeBlock:
		return true
	}
	return p.src[blocks[b.Next].Start] == ' '
}

// lineGuard returns the escape that the text at offset at needs to stay text
// when what stands before it on its line goes away: it could begin a list, a
// heading, a quote or a fence.
func (p *pass) lineGuard(from, at int) string {
	for k := from; k > 0 && p.src[k-1] != '\n'; k-- {
		if strings.IndexByte(" \t>*+-.)0123456789#", p.src[k-1]) < 0 {
			return ""
		}
	}
	if beginsBlock(p.src[at:]) {
		return `\`
	}
	return ""
}

// beginsBlock tells that a line beginning with text could begin a block of its
// own, or underline the one before, by a character that can be escaped.
func beginsBlock(text string) bool {
	if text == "" {
		return false
	}
	run := len(text) - len(strings.TrimLeft(text, text[:1]))
	blank := run == len(text) || text[run] == ' ' || text[run] == '\t' || text[run] == '\n'
	switch text[0] {
	case '>', '|':
		return true
	case '#', '=', '-':
		return blank
	case '+', '*':
		return run == 1 && blank || run >= 3
	case '`', '~':
		return run >= 3
	case ':':
		return strings.HasPrefix(text, ":-")
	}
	return false
}
