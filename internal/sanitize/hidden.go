package sanitize

import "github.com/agent-airlock/airlock/internal/markdown"

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
