package fixloop

import (
	"strings"

	"github.com/agent-airlock/airlock/internal/markdown"
)

// form is the structure of a message's Markdown, however it is written: headings, fields, lists,
// tables and fences, with Markdown's escapes resolved.
type form struct {
	title    string
	head     []part
	sections []section
}

type section struct {
	title string
	parts []part
}

// part is one block of a section.
type part struct {
	kind  partKind
	words []word   // of a paragraph or list item
	code  string   // of a fence
	info  string   // its info string
	cells []string // of a table's row
	inner []part   // what an item contains in addition to its words
}

type partKind uint8

const (
	paragraph partKind = iota
	item
	fence
	row
)

// word is a run of text in one style.
type word struct {
	text  string
	style style
}

type style uint8

const (
	plain style = iota
	strong
	code
)

// readForms returns the structure of each message in a text. Whatever precedes the first
// known heading is ignored. Fences are searched for messages only if there is none outside of them.
func readForms(src string) []form {
	src = strings.ReplaceAll(strings.ReplaceAll(src, "\r\n", "\n"), "\r", "\n")
	doc := markdown.Scan(src)
	forms := formsIn(doc)
	if len(forms) > 0 {
		return forms
	}
	for i := range doc.Blocks {
		if b := &doc.Blocks[i]; b.Kind == markdown.FencedCodeBlock {
			forms = append(forms, formsIn(markdown.Scan(doc.Literal(b, b.Span)))...)
		}
	}
	return forms
}

// formsIn returns the structure of each message that a document has outside of fences.
func formsIn(doc *markdown.Document) []form {
	r := &reader{doc: doc}
	for i := 0; i < len(doc.Blocks); {
		i = r.block(i)
	}
	return r.forms
}

// titled returns the type of the messages that begin with a heading, without regard to case.
func titled(heading string) (Type, bool) {
	for t, s := range spelling {
		if strings.EqualFold(s.title, heading) {
			return t, true
		}
	}
	return "", false
}

// reader collects the forms of a document.
type reader struct {
	doc   *markdown.Document
	forms []form
}

// block reads the block i and returns the index of the next one. Quotes are looked into.
func (r *reader) block(i int) int {
	b := &r.doc.Blocks[i]
	switch b.Kind {
	case markdown.QuoteBlock:
		return i + 1
	case markdown.HeadingBlock:
		words := r.leaf(b)
		_, known := titled(flat(words))
		// Without an empty line between, the dashes of a rule turn the text above into a heading.
		if underlined := r.doc.Source[b.Start] != '#'; underlined && !known {
			r.add(part{kind: paragraph, words: words})
			break
		}
		r.heading(flat(words))
	case markdown.ParagraphBlock:
		r.add(part{kind: paragraph, words: r.leaf(b)})
	case markdown.ItemBlock:
		p := part{kind: item}
		for j := i + 1; j < int(b.Next); j++ {
			switch inner := &r.doc.Blocks[j]; inner.Kind {
			case markdown.ParagraphBlock, markdown.HeadingBlock:
				if len(p.words) > 0 {
					p.words = append(p.words, word{text: " "})
				}
				p.words = append(p.words, r.leaf(inner)...)
			case markdown.FencedCodeBlock, markdown.IndentedCodeBlock:
				p.inner = append(p.inner, r.fence(inner))
			}
		}
		r.add(p)
	case markdown.FencedCodeBlock, markdown.IndentedCodeBlock:
		r.add(r.fence(b))
	case markdown.TableBlock:
		for j := i + 1; j < int(b.Next); j++ {
			if r.doc.Blocks[j].Kind != markdown.RowBlock {
				continue
			}
			p := part{kind: row}
			for k := j + 1; k < int(r.doc.Blocks[j].Next); k++ {
				p.cells = append(p.cells, flat(r.leaf(&r.doc.Blocks[k])))
			}
			r.add(p)
		}
	}
	return int(b.Next)
}

func (r *reader) heading(text string) {
	if _, known := titled(text); known {
		r.forms = append(r.forms, form{title: text})
		return
	}
	if f := r.last(); f != nil {
		f.sections = append(f.sections, section{title: text})
	}
}

func (r *reader) last() *form {
	if len(r.forms) == 0 {
		return nil
	}
	return &r.forms[len(r.forms)-1]
}

func (r *reader) add(p part) {
	f := r.last()
	switch {
	case f == nil:
	case len(f.sections) == 0:
		f.head = append(f.head, p)
	default:
		s := &f.sections[len(f.sections)-1]
		s.parts = append(s.parts, p)
	}
}

func (r *reader) fence(b *markdown.Block) part {
	return part{kind: fence, code: strings.TrimSuffix(r.doc.Literal(b, b.Span), "\n"), info: r.doc.Info(b)}
}

// leaf returns the text of a block, with escapes, entities, code spans, links and strong emphasis
// resolved. Other emphasis and HTML, except <br>, stay as they are written.
func (r *reader) leaf(b *markdown.Block) []word {
	var out collector
	for _, n := range r.doc.InlinesOf(b) {
		src := r.doc.Source[n.Start:n.End]
		switch n.Kind {
		case markdown.Text:
			out.emphasis(src)
		case markdown.Escape:
			out.add(src[len(src)-1:])
		case markdown.Entity:
			decoded, _ := markdown.DecodeEntity(src)
			out.add(decoded)
		case markdown.SoftBreak, markdown.HardBreak:
			out.add("\n")
		case markdown.CodeNode:
			out.end()
			out.list = append(out.list, word{r.doc.CodeText(b, &n), code})
		case markdown.HTMLNode:
			if strings.HasPrefix(strings.ToLower(src), "<br") {
				src = "\n"
			}
			out.add(src)
		case markdown.Autolink:
			link := r.doc.Links[n.Data]
			out.add(r.doc.Source[link.Text.Start:link.Text.End])
		case markdown.Backticks, markdown.FootnoteRef:
			out.add(src)
		}
	}
	out.end()
	return out.list
}

// collector collects the words of a block.
type collector struct {
	list []word
	bold bool
	last strings.Builder // collects the text of the last word, until end
}

// emphasis adds text in which ** and __ turn strong on and off.
func (c *collector) emphasis(s string) {
	for {
		i := strings.Index(s, "**")
		if j := strings.Index(s, "__"); i < 0 || j >= 0 && j < i {
			i = j
		}
		if i < 0 {
			break
		}
		c.add(s[:i])
		c.bold = !c.bold
		s = s[i+2:]
	}
	c.add(s)
}

// end gives the last word its text.
func (c *collector) end() {
	if c.last.Len() > 0 {
		c.list[len(c.list)-1].text = c.last.String()
		c.last.Reset()
	}
}

// add adds text to the last word, or begins another one if the style has changed.
func (c *collector) add(s string) {
	s = invisible.Replace(s)
	if s == "" {
		return
	}
	current := plain
	if c.bold {
		current = strong
	}
	if len(c.list) == 0 || c.list[len(c.list)-1].style != current {
		c.end()
		c.list = append(c.list, word{style: current})
	}
	c.last.WriteString(s)
}

// invisible removes what makes a mention or reference inert.
var invisible = strings.NewReplacer("\u200b", "", "\u2060", "", "\ufeff", "")

// flat returns words as one line of text.
func flat(words []word) string {
	var b strings.Builder
	for _, w := range words {
		b.WriteString(w.text)
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// fieldAt returns the name of the field that begins at word i, the text after its colon in the same
// word, and the number of words that it read: 0 if no field begins there. The colon can be the end
// of the strong word, or the beginning of the plain one that follows.
func fieldAt(words []word, i int) (name, rest string, n int) {
	if len(words) == i || words[i].style != strong {
		return "", "", 0
	}
	name = strings.TrimSpace(words[i].text)
	if name, ok := strings.CutSuffix(name, ":"); ok {
		return strings.TrimSpace(name), "", 1
	}
	if i+1 == len(words) || words[i+1].style != plain {
		return "", "", 0
	}
	rest, ok := strings.CutPrefix(strings.TrimLeft(words[i+1].text, " \n"), ":")
	if !ok {
		return "", "", 0
	}
	return name, rest, 2
}

// fields returns the fields of paragraphs and list items, however their lines are wrapped, by name in
// lower case. The first of two of the same name counts.
func fields(parts []part) map[string]string {
	out := map[string]string{}
	for _, p := range parts {
		if p.kind == fence {
			continue
		}
		name := ""
		var value []word
		flush := func() {
			if _, had := out[name]; name != "" && !had {
				out[name] = flat(value)
			}
			name, value = "", nil
		}
		for i := 0; i < len(p.words); {
			field, rest, n := fieldAt(p.words, i)
			if n == 0 {
				value = append(value, p.words[i])
				i++
				continue
			}
			flush()
			name, value = strings.ToLower(field), []word{{text: rest}}
			i += n
		}
		flush()
	}
	return out
}
