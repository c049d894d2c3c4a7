package sanitize

import (
	"strings"

	"github.com/agent-airlock/airlock/internal/markdown"
)

// separator is a definition without content that nothing refers to. It takes the place of a removed
// comment or definition that had separated two blocks, and separates them instead.
const separator = "[//]: #"

// hiddenText handles the parts of the source that are not shown. It removes the definitions that
// nothing refers to, and the titles of the other definitions. It shows the footnotes that nothing
// refers to.
func (p *pass) hiddenText() {
	for i := range p.doc.Definitions {
		d := &p.doc.Definitions[i]
		switch {
		case p.src[d.Start:d.End] == separator:
		case d.Shadowed || !d.Used:
			text := ""
			if p.doc.Blocks[d.Block].Kind == markdown.DefinitionBlock && p.isSeparator(d.Block) {
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
			start := p.doc.Blocks[f.Block].Start
			p.edit(start, start, `\`, RuleHiddenText, "footnote")
		}
	}
}

// guardTitles escapes a quote or parenthesis at the start of the line after a
// definition without a title: some readers take that line for the title.
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
		start := p.doc.PiecesOf(b)[0].Start
		switch p.src[start] {
		case '"', '\'', '(':
			p.insert(start, `\`)
		}
	}
}

// separateBlock keeps what follows HTML block i apart from it. If edits remove its opening, the block
// would become a paragraph and continue with the next line, or a list before it would continue with
// the code after it. If they only turn the end tag that closed the block into text, the block
// gets another end tag.
func (p *pass) separateBlock(i int, edits []edit) {
	b := &p.doc.Blocks[i]
	if b.Data > 5 || len(edits) == 0 {
		return
	}
	if int(edits[0].start) > b.Start {
		if b.Data == 1 && b.Closed && !strings.Contains(strings.ToLower(p.src[lineStart(p.src, b.End):b.End]), "</pre>") {
			p.insert(b.End, "</pre>") // the end tag that closed the block becomes text
		}
		return
	}
	if p.textOf(&edits[0]) == "" && strings.Trim(p.src[min(int(edits[0].end), b.End):b.End], " \t\n>") == "" {
		if p.isSeparator(i) {
			note := p.changes[edits[0].change].note
			edits[0].change = p.changeTo("\n"+separator+"\n", note.Rule, note.Detail)
		}
		return
	}
	if b.End >= len(p.src) || p.src[b.End] != '\n' {
		return
	}
	next := strings.TrimLeft(p.src[b.End+1:], " \t>")
	if next != "" && next[0] != '\n' {
		p.insert(b.End+1, p.quoteMarks(b.End)+"\n")
	}
}

// indentedCode rewrites indented code that contains anything that could act, so
// that all readers see code: with a fence if a list, footnote, table, HTML block or
// quote comes before it, without tabs if it is in a list, footnote or quote.
func (p *pass) indentedCode(i int) {
	b := &p.doc.Blocks[i]
	if !needsReading(p.doc.Literal(b, b.Span)) {
		return
	}
	if b.Depth > 0 {
		p.expandTabs(b)
		return
	}
	before := p.blockBefore(i)
	if before == nil {
		return
	}
	switch before.Kind {
	case markdown.ItemBlock, markdown.FootnoteBlock, markdown.TableBlock, markdown.HTMLBlock, markdown.QuoteBlock:
		pieces := p.doc.PiecesOf(b)
		start, end := lineStart(p.src, pieces[0].Start), pieces[len(pieces)-1].End
		code := p.doc.Literal(b, markdown.Span{Start: pieces[0].Start, End: end})
		if end > start && p.src[end-1] == '\n' {
			end--
		}
		p.edit(start, end, markdown.Fence("", code), RuleCode, "indented")
	}
}

// expandTabs replaces the tabs before the lines of a leaf by spaces.
func (p *pass) expandTabs(b *markdown.Block) {
	for _, piece := range p.doc.PiecesOf(b) {
		start := lineStart(p.src, piece.Start)
		before := p.src[start:piece.Start]
		if !strings.Contains(before, "\t") {
			continue
		}
		var out strings.Builder
		for i := 0; i < len(before); i++ {
			if before[i] != '\t' {
				out.WriteByte(before[i])
				continue
			}
			out.WriteString(strings.Repeat(" ", 4-out.Len()%4))
		}
		p.edit(start, piece.Start, out.String(), RuleCode, "tabs")
	}
}

// lineStart returns where the line that contains offset i starts.
func lineStart(s string, i int) int { return strings.LastIndexByte(s[:i], '\n') + 1 }

// quoteMarks returns the marks at the start of the line that contains an offset. A
// line of nothing else is an empty line in the same quote.
func (p *pass) quoteMarks(offset int) string {
	line := p.src[lineStart(p.src, offset):offset]
	return strings.TrimRight(line[:len(line)-len(strings.TrimLeft(line, " >"))], " ")
}

// blockBefore returns the top-level block before the top-level block i, or nil.
func (p *pass) blockBefore(i int) *markdown.Block {
	for i--; i >= 0 && p.doc.Blocks[i].Parent >= 0; {
		i = p.doc.Blocks[i].Parent
	}
	if i < 0 {
		return nil
	}
	return &p.doc.Blocks[i]
}

// isSeparator reports whether the top-level block i stands between a list or
// footnote and something that would continue these without it.
func (p *pass) isSeparator(i int) bool {
	b := &p.doc.Blocks[i]
	if b.Depth > 0 {
		return false
	}
	before, next := p.blockBefore(i), len(p.src)
	if int(b.Next) < len(p.doc.Blocks) {
		next = p.doc.Blocks[b.Next].Start
	}
	if before == nil || before.Kind != markdown.ItemBlock && before.Kind != markdown.FootnoteBlock || next == len(p.src) {
		return false
	}
	after := &p.doc.Blocks[b.Next]
	return after.Kind == markdown.ItemBlock || after.Kind == markdown.IndentedCodeBlock || p.src[after.Start] == ' '
}

// lineGuard returns the escape that has to replace src[start:end] when that is removed, "" if none
// is needed. If only marks and digits precede it on its line, what follows it could otherwise begin
// a list, a heading, a quote or a fence.
func (p *pass) lineGuard(start, end int) string {
	for k := start; k > 0 && p.src[k-1] != '\n'; k-- {
		if strings.IndexByte(" \t>*+-.)0123456789#", p.src[k-1]) < 0 {
			return ""
		}
	}
	if beginsBlock(p.src[end:]) {
		return `\`
	}
	return ""
}

// beginsBlock reports whether a line that begins with text could begin a block, or
// underline the line before, by a character that can be escaped.
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
