package sanitize

import (
	"bytes"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"
	xhtml "golang.org/x/net/html"
	"golang.org/x/net/idna"
)

// secondReader is goldmark with GitHub's extensions and goldmark's attributes on, and raw HTML
// kept.
var secondReader = sync.OnceValue(func() goldmark.Markdown {
	return goldmark.New(
		goldmark.WithExtensions(extension.GFM, extension.Footnote),
		goldmark.WithParserOptions(parser.WithAttribute()),
		goldmark.WithRendererOptions(html.WithUnsafe()),
	)
})

// goldmarkHTML renders text with goldmark.
func goldmarkHTML(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	if err := secondReader().Convert([]byte(text), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// checker lists what is live, hidden or unsafe in rendered HTML. It shares only the rules of
// safeElement and hasStray with the package. It finds everything else with its own expressions.
type checker struct {
	canary string // a word that must be visible if the source contains it
}

var (
	liveMention = regexp.MustCompile(`(?:^|[^A-Za-z0-9])@[A-Za-z0-9]`)
	liveClosing = regexp.MustCompile(`(?i)(?:^|[^a-z0-9])(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)(?:[\s\p{Z}:]+(?:[\w.-]+(?:/[\w.-]+)?)?#[0-9]|[\s\p{Z}]*:?[\s\p{Z}]*(?:\x04|#[0-9]|gh-[0-9]|https?://[^/\s]+/[^/\s]+/[^/\s]+/(?:issues|pull)/[0-9]))`)
	anyURL      = regexp.MustCompile(`(?i)(?:https?|ftp)://[*_~]*[^\s<>"*_~\x05][^\s<>"]*|\bwww\.[a-z0-9][^\s<>"]*`)
	goodURL     = regexp.MustCompile(`(?i)^(?:https://|www\.|http://www\.)(?:[a-z0-9-]+\.)*(?:github\.com|github\.io|githubusercontent\.com|githubassets\.com|github\.dev|codespaces\.new|example\.org)\.?(?::[0-9]+)?(?:[/?#].*)?$`)
	goodMail    = regexp.MustCompile(`(?i)^mailto:[^?@\s]+(?:\?[^=@\s]*)?@[a-z0-9._-]+$`)
	anyScheme   = regexp.MustCompile(`^[\x00-\x20]*[A-Za-z][A-Za-z0-9+.\t\r\n-]*:`)
	doubleSlash = regexp.MustCompile(`^[\x00-\x20]*[/\\][\t\r\n]*[/\\]`)
	issueURL    = regexp.MustCompile(`(?i)^https?://[^/]+/[^/]+/[^/]+/(?:issues|pulls?|discussions)/[0-9]`)
	commandLine = regexp.MustCompile(`(?m)(?:^|[\x{2028}\x{2029}])[\s\p{Z}>]*(?:[-+*] +(?:\[[ xX]\] +)?|[0-9]+[.)] +)*(\\?[/\x{ff0f}][A-Za-z\x{ff21}-\x{ff5a}\x{24b6}-\x{24e9}\x{1d400}-\x{1d6a3}][A-Za-z0-9_-]*[^\s\p{Z}]*)`)
	plainPath   = regexp.MustCompile(`^\\?/(?:etc|lib|opt|proc|sys|tmp|usr|var)\b|^\\?/(?:api|app|bin|dev|home|src|users|v1)/`)
	tableTag    = regexp.MustCompile(`(?i)</?t(?:able|body|foot|head|[dhr])\b`) // moves text to where it has other neighbours
	// plainAttribute matches attributes that no reader sees and that may stay: numbers, single
	// short words, names without blanks, dates, conditions.
	plainAttribute = regexp.MustCompile(`(?i)^(?:(?:id|name|itemprop|headers|aria-(?:labelledby|describedby))=\S{0,64}|datetime=[-0-9:.+ TZPWYMDHS]*|media=[-a-z0-9(): ]*|itemtype=https?://schema\.org/[a-z]*|lang=[-_a-z0-9]{0,12}|hreflang=[-_a-z0-9]{0,12}|color=[#a-z0-9]*|` +
		`rel=[a-z ]{0,64}|start=[0-9]{1,9}|type=[-/+a-z0-9]{0,14}|(?:border|cellpadding|cellspacing|charoff|cols|colspan|height|hspace|maxlength|progress|rows|rowspan|size|span|start|tabindex|value|vspace|width)=[-+]?(?:[0-9.]{0,6} ?[%*a-z]{0,4}|auto)|(?:checked|compact|disabled|ismap|itemscope|multiple|nohref|noshade|nowrap|open|readonly|selected)=(?:[a-z]{0,9}|[01])|` +
		`(?:align|halign|valign|dir|clear|frame|rules|scope|loading|aria-hidden|role)=[-a-z]{0,15})$`)
	pixel       = regexp.MustCompile(`^[0-3](?:\.[0-9]+)?(?:px)? | [0-3](?:\.[0-9]+)?(?:px)?$`)
	anyLetter   = regexp.MustCompile(`\pL`)
	ourMentions = regexp.MustCompile(`@\x{200b}()`)
	ourRefs     = regexp.MustCompile(`(?i)((?:close[sd]?|fix(?:e[sd])?|resolve[sd]?|cloſe[sd]?|closeſ|ﬁx(?:e[sd])?|fixe[ſ]|\x05[a-z]{0,7})[\s\p{Z}*_~\[\]:]*)\x{200b}([*_~\[\]]*(?:\x04|(?:[\wﬁſ.-]+(?:/[\w.-]+)?)?#[*_~]*[0-9\x05]|gh-|https?:|www\.|[\w./-]*\x05))`)
)

var (
	withoutMarks = strings.NewReplacer("*", "", "_", "", "~", "", "[", "", "]", "")
	withoutOurs  = strings.NewReplacer("\u200b", "", "\x04", "", "\x05", "")
	// If a text has right-to-left letters, even its blocks without such letters may have marks of a
	// direction; TestCharacters judges where.
	withoutMarksOfDirection = strings.NewReplacer("\u200b", "", "\x04", "", "\x05", "", "\u200e", "", "\u200f", "", "\u061c", "", "\u2066", "", "\u2067", "", "\u2068", "", "\u2069", "")
	rightToLeft             = regexp.MustCompile(`[\p{Hebrew}\p{Arabic}]`)
)

// problems lists what is live, hidden or unsafe in rendered, which is HTML made of the Markdown in
// source.
func (c checker) problems(source, rendered string) []string {
	doc, err := xhtml.Parse(strings.NewReader(rendered))
	if err != nil {
		return []string{"unparsable: " + err.Error()}
	}
	lower := strings.ToLower(source)
	w := walker{ours: withoutOurs, seen: map[string]bool{}, rawCode: strings.Contains(lower, "<pre") || strings.Contains(lower, "<code")}
	if rightToLeft.MatchString(source) {
		w.ours = withoutMarksOfDirection
	}
	w.walk(doc, false, false)
	w.flush()
	if !tableTag.MatchString(source) {
		w.zwsp(w.whole.String())
	}
	if c.canary != "" && strings.Contains(source, c.canary) && !strings.Contains(w.visible.String(), c.canary) {
		w.report("hidden text: " + c.canary)
	}
	for _, line := range commandLine.FindAllStringSubmatch(source, -1) {
		if word := line[1]; !strings.Contains(w.code.String(), word) && plainPath.FindStringIndex(word) == nil {
			w.report("command: " + word)
		}
	}
	slices.Sort(w.found)
	return w.found
}

// walker walks through rendered HTML for a checker. In the joined texts \x04 stands for a link to
// an issue, and \x05 for code or an address that is its own link.
type walker struct {
	found   []string
	seen    map[string]bool
	squash  strings.Builder   // the joined texts of one block
	whole   strings.Builder   // the joined texts of all blocks
	visible strings.Builder   // what a reader sees, code included
	code    strings.Builder   // the contents of pre elements
	ours    *strings.Replacer // removes what may stand in a result
	rawCode bool              // the source has code elements of its own, which are HTML and not code
}

func (w *walker) report(problem string) {
	if !w.seen[problem] {
		w.seen[problem] = true
		w.found = append(w.found, problem)
	}
}

func (w *walker) flush() {
	text := w.squash.String()
	w.squash.Reset()
	w.text(text)
	// A joiner's neighbours are the characters next to it on the page, even those of another node.
	// \x05, which stands for an address or code, counts as a letter.
	w.characters(strings.ReplaceAll(text, "\x05", "x"))
	if m := liveClosing.FindString(text); m != "" {
		w.report("closing word: " + m)
	}
	w.whole.WriteString(text)
}

func (w *walker) text(text string) {
	if m := liveMention.FindString(text); m != "" {
		w.report("mention: " + m)
	}
	for _, u := range anyURL.FindAllString(text, -1) {
		if w.rawCode {
			u = strings.TrimRight(u, "\x05") // the code's content is text, and judged as such
		}
		if !goodURL.MatchString(asciiHost(strings.TrimRight(u, ".,;:!?'*_~])"))) {
			w.report("address in text: " + u)
		}
	}
}

// zwsp reports a U+200B that makes nothing inert.
func (w *walker) zwsp(text string) {
	text = withoutMarks.Replace(text)
	text = ourMentions.ReplaceAllString(text, "@$1")
	text = ourRefs.ReplaceAllString(text, "$1$2") // matches may overlap: twice
	if rest := ourRefs.ReplaceAllString(text, "$1$2"); strings.Contains(rest, "\u200b") {
		w.report("stray U+200B: " + rest)
	}
}

func (w *walker) characters(text string) {
	if hasStray(w.ours.Replace(text)) {
		w.report("invisible or control character in " + text)
	}
}

func (w *walker) walk(n *xhtml.Node, code, link bool) {
	switch n.Type {
	case xhtml.CommentNode:
		w.report("comment: " + n.Data)
	case xhtml.TextNode:
		if code {
			w.characters(n.Data)
			if !w.rawCode && strings.Contains(n.Data, "\u200b") {
				w.report("U+200B in code: " + n.Data)
			}
			for a := n.Parent; a != nil; a = a.Parent {
				if a.Data == "pre" {
					w.code.WriteString(n.Data)
					break
				}
			}
			w.visible.WriteString(n.Data)
			return
		}
		if !unseen(n) {
			w.visible.WriteString(n.Data)
		} else if anyLetter.MatchString(n.Data) {
			w.report("unseen: " + n.Data)
		}
		if !link {
			w.text(n.Data)
		}
		if link && anyURL.MatchString(n.Data) || link && strings.Contains(n.Data, "@") && goodMail.MatchString("mailto:"+n.Data) {
			w.squash.WriteString("\x05") // an address that is its own link
		} else {
			w.squash.WriteString(n.Data)
		}
		return
	case xhtml.ElementNode:
		w.element(n)
	}
	block := false
	switch n.Data {
	case "p", "li", "h1", "h2", "h3", "h4", "h5", "h6", "td", "th", "blockquote", "pre", "hr", "table", "tr", "ul", "ol", "dt", "dd":
		block = n.Type == xhtml.ElementNode
	}
	if block {
		w.flush()
	}
	isCode := n.Type == xhtml.ElementNode && (n.Data == "code" || n.Data == "pre")
	if isCode && !code {
		w.squash.WriteString("\x05")
	}
	if n.Type == xhtml.ElementNode && n.Data == "img" {
		w.squash.WriteString(attr(n, "alt"))
	}
	isLink := n.Type == xhtml.ElementNode && n.Data == "a" && attr(n, "href") != ""
	if isLink && issueURL.MatchString(attr(n, "href")) {
		w.squash.WriteString("\x04")
	}
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		w.walk(child, code || isCode, link || isLink)
	}
	if block {
		w.flush()
	}
}

func attr(n *xhtml.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func (w *walker) element(n *xhtml.Node) {
	switch n.Data {
	case "html", "head", "body", "section": // the parser's own, the footnotes' frame
		return
	case "input":
		if attr(n, "type") == "checkbox" {
			return
		}
	}
	if !safeElement(n.Data) {
		w.report("element: " + n.Data)
	}
	for _, a := range n.Attr {
		if a.Key == "alt" && a.Val != "" && pixel.MatchString(attr(n, "width")+" "+attr(n, "height")) {
			w.report("text of an image that nobody sees: " + a.Val)
		}
		w.attribute(n.Data, a)
	}
}

func (w *walker) attribute(element string, a xhtml.Attribute) {
	w.characters(a.Val)
	if a.Key != "alt" { // which is judged with the text that it stands in
		w.zwsp(a.Val)
	}
	switch a.Key {
	case "href", "src", "cite", "longdesc", "action", "background", "poster":
		if !allowedAddress(a.Val) {
			w.report("address: " + a.Val)
		}
	case "srcset":
		for _, f := range strings.Fields(a.Val) {
			if !allowedAddress(strings.Trim(f, ",")) {
				w.report("address: " + f)
			}
		}
	case "title":
		if element != "abbr" && element != "dfn" {
			w.report("title: " + a.Val)
		}
	case "class":
		if a.Val == "" {
			return // of goldmark's syntax for attributes
		}
		for _, prefix := range []string{"language-", "footnote", "task-list", "contains-"} {
			if strings.HasPrefix(a.Val, prefix) {
				return
			}
		}
		w.report("class: " + a.Val)
	default:
		generated := strings.HasPrefix(a.Key, "data-footnote") || a.Key == "aria-label" && strings.HasPrefix(a.Val, "Back to ") ||
			a.Key == "style" && (a.Val == "text-align:left" || a.Val == "text-align:right" || a.Val == "text-align:center")
		if a.Key == "alt" && element == "img" {
			break
		}
		if !generated && !plainAttribute.MatchString(a.Key+"="+a.Val) {
			w.report("attribute: " + a.Key)
		}
	}
	if a.Key == "alt" && element == "img" {
		w.visible.WriteString(a.Val)
	}
}

// unseen reports whether browsers hide a text, because it stands in rp: only browsers that do not
// know ruby show that.
func unseen(n *xhtml.Node) bool {
	for a := n.Parent; a != nil; a = a.Parent {
		if a.Data == "rp" {
			return true
		}
	}
	return false
}

// asciiHost writes the host of an address in Punycode. It does not map letters as browsers do, so a
// name that browsers would change into an allowed host's stays another name here.
func asciiHost(address string) string {
	start := 0
	if i := strings.Index(address, "://"); i >= 0 {
		start = i + len("://")
	} else if !strings.HasPrefix(address, "www.") {
		return address
	}
	end := start + indexAnyOrLen(address[start:], "/?#")
	name, err := url.PathUnescape(address[start:end])
	if err != nil {
		return address
	}
	ascii, err := idna.Punycode.ToASCII(name)
	if err != nil {
		return address
	}
	return address[:start] + ascii + address[end:]
}

func allowedAddress(address string) bool {
	if strings.Contains(address, "://") {
		address = asciiHost(address)
	}
	switch {
	case goodURL.MatchString(address) && !strings.HasPrefix(address, "www."), goodMail.MatchString(address):
		return true
	case doubleSlash.MatchString(address):
		return goodURL.MatchString("https://" + strings.TrimLeft(address, "\\/\t\r\n "))
	case anyScheme.MatchString(address):
		return false
	}
	return true
}
