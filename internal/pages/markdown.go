package pages

import (
	"bytes"
	"errors"
	"html/template"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
	nethtml "golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/agent-airlock/airlock/internal/crash"
)

// markdownParser reads Markdown as GitHub does in issues and comments, where each line break is
// shown. It leaves the HTML in a text as it is, because filter removes what could act.
var markdownParser = sync.OnceValue(func() goldmark.Markdown {
	return goldmark.New(
		goldmark.WithExtensions(
			extension.Linkify, extension.Strikethrough, extension.TaskList, extension.Footnote,
			extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)),
		),
		goldmark.WithRendererOptions(html.WithHardWraps(), html.WithUnsafe()),
	)
})

// A MarkdownRenderer renders the texts of one page. Their total cost is bounded, so that no
// agent can keep the gate busy with texts that are slow to parse.
type MarkdownRenderer struct{ left int }

// NewMarkdownRenderer returns a renderer for one page. Its budget is some seconds of work:
// 12 MB of ordinary texts.
func NewMarkdownRenderer() *MarkdownRenderer { return &MarkdownRenderer{left: 1_200_000_000} }

// maxGrowth bounds the size of the HTML, as a multiple of the text's, in addition to a constant.
// HTML can grow fast: an unclosed <b> is opened again in each later paragraph.
const maxGrowth = 16

var errTooMuch = errors.New("what would be shown is far larger than the text")

// Render returns a text as GitHub would show it, in HTML in which nothing acts: it has no script,
// style, form, frame, picture or id, every element is closed, and links lead only to other pages.
// ok is false for a text that is nested more than 500 deep, costs more than is left, or becomes far
// larger as HTML. The caller then shows the text's characters.
func (r *MarkdownRenderer) Render(text string) (out template.HTML, ok bool) {
	c := cost(text)
	if c > r.left {
		return "", false
	}
	r.left -= c
	var shown bytes.Buffer
	err := crash.Try(func() error {
		var raw bytes.Buffer
		if err := markdownParser().Convert([]byte(text), &raw); err != nil {
			return err
		}
		nodes, err := nethtml.ParseFragment(&raw, &nethtml.Node{Type: nethtml.ElementNode, Data: "body", DataAtom: atom.Body})
		if err != nil {
			return err
		}
		root := &nethtml.Node{Type: nethtml.DocumentNode}
		f := filter{}
		for _, n := range nodes {
			f.copy(root, n)
		}
		if err := nethtml.Render(&shown, root); err != nil {
			return err
		}
		if shown.Len() > maxGrowth*len(text)+64<<10 {
			return errTooMuch
		}
		return nil
	})
	return template.HTML(shown.String()), err == nil // #nosec G203 -- rendered from a tree of nothing but allowed elements
}

// cost estimates the work of rendering a text, in steps of about two nanoseconds. Parsers compare
// with each other all delimiters of a paragraph, all containers that one line opens, and all
// elements of a text.
func cost(text string) int {
	sum, elements := costOfByte*len(text), 0
	for block := range strings.SplitSeq(text, "\n\n") {
		delimiters := 0
		for line := range strings.Lines(block) {
			containers := len(line) - len(strings.TrimLeft(line, "> \t+-*.)0123456789"))
			sum += containers * containers
			for _, c := range []byte(line) {
				switch c {
				case '*', '_', '[', ']':
					delimiters++
				case '<':
					elements++
				}
			}
		}
		sum += delimiters * delimiters
	}
	return sum + elements*elements
}

// costOfByte is the work of a byte of ordinary text, in steps.
const costOfByte = 100

// filter copies a tree of HTML, without what is not allowed.
type filter struct {
	inLink bool // what is copied now is the text of a link
}

// shownElements are the elements of GitHub's list that are shown, each with the attributes that
// it keeps. There is no section among them: the page puts each text into one, which nothing in
// the text can close.
var shownElements = map[atom.Atom][]string{
	atom.A: {"href"}, atom.Abbr: nil, atom.B: nil, atom.Blockquote: nil, atom.Br: nil, atom.Cite: nil, atom.Code: nil,
	atom.Dd: nil, atom.Del: nil, atom.Details: {"open"}, atom.Dfn: nil, atom.Div: {"align"}, atom.Dl: nil, atom.Dt: nil,
	atom.Em: nil, atom.Figcaption: nil, atom.Figure: nil, atom.H1: {"align"}, atom.H2: {"align"}, atom.H3: {"align"},
	atom.H4: {"align"}, atom.H5: {"align"}, atom.H6: {"align"}, atom.Hr: nil, atom.I: nil, atom.Ins: nil, atom.Kbd: nil,
	atom.Li: {"value"}, atom.Mark: nil, atom.Ol: {"start", "reversed"}, atom.P: {"align"}, atom.Pre: nil, atom.Q: nil,
	atom.Rp: nil, atom.Rt: nil, atom.Ruby: nil, atom.S: nil, atom.Samp: nil, atom.Small: nil, atom.Span: nil, atom.Strike: nil,
	atom.Strong: nil, atom.Sub: nil, atom.Summary: nil, atom.Sup: nil, atom.Table: nil, atom.Tbody: nil,
	atom.Td: {"align", "colspan", "rowspan"}, atom.Tfoot: nil, atom.Th: {"align", "colspan", "rowspan"}, atom.Thead: nil,
	atom.Tr: nil, atom.Tt: nil, atom.Ul: nil, atom.Var: nil, atom.Wbr: nil,
}

// unshownElements are the elements whose contents are left out, too, because they are not text for a
// reader.
var unshownElements = []atom.Atom{
	atom.Script, atom.Style, atom.Template, atom.Iframe, atom.Noembed, atom.Noframes, atom.Noscript, atom.Object, atom.Select,
	atom.Textarea, atom.Title, atom.Plaintext, atom.Xmp, atom.Head,
}

// copy appends a copy of n to parent. Of an element that is not in shownElements, only the contents
// are copied; of one in unshownElements, nothing. A picture and a checkbox become text.
func (f *filter) copy(parent, n *nethtml.Node) {
	switch n.Type {
	case nethtml.TextNode:
		addText(parent, n.Data)
	case nethtml.ElementNode:
		f.element(parent, n)
	}
}

func (f *filter) element(parent, n *nethtml.Node) {
	keep, shown := shownElements[n.DataAtom]
	switch {
	case n.Namespace != "" || slices.Contains(unshownElements, n.DataAtom):
	case n.DataAtom == atom.Img:
		f.image(parent, n)
	case n.DataAtom == atom.Input:
		if attribute(n, "type") == "checkbox" {
			addText(parent, checkbox(n))
		}
	case n.DataAtom == atom.A:
		f.link(parent, n)
	case !shown:
		f.children(parent, n)
	default:
		if isSuggestion(n) {
			addSuggestionTitle(parent)
		}
		kept := slices.DeleteFunc(slices.Clone(n.Attr), func(a nethtml.Attribute) bool { return a.Namespace != "" || !slices.Contains(keep, a.Key) })
		c := &nethtml.Node{Type: nethtml.ElementNode, Data: n.DataAtom.String(), DataAtom: n.DataAtom, Attr: append(kept, direction(n)...)}
		parent.AppendChild(c)
		f.children(c, n)
		if n.DataAtom == atom.Blockquote {
			markAlert(c)
		}
	}
}

func (f *filter) children(parent, n *nethtml.Node) {
	for c := range n.ChildNodes() {
		f.copy(parent, c)
	}
}

// link copies a link to another page. A link to a place on this page, or relative to where the text
// would be posted, leads nowhere from here, so only its text is copied. A footnote's link back to
// its reference is left out.
func (f *filter) link(parent, n *nethtml.Node) {
	address := pageAddress(attribute(n, "href"))
	switch {
	case strings.Contains(attribute(n, "class"), "footnote-backref"):
	case address == "" || f.inLink:
		f.children(parent, n)
	default:
		a := linkTo(address)
		parent.AppendChild(a)
		f.inLink = true
		f.children(a, n)
		f.inLink = false
	}
}

// image shows a picture's description in its place, and a link to it.
func (f *filter) image(parent, n *nethtml.Node) {
	box := &nethtml.Node{Type: nethtml.ElementNode, Data: "span", DataAtom: atom.Span, Attr: []nethtml.Attribute{{Key: "class", Val: "image"}}}
	parent.AppendChild(box)
	addText(box, strings.TrimSpace("Image: "+attribute(n, "alt")))
	if address := pageAddress(attribute(n, "src")); address != "" && !f.inLink {
		addText(box, " ")
		a := linkTo(address)
		box.AppendChild(a)
		addText(a, address)
	}
}

// linkTo returns an empty link. It keeps this page's address from the page that it leads to.
func linkTo(address string) *nethtml.Node {
	return &nethtml.Node{Type: nethtml.ElementNode, Data: "a", DataAtom: atom.A, Attr: []nethtml.Attribute{
		{Key: "href", Val: address}, {Key: "rel", Val: "noopener noreferrer nofollow"}, {Key: "target", Val: "_blank"},
	}}
}

// pageAddress returns the address of a link that leads to another page; "" for any other.
func pageAddress(href string) string {
	u, err := url.Parse(strings.TrimSpace(href))
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return ""
	}
	return u.String()
}

// checkbox returns a character for a task's box. A checkbox of HTML could be ticked.
func checkbox(n *nethtml.Node) string {
	if slices.ContainsFunc(n.Attr, func(a nethtml.Attribute) bool { return a.Key == "checked" }) {
		return "☑ "
	}
	return "☐ "
}

// direction returns the attribute dir, if it is valid.
func direction(n *nethtml.Node) []nethtml.Attribute {
	switch dir := strings.ToLower(attribute(n, "dir")); dir {
	case "ltr", "rtl", "auto":
		return []nethtml.Attribute{{Key: "dir", Val: dir}}
	}
	return nil
}

// alerts are the titles that GitHub gives some quotes, by the quotes' first line.
var alerts = map[string]string{"[!NOTE]": "Note", "[!TIP]": "Tip", "[!IMPORTANT]": "Important", "[!WARNING]": "Warning", "[!CAUTION]": "Caution"}

// markAlert gives a quote that GitHub shows as an alert its title.
func markAlert(quote *nethtml.Node) {
	p := quote.FirstChild
	for p != nil && p.Type == nethtml.TextNode && strings.TrimSpace(p.Data) == "" {
		p = p.NextSibling
	}
	if p == nil || p.DataAtom != atom.P || p.FirstChild == nil || p.FirstChild.Type != nethtml.TextNode {
		return
	}
	title, ok := alerts[strings.ToUpper(strings.TrimSpace(p.FirstChild.Data))]
	if !ok || p.FirstChild.NextSibling != nil && p.FirstChild.NextSibling.DataAtom != atom.Br {
		return
	}
	strong := &nethtml.Node{Type: nethtml.ElementNode, Data: "strong", DataAtom: atom.Strong}
	addText(strong, title)
	p.RemoveChild(p.FirstChild)
	p.InsertBefore(strong, p.FirstChild)
	quote.Attr = append(quote.Attr, nethtml.Attribute{Key: "class", Val: "alert"})
}

// isSuggestion reports whether GitHub shows a block of code as a change to be accepted.
func isSuggestion(n *nethtml.Node) bool {
	code := n.FirstChild
	return n.DataAtom == atom.Pre && code != nil && code.DataAtom == atom.Code && attribute(code, "class") == "language-suggestion"
}

// addSuggestionTitle appends the title that GitHub gives a suggestion.
func addSuggestionTitle(parent *nethtml.Node) {
	p := &nethtml.Node{Type: nethtml.ElementNode, Data: "p", DataAtom: atom.P}
	strong := &nethtml.Node{Type: nethtml.ElementNode, Data: "strong", DataAtom: atom.Strong}
	addText(strong, "Suggested change")
	p.AppendChild(strong)
	parent.AppendChild(p)
}

func attribute(n *nethtml.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key && a.Namespace == "" {
			return a.Val
		}
	}
	return ""
}

func addText(parent *nethtml.Node, text string) {
	parent.AppendChild(&nethtml.Node{Type: nethtml.TextNode, Data: text})
}
