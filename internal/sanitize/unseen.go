package sanitize

import (
	"strconv"
	"strings"

	"github.com/agent-airlock/airlock/internal/markdown"
)

// The limits of text that a page contains and does not show, in bytes. In 2,500 READMEs, the
// longest info string has 70 bytes, the longest address of a link without text 140.
const (
	maxInfo      = 100
	maxEmptyLink = 200
	maxLabelName = 40 // of an equation

	longestDefinition = 300 // of a macro, as far as it is read
)

// fencedCode handles the parts of fenced code that a page does not show: a long info string, and
// the parts that GitHub leaves out when it draws the code.
func (p *pass) fencedCode(b *markdown.Block) {
	at := p.doc.InfoSpan(b)
	if p.removeStray(at) {
		return
	}
	info := p.src[at.Start:at.End]
	word := info[:indexAnyOrLen(info, " \t{")]
	if len(info) > maxInfo {
		from := at.Start + len(word)
		if len(word) > maxInfo {
			from = at.Start
		}
		p.edit(from, at.End, "", RuleHiddenText, "info")
	}
	language := p.doc.InfoText(b)
	switch language = strings.ToLower(language[:indexAnyOrLen(language, " \t{")]); language {
	case "mermaid":
		p.diagram(p.doc.PiecesOf(b))
	case "math":
		for _, piece := range p.doc.PiecesOf(b) {
			p.formula(piece.Start, piece.End)
		}
	case "geojson", "topojson":
		if !isPlainMap(p.doc.Literal(b, b.Span)) {
			p.edit(at.Start, at.Start+len(word), "json", RuleHiddenText, "map")
		}
	case "stl":
		if !isPlainModel(p.doc.Literal(b, b.Span)) {
			p.edit(at.Start, at.Start+len(word), "text", RuleHiddenText, "model")
		}
	}
}

// surplusCells handles the cells of a row, from block i on, that are beyond the
// columns of its table and that no page shows. A few letters stay; they are likely a
// slip. Others become a part of the last column: their pipes are escaped.
func (p *pass) surplusCells(i int) {
	first, last := i, i
	for last+1 < len(p.doc.Blocks) && p.doc.Blocks[last+1].Hidden && p.doc.Blocks[last+1].Parent == p.doc.Blocks[i].Parent {
		last++
	}
	const maxWord = 4
	for last > first && p.doc.Blocks[last].Empty() {
		last--
	}
	cell := p.src[p.doc.Blocks[first].Start:p.doc.Blocks[last].End]
	if len(cell) <= maxWord && !strings.ContainsAny(cell, " \t|") {
		return
	}
	for ; first <= last; first++ {
		pipe := p.doc.Blocks[first].Start
		for pipe > 0 && p.src[pipe] != '|' {
			pipe--
		}
		p.edit(pipe, pipe, `\`, RuleHiddenText, "cell")
	}
}

// formulas handles the formulas between dollar signs in src[start:end]. A sign without
// an end begins no formula. Two signs without an end do: the formula may continue in
// the next block.
func (p *pass) formulas(start, end int) {
	if !p.dollars {
		return
	}
	text := p.src[start:end]
	noneEnds := false // no sign from here on ends an inline formula
	for k := 0; ; {
		j := strings.IndexByte(text[k:], '$')
		if j < 0 {
			return
		}
		k += j + 1
		switch {
		case isEscaped(text, k-1):
		case k < len(text) && text[k] == '$':
			k++
			n := strings.Index(text[k:], "$$")
			if n < 0 {
				n = len(text) - k
			}
			p.formula(start+k, start+k+n)
			k = min(k+n+2, len(text))
		case k == len(text) || noneEnds || text[k] == ' ' || text[k] == '\n' || text[k] == '\t':
		default:
			n := formulaEnd(text[k:])
			if n < 0 {
				noneEnds = true
				continue
			}
			p.formula(start+k, start+k+n)
			k += n + 1
		}
	}
}

// formulaEnd returns the offset of the dollar sign that ends an inline formula, or -1.
func formulaEnd(text string) int {
	for k := 1; k < len(text); k++ {
		if text[k] == '$' && text[k-1] != ' ' && text[k-1] != '\n' && !isEscaped(text, k) && (k+1 == len(text) || !isAlnum(text[k+1])) {
			return k
		}
	}
	return -1
}

// isEscaped reports whether an odd number of backslashes precedes s[k].
func isEscaped(s string, k int) bool {
	n := 0
	for n < k && s[k-n-1] == '\\' {
		n++
	}
	return n%2 == 1
}

// formula removes from a formula in src[start:end] the commands that hide a part of
// it, or show it as something else, so that the part is shown.
func (p *pass) formula(start, end int) {
	colors := hasColors(p.src[start:end])
	for k := start; k < end; k++ {
		switch p.src[k] {
		case '%': // a comment, up to the end of the line
			p.edit(k, k+1, "", RuleHiddenText, "formula")
		case '\\':
			if n := hidingMacro(p.src[k:end], colors); n > 0 {
				p.edit(k, k+n, "", RuleHiddenText, "formula")
				k += n - 1
			} else {
				k++ // what is escaped
			}
		}
	}
}

// hasColors reports whether a formula gives its text a color. A background could then have
// the same one.
func hasColors(s string) bool {
	for _, command := range [...]string{`\color`, `\textcolor`} {
		_, rest, ok := strings.Cut(s, command)
		for ; ok; _, rest, ok = strings.Cut(rest, command) {
			if rest == "" || !isAlpha(rest[0]) {
				return true
			}
		}
	}
	return false
}

// hidingMacro returns how much of s to remove where it begins with a command of a formula
// that hides text: the command and its color, but not the text. It returns 0 for other
// commands. s begins with a backslash. colors is whether the formula gives its text a color.
func hidingMacro(s string, colors bool) int {
	k := 1
	for k < len(s) && isAlpha(s[k]) {
		k++
	}
	if k == 1 && k < len(s) && s[k] == '\\' {
		k++
	}
	name := s[1:k]
	switch name {
	case "phantom", "hphantom", "vphantom", "href", "class", "cssId", "style", "require", "data", "mmlToken", "definecolor", "bbox",
		"newenvironment", "renewenvironment",
		"mathchoice", "toggle", // show one of several texts
		"texttip", "mathtip": // show the second text to a reader who points at the first one
		return k
	case "DeclareMathOperator": // a name that is perhaps never used
		if isSentence(s[k:min(len(s), k+longestDefinition)]) {
			return k
		}
	case "\\": // a line break, with a distance
		if strings.HasPrefix(s[k:], "[") && movesFar(s[k+1:]) {
			return k
		}
	case "rule", "Rule", "Space": // a large one covers what is around it
		for _, side := range strings.SplitN(s[k:min(len(s), k+longestDefinition)], "{", 4) {
			if movesFar(side) {
				return k
			}
		}
	case "hspace", "vspace", "hskip", "vskip", "kern", "mkern", "mskip", "mspace", "raise", "lower", "raisebox", "moveleft", "moveright":
		if movesFar(s[k:]) {
			return k
		}
	case "def", "gdef", "edef", "xdef", "newcommand", "renewcommand", "providecommand":
		if !showsAll(s[k:]) {
			return k
		}
	case "label":
		if name, ok := braced(s[k:]); !ok || len(name) > maxLabelName || strings.ContainsAny(name, " \n\t") {
			return k
		}
	case "color", "textcolor", "colorbox", "fcolorbox", "pagecolor":
		n := k
		for n < len(s) && s[n] == ' ' {
			n++
		}
		color, ok := braced(s[n:])
		if !ok {
			return k // with a model, or a color without braces
		}
		if isBackground := name != "color" && name != "textcolor"; !isReadable(color) || isBackground && colors {
			return n + len(color) + len("{}")
		}
	}
	return 0
}

// movesFar reports whether s, which follows a command that moves text, begins with a length that
// moves the text out of sight.
func movesFar(s string) bool {
	s = strings.TrimLeft(s, "*{[ -+")
	digits := s[:len(s)-len(strings.TrimLeft(s, "0123456789"))]
	const far, farInPoints = 2, 3 // digits
	unit := strings.TrimLeft(strings.TrimLeft(s[len(digits):], ".0123456789"), " ")
	for _, small := range [...]string{"pt", "mu", "px", "sp"} {
		if strings.HasPrefix(unit, small) {
			return len(digits) >= farInPoints
		}
	}
	return len(digits) >= far
}

// showsAll reports whether the definition of a macro, which follows the command in s, shows all
// that the macro is given. A definition with a sentence does not count, because only a use of the
// macro would show the sentence.
func showsAll(s string) bool {
	const most = 9
	s = strings.TrimLeft(s[:min(len(s), longestDefinition)], "*{ ")
	open := strings.IndexByte(s, '{')
	if open < 0 {
		return false
	}
	head, parameters := s[:open], strings.Count(s[:open], "#")
	if _, number, ok := strings.Cut(head, "["); ok && number != "" && isDigit(number[0]) {
		parameters = int(number[0] - '0')
	}
	body, depth := "", 0
	for k := open; k < len(s) && body == ""; k++ {
		switch s[k] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				body = s[open : k+1]
			}
		}
	}
	for i := 1; i <= min(parameters, most); i++ {
		if !strings.Contains(body, "#"+strconv.Itoa(i)) {
			return false
		}
	}
	return body != "" && !isSentence(body)
}

// isSentence reports whether a part of a formula contains several words, apart from names
// of commands.
func isSentence(s string) bool {
	const letters, few = 3, 2
	words := 0
	for k := 0; k < len(s); k++ {
		start := k
		for k < len(s) && isAlpha(s[k]) {
			k++
		}
		if k-start >= letters && (start == 0 || s[start-1] != '\\') {
			words++
		}
	}
	return words > few
}

// braced returns the text in the braces at the start of s.
func braced(s string) (text string, ok bool) {
	const longest = 100
	if s == "" || s[0] != '{' {
		return "", false
	}
	k := strings.IndexByte(s[:min(len(s), longest)], '}')
	if k < 0 {
		return "", false
	}
	return s[1:k], true
}

// isReadable reports whether text of a color can be read on white and on black.
func isReadable(color string) bool {
	color = strings.ToLower(strings.TrimSpace(color))
	switch color {
	case "red", "green", "blue", "orange", "purple", "brown", "teal", "magenta", "cyan", "violet", "olive", "gray", "grey",
		"pink", "yellow", "lime", "crimson", "gold", "royalblue", "forestgreen", "dodgerblue", "tomato", "orangered",
		"darkorange", "limegreen", "lightgreen", "lightblue", "skyblue", "salmon", "coral", "turquoise", "orchid",
		"indianred", "firebrick", "steelblue", "seagreen", "goldenrod", "chocolate", "maroon", "navy", "aqua", "fuchsia",
		"silver", "cornflowerblue", "cadetblue", "slategray", "dimgray", "darkgray", "darkgreen", "darkred", "deeppink":
		return true
	}
	digits, ok := strings.CutPrefix(color, "#")
	if !ok || len(digits) != 3 && len(digits) != 6 {
		return false
	}
	const darkest, lightest = 0x30, 0xe0
	width := len(digits) / 3
	dark, light := true, true
	for i := 0; i < len(digits); i += width {
		if hexDigit(digits[i]) == 16 || hexDigit(digits[i+width-1]) == 16 {
			return false // not hexadecimal
		}
		value := hexDigit(digits[i])<<4 | hexDigit(digits[i+width-1])
		dark, light = dark && value <= darkest, light && value >= lightest
	}
	return !dark && !light
}
